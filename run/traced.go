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
}

func (m MethodTraces) validate() error {
	if err := errors.Join(word("source", m.Source), word("clock", m.Clock), atMost("windows", len(m.Windows), MaxTraceWindows),
		atMost("list", len(m.List), MaxTracedMethods), atMost("chains", len(m.Chains), MaxCallChains), counts("left_out", m.LeftOut)); err != nil {
		return first(err)
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
	return first(errors.Join(repetition(c.Repetition, 1), texts("event or thread", c.Event, c.Thread), times("at_ms", c.AtMS),
		atMost("methods", len(c.Methods), MaxStack), texts("methods", c.Methods...), times("ms", c.MS...)))
}
