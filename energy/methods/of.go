package methods

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// Limits of a recording.
const (
	maxDepth  = 1024             // frames of a chain; the innermost are kept
	maxPeriod = 10 * time.Second // of one sample: 0.1 Hz
)

// Pick selects the samples that Of takes.
type Pick struct {
	// App is the package of the app: "com.example.mail". "" takes all processes but the idle one.
	App string
	// PIDs are the app's processes if they are known; App is then ignored.
	PIDs []int
}

// Naming returns the names of the source for a frame of a recording: one frame, or several for
// inlined methods, the innermost first.
type Naming func(simpleperf.Frame) []Frame

// unknown is the name of a frame without a symbol: all such frames of a file are one method.
const unknown = "unknown"

// AsRecorded is the Naming that keeps names as in the recording.
func AsRecorded(f simpleperf.Frame) []Frame {
	name := f.Symbol
	if name == "" {
		name = unknown
	}
	return []Frame{{Name: name, File: f.File, Kind: f.Kind}}
}

// Of converts a recording and the device's power to the intermediate representation (EDATA, section
// 3.5.1): the samples of the app's own processes, with the chains of simpleperf's reports, named by
// name (nil: AsRecorded).
//
// The power of a sample is the curve's at its time. EDATA takes the reading before the sample; the
// curve's line to the next reading is no less certain and follows a change half an update earlier.
// Instants that share one update have the same Reading, so that they are never counted as
// independent.
//
// Only samples of a clock (task-clock, or else cpu-clock) stand for time. Without one, samples of
// CPU cycles are treated as if cycles were time, with a warning; samples of other events, such as
// sched:sched_switch, are left out.
func Of(p *simpleperf.Profile, power energy.Curve, name Naming, pick Pick) Trace {
	if name == nil {
		name = AsRecorded
	}
	var doubts trace.Warnings
	t := Trace{Lost: p.Lost}
	event, ok := sampled(p)
	if !ok {
		if len(p.Samples) > 0 {
			doubts.Addf(0, "the recording holds no samples of task-clock, cpu-clock or cpu-cycles: methods have no times")
		}
		t.Warnings = doubts.List()
		return t
	}
	t.Event = p.Events[event].Name
	if p.Clock != "monotonic" {
		doubts.Addf(0, "the samples are stamped by %s, power by monotonic: samples may get the power of another instant; record with simpleperf's --clockid monotonic", clockOf(p))
	}
	if p.Source == simpleperf.ReportSample {
		doubts.Addf(0, "report-sample leaves out samples whose call chain is broken, and their time, unless run with --remove-gaps 0; it has callers only with --show-callchain: perf.data itself has all")
	}
	own := ownThreads(p, pick, &doubts)
	r := reader{
		p: p, trace: &t, name: name, named: make([][]int, len(p.Frames)),
		frames: map[Frame]int{}, threads: map[int]int{}, chains: map[string][]int{},
	}
	for _, s := range p.Samples {
		if s.Event == event && own[s.Thread] {
			r.take(s)
		}
	}
	slices.SortStableFunc(t.Samples, func(a, b Sample) int { return cmp.Compare(a.Time, b.Time) })
	if t.flat() {
		doubts.Addf(0, "no sample has a caller: the callees of methods are unknown; record with simpleperf's --call-graph dwarf, and not with --no-unwind")
	}
	t.setPeriods(&doubts)
	t.setPower(power)
	t.Readings = power.Readings()
	t.Warnings = doubts.List()
	return t
}

func clockOf(p *simpleperf.Profile) string {
	if p.Clock == "" {
		return "an unnamed clock"
	}
	return fmt.Sprintf("the clock %q", p.Clock)
}

// flat reports whether no sample of more than a few has a call chain.
func (t *Trace) flat() bool {
	const few = 10
	return len(t.Samples) > few && !slices.ContainsFunc(t.Samples, func(s Sample) bool { return len(s.Chain) > 1 })
}

// setPeriods converts periods to time, and determines the rate.
func (t *Trace) setPeriods(doubts *trace.Warnings) {
	switch {
	case isClock(t.Event):
		t.Hz = clockRate(t.Samples)
	case len(t.Samples) == 0:
	case cyclesToTime(t):
		doubts.Addf(0, "samples of %s count cycles, not time: CPU time and joules are rough; record task-clock", t.Event)
	default:
		doubts.Addf(0, "too few samples of %s follow one another in a thread to tell how long they stand for: methods have no times", t.Event)
		t.Samples = nil
	}
}

// setPower sets the power of each sample.
func (t *Trace) setPower(power energy.Curve) {
	for i := range t.Samples {
		s := &t.Samples[i]
		s.Reading = -1
		if w, reading, ok := power.At(s.Time); ok && w >= 0 {
			s.Watts, s.Reading = w, reading
		}
	}
}

// reader converts samples to those of a Trace.
type reader struct {
	p       *simpleperf.Profile
	trace   *Trace
	name    Naming
	named   [][]int // for Profile.Frames, the indices in Trace.Frames
	frames  map[Frame]int
	threads map[int]int // indices in Profile.Threads to those in Trace.Threads
	// chains caches converted chains by recorded ones. Most samples share theirs with others.
	chains map[string][]int
	key    []byte // reused
}

func (r *reader) take(s simpleperf.Sample) {
	thread, ok := r.threads[s.Thread]
	if !ok {
		thread = len(r.trace.Threads)
		r.threads[s.Thread] = thread
		from := r.p.Threads[s.Thread]
		r.trace.Threads = append(r.trace.Threads, Thread{PID: from.PID, TID: from.TID, Name: from.Name})
	}
	r.key = r.key[:0]
	for _, at := range s.Chain {
		r.key = binary.LittleEndian.AppendUint32(r.key, at)
	}
	chain, ok := r.chains[string(r.key)]
	if !ok {
		chain = r.chain(s.Chain)
		r.chains[string(r.key)] = chain
	}
	r.trace.Samples = append(r.trace.Samples, Sample{
		Time: s.Time, Thread: thread, Chain: chain,
		// Cycles are converted to time once all are known.
		Period: time.Duration(min(s.Period, 1<<62)),
	})
}

// chain converts a chain of the recording to indices in Trace.Frames. If reports would show no
// frame at all, the sampled address is kept. It is never empty.
func (r *reader) chain(recorded []uint32) []int {
	visible := r.p.Visible(recorded)
	if len(visible) == 0 && len(recorded) > 0 {
		visible = recorded[:1]
	}
	out := make([]int, 0, len(visible))
	for _, at := range visible {
		if len(out) >= maxDepth {
			break
		}
		if r.named[at] == nil {
			r.named[at] = r.places(r.p.Frames[at])
		}
		out = append(out, r.named[at]...)
	}
	if len(out) == 0 {
		return []int{r.place(Frame{Name: unknown, Kind: simpleperf.Unknown})}
	}
	return out[:min(len(out), maxDepth)]
}

func (r *reader) places(f simpleperf.Frame) []int {
	frames := r.name(f)
	if len(frames) == 0 {
		frames = AsRecorded(f)
	}
	out := make([]int, len(frames))
	for i, f := range frames {
		if f.Name == "" {
			f.Name = unknown
		}
		out[i] = r.place(f)
	}
	return out
}

func (r *reader) place(f Frame) int {
	place, ok := r.frames[f]
	if !ok {
		place = len(r.trace.Frames)
		r.frames[f] = place
		r.trace.Frames = append(r.trace.Frames, f)
	}
	return place
}
