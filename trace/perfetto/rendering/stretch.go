package rendering

import (
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Stretch is a time of one of the app's threads, such as that in which it ran a task.
type Stretch struct {
	Thread string
	// From and To are on CLOCK_MONOTONIC if the trace leads there, otherwise on the trace's own
	// clock.
	From, To time.Duration
}

// Limits of stretches.
const (
	stretchSteps = 8
	stretchMoves = 5_000 // steps back over threads' states
	maxStretches = 1_000
)

// stretch is one of App.Stretches on the trace's own clock.
type stretch struct {
	place    int
	from, to time.Duration
}

// placeStretches converts the stretches' times, by the clocks that the trace has.
func (r *reader) placeStretches() {
	r.stretched = make([][]Step, len(r.app.Stretches))
	to, ok := r.file.Monotonic()
	own := func(at time.Duration) time.Duration {
		if !ok {
			return at
		}
		guess := at
		for range 2 { // the clocks differ by nearly the same everywhere
			if there, known := to(guess); known {
				guess += at - there
			}
		}
		return guess
	}
	for i, s := range r.app.Stretches[:min(len(r.app.Stretches), maxStretches)] {
		if s.To > s.From && s.From >= 0 {
			r.stretches = append(r.stretches, stretch{place: i, from: own(s.From), to: own(s.To)})
		}
	}
}

// settleStretches walks over the stretches that ended before a time.
func (r *reader) settleStretches(before time.Duration) {
	if !slices.ContainsFunc(r.stretches, func(s stretch) bool { return s.to < before }) {
		return
	}
	h := newHistory(r)
	r.stretches = slices.DeleteFunc(r.stretches, func(s stretch) bool {
		if s.to >= before {
			return false
		}
		if r.work < maxWork {
			r.stretched[s.place] = r.stretchPath(h, s)
		}
		return true
	})
}

// stretchPath returns the path of a stretch, in time after its beginning.
func (r *reader) stretchPath(h *history, s stretch) []Step {
	thread := r.threadIn(h, s)
	if thread == none {
		return nil
	}
	d := &drawing{end: s.to, app: s.to, display: none, composer: none, main: thread, do: none, draw: none, gpu: none}
	d.PID, d.At = h.pid(thread), s.from
	w := &walker{h: h, d: d, moves: stretchMoves, alone: true}
	w.back(thread, s.from, s.to, nil)
	slices.Reverse(w.steps)
	for i := range w.steps {
		step := &w.steps[i]
		step.From, step.To = step.From-s.from, step.To-s.from
		step.Stage, step.Slice = "", ""
	}
	steps := bounded(merged(w.steps), stretchSteps)
	if !slices.ContainsFunc(steps, func(s Step) bool { return s.Kind != run.WaitUnknown }) {
		return nil
	}
	for i := range steps {
		steps[i].Doing = r.doing(steps[i].Doing)
	}
	return steps
}

// threadIn returns the app's thread with the name of a stretch whose states the trace has at that
// time; none if there are none, or several.
func (r *reader) threadIn(h *history, s stretch) int32 {
	found := int32(none)
	for i := range r.threads.Threads {
		thread := int32(i)
		name, process := h.name(thread)
		if !run.SameThread(name, r.app.Stretches[s.place].Thread) || !r.app.has(h.pid(thread), process) {
			continue
		}
		r.work++
		state, _ := h.stateBefore(thread, s.from+(s.to-s.from)/2)
		if state == nil {
			continue
		}
		if found != none {
			return none
		}
		found = thread
	}
	return found
}
