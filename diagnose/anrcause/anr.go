// Package anrcause explains why something did not respond: which of the ANRs of an app's history
// are the same fault, whether a run's are new or known, since which commit and how often, and what
// the critical thread was doing (section 2.3 of the paper "Aging or Glitching?").
//
// It owns the similarity of two ANRs, their clusters and the names of their causes. Package
// signature owns which parts of a stack are compared, and the gate whether there are too many ANRs.
//
// Clusters are the connected components of the history, where each ANR is similar to another,
// whichever was seen first. So they don't depend on the order of runs. What a dump does not show is
// no difference from one that shows it.
package anrcause

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// Untold is the kind of an entry that may be no ANR: threads of a dump that wait for each other,
// where it is unknown whether any process did not respond.
const Untold = "untold"

// Family is the family of these kinds.
var Family = diagnose.Family{Name: "anr", Title: "What did not respond", Label: "ANRs", Line: "ANR cause", Has: "ANRs"}

// Past are the ANRs of a run of the history, or of the base build.
type Past struct {
	Run      string
	Started  time.Time
	Session  string
	Scenario string
	Version  string // of the app
	Commit   string
	State    string // the run's state: "accepted", "rejected", "" for none
	// Base is set for a run of the base build, measured alternately with the head.
	Base bool
	ANRs []run.ANR
}

// MaxHistory is how many ANRs of a history are compared, newest first.
const MaxHistory = 10_000

// History is the ANRs that an app's ANRs are compared with. It is not safe for concurrent use.
type History struct {
	runs    []Past // newest first
	leftOut int    // ANRs beyond MaxHistory
	points  []point
	vectors vectors
	// clusters are those of the points, once settled.
	clusters clustered
	settled  bool
	joint    map[int]int // of components that share an ANR, which other one each is merged with
}

// Over returns the history of these runs, in any order.
func Over(past []Past) *History {
	h := &History{runs: slices.Clone(past)}
	slices.SortFunc(h.runs, func(a, b Past) int {
		return cmp.Or(b.Started.Compare(a.Started), strings.Compare(b.Run, a.Run))
	})
	n := 0
	for r, p := range h.runs {
		for i, a := range p.ANRs {
			if n++; n > MaxHistory {
				h.leftOut++
				continue
			}
			h.points = append(h.points, h.vectors.points(a, r, i)...)
		}
	}
	return h
}
