package methods

import "github.com/apkgate/apkgate/trace/simpleperf"

// maxNodes limits the tree of calls; the energy of calls beyond it stays with the caller.
const maxNodes = 1 << 19

// tree is the tree of calls while samples are counted.
type tree struct {
	nodes    []node
	children map[edge]int
	recent   int // the outermost frame of the last sample
	full     bool
}

type edge struct{ parent, method int }

type node struct {
	parent  int
	method  int
	recent  int // the child in the last sample, 0 if none
	kind    simpleperf.Kind
	samples int
	joules  float64
	unknown float64 // seconds without a known power
}

// add counts a sample for each node on its path, from the outermost frame in.
func (t *tree) add(chain, ids []int, frames []Frame, h hit) {
	at := -1
	for i := len(chain) - 1; i >= 0; i-- {
		next, ok := t.child(at, ids[chain[i]], frames[chain[i]].Kind)
		if !ok {
			return
		}
		n := &t.nodes[next]
		n.samples++
		n.joules += h.joules
		if !h.known {
			n.unknown += h.seconds
		}
		at = next
	}
}

// child returns a node's child for a method, and adds it if it is new. It returns false if the tree
// is full.
func (t *tree) child(parent, method int, kind simpleperf.Kind) (int, bool) {
	recent := &t.recent
	if parent >= 0 {
		recent = &t.nodes[parent].recent
	}
	// Successive samples share most of their path.
	if r := *recent; r < len(t.nodes) && t.nodes[r].parent == parent && t.nodes[r].method == method {
		return r, true
	}
	e := edge{parent, method}
	child, ok := t.children[e]
	if !ok {
		if len(t.nodes) >= maxNodes {
			t.full = true
			return 0, false
		}
		child = len(t.nodes)
		t.children[e] = child
		*recent = child // before append moves the nodes
		t.nodes = append(t.nodes, node{parent: parent, method: method, kind: kind})
		return child, true
	}
	*recent = child
	return child, true
}

// calls returns the tree for a Result. Nodes without power of their own get the mean of all.
func (a *attribution) calls(iterations float64) []Call {
	out := make([]Call, len(a.tree.nodes))
	watts := a.total.watts()
	for i, n := range a.tree.nodes {
		key := a.methods[n.method].key
		out[i] = Call{
			Parent: n.parent, Name: key.name, File: key.file, Kind: n.kind, Samples: n.samples,
			EnergyJ: (n.joules + watts*n.unknown) / iterations,
		}
	}
	return out
}
