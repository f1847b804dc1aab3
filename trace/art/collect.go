package art

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/r8map"
)

// Limits on what is kept of one repetition's tree, before those of all are combined.
const (
	maxKept   = 2 * run.MaxTracedCalls
	maxOthers = 400 // of threads other than the main one, in a record
)

// Repetition is what a trace is of.
type Repetition struct {
	Number int // the iteration, from 1
	// Began is when the trace's clock was 0, on the device's CLOCK_MONOTONIC.
	Began time.Duration
	// First is when its first event was, on CLOCK_MONOTONIC, where the trace's clock is another: a
	// low-overhead dump has the counter of the CPU, which counts sleep and from an earlier time on.
	// It replaces Began; 0 where it is not needed.
	First time.Duration
	// Main is the id of the main thread, for a trace that names none; 0 where it does.
	Main uint32
	// Events are the UI events in chronological order. A piece of work belongs to the event in which
	// it begins; without any, all to the whole run.
	Events []trace.Event
	// Wrong is what went wrong meanwhile, each with its words, and Evidence the digest of the kept
	// trace; both may be empty.
	Wrong    []trace.Event
	Evidence string
}

// Collector combines the traces of a run's repetitions to the section of its record. The zero
// Collector is empty.
type Collector struct {
	out     run.MethodTraces
	methods map[methodKey]*run.TracedMethod
	tree    []run.TracedCall
	places  map[callKey]int // in tree
	missed  time.Duration
	mains   map[string]bool // names of main threads
	most    int             // methods that are kept; 0: as many as a record has
	last    *recorder       // of the trace that was added last
}

type methodKey struct{ name, file, thread, event string }

type callKey struct {
	parent              int
	name, thread, event string
}

// Add reads a trace twice, for its names and for its calls. What is not understood is a warning of
// the trace. A mapping gives methods that R8 renamed the names of the source; it may be nil. A trace
// without a clock, or without calls, adds nothing, and neither does one by another clock than those
// before, which is a warning.
func (c *Collector) Add(src io.ReadSeeker, mapping *r8map.Map, rep Repetition) (*Trace, error) {
	first := time.Duration(math.MaxInt64)
	t, err := Read(src, func(e Event) { first = min(first, e.Time) })
	if err != nil || t.Clock == NoClock || t.Events == 0 {
		return t, err
	}
	clock := run.WallClock
	if t.Clock == ThreadCPU {
		clock = run.CPUClock
	}
	if c.out.Clock != "" && c.out.Clock != clock {
		t.Warnings = append(t.Warnings, run.Warning{Text: fmt.Sprintf("the calls of repetition %d are left out: their times are by another clock than those before", rep.Number)})
		return t, nil
	}
	t.Retrace(mapping)
	switch {
	case rep.First > 0:
		rep.Began = rep.First - first
	case rep.Began == 0:
		rep.Began = t.Begin
	}
	if rep.Main > 0 && t.PID == 0 {
		t.PID = int(rep.Main)
		t.Threads[rep.Main] = "main"
	}
	r := newRecorder(t, rep)
	if err := t.Again(src, r.event); err != nil {
		return t, err
	}
	r.calls.Finish()
	t.Warnings = append(t.Warnings, r.calls.Warnings()...)
	c.out.Source, c.out.Clock = "art", clock
	c.take(r)
	c.last = r
	return t, nil
}

// take adds what a trace has.
func (c *Collector) take(r *recorder) {
	if c.methods == nil {
		c.methods, c.places, c.mains = map[methodKey]*run.TracedMethod{}, map[callKey]int{}, map[string]bool{}
	}
	c.mains[r.t.Thread(uint32(r.t.PID))] = true
	c.out.Windows = append(c.out.Windows, r.windows()...)
	for _, tid := range slices.Sorted(maps.Keys(r.threads)) {
		th := r.threads[tid]
		for event, sums := range th.sums {
			for _, s := range sums.List() {
				c.method(r, tid, r.names[event], s)
			}
		}
		for _, p := range th.pieces.list() {
			c.out.Chains = append(c.out.Chains, r.chain(tid, p))
		}
		c.branches(r, tid)
	}
}

func (c *Collector) method(r *recorder, tid uint32, event string, s MethodSums) {
	m := r.t.Method(s.Method)
	if r.idle(m) || r.t.Format == LongOnes && loopers[m.String()] {
		return
	}
	k := methodKey{prose.Clip(m.String(), maxText), prose.Clip(m.File, maxText), r.t.Thread(tid), event}
	sum := c.methods[k]
	if sum == nil {
		sum = &run.TracedMethod{Name: k.name, File: k.file, Thread: k.thread, Event: k.event}
		c.methods[k] = sum
	}
	sum.Calls += s.Calls
	sum.SelfMS += ms(s.Self)
	sum.TotalMS += ms(s.Total)
	sum.LongestMS = max(sum.LongestMS, ms(s.Longest))
}

// branches adds a thread's tree, the longest branches up to maxKept.
func (c *Collector) branches(r *recorder, tid uint32) {
	t := &r.threads[tid].tree
	roots := t.finish()
	var took []time.Duration
	var walk func(all []*branch)
	walk = func(all []*branch) {
		for _, b := range all {
			took = append(took, b.took)
			walk(b.inner)
		}
	}
	walk(roots)
	least := time.Duration(0)
	if len(took) > maxKept {
		slices.SortFunc(took, func(a, b time.Duration) int { return cmp.Compare(b, a) })
		least = took[maxKept-1]
	}
	slot := (r.rep.Number - 1) % run.MaxApart
	var add func(all []*branch, parent int)
	add = func(all []*branch, parent int) {
		for _, b := range all {
			if b.took < least {
				t.missed = max(t.missed, b.took)
				continue
			}
			k := callKey{parent: parent, name: prose.Clip(r.t.Method(b.method).String(), maxText)}
			if parent < 0 {
				k.thread, k.event = r.t.Thread(tid), r.names[b.event]
			}
			at, has := c.places[k]
			if !has {
				at = len(c.tree)
				c.places[k] = at
				c.tree = append(c.tree, run.TracedCall{Parent: parent, Name: k.name, Thread: k.thread, Event: k.event})
			}
			into := &c.tree[at]
			for len(into.Repetitions) <= slot {
				into.Repetitions, into.RepetitionsMS = append(into.Repetitions, 0), append(into.RepetitionsMS, 0)
			}
			into.Repetitions[slot] += b.calls
			into.RepetitionsMS[slot] += ms(b.took)
			add(b.inner, at)
		}
	}
	add(roots, -1)
	c.missed = max(c.missed, t.missed)
}

// MethodTraces returns the section, nil where nothing was added. What exceeds a record's limits is
// left out and counted: first what took least, and what other threads than the main one did.
func (c *Collector) MethodTraces() *run.MethodTraces {
	if c.out.Source == "" {
		return nil
	}
	out := c.out
	out.Windows = slices.Clone(out.Windows[:min(len(out.Windows), run.MaxTraceWindows)])
	out.List = make([]run.TracedMethod, 0, len(c.methods))
	for _, m := range c.methods {
		out.List = append(out.List, *m)
	}
	slices.SortFunc(out.List, func(a, b run.TracedMethod) int {
		return cmp.Or(cmp.Compare(b.SelfMS, a.SelfMS), cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Thread, b.Thread), strings.Compare(a.Name, b.Name), strings.Compare(a.Event, b.Event))
	})
	out.List, out.LeftOut = mainFirst(out.List, cmp.Or(c.most, run.MaxTracedMethods), func(m run.TracedMethod) bool { return c.mains[m.Thread] })
	out.Chains = slices.Clone(out.Chains)
	slices.SortFunc(out.Chains, func(a, b run.CallChain) int {
		return cmp.Or(cmp.Compare(b.MS[0], a.MS[0]), cmp.Compare(a.Repetition, b.Repetition), cmp.Compare(a.AtMS, b.AtMS), strings.Compare(a.Thread, b.Thread))
	})
	out.Chains, _ = mainFirst(out.Chains, run.MaxCallChains, func(chain run.CallChain) bool { return c.mains[chain.Thread] })
	out.Tree, out.TreeLeftOutMS = c.kept()
	return &out
}

// kept returns the longest entries of the tree, each with its callers, and what others took at most.
func (c *Collector) kept() (tree []run.TracedCall, leftOutMS float64) {
	longest, main := make([]float64, len(c.tree)), make([]bool, len(c.tree))
	places := make([]int, len(c.tree))
	for i, call := range c.tree {
		places[i], main[i] = i, c.mains[call.Thread]
		if call.Parent >= 0 {
			main[i] = main[call.Parent]
		}
		for _, took := range call.RepetitionsMS {
			longest[i] = max(longest[i], took)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(longest[b], longest[a]) })
	others := 0
	for _, i := range places {
		if !main[i] {
			others++
		}
	}
	others = min(others, maxOthers)
	room := map[bool]int{true: run.MaxTracedCalls - others, false: others}
	keep := make([]bool, len(c.tree))
	leftOutMS = ms(c.missed)
	for _, i := range places {
		parent := c.tree[i].Parent
		if room[main[i]] > 0 && (parent < 0 || keep[parent]) {
			keep[i] = true
			room[main[i]]--
		} else {
			leftOutMS = max(leftOutMS, longest[i])
		}
	}
	moved := make([]int, len(c.tree))
	for i, call := range c.tree {
		if keep[i] {
			moved[i] = len(tree)
			if call.Parent >= 0 {
				call.Parent = moved[call.Parent]
			}
			tree = append(tree, call)
		}
	}
	return tree, leftOutMS
}

// Seen returns how much of a span on CLOCK_MONOTONIC the main thread was in methods of the app, by
// the trace that was added last.
func (c *Collector) Seen(from, to time.Duration) (sum time.Duration) {
	if c.last == nil {
		return 0
	}
	for _, one := range c.last.covered {
		sum += max(0, min(one.to+c.last.rep.Began, to)-max(one.from+c.last.rep.Began, from))
	}
	return sum
}
