package calls

import (
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// node is the calls of a method by one chain of callers, now and before.
type node struct {
	name        string
	parent      *node
	children    []*node
	now, before []sample // one of each repetition
	own         float64  // additional ms per repetition of its own code
	more        float64  // the same with all that it calls
}

// sample is the calls of a repetition, and their time with all that they call.
type sample struct{ calls, ms float64 }

// column is a repetition in which the event was traced. With more than run.MaxApart of them several
// are counted together.
type column struct {
	run, slot   int
	repetitions map[int]bool
	spanMS      float64 // of all windows
	anomaly     bool    // something went wrong in it
}

// of reports whether something is of an event, "" for any.
func of(event, its string) bool { return event == "" || its == event }

// side is the traced repetitions of one or several runs.
type side []column

// add adds the repetitions of a run in which an event, "" for any, was traced.
func (s side) add(m *run.MethodTraces, event string, place int) side {
	at := map[int]int{}
	for _, w := range m.Windows {
		if !of(event, w.Event) {
			continue
		}
		slot := (w.Repetition - 1) % run.MaxApart
		i, known := at[slot]
		if !known {
			i = len(s)
			at[slot] = i
			s = append(s, column{run: place, slot: slot, repetitions: map[int]bool{}})
		}
		s[i].repetitions[w.Repetition] = true
		s[i].spanMS += w.ToMS - w.FromMS
		s[i].anomaly = s[i].anomaly || w.Why != ""
	}
	return s
}

// split returns the repetitions in which something went wrong, and the others.
func (s side) split() (anomalies, usual side) {
	for _, c := range s {
		if c.anomaly {
			anomalies = append(anomalies, c)
		} else {
			usual = append(usual, c)
		}
	}
	return anomalies, usual
}

// spanMS is how much of a repetition was traced, on average.
func (s side) spanMS() float64 {
	sum, n := 0.0, 0
	for _, c := range s {
		sum, n = sum+c.spanMS, n+len(c.repetitions)
	}
	return sum / float64(n)
}

// repetitions counts those that were traced.
func (s side) repetitions() (n int) {
	for _, c := range s {
		n += len(c.repetitions)
	}
	return n
}

// forest is the calls of the main thread in an event, now and before.
type forest struct {
	root        *node // calls the outermost ones
	all         []*node
	now, before side
	byName      map[*node]map[string]*node
}

func newForest(now, before side) *forest {
	f := &forest{now: now, before: before, byName: map[*node]map[string]*node{}}
	f.root = f.node(nil, "")
	f.all = nil
	return f
}

// node returns the calls of a method by a caller. Methods that compilers number are the same under
// any number.
func (f *forest) node(parent *node, name string) *node {
	key := diagnose.Stable(name)
	if n := f.byName[parent][key]; n != nil {
		return n
	}
	n := &node{name: name, parent: parent, now: make([]sample, len(f.now)), before: make([]sample, len(f.before))}
	if f.byName[parent] == nil {
		f.byName[parent] = map[string]*node{}
	}
	f.byName[parent][key] = n
	if parent != nil {
		parent.children = append(parent.children, n)
	}
	f.all = append(f.all, n)
	return n
}

// add adds the main thread's calls of a run, the head where place is negative, in an event.
func (f *forest) add(r run.Run, event string, place int) {
	nodes := make([]*node, len(r.MethodTraces.Tree))
	for i, c := range r.MethodTraces.Tree {
		parent := f.root
		switch {
		case c.Parent >= 0:
			parent = nodes[c.Parent]
		case !diagnose.IsMain(c.Thread, r.App.Package) || !of(event, c.Event):
			parent = nil
		}
		if parent == nil {
			continue
		}
		nodes[i] = f.node(parent, c.Name)
		nodes[i].count(f.now, place, c, false)
		nodes[i].count(f.before, place, c, true)
		if parent == f.root {
			f.root.count(f.now, place, c, false)
			f.root.count(f.before, place, c, true)
		}
	}
}

// count adds the calls of an entry to the repetitions of a run.
func (n *node) count(s side, place int, c run.TracedCall, before bool) {
	to := n.now
	if before {
		to = n.before
	}
	for i, col := range s {
		if col.run != place {
			continue
		}
		each := float64(len(col.repetitions))
		if col.slot < len(c.Repetitions) {
			to[i].calls += float64(c.Repetitions[col.slot]) / each
		}
		if col.slot < len(c.RepetitionsMS) {
			to[i].ms += c.RepetitionsMS[col.slot] / each
		}
	}
}

// self returns the time of a node's own code in each repetition.
func (n *node) self() (now, before []float64) {
	rest := func(of func(*node) []sample) []float64 {
		out := times(of(n))
		for _, child := range n.children {
			for i, s := range of(child) {
				out[i] -= s.ms
			}
		}
		for i := range out {
			out[i] = max(out[i], 0)
		}
		return out
	}
	return rest(func(n *node) []sample { return n.now }), rest(func(n *node) []sample { return n.before })
}

func times(samples []sample) []float64 {
	out := make([]float64, len(samples))
	for i, s := range samples {
		out[i] = s.ms
	}
	return out
}

func counts(samples []sample) []float64 {
	out := make([]float64, len(samples))
	for i, s := range samples {
		out[i] = s.calls
	}
	return out
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}

// within reports whether one of the node's callers has its name.
func (n *node) within() bool {
	for up := n.parent; up != nil; up = up.parent {
		if up.name == n.name {
			return true
		}
	}
	return false
}
