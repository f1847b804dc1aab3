package power

import (
	"sort"
	"time"
)

// Kind says what a thread works on.
type Kind int8

// The kinds of work.
const (
	Frame   Kind = iota // a frame: short, at a middle speed, with the GPU
	Block               // a heavy computation: at full speed
	Other               // work beside the UI thread, at full speed
	Service             // the system's own work
)

// Mixed and System stand for methods: those by their shares, and the system's.
const (
	Mixed  = -1
	System = -2
)

// Method is a method of the app that runs in its busy time.
type Method struct {
	Share  float64 // of the time of mixed runs
	Hunger float64 // a factor on what the CPU draws while it runs
}

// Grain is how long one method runs, in CPU time of its thread, before another
// has its turn.
const Grain = 2 * time.Millisecond

// Run is a time in which one thread of a process has a CPU.
type Run struct {
	From, To time.Duration
	Thread   int // of the process, the UI thread is 0
	CPU      int
	Part     Part // the CPU's cluster
	Step     int  // of its speeds
	Kind     Kind
	Method   int // place in Work.Methods; Mixed: by their shares
	// Share is the part that this thread has of the mixed work, 0 for all of it: the
	// methods' shares are of the whole of a frame, and they run on the UI thread.
	Share float64
}

// piece is a run as it is kept, for hours: small.
type piece struct {
	from, to          time.Duration
	before            time.Duration // CPU time of the thread before it
	share             float32
	method            int16
	thread, cpu, step int8
	big               bool
	kind              Kind
}

// MaxRun is how long a run is at most that Work is told of.
const MaxRun = 50 * time.Millisecond

// Work is what a process did.
type Work struct {
	Hardware Hardware
	Methods  []Method
	Seed     uint64
	Factor   float64 // on what its CPU time draws: session and repetition
	runs     []piece // by to
	ran      []time.Duration
}

// Add adds a run, which ends no earlier than those before it.
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

// within are the runs that can have a part between two instants.
func (w *Work) within(from, to time.Duration) []piece {
	first := sort.Search(len(w.runs), func(i int) bool { return w.runs[i].to > from })
	end := sort.Search(len(w.runs), func(i int) bool { return w.runs[i].to >= to+MaxRun })
	return w.runs[first:end]
}

// Slice is a time in which one method runs on one thread.
type Slice struct {
	From, To time.Duration
	Thread   int
	Method   int // or System
	Kind     Kind
	CPU      int
	// Ran is the CPU time of the thread at From.
	Ran time.Duration
	// Turn is a number that stays the same through one turn of a method.
	Turn uint64

	part Part
	step int
}

// Slices calls yield for each turn of a method between two instants, by time within
// each run.
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

// pick is the method that runs in a turn, of a thread that does a part of the work.
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

// Watts is what the CPU draws in a slice.
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
	for _, r := range w.within(from, to) {
		sum += Overlap(r.from, r.to, from, to)
	}
	return sum
}
