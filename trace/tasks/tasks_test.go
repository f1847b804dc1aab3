package tasks

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTaskTimes(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		task        Task
		queued, ran time.Duration // -1 where unknown
	}{
		"waited and ran":          {Task{Scheduled: 10 * ms, Started: 15 * ms, Done: 40 * ms}, 5 * ms, 25 * ms},
		"a delay is no queueing":  {Task{Scheduled: 10 * ms, Delay: 4 * ms, Started: 15 * ms, Done: 40 * ms}, 1 * ms, 25 * ms},
		"started before its time": {Task{Scheduled: 10 * ms, Delay: 9 * ms, Started: 15 * ms, Done: 40 * ms}, 0, 25 * ms},
		"never started":           {Task{Scheduled: 10 * ms, Started: Unknown, Done: Unknown}, Unknown, Unknown},
		"sent before the trace":   {Task{Scheduled: Unknown, Started: 15 * ms, Done: 40 * ms}, Unknown, 25 * ms},
		"still running":           {Task{Scheduled: 10 * ms, Started: 15 * ms, Done: Unknown}, 5 * ms, Unknown},
	} {
		for what, of := range map[string]struct {
			get  func() (time.Duration, bool)
			want time.Duration
		}{"queued": {c.task.Queued, c.queued}, "ran": {c.task.Ran, c.ran}} {
			got, known := of.get()
			if !known {
				got = Unknown
			}
			if got != of.want {
				t.Errorf("%s: %s %v, want %v", name, what, got, of.want)
			}
		}
	}
}

func TestPool(t *testing.T) {
	for worker, want := range map[string]string{
		"pool-3-thread-12": "pool-3-thread", "AsyncTask #4": "AsyncTask", "arch_disk_io_0": "arch_disk_io", "DefaultDispatcher-worker-3": "DefaultDispatcher-worker",
		"OkHttp https://example.com/...": "OkHttp", "OkHttp Dispatcher": "OkHttp", "glide-source-thread-0": "glide-source-thread", "GleanAPIPool": "GleanAPIPool",
		"Thread-12": "", "": "", "7": "",
	} {
		if got := Pool(worker); got != want {
			t.Errorf("%q is of the pool %q, want %q", worker, got, want)
		}
	}
}

// Texts beyond the limit are dropped, and those before it stay.
func TestNamesAreLimited(t *testing.T) {
	var n Names
	for i := range MaxNames / 300 {
		n.Of(fmt.Sprintf("%06d", i) + strings.Repeat("x", 500))
	}
	if n.Dropped == 0 || n.Of("000000"+strings.Repeat("x", 294)) == "" || n.Of("new") != "" && n.bytes > MaxNames {
		t.Errorf("%d are dropped of %d bytes", n.Dropped, n.bytes)
	}
}

// A wait for a lock is no name of a task, whatever the section of the app's own is called.
func TestContention(t *testing.T) {
	t.Parallel()
	for slice, want := range map[string]bool{
		"monitor contention with owner db-writer (18) at void a.Store.write()(Store.java:84) waiters=0": true, "Lock contention on a monitor lock (owner tid: 7443)": true,
		"Lock.acquire": false, "": false,
	} {
		if Contention(slice) != want {
			t.Errorf("%q: %v", slice, !want)
		}
	}
}
