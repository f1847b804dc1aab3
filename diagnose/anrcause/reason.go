package anrcause

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// reason is why something did not respond, according to the threads.
type reason struct {
	kind    string
	subject string // the subject, the same each time
	sure    diagnose.Sure
	// why describes what the critical thread did, without naming it: "held the lock".
	why diagnose.Phrase
	// where is the method in which it did so, "" where already named or unknown.
	where string
}

// found is an ANR with the relevant threads.
type found struct {
	run.ANR
	first, last run.ANRThread // the one that did not respond, and the critical one
	at          string        // the most informative frame of the critical thread; "" for none
}

func look(a run.ANR) found {
	f := found{ANR: a}
	if len(a.Threads) == 0 {
		return f
	}
	f.first, f.last = a.Threads[0], a.Threads[len(a.Threads)-1]
	for _, t := range a.Threads {
		if t.Critical {
			f.last = t
		}
	}
	f.at = telling(f.last.Stack)
	return f
}

// reasonOf returns the reason of an ANR. The end of the chain counts first: a thread that holds a
// lock while it waits for the disk makes others wait for the disk, whatever they wait for
// themselves (the paper's critical thread).
func reasonOf(a run.ANR) reason {
	f := look(a)
	switch {
	case len(a.Threads) == 0:
		return reason{kind: UnknownKind, subject: a.Kind, sure: diagnose.Possible, why: diagnose.Say("no thread's stack was read")}
	case a.Cycle:
		r := reason{kind: DeadlockKind, subject: strings.Join(f.names(), ", "), sure: diagnose.Seen, why: diagnose.Say("waits for the others")}
		if slices.ContainsFunc(a.Threads, func(t run.ANRThread) bool { return isLikely(t.WaitsFor) }) {
			r.sure = diagnose.Likely
		}
		return r
	}
	for _, rule := range rules {
		r, ok := rule(f)
		if !ok {
			continue
		}
		if name := method(f.at); name != "" && kindOf(f.at) == java && name != r.subject && r.kind != IdleKind && r.kind != StoppedKind {
			r.where = name
		}
		return r
	}
	return reason{kind: UnknownKind, subject: a.Kind, sure: diagnose.Possible, why: diagnose.Say("did something that the dump does not show")}
}

// names returns the threads of a cycle, sorted by name: its subject does not depend on which is
// listed first. A thread that only waits for the cycle is not part of it.
func (f found) names() []string {
	var out, all []string
	for _, t := range f.Threads {
		all = append(all, t.Name)
		if t.Critical {
			out = append(out, t.Name)
		}
	}
	if len(out) < 2 { // an old record in which not all of a cycle are critical
		out = all
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (f found) has(feature string) bool { return slices.Contains(f.Features, feature) }

// busy reports whether the critical thread ran.
func (f found) busy() bool { return f.last.Kind == run.WaitRunning }
