// Package methodtrace writes what a simulated app's runtime (ART) records of calls: the files of
// `am profile`.
//
// What was called when is a view of the phone's frames and of the blocks of its UI thread, with
// the calls in the app's file: it computes no time. Which of it a file has depends on how ART
// records it, and so does what a recording costs (Cost). The formats are those of AOSP's
// art/runtime/trace.cc and trace_profile.cc.
package methodtrace

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// Call is one call on a thread. The calls of a thread are nested: by time, the outer one first.
type Call struct {
	Method   int
	From, To time.Duration
}

// Thread is a thread with its calls.
type Thread struct {
	TID   int32
	Name  string
	Calls []Call
	// CPU returns its CPU time up to a time.
	CPU func(at time.Duration) time.Duration
}

// Add adds calls of which each makes the next one.
func (t *Thread) Add(c *Chart, chain []Named, from, to time.Duration) {
	for _, m := range chain {
		t.Calls = append(t.Calls, Call{c.Method(m.Name, m.Kind), from, to})
	}
}

// Sort puts the calls into the order of a thread's: of two that begin together, the longer one makes
// the other.
func (t *Thread) Sort() {
	slices.SortStableFunc(t.Calls, func(a, b Call) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To)) })
}

// Chart has what a process called.
type Chart struct {
	PID     int
	Threads []*Thread

	methods []method
	places  map[string]int
}

// method is one of the methods of a chart.
type method struct {
	name string
	kind simapp.Code
}

// Method returns the place of a method, which is new or not.
func (c *Chart) Method(name string, kind simapp.Code) int {
	place, known := c.places[name]
	if !known {
		if c.places == nil {
			c.places = map[string]int{}
		}
		place = len(c.methods)
		c.places[name] = place
		c.methods = append(c.methods, method{name, kind})
	}
	return place
}

// line is GetMethodInfoLine: class, name, signature and file.
func (m method) line() string {
	dot := strings.LastIndexByte(m.name, '.')
	class, name := m.name[:max(dot, 0)], m.name[dot+1:]
	file := class[strings.LastIndexByte(class, '.')+1:]
	file, _, _ = strings.Cut(file, "$")
	return class + "\t" + name + "\t()V\t" + file + ".java\n"
}

// event is the entry into a method, or the exit from it.
type event struct {
	at     time.Duration
	thread int
	method int
	exit   bool
}

// events returns a thread's entries and exits in the order in which they happen.
func (t *Thread) events(thread int) []event {
	out := make([]event, 0, 2*len(t.Calls))
	var stack []Call
	leave := func(until time.Duration) {
		for n := len(stack); n > 0 && stack[n-1].To <= until; n = len(stack) {
			out = append(out, event{stack[n-1].To, thread, stack[n-1].Method, true})
			stack = stack[:n-1]
		}
	}
	for _, c := range t.Calls {
		leave(c.From)
		if n := len(stack); n > 0 { // an inner call ends with its caller at the latest
			c.To = min(c.To, stack[n-1].To)
		}
		out = append(out, event{c.From, thread, c.Method, false})
		stack = append(stack, c)
	}
	leave(1<<63 - 1)
	return out
}

// recorded returns the events of all threads between two times, by time. A call that was under way
// at the beginning has an exit alone, one that goes on an entry.
func (c *Chart) recorded(from, until time.Duration) (out []event) {
	for i, t := range c.Threads {
		for _, e := range t.events(i) {
			if e.at >= from && e.at < until {
				out = append(out, e)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return out
}

// sampled returns what ART's sampling makes of the calls: at each sample the methods that are no
// longer on a thread's stack are left, and the new ones entered, at the time of the sample
// (Trace::CompareAndUpdateStackTrace).
func (c *Chart) sampled(from, until, every time.Duration) (out []event) {
	for i, t := range c.Threads {
		events, at := t.events(i), 0
		var real, seen []int // numbers of calls in order of their beginning
		var methods []int    // of those
		for now := from + every; now < until; now += every {
			for ; at < len(events) && events[at].at <= now; at++ {
				if events[at].exit {
					real = real[:len(real)-1]
				} else {
					real = append(real, len(methods))
					methods = append(methods, events[at].method)
				}
			}
			same := 0
			for same < len(seen) && same < len(real) && seen[same] == real[same] {
				same++
			}
			for n := len(seen) - 1; n >= same; n-- {
				out = append(out, event{now, i, methods[seen[n]], true})
			}
			for _, n := range real[same:] {
				out = append(out, event{now, i, methods[n], false})
			}
			seen = slices.Clone(real)
		}
	}
	slices.SortStableFunc(out, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return out
}
