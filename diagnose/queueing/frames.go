package queueing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

func frames(name string) bool { return strings.HasPrefix(name, "frames.") }

func compare(a, b float64) int { return cmp.Compare(a, b) }

// linked returns for how many late frames of an event the tasks of each group decided when they
// were done: their critical paths wait for a thread in the time in which it ran such a task, or one
// that such a task waited for. Only findings on frames need it (only).
func (c comparison) linked(name, event string) (groups map[int]int, only bool) {
	if !frames(name) {
		return nil, false
	}
	groups = map[int]int{}
	if c.run.Frames == nil {
		return groups, true
	}
	for _, f := range c.run.Frames.Worst {
		if event != "" && f.Event != event {
			continue
		}
		seen := map[int]bool{}
		for _, step := range f.Path {
			for _, thread := range threadsOf(step) {
				for _, r := range c.head.Running(f.Repetition, thread, f.AtMS+step.FromMS, f.AtMS+step.ToMS) {
					seen[r] = true
				}
			}
		}
		for g := range seen {
			groups[g]++
		}
	}
	return groups, true
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
	if c.run.Frames == nil {
		return nil
	}
	took, whole := map[held]float64{}, 0.0
	for _, f := range c.run.Frames.Worst {
		if event != "" && f.Event != event {
			continue
		}
		for _, step := range f.Path {
			for _, thread := range threadsOf(step) {
				if !slices.Contains(c.head.Running(f.Repetition, thread, f.AtMS+step.FromMS, f.AtMS+step.ToMS), group) {
					continue
				}
				by := held{does: cmp.Or(step.Does, step.Kind)}
				if step.Process != "" || !run.SameThread(thread, step.Thread) {
					by.who = cmp.Or(step.Process, step.Thread)
				}
				took[by] += step.ToMS - step.FromMS
				whole += step.ToMS - step.FromMS
				break
			}
		}
	}
	for by, ms := range took {
		does := waitsFor[by.does]
		switch {
		case ms <= whole*mostOf:
		case by.who == "" && does != "":
			return say(", which itself waits for ", does)
		case by.who != "" && does != "":
			return say(", which itself waits for ", diagnose.Named(by.who), ", and that for ", does)
		case by.who != "":
			return say(", which itself waits for ", diagnose.Named(by.who))
		}
	}
	return nil
}
