package art

import (
	"maps"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Call is one call of a method.
type Call struct {
	Thread uint32
	Method int // place in Trace.Methods, -1 where unknown
	Depth  int // 0 of the outermost
	Begin  time.Duration
	Took   time.Duration
	Self   time.Duration // without the calls that it makes
	// CPU and SelfCPU are the same in processor time, of traces that have both clocks.
	CPU, SelfCPU time.Duration
	// Open reports that the trace has no exit of it: it ran until the trace's last event of its
	// thread, at least.
	Open bool
	// Within reports that it was called, directly or not, by another call of its method.
	Within bool
}

// Limits on the calls that are open.
const (
	maxDepth = 1 << 16 // of a thread
	maxOpen  = 1 << 19 // of all threads
)

// Calls joins the entries and exits of a trace to calls: Add takes each event, and Finish ends
// the calls that are left.
type Calls struct {
	// Opens is called with each call when it begins; nil is allowed.
	Opens func(Call)
	// Each is called with each call when it ends: within a thread the inner one first.
	Each func(Call)
	// Early counts exits from methods that were entered before the trace began.
	Early int
	// Deep counts entries that are left out: a thread was in more than 65,536 methods, or all threads
	// together in more than 524,288.
	Deep    int
	open    int // calls
	threads map[uint32]*callStack
}

// callStack is the calls that a thread is in.
type callStack struct {
	open []openCall
	in   map[int]int // how many calls of a method are open
	last moment
}

// moment is a time, or a length of it, by the trace's clock and by the processor's.
type moment struct{ at, cpu time.Duration }

type openCall struct {
	method int
	begin  moment
	inner  moment // of the calls that it made
}

// Warnings reports what could not be joined.
func (c *Calls) Warnings() []run.Warning {
	var w trace.Warnings
	w.Counted(0, c.Deep, "%d call is left out: its thread is in more than 65,536 methods, or all are in more than 524,288", "%d calls are left out: their threads are in more than 65,536 methods, or all are in more than 524,288")
	return w.List()
}

// Add takes an event. An exit ends the innermost call of its method, and the calls within it,
// whose exits are missing then.
func (c *Calls) Add(e Event) {
	if c.threads == nil {
		c.threads = map[uint32]*callStack{}
	}
	s := c.threads[e.Thread]
	if s == nil {
		s = &callStack{in: map[int]int{}}
		c.threads[e.Thread] = s
	}
	s.last = moment{max(s.last.at, e.Time), max(s.last.cpu, e.CPU)}
	if e.Action == Enter {
		c.begin(s, e)
		return
	}
	to := len(s.open) - 1
	if e.Method >= 0 && s.in[e.Method] == 0 {
		to = -1
	}
	for e.Method >= 0 && to >= 0 && s.open[to].method != e.Method {
		to--
	}
	if to < 0 {
		c.Early++
		return
	}
	for len(s.open) > to {
		c.end(e.Thread, s, moment{e.Time, e.CPU}, len(s.open)-1 > to)
	}
}

// begin begins a call.
func (c *Calls) begin(s *callStack, e Event) {
	if len(s.open) == maxDepth || c.open == maxOpen {
		c.Deep++
		return
	}
	if c.Opens != nil {
		c.Opens(Call{Thread: e.Thread, Method: e.Method, Depth: len(s.open), Begin: e.Time, Within: s.in[e.Method] > 0})
	}
	s.open = append(s.open, openCall{method: e.Method, begin: moment{e.Time, e.CPU}})
	s.in[e.Method]++
	c.open++
}

// end ends the innermost call of a thread.
func (c *Calls) end(tid uint32, s *callStack, now moment, open bool) {
	depth := len(s.open) - 1
	o := s.open[depth]
	s.open = s.open[:depth]
	c.open--
	if s.in[o.method]--; s.in[o.method] == 0 {
		delete(s.in, o.method)
	}
	took := moment{max(now.at-o.begin.at, 0), max(now.cpu-o.begin.cpu, 0)}
	if depth > 0 {
		inner := &s.open[depth-1].inner
		inner.at, inner.cpu = inner.at+took.at, inner.cpu+took.cpu
	}
	c.Each(Call{
		Thread: tid, Method: o.method, Depth: depth, Begin: o.begin.at, Took: took.at,
		Self: max(took.at-o.inner.at, 0), CPU: took.cpu, SelfCPU: max(took.cpu-o.inner.cpu, 0), Open: open, Within: s.in[o.method] > 0,
	})
}

// Finish ends the calls that the trace has no exits of.
func (c *Calls) Finish() {
	for _, tid := range slices.Sorted(maps.Keys(c.threads)) {
		s := c.threads[tid]
		for len(s.open) > 0 {
			c.end(tid, s, s.last, true)
		}
	}
}
