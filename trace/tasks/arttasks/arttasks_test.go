package arttasks_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/art/arttest"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/tasks"
	"github.com/apkgate/apkgate/trace/tasks/arttasks"
)

func read(t *testing.T, file []byte) tasks.List {
	t.Helper()
	list, err := arttasks.Read(bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// lines are the tasks of a list: unit, class, where it was scheduled and by whom, and the times in
// ms since the trace began.
func lines(list tasks.List, frames int) (out []string) {
	ms := func(d time.Duration) string {
		if d == tasks.Unknown {
			return "?"
		}
		return fmt.Sprint((d - 5*time.Second).Milliseconds())
	}
	for _, t := range list.Tasks {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s: %s %s %s %s by %s from %s", list.Units[t.Unit].Name, t.Name, ms(t.Scheduled), ms(t.Started), ms(t.Done), t.Sender, strings.Join(t.Context[:min(frames, len(t.Context))], " < "))))
	}
	return out
}

func warnings(list tasks.List) (out []string) {
	for _, w := range list.Warnings {
		out = append(out, w.Text)
	}
	return out
}

const (
	lists   = "de.jdsoft.law.data.LawSectionList"
	updater = "de.jdsoft.law.data.UpdateLawList"
	create  = "de.jdsoft.law.LawListFragment.onCreate"
)

// openLaw is the paper's case 1 (Figure 5): two AsyncTasks, of which the second waits behind the
// first. The worker of AsyncTask's pool runs SerialExecutor's Runnable, which hands the next one
// over.
func openLaw() *calls {
	c := newCalls(map[uint32]string{7: "main", 8: "AsyncTask #1"})
	c.left(7, 1, poll)
	c.in(7, 10, create)
	c.call(7, 10, lists+".<init>")
	serial := []string{"android.os.AsyncTask.execute", "android.os.AsyncTask.executeOnExecutor", "android.os.AsyncTask$SerialExecutor.execute"}
	c.call(7, 11, append(serial[:3:3], "android.os.AsyncTask$SerialExecutor.scheduleNext", executor+".execute", executor+".addWorker", "java.lang.Thread.start")...)
	c.call(7, 20, updater+".<init>")
	c.call(7, 21, serial...)
	c.out(7, 30, 1)
	c.worker(8, 12)
	work := []string{"android.os.AsyncTask$SerialExecutor$1.run", "java.util.concurrent.FutureTask.run", "android.os.AsyncTask$3.call"}
	c.call(8, 13, executor+".beforeExecute")
	c.in(8, 13, append(work, lists+".doInBackground")...)
	c.out(8, 1679, 3)
	c.call(8, 1679, "android.os.AsyncTask$SerialExecutor.scheduleNext", executor+".execute", queue+".offer")
	c.out(8, 1680, 1)
	c.call(8, 1680, executor+".afterExecute")
	c.take(8, 1681)
	c.work(8, 1682, 1900, append(work, updater+".doInBackground")...)
	c.rest(8, 1901)
	return c
}

func TestReadOfAsyncTasks(t *testing.T) {
	t.Parallel()
	list := read(t, openLaw().file())
	want := []string{
		"AsyncTask.SERIAL_EXECUTOR: " + lists + " 11 13 1680 by main from android.os.AsyncTask.executeOnExecutor(AsyncTask.java) < android.os.AsyncTask.execute(AsyncTask.java) < " + create + "(LawListFragment.java)",
		"AsyncTask.SERIAL_EXECUTOR: " + updater + " 21 1682 1900 by main from android.os.AsyncTask.executeOnExecutor(AsyncTask.java) < android.os.AsyncTask.execute(AsyncTask.java) < " + create + "(LawListFragment.java)",
	}
	if diff := cmp.Diff(want, lines(list, 9)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]tasks.Unit{{Name: "AsyncTask.SERIAL_EXECUTOR", Kind: run.AsyncTask, Capacity: 1}}, list.Units[len(list.Units)-1:]); diff != "" {
		t.Errorf("its unit (-want +got):\n%s", diff)
	}
	if list.Tells != (tasks.Tells{Contexts: true, Capacity: true}) || len(list.Warnings) > 0 {
		t.Errorf("tells %+v, warnings %q", list.Tells, warnings(list))
	}
}

// Two loopers and the main thread: a message belongs to the one that it wakes, or, while one alone
// is busy, to that.
func TestReadOfMessages(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "covers", 9: "disk"})
	for _, tid := range []uint32{8, 9} {
		c.idle(tid, 1)
	}
	c.left(7, 5, poll)
	c.in(7, 6, "android.os.Handler.dispatchMessage", "com.example.Main.onClick")
	c.send(7, 10, true, "post", "com.example.Covers.load")
	c.resume(8, 11)
	c.handle(8, 12, 40, "com.example.Covers$1")
	c.send(7, 20, false, "sendMessage", "com.example.Covers.load") // only covers is busy beside main, whose queue it is not by the place that schedules
	c.send(7, 22, true, "post", "com.example.Disk.flush")
	c.resume(9, 23)
	c.handle(9, 24, 90, "com.example.Disk$$ExternalSyntheticLambda0")
	c.send(7, 25, false, "post", "com.example.Disk.flush")
	c.out(7, 30, 2)
	c.idle(7, 30)
	c.ready(8, 41)
	c.handle(8, 42, 50, "com.example.Covers$1")
	c.idle(8, 51)
	c.ready(9, 91)
	c.handle(9, 92, 95, "com.example.Disk$$ExternalSyntheticLambda0")
	c.idle(9, 96)
	list := read(t, c.file())
	post, send := "android.os.Handler.sendMessageAtTime(Handler.java) < android.os.Handler.sendMessageDelayed(Handler.java) < android.os.Handler.post(Handler.java) < ", "android.os.Handler.sendMessageAtTime(Handler.java) < android.os.Handler.sendMessageDelayed(Handler.java) < android.os.Handler.sendMessage(Handler.java) < "
	want := []string{
		"main: com.example.Main ? 6 30 by  from",
		"covers: com.example.Covers$1 10 12 40 by main from " + post + "com.example.Covers.load(Covers.java)",
		"covers: com.example.Covers$1 20 42 50 by main from " + send + "com.example.Covers.load(Covers.java)",
		"disk: com.example.Disk$$ExternalSyntheticLambda0 22 24 90 by main from " + post + "com.example.Disk.flush(Disk.java)",
		"disk: com.example.Disk$$ExternalSyntheticLambda0 25 92 95 by main from " + post + "com.example.Disk.flush(Disk.java)",
	}
	if diff := cmp.Diff(want, lines(list, 4)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	if len(list.Units) != 3 || list.Units[0].Kind != run.MainThread || list.Units[1] != (tasks.Unit{Name: "covers", Kind: run.HandlerThread, Capacity: 1}) {
		t.Errorf("units are %+v", list.Units)
	}
}

// A delay is not in the trace: the task has no time of its scheduling, since that would count as
// queueing, and no other message takes its place.
func TestReadOfDelayedMessages(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 9: "Binder:7_1"})
	c.left(7, 5, poll)
	c.in(7, 6, "android.os.Handler.dispatchMessage", "com.example.Main.onClick")
	c.send(7, 10, false, "postDelayed", "com.example.Main.blink")
	c.out(7, 20, 2)
	c.idle(7, 20)
	c.send(9, 100, true, "post", "com.example.Main.refresh")
	c.resume(7, 101)
	c.handle(7, 102, 110, "com.example.Main$refresh")
	c.idle(7, 111)
	c.resume(7, 510) // after 500 ms
	c.handle(7, 511, 520, "com.example.Main$blink")
	c.idle(7, 521)
	list := read(t, c.file())
	want := []string{
		"main: com.example.Main ? 6 20 by  from",
		"main: com.example.Main$refresh 100 102 110 by Binder:7_1 from",
		"main: com.example.Main$blink ? 511 520 by  from",
	}
	if diff := cmp.Diff(want, lines(list, 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	if got := strings.Join(warnings(list), "\n"); !strings.Contains(got, "1 message was sent with a delay") {
		t.Errorf("warnings are %s", got)
	}
}

// What was in a queue before the trace began starts first, and gets none of the later schedulings.
func TestReadOfQueueThatWasNotEmpty(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "disk"})
	c.in(7, 1, "com.example.Main.onClick")
	c.send(7, 10, false, "post", "com.example.Disk.flush")
	c.out(7, 11, 1)
	c.handle(8, 5, 50, "com.example.Disk$old")
	c.ready(8, 51)
	c.handle(8, 52, 60, "com.example.Disk$older")
	c.ready(8, 61)
	c.handle(8, 62, 70, "com.example.Disk$new")
	c.idle(8, 71)
	want := []string{
		"disk: com.example.Disk$old ? 5 50 by  from",
		"disk: com.example.Disk$new 10 62 70 by main from",
		"disk: com.example.Disk$older ? 52 60 by  from",
	}
	if diff := cmp.Diff(want, lines(read(t, c.file()), 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// A message was removed: those whose class tells are matched, the others are not guessed.
func TestReadOfRemovedMessage(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "disk"})
	c.idle(8, 1)
	c.in(7, 1, "com.example.Main.onClick")
	c.send(7, 10, true, "post", "com.example.Disk.flush")
	c.resume(8, 11)
	c.handle(8, 12, 50, "com.example.Disk$1")
	c.send(7, 13, false, "post", "com.example.Gone.load")
	c.send(7, 14, false, "post", "com.example.Thumbs.load")
	c.ready(8, 51)
	c.handle(8, 52, 60, "com.example.Thumbs$1")
	c.idle(8, 61)
	list := read(t, c.file())
	want := []string{"disk: com.example.Disk$1 10 12 50 by main from", "disk: com.example.Thumbs$1 14 52 60 by main from"}
	if diff := cmp.Diff(want, lines(list, 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	if got := strings.Join(warnings(list), "\n"); !strings.Contains(got, "1 scheduling is left out: its queue has another number of starts") {
		t.Errorf("warnings are %s", got)
	}
}

// Pools are told apart by their workers' names: by the worker that is started or woken for a task,
// or by who is busy. The one of threads without a name can't be.
func TestReadOfPools(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "pool-1-thread-1", 9: "pool-1-thread-2", 10: "pool-2-thread-1", 11: "Thread-4"})
	c.in(7, 1, "com.example.Main.onClick")
	c.execute(7, 10, "grow", "com.example.Icons.load")
	c.worker(8, 11)
	c.work(8, 12, 30, "com.example.Icons$1.run")
	c.execute(7, 13, "grow", "com.example.Icons.load")
	c.worker(9, 14)
	c.work(9, 15, 100, "com.example.Icons$1.run")
	c.execute(7, 16, "", "com.example.Icons.load") // both are busy
	c.take(8, 31)
	c.work(8, 32, 50, "com.example.Icons$1.run")
	c.rest(8, 51)
	c.execute(7, 60, "grow", "com.example.Sync.start")
	c.worker(10, 61)
	c.work(10, 62, 70, "com.example.Sync$1.run")
	c.rest(10, 71)
	c.execute(7, 80, "wake", "com.example.Sync.again")
	c.wakeUp(10, 81)
	c.work(10, 82, 90, "java.util.concurrent.FutureTask.run", "com.example.Sync$2.call")
	c.rest(10, 91)
	c.rest(9, 101)
	c.execute(7, 110, "grow", "com.example.Nameless.go")
	c.worker(11, 111)
	c.work(11, 112, 113, "com.example.Nameless$1.run")
	list := read(t, c.file())
	first := "java.util.concurrent.ThreadPoolExecutor.execute(ThreadPoolExecutor.java) < com.example."
	want := []string{
		"pool-1-thread: com.example.Icons$1 10 12 30 by main from " + first + "Icons.load(Icons.java)",
		"pool-1-thread: com.example.Icons$1 13 15 100 by main from " + first + "Icons.load(Icons.java)",
		"pool-1-thread: com.example.Icons$1 16 32 50 by main from " + first + "Icons.load(Icons.java)",
		"pool-2-thread: com.example.Sync$1 60 62 70 by main from " + first + "Sync.start(Sync.java)",
		"pool-2-thread: com.example.Sync$2 80 82 90 by main from " + first + "Sync.again(Sync.java)",
	}
	if diff := cmp.Diff(want, lines(list, 2)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	for _, u := range list.Units {
		if u.Capacity != 0 && u.Kind == run.ThreadPool {
			t.Errorf("%+v has a capacity, which no trace tells", u)
		}
	}
	if got := strings.Join(warnings(list), "\n"); !strings.Contains(got, "1 task ran in a pool whose threads have no names") {
		t.Errorf("warnings are %s", got)
	}
}

// A thread of its own is a task; that of a looper or a pool is none.
func TestReadOfThreads(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "Thread-2", 9: "worker"})
	c.in(7, 1, "com.example.Main.onClick")
	c.call(7, 10, "com.example.Download.<init>")
	c.call(7, 11, "java.lang.Thread.start", "java.lang.Thread.nativeCreate")
	c.in(8, 15, "java.lang.Thread.run", "com.example.Download.run")
	c.out(8, 95, 2)
	c.call(7, 20, "android.os.HandlerThread.start", "java.lang.Thread.start")
	c.in(9, 21, "android.os.HandlerThread.run", "android.os.Looper.loop", "android.os.Looper.loopOnce")
	c.idle(9, 22)
	list := read(t, c.file())
	want := []string{"Thread: com.example.Download 11 15 95 by main from java.lang.Thread.start(Thread.java) < com.example.Main.onClick(Main.java)"}
	if diff := cmp.Diff(want, lines(list, 9)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// What an IntentService does was scheduled where the service was started.
func TestReadOfIntentServices(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "IntentService[Upload]"})
	c.idle(8, 1)
	c.left(7, 5, poll)
	c.in(7, 6, "android.os.Handler.dispatchMessage", "com.example.Main.onClick")
	c.call(7, 10, "android.content.ContextWrapper.startService", "android.app.ContextImpl.startService", "android.app.ContextImpl.startServiceCommon")
	c.out(7, 12, 2)
	c.idle(7, 12)
	c.resume(7, 30)
	c.in(7, 31, "android.os.Handler.dispatchMessage", "android.app.ActivityThread.handleServiceArgs")
	c.send(7, 32, true, "sendMessage", "android.app.IntentService.onStart")
	c.out(7, 33, 2)
	c.resume(8, 33)
	c.in(8, 34, "android.os.Handler.dispatchMessage", "android.app.IntentService$ServiceHandler.handleMessage", "com.example.Upload.onHandleIntent")
	c.out(8, 80, 3)
	c.idle(8, 81)
	list := read(t, c.file())
	want := "IntentService[Upload]: com.example.Upload 10 34 80 by main from android.app.ContextImpl.startService(ContextImpl.java) < android.content.ContextWrapper.startService(ContextWrapper.java) < com.example.Main.onClick(Main.java) < android.os.Handler.dispatchMessage(Handler.java)"
	got := lines(list, 9)
	if !strings.Contains(strings.Join(got, "\n"), want) || list.Units[1].Kind != run.IntentService {
		t.Errorf("%+v, tasks are\n%s\nwant\n%s", list.Units, strings.Join(got, "\n"), want)
	}
}

// Without the main thread's part, the start of a service is the scheduling of the only IntentService.
func TestReadOfIntentServiceAlone(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "IntentService[Upload]", 9: "disk"})
	c.idle(8, 1)
	c.idle(9, 1)
	c.in(7, 6, "com.example.Main.onClick")
	c.call(7, 10, "android.app.ContextImpl.startService")
	c.resume(8, 33)
	c.in(8, 34, "android.os.Handler.dispatchMessage", "com.example.Upload.onHandleIntent")
	c.out(8, 80, 2)
	c.idle(8, 81)
	c.call(7, 90, "android.app.ContextImpl.startService")
	c.send(7, 91, true, "post", "com.example.Main.onClick") // to disk, which it wakes
	c.resume(9, 92)
	c.handle(9, 93, 95, "com.example.Flush")
	c.idle(9, 96)
	want := []string{"IntentService[Upload]: com.example.Upload 10 34 80 by main from"}
	list := read(t, c.file())
	if diff := cmp.Diff(want, lines(list, 0)[:1]); diff != "" || len(list.Tasks) != 3 {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// Names are the source's if there is a mapping.
func TestReadWithMapping(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "pool-1-thread-1"})
	c.execute(7, 10, "grow", "a.b.c")
	c.worker(8, 11)
	c.work(8, 12, 30, "a.d.run")
	names, err := r8map.Read(strings.NewReader("com.example.Icons -> a.b:\n    void load() -> c\ncom.example.Icons$1 -> a.d:\n    void run() -> run\n"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := arttasks.Read(bytes.NewReader(c.file()), names)
	if err != nil || len(list.Tasks) != 1 || list.Tasks[0].Name != "com.example.Icons$1" || !strings.HasPrefix(list.Tasks[0].Context[1], "com.example.Icons.load") {
		t.Errorf("%+v, %v", list.Tasks, err)
	}
}

// Real traces of the corpus are sampled: they begin with the frames that each thread was in, and
// lack what happens between two samples. They tell no tasks, and say so.
func TestReadRealSampledTraces(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"firefox_art-trace-regular.trace.gz", "firefox_art-trace-streaming.trace.gz", "yamp_legacy.trace"} {
		content, err := os.ReadFile(corpustest.Path(t, "arttrace", name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(content))
			if err == nil {
				content, err = io.ReadAll(z)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		list := read(t, content)
		if got := strings.Join(warnings(list), "\n"); len(list.Tasks) > 0 || !strings.Contains(got, "the trace is sampled") {
			t.Errorf("%s: %d tasks, %s", name, len(list.Tasks), got)
		}
	}
}

// Without wall time, what happened first on another thread is unknown.
func TestReadOfOtherClocks(t *testing.T) {
	t.Parallel()
	c := openLaw()
	for name, file := range map[string][]byte{"thread-cpu": c.trace.Text(3, "thread-cpu"), "none": c.trace.AllCalls(0), "no trace": []byte("Flags,IntendedVsync\n")} {
		list := read(t, file)
		if len(list.Tasks) > 0 || len(list.Warnings) == 0 {
			t.Errorf("%s: %d tasks, warnings %q", name, len(list.Tasks), warnings(list))
		}
	}
}

// A trace cut anywhere tells what it has, and never more.
func TestReadCutAnywhere(t *testing.T) {
	t.Parallel()
	file := openLaw().file()
	for n := 0; n < len(file); n += 3 {
		if list := read(t, file[:n]); len(list.Tasks) > 2 {
			t.Fatalf("%d of %d bytes: %d tasks", n, len(file), len(list.Tasks))
		}
	}
}

// The limits of a list are kept with many tasks in one queue, and time stays linear.
func TestReadManyTasks(t *testing.T) {
	t.Parallel()
	const many = 20_000
	c := newCalls(map[uint32]string{7: "main", 8: "disk"})
	c.in(7, 0, "com.example.Main.onClick")
	for i := range many {
		c.send(7, 1+float64(i)/100, false, "post", "com.example.Disk.flush")
		c.handle(8, 500+float64(i), 500.5+float64(i), "com.example.Disk$1")
	}
	list := read(t, c.file())
	queued, _ := list.Tasks[many-1].Queued()
	// The last one is sent after 1 + 199.99 ms, and starts after 500 + 19,999 ms.
	if want := 20_298_010 * time.Microsecond; len(list.Tasks) != many || queued != want {
		t.Errorf("%d tasks, the last one waited for %v, want %v", len(list.Tasks), queued, want)
	}
}

// hostile is a trace of 1.5 million events that schedule and start tasks in any order, by stacks that
// are all different.
func hostile() []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	c := newCalls(map[uint32]string{})
	for i := range 250_000 {
		c.trace.Methods = append(c.trace.Methods, fmt.Sprintf("com.example.some.long.name.of.a.library.C%d\tmethod%d\t()V\tSomeFile%d.java\n", i, i, i))
	}
	c.call(1, 0, "android.os.Handler.enqueueMessage", "android.os.MessageQueue.nativeWake", "android.os.Handler.dispatchMessage", next, poll, executor+".execute", executor+".beforeExecute", "java.lang.Thread.start")
	methods := len(c.trace.Methods)
	for range 1_500_000 {
		e := arttest.Event{Thread: uint32(1 + rnd.IntN(5_000)), Method: rnd.IntN(methods), Wall: uint64(rnd.IntN(1_000_000_000))}
		if rnd.IntN(3) == 0 {
			e.Method = methods - 1 - rnd.IntN(8)
		}
		if rnd.IntN(4) == 0 {
			e.Action = 1
		}
		c.trace.Events = append(c.trace.Events, e)
	}
	return c.trace.Text(3, "dual")
}

// A hostile trace is read within the memory of all readers, 256 MiB: what Go obtained from the system
// in a process of its own.
func TestReadTakesLittleMemory(t *testing.T) {
	if os.Getenv("APKGATE_FULL") == "" {
		t.Skip("takes 10 s: APKGATE_FULL=1 runs it")
	}
	const variable = "APKGATE_TEST_TRACE"
	if path := os.Getenv(variable); path != "" {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		list, err := arttasks.Read(f, nil)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if mib := m.Sys >> 20; err != nil || len(list.Tasks) == 0 || mib > 256 {
			t.Errorf("%d tasks, %v, %d MiB", len(list.Tasks), err, mib)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "hostile.trace")
	if err := os.WriteFile(path, hostile(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestReadTakesLittleMemory$")
	cmd.Env = append(os.Environ(), variable+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func FuzzRead(f *testing.F) {
	c := openLaw()
	f.Add(c.file())
	f.Add(c.trace.Streaming(3, "dual"))
	f.Add(c.trace.V2(5, "dual", true))
	f.Fuzz(func(t *testing.T, file []byte) {
		list, err := arttasks.Read(bytes.NewReader(file), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list.Tasks {
			if one.Unit < 0 || one.Unit >= len(list.Units) || one.Scheduled == tasks.Unknown && one.Started == tasks.Unknown {
				t.Fatalf("%+v of %d units", one, len(list.Units))
			}
		}
	})
}

// A thread that is woken is not the one that wakes it, though that ended its own wait at that time.
func TestReadOfMessageFromWokenThread(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "disk"})
	c.idle(7, 1)
	c.idle(8, 1)
	c.resume(7, 10)
	c.in(7, 10, "android.os.Handler.dispatchMessage", "com.example.Main.onClick")
	c.send(7, 10, true, "post", "com.example.Disk.flush")
	c.out(7, 20, 2)
	c.idle(7, 20)
	c.resume(8, 11)
	c.handle(8, 12, 30, "com.example.Disk$1")
	c.idle(8, 31)
	want := []string{"main: com.example.Main ? 10 20 by  from", "disk: com.example.Disk$1 10 12 30 by main from"}
	if diff := cmp.Diff(want, lines(read(t, c.file()), 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// Nothing wakes a looper that has just begun. What is sent to it shows by what it begins: soon, where
// it is idle, and before its queue is empty, where it is busy.
func TestReadOfNewLoopers(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "stats", 9: "receipts"})
	c.left(7, 5, poll)
	c.in(7, 6, "android.os.Handler.dispatchMessage", "com.example.Main.onClick")
	for at, class := range []string{10: "com.example.Stats", 20: "com.example.Stats", 120: "com.example.Receipts"} {
		if class != "" {
			c.send(7, float64(at), false, "post", class+".send")
		}
	}
	c.out(7, 130, 2)
	c.idle(7, 130)
	c.in(8, 11, "android.os.HandlerThread.run", "android.os.Looper.loop")
	c.handle(8, 12, 100, "com.example.Flush")
	c.ready(8, 101)
	c.handle(8, 102, 110, "com.example.More")
	c.idle(8, 111)
	c.in(9, 121, "android.os.HandlerThread.run", "android.os.Looper.loop")
	c.handle(9, 122, 140, "com.example.Receipt")
	c.idle(9, 141)
	want := []string{
		"main: com.example.Main ? 6 130 by  from",
		"stats: com.example.Flush 10 12 100 by main from",
		"stats: com.example.More 20 102 110 by main from",
		"receipts: com.example.Receipt 120 122 140 by main from",
	}
	if diff := cmp.Diff(want, lines(read(t, c.file()), 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// A place schedules for one pool, whatever calls the app there: a click, or a frame.
func TestReadOfPoolsByPlace(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "pool-1-thread-1", 9: "pool-2-thread-1"})
	c.in(7, 1, "com.example.Main.onBind")
	c.execute(7, 10, "grow", "com.example.Icons.load")
	c.worker(8, 11)
	c.work(8, 12, 50, "com.example.Icon.run")
	c.execute(7, 14, "grow", "com.example.Texts.load")
	c.worker(9, 15)
	c.work(9, 16, 60, "com.example.Text.run")
	c.out(7, 20, 1)
	c.in(7, 21, "android.view.Choreographer.doFrame", "com.example.Main.onBind")
	c.execute(7, 30, "", "com.example.Texts.load")
	c.execute(7, 31, "", "com.example.Icons.load")
	c.out(7, 32, 2)
	c.take(8, 51)
	c.work(8, 52, 70, "com.example.Icon.run")
	c.rest(8, 71)
	c.take(9, 61)
	c.work(9, 62, 80, "com.example.Text.run")
	c.rest(9, 81)
	want := []string{
		"pool-1-thread: com.example.Icon 10 12 50 by main from", "pool-2-thread: com.example.Text 14 16 60 by main from",
		"pool-2-thread: com.example.Text 30 62 80 by main from", "pool-1-thread: com.example.Icon 31 52 70 by main from",
	}
	if diff := cmp.Diff(want, lines(read(t, c.file()), 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// Of tasks of one place, some of which were removed, it is known that they were scheduled, and not
// which of them ran.
func TestReadOfRemovedTasks(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "pool-1-thread-1"})
	c.in(7, 1, "com.example.Main.onType")
	c.execute(7, 10, "grow", "com.example.Ask.go")
	c.worker(8, 11)
	c.work(8, 12, 50, "com.example.Ask$1.run")
	for _, at := range []float64{20, 21, 22} {
		c.execute(7, at, "", "com.example.Ask.go")
	}
	c.take(8, 51)
	c.work(8, 52, 90, "com.example.Ask$1.run")
	c.rest(8, 91)
	want := []string{"pool-1-thread: com.example.Ask$1 10 12 50 by main from"}
	for _, at := range []int{20, 21, 22} {
		want = append(want, fmt.Sprintf("pool-1-thread: com.example.Ask$1 %d ? ? by main from", at))
	}
	want = append(want, "pool-1-thread: com.example.Ask$1 ? 52 90 by  from")
	if diff := cmp.Diff(want, lines(read(t, c.file()), 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// So it is where all of them were removed.
func TestReadOfTasksThatAreAllRemoved(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "pool-1-thread-1"})
	c.in(7, 1, "com.example.Main.onType")
	c.execute(7, 10, "grow", "com.example.Ask.go")
	c.worker(8, 11)
	c.work(8, 12, 50, "com.example.Ask$1.run")
	c.execute(7, 20, "", "com.example.Ask.go")
	c.rest(8, 51)
	want := []string{"pool-1-thread: com.example.Ask$1 10 12 50 by main from", "pool-1-thread: com.example.Ask$1 20 ? ? by main from"}
	if diff := cmp.Diff(want, lines(read(t, c.file()), 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// The dispatchers of coroutines are pools, whose tasks are what runs between two suspensions.
func TestReadOfCoroutines(t *testing.T) {
	t.Parallel()
	const scheduler = "kotlinx.coroutines.scheduling.CoroutineScheduler"
	c := newCalls(map[uint32]string{7: "main", 8: "DefaultDispatcher-worker-1"})
	c.in(7, 1, "com.example.Main.onClick")
	c.call(7, 10, "com.example.Feed.load", scheduler+".dispatch", scheduler+".signalCpuWork", scheduler+".tryCreateWorker", scheduler+".createNewWorker", "java.lang.Thread.start")
	c.in(8, 11, scheduler+"$Worker.run", scheduler+"$Worker.runWorker")
	work := func(from, to float64, class string) {
		c.in(8, from, scheduler+"$Worker.executeTask", "kotlinx.coroutines.DispatchedTask.run", class+".invokeSuspend")
		c.out(8, to, 3)
	}
	work(12, 50, "com.example.Feed$load$1")
	c.call(7, 20, "com.example.Feed.show", scheduler+".dispatch")
	work(52, 60, "com.example.Feed$show$1")
	c.in(8, 61, scheduler+"$Worker.tryPark", scheduler+"$Worker.park")
	c.call(7, 70, "com.example.Feed.more", scheduler+".dispatch", scheduler+".signalCpuWork", scheduler+".tryUnpark", "java.util.concurrent.locks.LockSupport.unpark")
	c.out(8, 71, 2)
	work(72, 80, "com.example.Feed$more$1")
	c.in(8, 81, scheduler+"$Worker.tryPark", scheduler+"$Worker.park")
	list := read(t, c.file())
	want := []string{
		"DefaultDispatcher-worker: com.example.Feed$load$1 10 12 50 by main from", "DefaultDispatcher-worker: com.example.Feed$show$1 20 52 60 by main from",
		"DefaultDispatcher-worker: com.example.Feed$more$1 70 72 80 by main from",
	}
	if diff := cmp.Diff(want, lines(list, 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	if u := list.Units[0]; u.Kind != run.ThreadPool || u.Capacity != 0 {
		t.Errorf("the unit is %+v", u)
	}
}
