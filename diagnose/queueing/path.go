package queueing

import (
	"cmp"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// behindWhat is what the thread of a task waits for.
type behindWhat struct{ kind, who string }

// waitIn says what a task's run was a wait for, for most of its time: "waited for storage for up to
// 600 ms (92 % of its run)"; nil where it ran, or nothing is known.
func waitIn(path []run.TaskStep, ranMS float64) diagnose.Phrase {
	took := map[behindWhat]float64{}
	for _, s := range path {
		took[whatOf(s)] += s.ToMS - s.FromMS
	}
	what, ok := mainly(took, ranMS)
	names := what.phrase()
	if !ok || names == nil {
		return nil
	}
	does := map[string]float64{}
	for _, s := range path {
		if whatOf(s) == what {
			does[s.Does] += s.ToMS - s.FromMS
		}
	}
	out := say("waited for ", names, " for up to ", ms(took[what]), " (", ratio(min(took[what]/ranMS, 1)), " of its run)")
	if then, ok := mainly(does, took[what]); ok && waitsFor[then] != "" {
		return say(out, ", and that for ", waitsFor[then])
	}
	return out
}

// whatOf returns what a step waits for, by its kind and, for a lock, binder and sleep, by whom.
func whatOf(s run.TaskStep) behindWhat {
	switch s.Kind {
	case run.WaitLock:
		owner, _, _ := strings.Cut(s.What, " at ")
		return behindWhat{s.Kind, cmp.Or(owner, s.Thread)}
	case run.WaitBinder:
		return behindWhat{s.Kind, cmp.Or(s.What, s.Process, s.Thread)}
	case run.WaitSleep:
		return behindWhat{s.Kind, s.Thread}
	}
	return behindWhat{kind: s.Kind}
}

// phrase names what is waited for, nil for what is no wait.
func (w behindWhat) phrase() diagnose.Phrase {
	who := diagnose.Named(w.who)
	switch {
	case w.kind == run.WaitLock && w.who != "":
		return say("the lock that ", who, " held")
	case w.kind == run.WaitBinder && w.who != "":
		process, method, found := strings.Cut(w.who, " ")
		if !found {
			return say("binder: ", who)
		}
		return say("binder ", diagnose.Named(method), " of ", diagnose.Named(process))
	case w.kind == run.WaitSleep && w.who != "":
		return say(who)
	case w.kind == run.WaitSleep:
		return say("something that the trace does not show, such as the network,")
	case waitsFor[w.kind] != "":
		return say(waitsFor[w.kind])
	}
	return nil
}

// aheadWaits says what the task that ran for longest while one of the group waited was itself
// waiting for, and of which group that is; nil where it ran, or nothing is known.
func (t teller) aheadWaits() (group int, waits diagnose.Phrase) {
	var most run.TaskRun
	for _, one := range t.own().Longest {
		for _, a := range one.Ahead {
			if a.Group >= 0 && len(a.Path) > 0 && a.ToMS-a.FromMS > most.ToMS-most.FromMS {
				most = a
			}
		}
	}
	return most.Group, waitIn(most.Path, most.ToMS-most.FromMS)
}

// runWaits says what the longest run of a group's tasks waited for.
func runWaits(g run.TaskGroup) diagnose.Phrase {
	var most run.SlowTask
	for _, one := range g.Longest {
		if len(one.Path) > 0 && one.RanMS > most.RanMS {
			most = one
		}
	}
	return waitIn(most.Path, most.RanMS)
}

// detail returns the steps of a task's run as a picture draws them below it: those of other threads
// in the lanes of these. Times begin when the task that waits was due.
func detail(path []run.TaskStep, thread string, due float64) (out []diagnose.Step) {
	if len(path) == 1 && path[0].Kind == run.WaitRunning {
		return nil // its box says it
	}
	for _, s := range path {
		out = append(out, diagnose.Step{
			Thread: cmp.Or(s.Thread, thread+" in detail"), Process: s.Process, Kind: s.Kind, Does: s.Does, What: s.What, FromMS: s.FromMS - due, ToMS: s.ToMS - due,
		})
	}
	return out
}
