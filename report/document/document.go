// Package document is the common form of every answer, which every format renders: a verdict on
// runs, a comparison of two builds, a refresh of the baseline.
//
// It owns the parts of a report and their meaning for a reader: which rows are worse, what is
// unfolded and what is folded, which columns a narrow place leaves out. All its text is plain: safe
// for one line, but not yet escaped for any language. Where two places need different words for the
// same, it has both; a format never makes up words of its own, and does not know how an answer was
// made. The package decides, draws and writes nothing.
package document

import "slices"

// Document is an answer as a reader sees it.
type Document struct {
	Title  string // title of a page: the scenario and the app
	Answer Answer
	// Checked is what the answer covers, "" where the facts have it: "5 runs: 3 worse, 2 as
	// expected".
	Checked  string
	Notes    []string // shown near the top, such as "The devices are simulated."
	Facts    []Fact
	Checks   []Check
	Chart    *Chart // nil for none
	Sections []Section
	Warnings List
	Footer   string
	// Screen is how many lines a terminal shows unless everything is requested; 0 is all that are
	// unfolded.
	Screen int

	// Problems are listed by code scanning and annotations, gravest first, and Rules are the rules
	// that they break.
	Problems []Problem
	Rules    []Rule
	// Unlisted is why there are no problems though there may be some, "" otherwise.
	Unlisted string
	// Data is for other programs, encoded as JSON, and Kind its name in errors: "verdict".
	Data any
	Kind string
	// Version is the version of apkgate that made the report: "apkgate 0.3.1".
	Version string
}

// Answer is the first thing that a reader wants to know.
type Answer struct {
	Outcome Outcome
	Word    string // "Regression"
	Lead    string // what, where, in how many runs
	Sure    string // how sure that is; "" where there is nothing to report
	// Ours is set where the first word of a lead with a Sure is no name, so that a page may write it
	// with a capital.
	Ours bool
}

// Line returns the answer and how sure it is.
func (a Answer) Line() string {
	if a.Sure == "" {
		return a.Lead
	}
	return a.Lead + "; " + a.Sure
}

// Headline returns the document's first line.
func (d Document) Headline() string { return d.Answer.Word + ": " + d.Answer.Line() }

// First returns the picture of what comes first: that of the first row that has one, or else the
// first of all; false for none.
func (d Document) First() (Figure, bool) {
	var all []Figure
	for _, s := range d.Sections {
		if g, ok := s.Body.(*Gallery); ok {
			all = append(all, g.Figures...)
		}
	}
	if len(all) == 0 {
		return Figure{}, false
	}
	for _, s := range d.Sections {
		t, ok := s.Body.(*Table)
		for i := 0; ok && i < len(t.Rows); i++ {
			if of := t.Rows[i].Of; of != "" {
				if k := slices.IndexFunc(all, func(f Figure) bool { return f.Of == of }); k >= 0 {
					return all[k], true
				}
			}
		}
	}
	return all[0], true
}

// Brief returns the document without its tables: the answer, the facts, and what explains it.
func (d Document) Brief() Document {
	var kept []Section
	for _, s := range d.Sections {
		if _, table := s.Body.(*Table); !table {
			kept = append(kept, s)
		}
	}
	d.Sections = kept
	return d
}

// Fact is a short labelled line under the answer.
type Fact struct {
	Label, Text string
	// Command follows the text, to be copied; "" for none.
	Command string
	// Link is the address that the text leads to; "" for none.
	Link string
	// Answers is the question that the fact answers, "" for one of its own.
	Answers Question
	// Detail is set where it is for those who want more than the first screen.
	Detail bool
	// Of is the ID of the section whose first entry is this fact, "" for most. A format with that
	// section leaves the fact out; one without room for both leaves out a section with no further
	// entries.
	Of string
}

// Question is one that a reader has at first, where several facts may answer it: a place with one
// line for each question has the first fact on why, and all on what to do next.
type Question string

// The questions.
const (
	Why   Question = "why"
	Proof Question = "proof" // what the answer to why is based on
	Next  Question = "next"  // what to do now
)

// Check is what one scenario came to on one device, in a line.
type Check struct {
	Outcome Outcome
	Title   string // the scenario, the device
	Text    string // what is worse, or why there is no answer; "" for nothing
}

// Chart is what was worst, round by round, for a place that draws no pictures but numbers: base and
// head are as long.
type Chart struct {
	Title, Unit string
	Base, Head  []float64
}

// Outcome is the outcome of an answer. An unknown one counts as Invalid.
type Outcome string

// The outcomes, named as in a verdict.
const (
	Pass         Outcome = "pass"
	Improvement  Outcome = "improvement"
	Inconclusive Outcome = "inconclusive"
	Regression   Outcome = "regression"
	Invalid      Outcome = "invalid"
)

// Known returns the outcome, Invalid for an unknown one.
func (o Outcome) Known() Outcome {
	switch o {
	case Pass, Improvement, Inconclusive, Regression:
		return o
	}
	return Invalid
}

// Tick returns a sign for an outcome in a list of checks, which the words next to it repeat.
func (o Outcome) Tick() string {
	switch o.Known() {
	case Pass, Improvement:
		return "✓"
	case Inconclusive:
		return "?"
	}
	return "✗"
}

// byGravity are the outcomes in order of gravity, the gravest last.
var byGravity = []Outcome{Pass, Improvement, Inconclusive, Invalid, Regression}

// Gravity returns the rank of an outcome: 0 for a pass, the highest for a regression.
func (o Outcome) Gravity() int { return slices.Index(byGravity, o.Known()) }

// Doubtful reports whether the outcome is uncertain.
func (o Outcome) Doubtful() bool { return o == Invalid || o == Inconclusive }

// Tone is the direction of an entry.
type Tone string

// The tones; each format has a mark and a colour for each.
const (
	Neutral Tone = ""
	Worse   Tone = "worse"
	Better  Tone = "better"
	Suspect Tone = "suspect" // may be worse
)
