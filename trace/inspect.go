// Package trace defines what all readers of Android's traces and dumps share: the apkgate.inspect/1
// format (docs/format/inspect.md), a bounded list of positioned warnings, lines of text of any
// encoding, bounded in length, the UI event that a time belongs to, and names of threads and slices
// without the counters in them.
//
// It knows no format itself: each has its package below this folder, which reads from an io.Reader
// into plain data.
//
// A reader's error is for input and output alone. What can't be understood is a warning with its
// line, beside the data that could be read.
package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// Format is the format and version of an Inspection as JSON (docs/format/inspect.md).
const Format = "apkgate.inspect/1"

// Inspection is what `apkgate inspect READER FILE --format json` prints: the file's totals under
// the catalogue's names, and the reader's details.
type Inspection struct {
	Format string `json:"format"`
	Reader string `json:"reader"`
	// Entry is the file's name in a ZIP archive, "" if it was not in one.
	Entry    string             `json:"entry,omitempty"`
	Metrics  map[string]float64 `json:"metrics"`
	Warnings []run.Warning      `json:"warnings"`
	// Details are the reader's own, documented with it.
	Details any `json:"details,omitempty"`
	// Nothing is set if the file has nothing that the reader reads: it is of another kind, or the
	// tool that wrote it failed.
	Nothing bool `json:"-"`
}

// Empty returns i marked as the inspection of a file in which nothing could be read.
func (i Inspection) Empty() Inspection {
	i.Nothing = true
	return i
}

// NewInspection returns an inspection without nil maps and slices, so that JSON shows {} and [].
func NewInspection(reader string, metrics map[string]float64, warnings []run.Warning, details any) Inspection {
	if metrics == nil {
		metrics = map[string]float64{}
	}
	if warnings == nil {
		warnings = []run.Warning{}
	}
	return Inspection{Format: Format, Reader: reader, Metrics: metrics, Warnings: warnings, Details: details}
}

// MaxWarnings limits the warnings of one file; the last one states how many more there were.
const MaxWarnings = 200

// Warnings collects the warnings about one file.
type Warnings struct {
	list    []run.Warning
	dropped int
}

// Addf adds a warning about a line, or about the whole file where line is 0.
func (w *Warnings) Addf(line int, format string, args ...any) {
	if len(w.list) >= MaxWarnings {
		w.dropped++
		return
	}
	w.list = append(w.list, run.Warning{Line: line, Text: fmt.Sprintf(format, args...)})
}

// Counted adds a warning about n things with the format for one or for many, whose first verb is %d
// for n. It adds none where n is 0.
func (w *Warnings) Counted(line, n int, one, many string, args ...any) {
	if n > 0 {
		w.Addf(line, prose.Plural(n, one, many), append([]any{n}, args...)...)
	}
}

// List returns the warnings in the order in which they were added.
func (w *Warnings) List() []run.Warning {
	if w.dropped == 0 {
		return w.list
	}
	return append(w.list[:len(w.list):len(w.list)], run.Warning{Text: fmt.Sprintf("%d more %s not listed", w.dropped, prose.Plural(w.dropped, "warning is", "warnings are"))})
}

// Distinct adds warnings that are not among others yet.
func Distinct(all []run.Warning, more ...run.Warning) []run.Warning {
	for _, w := range more {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// Quote shortens and quotes untrusted text for a warning.
func Quote[T string | []byte](text T) string { return prose.Quote(string(text), 60) }

// Name returns a file's name, bounded, in valid UTF-8 and without a reference to the text that it
// was cut from.
func Name(s string) string {
	const most = 300 // bytes
	return strings.Clone(strings.ToValidUTF8(s[:min(len(s), most)], "\uFFFD"))
}
