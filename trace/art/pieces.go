package art

import (
	"cmp"
	"container/heap"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// piece is a piece of a thread's work: an outermost call in which the thread did not wait for
// something to do, such as one message of its looper.
type piece struct {
	*link
	begin time.Duration
}

// link is a call, and the longest call that it made.
type link struct {
	method int // place in Trace.Methods
	took   time.Duration
	inner  *link
}

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

// pieces finds the longest pieces of work among the calls of a thread. The inner call has to come
// first, as Calls has them.
type pieces struct {
	most    int
	idle    func(method int) bool // waits for something to do
	longest []piece               // the longest first
	levels  []level
}

// level is what the calls of a depth came to, since the call that made them began.
type level struct {
	longest *link
	idle    bool    // one of them was idle
	pieces  []piece // those that were not, the longest first
}

// add takes a call.
func (p *pieces) add(c Call) {
	for len(p.levels) < c.Depth+2 {
		p.levels = append(p.levels, level{})
	}
	inner, up := p.levels[c.Depth+1], &p.levels[c.Depth]
	p.levels[c.Depth+1] = level{}
	l := &link{c.Method, c.Took, inner.longest}
	if up.longest == nil || c.Took > up.longest.took {
		up.longest = l
	}
	if inner.idle || p.idle(c.Method) {
		up.idle = true
		p.longest = p.insert(p.longest, inner.pieces...)
	} else {
		up.pieces = p.insert(up.pieces, piece{l, c.Begin})
	}
}

// insert adds pieces to a list, of which it keeps the longest.
func (p *pieces) insert(list []piece, more ...piece) []piece {
	for _, one := range more {
		at := len(list)
		for at > 0 && one.took > list[at-1].took {
			at--
		}
		list = slices.Insert(list, at, one)
		list = list[:min(len(list), p.most)]
	}
	return list
}

// list is the longest pieces, when all calls were added.
func (p *pieces) list() []piece {
	if len(p.levels) > 0 {
		p.longest = p.insert(p.longest, p.levels[0].pieces...)
	}
	p.levels = nil
	slices.SortStableFunc(p.longest, func(a, b piece) int {
		return cmp.Or(cmp.Compare(b.took, a.took), cmp.Compare(a.begin, b.begin))
	})
	return p.longest
}

// Chart is a piece of a thread's work, call by call.
type Chart struct {
	Calls []ChartedCall // by when they began, each after its caller
	Left  int           // how many more calls there were: those that took least
}

// ChartedCall is a call of a Chart.
type ChartedCall struct {
	Name       string
	Depth      int           // 0 of the outermost
	From, Took time.Duration // From is from the beginning of the piece
}

// MaxCharted limits the calls of a Chart.
const MaxCharted = 600

// Chart reads a trace again for a piece of work of a thread: a chain of its record, which has the
// time to the microsecond. It has no calls where several threads have that name.
func (t *Trace) Chart(src io.ReadSeeker, of run.CallChain) (Chart, error) {
	var threads []uint32
	for tid := range t.Threads {
		if t.Thread(tid) == of.Thread {
			threads = append(threads, tid)
		}
	}
	if len(threads) != 1 || len(of.MS) == 0 {
		return Chart{}, nil
	}
	const rounded = time.Microsecond
	from := time.Duration(of.AtMS*1e6) - t.Begin
	to := from + time.Duration(of.MS[0]*1e6)
	var kept charted
	left := 0
	calls := Calls{Each: func(c Call) {
		if c.Begin < from-rounded || c.Begin+c.Took > to+2*rounded {
			return
		}
		heap.Push(&kept, c)
		if len(kept) > MaxCharted {
			heap.Pop(&kept)
			left++
		}
	}}
	err := t.Again(src, func(e Event) {
		if e.Thread == threads[0] {
			calls.Add(e)
		}
	})
	calls.Finish()
	return kept.chart(t, left), err
}

// charted is a heap of calls, the one that took least first, and of those that took as long the
// innermost.
type charted []Call

func (c charted) Len() int      { return len(c) }
func (c charted) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c charted) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(c[i].Took, c[j].Took), cmp.Compare(c[j].Depth, c[i].Depth)) < 0
}
func (c *charted) Push(x any) { *c = append(*c, x.(Call)) }
func (c *charted) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// chart returns the calls of the outermost that took longest, which is the piece: times of a record are
// rounded, and so a short call before it may be among the others.
func (c charted) chart(t *Trace, left int) Chart {
	out := Chart{Left: left}
	if len(c) == 0 {
		return out
	}
	slices.SortFunc(c, func(a, b Call) int { return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Depth, b.Depth)) })
	outer := slices.MaxFunc(c, func(a, b Call) int { return cmp.Or(cmp.Compare(a.Took, b.Took), cmp.Compare(b.Depth, a.Depth)) })
	for _, one := range c {
		if one.Begin < outer.Begin || one.Begin+one.Took > outer.Begin+outer.Took || one.Depth < outer.Depth {
			continue
		}
		out.Calls = append(out.Calls, ChartedCall{
			Name: prose.Clip(t.Method(one.Method).String(), maxText), Depth: one.Depth - outer.Depth, From: one.Begin - outer.Begin, Took: one.Took,
		})
	}
	return out
}
