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
}

func sideOf(r run.Run) side {
	out := side{r.Tasks, max(1, min(len(r.Iterations), run.MaxApart))}
	for _, g := range r.Tasks.Groups {
		out.repetitions = max(out.repetitions, len(g.Repetitions), len(g.QueuedMaxMS), len(g.RanMaxMS))
	}
	return out
}

func (s side) tells(what string) bool { return slices.Contains(s.Tells, what) }

// unit returns the unit of a group.
func (s side) unit(g run.TaskGroup) run.TaskUnit { return s.Units[g.Unit] }

// oneByOne are the kinds of units that run one task at a time by their nature (definition 4).
var oneByOne = []string{run.MainThread, run.PlainThread, run.HandlerThread, run.IntentService}

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
	return s.choose(of, g, func(o run.TaskGroup) bool { return o.Event == g.Event && o.Name == g.Name })
}

// findAny is find over all events.
func (s side) findAny(of side, g run.TaskGroup) []int {
	return s.choose(of, g, func(o run.TaskGroup) bool { return o.Name == g.Name })
}

func (s side) choose(of side, g run.TaskGroup, like func(run.TaskGroup) bool) []int {
	var out []int
	best := 0
	context := of.context(g)
	for i, o := range s.Groups {
		if !like(o) {
			continue
		}
		n := shared(context, s.context(o))
		if n > best {
			best, out = n, nil
		}
		if n == best {
			out = append(out, i)
		}
	}
	return out
}

// shared counts the methods that two stacks have in common.
func shared(a, b []string) (n int) {
	for _, frame := range a {
		if slices.ContainsFunc(b, func(o string) bool { return methodOf(o) == methodOf(frame) }) {
			n++
		}
	}
	return n
}

// each returns a time of groups in each repetition: the longest of any of them.
func (s side) each(groups []int, of func(run.TaskGroup) []float64) []float64 {
	out := make([]float64, s.repetitions)
	for _, i := range groups {
		for k, v := range of(s.Groups[i]) {
			out[k] = max(out[k], v)
		}
	}
	return out
}

func queuedMax(g run.TaskGroup) []float64 { return g.QueuedMaxMS }
func ranMax(g run.TaskGroup) []float64    { return g.RanMaxMS }

// count returns how many tasks of groups there are in each repetition.
func (s side) count(groups []int) []float64 {
	out := make([]float64, s.repetitions)
	for _, i := range groups {
		for k, n := range s.Groups[i].Repetitions {
			out[k] += float64(n)
		}
	}
	return out
}

// sum adds up a count of groups.
func (s side) sum(groups []int, of func(run.TaskGroup) int) (n float64) {
	for _, i := range groups {
		n += float64(of(s.Groups[i]))
	}
	return n
}

func scheduled(g run.TaskGroup) int { return g.Scheduled }
func started(g run.TaskGroup) int   { return g.Started }
func cancelled(g run.TaskGroup) int { return g.Cancelled }
func obsolete(g run.TaskGroup) int  { return g.Obsolete }

// meanRan returns how long a task of groups runs on average, and how many are known.
func (s side) meanRan(groups []int) (ms float64, n int) {
	for _, i := range groups {
		ran := s.Groups[i].Ran
		ms, n = ms+ran.MeanMS*float64(ran.Count), n+ran.Count
	}
	return ms / float64(max(n, 1)), n
}

// longestRun returns the longest run of a task of groups.
func (s side) longestRun(groups []int) (ms float64) {
	for _, i := range groups {
		ms = max(ms, longest(s.Groups[i].Ran))
	}
	return ms
}

// longest returns the longest time of a distribution.
func longest(s run.Spread) float64 {
	out := s.MeanMS
	for _, q := range s.QuantilesMS {
		out = max(out, q)
	}
	return out
}

// blocker is a group that late tasks waited for.
type blocker struct {
	group int
	tasks int
	share float64 // of the time that was waited for
}

// blockers returns the groups that a group's late tasks waited for, the one that took most of the
// time first, without those that took next to none.
func (s side) blockers(g run.TaskGroup) []blocker {
	whole := 0.0
	for _, a := range g.Late.WaitedFor {
		whole += float64(a.Tasks) * a.RanMS
	}
	var out []blocker
	for _, a := range g.Late.WaitedFor {
		if share := float64(a.Tasks) * a.RanMS / whole; share >= leastBlocker {
			out = append(out, blocker{a.Group, a.Tasks, share})
		}
	}
	slices.SortStableFunc(out, func(a, b blocker) int { return cmp.Compare(b.share, a.share) })
	return out
}
