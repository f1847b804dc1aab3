package jankcause

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// root is the end of a chain of waits: what the lock owner or peer does for most of that time. A
// lock may be held by a thread that waits for storage: then the frame waits for storage, because of
// the lock.
type root struct{ who, does string }

// rootWords describe what a root does; one that runs is the owner itself.
var rootWords = map[string]string{
	run.WaitIO: "waits for storage", run.WaitLock: "waits for another lock", run.WaitBinder: "waits for another process", run.WaitRunnable: "waits for a processor",
	run.WaitGC: "is held up by garbage collection", run.WaitBlocked: "is blocked in the kernel", run.WaitSleep: "sleeps",
}

// leastRoot is the share of a wait from which on something is its root.
const leastRoot = 0.5

// rootOf returns the root of a blame by the frames with known paths, from whichever thread they
// begin; none where most of it is the work of the owner or peer.
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

// further reports whether a call is mostly answered by a process that the called one calls itself.
func (t teller) further(b blame, r root) bool {
	process, _, _ := strings.Cut(b.subject, " ")
	return b.kind == BinderKind && r.does == run.WaitRunning && process != "" && r.who != "" && r.who != process
}

// words describes the root after the wait, nil where there is none.
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

// uncounted returns a name without its numbers, which count threads of a pool, and without the
// signs that replace them in parts of paths.
func uncounted(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '#' || r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, name)
}
