// Package document is the one form that every answer is laid out in and that
// every format renders: a verdict on runs, a comparison of two builds, a refresh
// of the baseline.
//
// It owns the parts that a report can have and what tells them apart for a reader:
// which rows are worse, what stands open and what is folded, which columns a narrow
// place can do without. All text in it is plain: fit for one line, but not yet
// escaped for any language. Where two places need other words for the same, it
// holds both; a format never makes up words of its own, and knows nothing of how
// an answer came about. It decides nothing, and draws and writes nothing.
package document

import "slices"

// Document is an answer as a reader meets it.
type Document struct {
	Title  string // heads a page: the scenario and the app
	Answer Answer
	// Checked says how much the answer is about, "" where the facts do: "5 runs: 3
	// worse, 2 as expected".
	Checked  string
	Notes    []string // said near the top, such as "The devices are simulated."
	Facts    []Fact
	Sections []Section
	Warnings List
	Footer   string

	// Problems are what code scanning and annotations list, the gravest first, and
	// Rules what they break.
	Problems []Problem
	Rules    []Rule
	// Unlisted says why there are no problems though there may be some, "" otherwise.
	Unlisted string
	// Data is what other programs read, encoded as JSON, and Kind what it is called
	// in errors: "verdict".
	Data any
	Kind string
	// Version is the apkgate that made the report: "apkgate 0.3.1".
	Version string
}

// Answer is the first thing that a reader wants to know.
type Answer struct {
	Outcome Outcome
	Word    string // "Regression"
	Lead    string // what, where, in how many runs
	Sure    string // how sure that is; "" where there is nothing to say
}

// Line is the answer and how sure it is.
func (a Answer) Line() string {
	if a.Sure == "" {
		return a.Lead
	}
	return a.Lead + "; " + a.Sure
}

// Headline is the document's first line.
func (d Document) Headline() string { return d.Answer.Word + ": " + d.Answer.Line() }

// Brief is the document without its tables: the answer, the facts, and what
// explains it.
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
	// Of is the ID of the section whose first entry the fact tells, "" for most. A
	// format with that section leaves the fact out; one without room for both leaves
	// out a section that has no more to tell.
	Of string
}

// Outcome is what an answer comes to. An unknown one counts as Invalid.
type Outcome string

// The outcomes, as a verdict names them.
const (
	Pass         Outcome = "pass"
	Improvement  Outcome = "improvement"
	Inconclusive Outcome = "inconclusive"
	Regression   Outcome = "regression"
	Invalid      Outcome = "invalid"
)

// Known is the outcome, Invalid for one that is not known.
func (o Outcome) Known() Outcome {
	switch o {
	case Pass, Improvement, Inconclusive, Regression:
		return o
	}
	return Invalid
}

// byGravity are the outcomes in the order in which a reader has to be told of them, the
// last one first.
var byGravity = []Outcome{Pass, Improvement, Inconclusive, Invalid, Regression}

// Gravity ranks outcomes: 0 for a pass, the most for a regression.
func (o Outcome) Gravity() int { return slices.Index(byGravity, o.Known()) }

// Doubtful reports whether nothing certain is said.
func (o Outcome) Doubtful() bool { return o == Invalid || o == Inconclusive }

// Tone is which way an entry speaks.
type Tone string

// The tones; each format has a mark and a colour for each.
const (
	Neutral Tone = ""
	Worse   Tone = "worse"
	Better  Tone = "better"
	Suspect Tone = "suspect" // may be worse
)
