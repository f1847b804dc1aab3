package artexport

import (
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/art"
)

// threadRoot is the method of the node at which a thread's stacks begin.
const threadRoot = -2

// maxNodes bounds the stacks that are told apart; what is called beyond is added to its caller.
const maxNodes = 1 << 20

// node is a stack: a method, called by the stack of its caller.
type node struct {
	thread    uint32
	method    int // place in Trace.Methods, -1 where unknown, or threadRoot
	caller    int // place in nodes, -1 of threadRoot
	calls     int64
	self, cpu time.Duration // of its own code, by the trace's clock and by the processor's
}

type nodeKey struct{ caller, method int }

// stacks adds up the calls of a trace by their stacks.
type stacks struct {
	nodes []node
	place map[nodeKey]int
	roots map[uint32]int
	open  map[uint32][]int // the stack that each thread is in, by depth
	left  int              // calls that were added to their callers
	doubt []run.Warning
}

// stacks reads the trace.
func (s *Source) stacks() (*stacks, error) {
	st := &stacks{place: map[nodeKey]int{}, roots: map[uint32]int{}, open: map[uint32][]int{}}
	calls := art.Calls{Opens: st.enter, Each: func(c art.Call) {
		n := &st.nodes[st.open[c.Thread][c.Depth]]
		n.self += c.Self
		n.cpu += c.SelfCPU
	}}
	if err := s.trace.Again(s.src, calls.Add); err != nil {
		return nil, err
	}
	calls.Finish()
	st.doubt = calls.Warnings()
	return st, nil
}

// enter finds the stack of a call.
func (st *stacks) enter(c art.Call) {
	root, ok := st.roots[c.Thread]
	if !ok {
		root = len(st.nodes)
		st.roots[c.Thread] = root
		st.nodes = append(st.nodes, node{thread: c.Thread, method: threadRoot, caller: -1})
	}
	open := append(st.open[c.Thread][:min(c.Depth, len(st.open[c.Thread]))], 0)
	caller := root
	if c.Depth > 0 {
		caller = open[c.Depth-1]
	}
	at, ok := st.place[nodeKey{caller, c.Method}]
	switch {
	case ok:
	case len(st.nodes) >= maxNodes:
		at = caller
		st.left++
	default:
		at = len(st.nodes)
		st.place[nodeKey{caller, c.Method}] = at
		st.nodes = append(st.nodes, node{thread: c.Thread, method: c.Method, caller: caller})
	}
	if at != caller {
		st.nodes[at].calls++
	}
	open[c.Depth] = at
	st.open[c.Thread] = open
}

func (st *stacks) warnings() []run.Warning {
	var w trace.Warnings
	w.Counted(0, st.left, "%d call is added to its caller: there are more than 1,048,576 stacks", "%d calls are added to their callers: there are more than 1,048,576 stacks")
	return append(st.doubt, w.List()...)
}
