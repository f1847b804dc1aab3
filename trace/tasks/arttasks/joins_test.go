package arttasks_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A looper that waits runs soon after it is woken: a message that the main thread sends to itself, long
// before the other looper's wait ends or shortly before another message ends it, is not for that one.
func TestReadOfMessagesToItself(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "disk"})
	c.left(7, 5, poll)
	c.idle(8, 1)
	for _, at := range []float64{50, 280} {
		c.in(7, at, "android.os.Handler.dispatchMessage", "com.example.Tick.run")
		c.send(7, at, true, "post", "com.example.Tick.again")
		c.out(7, at+2, 2)
		c.idle(7, at+2)
		c.resume(7, at+20)
	}
	c.in(7, 301, "android.os.Handler.dispatchMessage", "com.example.Main.onClick")
	c.send(7, 302, true, "post", "com.example.Main.save")
	c.resume(8, 303)
	c.out(7, 304, 2)
	c.idle(7, 304)
	c.handle(8, 305, 340, "com.example.Save")
	c.idle(8, 341)
	want := []string{
		"main: com.example.Tick ? 50 52 by  from", "main: com.example.Tick ? 280 282 by  from",
		"main: com.example.Main ? 301 304 by  from", "disk: com.example.Save 302 305 340 by main from",
	}
	if diff := cmp.Diff(want, lines(read(t, c.file()), 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// The first message of a place could also be what the main thread begins next. The place's next one is
// for the new looper alone, so that the first one is, too.
func TestReadOfMessagesByLaterOnes(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "operations"})
	c.left(7, 5, poll)
	click := func(from, to float64) {
		c.in(7, from, "android.os.Handler.dispatchMessage", "com.example.Service.onStart")
		c.send(7, from+1, false, "post", "com.example.Service.queue")
		c.out(7, to, 2)
	}
	click(10, 12)
	c.in(8, 11, "android.os.HandlerThread.run", "android.os.Looper.loop")
	c.handle(8, 12, 100, "com.example.Sync")
	c.handle(7, 13, 14, "com.example.List")
	c.idle(7, 15)
	c.resume(7, 30)
	click(30, 32)
	c.idle(7, 33)
	c.handle(8, 101, 150, "com.example.Sync")
	c.idle(8, 151)
	want := []string{
		"main: com.example.Service ? 10 12 by  from", "operations: com.example.Sync 11 12 100 by main from",
		"main: com.example.List ? 13 14 by  from", "main: com.example.Service ? 30 32 by  from",
		"operations: com.example.Sync 31 101 150 by main from",
	}
	if diff := cmp.Diff(want, lines(read(t, c.file()), 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// A task could be for two pools that are busy. All that one of them runs has its scheduling, so that
// the task is the other's, in which those of a place that is known are matched by their class before. It
// is not for the pool that waits, whose class calls the place.
func TestReadOfPoolByElimination(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "writes-thread-1", 9: "uploads-thread-1", 10: "lists-thread-1"})
	c.in(7, 1, "com.example.Main.onSync")
	c.execute(7, 2, "grow", "com.example.Pages.show")
	c.worker(10, 3)
	c.work(10, 3, 4, "com.example.Lists.run")
	c.rest(10, 5)
	c.execute(7, 6, "wake", "com.example.Pages.show")
	c.wakeUp(10, 7)
	c.work(10, 7, 8, "com.example.Lists.run")
	c.rest(10, 9)
	c.execute(7, 10, "grow", "com.example.Sync.store")
	c.worker(8, 11)
	c.work(8, 12, 100, "com.example.Chunk.run")
	c.execute(7, 14, "grow", "com.example.Sync.upload")
	c.worker(9, 15)
	c.work(9, 16, 200, "com.example.Photo.run")
	c.execute(7, 20, "", "com.example.Sync.store")
	c.execute(7, 22, "", "com.example.Sync.upload")
	c.execute(7, 30, "", "com.example.Lists.open", "com.example.Patient.load")
	c.take(8, 101)
	c.work(8, 102, 150, "com.example.Chunk.run")
	c.take(8, 151)
	c.work(8, 152, 170, "com.example.Record.run")
	c.rest(8, 171)
	c.take(9, 201)
	c.work(9, 202, 300, "com.example.Photo.run")
	c.rest(9, 301)
	want := []string{
		"lists-thread: com.example.Lists 2 3 4 by main from", "lists-thread: com.example.Lists 6 7 8 by main from",
		"writes-thread: com.example.Chunk 10 12 100 by main from", "uploads-thread: com.example.Photo 14 16 200 by main from",
		"writes-thread: com.example.Chunk 20 102 150 by main from", "uploads-thread: com.example.Photo 22 202 300 by main from",
		"writes-thread: com.example.Record 30 152 170 by main from",
	}
	list := read(t, c.file())
	if diff := cmp.Diff(want, lines(list, 0)); diff != "" || len(list.Warnings) > 0 {
		t.Errorf("warnings %q, tasks (-want +got):\n%s", warnings(list), diff)
	}
}

// A call of startService within another is the same start of a service.
func TestReadOfNestedStartOfService(t *testing.T) {
	t.Parallel()
	c := newCalls(map[uint32]string{7: "main", 8: "IntentService[Upload]"})
	c.idle(8, 1)
	c.in(7, 6, "com.example.Main.onClick")
	c.call(7, 10, "android.app.ContextImpl.startService", "android.app.ContextImpl.startService")
	c.resume(8, 33)
	c.in(8, 34, "android.os.Handler.dispatchMessage", "com.example.Upload.onHandleIntent")
	c.out(8, 80, 2)
	c.idle(8, 81)
	want := []string{"IntentService[Upload]: com.example.Upload 10 34 80 by main from"}
	if diff := cmp.Diff(want, lines(read(t, c.file()), 0)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}
