package art

import (
	"cmp"
	"io"
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/r8map"
)

// Limits on what is kept of one trace.
const (
	maxListed = 200 // methods, of a single trace
	maxPieces = 20  // of each thread
	maxChain  = 64  // calls of a piece
)

// Record reads a trace twice, for its names and for its calls, and returns what a run's record
// has of it: methods by the time of their own, without those that wait for something to do, the
// longest pieces of work, and a tree of their calls. It is nil where the trace has no clock. Times
// are on the trace's clock, since it began. A mapping gives methods that R8 renamed the names of
// the source; it may be nil.
func Record(src io.ReadSeeker, mapping *r8map.Map) (*Trace, *run.MethodTraces, error) {
	c := Collector{most: maxListed}
	t, err := c.Add(src, mapping, Repetition{Number: 1})
	if err != nil {
		return t, nil, err
	}
	return t, c.MethodTraces(), nil
}

// recorder adds up the calls of one trace.
type recorder struct {
	t        *Trace
	rep      Repetition
	names    []string // of events
	places   map[string]int
	calls    Calls
	threads  map[uint32]*recorded
	from, to time.Duration
	events   int
	counted  []run.TraceWindow // the calls of each event
	covered  []interval        // in which the main thread was in methods of the app
}

// recorded is what a thread did: its methods by event, its pieces of work, and their calls.
type recorded struct {
	sums   map[int]*Sums
	pieces pieces
	tree   tree
}

func newRecorder(t *Trace, rep Repetition) *recorder {
	r := &recorder{t: t, rep: rep, places: map[string]int{}, threads: map[uint32]*recorded{}}
	r.calls.Each = r.call
	return r
}

func (r *recorder) event(e Event) {
	if r.events == 0 {
		r.from, r.to = e.Time, e.Time
	}
	r.events++
	r.from, r.to = min(r.from, e.Time), max(r.to, e.Time)
	r.calls.Add(e)
}

// eventAt returns the place of the event that a time belongs to. Processor time is in none.
func (r *recorder) eventAt(at time.Duration) int {
	name := ""
	if r.t.Clock != ThreadCPU {
		name = trace.EventAt(r.rep.Events, r.rep.Began+at)
	}
	place, known := r.places[name]
	if !known {
		place = len(r.names)
		r.places[name] = place
		r.names = append(r.names, name)
		r.counted = append(r.counted, run.TraceWindow{})
	}
	return place
}

func (r *recorder) call(c Call) {
	r.cover(c)
	event := r.eventAt(c.Begin)
	if w := &r.counted[event]; c.Open {
		w.Lost++
	} else {
		w.Calls++
	}
	th := r.threads[c.Thread]
	if th == nil {
		idle := func(method int) bool { return method >= 0 && r.idle(r.t.Methods[method]) }
		th = &recorded{sums: map[int]*Sums{}, pieces: pieces{most: maxPieces, idle: idle}, tree: tree{most: maxBranches, idle: idle, eventAt: r.eventAt}}
		r.threads[c.Thread] = th
	}
	if th.sums[event] == nil {
		th.sums[event] = &Sums{}
	}
	th.sums[event].Add(c)
	th.pieces.add(c)
	th.tree.add(c)
}

// windows returns what was traced of each event. Calls are counted with the first occurrence of
// their event, exits without an entry with the first of all.
func (r *recorder) windows() (out []run.TraceWindow) {
	from, to := r.rep.Began+r.from, r.rep.Began+r.to
	events := r.rep.Events
	if r.t.Clock == ThreadCPU {
		events = nil
	}
	begins := append([]trace.Event{{Name: trace.EventAt(events, from), At: from}}, slices.DeleteFunc(slices.Clone(events), func(e trace.Event) bool { return e.At <= from || e.At > to })...)
	told := map[int]bool{}
	for i, e := range begins {
		end := to
		if i+1 < len(begins) {
			end = begins[i+1].At
		}
		w := run.TraceWindow{Repetition: r.rep.Number, Event: e.Name, FromMS: ms(e.At), ToMS: ms(end), Evidence: r.rep.Evidence}
		if place, known := r.places[e.Name]; known && !told[place] {
			told[place] = true
			w.Calls, w.Lost = r.counted[place].Calls, r.counted[place].Lost
		}
		for _, wrong := range r.rep.Wrong {
			if w.Why == "" && wrong.At >= e.At && (wrong.At < end || end == to) {
				w.Why = wrong.Name
			}
		}
		out = append(out, w)
	}
	out[0].Lost += r.calls.Early
	return out
}

// loopers are the methods that a main thread is in all the time. In a dump of long calls, all that it
// does in short ones counts as their own time.
var loopers = map[string]bool{
	"android.os.Looper.loop": true, "android.os.Looper.loopOnce": true, "android.app.ActivityThread.main": true,
	"com.android.internal.os.RuntimeInit$MethodAndArgsCaller.run": true, "com.android.internal.os.ZygoteInit.main": true,
}

// idle reports whether a thread that is in the method has nothing to do. A dump of long calls has no
// native methods, and so the looper's queue waits in its Java method.
func (r *recorder) idle(m Method) bool {
	return m.Idle() || r.t.Format == LongOnes && m.String() == "android.os.MessageQueue.next"
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

// chain is a piece of a thread's work: its call, and the longest call that each made.
func (r *recorder) chain(tid uint32, p piece) run.CallChain {
	c := run.CallChain{Repetition: r.rep.Number, Event: r.names[r.eventAt(p.begin)], Thread: r.t.Thread(tid), AtMS: ms(r.rep.Began + p.begin)}
	for l := p.link; l != nil && len(c.MS) < maxChain; l = l.inner {
		c.Methods = append(c.Methods, prose.Clip(r.t.Method(l.method).String(), maxText))
		c.MS = append(c.MS, ms(l.took))
	}
	return c
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
			if class, ok := mapping.Class(m.Class); ok {
				m.Class = class
			}
			return
		}
	}
	m.Class, m.Name, m.File = first.Class, first.Method, cmp.Or(first.File, m.File)
}

// ms is a time in milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1000 }

// interval is a span on the trace's clock.
type interval struct{ from, to time.Duration }

// cover adds a call of the app on the main thread to those that cover its time: an outer call, which
// comes later, replaces those within it.
func (r *recorder) cover(c Call) {
	if c.Thread != uint32(r.t.PID) || c.Method < 0 || !r.t.Methods[c.Method].OfApp() {
		return
	}
	for n := len(r.covered); n > 0 && r.covered[n-1].from >= c.Begin; n = len(r.covered) {
		r.covered = r.covered[:n-1]
	}
	r.covered = append(r.covered, interval{c.Begin, c.Begin + c.Took})
}
