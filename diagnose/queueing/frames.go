package queueing

import (
	"cmp"
	"slices"
	"strings"

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
			for _, r := range Running(c.head.Tasks, f.Repetition, step.Thread, f.AtMS+step.FromMS, f.AtMS+step.ToMS) {
				seen[r] = true
			}
		}
		for g := range seen {
			groups[g]++
		}
	}
	return groups, true
}

// Running returns the groups of a record's single tasks that ran in a thread of a repetition during
// a time (ms of CLOCK_MONOTONIC), and of those that waited for them: what a frame waits for, whose
// critical path goes through that thread then. Only the longest tasks of each group are known by
// their time.
func Running(t *run.Tasks, repetition int, thread string, fromMS, toMS float64) []int {
	var out []int
	add := func(group int) {
		if group >= 0 && !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	for i, g := range t.Groups {
		for _, task := range g.Longest {
			if task.Repetition != repetition || task.AtMS == 0 {
				continue
			}
			begin := task.AtMS + task.DelayMS + task.QueuedMS
			if sameThread(task.Thread, thread) && begin < toMS && begin+task.RanMS > fromMS {
				add(i)
			}
			for _, a := range task.Ahead {
				if sameThread(a.Thread, thread) && a.FromMS < toMS && a.ToMS > fromMS {
					add(a.Group)
				}
			}
		}
	}
	return out
}

// kernelName is how many bytes of a thread's name the kernel keeps.
const kernelName = 15

// sameThread compares two threads' names, of which one may be the kernel's.
func sameThread(a, b string) bool {
	cut := func(s string) string { return s[:min(len(s), kernelName)] }
	return a != "" && cut(a) == cut(b)
}
