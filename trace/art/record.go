package art

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/r8map"
)

// Limits on what a record has of a trace.
const (
	maxListed = 200 // methods
	maxPieces = 20  // of each thread
)

// Record reads a trace twice, for its names and for its calls, and returns what a run's record
// has of it: methods by the time of their own, without those that wait for something to do, and
// the longest pieces of work. It is nil where the trace has no clock. Times are on the trace's
// clock, since it began. A mapping gives methods that R8 renamed the names of the source; it may be
// nil.
func Record(src io.ReadSeeker, mapping *r8map.Map) (*Trace, *run.MethodTraces, error) {
	t, err := Read(src, nil)
	if err != nil || t.Clock == NoClock || t.Events == 0 {
		return t, nil, err
	}
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return t, nil, fmt.Errorf("read a method trace again: %w", err)
	}
	t.Retrace(mapping)
	r := recorder{t: t, sums: map[uint32]*Sums{}, pieces: map[uint32]*Pieces{}}
	r.calls.Each = r.call
	if _, err := Read(src, r.event); err != nil {
		return t, nil, err
	}
	r.calls.Finish()
	t.Warnings = append(t.Warnings, r.calls.Warnings()...)
	return t, r.record(), nil
}

// recorder makes the record of one trace.
type recorder struct {
	t           *Trace
	calls       Calls
	sums        map[uint32]*Sums
	pieces      map[uint32]*Pieces
	from, to    time.Duration
	events      int
	whole, open int
}

func (r *recorder) event(e Event) {
	if r.events == 0 {
		r.from, r.to = e.Time, e.Time
	}
	r.events++
	r.from, r.to = min(r.from, e.Time), max(r.to, e.Time)
	r.calls.Add(e)
}

func (r *recorder) call(c Call) {
	if c.Open {
		r.open++
	} else {
		r.whole++
	}
	sums := r.sums[c.Thread]
	if sums == nil {
		sums = &Sums{}
		r.sums[c.Thread] = sums
		r.pieces[c.Thread] = &Pieces{Most: maxPieces, Idle: func(method int) bool { return r.t.Methods[method].Idle() }}
	}
	sums.Add(c)
	r.pieces[c.Thread].Add(c)
}

func (r *recorder) record() *run.MethodTraces {
	out := &run.MethodTraces{Source: "art", Clock: run.WallClock}
	if r.t.Clock == ThreadCPU {
		out.Clock = run.CPUClock
	}
	out.Windows = []run.TraceWindow{{Repetition: 1, FromMS: ms(r.from), ToMS: ms(r.to), Calls: r.whole, Lost: r.open + r.calls.Early}}
	for tid, sums := range r.sums {
		for _, s := range sums.List() {
			if m := r.method(s.Method); !m.Idle() {
				out.List = append(out.List, run.TracedMethod{
					Name: prose.Clip(m.String(), maxText), File: prose.Clip(m.File, maxText), Thread: r.thread(tid),
					Calls: s.Calls, SelfMS: ms(s.Self), TotalMS: ms(s.Total), LongestMS: ms(s.Longest),
				})
			}
		}
		for _, p := range r.pieces[tid].List() {
			out.Chains = append(out.Chains, r.chain(p))
		}
	}
	main := r.thread(uint32(r.t.PID))
	slices.SortFunc(out.List, func(a, b run.TracedMethod) int {
		return cmp.Or(cmp.Compare(b.SelfMS, a.SelfMS), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Name, b.Name))
	})
	out.List, out.LeftOut = mainFirst(out.List, maxListed, func(m run.TracedMethod) bool { return m.Thread == main })
	slices.SortFunc(out.Chains, func(a, b run.CallChain) int {
		return cmp.Or(cmp.Compare(b.MS[0], a.MS[0]), cmp.Compare(a.AtMS, b.AtMS), cmp.Compare(a.Thread, b.Thread))
	})
	out.Chains, _ = mainFirst(out.Chains, run.MaxCallChains, func(c run.CallChain) bool { return c.Thread == main })
	return out
}

// mainFirst is the first of a list, in its order, of which those of the main thread are left out
// last.
func mainFirst[T any](list []T, most int, ofMain func(T) bool) (kept []T, left int) {
	room := most
	for _, one := range list {
		if ofMain(one) && room > 0 {
			room--
		}
	}
	for _, one := range list {
		switch {
		case len(kept) == most:
		case ofMain(one):
			kept = append(kept, one)
		case room > 0:
			kept, room = append(kept, one), room-1
		}
	}
	return kept, len(list) - len(kept)
}

func (r *recorder) chain(p Piece) run.CallChain {
	c := run.CallChain{Repetition: 1, Thread: r.thread(p.Thread), AtMS: ms(p.Begin)}
	for _, s := range p.Chain[:min(len(p.Chain), run.MaxStack)] {
		c.Methods = append(c.Methods, prose.Clip(r.method(s.Method).String(), maxText))
		c.MS = append(c.MS, ms(s.Took))
	}
	return c
}

func (r *recorder) method(place int) Method {
	if place < 0 {
		return Method{}
	}
	return r.t.Methods[place]
}

// Retrace gives the methods that R8 renamed the names of the source, if there is a mapping.
func (t *Trace) Retrace(mapping *r8map.Map) {
	for i := range t.Methods {
		t.Methods[i].retrace(mapping)
	}
}

// retrace gives a method that R8 renamed the name of the source. Where a name stands for several
// methods of the source, the class alone is given its name.
func (m *Method) retrace(mapping *r8map.Map) {
	if mapping == nil || m.Class == "" {
		return
	}
	args, _ := r8map.Arguments(m.Signature)
	possible := mapping.Retrace(r8map.Place{Class: m.Class, Method: m.Name, Args: args})
	if len(possible) == 0 {
		return
	}
	outer := func(frames []r8map.Frame) r8map.Frame { return frames[len(frames)-1] }
	first := outer(possible[0])
	for _, frames := range possible[1:] {
		if f := outer(frames); f.Class != first.Class || f.Method != first.Method {
			m.Class = cmp.Or(class(mapping, m.Class), m.Class)
			return
		}
	}
	m.Class, m.Name, m.File = first.Class, first.Method, cmp.Or(first.File, m.File)
}

// class is a class's name in the source, "" where the mapping does not have it.
func class(mapping *r8map.Map, name string) string {
	original, _ := mapping.Class(name)
	return original
}

// thread is a thread's name, or its id where it has none.
func (r *recorder) thread(tid uint32) string {
	return cmp.Or(trace.Name(r.t.Threads[tid]), fmt.Sprintf("thread %d", tid))
}

// ms is a time in milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1000 }
