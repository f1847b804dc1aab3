// Package diagnose defines what every explanation has in common: a Cause says what explains a
// metric of an event that deviates, how much of the change, how sure that is, and on what evidence.
// Each kind of cause is a package of its own below this one, which makes causes and knows no other
// kind.
//
// It owns the shape of causes, their order, their limits and the list of kinds. It does not judge
// (package gate does, before anything is explained) and it formats no numbers: a sentence is a list
// of parts, which the renderers in package report turn into text, Markdown, HTML and SARIF.
//
// A cause is data. A new kind of cause is a new package here, and no renderer needs to know it.
//
// The reasons are in docs/design/causes.md.
package diagnose

import (
	"github.com/apkgate/apkgate/gate"
)

// Cause explains why a metric of an event of a run deviates (docs/format/verdict.md).
// Every name in it is hostile: it comes from an app, a device or a file.
type Cause struct {
	// Run, Event and Metric are of the finding that is explained, as in the verdict; Event is ""
	// for the whole run. For two builds Run is one of the head's, and Scenario and Device say
	// where.
	Run      string            `json:"run"`
	Scenario string            `json:"scenario"`
	Device   map[string]string `json:"device,omitempty"`
	Event    string            `json:"event"`
	Metric   string            `json:"metric"`
	// Kind is the name of a Kind: "energy.method".
	Kind string `json:"kind"`
	// Direction is the direction in which the cause moves the metric: gate.ToRegression or
	// gate.ToImprovement.
	Direction gate.Direction `json:"direction"`
	// Subject is what is to blame, the same in every run that has this cause.
	Subject Subject `json:"subject"`
	// Explains is how much of the change the cause explains, and how sure that is.
	Explains Extent `json:"explains"`
	// Title names the cause in a few words, Sentence describes it in one without a full stop; Basis
	// is the basis of its numbers, in a clause.
	Title    Phrase `json:"title"`
	Sentence Phrase `json:"sentence"`
	Basis    Phrase `json:"basis,omitempty"`
	// Tables are rows of evidence, Picture is a figure of it.
	Tables  []Table  `json:"tables,omitempty"`
	Picture *Picture `json:"picture,omitempty"`
	// FurtherPicture is a second figure, shown after Picture.
	FurtherPicture *Picture `json:"further_picture,omitempty"`
	// Evidence links to files that were kept with the run.
	Evidence []Link `json:"evidence,omitempty"`
	// See is the address where the app's team says more about it, "" for none.
	See string `json:"see,omitempty"`
	// Doubts are reasons to doubt the cause, each a sentence.
	Doubts []Phrase `json:"doubts,omitempty"`
}

// Subject is a thing that can be blamed: a method, a wakelock, a cluster of ANRs.
type Subject struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"` // where it is defined, if known
}

// Extent is how much of a change a cause explains: an amount, a share, or both.
type Extent struct {
	// Value is the amount in Unit, signed as the metric moved; nil where unknown. Low
	// and High are its interval of the confidence Level.
	Value *float64 `json:"value,omitempty"`
	Unit  string   `json:"unit,omitempty"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	// Share is the part of the whole change, 0 to 1; nil where unknown.
	Share     *float64 `json:"share,omitempty"`
	ShareLow  *float64 `json:"share_low,omitempty"`
	ShareHigh *float64 `json:"share_high,omitempty"`
	Level     float64  `json:"level,omitempty"` // 0 where there is no interval
	Sure      Sure     `json:"sure,omitempty"`
}

// Sure is how sure a cause is, in a word.
type Sure string

// How sure a cause can be, surest first.
const (
	Seen     Sure = "seen"     // the recording shows it: a chain of waits, a wakelock that was held
	Clear    Sure = "clear"    // its interval excludes zero
	Likely   Sure = "likely"   // it is indicated, but without a bound of the error
	Possible Sure = "possible" // it can't be ruled out
)

// Link refers to a file that was kept with the run (run.Evidence), and to the span of it that shows
// the cause, in milliseconds of the device's CLOCK_MONOTONIC; both ends are 0 for the whole file.
type Link struct {
	Digest string  `json:"digest"`
	FromMS float64 `json:"from_ms,omitempty"`
	ToMS   float64 `json:"to_ms,omitempty"`
}

// Finding is a deviation that a verdict flagged in a run.
type Finding struct {
	Event, Metric string
	Direction     gate.Direction
}
