package anr_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/trace/anr"
)

// endless generates a text line by line, and at its end records the memory in use.
type endless struct {
	line  func(i int) string
	lines int
	next  int
	rest  string
	inUse uint64
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if e.rest == "" && e.next == e.lines {
			break
		}
		if e.rest == "" {
			e.rest = e.line(e.next)
			e.next++
		}
		took := copy(p[n:], e.rest)
		n, e.rest = n+took, e.rest[took:]
	}
	if n == 0 {
		e.inUse = inUse()
		return 0, io.EOF
	}
	return n, nil
}

// inUse returns the heap in use, in bytes.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Memory is bounded for a text that has too many of any one thing.
func TestMemory(t *testing.T) {
	const lines = 600_000
	for name, test := range map[string]struct {
		line   func(i int) string
		mostMB int64
	}{
		"lists of waiting channels": {func(i int) string {
			return fmt.Sprintf("----- Waiting Channels: pid %d at x -----\nCmd line: a\n", i+1)
		}, 8},
		"threads in such a list":    {func(i int) string { return fmt.Sprintf("----- Waiting Channels: pid 9 at x -----\nsysTid=%d a\n", i) }, 24},
		"frames with new names":     {func(i int) string { return fmt.Sprintf("\"a\" sysTid=1\n  at a%d.b(%d)\n", i, i) }, 96},
		"new names of what is lost": {func(i int) string { return fmt.Sprintf("----- pid 9 at %d -----\n", i) }, 48},
	} {
		t.Run(name, func(t *testing.T) {
			text := endless{lines: lines, line: test.line}
			before := inUse()
			if _, err := anr.Read(&text); err != nil {
				t.Fatal(err)
			}
			if took := (int64(text.inUse) - int64(before)) >> 20; took > test.mostMB {
				t.Errorf("%d MB are held, want at most %d", took, test.mostMB)
			}
		})
	}
}

// Names beyond the limit are missing, and those before them are complete.
func TestReadLimitsNames(t *testing.T) {
	text := endless{lines: 500_000, line: func(i int) string {
		if i%1_000 == 0 {
			return "\"a\" sysTid=1\n"
		}
		return fmt.Sprintf("  at a%d.b(A.java:1)\n", i)
	}}
	d, err := anr.Read(&text)
	if err != nil {
		t.Fatal(err)
	}
	threads := d.Processes[0].Threads
	if first := threads[0].Frames[0].Name; first != "a1.b" || !strings.Contains(warned(d), "names are cut or left out") {
		t.Errorf("the first is %q, %s", first, warned(d))
	}
	for _, th := range threads {
		for _, f := range th.Frames {
			if f.Name != "" && !strings.HasSuffix(f.Name, ".b") {
				t.Fatalf("a part of a name: %q", f.Name)
			}
		}
	}
}
