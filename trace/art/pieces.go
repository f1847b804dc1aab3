package art

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Piece is a piece of a thread's work: an outermost call in which the thread did not wait for
// something to do, such as one message of its looper.
type Piece struct {
	Thread uint32
	Begin  time.Duration
	// Chain begins with the call and goes on with the longest call that each made.
	Chain []Step
}

// Took is how long the piece took.
func (p Piece) Took() time.Duration { return p.Chain[0].Took }

// Step is one call of a chain.
type Step struct {
	Method int // place in Trace.Methods
	Took   time.Duration
}

// maxChain bounds the calls of a chain.
const maxChain = 64

// idleMethods wait for something to do: the looper's queue, and the queues of pools and of ART's
// own threads. A main thread that waits in Object.wait or Thread.sleep is not idle.
var idleMethods = map[string]bool{
	"android.os.MessageQueue.nativePollOnce":                                 true,
	"java.util.concurrent.ThreadPoolExecutor.getTask":                        true,
	"java.util.concurrent.LinkedBlockingQueue.take":                          true,
	"java.util.concurrent.LinkedBlockingQueue.poll":                          true,
	"java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take": true,
	"java.lang.ref.ReferenceQueue.remove":                                    true,
	"java.lang.Daemons$HeapTaskDaemon.runInternal":                           true,
	"dalvik.system.VMRuntime.runHeapTasks":                                   true,
	"java.util.TimerThread.mainLoop":                                         true,
	"kotlinx.coroutines.scheduling.CoroutineScheduler$Worker.park":           true,
	"kotlinx.coroutines.scheduling.CoroutineScheduler$Worker.tryPark":        true,
}

// Idle reports whether a thread that is in the method has nothing to do.
func (m Method) Idle() bool { return idleMethods[m.String()] }

// platform are the beginnings of the names of classes that are neither an app's own nor a library's
// that it brings along.
var platform = []string{
	"android.", "androidx.", "com.android.", "dalvik.", "java.", "javax.", "jdk.", "kotlin.", "kotlinx.", "libcore.", "sun.", "org.apache.harmony.",
}

// OfApp reports whether a method is the app's, or a library's that it brings along.
func (m Method) OfApp() bool {
	return m.Class != "" && !slices.ContainsFunc(platform, func(p string) bool { return strings.HasPrefix(m.Class, p) })
}

// Pieces finds the longest pieces of work among calls: each takes part in its thread's stack, and
// the inner one has to come first, as Calls has them.
type Pieces struct {
	// Most is how many are kept.
	Most int
	// Idle reports whether a method waits for something to do.
	Idle    func(method int) bool
	longest []Piece
	threads map[uint32][]level
}

// level is what the calls of a depth came to, since the call that made them began.
type level struct {
	longest *link
	idle    bool    // one of them was idle
	pieces  []begun // those that were not, the longest first
}

// link is a call, and the longest call that it made.
type link struct {
	Step
	inner *link
}

type begun struct {
	*link
	begin time.Duration
}

// Add takes a call.
func (p *Pieces) Add(c Call) {
	if p.threads == nil {
		p.threads = map[uint32][]level{}
	}
	levels := p.threads[c.Thread]
	for len(levels) < c.Depth+2 {
		levels = append(levels, level{})
	}
	p.threads[c.Thread] = levels
	inner := levels[c.Depth+1]
	levels[c.Depth+1] = level{}
	l := &link{Step{c.Method, c.Took}, inner.longest}
	up := &levels[c.Depth]
	if up.longest == nil || c.Took > up.longest.Took {
		up.longest = l
	}
	if inner.idle || c.Method >= 0 && p.Idle(c.Method) {
		up.idle = true
		p.keep(c.Thread, inner.pieces)
		return
	}
	up.pieces = longestOf(append(up.pieces, begun{l, c.Begin}), p.Most, func(b begun) time.Duration { return b.Took })
}

// longestOf keeps the longest, the first of them first.
func longestOf[T any](list []T, most int, took func(T) time.Duration) []T {
	last := len(list) - 1
	for at := last; at > 0 && took(list[at]) > took(list[at-1]); at-- {
		list[at], list[at-1] = list[at-1], list[at]
	}
	return list[:min(len(list), most)]
}

// keep takes pieces that no longer one holds.
func (p *Pieces) keep(tid uint32, pieces []begun) {
	for _, b := range pieces {
		piece := Piece{Thread: tid, Begin: b.begin}
		for l := b.link; l != nil && len(piece.Chain) < maxChain; l = l.inner {
			piece.Chain = append(piece.Chain, l.Step)
		}
		p.longest = longestOf(append(p.longest, piece), p.Most, Piece.Took)
	}
}

// List is the longest pieces, when all calls were added.
func (p *Pieces) List() []Piece {
	for tid, levels := range p.threads {
		p.keep(tid, levels[0].pieces)
	}
	p.threads = nil
	slices.SortStableFunc(p.longest, func(a, b Piece) int {
		return cmp.Or(cmp.Compare(b.Took(), a.Took()), cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Thread, b.Thread))
	})
	return p.longest
}
