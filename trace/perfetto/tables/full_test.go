package tables_test

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/tables"
)

// busy writes a trace of eight busy CPUs of so many bytes, with switches, wakings, slices
// and idle states, as Perfetto takes them from the kernel four times a second.
func busy(t *testing.T, path string, size int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriterSize(f, 1<<20)
	written := int64(0)
	put := func(p message) {
		n, _ := out.Write(message(nil).in(1, p))
		written += int64(n)
	}
	processes := message(nil)
	for pid := int64(10); pid < 3000; pid += 10 {
		processes = processes.in(1, message(nil).num(1, pid).num(2, 1).text(3, fmt.Sprint("com.example.p", pid)))
		for tid := pid + 1; tid < pid+10; tid++ {
			processes = processes.in(2, message(nil).num(1, tid).text(2, fmt.Sprint("thread", tid)).num(3, pid))
		}
	}
	put(message(nil).num(8, 1).in(2, processes))
	random := rand.New(rand.NewSource(1))
	var runs [8]int64
	for at := int64(1e9); written < size; at += 250e6 {
		for cpu := range runs {
			var events []message
			for ns := at; len(events) < 2000; {
				ns += random.Int63n(600_000)
				next := 10 + random.Int63n(2990)
				events = append(events, swap(ns, runs[cpu], 1, next),
					event(ns+1000, next, 20, message(nil).text(1, "thread").num(2, 10+random.Int63n(2990)).num(3, 120)),
					said(ns+2000, next, fmt.Sprintf("B|%d|Choreographer#doFrame\n", next/10*10)),
					said(ns+3000, next, fmt.Sprintf("E|%d\n", next/10*10)),
					event(ns+4000, next, 13, message(nil).num(1, 1).num(2, int64(cpu))))
				runs[cpu] = next
			}
			put(bundle(int64(cpu), events...))
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTablesOfAGigabyte reads every table of a trace of 1 GB and says what it takes. Go's
// memory is what it ever had of the system.
func TestTablesOfAGigabyte(t *testing.T) {
	if os.Getenv("APKGATE_FULL") == "" {
		t.Skip("it takes two minutes and 1 GB of disk (APKGATE_FULL=1)")
	}
	path := filepath.Join(t.TempDir(), "busy.pftrace")
	const size = 1_000_000_000
	busy(t, path, size)
	for _, name := range tables.Names() {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		read, err := tables.Read(f, name)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for range read.Rows {
			rows++
		}
		took := time.Since(begin)
		_ = f.Close()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		t.Logf("%s: %d rows, %.0f MB/s, %d MB so far", name, rows, size/1e6/took.Seconds(), m.Sys>>20)
		if m.Sys > 256<<20 {
			t.Errorf("%s: Go had %d MB of the system, at most 256 are meant", name, m.Sys>>20)
		}
	}
}
