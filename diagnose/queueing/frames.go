package queueing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// eachWait calls f with each step of an event's late frames, a thread that the frame waits for in it,
// and the groups whose tasks, or those that such a task waited for, that thread ran meanwhile.
func (c comparison) eachWait(event string, f func(frame int, step *run.PathStep, thread string, groups []int)) {
	if c.run.Frames == nil {
		return
	}
	for i, frame := range c.run.Frames.Worst {
		if event != "" && frame.Event != event {
			continue
		}
		for k := range frame.Path {
			step := &frame.Path[k]
			for _, thread := range threadsOf(*step) {
				f(i, step, thread, c.head.Running(frame.Repetition, thread, frame.AtMS+step.FromMS, frame.AtMS+step.ToMS))
			}
		}
	}
}

// linked returns for how many late frames of an event the tasks of each group decided when they
// were done. Only findings on frames need it.
func (c comparison) linked(metric, event string) map[int]int {
	if !ofFrames(metric) {
		return nil
	}
	frames := map[int]map[int]bool{}
	c.eachWait(event, func(frame int, _ *run.PathStep, _ string, groups []int) {
		for _, g := range groups {
			if frames[g] == nil {
				frames[g] = map[int]bool{}
			}
			frames[g][frame] = true
		}
	})
	out := map[int]int{}
	for g, all := range frames {
		out[g] = len(all)
	}
	return out
}

// threadsOf returns the threads that a frame waits for in a step: the one at the end of the chain of
// waits, and the first one of it, by which the frame's own thread was woken or whose lock it wants.
func threadsOf(s run.PathStep) []string {
	if s.Kind != run.WaitSleep && s.Kind != run.WaitLock {
		return []string{s.Thread}
	}
	first, _, _ := strings.Cut(s.What, " at ")
	return []string{s.Thread, first}
}

// held is what a task's thread waits for while frames wait for it: another thread or process, ""
// for none, and what that does.
type held struct{ who, does string }

// waitsFor are waits that a task can be in.
var waitsFor = map[string]string{run.WaitIO: "storage", run.WaitLock: "a lock", run.WaitBinder: "another process", run.WaitRunnable: "a processor", run.WaitGC: "the garbage collector"}

// heldBy says what a group's tasks wait for themselves, for most of the time in which an event's late
// frames wait for them; nil if they run.
func (c comparison) heldBy(group int, event string) diagnose.Phrase {
	took, whole := map[held]float64{}, 0.0
	var counted *run.PathStep
	c.eachWait(event, func(_ int, step *run.PathStep, thread string, groups []int) {
		if step == counted || !slices.Contains(groups, group) {
			return
		}
		counted = step
		by := held{does: cmp.Or(step.Does, step.Kind)}
		if step.Process != "" || !run.SameThread(thread, step.Thread) {
			by.who = cmp.Or(step.Process, step.Thread)
		}
		took[by] += step.ToMS - step.FromMS
		whole += step.ToMS - step.FromMS
	})
	by, _ := mainly(took, whole)
	does := waitsFor[by.does]
	switch {
	case by.who == "" && does != "":
		return say(", which itself waits for ", does)
	case by.who != "" && does != "":
		return say(", which itself waits for ", diagnose.Named(by.who), ", and that for ", does)
	case by.who != "":
		return say(", which itself waits for ", diagnose.Named(by.who))
	}
	return nil
}

// mainly returns what took more than half of a time; false where nothing did.
func mainly[T comparable](took map[T]float64, whole float64) (what T, ok bool) {
	for one, ms := range took {
		if ms > mostOf*whole {
			return one, true
		}
	}
	return what, false
}
