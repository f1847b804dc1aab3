package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// Format is the format of a session file, with its version.
const Format = "apkgate.session/1"

// Limits on a session file, against hostile input.
const (
	maxLine   = run.MaxBytes + 64<<10
	maxFile   = 4 << 30
	maxUnits  = 100_000
	maxLines  = 4 * maxUnits // a unit that is lost has a line each time
	maxText   = run.MaxText  // bytes of any text, including a unit's key
	maxShards = 1_000
)

// Header is the first line of a session file: what is measured.
type Header struct {
	Format string `json:"format"`
	// Command is the measuring command: "apkgate run".
	Command string `json:"command"`
	// Session is the name that its runs have in common, "" for none.
	Session string `json:"session,omitempty"`
	// Plan is the digest of everything that is measured and how, and Build that of the files that
	// are installed: SHA-256 in lower-case hexadecimal. Build is "" if none are.
	Plan  string `json:"plan"`
	Build string `json:"build,omitempty"`
	// Commit is the app's commit, "" if unknown.
	Commit  string    `json:"commit,omitempty"`
	Started time.Time `json:"started"`
	// Shard is the share of the units that is measured; nil is all of them.
	Shard *Shard `json:"shard,omitempty"`
	// Units are the keys of all units of the plan, in its order, and Own the indices of those that
	// a shard measures.
	Units []string `json:"units"`
	Own   []int    `json:"own,omitempty"`
}

// own returns the keys of the units that this file is to contain.
func (h Header) own() []string {
	if h.Shard == nil {
		return h.Units
	}
	keys := make([]string, len(h.Own))
	for i, place := range h.Own {
		keys[i] = h.Units[place]
	}
	return keys
}

// alike reports whether both have the same plan, build, commit and command: what one measured can
// replace what the other would measure.
func (h Header) alike(o Header) bool {
	return h.Command == o.Command && h.Plan == o.Plan && h.Build == o.Build && h.Commit == o.Commit && h.shard() == o.shard()
}

func (h Header) shard() Shard {
	if h.Shard == nil {
		return Shard{}
	}
	return *h.Shard
}

func decodeHeader(line []byte) (Header, error) {
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("want a JSON object {\"format\":%q, …}: %w", Format, err)
	}
	return h, h.check()
}

// check returns the first thing that makes the header unusable.
func (h Header) check() error {
	if h.Format != Format {
		return fmt.Errorf("format is %s, want %q", prose.Quote(h.Format, 80), Format)
	}
	for name, text := range map[string]string{"command": h.Command, "session": h.Session, "commit": h.Commit} {
		if err := checkText(name, text); err != nil {
			return err
		}
	}
	switch {
	case !isDigest(h.Plan):
		return errors.New("plan is no SHA-256 in hexadecimal")
	case h.Build != "" && !isDigest(h.Build):
		return errors.New("build is no SHA-256 in hexadecimal")
	case len(h.Units) > maxUnits:
		return fmt.Errorf("it has %d units, at most %d are allowed", len(h.Units), maxUnits)
	case h.Shard == nil && h.Own != nil:
		return errors.New("own names units, and there is no shard")
	}
	if err := h.checkUnits(); err != nil || h.Shard == nil {
		return err
	}
	return h.checkShard()
}

func (h Header) checkUnits() error {
	seen := make(map[string]bool, len(h.Units))
	for _, key := range h.Units {
		if err := checkText("a unit", key); err != nil {
			return err
		}
		if key == "" || seen[key] {
			return fmt.Errorf("units has %s twice, or empty", prose.Quote(key, 80))
		}
		seen[key] = true
	}
	return nil
}

func (h Header) checkShard() error {
	if err := h.Shard.check(); err != nil {
		return err
	}
	seen := make(map[int]bool, len(h.Own))
	for _, place := range h.Own {
		if place < 0 || place >= len(h.Units) || seen[place] {
			return fmt.Errorf("own has %d, want places among %d units, each once", place, len(h.Units))
		}
		seen[place] = true
	}
	return nil
}

// checkText rejects invalid texts.
func checkText(name, text string) error {
	if len(text) > maxText || !utf8.ValidString(text) {
		return fmt.Errorf("%s is no UTF-8 of at most %d bytes", name, maxText)
	}
	return nil
}

func isDigest(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 64
}
