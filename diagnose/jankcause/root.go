package jankcause

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// root is where a chain of waiting ends: what whoever is waited for does meanwhile, for most of
// the time. A lock may be held by a thread that waits for storage: then storage is what keeps
// the frame, and the lock why.
type root struct{ who, does string }

// rootWords say what a root does; one that runs is what is waited for already.
var rootWords = map[string]string{
	run.WaitIO: "waits for storage", run.WaitLock: "waits for another lock", run.WaitBinder: "waits for another process", run.WaitRunnable: "waits for a processor",
	run.WaitGC: "is held up by garbage collection", run.WaitBlocked: "is blocked in the kernel", run.WaitSleep: "sleeps",
}

// leastRoot is the share of a wait from which on something is what it was spent on.
const leastRoot = 0.5

// rootOf is the root of a blame by the frames whose paths are known, whoever they are told of
// first; none where most of it is the work of whoever is waited for.
func (t teller) rootOf(b blame) root {
	if t.head.Frames == nil || b.kind != LockKind && b.kind != BinderKind && b.kind != SleepKind {
		return root{}
	}
	took, whole := map[root]float64{}, 0.0
	for _, f := range t.head.Frames.Worst {
		if t.event != "" && f.Event != t.event {
			continue
		}
		for _, s := range f.Path {
			own := blameOf(run.FramePart{Name: s.Kind, Stage: s.Stage, What: s.What})
			if own.kind != b.kind || b.subject != "" && uncounted(own.subject) != uncounted(b.subject) {
				continue
			}
			whole += s.ToMS - s.FromMS
			took[root{cmp.Or(s.Process, s.Thread), s.Does}] += s.ToMS - s.FromMS
		}
	}
	var most root
	for _, one := range slices.SortedFunc(maps.Keys(took), func(a, b root) int { return cmp.Or(cmp.Compare(a.who, b.who), cmp.Compare(a.does, b.does)) }) {
		if took[one] > took[most] {
			most = one
		}
	}
	if took[most] < leastRoot*whole || rootWords[most.does] == "" && !t.further(b, most) {
		return root{}
	}
	return most
}

// further reports whether a call is answered for the most part by a process that the one that
// was called calls itself.
func (t teller) further(b blame, r root) bool {
	process, _, _ := strings.Cut(b.subject, " ")
	return b.kind == BinderKind && r.does == run.WaitRunning && process != "" && r.who != "" && r.who != process
}

// words are the root behind what is said of the wait, nil where there is none.
func (r root) words(of blame) diagnose.Phrase {
	does := rootWords[r.does]
	switch {
	case r.who == "":
		return nil
	case does == "":
		return say(", which waits for ", diagnose.Named(r.who))
	case of.subject == r.who || strings.HasPrefix(of.subject, r.who+" "):
		return say(", which itself " + does)
	}
	return say(", behind which ", diagnose.Named(r.who), " "+does)
}

// uncounted is a name without the numbers in it, which count threads of a pool, and without the
// signs that stand for them in parts of paths.
func uncounted(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '#' || r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, name)
}
