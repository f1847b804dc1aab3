package arttasks_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/apkgate/apkgate/trace/art/arttest"
)

// calls writes a method trace as AOSP's code makes it: the order of calls is that of Handler.java,
// MessageQueue.java, AsyncTask.java, ThreadPoolExecutor.java and Thread.java of Android 14. Times
// are in ms.
type calls struct {
	trace arttest.Trace
	at    map[string]int // methods by their names
	open  map[uint32][]int
}

func newCalls(threads map[uint32]string) *calls {
	c := &calls{trace: arttest.Trace{Threads: threads, Begin: 5_000_000_000}, at: map[string]int{}, open: map[uint32][]int{}}
	for tid := range threads {
		c.trace.Order = append(c.trace.Order, tid)
	}
	slices.Sort(c.trace.Order)
	return c
}

// in enters methods, the outermost first: com.example.Store.sync.
func (c *calls) in(tid uint32, at float64, methods ...string) {
	for _, name := range methods {
		m, ok := c.at[name]
		if !ok {
			m = len(c.trace.Methods)
			c.at[name] = m
			dot := strings.LastIndexByte(name, '.')
			class := name[:dot]
			file, _, _ := strings.Cut(class[strings.LastIndexByte(class, '.')+1:], "$")
			c.trace.Methods = append(c.trace.Methods, fmt.Sprintf("%s\t%s\t()V\t%s.java\n", class, name[dot+1:], file))
		}
		c.open[tid] = append(c.open[tid], m)
		c.trace.Events = append(c.trace.Events, arttest.Event{Thread: tid, Method: m, Wall: uint64(at * 1e6)})
	}
}

// out leaves the n innermost methods.
func (c *calls) out(tid uint32, at float64, n int) {
	for ; n > 0; n-- {
		open := c.open[tid]
		c.trace.Events = append(c.trace.Events, arttest.Event{Thread: tid, Method: open[len(open)-1], Action: 1, Wall: uint64(at * 1e6)})
		c.open[tid] = open[:len(open)-1]
	}
}

// call enters and leaves methods at once, each in the one before.
func (c *calls) call(tid uint32, at float64, methods ...string) {
	c.in(tid, at, methods...)
	c.out(tid, at, len(methods))
}

// left leaves a method that was entered before the trace began.
func (c *calls) left(tid uint32, at float64, method string) {
	c.in(tid, at, method)
	last := &c.trace.Events[len(c.trace.Events)-1]
	last.Action = 1
	c.open[tid] = nil
}

// send sends a message by one of Handler's methods, from within the app's.
func (c *calls) send(tid uint32, at float64, wake bool, by string, app ...string) {
	chain := []string{"android.os.Handler." + by}
	for _, next := range []string{"sendMessageDelayed", "sendMessageAtTime", "enqueueMessage"} {
		if next != by {
			chain = append(chain, "android.os.Handler."+next)
		}
	}
	chain = append(chain, "android.os.MessageQueue.enqueueMessage")
	if wake {
		chain = append(chain, "android.os.MessageQueue.nativeWake")
	}
	c.call(tid, at, slices.Concat(app, chain)...)
}

const (
	next = "android.os.MessageQueue.next"
	poll = "android.os.MessageQueue.nativePollOnce"
)

// idle lets a looper find its queue empty; resume is the end of that.
func (c *calls) idle(tid uint32, at float64) {
	c.in(tid, at, next)
	c.call(tid, at, poll)
	c.in(tid, at, poll)
}

func (c *calls) resume(tid uint32, at float64) { c.out(tid, at, 2) }

// ready lets a looper find a message.
func (c *calls) ready(tid uint32, at float64) {
	c.in(tid, at, next)
	c.call(tid, at, poll)
	c.out(tid, at, 1)
}

// handle handles a message from a time to another, in a class of the app.
func (c *calls) handle(tid uint32, from, to float64, class string) {
	c.in(tid, from, "android.os.Handler.dispatchMessage", "android.os.Handler.handleCallback", class+".run")
	c.out(tid, to, 3)
}

const (
	executor = "java.util.concurrent.ThreadPoolExecutor"
	await    = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await"
	queue    = "java.util.concurrent.LinkedBlockingQueue"
)

// execute puts a Runnable into a pool: grow starts a worker for it, wake wakes one.
func (c *calls) execute(tid uint32, at float64, how string, app ...string) {
	chain := slices.Concat(app, []string{executor + ".execute"})
	switch how {
	case "grow":
		chain = append(chain, executor+".addWorker", "java.lang.Thread.start", "java.lang.Thread.nativeCreate")
	case "wake":
		chain = append(chain, queue+".offer", queue+".signalNotEmpty", "java.util.concurrent.locks.LockSupport.unpark")
	default:
		chain = append(chain, queue+".offer")
	}
	c.call(tid, at, chain...)
}

// worker begins the thread of a worker.
func (c *calls) worker(tid uint32, at float64) {
	c.in(tid, at, "java.lang.Thread.run", executor+"$Worker.run", executor+".runWorker")
}

// work runs a task of a worker, whose methods are given from run on.
func (c *calls) work(tid uint32, from, to float64, methods ...string) {
	c.call(tid, from, executor+".beforeExecute")
	c.in(tid, from, methods...)
	c.out(tid, to, len(methods))
	c.call(tid, to, executor+".afterExecute")
}

// take lets a worker take a task that is there, rest wait for one; wakeUp ends that.
func (c *calls) take(tid uint32, at float64) { c.call(tid, at, executor+".getTask", queue+".take") }

func (c *calls) rest(tid uint32, at float64) {
	c.in(tid, at, executor+".getTask", queue+".take", await)
}

func (c *calls) wakeUp(tid uint32, at float64) { c.out(tid, at, 3) }

// file is the trace, its events in the order of time as ART's buffer has them.
func (c *calls) file() []byte {
	t := c.trace
	t.Events = slices.Clone(t.Events)
	sort.SliceStable(t.Events, func(a, b int) bool { return t.Events[a].Wall < t.Events[b].Wall })
	return t.Text(3, "dual")
}
