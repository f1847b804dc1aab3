package arttasks

import (
	"strings"

	"github.com/apkgate/apkgate/trace/art"
)

// role is what a method does with tasks.
type role uint8

const (
	none     role = iota
	send          // puts a message into a queue
	wake          // wakes a looper
	next          // takes a message, or waits for one
	poll          // waits within next
	dispatch      // handles a message
	resume        // runs a coroutine until it is suspended
	loop          // a looper's thread is in it
	pool          // ThreadPoolExecutor.execute
	toExecutor
	toSerial      // AsyncTask's serial executor takes a task
	serialNext    // hands the next one to the pool
	runWorker     // a pool's worker is in it
	getTask       // takes a task, or waits for one
	await         // waits within getTask
	unpark        // wakes a worker
	beforeExecute // a task begins
	afterExecute
	startsThread
	startsService
	serviceArgs // the main thread passes a started service its intent
	construct
	zygote // entered by a process once, before it may be traced
	roles  // how many there are
)

// plain are methods by their names.
var plain = map[string]role{
	"android.os.Handler.sendMessageAtTime":                  send,
	"android.os.Handler.sendMessageAtFrontOfQueue":          send,
	"android.os.Handler.enqueueMessage":                     send,
	"android.os.MessageQueue.enqueueMessage":                send,
	"android.os.MessageQueue.nativeWake":                    wake,
	"android.os.MessageQueue.next":                          next,
	"android.os.MessageQueue.nativePollOnce":                poll,
	"android.os.Handler.dispatchMessage":                    dispatch,
	"android.os.Looper.loop":                                loop,
	"android.os.Looper.loopOnce":                            loop,
	"java.util.concurrent.ThreadPoolExecutor.execute":       pool,
	"android.os.AsyncTask.executeOnExecutor":                toExecutor,
	"android.os.AsyncTask$SerialExecutor.execute":           toSerial,
	"android.os.AsyncTask$SerialExecutor.scheduleNext":      serialNext,
	"java.util.concurrent.ThreadPoolExecutor.runWorker":     runWorker,
	"java.util.concurrent.ThreadPoolExecutor.getTask":       getTask,
	"java.util.concurrent.SynchronousQueue.take":            await,
	"java.util.concurrent.SynchronousQueue.poll":            await,
	"java.util.concurrent.locks.LockSupport.unpark":         unpark,
	"java.util.concurrent.ThreadPoolExecutor.beforeExecute": beforeExecute,
	"java.util.concurrent.ThreadPoolExecutor.afterExecute":  afterExecute,
	"java.lang.Thread.start":                                startsThread,
	coroutines + ".dispatch":                                pool,
	coroutines + "$Worker.runWorker":                        runWorker,
	coroutines + "$Worker.tryPark":                          getTask,
	coroutines + "$Worker.park":                             await,
	"kotlinx.coroutines.DispatchedTask.run":                 resume,
	"android.app.ContextImpl.startService":                  startsService,
	"android.app.ContextImpl.startForegroundService":        startsService,
	"android.app.ActivityThread.handleServiceArgs":          serviceArgs,
	"com.android.internal.os.ZygoteInit.main":               zygote,
}

// coroutines has the threads of kotlinx.coroutines' dispatchers.
const coroutines = "kotlinx.coroutines.scheduling.CoroutineScheduler"

const condition = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"

func roleOf(m art.Method) role {
	switch {
	case m.Name == "<init>":
		return construct
	case m.Class == condition && strings.HasPrefix(m.Name, "await"):
		return await
	}
	return plain[m.String()]
}

// now are the methods of Handler that send a message without a delay. The others of its methods
// that send take a delay or a time, which a trace does not have.
var now = map[string]bool{
	"post": true, "sendMessage": true, "sendEmptyMessage": true, "enqueueMessage": true, "executeOrSendMessage": true,
	"sendMessageAtFrontOfQueue": true, "postAtFrontOfQueue": true,
}

// outer is the class that a class is written in: Store of Store$1 and of
// Store$$ExternalSyntheticLambda0.
func outer(class string) string {
	name, _, _ := strings.Cut(class, "$")
	return name
}
