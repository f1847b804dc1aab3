package power

import (
	"sort"
	"time"
)

// Kind is the kind of a thread's work.
type Kind int8

// The kinds of work.
const (
	Frame   Kind = iota // a frame: short, at a middle frequency, with the GPU
	Block               // a heavy computation: at full frequency
	Other               // work apart from the UI thread, at full frequency
	Service             // the system's own work
)

// Mixed stands for the methods by their shares, System for the system's.
const (
	Mixed  = -1
	System = -2
)

// Method is a method of the app that runs in its busy time.
type Method struct {
	Share  float64 // of the time of mixed runs
	Hunger float64 // a factor on the CPU's power while it runs
}

// Grain is how long one method runs, in its thread's CPU time, before the next one.
const Grain = 2 * time.Millisecond

// Run is a span in which one thread of a process has a CPU.
type Run struct {
	From, To time.Duration
	Thread   int // of the process, the UI thread is 0
	CPU      int
	Part     Part // the CPU's cluster
	Step     int  // the frequency
	Kind     Kind
	Method   int // index in Work.Methods; Mixed: by their shares
	// Share is this thread's part of the mixed work, 0 for all of it: the methods' shares
	// refer to a whole frame, and they run on the UI thread.
	Share float64
}

// piece is a compact run, which is kept for hours.
type piece struct {
	from, to          time.Duration
	before            time.Duration // the thread's CPU time before it
	share             float32
	method            int16
	thread, cpu, step int8
	big               bool
	kind              Kind
}

// MaxRun is the maximum length of a run that is added to Work.
const MaxRun = 50 * time.Millisecond

// Work is the CPU work of a process.
type Work struct {
	Hardware Hardware
	Methods  []Method
	Seed     uint64
	Factor   float64 // on its CPU power: session and repetition
	runs     []piece // sorted by to
	ran      []time.Duration
}

// Add adds a run, which must not end before earlier ones.
func (w *Work) Add(r Run) {
	for len(w.ran) <= r.Thread {
		w.ran = append(w.ran, 0)
	}
	w.runs = append(w.runs, piece{
		from: r.From, to: r.To, before: w.ran[r.Thread], share: float32(r.Share), method: int16(r.Method),
		thread: int8(r.Thread), cpu: int8(r.CPU), step: int8(r.Step), big: r.Part == Big, kind: r.Kind,
	})
	w.ran[r.Thread] += r.To - r.From
}

// within returns the runs that may overlap an interval.
func (w *Work) within(from, to time.Duration) []piece {
	first := sort.Search(len(w.runs), func(i int) bool { return w.runs[i].to > from })
	end := sort.Search(len(w.runs), func(i int) bool { return w.runs[i].to >= to+MaxRun })
	return w.runs[first:end]
}

// Slice is a span in which one method runs on one thread.
type Slice struct {
	From, To time.Duration
	Thread   int
	Method   int // or System
	Kind     Kind
	CPU      int
	// Ran is the CPU time of the thread at From.
	Ran time.Duration
	// Turn is a number that is constant during one turn of a method.
	Turn uint64

	part Part
	step int
}

// Slices calls yield for each turn of a method between two instants, by time within each run.
func (w *Work) Slices(from, to time.Duration, yield func(Slice)) {
	for _, r := range w.within(from, to) {
		begin, end := max(r.from, from), min(r.to, to)
		for at := begin; at < end; {
			ran := r.before + at - r.from
			turn := ran / Grain
			stop := min(end, at+(turn+1)*Grain-ran)
			number := mix(w.Seed, uint64(r.thread), uint64(turn))
			sl := Slice{From: at, To: stop, Thread: int(r.thread), Method: int(r.method), Kind: r.kind, CPU: int(r.cpu), Ran: ran, Turn: number, part: Little, step: int(r.step)}
			if r.big {
				sl.part = Big
			}
			if r.method == Mixed {
				sl.Method = w.pick(float64(number>>11)/(1<<53), float64(r.share))
			}
			yield(sl)
			at = stop
		}
	}
}

// pick returns the method that runs in a turn, for a thread that does a part of the work.
func (w *Work) pick(u, part float64) int {
	if part > 0 {
		u *= part
	}
	for i, m := range w.Methods {
		if u < m.Share {
			return i
		}
		u -= m.Share
	}
	return System
}

// Watts returns the CPU's power in a slice.
func (w *Work) Watts(s Slice) (float64, Part) {
	watts := w.cluster(s.part).Steps[s.step].Watts * w.Factor
	if s.Method >= 0 {
		watts *= w.Methods[s.Method].Hunger
	}
	return watts, s.part
}

func (w *Work) cluster(p Part) Cluster {
	if p == Big {
		return w.Hardware.Big
	}
	return w.Hardware.Little
}

// Joules returns the energy between two instants, by part.
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

// CPU returns the CPU time of all threads between two instants.
func (w *Work) CPU(from, to time.Duration) time.Duration {
	var sum time.Duration
	for _, r := range w.within(from, to) {
		sum += Overlap(r.from, r.to, from, to)
	}
	return sum
}
