package journal

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// Journal is what is told of one run.
type Journal struct {
	// Warnings are what the run keeps, each text once; never nil.
	Warnings []run.Warning

	device   string
	progress Progress
	noted    map[string]bool
}

// New begins the journal of a run on the device; a nil progress is told nothing.
func New(device string, progress Progress) *Journal {
	return &Journal{Warnings: []run.Warning{}, device: device, progress: progress, noted: map[string]bool{}}
}

// Report tells what is being done.
func (j *Journal) Report(phase Phase, repetition, of int, message string) {
	if j.progress != nil {
		j.progress.Report(Event{j.device, phase, repetition, of, message})
	}
}

// maxWarnings bounds the warnings of a run.
const maxWarnings = 100

// Warnf adds a warning to the run, each text once.
func (j *Journal) Warnf(format string, args ...any) {
	text := Line(fmt.Sprintf(format, args...))
	if j.noted[text] || len(j.noted) >= maxWarnings {
		return
	}
	j.noted[text] = true
	j.Warnings = append(j.Warnings, run.Warning{Text: text})
	j.Report(Warned, 0, 0, text)
}

// Doubts warns of the first of what a reader could not make sense of, and of how
// many more there are.
func (j *Journal) Doubts(what string, doubts []run.Warning) {
	switch n := len(doubts); {
	case n == 1:
		j.Warnf("%s: %s", what, doubts[0])
	case n > 1:
		j.Warnf("%s: %s; %d more doubts", what, doubts[0], n-1)
	}
}

// Line makes of a text from a device one line of valid UTF-8 that a record has
// room for.
func Line(s string) string {
	const limit = 600 // bytes
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, prose.Fit(s, limit))
}
