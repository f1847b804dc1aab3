// Package anrcause says why something did not respond: which of the ANRs of an app's
// history are one fault, whether a run's are new or known, since which commit and how
// often, and what the thread that kept everybody waiting was doing (section 2.3 of
// the paper "Aging or Glitching?").
//
// It owns how alike two ANRs are, clusters of them and the names of their causes. What
// is compared of a stack is package signature's, and whether there are too many ANRs
// the gate's.
//
// It takes a stand: clusters are those parts of the history that hang together, each
// ANR with one that is alike, whichever was seen first. So they don't depend on the
// order in which runs came. What a dump does not show is no difference to one that
// does.
package anrcause

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// Untold is the kind of an ANR that is none: threads of a dump that wait for each other,
// where nothing says whether any process did not respond.
const Untold = "untold"

// Family is what they have in common.
var Family = diagnose.Family{Name: "anr", Title: "What did not respond", Label: "ANRs", Line: "ANR cause", Has: "ANRs"}

// Past is what did not respond in a run of the history, or of the base build.
type Past struct {
	Run      string
	Started  time.Time
	Session  string
	Scenario string
	Version  string // of the app
	Commit   string
	State    string // what was decided of the run: "accepted", "rejected", "" for nothing
	// Base says that the run is of the base build, measured beside the head.
	Base bool
	ANRs []run.ANR
}

// MaxHistory is how many ANRs of a history are compared, the newest ones.
const MaxHistory = 10_000

// History is what an app's ANRs are held against. It is for one goroutine at a time.
type History struct {
	runs    []Past // newest first
	leftOut int    // ANRs beyond MaxHistory
	points  []point
	vectors vectors
	// clusters are those of the points, once settled.
	clusters clustered
	settled  bool
	joint    map[int]int // of parts that share an ANR, which other one each is one with
}

// Over is the history of these runs, in any order.
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
