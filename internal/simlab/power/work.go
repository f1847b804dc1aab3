package power

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// Span is a time in which one thread of an app runs without a pause.
type Span struct {
	From, To time.Duration
	Kind     Kind
	Method   int // place in Work.Methods; Mixed: by their shares
	thread   int
	before   time.Duration // CPU time of the thread before the span
}

// Kind says what a span is.
type Kind int8

// The kinds of spans.
const (
	Frame Kind = iota // a frame: short, at a middle speed, with the GPU
	Block             // a heavy computation: at full speed
	Other             // work beside the UI thread, at full speed
)

// Mixed and System stand for methods: those by their shares, and the system's.
const (
	Mixed  = -1
	System = -2
)

// Method is a method of the app that runs in its busy time.
type Method struct {
	Share  float64 // of the time of mixed spans
	Hunger float64 // a factor on what the CPU draws while it runs
}

// Grain is how long one method runs, in CPU time of its thread, before another
// has its turn.
const Grain = 2 * time.Millisecond

// Work is what a process did.
type Work struct {
	Hardware Hardware
	Methods  []Method
	Seed     uint64
	Factor   float64         // on what its CPU time draws: session and repetition
	spans    []Span          // by From
	reach    []time.Duration // how far the spans up to one reach
}

// maxThreads bounds the threads that spans are spread over.
const maxThreads = 8

// Run sets the spans. Those that overlap run on threads of their own: the first
// on thread 0, the next on 1 and so on; work beside the UI thread never runs
// on 0.
func (w *Work) Run(spans []Span) {
	spans = slices.DeleteFunc(spans, func(s Span) bool { return s.To <= s.From })
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	var busy, ran [maxThreads]time.Duration
	for i := range spans {
		s := &spans[i]
		for s.thread = 0; s.thread < maxThreads-1; s.thread++ {
			if busy[s.thread] <= s.From && (s.thread > 0 || s.Kind != Other) {
				break
			}
		}
		s.before = ran[s.thread]
		ran[s.thread] += s.To - s.From
		busy[s.thread] = max(busy[s.thread], s.To)
	}
	w.spans, w.reach = spans, make([]time.Duration, len(spans))
	for i, s := range spans {
		w.reach[i] = s.To
		if i > 0 {
			w.reach[i] = max(s.To, w.reach[i-1])
		}
	}
}

// within are the spans that can have a part between two instants.
func (w *Work) within(from, to time.Duration) []Span {
	end := sort.Search(len(w.spans), func(i int) bool { return w.spans[i].From >= to })
	first := sort.Search(end, func(i int) bool { return w.reach[i] > from })
	return w.spans[first:end]
}

// Slice is a time in which one method runs on one thread.
type Slice struct {
	From, To time.Duration
	Thread   int
	Method   int // or System
	Kind     Kind
	// CPU is the CPU time of the thread at From.
	CPU time.Duration
	// Turn is a number that stays the same through one turn of a method.
	Turn uint64
}

// Slices calls yield for each turn of a method between two instants, by thread
// and time within each span.
func (w *Work) Slices(from, to time.Duration, yield func(Slice)) {
	for _, s := range w.within(from, to) {
		begin, end := max(s.From, from), min(s.To, to)
		for at := begin; at < end; {
			cpu := s.before + at - s.From
			turn := cpu / Grain
			stop := min(end, at+(turn+1)*Grain-cpu)
			number := mix(w.Seed, uint64(s.thread), uint64(turn))
			sl := Slice{From: at, To: stop, Thread: s.thread, Method: s.Method, Kind: s.Kind, CPU: cpu, Turn: number}
			if s.Method == Mixed {
				sl.Method = w.pick(float64(number>>11) / (1 << 53))
			}
			yield(sl)
			at = stop
		}
	}
}

func (w *Work) pick(u float64) int {
	for i, m := range w.Methods {
		if u < m.Share {
			return i
		}
		u -= m.Share
	}
	return System
}

// Watts is what the CPU draws in a slice.
func (w *Work) Watts(s Slice) (float64, Part) {
	part, step := w.place(s.Thread, s.Kind)
	watts := w.cluster(part).Steps[step].Watts * w.Factor
	if s.Method >= 0 {
		watts *= w.Methods[s.Method].Hunger
	}
	return watts, part
}

// place is where a thread runs: the first ones on the big cluster, the others on
// the little one.
func (w *Work) place(thread int, k Kind) (Part, int) {
	if thread >= w.Hardware.Big.Count {
		return Little, w.Hardware.Little.Top()
	}
	if k == Frame {
		return Big, w.Hardware.Big.Middle()
	}
	return Big, w.Hardware.Big.Top()
}

func (w *Work) cluster(p Part) Cluster {
	if p == Big {
		return w.Hardware.Big
	}
	return w.Hardware.Little
}

// Joules is the energy between two instants, by part.
func (w *Work) Joules(from, to time.Duration) Sum {
	var big, little, gpu float64
	w.Slices(from, to, func(s Slice) {
		watts, part := w.Watts(s)
		seconds := (s.To - s.From).Seconds()
		if part == Big {
			big += watts * seconds
		} else {
			little += watts * seconds
		}
		if s.Kind == Frame {
			gpu += w.Hardware.GPUW * seconds
		}
	})
	return Sum{Big: big, Little: little, GPU: gpu}
}

// CPU is the CPU time between two instants, of all threads.
func (w *Work) CPU(from, to time.Duration) time.Duration {
	var sum time.Duration
	for _, s := range w.within(from, to) {
		sum += Overlap(s.From, s.To, from, to)
	}
	return sum
}

// At is the CPU time at one speed of one cluster, and on which CPU.
type At struct {
	Part Part
	CPU  int
	Step int
}

// Speeds adds up the CPU time between two instants by CPU and speed.
func (w *Work) Speeds(from, to time.Duration, add func(At, time.Duration)) {
	for _, s := range w.within(from, to) {
		part, step := w.place(s.thread, s.Kind)
		c := w.cluster(part)
		add(At{part, c.First + s.thread%c.Count, step}, Overlap(s.From, s.To, from, to))
	}
}
