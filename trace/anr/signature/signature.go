// Package signature identifies a fault that keeps an app from responding by what all of its
// occurrences have in common: stacks without what differs between runs, builds and phones, the
// features that section 2.3 of the paper compares ("Aging or Glitching?"), and a name derived from
// both.
//
// It reads a run.ANR and needs no file. It does not compute the similarity of two ANRs, nor find
// the cause; package diagnose/anrcause does.
//
// Which stacks count as equal is decided here alone, by rules in an order that a test checks
// (rules.go). A rule removes what cannot be the fault: a line, an address, a counter. A method's
// name stays, unless a compiler generated it.
package signature

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/r8map"
)

// rulesVersion begins the text whose digest is the signature. Increment it when a rule changes, so
// that new signatures differ from all old ones.
const rulesVersion = "apkgate.signature/1"

// digits is the length of a signature.
const digits = 16

// Fill retraces the stacks if a mapping is given, and sets the features and the signature. d is the
// dump of the ANR, or an empty one.
func Fill(a *run.ANR, d anr.Dump, names *r8map.Map) {
	if names != nil {
		retrace(a, names)
	}
	a.Features = generic(d, *a)
	a.Signature = Of(*a)
}

// Of returns the signature: the first 16 hexadecimal digits of the SHA-256 of the rules' version
// and the stacks of the critical threads, each a line for the process's name ("" for the ANR's own)
// and one for each function, innermost first, every function once; stacks are sorted. Functions are
// as in Vector.Specific. It returns "" if no stack could be read.
func Of(a run.ANR) string {
	var stacks []string
	for _, t := range critical(a) {
		var lines []string
		for _, text := range faultFrames(t) {
			if f := normal(text); f != "" && !slices.Contains(lines, f) {
				lines = append(lines, f)
			}
		}
		if len(lines) > 0 {
			stacks = append(stacks, processName(t, a)+"\n"+strings.Join(lines, "\n"))
		}
	}
	if len(stacks) == 0 {
		return ""
	}
	slices.Sort(stacks)
	sum := sha256.Sum256([]byte(rulesVersion + "\n" + strings.Join(slices.Compact(stacks), "\n\n")))
	return hex.EncodeToString(sum[:])[:digits]
}

// critical returns the threads for which the others wait: those marked so, or else the last one, or
// all if they wait for each other.
func critical(a run.ANR) []run.ANRThread {
	var out []run.ANRThread
	for _, t := range a.Threads {
		if t.Critical {
			out = append(out, t)
		}
	}
	switch {
	case len(out) > 0 || len(a.Threads) == 0:
		return out
	case a.Cycle:
		return a.Threads
	}
	return a.Threads[len(a.Threads)-1:]
}
