// Package trace owns what all readers of Android's traces and dumps share: the
// apkgate.inspect/1 format (docs/format/inspect.md), positioned warnings that
// stay few, and lines of text of any encoding, bounded in length.
//
// It does not know any one format: each has its package below this folder,
// which reads from an io.Reader to plain data.
//
// It takes a stand: a reader's error is for input and output alone. What can't
// be understood is a warning with its line, beside the data that could be.
package trace

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// Format is the format and version of an Inspection as JSON (docs/format/inspect.md).
const Format = "apkgate.inspect/1"

// Inspection is what `apkgate inspect READER FILE --format json` prints: the
// file's totals under the catalogue's names, and what else the reader knows.
type Inspection struct {
	Format string `json:"format"`
	Reader string `json:"reader"`
	// Entry is the file's name in a ZIP archive, "" where it was in none.
	Entry    string             `json:"entry,omitempty"`
	Metrics  map[string]float64 `json:"metrics"`
	Warnings []run.Warning      `json:"warnings"`
	// Details are the reader's own, documented with it.
	Details any `json:"details,omitempty"`
	// Nothing says that nothing of what the reader reads is in the file: it is of
	// another kind, or whatever should have been in it failed.
	Nothing bool `json:"-"`
}

// Empty is the inspection of a file in which nothing could be read.
func (i Inspection) Empty() Inspection {
	i.Nothing = true
	return i
}

// NewInspection is an inspection with no nil in it, so that JSON shows {} and [].
func NewInspection(reader string, metrics map[string]float64, warnings []run.Warning, details any) Inspection {
	if metrics == nil {
		metrics = map[string]float64{}
	}
	if warnings == nil {
		warnings = []run.Warning{}
	}
	return Inspection{Format: Format, Reader: reader, Metrics: metrics, Warnings: warnings, Details: details}
}

// MaxWarnings bounds the warnings of one file; the last one says how many more
// there were.
const MaxWarnings = 200

// Warnings collects the doubts about one file.
type Warnings struct {
	list    []run.Warning
	dropped int
}

// Addf adds a warning about a line (0: about the whole file).
func (w *Warnings) Addf(line int, format string, args ...any) {
	if len(w.list) >= MaxWarnings {
		w.dropped++
		return
	}
	w.list = append(w.list, run.Warning{Line: line, Text: fmt.Sprintf(format, args...)})
}

// Counted adds a warning of n things, in words for one of them or for several, whose
// first verb is %d, for n. None are worth no word.
func (w *Warnings) Counted(line, n int, one, many string, args ...any) {
	if n > 0 {
		w.Addf(line, prose.Plural(n, one, many), append([]any{n}, args...)...)
	}
}

// List is what was collected, in the order in which it was added.
func (w *Warnings) List() []run.Warning {
	if w.dropped == 0 {
		return w.list
	}
	return append(w.list[:len(w.list):len(w.list)], run.Warning{Text: fmt.Sprintf("%d more %s not listed", w.dropped, prose.Plural(w.dropped, "warning is", "warnings are"))})
}

// Quote shortens untrusted text for a warning and quotes it.
func Quote[T string | []byte](text T) string { return prose.Quote(string(text), 60) }

// Name is a name of a file, bounded, in valid UTF-8 and free from the text that it
// was cut from.
func Name(s string) string {
	const most = 300 // bytes
	return strings.Clone(strings.ToValidUTF8(s[:min(len(s), most)], "\uFFFD"))
}
