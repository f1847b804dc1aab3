package calls

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// column is a repetition in which the event was traced. With more than run.MaxApart of them several
// are counted together.
type column struct {
	run, slot   int // the run is ofHead, or a place among the runs before
	repetitions map[int]bool
	spanMS      float64 // of all windows
	anomaly     bool    // something went wrong in it
}

// ofHead is the run of the head's columns.
const ofHead = -1

// columnsOf returns the repetitions of a run in which an event, "" for any, was traced.
func columnsOf(m *run.MethodTraces, event string, place int) (out []column) {
	at := map[int]int{}
	for _, w := range m.Windows {
		if !of(event, w.Event) {
			continue
		}
		slot := (w.Repetition - 1) % run.MaxApart
		if _, known := at[slot]; !known {
			at[slot] = len(out)
			out = append(out, column{run: place, slot: slot, repetitions: map[int]bool{}})
		}
		c := &out[at[slot]]
		c.repetitions[w.Repetition] = true
		c.spanMS += w.ToMS - w.FromMS
		c.anomaly = c.anomaly || w.Why != ""
	}
	return out
}

// traced counts the repetitions of columns, and returns how much of one was traced on average.
func traced(all []column) (repetitions int, spanMS float64) {
	for _, c := range all {
		repetitions, spanMS = repetitions+len(c.repetitions), spanMS+c.spanMS
	}
	return repetitions, spanMS / float64(repetitions)
}

// sample is the calls in each column: how many, their time with all that they call, and that of
// their own code.
type sample struct{ calls, ms, own []float64 }

func newSample(columns int) sample {
	return sample{make([]float64, columns), make([]float64, columns), make([]float64, columns)}
}

// add adds a part of values.
func add(to, from []float64, part float64) {
	for i, v := range from {
		to[i] += part * v
	}
}

// node is the calls of a method by one chain of callers.
type node struct {
	sample
	name     string
	method   *method
	parent   *node
	children []*node
	grown    float64 // additional ms per repetition of its own code
	more     float64 // the same with all that it calls
}

// method is the calls of a method by anybody: with all that it calls, those within itself once.
type method struct {
	sample
	key              string  // its name, without what compilers number
	positive, growth float64 // additional ms of its own code: of those callers by whom it grew, and of all
}

// forest is the calls of the main thread in an event, in all columns.
type forest struct {
	columns []column
	root    *node // calls the outermost ones
	all     []*node
	methods map[string]*method
	names   stableNames
	places  map[place]*node
}

// place is where a method's calls are in a forest.
type place struct {
	parent *node
	method *method
}

func newForest(columns []column, names stableNames) *forest {
	return &forest{
		columns: columns, methods: map[string]*method{}, names: names, places: map[place]*node{},
		root: &node{sample: newSample(len(columns))},
	}
}

// node returns the calls of a method by a caller. Methods that compilers number are the same under
// any number.
func (f *forest) node(parent *node, name string) *node {
	key := f.names.of(name)
	m := f.methods[key]
	if m == nil {
		m = &method{sample: newSample(len(f.columns)), key: key}
		f.methods[key] = m
	}
	n := f.places[place{parent, m}]
	if n == nil {
		n = &node{sample: newSample(len(f.columns)), name: name, method: m, parent: parent}
		f.places[place{parent, m}] = n
		parent.children = append(parent.children, n)
		f.all = append(f.all, n)
	}
	return n
}

// add adds the main thread's calls of a run in an event.
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
		f.count(nodes[i], place, c)
		if parent == f.root {
			f.count(f.root, place, c)
		}
	}
}

// count adds the calls of an entry to the columns of a run.
func (f *forest) count(n *node, place int, c run.TracedCall) {
	for i, col := range f.columns {
		if col.run != place {
			continue
		}
		each := float64(len(col.repetitions))
		if col.slot < len(c.Repetitions) {
			n.calls[i] += float64(c.Repetitions[col.slot]) / each
		}
		if col.slot < len(c.RepetitionsMS) {
			n.ms[i] += c.RepetitionsMS[col.slot] / each
		}
	}
}

// sum computes the time of each node's own code, and adds up each method's calls.
func (f *forest) sum() {
	for _, n := range f.all {
		add(n.own, n.ms, 1)
		if n.parent != f.root {
			add(n.parent.own, n.ms, -1)
		}
	}
	for _, n := range f.all {
		for i := range n.own {
			n.own[i] = max(n.own[i], 0)
		}
		add(n.method.calls, n.calls, 1)
		add(n.method.own, n.own, 1)
		if !n.within() {
			add(n.method.ms, n.ms, 1)
		}
	}
}

// within reports whether one of the node's callers is a call of its method.
func (n *node) within() bool {
	for up := n.parent; up != nil; up = up.parent {
		if up.method == n.method {
			return true
		}
	}
	return false
}

// ownOf returns whether a method is the app's own: by its package, or where the trace has no such
// method, that it is none of the platform or of its libraries. Samples have chains and no tree.
func (f *forest) ownOf(r run.Run) func(string) bool {
	prefix := diagnose.OwnNames(r.App.Package)
	byName := func(method string) bool { return prefix != "" && strings.HasPrefix(method, prefix) }
	sampled := func(c run.CallChain) bool {
		return len(r.MethodTraces.Tree) == 0 && slices.ContainsFunc(c.Methods, byName)
	}
	if slices.ContainsFunc(f.all, func(n *node) bool { return byName(n.name) }) || slices.ContainsFunc(r.MethodTraces.Chains, sampled) {
		return byName
	}
	return func(method string) bool { return !diagnose.Platform(method) && !strings.HasPrefix(method, "androidx.") }
}
