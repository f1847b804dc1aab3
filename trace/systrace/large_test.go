package systrace_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/apkgate/apkgate/trace/systrace"
)

// busy returns a text of size bytes, of four CPUs whose threads switch, wake one another and write
// slices and counters.
func busy(size int) io.Reader {
	r, w := io.Pipe()
	go func() {
		var out bytes.Buffer
		written := 0
		for i := 0; written < size; i++ {
			ns, tid, next := i*50, 100+i%700, 100+(i*7+1)%700
			at := fmt.Sprintf("worker%d-%d ( %d) [00%d] d..2 %d.%06d: ", tid, tid, tid/10*10, i%4, 10+ns/1_000_000, ns%1_000_000)
			fmt.Fprintf(&out, "%ssched_switch: prev_comm=worker%d prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=worker%d next_pid=%d next_prio=120\n", at, tid, tid, next, next)
			fmt.Fprintf(&out, "%stracing_mark_write: B|%d|Choreographer#doFrame\n%stracing_mark_write: E|%d\n", at, tid/10*10, at, tid/10*10)
			fmt.Fprintf(&out, "%ssched_waking: comm=worker%d pid=%d prio=120 target_cpu=001\n%stracing_mark_write: C|%d|queue|%d\n", at, next, next, at, tid/10*10, i)
			if out.Len() > 64<<10 {
				n, err := w.Write(out.Bytes())
				if written += n; err != nil {
					return
				}
				out.Reset()
			}
		}
		_ = w.Close()
	}()
	return r
}

// TestTableStreamsALargeText tests that memory does not grow with the text, apart from the
// events that are being sorted, if a table has few rows.
func TestTableStreamsALargeText(t *testing.T) {
	const size = 48 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	table, err := systrace.Table(busy(size), "threads")
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	rows := 0
	for range table.Rows {
		rows++
	}
	// The idle thread and 700 threads, among them the main threads of 71 processes.
	if rows < 700 || rows > 800 {
		t.Errorf("%d threads", rows)
	}
	if grown := int64(after.Sys) - int64(before.Sys); grown > 160<<20 {
		t.Errorf("a text of %d MiB took %d MiB", size>>20, grown>>20)
	}
}

func BenchmarkTable(b *testing.B) {
	const size = 32 << 20
	text, err := io.ReadAll(busy(size))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"threads", "sched", "slices", "counters"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := systrace.Table(bytes.NewReader(text), name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
