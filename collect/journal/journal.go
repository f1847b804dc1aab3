package journal

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// Journal collects the progress events and warnings of one run.
type Journal struct {
	// Warnings are the run's warnings, without duplicates; never nil.
	Warnings []run.Warning

	device   string
	progress Progress
	noted    map[string]bool
}

// New starts the journal of a run on the device. A nil progress discards all events.
func New(device string, progress Progress) *Journal {
	return &Journal{Warnings: []run.Warning{}, device: device, progress: progress, noted: map[string]bool{}}
}

// Report reports a progress event.
func (j *Journal) Report(phase Phase, repetition, of int, message string) {
	if j.progress != nil {
		j.progress.Report(Event{j.device, phase, repetition, of, message})
	}
}

// maxWarnings limits the number of warnings of a run.
const maxWarnings = 100

// Warnf adds a warning to the run unless it has the same one already.
func (j *Journal) Warnf(format string, args ...any) {
	text := Line(fmt.Sprintf(format, args...))
	if j.noted[text] || len(j.noted) >= maxWarnings {
		return
	}
	j.noted[text] = true
	j.Warnings = append(j.Warnings, run.Warning{Text: text})
	j.Report(Warned, 0, 0, text)
}

// Doubts adds a warning with the first of a reader's doubts and the number of the others.
func (j *Journal) Doubts(what string, doubts []run.Warning) {
	switch n := len(doubts); {
	case n == 1:
		j.Warnf("%s: %s", what, doubts[0])
	case n > 1:
		j.Warnf("%s: %s; %d more doubts", what, doubts[0], n-1)
	}
}

// Line turns a text from a device into one line of valid UTF-8, cut to the length allowed in a
// record.
func Line(s string) string {
	const limit = 600 // bytes
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, prose.Fit(s, limit))
}
