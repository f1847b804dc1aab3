// Package diagnose is what every explanation has in common: a Cause says what
// explains a metric of an event that deviates, how much of the change, how sure
// that is, and on what evidence. Each kind of cause is a package of its own below
// this one, which makes causes and knows no other kind.
//
// It owns the shape of causes, their order, their limits and the list of kinds. It
// does not judge (package gate has, before anything is explained) and it writes
// no numbers as text: a sentence is a list of parts, of which the renderers in
// package report make text, Markdown, HTML and SARIF.
//
// It takes a stand: a cause is data. Whoever adds a kind of cause adds a package
// here, and no renderer needs to know.
//
// The reasons are in docs/design/causes.md.
package diagnose

import (
	"github.com/apkgate/apkgate/gate"
)

// Cause explains why a metric of an event of a run deviates (docs/format/verdict.md).
// Every name in it is hostile: it comes from an app, a device or a file.
type Cause struct {
	// Run, Event and Metric are of the finding that is explained, as the verdict has
	// them; Event is "" for the whole run. Of two builds Run is one of the head's, and
	// Scenario and Device tell where.
	Run      string            `json:"run"`
	Scenario string            `json:"scenario"`
	Device   map[string]string `json:"device,omitempty"`
	Event    string            `json:"event"`
	Metric   string            `json:"metric"`
	// Kind is the name of a Kind: "energy.method".
	Kind string `json:"kind"`
	// Direction is which way the cause moves the metric: gate.ToRegression or
	// gate.ToImprovement.
	Direction gate.Direction `json:"direction"`
	// Subject is what is to blame, the same in every run that has this cause.
	Subject Subject `json:"subject"`
	// Explains is how much of the change the cause explains, and how sure that is.
	Explains Extent `json:"explains"`
	// Title names the cause in a few words, Sentence tells it in one without an end;
	// Basis is what its numbers rest on, in a clause.
	Title    Phrase `json:"title"`
	Sentence Phrase `json:"sentence"`
	Basis    Phrase `json:"basis,omitempty"`
	// Tables are rows of evidence, Picture what can be drawn of it.
	Tables  []Table  `json:"tables,omitempty"`
	Picture *Picture `json:"picture,omitempty"`
	// Evidence leads to what was kept with the run.
	Evidence []Link `json:"evidence,omitempty"`
	// Doubts are what to hold against the cause, each a sentence.
	Doubts []Phrase `json:"doubts,omitempty"`
}

// Subject is a thing that can be blamed: a method, a wakelock, a cluster of ANRs.
type Subject struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"` // where it is defined, as far as that is known
}

// Extent is how much of a change a cause explains: an amount, a share, or both.
type Extent struct {
	// Value is the amount in Unit, signed as the metric moved; nil where unknown. Low
	// and High are its interval of the confidence Level.
	Value *float64 `json:"value,omitempty"`
	Unit  string   `json:"unit,omitempty"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	// Share is the part of the whole change, 0 to 1; nil where it can't be told.
	Share     *float64 `json:"share,omitempty"`
	ShareLow  *float64 `json:"share_low,omitempty"`
	ShareHigh *float64 `json:"share_high,omitempty"`
	Level     float64  `json:"level,omitempty"` // 0 where there is no interval
	Sure      Sure     `json:"sure,omitempty"`
}

// Sure says how sure a cause is, in a word.
type Sure string

// How sure a cause can be, the surest first.
const (
	Seen     Sure = "seen"     // the recording shows it: a chain of waits, a wakelock that was held
	Clear    Sure = "clear"    // its interval leaves out that there is nothing
	Likely   Sure = "likely"   // it points there, and nothing bounds the error
	Possible Sure = "possible" // it can't be ruled out
)

// Link leads to a file that was kept with the run (run.Evidence), and to the span
// of it that shows the cause, in milliseconds of the device's CLOCK_MONOTONIC; both
// ends are 0 where all of it does.
type Link struct {
	Digest string  `json:"digest"`
	FromMS float64 `json:"from_ms,omitempty"`
	ToMS   float64 `json:"to_ms,omitempty"`
}

// Finding is what a verdict flagged of a run.
type Finding struct {
	Event, Metric string
	Direction     gate.Direction
}
