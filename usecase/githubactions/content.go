package githubactions

import (
	"io"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/usecase/githubactions/acceptance"
)

// Content is what a Reporter shows of any kind of result.
type Content struct {
	Outcome  gate.Outcome
	Headline string // one line, plain
	// Markdown writes the report in at most limit bytes, every name in it escaped.
	Markdown func(w io.Writer, limit int) error
	Notes    []Note
	Counts   map[gate.Outcome]int // how many runs have which verdict, for the outputs
	// Findings are what got worse, and Uncovered returns what of it goes beyond what was accepted.
	// Uncovered is nil where nothing can be accepted: the verdict is no regression.
	Findings  []acceptance.Finding
	Uncovered func(accepted []acceptance.Record) []string
}

// ContentOf returns the content of a verdict on runs, with each finding at the place of its
// scenario.
func ContentOf(in layout.Input, places document.Places) Content {
	d := layout.Verdict(in)
	c := Content{Outcome: in.Verdict.Verdict, Headline: d.Headline(), Counts: map[gate.Outcome]int{}, Markdown: Comment(d)}
	for _, p := range d.Problems {
		if p.Explains {
			continue // it is shown with what it explains
		}
		at := places.Of(p.Scenario)
		c.Notes = append(c.Notes, Note{Path: at.Path, Line: at.Line, Worse: p.Worse, Title: p.Title, Text: withCauses(p)})
	}
	for _, r := range in.Verdict.Runs {
		c.Counts[r.Verdict]++
	}
	if c.Outcome == gate.Regression {
		c.Findings, _ = acceptance.Of(in.Verdict, in.Catalogue)
		c.Uncovered = func(accepted []acceptance.Record) []string {
			return acceptance.Uncovered(in.Verdict, in.Catalogue, accepted)
		}
	}
	return c
}

// withCauses returns a problem's text, followed by its explanations.
func withCauses(p document.Problem) string {
	text := p.Text
	for _, cause := range p.Causes {
		text += "\nCause: " + cause
	}
	return text
}

// Comment returns a function that writes a document in at most so many bytes.
func Comment(d document.Document) func(w io.Writer, limit int) error {
	return func(w io.Writer, limit int) error { return markdown.Render(w, d, document.Options{Limit: limit}) }
}

// ForkNote heads a report from a fork's run.
const ForkNote = "Measured by a run on a fork's code; the numbers are that run's own."
