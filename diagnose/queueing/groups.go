package queueing

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/apkgate/apkgate/run"
)

// side is the tasks of one run.
type side struct {
	*run.Tasks
	repetitions int
	with        map[string][]int // groups by a method on their stacks
	same        map[asked][]int  // what find and findAny have answered
}

func sideOf(r run.Run) side {
	out := side{Tasks: r.Tasks, repetitions: max(1, min(len(r.Iterations), run.MaxApart)), with: map[string][]int{}, same: map[asked][]int{}}
	for i, g := range r.Tasks.Groups {
		out.repetitions = max(out.repetitions, len(g.Repetitions), len(g.QueuedMaxMS), len(g.RanMaxMS))
		for _, line := range out.context(g) {
			if all := out.with[methodOf(line)]; len(all) == 0 || all[len(all)-1] != i {
				out.with[methodOf(line)] = append(all, i)
			}
		}
	}
	return out
}

func (s side) tells(what string) bool { return slices.Contains(s.Tells, what) }

// unit returns the unit of a group.
func (s side) unit(g run.TaskGroup) run.TaskUnit { return s.Units[g.Unit] }

// Kinds of units: loopers take messages from a queue; and all these run one task at a time by their
// nature (definition 4).
var (
	loopers  = []string{run.HandlerThread, run.IntentService, run.MainThread}
	oneByOne = append([]string{run.PlainThread}, loopers...)
)

// capacity returns how many tasks a unit runs at the same time, 0 where that is unknown. Even a
// source that can't tell it of pools may know it of a unit, such as AsyncTask's serial executor.
func capacity(u run.TaskUnit) int {
	if slices.Contains(oneByOne, u.Kind) {
		return 1
	}
	return u.Capacity
}

// context returns the stack that scheduled a group's tasks, nil where the source tells none.
func (s side) context(g run.TaskGroup) []string {
	if !s.tells(run.TellsContexts) {
		return nil
	}
	return g.Context
}

// overMS returns from which wait on the record's tasks are late.
func (s side) overMS() float64 {
	for _, g := range s.Groups {
		if g.Late != nil {
			return g.Late.OverMS
		}
	}
	return DefaultOverMS
}

// number matches what differs between units that are the same: pool-2-thread, AsyncTask #3.
var number = regexp.MustCompile(`\d+`)

func unitName(u run.TaskUnit) string { return u.Kind + " " + number.ReplaceAllString(u.Name, "#") }

// find returns the groups of another run that are the same tasks as a group of this one: of that
// event and name and, where several have it, scheduled by the method most like its own. Units may
// differ: to move a task to another executor may be the defect.
func (s side) find(of side, g run.TaskGroup) []int {
	return s.choose(asked{name: g.Name, event: g.Event}, of.context(g))
}

// findAny is find over all events.
func (s side) findAny(of side, g run.TaskGroup) []int {
	return s.choose(asked{name: g.Name, anyEvent: true}, of.context(g))
}

// asked is which tasks to find.
type asked struct {
	name, event string
	anyEvent    bool
	stack       *string // its first line, nil for none
}

// choose answers each question once: a record has up to 500 groups, and each is looked for often.
func (s side) choose(q asked, stack []string) (out []int) {
	if len(stack) > 0 {
		q.stack = &stack[0]
	}
	if out, known := s.same[q]; known {
		return out
	}
	best, common := 0, make([]int, len(s.Groups)) // methods of both stacks
	for _, line := range stack {
		for _, i := range s.with[methodOf(line)] {
			common[i]++
		}
	}
	for i, o := range s.Groups {
		if o.Name != q.name || o.Event != q.event && !q.anyEvent || common[i] < best {
			continue
		}
		if common[i] > best {
			best, out = common[i], nil
		}
		out = append(out, i)
	}
	s.same[q] = out
	return out
}

// values is a number of groups in each repetition.
type values func(s side, groups []int) []float64

// longestOf is the longest time of any of the groups.
func longestOf(times func(run.TaskGroup) []float64) values {
	return func(s side, groups []int) []float64 {
		out := make([]float64, s.repetitions)
		for _, i := range groups {
			for k, v := range times(s.Groups[i]) {
				out[k] = max(out[k], v)
			}
		}
		return out
	}
}

var (
	longestWait = longestOf(func(g run.TaskGroup) []float64 { return g.QueuedMaxMS })
	longestRun  = longestOf(func(g run.TaskGroup) []float64 { return g.RanMaxMS })
)

// count is how many tasks there are.
func (s side) count(groups []int) []float64 {
	out := make([]float64, s.repetitions)
	for _, i := range groups {
		for k, n := range s.Groups[i].Repetitions {
			out[k] += float64(n)
		}
	}
	return out
}

// meanRan returns how long a task of groups runs on average, and how many are known.
func meanRan(groups []run.TaskGroup) (ms float64, n int) {
	for _, g := range groups {
		ms, n = ms+g.Ran.MeanMS*float64(g.Ran.Count), n+g.Ran.Count
	}
	return ms / float64(max(n, 1)), n
}

// longest returns the longest time of distributions.
func longest(all ...run.Spread) (out float64) {
	for _, s := range all {
		out = max(out, s.MeanMS)
		for _, q := range s.QuantilesMS {
			out = max(out, q)
		}
	}
	return out
}

func queued(g run.TaskGroup) run.Spread { return g.Queued }
func ran(g run.TaskGroup) run.Spread    { return g.Ran }

// spreads returns a distribution of each group.
func spreads(groups []run.TaskGroup, of func(run.TaskGroup) run.Spread) (out []run.Spread) {
	for _, g := range groups {
		out = append(out, of(g))
	}
	return out
}

// blocker is a group that late tasks waited for.
type blocker struct {
	group int
	share float64 // of the time that was waited for
}

// leastBlocker is the share of the time that is waited for, from which on a group is named.
const leastBlocker = 0.05

// blockers returns the groups that a group's late tasks waited for, the one that took most of the
// time first, without those that took next to none.
func (s side) blockers(g run.TaskGroup) (out []blocker) {
	whole := 0.0
	for _, a := range g.Late.WaitedFor {
		whole += float64(a.Tasks) * a.RanMS
	}
	for _, a := range g.Late.WaitedFor {
		if share := float64(a.Tasks) * a.RanMS / whole; share >= leastBlocker {
			out = append(out, blocker{a.Group, share})
		}
	}
	slices.SortStableFunc(out, func(a, b blocker) int { return cmp.Compare(b.share, a.share) })
	return out
}
