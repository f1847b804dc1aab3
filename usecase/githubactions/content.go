package githubactions

import (
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/usecase/githubactions/acceptance"
)

// Content is what a Reporter shows of any kind of result.
type Content struct {
	Outcome  gate.Outcome
	FailOn   gate.FailOn
	Headline string // one line, plain
	Document document.Document
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
	c := Content{Outcome: in.Verdict.Verdict, FailOn: in.Verdict.FailOn, Headline: d.Headline(), Counts: map[gate.Outcome]int{}, Document: d}
	c.Notes = NotesOf(d.Problems, places)
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

// NotesOf returns problems as annotations, each at the place of its scenario.
func NotesOf(problems []document.Problem, places document.Places) (out []Note) {
	for _, p := range problems {
		if p.Explains {
			continue // it is shown with what it explains
		}
		at := places.Of(p.Scenario)
		out = append(out, Note{Path: at.Path, Line: at.Line, Worse: p.Worse, Title: p.Title, Text: withCauses(p)})
	}
	return out
}

// withCauses returns a problem's text, followed by its explanations.
func withCauses(p document.Problem) string {
	text := p.Text
	for _, cause := range p.Causes {
		text += "\nCause: " + cause
	}
	return text
}

// ForkNote heads a report from a fork's run.
const ForkNote = "Measured by a run on a fork's code; the numbers are that run's own."

// When is when a pull request gets a comment.
type When string

// The occasions. Inconclusive and Regression include an invalid run.
const (
	Always         When = "always"
	OnChange       When = "change" // any verdict but a pass
	OnInconclusive When = "inconclusive"
	OnRegression   When = "regression"
	Never          When = "never"
)

// Begins reports whether an outcome creates a comment.
func (w When) Begins(o gate.Outcome) bool {
	switch w {
	case Never:
		return false
	case OnChange:
		return o != gate.Pass
	case OnInconclusive, OnRegression:
		return o.Fails(gate.FailOn(w))
	}
	return true
}
