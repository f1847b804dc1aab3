package run

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// Limits on the evidence of a record.
const (
	MaxEvidence     = 200     // files of one run
	MaxEvidenceFile = 1 << 40 // maximum size of one file in bytes
	maxFileName     = 128
)

// Evidence is a file that was kept with a run: a trace, a dump, a profile. The record identifies it
// by its content; the file itself is stored with the history (package evidence), and may have been
// deleted.
type Evidence struct {
	// Digest is the SHA-256 of the file's bytes, 64 lower-case hexadecimal digits.
	Digest string `json:"digest"`
	// Kind says how to read it, such as Perfetto. A reader can only name a file of an unknown kind.
	Kind EvidenceKind `json:"kind"`
	// Name is the file's name when it is extracted: a plain file name.
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	// Repetition is the iteration of the file, from 1; 0 for the whole run.
	Repetition int `json:"repetition,omitempty"`
	// Event is the UI event that it was kept for, as in Bucket.Name; "" for the whole repetition.
	Event string `json:"event,omitempty"`
	// FromMS and ToMS are the relevant span, in milliseconds of the device's CLOCK_MONOTONIC in
	// that repetition; both 0 where there is none.
	FromMS float64 `json:"from_ms,omitempty"`
	ToMS   float64 `json:"to_ms,omitempty"`
	// Why says why it was kept, in a few words: "the app did not respond for 5 s".
	Why string `json:"why,omitempty"`
}

// EvidenceKind is a kind of kept file: a lower-case word.
type EvidenceKind string

// The kinds of files that apkgate keeps.
const (
	PerfettoTrace EvidenceKind = "perfetto"   // a trace of Perfetto
	ThreadDump    EvidenceKind = "threads"    // stacks of an app's threads, as Android writes them at an ANR
	Profile       EvidenceKind = "profile"    // samples or entries of methods
	LogExtract    EvidenceKind = "log"        // lines of logcat
	Screenshot    EvidenceKind = "screenshot" // a PNG
	Build         EvidenceKind = "apk"        // the measured build: an APK, or an archive of its parts
)

func (e Evidence) validate() error {
	switch {
	case !isDigest(e.Digest):
		return fmt.Errorf("digest is %q, want the 64 lower-case hexadecimal digits of a SHA-256", prose.Short(e.Digest))
	case !isWord(string(e.Kind)):
		return fmt.Errorf("kind is %q, want a word of up to 32 lower-case letters, digits and hyphens", prose.Short(string(e.Kind)))
	case !ValidFileName(e.Name):
		return fmt.Errorf("name is %q, want a file name of up to %d letters, digits or _ . - that begins and ends with a letter or digit", prose.Short(e.Name), maxFileName)
	case e.Bytes < 0 || e.Bytes > MaxEvidenceFile:
		return fmt.Errorf("bytes is %d, want 0 to %d", e.Bytes, int64(MaxEvidenceFile))
	}
	return first(errors.Join(repetition(e.Repetition, 0), span(e.FromMS, e.ToMS), texts("event or why", e.Event, e.Why)))
}

// ValidFileName reports whether a name is a file name without a folder, on every system: up to 128
// of letters, digits and _ . - that begin and end with a letter or a digit.
func ValidFileName(name string) bool {
	if name == "" || len(name) > maxFileName || !isAlphanumeric(name[0]) || !isAlphanumeric(name[len(name)-1]) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !isAlphanumeric(c) && !strings.ContainsRune("_.-", rune(c)) {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// isDigest reports whether the text is a SHA-256 as encoded in records.
func isDigest(s string) bool {
	sum, err := hex.DecodeString(s)
	return err == nil && len(sum) == 32 && s == strings.ToLower(s)
}

// isWord reports whether the text is a name of the formats: lower-case letters, digits and hyphens,
// a letter first.
func isWord(s string) bool {
	if s == "" || len(s) > 32 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// span returns an error for an impossible span of time, in milliseconds.
func span(from, to float64) error {
	if err := amounts(from, to); err != nil {
		return fmt.Errorf("from_ms or to_ms %w", err)
	}
	if to < from {
		return fmt.Errorf("to_ms is %g, before from_ms, %g", to, from)
	}
	return nil
}
