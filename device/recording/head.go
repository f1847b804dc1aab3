// Package recording records every exchange with a device during a run, and replays it later,
// so that a run on another person's phone can be repeated here any number of times.
//
// It owns the folder of a recording (docs/format/recording.md), the blackout before anything
// is written (Blackout), the Recorder and the Player. It does not know which commands a run
// sends, or why.
//
// A replay is exact if the same questions come in the same order; it then reproduces every
// value of the clock. Deviations are counted and reported, and a question without a recorded
// answer ends the replay. For exactness, the output of a background process reaches its reader
// only at the end of a call to the device or of a wait, during recording as well as during
// replay.
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

// The files of a recording. Data that does not fit on a line is in the folder of contents, in
// a file named by its SHA-256.
const (
	HeadFile      = "recording.json"
	ExchangesFile = "exchanges.jsonl"
	ContentFolder = "files"
)

// Of is the source of a recording.
type Of string

// The sources of recordings. Captures are answers of several real devices, put together: no
// device ever gave them in this order.
const (
	OfDevice    Of = "device"
	OfSimulated Of = "simulated"
	OfCaptures  Of = "captures"
)

// Head is the recording's metadata.
type Head struct {
	Format string `json:"format"`
	MadeBy string `json:"made_by,omitempty"`
	Of     Of     `json:"of"`
	// Profile is the simulated phone, or the closest one to the recorded phone; "" for none.
	Profile string    `json:"profile,omitempty"`
	Note    string    `json:"note,omitempty"`
	Started time.Time `json:"started"`
	// Packages are the app, its test and other packages of the run, whose names are not
	// blacked out.
	Packages []string `json:"packages,omitempty"`
	Session  string   `json:"session,omitempty"`
	// Whole reports whether the run ended. The recording of a run that was killed can be used
	// too.
	Whole      bool      `json:"whole"`
	BlackedOut []Blacked `json:"blacked_out,omitempty"`
	// Replays is the result of the trial replay after the recording.
	Replays string `json:"replays,omitempty"`
}

// Blacked counts the words of one kind that were blacked out, and their occurrences.
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
		return fmt.Errorf("it has %d packages and %d kinds of blacked-out words, want at most 100 of each", len(h.Packages), len(h.BlackedOut))
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

// write replaces the head atomically.
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
