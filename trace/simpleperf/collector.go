package simpleperf

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Window is a span of a run's repetition in which something went wrong, on the samples' clock.
type Window struct {
	Repetition int // the iteration, from 1
	Event      string
	From, To   time.Duration
	Why        string
	Evidence   string // digest of the samples
}

// Collector adds up which methods ran on the main thread in windows of a run, for its record. The
// zero Collector is empty. Samples show which methods ran and for how long, and those with off-CPU
// time in which of them it waited; not how often they were called.
type Collector struct {
	windows []run.TraceWindow
	chains  []run.CallChain
	methods map[[2]string]*run.TracedMethod // by name and event
	offCPU  bool                            // times are not of a CPU alone
}

// MethodSource is the word for samples in records.
const MethodSource = "simpleperf"

// Add adds a window, and returns how long the main thread was in methods of the app in it: those that
// are not the system's.
func (c *Collector) Add(p *Profile, w Window) (seen time.Duration) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	c.windows = append(c.windows, run.TraceWindow{Repetition: w.Repetition, Event: w.Event, FromMS: ms(w.From), ToMS: ms(max(w.From, w.To)), Why: w.Why, Evidence: w.Evidence})
	if c.methods == nil {
		c.methods = map[[2]string]*run.TracedMethod{}
	}
	c.offCPU = c.offCPU || p.OffCPU()
	root := &node{}
	for _, s := range p.Samples {
		took := s.within(w.From, w.To)
		if t := p.Threads[s.Thread]; t.PID != t.TID || took == 0 {
			continue
		}
		names, ofApp, idle := p.chainOf(s)
		if s.OffCPU && idle {
			continue
		}
		if ofApp {
			seen += took
		}
		counted := map[string]bool{}
		at := root
		for i, name := range names { // the outermost first
			m := c.method(name, w.Event)
			if !counted[name] {
				counted[name] = true
				m.TotalMS += ms(took)
			}
			if i == len(names)-1 {
				m.SelfMS += ms(took)
			}
			at = at.inner(name)
			at.took += took
			if s.OffCPU {
				at.blocked += took
			}
		}
	}
	if chain := root.longest(); len(chain) > 0 {
		chain = chain[:min(len(chain), run.MaxStack)]
		one := run.CallChain{Repetition: w.Repetition, Event: w.Event, Thread: "main", AtMS: ms(w.From), BlockedMS: ms(chain[len(chain)-1].blocked)}
		for _, n := range chain {
			one.Methods, one.MS = append(one.Methods, n.name), append(one.MS, ms(n.took))
		}
		c.chains = append(c.chains, one)
	}
	return seen
}

// within returns how much of a sample's time is between two others. A sample of a clock is taken at
// one time.
func (s Sample) within(from, to time.Duration) time.Duration {
	took := time.Duration(min(s.Period, 1<<62))
	switch {
	case s.OffCPU:
		return max(min(s.Time+took, to)-max(s.Time, from), 0)
	case s.Time < from || s.Time > to:
		return 0
	}
	return took
}

func (c *Collector) method(name, event string) *run.TracedMethod {
	m := c.methods[[2]string{name, event}]
	if m == nil {
		m = &run.TracedMethod{Name: name, Thread: "main", Event: event}
		c.methods[[2]string{name, event}] = m
	}
	return m
}

// maxSymbol limits a method's name in a record, in bytes.
const maxSymbol = 200

// system are the beginnings of the paths of code that is no app's.
var system = []string{"/system/", "/apex/", "/vendor/", "/product/", "[kernel"}

// idle is the method in which a main thread that has nothing to do waits.
const idle = "android.os.MessageQueue.nativePollOnce"

// chainOf returns the names of a sample's methods, the outermost first, whether any is the app's, and
// whether the thread had nothing to do.
func (p *Profile) chainOf(s Sample) (names []string, ofApp, isIdle bool) {
	for _, i := range slices.Backward(s.Chain) {
		f := p.Frames[i]
		name := cmp.Or(f.Symbol, f.File, "unknown")
		names = append(names, strings.ToValidUTF8(name[:min(len(name), maxSymbol)], ""))
		isIdle = isIdle || name == idle
		ofApp = ofApp || f.File != "" && !slices.ContainsFunc(system, func(dir string) bool { return strings.HasPrefix(f.File, dir) })
	}
	return names, ofApp, isIdle
}

// node is a method in the tree of call chains.
type node struct {
	name    string
	took    time.Duration
	blocked time.Duration // of it, the thread did not run
	calls   []*node
}

func (n *node) inner(name string) *node {
	for _, c := range n.calls {
		if c.name == name {
			return c
		}
	}
	c := &node{name: name}
	n.calls = append(n.calls, c)
	return c
}

// longest returns the chain of which each method took the longest of its caller's.
func (n *node) longest() (out []*node) {
	for len(n.calls) > 0 {
		n = slices.MaxFunc(n.calls, func(a, b *node) int { return cmp.Compare(a.took, b.took) })
		out = append(out, n)
	}
	return out
}

// MethodTraces returns the section of the record, nil where nothing was added.
func (c *Collector) MethodTraces() *run.MethodTraces {
	if len(c.windows) == 0 {
		return nil
	}
	clock := run.CPUClock
	if c.offCPU {
		clock = run.WallClock
	}
	out := &run.MethodTraces{Source: MethodSource, Clock: clock, Windows: c.windows[:min(len(c.windows), run.MaxTraceWindows)], Chains: c.chains[:min(len(c.chains), run.MaxCallChains)]}
	for _, m := range c.methods {
		m.LongestMS = m.TotalMS
		out.List = append(out.List, *m)
	}
	slices.SortFunc(out.List, func(a, b run.TracedMethod) int {
		return cmp.Or(cmp.Compare(b.SelfMS, a.SelfMS), cmp.Compare(b.TotalMS, a.TotalMS), strings.Compare(a.Name, b.Name), strings.Compare(a.Event, b.Event))
	})
	if n := len(out.List) - run.MaxTracedMethods; n > 0 {
		out.List, out.LeftOut = out.List[:run.MaxTracedMethods], n
	}
	return out
}
