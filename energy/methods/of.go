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

// Limits on what a recording can make of itself.
const (
	maxDepth  = 1024             // frames of a chain; the innermost are kept
	maxPeriod = 10 * time.Second // of one sample: 0.1 Hz
)

// Pick says whose samples Of takes.
type Pick struct {
	// App is the package of the app: "com.example.mail". "" takes all processes
	// but the idle one.
	App string
	// PIDs are the app's processes where they are known; then App is not asked.
	PIDs []int
}

// Naming gives a frame of a recording the names of the source: one frame, or
// several where the compiler put methods into one another, the innermost first.
type Naming func(simpleperf.Frame) []Frame

// unknown is the name of a frame whose symbol the recording doesn't hold: all
// such frames of a file are one method.
const unknown = "unknown"

// AsRecorded is the Naming that takes names as the recording has them.
func AsRecorded(f simpleperf.Frame) []Frame {
	name := f.Symbol
	if name == "" {
		name = unknown
	}
	return []Frame{{Name: name, File: f.File, Kind: f.Kind}}
}

// Of brings a recording and the device's power into the intermediate
// representation (EDATA, section 3.5.1): the samples of the app's own processes,
// with the chains that simpleperf's reports show, under the names that name
// gives (nil: AsRecorded).
//
// The power of a sample is the curve's at its time. EDATA takes the reading
// before the sample; the curve's straight line to the next reading is no less
// certain and follows a change half an update earlier. Instants that share one
// update bear its number, so that they are never counted as independent.
//
// Only samples of a clock (task-clock, else cpu-clock) stand for time. Without
// one, samples of CPU cycles are taken as if cycles were time, and a warning says
// so; samples of anything else, such as sched:sched_switch, are left out.
func Of(p *simpleperf.Profile, power energy.Curve, name Naming, pick Pick) Trace {
	if name == nil {
		name = AsRecorded
	}
	var doubts trace.Warnings
	t := Trace{Lost: p.Lost}
	event, ok := sampled(p)
	if !ok {
		if len(p.Samples) > 0 {
			doubts.Addf(0, "the recording holds no samples of task-clock, cpu-clock or cpu-cycles: no method can be given its time")
		}
		t.Warnings = doubts.List()
		return t
	}
	t.Event = p.Events[event].Name
	if p.Clock != "monotonic" {
		doubts.Addf(0, "the samples are stamped by %s, power by monotonic: samples may get the power of another instant; record with simpleperf's --clockid monotonic", clockOf(p))
	}
	if p.Source == simpleperf.ReportSample {
		doubts.Addf(0, "report-sample leaves out samples whose call chain is broken, and their time, unless told --remove-gaps 0; it has callers with --show-callchain alone: perf.data itself has all")
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
		doubts.Addf(0, "no sample has a caller: what methods call is not known; record with simpleperf's --call-graph dwarf, and not with --no-unwind")
	}
	t.tellTime(&doubts)
	t.tellPower(power)
	t.Readings = power.Readings()
	t.Warnings = doubts.List()
	return t
}

func clockOf(p *simpleperf.Profile) string {
	if p.Clock == "" {
		return "a clock that the file does not tell"
	}
	return fmt.Sprintf("the clock %q", p.Clock)
}

// flat reports whether no sample of more than a few has a call chain.
func (t *Trace) flat() bool {
	const few = 10
	return len(t.Samples) > few && !slices.ContainsFunc(t.Samples, func(s Sample) bool { return len(s.Chain) > 1 })
}

// tellTime makes periods time, and finds out the rate.
func (t *Trace) tellTime(doubts *trace.Warnings) {
	switch {
	case isClock(t.Event):
		t.Hz = clockRate(t.Samples)
	case len(t.Samples) == 0:
	case cyclesToTime(t):
		doubts.Addf(0, "samples of %s count cycles, not time: CPU time and joules are rough; record task-clock", t.Event)
	default:
		doubts.Addf(0, "too few samples of %s follow one another in a thread to tell how long they stand for: no method can be given its time", t.Event)
		t.Samples = nil
	}
}

// tellPower gives each sample its power.
func (t *Trace) tellPower(power energy.Curve) {
	for i := range t.Samples {
		s := &t.Samples[i]
		s.Reading = -1
		if w, reading, ok := power.At(s.Time); ok && w >= 0 {
			s.Watts, s.Reading = w, reading
		}
	}
}

// reader takes samples over into a Trace.
type reader struct {
	p       *simpleperf.Profile
	trace   *Trace
	name    Naming
	named   [][]int // of Profile.Frames, the places in Trace.Frames
	frames  map[Frame]int
	threads map[int]int // places in Profile.Threads to those in Trace.Threads
	// chains are those that were seen, by what was recorded. Most samples share
	// theirs with others.
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
		// Cycles are turned into time once all are known.
		Period: time.Duration(min(s.Period, 1<<62)),
	})
}

// chain is a chain of the recording in places of Trace.Frames. Where reports
// would show no frame at all, the place that was hit is kept. It is never empty.
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
