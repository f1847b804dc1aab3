package methodtrace

import (
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Enqueues is how long scheduling a task takes.
const Enqueues = 60 * time.Microsecond

func java(names ...string) (out []Named) {
	for _, name := range names {
		out = append(out, Named{name, simapp.Java})
	}
	return out
}

// Parts of names.
const (
	executor = "java.util.concurrent.ThreadPoolExecutor"
	queue    = "java.util.concurrent.LinkedBlockingQueue"
	serial   = "android.os.AsyncTask$SerialExecutor"

	coroutines = "kotlinx.coroutines.scheduling.CoroutineScheduler"
)

// Start is how a task comes to be executed.
type Start int

// The ways.
const (
	Queued Start = iota // it waits for a worker that is busy
	Wakes               // it wakes a worker that waits
	Grows               // it has a worker of its own, which is new
)

// Scheduling returns the calls that schedule a task, the outermost first: the stack in the app's
// file, and the methods of Android that DiagDroid hooks (FSE 2016, section 5.2) with those that they
// call.
func Scheduling(t *timeline.Task, how Start) (out []Named) {
	for i := len(t.What.Context) - 1; i >= 0; i-- {
		name, _, _ := strings.Cut(t.What.Context[i], "(")
		out = append(out, Named{name, simapp.Java})
	}
	switch kind := t.Unit.Kind; {
	case kind == simapp.IntentService:
		return append(out, java("android.app.ContextImpl.startService")...)
	case kind.Looper():
		out = append(out, java("android.os.Handler.post", "android.os.Handler.sendMessageDelayed", "android.os.Handler.sendMessageAtTime", "android.os.Handler.enqueueMessage", "android.os.MessageQueue.enqueueMessage")...)
		if how == Wakes {
			out = append(out, Named{"android.os.MessageQueue.nativeWake", simapp.Native})
		}
		return out
	case kind == simapp.ThreadPool:
		return append(out, execute(how)...)
	case kind == simapp.AsyncTask:
		out = append(out, java("android.os.AsyncTask.executeOnExecutor", serial+".execute")...)
		if how != Queued {
			out = append(append(out, java(serial+".scheduleNext")...), execute(how)...)
		}
		return out
	case kind == simapp.PlainThreads:
		return append(out, java("java.lang.Thread.start")...)
	}
	return append(out, dispatches(how)...)
}

// dispatches puts a coroutine into the queue of a dispatcher (kotlinx.coroutines,
// CoroutineScheduler.kt).
func dispatches(how Start) []Named {
	switch how {
	case Grows:
		return java(coroutines+".dispatch", coroutines+".signalCpuWork", coroutines+".tryCreateWorker", coroutines+".createNewWorker", "java.lang.Thread.start")
	case Wakes:
		return java(coroutines+".dispatch", coroutines+".signalCpuWork", coroutines+".tryUnpark", "java.util.concurrent.locks.LockSupport.unpark")
	}
	return java(coroutines + ".dispatch")
}

// execute puts a task into a pool.
func execute(how Start) []Named {
	switch how {
	case Grows:
		return java(executor+".execute", executor+".addWorker", "java.lang.Thread.start")
	case Wakes:
		return java(executor+".execute", queue+".offer", queue+".signalNotEmpty", "java.util.concurrent.locks.LockSupport.unpark")
	}
	return java(executor+".execute", queue+".offer")
}

// Runs returns the method of a task's own code.
func Runs(t *simapp.Task) Named {
	class := t.Class
	if class == "" {
		class = "com.example." + strings.ToUpper(t.Name[:1]) + strings.NewReplacer("-", "", "/", "", ":", "", "+", "").Replace(t.Name[1:])
	}
	return Named{class + ".run", simapp.Java}
}

// Begin adds what a worker of a unit is in all the time, from its beginning on.
func (t *Thread) Begin(c *Chart, kind simapp.UnitKind, from time.Duration) {
	switch {
	case kind == simapp.ThreadPool || kind == simapp.AsyncTask:
		t.Add(c, java("java.lang.Thread.run", executor+"$Worker.run", executor+".runWorker"), from, forever)
	case kind == simapp.Coroutines:
		t.Add(c, java(coroutines+"$Worker.run", coroutines+"$Worker.runWorker"), from, forever)
	case kind.Looper():
		t.Add(c, java("android.os.HandlerThread.run", "android.os.Looper.loop"), from, forever)
	}
}

// Execute adds what a worker of a unit does for a task, and returns when it is done. Then is how the
// task that waited for AsyncTask's order of execution starts, nil if none did.
func (t *Thread) Execute(c *Chart, task *timeline.Task, then *Start) (until time.Duration) {
	run, from, to := Runs(task.What), task.Started, task.Done
	const edge = 20 * time.Microsecond
	switch kind := task.Unit.Kind; {
	case kind.Looper():
		t.Add(c, []Named{dispatch, run}, from, to)
		return to
	case kind == simapp.PlainThreads:
		t.Add(c, append(java("java.lang.Thread.run"), run), from, to)
		return to
	case kind == simapp.ThreadPool:
		t.Add(c, java(executor+".beforeExecute"), from, from+edge)
		t.Add(c, []Named{run}, from+edge, to)
	case kind == simapp.AsyncTask:
		t.Add(c, java(executor+".beforeExecute"), from, from+edge)
		t.Add(c, append(java(serial+"$1.run"), run), from+edge, to)
		hands := java(serial + ".scheduleNext")
		if then != nil {
			hands = append(hands, execute(*then)...)
		}
		t.Add(c, hands, to-edge, to)
	default:
		run.Name = strings.TrimSuffix(run.Name, ".run") + ".invokeSuspend"
		t.Add(c, append(java(coroutines+"$Worker.executeTask", "kotlinx.coroutines.DispatchedTask.run"), run), from, to)
		return to
	}
	t.Add(c, java(executor+".afterExecute"), to, to+edge)
	return to + edge
}

// Waits adds that a worker waits for a task.
func (t *Thread) Waits(c *Chart, kind simapp.UnitKind, from, to time.Duration) {
	switch {
	case to <= from:
	case kind.Looper():
		t.awaitMessage(c, from, to)
	case kind == simapp.Coroutines:
		t.Add(c, java(coroutines+"$Worker.tryPark", coroutines+"$Worker.park", "java.util.concurrent.locks.LockSupport.parkNanos"), from, to)
	case kind == simapp.ThreadPool || kind == simapp.AsyncTask:
		t.Add(c, java(executor+".getTask", queue+".take", "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await"), from, to)
	}
}
