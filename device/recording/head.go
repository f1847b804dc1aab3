// Package recording keeps what a device was asked during a run and what it answered, and
// answers in its place later: so that a run on somebody else's phone can be made again
// here, as often as one likes.
//
// It owns the folder of a recording (docs/format/recording.md), what is blacked out
// before anything is written (Blackout), what records (Recorder) and what replays
// (Player). It does not know what a run asks, or why.
//
// It takes a stand: a replay is exact where the same is asked in the same order, down to
// what each look at the clock tells; where it is not, that is counted and said, and a
// question that the recording has no answer to ends the replay. To be exact, what a
// process prints in the background reaches its reader only at the end of a call to the
// device or of a wait, while it is recorded just as when it is replayed.
package recording

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// Format is the version of the folder's format.
const Format = "apkgate.recording/1"

// The files of a recording. What does not fit on a line is in the folder of contents,
// each file named by its SHA-256.
const (
	HeadFile      = "recording.json"
	ExchangesFile = "exchanges.jsonl"
	ContentFolder = "files"
)

// Of is what was recorded.
type Of string

// What may be recorded. Captures are answers of several real devices that were put
// together: no device ever gave them in this order.
const (
	OfDevice    Of = "device"
	OfSimulated Of = "simulated"
	OfCaptures  Of = "captures"
)

// Head says what a recording is of.
type Head struct {
	Format string `json:"format"`
	MadeBy string `json:"made_by,omitempty"`
	Of     Of     `json:"of"`
	// Profile is the simulated phone that it is of, or that comes closest; "" for none.
	Profile string    `json:"profile,omitempty"`
	Note    string    `json:"note,omitempty"`
	Started time.Time `json:"started"`
	// Packages are the app, its test and what else belongs to the run: their names are
	// left as they are.
	Packages []string `json:"packages,omitempty"`
	Session  string   `json:"session,omitempty"`
	// Whole says that the run came to its end; what was recorded until it was killed can
	// be used all the same.
	Whole      bool      `json:"whole"`
	BlackedOut []Blacked `json:"blacked_out,omitempty"`
	// Replays says how the recording was found to replay when it was made.
	Replays string `json:"replays,omitempty"`
}

// Blacked counts what of a kind was blacked out: so many words, in so many places.
type Blacked struct {
	What   string `json:"what"`
	Words  int    `json:"words"`
	Places int    `json:"places"`
}

const (
	maxHead     = 1 << 20
	maxHeadText = 4096
)

func (h Head) check() error {
	switch {
	case h.Format != Format:
		return fmt.Errorf("its format is %q, want %s", prose.Short(h.Format), Format)
	case h.Of != OfDevice && h.Of != OfSimulated && h.Of != OfCaptures:
		return fmt.Errorf("of is %q, want %s, %s or %s", prose.Short(string(h.Of)), OfDevice, OfSimulated, OfCaptures)
	case len(h.Packages) > 100 || len(h.BlackedOut) > 100:
		return fmt.Errorf("it names %d packages and %d kinds of what is blacked out, want at most 100 of each", len(h.Packages), len(h.BlackedOut))
	}
	for _, text := range append([]string{h.MadeBy, h.Profile, h.Note, h.Session, h.Replays}, h.Packages...) {
		if len(text) > maxHeadText {
			return fmt.Errorf("a text has %d bytes, want at most %d", len(text), maxHeadText)
		}
	}
	return nil
}

func readHead(dir string) (Head, error) {
	var h Head
	path := filepath.Join(dir, HeadFile)
	file, err := os.Open(path)
	if err != nil {
		return h, fmt.Errorf("read a recording: %w", err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxHead+1))
	if err == nil && len(data) > maxHead {
		err = fmt.Errorf("it has more than %d MiB", maxHead>>20)
	}
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	if err == nil {
		err = h.check()
	}
	if err != nil {
		return h, fmt.Errorf("read %s: %w", path, err)
	}
	return h, nil
}

// write replaces the head, whole or not at all.
func (h Head) write(dir string) error {
	data, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return fmt.Errorf("write the recording's head: %w", err)
	}
	path := filepath.Join(dir, HeadFile)
	temporary := path + ".new"
	if err := os.WriteFile(temporary, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the recording's head: %w", err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("write the recording's head: %w", err)
	}
	return nil
}
