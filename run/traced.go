package run

import (
	"errors"
	"fmt"
)

// Limits on the traced methods of a record.
const (
	MaxTraceWindows  = 200
	MaxTracedMethods = 1_000
	MaxCallChains    = 200
	MaxTracedCalls   = 2_000
)

// MethodTraces is what traces of methods' entries and exits show (Hubble, OSDI 2022): unlike
// Energy.Methods, which are sampled, each call counts. Times are of what was traced, which is a
// part of the run.
type MethodTraces struct {
	// Source is the tracer, such as "art".
	Source string `json:"source"`
	// Clock is the clock of the times: WallClock or CPUClock.
	Clock string `json:"clock"`
	// Windows are the parts of the run that were traced.
	Windows []TraceWindow `json:"windows,omitempty"`
	// List has the methods, the most time of their own first.
	List []TracedMethod `json:"list,omitempty"`
	// Chains are the chains of calls that took longest, the longest first.
	Chains []CallChain `json:"chains,omitempty"`
	// LeftOut is how many more methods there were.
	LeftOut int `json:"left_out,omitempty"`
	// Tree has the calls of the threads' pieces of work, in which they did not wait for something to
	// do, each after its caller: those of one method by one caller are one entry. The calls of
	// threads other than the main one, and short ones, are the first to be left out.
	Tree []TracedCall `json:"tree,omitempty"`
	// TreeLeftOutMS bounds the time, in one iteration, of each call that Tree leaves out; 0 where it
	// is complete.
	TreeLeftOutMS float64 `json:"tree_left_out_ms,omitempty"`
}

// Clocks of traced methods (MethodTraces.Clock).
const (
	WallClock = "wall"
	CPUClock  = "cpu" // of the thread
)

// TraceWindow is a part of the run that was traced: the contents of a ring buffer when something
// went wrong.
type TraceWindow struct {
	// Repetition is the iteration, from 1.
	Repetition int    `json:"repetition"`
	Event      string `json:"event,omitempty"`
	// FromMS and ToMS are by CLOCK_MONOTONIC of the repetition.
	FromMS float64 `json:"from_ms"`
	ToMS   float64 `json:"to_ms"`
	// Why says what went wrong.
	Why string `json:"why,omitempty"`
	// Calls counts the complete calls in it, Lost the entries and exits without their other end,
	// which was overwritten or lies outside.
	Calls int `json:"calls"`
	Lost  int `json:"lost,omitempty"`
	// Evidence is the digest of the trace in Run.Evidence.
	Evidence string `json:"evidence,omitempty"`
}

// TracedMethod is one method of one UI event.
type TracedMethod struct {
	Name   string `json:"name"`
	File   string `json:"file,omitempty"`
	Thread string `json:"thread,omitempty"`
	// Event is as in Bucket.Name; "" is the whole run.
	Event string `json:"event,omitempty"`
	Calls int    `json:"calls"`
	// SelfMS is the time of its own code, TotalMS including all that it calls, counting recursive
	// calls once; LongestMS is the time of its longest call.
	SelfMS    float64 `json:"self_ms"`
	TotalMS   float64 `json:"total_ms"`
	LongestMS float64 `json:"longest_ms"`
}

// CallChain is a chain of calls, each the longest of its caller's.
type CallChain struct {
	// Repetition is the iteration, from 1.
	Repetition int    `json:"repetition"`
	Event      string `json:"event,omitempty"`
	Thread     string `json:"thread,omitempty"`
	// AtMS is when the outermost call began, by CLOCK_MONOTONIC of the repetition.
	AtMS float64 `json:"at_ms"`
	// Methods are the callers' names, the outermost first, and MS the time of each.
	Methods []string  `json:"methods"`
	MS      []float64 `json:"ms"`
	// BlockedMS is for how much of the last one's time the thread did not run; 0 where unknown.
	BlockedMS float64 `json:"blocked_ms,omitempty"`
}

// TracedCall is the calls of a method by one caller.
type TracedCall struct {
	// Parent is the caller's place in the tree, which is before its own; -1 for the outermost call
	// of a piece of work.
	Parent int    `json:"parent"`
	Name   string `json:"name"`
	// Thread and Event are those of an outermost call, and of all that it calls.
	Thread string `json:"thread,omitempty"`
	Event  string `json:"event,omitempty"`
	// Repetitions counts the calls in each iteration, the first at 0, and RepetitionsMS is their
	// time including all that they call. With more than MaxApart iterations, iteration n counts for
	// the entry (n-1) modulo MaxApart. Repetitions is nil where calls are not counted.
	Repetitions   []int     `json:"repetitions,omitempty"`
	RepetitionsMS []float64 `json:"repetitions_ms,omitempty"`
}

func (m MethodTraces) validate() error {
	if err := errors.Join(word("source", m.Source), word("clock", m.Clock), atMost("windows", len(m.Windows), MaxTraceWindows),
		atMost("list", len(m.List), MaxTracedMethods), atMost("chains", len(m.Chains), MaxCallChains), counts("left_out", m.LeftOut),
		atMost("tree", len(m.Tree), MaxTracedCalls), times("tree_left_out_ms", m.TreeLeftOutMS)); err != nil {
		return first(err)
	}
	for i, c := range m.Tree {
		if c.Parent < -1 || c.Parent >= i {
			return fmt.Errorf("tree[%d].parent is %d, want -1 or the place of an earlier call", i, c.Parent)
		}
		if err := errors.Join(texts("name, thread or event", c.Name, c.Thread, c.Event), atMost("repetitions", len(c.Repetitions), MaxApart),
			counts("repetitions", c.Repetitions...), atMost("repetitions_ms", len(c.RepetitionsMS), MaxApart), times("repetitions_ms", c.RepetitionsMS...)); err != nil {
			return fmt.Errorf("tree[%d].%w", i, first(err))
		}
	}
	for i, w := range m.Windows {
		if err := errors.Join(repetition(w.Repetition, 1), texts("event or why", w.Event, w.Why), span(w.FromMS, w.ToMS),
			counts("calls or lost", w.Calls, w.Lost), reference(w.Evidence)); err != nil {
			return fmt.Errorf("windows[%d].%w", i, first(err))
		}
	}
	for i, t := range m.List {
		if err := errors.Join(texts("name, file, thread or event", t.Name, t.File, t.Thread, t.Event), counts("calls", t.Calls),
			times("self_ms, total_ms or longest_ms", t.SelfMS, t.TotalMS, t.LongestMS)); err != nil {
			return fmt.Errorf("list[%d].%w", i, first(err))
		}
	}
	for i, c := range m.Chains {
		if err := c.validate(); err != nil {
			return fmt.Errorf("chains[%d].%w", i, err)
		}
	}
	return nil
}

func (c CallChain) validate() error {
	if len(c.Methods) != len(c.MS) {
		return fmt.Errorf("ms has %d times for %d methods", len(c.MS), len(c.Methods))
	}
	return first(errors.Join(repetition(c.Repetition, 1), texts("event or thread", c.Event, c.Thread), times("at_ms or blocked_ms", c.AtMS, c.BlockedMS),
		atMost("methods", len(c.Methods), MaxStack), texts("methods", c.Methods...), times("ms", c.MS...)))
}
