// Package signature owns what is the same each time that the same fault keeps an app
// from responding: stacks without what differs from run to run, build to build and
// phone to phone, the features that section 2.3 of the paper compares ("Aging or
// Glitching?"), and a name made of both.
//
// It reads a run.ANR and needs no file. It does not say how alike two are, nor what
// the reason was; package diagnose/anrcause does.
//
// It takes a stand: what makes two stacks the same is decided here alone, by rules in
// an order that a test holds (rules.go). A rule takes away what cannot be the fault:
// a line, an address, a number that somebody counts up. A method's name stays, unless
// a compiler made it up.
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

// rulesVersion begins what a signature is the digest of. Raise it where a rule
// changes: signatures by other rules then differ from all of today's.
const rulesVersion = "apkgate.signature/1"

// digits is how long a signature is.
const digits = 16

// Fill finds the names of the source on the stacks, where a mapping is given, and fills
// in the features and the signature. The dump is the one that shows the ANR; where
// there is none, an empty one.
func Fill(a *run.ANR, d anr.Dump, names *r8map.Map) {
	if names != nil {
		retrace(a, names)
	}
	a.Features = generic(d, *a)
	a.Signature = Of(*a)
}

// Of is the signature: the first 16 hexadecimal digits of the SHA-256 of the rules'
// version and the stacks of the critical threads, each a line for the process's name
// ("" for the ANR's own) and one for each function, innermost first, every function
// once; stacks are sorted. Functions are as Vector.Specific has them. It is "" where no
// stack could be read.
func Of(a run.ANR) string {
	var stacks []string
	for _, t := range critical(a) {
		var lines []string
		for _, text := range ofFault(t) {
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

// critical are the threads for which the others wait: those that are marked so, else
// the last one, or all where they wait for each other.
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
