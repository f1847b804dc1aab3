// Package section builds the section "frames" of a record from the single frames of traces: totals
// of frames that are alike, and a few frames one by one.
//
// It owns which frames count as alike, what is kept of how many frames, and how names are made the
// same from run to run. It judges nothing: package diagnose/jankcause decides from records alone
// which of it explains a regression.
//
// The size of the section does not grow with the frames. Counts and means are over all frames; of
// everything else the largest is kept, and what is left out is counted.
package section

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// Limits of what is kept.
const (
	maxEvents = 40 // distinguished events; the frames of others are those of no event
	maxWorst  = 40 // late frames listed one by one
	eachWorst = 3  // of them at least for each event, which keep their path as frozen ones do
	maxSteps  = 80 // of a path
	maxUsual  = run.MaxUsualFrames
)

// Repetition is one trace and the events during it.
type Repetition struct {
	// Number is the iteration, from 1.
	Number int
	// Evidence is the digest of the file that is kept of the trace, "" if none is.
	Evidence string
	Trace    rendering.Trace
	// Events are the UI events in chronological order. Without any, frames belong to the whole run;
	// with some, those before the first belong to run.Start.
	Events []trace.Event
}

// Collector collects the repetitions of a run. Its zero value is empty.
type Collector struct {
	source string
	wakers string // of the repetition with the least information
	events []*event
	apart  int // repetitions kept separately
}

// event is all frames of one event.
type event struct {
	name    string
	classes map[string]*group
	worst   []run.LateFrame // the worst first
	usual   thinned[run.LateFrame]
}

// Add adds the frames of one repetition.
func (c *Collector) Add(r Repetition) {
	c.source = cmp.Or(c.source, r.Trace.Source)
	c.wakers = commonWakers(c.wakers, r.Trace.Wakers)
	place := (max(r.Number, 1) - 1) % run.MaxApart
	c.apart = max(c.apart, place+1)
	for _, f := range r.Trace.Frames {
		e := c.event(trace.EventAt(r.Events, f.At))
		g := e.classes[f.Class]
		if g == nil {
			g = newGroup()
			e.classes[f.Class] = g
		}
		g.add(f, place)
		switch f.Class {
		case run.NormalFrames:
			e.usual.add(func() run.LateFrame { return single(r, f, e.name) })
		case run.SlowFrames, run.FrozenFrames:
			e.late(r, f)
		}
	}
}

// commonWakers returns the wake-up information that two repetitions have in common.
func commonWakers(a, b string) string {
	for _, one := range []string{run.WakersNone, run.WakersWakeup} {
		if a == one || b == one {
			return one
		}
	}
	return cmp.Or(a, b)
}

// event returns the event with that name, or that of no event if there are too many.
func (c *Collector) event(name string) *event {
	known := func(name string) int {
		return slices.IndexFunc(c.events, func(e *event) bool { return e.name == name })
	}
	at := known(name)
	if at < 0 && len(c.events) >= maxEvents {
		name = ""
		at = known("")
	}
	if at >= 0 {
		return c.events[at]
	}
	e := &event{name: name, classes: map[string]*group{}}
	c.events = append(c.events, e)
	return e
}

// late keeps the worst frames of the event.
func (e *event) late(r Repetition, f rendering.Frame) {
	key := run.LateFrame{Repetition: r.Number, AtMS: ms(f.At), DurationMS: ms(f.Took), DeadlineMS: ms(f.Deadline)}
	at, _ := slices.BinarySearchFunc(e.worst, key, byLateness)
	if at < maxWorst {
		e.worst = slices.Insert(e.worst, at, single(r, f, e.name))
		e.worst = e.worst[:min(len(e.worst), maxWorst)]
	}
}

// byLateness puts the worst frame first.
func byLateness(a, b run.LateFrame) int {
	return cmp.Or(cmp.Compare(b.DurationMS-b.DeadlineMS, a.DurationMS-a.DeadlineMS), cmp.Compare(a.Repetition, b.Repetition), cmp.Compare(a.AtMS, b.AtMS))
}

// Frames returns the section of all repetitions; nil if they had no frames.
func (c *Collector) Frames() *run.Frames {
	if len(c.events) == 0 {
		return nil
	}
	out := &run.Frames{Source: cmp.Or(c.source, rendering.DoFrame), Wakers: c.wakers}
	late, groups := 0, 0
	for _, e := range c.events {
		groups += len(e.classes)
	}
	parts := max(minParts, min(run.MaxAllParts/groups, run.MaxPathParts))
	for _, e := range c.events {
		for _, class := range []string{run.NormalFrames, run.SlowFrames, run.FrozenFrames, run.BufferedFrames} {
			if g := e.classes[class]; g != nil {
				out.Groups = append(out.Groups, g.group(e.name, class, parts, c.apart))
				if class == run.SlowFrames || class == run.FrozenFrames {
					late += g.frames
				}
			}
		}
		if f, ok := e.usualOne(); ok && len(out.Usual) < maxUsual {
			out.Usual = append(out.Usual, f)
		}
	}
	out.Worst = c.worst()
	out.LeftOut = late - len(out.Worst)
	return out
}

// worst returns the worst frames of all events: some of each, then the worst of the others. Those
// chosen for each event keep their paths.
func (c *Collector) worst() []run.LateFrame {
	var first, others []run.LateFrame
	for _, e := range c.events {
		chosen := telling(e.worst)
		for i, f := range e.worst {
			if chosen[i] {
				first = append(first, f)
				continue
			}
			f.Path = nil
			others = append(others, f)
		}
	}
	slices.SortStableFunc(first, byLateness)
	slices.SortStableFunc(others, byLateness)
	for i := range first {
		if i >= maxWorst {
			first[i].Path = nil
		}
	}
	out := append(first, others[:min(len(others), max(maxWorst-len(first), 0))]...)
	slices.SortStableFunc(out, byLateness)
	return out
}

// telling returns the indices of an event's frames, the worst first, that show what made its frames
// late: the worst ones whose longest steps are all different, as many as there is room for, and the
// worst frozen one of each repetition.
func telling(worst []run.LateFrame) map[int]bool {
	out, known := map[int]bool{}, map[string]bool{}
	for _, anew := range []bool{true, false} {
		for i, f := range worst {
			if what := longest(f); len(out) < eachWorst && !out[i] && (!anew || !known[what]) {
				out[i], known[what] = true, true
			}
		}
	}
	froze := map[int]bool{}
	for i, f := range worst {
		if f.DurationMS >= frozenMS && !froze[f.Repetition] {
			out[i], froze[f.Repetition] = true, true
		}
	}
	return out
}

// frozenMS is the duration from which a frame is frozen ("Aging or Glitching?", section 1).
const frozenMS = 700.0

// longest returns what the longest step of a frame's path is about.
func longest(f run.LateFrame) string {
	var most run.PathStep
	for _, s := range f.Path {
		if s.ToMS-s.FromMS > most.ToMS-most.FromMS {
			most = s
		}
	}
	return most.Kind + " " + most.Stage + " " + strings.TrimRight(most.What, "0123456789")
}

// usualOne returns a normal frame with a path whose duration is about the median.
func (e *event) usualOne() (run.LateFrame, bool) {
	g := e.classes[run.NormalFrames]
	if g == nil {
		return run.LateFrame{}, false
	}
	median := g.took.median()
	var best run.LateFrame
	found := false
	for _, f := range e.usual.kept {
		if len(f.Path) > 0 && (!found || off(f.DurationMS, median) < off(best.DurationMS, median)) {
			best, found = f, true
		}
	}
	return best, found
}

func off(a, b float64) float64 { return max(a-b, b-a) }
