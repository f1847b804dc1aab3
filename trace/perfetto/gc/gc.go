// Package gc reads from a Perfetto trace when the garbage collector of an app ran.
//
// It owns what counts as such a run: the slice that ART writes around it ("Background concurrent
// copying GC", GarbageCollector::Run in garbage_collector.cc) on the collecting thread, usually
// HeapTaskDaemon. A thread that waits for the collector does not run it. If a trace has lost
// events, the number of runs is unknown.
package gc

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Limits of what is kept.
const (
	maxRuns    = 100_000
	maxThreads = 10_000 // with open slices
	maxDepth   = 512
)

// Run is one run of the collector.
type Run struct {
	PID  int
	Name string        // "Background concurrent copying GC"
	At   time.Duration // on the trace's own clock
	For  time.Duration // to the trace's last event if it did not end
}

// Collections are the runs of the collector in a trace.
type Collections struct {
	Runs []Run // by time
	// Traced is set if the app wrote slices at all: otherwise its collections are unknown.
	Traced bool
	// Lost counts gaps in the kernel's events. There may be more runs.
	Lost int
}

// kinds are the names of ART's collectors, in all versions.
var kinds = []string{"mark sweep GC", "mark compact GC", "concurrent copying GC", "semispace GC"}

func isRun(name string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasSuffix(name, kind) })
}

// New returns a reader of the runs in the processes for which of is true, together with others of a
// pass.
func New(of func(pid int) bool) *Reader { return &Reader{of: of, open: map[int32][]Run{}} }

// Collections returns the runs of a trace that was read, with lost gaps in the kernel's events.
func (r *Reader) Collections(lost int) Collections {
	r.finish()
	out := Collections{Runs: r.runs, Traced: r.traced, Lost: lost + r.cut}
	slices.SortStableFunc(out.Runs, func(a, b Run) int { return cmp.Compare(a.At, b.At) })
	return out
}

// Metrics returns the metrics of the runs; lost is the number of gaps in the kernel's events. It
// returns none if the app wrote no slices, or if there are gaps, which doubt then states.
func (r *Reader) Metrics(lost int) (metrics map[string]float64, doubt string) {
	found := r.Collections(lost)
	switch {
	case found.Lost > 0:
		return nil, "the trace did not hold all of each repetition: the runs of the garbage collector are not known of those of which it lost a part"
	case !found.Traced:
		return nil, ""
	}
	var took time.Duration
	for _, one := range found.Runs {
		took += one.For
	}
	return map[string]float64{"gc.count": float64(len(found.Runs)), "gc.time_ms": float64(took) / float64(time.Millisecond)}, ""
}

// Reader tracks the open slices of threads. A slice that is not a run of the collector has no name.
type Reader struct {
	of     func(pid int) bool
	open   map[int32][]Run // by thread, the innermost last
	runs   []Run
	traced bool
	last   time.Duration // of the events
	cut    int           // runs without room
}

// Wants returns the lines that threads write to the kernel's trace.
func (r *Reader) Wants() packets.Wants {
	return packets.Wants{Events: []protowire.Number{field.EventPrint}}
}

// Packet ignores packets.
func (r *Reader) Packet(packets.Packet) {}

// Event reads the beginning or the end of a slice.
func (r *Reader) Event(e *packets.Event) {
	p, ok := atrace.Of(e)
	if !ok {
		return
	}
	r.last = max(r.last, e.At)
	stack := r.open[e.TID]
	switch {
	case p.Phase == 'B' && r.of(int(p.PID)):
		r.traced = true
		if len(stack) >= maxDepth || stack == nil && len(r.open) >= maxThreads {
			r.cut++
			return
		}
		begun := Run{PID: int(p.PID), At: e.At}
		if isRun(p.Name) {
			begun.Name = p.Name
		}
		r.open[e.TID] = append(stack, begun)
	case p.Phase == 'E' && len(stack) > 0:
		r.close(stack, e.At)
		if r.open[e.TID] = stack[:len(stack)-1]; len(stack) == 1 {
			delete(r.open, e.TID)
		}
	}
}

// close ends the innermost slice of a thread. A run nested in another is a part of it.
func (r *Reader) close(stack []Run, at time.Duration) {
	run, outer := stack[len(stack)-1], stack[:len(stack)-1]
	if run.Name == "" || slices.ContainsFunc(outer, func(o Run) bool { return o.Name != "" }) {
		return
	}
	if len(r.runs) >= maxRuns {
		r.cut++
		return
	}
	run.For = at - run.At
	r.runs = append(r.runs, run)
}

// finish ends the runs that did not end in the trace.
func (r *Reader) finish() {
	for _, stack := range r.open {
		for ; len(stack) > 0; stack = stack[:len(stack)-1] {
			r.close(stack, r.last)
		}
	}
}
