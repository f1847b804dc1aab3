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
	t.eachStep(b, func(_ run.LateFrame, s run.PathStep) {
		whole += s.ToMS - s.FromMS
		took[root{cmp.Or(s.Process, s.Thread), s.Does}] += s.ToMS - s.FromMS
	})
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

// eachStep calls f with each step of a blame in the event's frames with known paths.
func (t teller) eachStep(b blame, f func(run.LateFrame, run.PathStep)) {
	for _, frame := range t.head.Frames.Worst {
		if t.event != "" && frame.Event != t.event {
			continue
		}
		for _, s := range frame.Path {
			own := blameOf(run.FramePart{Name: s.Kind, Stage: s.Stage, What: s.What})
			if own.kind == b.kind && (b.subject == "" || uncounted(own.subject) == uncounted(b.subject)) {
				f(frame, s)
			}
		}
	}
}

// longQueue is from which wait on it is reported that a task had waited in its queue.
const longQueue = 100.0 // ms

// taskOf says which of the app's asynchronous tasks most of a wait for another thread is for, and
// how long that had waited in its queue; nil where no task is known by its time there.
func (t teller) taskOf(b blame) diagnose.Phrase {
	if t.head.Frames == nil || t.head.Tasks == nil || b.kind != LockKind && b.kind != SleepKind {
		return nil
	}
	took, queued, whole := map[int]float64{}, map[int]float64{}, 0.0
	t.eachStep(b, func(f run.LateFrame, s run.PathStep) {
		whole += s.ToMS - s.FromMS
		first, _, _ := strings.Cut(s.What, " at ")
		from, to := f.AtMS+s.FromMS, f.AtMS+s.ToMS
		for _, at := range t.head.Tasks.Running(f.Repetition, first, from, to) {
			g := t.head.Tasks.Groups[at]
			if t.head.Tasks.Units[g.Unit].Kind == run.MainThread {
				continue
			}
			took[at] += s.ToMS - s.FromMS
			for _, task := range g.Longest {
				if begin := task.AtMS + task.DelayMS + task.QueuedMS; task.Repetition == f.Repetition && begin < to && begin+task.RanMS > from {
					queued[at] = max(queued[at], task.QueuedMS)
				}
			}
		}
	})
	for _, at := range slices.Sorted(maps.Keys(took)) {
		if name := t.head.Tasks.Groups[at].Name; name != "" && took[at] > leastRoot*whole {
			out := say(", in the task ", diagnose.Part{Name: name, As: diagnose.Short, Most: 60})
			if queued[at] >= longQueue {
				out = say(out, " (after ", diagnose.Amount{Value: queued[at], Unit: "ms"}, " in its queue)")
			}
			return out
		}
	}
	return nil
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
