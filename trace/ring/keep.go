package ring

import (
	"cmp"
	"io"
	"sync"
	"time"

	"github.com/apkgate/apkgate/trace/art"
)

// Tick is the unit of times in a ring of Keep: what ART's streams count in. 2^32 of them are 71
// minutes.
const Tick = time.Microsecond

// Options are how much is kept.
type Options struct {
	// Bytes is what all rings take, 64 MiB where it is 0: a half is the main thread's, the paper's 32
	// MiB, and the other half is shared equally by Threads. A ring's slots are a power of two, so
	// that up to a half of its part may be unused. While Flush runs, it takes as much once more.
	Bytes int
	// Threads is how many threads beside the main one are kept, 64 where it is 0. Another one takes
	// the ring of the thread that did nothing for longest.
	Threads int
	// PID is the app's process, whose first thread is the main one; 0: the thread named "main" is.
	PID int
}

// Keep holds the newest calls of each thread of a method trace that is read while it is written.
// One goroutine calls Read, and any other one Flush.
type Keep struct {
	o        Options
	hand     Handover
	taking   sync.Mutex // is held while the reader is stopped
	flushing sync.Mutex
	place    uint64 // events so far

	// What follows belongs to the reader, or to who has stopped it.
	trace   *art.Trace
	threads map[uint32]*thread
	latest  *thread // that of the last event
	counts
}

// counts is what could not be kept.
type counts struct {
	replaced int // threads that lost their ring to another
	early    int // exits of methods that were not entered
	deep     int // calls within 65,536 others
}

// thread is what is kept of one.
type thread struct {
	tid  uint32
	main bool
	ring *Ring
	open []openCall // the calls that it is in, the outermost first
	deep int        // how many more it is in
	last uint64     // place of its last event
}

// openCall is a call that has not ended.
type openCall struct {
	method int
	ticks  uint64
	at     uint64 // where its entry is in the ring
}

// Limits on what is kept of a thread's stack. An exit is looked for among the innermost calls only.
const (
	maxDepth  = 1 << 16
	maxSearch = 256
)

// NewKeep returns an empty Keep.
func NewKeep(o Options) *Keep {
	o.Bytes, o.Threads = cmp.Or(o.Bytes, 64<<20), cmp.Or(o.Threads, 64)
	k := &Keep{o: o, threads: map[uint32]*thread{}}
	k.hand.Leave(0)
	k.hand.Start()
	return k
}

// Read reads a method trace to its end, and keeps its newest calls. It may be called once.
func (k *Keep) Read(r io.Reader) (*art.Trace, error) {
	t, err := art.Follow(input{r, k}, k.add)
	k.trace = t
	k.hand.Leave(k.place)
	return t, err
}

// input notes while its reader waits for more.
type input struct {
	r io.Reader
	k *Keep
}

func (i input) Read(b []byte) (int, error) {
	i.k.hand.Leave(i.k.place)
	n, err := i.r.Read(b)
	i.k.hand.Return()
	i.k.wait()
	return n, err
}

// wait waits until the reader may go on. A host can wait where an app can't, so that no event is
// lost while another goroutine copies the rings. Meanwhile it is away: the next copy may begin
// before it is back.
func (k *Keep) wait() {
	for !k.hand.On() {
		k.hand.Leave(k.place)
		k.taking.Lock()
		k.hand.Return()
		k.taking.Unlock()
	}
}

// add takes an event.
func (k *Keep) add(trace *art.Trace, e art.Event) {
	k.trace = trace
	t := k.latest
	if t == nil || t.tid != e.Thread {
		t = k.thread(e.Thread)
		k.latest = t
	}
	k.place++
	t.last = k.place
	ticks := uint64(max(e.Time, 0) / Tick)
	if e.Action == art.Enter {
		k.enter(t, ticks, e.Method)
	} else {
		k.exit(t, ticks, e)
	}
	k.hand.Ended(k.place)
	k.wait()
}

// number is a method's in a ring: its place, behind the numbers that mean something else and the
// one of methods that are not known.
func number(place int) uint32 { return uint32(place + 1 + FirstMethod) }

func (k *Keep) enter(t *thread, ticks uint64, method int) {
	if len(t.open) == maxDepth {
		t.deep++
		k.deep++
		return
	}
	t.open = append(t.open, openCall{method, ticks, t.ring.next})
	t.ring.Enter(ticks, number(method))
}

// exit ends the innermost call of a method, and the calls within it, whose exits are missing. A slot
// does not name the method that is left, so that the exit of a call that is not known must not be
// written: it would end another one.
func (k *Keep) exit(t *thread, ticks uint64, e art.Event) {
	if t.deep > 0 {
		t.deep--
		return
	}
	to, least := len(t.open)-1, max(len(t.open)-maxSearch, 0)
	for e.Method >= 0 && to >= least && t.open[to].method != e.Method {
		to--
	}
	if to < least {
		k.early++
		return
	}
	for inner := len(t.open) - 1; inner > to; inner-- {
		t.ring.Exit(ticks, art.Exit)
	}
	t.ring.Exit(ticks, e.Action)
	t.open = t.open[:to]
}

// thread is what is kept of a thread, with a ring.
func (k *Keep) thread(tid uint32) *thread {
	if t := k.threads[tid]; t != nil {
		return t
	}
	t := &thread{tid: tid, main: tid == uint32(k.o.PID) || k.o.PID == 0 && k.trace.Threads[tid] == "main"}
	var quiet *thread
	others := 0
	for _, other := range k.threads {
		if other.main {
			continue
		}
		others++
		if quiet == nil || other.last < quiet.last {
			quiet = other
		}
	}
	switch {
	case t.main:
		t.ring = New(k.o.Bytes/2, Mode32)
	case others < k.o.Threads:
		t.ring = New(k.o.Bytes/2/k.o.Threads, Mode32)
	default:
		t.ring = quiet.ring
		t.ring.reset()
		delete(k.threads, quiet.tid)
		k.replaced++
	}
	k.threads[tid] = t
	return t
}
