package ring_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/art/arttest"
	"github.com/apkgate/apkgate/trace/ring"
)

const (
	mainTID   = 4711
	workerTID = 4720
	us        = 1000 // ns
)

// app is a trace with a main thread that works in a loop and calls its methods in turn.
func app() arttest.Trace {
	return arttest.Trace{
		Methods: []string{
			"android.os.Looper\tloop\t()V\tLooper.java\n",
			"com.example.List\tbind\t(I)V\tList.java\n",
			"com.example.Image\tdecode\t()V\tImage.java\n",
			"com.example.Sync\trun\t()V\tSync.java\n",
		},
		Threads: map[uint32]string{mainTID: "main", workerTID: "pool-1-thread-1"},
		Order:   []uint32{mainTID, workerTID},
		Begin:   1_000_000 * us,
	}
}

func read(t *testing.T, k *ring.Keep, data []byte) *art.Trace {
	t.Helper()
	got, err := k.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// calls lists the calls of a trace that was flushed, by their begin.
func calls(t *testing.T, data []byte) (list []string, tr *art.Trace) {
	t.Helper()
	var found []art.Call
	c := art.Calls{Each: func(call art.Call) { found = append(found, call) }}
	tr, err := art.Read(bytes.NewReader(data), c.Add)
	if err != nil || len(tr.Warnings) > 0 || tr.Cut || c.Early > 0 {
		t.Fatalf("the flushed trace: %v, %v, cut %v, %d exits without entry", err, tr.Warnings, tr.Cut, c.Early)
	}
	c.Finish()
	slices.SortStableFunc(found, func(a, b art.Call) int { return int(a.Begin - b.Begin) })
	for _, call := range found {
		name := "?"
		if call.Method >= 0 {
			name = tr.Methods[call.Method].Name
		}
		line := fmt.Sprintf("%s %d %s %v+%v", tr.Threads[call.Thread], call.Depth, name, tr.Begin+call.Begin, call.Took)
		if call.Open {
			line += " open"
		}
		list = append(list, line)
	}
	return list, tr
}

func flush(t *testing.T, k *ring.Keep) ([]byte, ring.Flushed) {
	t.Helper()
	var b bytes.Buffer
	got, err := k.Flush(&b)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), got
}

// What fits is written as it was read: methods, threads, times, exceptions, and calls that run.
func TestFlushedIsWhatWasRead(t *testing.T) {
	t.Parallel()
	a := app()
	a.Events = []arttest.Event{
		{Thread: mainTID, Method: 0, Wall: 5000 * us},
		{Thread: mainTID, Method: 1, Wall: 6000 * us},
		{Thread: workerTID, Method: 3, Wall: 6500 * us},
		{Thread: mainTID, Method: 2, Wall: 7000 * us},
		{Thread: mainTID, Method: 2, Action: 2, Wall: 7100 * us},
		{Thread: workerTID, Method: 3, Action: 1, Wall: 7300 * us},
		{Thread: mainTID, Method: 1, Action: 1, Wall: 9000 * us},
	}
	for name, data := range map[string][]byte{
		"0xf2": a.Streaming(2, "wall"), "0xf3": a.Streaming(3, "dual"), "V2": a.V2(4, "wall", false), "text": a.Text(2, "wall"),
	} {
		k := ring.NewKeep(ring.Options{})
		read(t, k, data)
		out, got := flush(t, k)
		want := []string{
			"main 0 loop 1.005s+4ms open", "main 1 bind 1.006s+3ms", "pool-1-thread-1 0 run 1.0065s+800µs", "main 2 decode 1.007s+100µs",
		}
		list, tr := calls(t, out)
		if !slices.Equal(list, want) {
			t.Errorf("%s: the calls are\n%s\nwant\n%s", name, strings.Join(list, "\n"), strings.Join(want, "\n"))
		}
		if got.Calls != 4 || got.Threads != 2 || got.From != 5*time.Millisecond || got.To != 9*time.Millisecond || len(got.Warnings) > 0 {
			t.Errorf("%s: flushed %+v", name, got)
		}
		if tr.PID != mainTID || tr.Clock != art.Wall || tr.Version != 0xf2 || tr.Elapsed != 4*time.Millisecond {
			t.Errorf("%s: the file says %+v", name, tr)
		}
		if m := tr.Methods[2]; m.String() != "com.example.Image.decode" || m.Signature != "()V" || m.File != "Image.java" {
			t.Errorf("%s: the third method is %+v", name, m)
		}
		actions := map[art.Action]int{}
		if _, err := art.Read(bytes.NewReader(out), func(e art.Event) { actions[e.Action]++ }); err != nil || actions[art.Unroll] != 1 || actions[art.Exit] != 2 {
			t.Errorf("%s: the actions are %v, %v", name, actions, err)
		}
	}
}

// busy is a main thread that loops and binds, n times from 10 ms on, 10 µs each.
func busy(n int) arttest.Trace {
	a := app()
	a.Events = []arttest.Event{{Thread: mainTID, Method: 0, Wall: 10_000 * us}}
	for i := range n {
		at := uint64(10_000+10*(i+1)) * us
		a.Events = append(a.Events, arttest.Event{Thread: mainTID, Method: 1, Wall: at}, arttest.Event{Thread: mainTID, Method: 1, Action: 1, Wall: at + 4*us})
	}
	return a
}

// The newest calls are kept, and the one that has run since before them, with its own begin.
func TestOldestCallsAreOverwritten(t *testing.T) {
	t.Parallel()
	k := ring.NewKeep(ring.Options{Bytes: 2 * 8 * 8}) // the main thread has eight slots
	read(t, k, busy(1000).Streaming(2, "wall"))
	out, got := flush(t, k)
	list, _ := calls(t, out)
	want := []string{"main 0 loop 1.01s+10.004ms open", "main 1 bind 1.01997s+4µs", "main 1 bind 1.01998s+4µs", "main 1 bind 1.01999s+4µs", "main 1 bind 1.02s+4µs"}
	if !slices.Equal(list, want) || got.From != 10*time.Millisecond {
		t.Errorf("from %v the calls are\n%s\nwant\n%s", got.From, strings.Join(list, "\n"), strings.Join(want, "\n"))
	}
}

// An exit whose entry is overwritten ends no other call.
func TestExitOfAnOverwrittenEntry(t *testing.T) {
	t.Parallel()
	a := app()
	a.Events = []arttest.Event{
		{Thread: mainTID, Method: 0, Wall: 0}, {Thread: mainTID, Method: 1, Wall: 1 * us},
		{Thread: mainTID, Method: 2, Wall: 2 * us}, {Thread: mainTID, Method: 2, Action: 1, Wall: 3 * us},
		{Thread: mainTID, Method: 1, Action: 1, Wall: 4 * us}, {Thread: mainTID, Method: 2, Wall: 5 * us},
	}
	k := ring.NewKeep(ring.Options{Bytes: 2 * 2 * 8}) // two slots: the exit of 1, and the entry of 2
	read(t, k, a.Streaming(2, "wall"))
	out, _ := flush(t, k)
	list, _ := calls(t, out)
	if want := []string{"main 0 loop 1s+5µs open", "main 1 decode 1.000005s+0s open"}; !slices.Equal(list, want) {
		t.Errorf("the calls are %q, want %q", list, want)
	}
}

// An exit that names an outer method ends those within it, whose exits are missing; one of a method
// that was not entered is left out, with a warning.
func TestMissingExitsAndEntries(t *testing.T) {
	t.Parallel()
	a := app()
	a.Events = []arttest.Event{
		{Thread: mainTID, Method: 3, Action: 1, Wall: 0},
		{Thread: mainTID, Method: 0, Wall: 1 * us}, {Thread: mainTID, Method: 1, Wall: 2 * us}, {Thread: mainTID, Method: 2, Wall: 3 * us},
		{Thread: mainTID, Method: 3, Action: 1, Wall: 4 * us},
		{Thread: mainTID, Method: 1, Action: 1, Wall: 5 * us}, {Thread: mainTID, Method: 0, Action: 1, Wall: 6 * us},
	}
	k := ring.NewKeep(ring.Options{PID: mainTID})
	read(t, k, a.Streaming(2, "wall"))
	out, got := flush(t, k)
	list, _ := calls(t, out)
	want := []string{"main 0 loop 1.000001s+5µs", "main 1 bind 1.000002s+3µs", "main 2 decode 1.000003s+2µs"}
	if !slices.Equal(list, want) || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0].Text, "2 exits are left out") {
		t.Errorf("the calls are %q, want %q; %v", list, want, got.Warnings)
	}
}

// With more threads than rings, the one that was quiet for longest is left out, never the main one.
func TestQuietThreadIsLeftOut(t *testing.T) {
	t.Parallel()
	a := app()
	a.Order = []uint32{mainTID}
	a.Events = []arttest.Event{{Thread: mainTID, Method: 0, Wall: 0}}
	for i := range uint32(3) {
		tid := 5000 + i
		a.Order = append(a.Order, tid)
		a.Threads[tid] = fmt.Sprint("worker-", i)
		a.Events = append(a.Events, arttest.Event{Thread: tid, Method: 3, Wall: uint64(i+1) * us})
		if i == 1 { // the first is busy again, so that the second is the quiet one
			a.Events = append(a.Events, arttest.Event{Thread: 5000, Method: 2, Wall: 3 * us})
		}
	}
	k := ring.NewKeep(ring.Options{Threads: 2})
	read(t, k, a.Streaming(2, "wall"))
	out, got := flush(t, k)
	list, _ := calls(t, out)
	want := []string{"main 0 loop 1s+0s open", "worker-0 0 run 1.000001s+2µs open", "worker-0 1 decode 1.000003s+0s open", "worker-2 0 run 1.000003s+0s open"}
	slices.Sort(list)
	if !slices.Equal(list, want) || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0].Text, "1 thread is left out") {
		t.Errorf("the calls are %q, want %q; %v", list, want, got.Warnings)
	}
}

// The ids of threads have 16 bits in the file: others get free ones, and the main thread is found.
func TestThreadsWithLongIDs(t *testing.T) {
	t.Parallel()
	a := app()
	a.Order = []uint32{1 << 20, 65535, 70_000}
	a.Threads = map[uint32]string{1 << 20: "main", 65535: "worker-1", 70_000: "worker-2"}
	for i, tid := range a.Order {
		a.Events = append(a.Events, arttest.Event{Thread: tid, Method: i, Wall: uint64(i) * us})
	}
	k := ring.NewKeep(ring.Options{PID: 1 << 20})
	read(t, k, a.V2Time(4, false, 1_000_000_000))
	out, _ := flush(t, k)
	list, tr := calls(t, out)
	slices.Sort(list)
	want := []string{"main 0 loop 1s+0s open", "worker-1 0 bind 1.000001s+0s open", "worker-2 0 decode 1.000002s+0s open"}
	if !slices.Equal(list, want) || tr.Threads[uint32(tr.PID)] != "main" {
		t.Errorf("the calls are %q, want %q; the process %d", list, want, tr.PID)
	}
}

// Times in the file reach 71 minutes: what is older than an hour is left out, and the calls that ran
// then begin there.
func TestHoursAreCutToOne(t *testing.T) {
	t.Parallel()
	const minute = 60_000_000 * us
	a := app()
	a.Events = []arttest.Event{
		{Thread: mainTID, Method: 0, Wall: 0}, {Thread: mainTID, Method: 1, Wall: 1 * minute}, {Thread: mainTID, Method: 1, Action: 1, Wall: 2 * minute},
		{Thread: workerTID, Method: 3, Wall: 3 * minute}, // and hours of nothing else
		{Thread: mainTID, Method: 2, Wall: 60 * minute}, {Thread: mainTID, Method: 2, Action: 1, Wall: 61 * minute},
		{Thread: mainTID, Method: 1, Wall: 100 * minute}, {Thread: mainTID, Method: 2, Wall: 130 * minute},
		{Thread: mainTID, Method: 2, Action: 1, Wall: 190 * minute},
	}
	k := ring.NewKeep(ring.Options{})
	read(t, k, a.V2(4, "wall", false))
	out, got := flush(t, k)
	list, _ := calls(t, out)
	slices.Sort(list)
	want := []string{
		"main 0 loop 2h10m1s+1h0m0s open", "main 1 bind 2h10m1s+1h0m0s open", "main 2 decode 2h10m1s+1h0m0s", "pool-1-thread-1 0 run 2h10m1s+0s open",
	}
	if !slices.Equal(list, want) || got.From != 130*time.Minute || len(got.Warnings) > 0 {
		t.Errorf("from %v the calls are\n%s\nwant\n%s\n%v", got.From, strings.Join(list, "\n"), strings.Join(want, "\n"), got.Warnings)
	}
}

// A thread that did nothing for 71 minutes and more leaves the times before uncertain, which is
// reported.
func TestLongGapIsReported(t *testing.T) {
	t.Parallel()
	a := app()
	a.Events = []arttest.Event{{Thread: mainTID, Method: 0, Wall: 0}, {Thread: mainTID, Method: 1, Wall: 80 * 60_000_000 * us}}
	k := ring.NewKeep(ring.Options{})
	read(t, k, a.V2(4, "wall", false))
	_, got := flush(t, k)
	if len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0].Text, "1 event is of before a time of more than 71 minutes") {
		t.Errorf("the warnings are %v", got.Warnings)
	}
}

// While the stream's source writes nothing, as in an ANR, the reader waits for input, and what is
// kept can be written all the same. Afterwards it goes on.
func TestFlushWhileTheStreamIsSilent(t *testing.T) {
	t.Parallel()
	data := busy(1000).Streaming(2, "wall")
	k := ring.NewKeep(ring.Options{})
	r, w := io.Pipe()
	ended := make(chan error)
	go func() {
		_, err := k.Read(r)
		ended <- err
	}()
	half := len(data) / 2
	if _, err := w.Write(data[:half]); err != nil {
		t.Fatal(err)
	}
	// One more byte is taken only when all that came before is read.
	if _, err := w.Write(data[half : half+1]); err != nil {
		t.Fatal(err)
	}
	out, got := flush(t, k)
	// Nobody has named the process so far: its main thread tells it.
	if tr, err := art.Read(bytes.NewReader(out), nil); err != nil || tr.PID != mainTID {
		t.Errorf("%v; the process is %d, want %d", err, tr.PID, mainTID)
	}
	if got.Calls < 480 || got.Calls > 520 {
		t.Errorf("half of 1,001 calls are %d", got.Calls)
	}
	if _, err := w.Write(data[half+1:]); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if out, got := flush(t, k); got.Calls != 1001 || len(out) == 0 {
		t.Errorf("at the end %d calls are kept, want 1001", got.Calls)
	}
}

// A flush at any time is a whole trace of the newest calls, and takes none from the next.
func TestFlushWhileReading(t *testing.T) {
	t.Parallel()
	const n = 100_000
	k := ring.NewKeep(ring.Options{Bytes: 64 << 10})
	ended := make(chan error)
	go func() {
		_, err := k.Read(inParts{bytes.NewReader(busy(n).Streaming(2, "wall"))})
		ended <- err
	}()
	for flushes := 0; ; flushes++ {
		select {
		case err := <-ended:
			out, got := flush(t, k)
			list, _ := calls(t, out)
			// The main thread's ring has 4,096 slots: 2,048 calls, and the loop around them.
			if err != nil || flushes == 0 || got.Calls != 2049 || len(list) != 2049 {
				t.Errorf("%v; after %d flushes, %d calls are kept, want 2049", err, flushes, got.Calls)
			}
			return
		default:
		}
		var b bytes.Buffer
		got, err := k.Flush(&b)
		if errors.Is(err, ring.ErrEmpty) {
			continue
		}
		list, _ := calls(t, b.Bytes())
		if err != nil || len(list) != got.Calls || !strings.Contains(list[0], "main 0 loop 1.01s") || got.Calls > 2050 {
			t.Fatalf("%v; %d calls, the first is %s", err, got.Calls, list[0])
		}
	}
}

// inParts reads little at a time, so that the reader often waits for input.
type inParts struct{ r io.Reader }

func (c inParts) Read(b []byte) (int, error) { return c.r.Read(b[:min(len(b), 4096)]) }

// Nothing is written of a stream without calls, or without a clock.
func TestNothingToFlush(t *testing.T) {
	t.Parallel()
	k := ring.NewKeep(ring.Options{})
	if _, err := k.Flush(io.Discard); !errors.Is(err, ring.ErrEmpty) {
		t.Errorf("before the stream: %v", err)
	}
	read(t, k, app().Streaming(2, "wall"))
	if _, err := k.Flush(io.Discard); !errors.Is(err, ring.ErrEmpty) {
		t.Errorf("of a stream without calls: %v", err)
	}
	k = ring.NewKeep(ring.Options{})
	a := busy(3)
	read(t, k, a.AllCalls(0xffffffff))
	if _, err := k.Flush(io.Discard); !errors.Is(err, ring.ErrNoTimes) {
		t.Errorf("of a dump without a clock: %v", err)
	}
}

// full fails where it is written to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestFlushReportsAFullDisk(t *testing.T) {
	t.Parallel()
	k := ring.NewKeep(ring.Options{})
	read(t, k, busy(10).Streaming(2, "wall"))
	if _, err := k.Flush(full{}); err == nil || err.Error() != "write the kept calls: no space left on device" {
		t.Errorf("the error is %v", err)
	}
	if _, got := flush(t, k); got.Calls != 11 {
		t.Errorf("after the failure %d calls are kept, want 11", got.Calls)
	}
}

// Of a real stream, what is flushed has the totals of trace_processor (review/papers.md, 5.4).
func TestFlushOfARealStream(t *testing.T) {
	t.Parallel()
	f, err := os.Open(corpustest.Path(t, "arttrace", "firefox_art-trace-streaming.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	k := ring.NewKeep(ring.Options{})
	if _, err := k.Read(z); err != nil {
		t.Fatal(err)
	}
	out, got := flush(t, k)
	var longest time.Duration
	c := art.Calls{Each: func(call art.Call) {
		if !call.Open {
			longest = max(longest, call.Took)
		}
	}}
	names := map[string]bool{}
	tr, err := art.Read(bytes.NewReader(out), c.Add)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range tr.Methods {
		if m.Class != "" {
			names[m.Class+"."+m.Name+": "+m.Signature] = true
		}
	}
	if got.Calls != 19885 || len(names) != 3954 || longest != 4958605*time.Microsecond || len(got.Warnings) > 0 {
		t.Errorf("%d calls of %d methods, the longest %v, want 19885, 3954 and 4.958605s; %v", got.Calls, len(names), longest, got.Warnings)
	}
}

// A half of the memory is the main thread's, and the others share the other half equally.
func TestThreadsShareTheMemory(t *testing.T) {
	t.Parallel()
	a := app()
	for i := range uint64(100) {
		for n, tid := range []uint32{mainTID, workerTID} {
			at := (2*i + uint64(n)) * 10 * us
			a.Events = append(a.Events, arttest.Event{Thread: tid, Method: 2, Wall: at}, arttest.Event{Thread: tid, Method: 2, Action: 1, Wall: at + us})
		}
	}
	k := ring.NewKeep(ring.Options{Bytes: 2 * 32 * 8, Threads: 4}) // 32 slots, and eight for each of four
	read(t, k, a.Streaming(2, "wall"))
	out, _ := flush(t, k)
	list, _ := calls(t, out)
	count := map[string]int{}
	for _, line := range list {
		name, _, _ := strings.Cut(line, " ")
		count[name]++
	}
	if count["main"] != 16 || count["pool-1-thread-1"] != 4 {
		t.Errorf("of each thread are kept %v, want 16 of main and 4 of the other", count)
	}
}

// By default the main thread has the paper's 32 MiB, and 64 other threads 512 KiB each.
func TestDefaultMemory(t *testing.T) {
	t.Parallel()
	a := app()
	a.Order, a.Events = nil, nil
	const n = 40_000 // calls: more than the 32,768 that fit 512 KiB
	for tid := uint32(100); tid < 165; tid++ {
		a.Threads[tid] = fmt.Sprint("worker-", tid)
		a.Events = append(a.Events, arttest.Event{Thread: tid, Method: 3, Wall: uint64(tid) * us})
	}
	for i := range uint64(n) {
		for _, tid := range []uint32{mainTID, 164} {
			a.Events = append(a.Events, arttest.Event{Thread: tid, Method: 2, Wall: (1000 + i) * us}, arttest.Event{Thread: tid, Method: 2, Action: 1, Wall: (1000 + i) * us})
		}
	}
	k := ring.NewKeep(ring.Options{})
	read(t, k, a.Streaming(2, "wall"))
	_, got := flush(t, k)
	// 63 threads with one call; worker-164 has its first, which runs, and 32,768; main has all.
	if got.Calls != 63+1+32_768+n || got.Threads != 65 || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0].Text, "1 thread is left out") {
		t.Errorf("%+v, want %d calls of 65 threads, and one left out", got, 63+1+32_768+n)
	}
}

// A stack has at most 65,536 calls; those within them are left out with their exits.
func TestDeepStack(t *testing.T) {
	t.Parallel()
	const deep = 65_536 + 5
	a := app()
	for i := range uint64(deep) {
		a.Events = append(a.Events, arttest.Event{Thread: mainTID, Method: 1, Wall: i * us})
	}
	for i := range uint64(deep) {
		a.Events = append(a.Events, arttest.Event{Thread: mainTID, Method: 1, Action: 1, Wall: (deep + i) * us})
	}
	k := ring.NewKeep(ring.Options{})
	read(t, k, a.Streaming(2, "wall"))
	out, got := flush(t, k)
	var first art.Call
	c := art.Calls{Each: func(call art.Call) { first = call }} // the outermost ends last
	if _, err := art.Read(bytes.NewReader(out), c.Add); err != nil || c.Early > 0 {
		t.Fatal(err, c.Early)
	}
	if got.Calls != 65_536 || first.Depth != 0 || first.Took != (2*deep-1)*time.Microsecond || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0].Text, "5 calls are left out") {
		t.Errorf("%+v; the outermost call %+v", got, first)
	}
}

// The exit of an outer call is looked for among the 256 innermost ones.
func TestMissingExitsAreLimited(t *testing.T) {
	t.Parallel()
	for inner, ended := range map[int]bool{255: true, 256: false} {
		a := app()
		a.Events = []arttest.Event{{Thread: mainTID, Method: 0, Wall: 0}}
		for i := range inner {
			a.Events = append(a.Events, arttest.Event{Thread: mainTID, Method: 1, Wall: uint64(i) * us})
		}
		a.Events = append(a.Events, arttest.Event{Thread: mainTID, Method: 0, Action: 1, Wall: 1000 * us})
		k := ring.NewKeep(ring.Options{})
		read(t, k, a.Streaming(2, "wall"))
		out, got := flush(t, k)
		list, _ := calls(t, out)
		if open := strings.HasSuffix(list[0], " open"); open == ended || len(got.Warnings) > 0 == ended {
			t.Errorf("with %d calls within: %s; %v", inner, list[0], got.Warnings)
		}
	}
}

// A line that would be too long loses its signature, a method without a name has no line, and what
// else is missing stays so.
func TestOddNames(t *testing.T) {
	t.Parallel()
	a := app()
	long := strings.Repeat("ü", 15_000) // 30,000 bytes
	a.Methods = []string{"\n", long + "\trun\t(" + strings.Repeat("I", 65_535-30_000-len("0x4\t\trun\t()V\n")) + ")V\n", "com.example.A\tb\t()V\tA.java\n", "com.example.A\tA.java\n", "com.example.A\tb\t=\tA.java\t7\n"}
	for i := range a.Methods {
		a.Events = append(a.Events, arttest.Event{Thread: mainTID, Method: i, Wall: uint64(i) * us})
	}
	k := ring.NewKeep(ring.Options{})
	read(t, k, a.Streaming(2, "wall"))
	out, _ := flush(t, k)
	tr, err := art.Read(bytes.NewReader(out), nil)
	if err != nil || tr.Cut || len(tr.Methods) != 5 || tr.Methods[0].Class != "" || tr.Methods[1].String() != long[:2*6999]+"….run" || tr.Methods[1].Signature != "" || tr.Methods[2].Signature != "()V" {
		t.Errorf("%v, cut %v, %d methods: %.60q, %q of %q, %q", err, tr.Cut, len(tr.Methods), tr.Methods[1].Class, tr.Methods[1].Name, tr.Methods[1].Signature, tr.Methods[2])
	}
	if bytes.Contains(out, []byte("0x0\t")) {
		t.Error("the method without a name has a line")
	}
	if got, want := tr.Methods[3:], []art.Method{{ID: 12, Class: "com.example.A", File: "A.java"}, {ID: 16, Class: "com.example.A", Name: "b", File: "A.java"}}; !slices.Equal(got, want) {
		t.Errorf("the last methods are %+v, want %+v", got, want)
	}
	if head := out[:32]; string(head[:8]) != "SLOW\xf2\x00\x20\x00" {
		t.Errorf("the header is %q", head) // TraceWriter: magic, version, offset of the records
	}
}

// FuzzKeep keeps what a few slots hold of any file: what is written is a whole trace, in which each
// exit has its entry.
func FuzzKeep(f *testing.F) {
	a := busy(20)
	for _, data := range [][]byte{a.Streaming(2, "wall"), a.Streaming(3, "dual"), a.Text(1, "wall"), a.V2(4, "wall", true), a.V2Time(5, true, 24_576_000), a.Version6(true), a.AllCalls(0xffffffff)} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		k := ring.NewKeep(ring.Options{Bytes: 2 * 16 * 8, Threads: 2})
		if _, err := k.Read(bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		got, err := k.Flush(&out)
		if errors.Is(err, ring.ErrEmpty) || errors.Is(err, ring.ErrNoTimes) {
			return
		}
		entries := 0
		c := art.Calls{Opens: func(art.Call) { entries++ }, Each: func(art.Call) {}}
		tr, again := art.Read(&out, c.Add)
		if err != nil || again != nil || tr.Cut || c.Early > 0 || entries != got.Calls || len(tr.Threads) != got.Threads {
			t.Errorf("%v, %v; cut %v, %d exits without entry, %d calls and %d threads, want %d and %d", err, again, tr.Cut, c.Early, entries, len(tr.Threads), got.Calls, got.Threads)
		}
	})
}
