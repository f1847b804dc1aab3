package ring

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/art"
)

// Flushed is what Flush wrote.
type Flushed struct {
	Calls, Threads int
	// From and To are the times of the first and the last event, since the trace began.
	From, To time.Duration
	Warnings []run.Warning
}

// Errors of Flush if no call was read so far, or none has a time.
var (
	ErrEmpty   = errors.New("write the kept calls: none was read so far")
	ErrNoTimes = errors.New("write the kept calls: the trace has the order of calls and no times")
)

// Flush writes the calls that are kept as a method trace of ART (streaming, version 2: 0xf2), which
// apkgate inspect art and diagnose, Android Studio and Perfetto open. The reader waits only while
// they are copied, and no event is lost meanwhile; what is kept stays.
//
// Calls that still run are in it, also those whose entries are overwritten. What was more than an
// hour before the newest event is left out: calls that ran then begin there. Warnings report what
// else could not be kept.
func (k *Keep) Flush(w io.Writer) (Flushed, error) {
	k.flushing.Lock()
	defer k.flushing.Unlock()
	c := k.copy()
	if len(c.threads) == 0 {
		return Flushed{}, ErrEmpty
	}
	if c.trace.Clock == art.NoClock {
		return Flushed{}, ErrNoTimes
	}
	f := file{b: bufio.NewWriter(w), copied: c, first: math.MaxUint64, numbers: map[int]uint32{}, tids: map[uint32]uint16{}}
	f.write()
	if f.calls == 0 {
		return Flushed{}, ErrEmpty
	}
	if err := f.b.Flush(); err != nil {
		return Flushed{}, fmt.Errorf("write the kept calls: %w", err)
	}
	return Flushed{f.calls, len(f.tids), time.Duration(f.first) * Tick, time.Duration(f.last) * Tick, c.warnings(f.uncertain)}, nil
}

// copied is what is kept at one moment.
type copied struct {
	counts
	trace   *art.Trace
	threads []copiedThread
	from    uint64 // ticks since which events are written
}

type copiedThread struct {
	tid  uint32
	name string
	Snapshot
	// before are the calls that run, and whose entries are overwritten.
	before []openCall
}

// copy stops the reader, copies what is kept, and lets it go on.
func (k *Keep) copy() copied {
	k.taking.Lock()
	defer k.taking.Unlock()
	k.hand.Stop()
	defer k.hand.Start()
	c := copied{counts: k.counts}
	if k.trace == nil {
		return c
	}
	known := *k.trace
	known.Methods = slices.Clone(known.Methods)
	c.trace = &known
	known.PID = cmp.Or(k.o.PID, known.PID)
	newest := uint64(0)
	for _, t := range k.threads {
		newest = max(newest, t.ring.last)
		if t.main {
			known.PID = cmp.Or(known.PID, int(t.tid))
		}
		one := copiedThread{tid: t.tid, name: known.Threads[t.tid], Snapshot: t.ring.Snapshot(t.ring.last)}
		for _, o := range t.open {
			if o.at < t.ring.oldest() {
				one.before = append(one.before, o)
			}
		}
		c.threads = append(c.threads, one)
	}
	known.Threads = nil // the reader's
	c.from = newest - min(newest, longest)
	slices.SortFunc(c.threads, func(a, b copiedThread) int { return cmp.Compare(a.tid-1, b.tid-1) }) // 0 last
	return c
}

// longest is how much of the time before the newest event is written: times in the file have 32
// bits.
const longest = uint64(time.Hour / Tick)

// events calls each with the events of a thread since a time, the oldest first, and before them
// with the entries of the calls that ran then. The exits of calls whose entries are overwritten
// have no name, and are left out.
func (t copiedThread) events(from uint64, each func(ticks uint64, method int, action art.Action)) (uncertain int) {
	open, shown := slices.Clone(t.before), 0
	show := func() {
		for ; shown < len(open); shown++ {
			each(max(open[shown].ticks, from), open[shown].method, art.Enter)
		}
	}
	for e := range t.Entries() {
		recent, inner := e.Ticks >= from, len(open)-1
		if recent {
			show()
		}
		if recent && e.Uncertain {
			uncertain++
		}
		switch {
		case e.Action == art.Enter:
			open = append(open, openCall{method: int(e.Method) - 1 - FirstMethod, ticks: e.Ticks})
			if recent {
				show()
			}
		case len(open) > len(t.before):
			if shown > inner {
				shown = inner
				each(e.Ticks, open[inner].method, e.Action)
			}
			open = open[:inner]
		}
	}
	show()
	return uncertain
}

// warnings reports what is missing or doubtful.
func (c copied) warnings(uncertain int) []run.Warning {
	var w trace.Warnings
	w.Counted(0, uncertain,
		"%d event is of before a time of more than 71 minutes without another one of its thread: it is written too late",
		"%d events are of before a time of more than 71 minutes without another one of their thread: they are written too late")
	w.Counted(0, c.replaced,
		"%d thread is left out: there were more than have a ring, and it did nothing for longest",
		"%d threads are left out: there were more than have a ring, and they did nothing for longest")
	w.Counted(0, c.early, "%d exit is left out: its method was not entered", "%d exits are left out: their methods were not entered")
	w.Counted(0, c.deep, "%d call is left out: its thread is in more than 65,536 methods", "%d calls are left out: their threads are in more than 65,536 methods")
	return w.List()
}
