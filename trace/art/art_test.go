package art_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/art/arttest"
)

const ms = 1_000_000 // ns

// sample is two threads: main is in onCreate, which calls load twice, once by an exception, and
// is not left; a worker runs.
func sample() arttest.Trace {
	e := func(thread uint32, method, action int, at uint64) arttest.Event {
		return arttest.Event{Thread: thread, Method: method, Action: action, Wall: at * ms, CPU: at * ms / 2}
	}
	return arttest.Trace{
		Methods: []string{
			"com.example.Main\tonCreate\t(Landroid/os/Bundle;)V\tMain.java\n",
			"com.example.Store\tload\t()I\tStore.java\n",
			"java.lang.Thread\trun\t()V\tThread.java\n",
		},
		Threads: map[uint32]string{7: "main", 9: "worker"},
		Order:   []uint32{7, 9},
		Events: []arttest.Event{
			e(7, 0, 0, 1), e(7, 1, 0, 2), e(7, 1, 1, 12), e(9, 2, 0, 4), e(7, 1, 0, 20), e(9, 2, 1, 34), e(7, 1, 2, 260),
		},
		Begin: 90_000 * ms,
	}
}

// read lists the calls of a trace as text, by thread: name, depth, when it began and how long it
// took in ms, "open" where it has no exit.
func read(t *testing.T, file []byte) (*art.Trace, []string) {
	t.Helper()
	calls := art.Calls{}
	var got *art.Trace
	var list []art.Call
	calls.Each = func(c art.Call) { list = append(list, c) }
	got, err := art.Read(bytes.NewReader(file), calls.Add)
	if err != nil {
		t.Fatal(err)
	}
	calls.Finish()
	var out []string
	for _, c := range list {
		name := "?"
		if c.Method >= 0 {
			name = got.Methods[c.Method].String()
		}
		open := ""
		if c.Open {
			open = " open"
		}
		out = append(out, fmt.Sprintf("%d %s depth %d at %d took %d self %d%s", c.Thread, name, c.Depth, c.Begin.Milliseconds(), c.Took.Milliseconds(), c.Self.Milliseconds(), open))
	}
	return got, out
}

var wallCalls = []string{
	"7 com.example.Store.load depth 1 at 2 took 10 self 10",
	"9 java.lang.Thread.run depth 0 at 4 took 30 self 30",
	"7 com.example.Store.load depth 1 at 20 took 240 self 240",
	"7 com.example.Main.onCreate depth 0 at 1 took 259 self 9 open",
}

// byThread is the same in the order of formats that write one thread after the other.
var byThread = []string{wallCalls[0], wallCalls[2], wallCalls[1], wallCalls[3]}

// files are the sample in each format.
func files() map[string][]byte {
	s := sample()
	return map[string][]byte{
		"text 1":                s.Text(1, "wall"),
		"text 2":                s.Text(2, "wall"),
		"text 3":                s.Text(3, "dual"),
		"streaming 2":           s.Streaming(2, "wall"),
		"streaming 3":           s.Streaming(3, "dual"),
		"v2, in the method":     s.V2(4, "wall", false),
		"v2, dual":              s.V2(0xf5, "dual", false),
		"v2, in two blocks":     s.V2(0xf4, "wall", true),
		"v2, in the time":       s.V2Time(0xf4, false, 0),
		"v2, dual, in the time": s.V2Time(0xf5, true, 0),
		"v2, in ticks":          s.V2Time(4, false, 24_576_000),
		"long-running":          s.LongRunning(),
		"version 6":             s.Version6(false),
		"version 6, summary":    s.Version6(true),
	}
}

func TestReadEachFormat(t *testing.T) {
	t.Parallel()
	for name, file := range files() {
		got, calls := read(t, file)
		want := byThread
		if strings.HasPrefix(name, "text") || strings.HasPrefix(name, "streaming") {
			want = wallCalls
		}
		if name == "long-running" { // its times are the counter's: they begin with the device
			want = nil
			for _, c := range byThread {
				for _, at := range []string{"at 20 ", "at 2 ", "at 4 ", "at 1 "} {
					c = strings.Replace(c, at, "at "+fmt.Sprint(90_000+map[string]int{"at 20 ": 20, "at 2 ": 2, "at 4 ": 4, "at 1 ": 1}[at])+" ", 1)
				}
				want = append(want, c)
			}
		}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", name, diff)
		}
		if len(got.Warnings) > 0 || got.Cut {
			t.Errorf("%s: %v, cut %v", name, got.Warnings, got.Cut)
		}
		if m := got.Methods[0]; m.Class != "com.example.Main" || m.Name != "onCreate" || m.Signature != "(Landroid/os/Bundle;)V" || m.File != "Main.java" {
			t.Errorf("%s: the first method is %+v", name, m)
		}
		if name != "long-running" && got.Threads[7] != "main" {
			t.Errorf("%s: threads are %v", name, got.Threads)
		}
		if name != "long-running" && got.Begin != 90*time.Second {
			t.Errorf("%s: it began at %v", name, got.Begin)
		}
		dual := strings.Contains(name, "3") || strings.Contains(name, "dual")
		if (got.Clock == art.Dual) != dual {
			t.Errorf("%s: the clock is %s", name, got.Clock)
		}
	}
}

// Processor time: half of the wall time in the sample.
func TestReadThreadCPU(t *testing.T) {
	t.Parallel()
	s := sample()
	for name, file := range map[string][]byte{
		"text, dual": s.Text(3, "dual"), "streaming": s.Streaming(3, "dual"),
		"v2": s.V2(5, "dual", false), "v2, in the time": s.V2Time(5, true, 0),
	} {
		var longest time.Duration
		calls := art.Calls{Each: func(c art.Call) { longest = max(longest, c.CPU) }}
		got, err := art.Read(bytes.NewReader(file), calls.Add)
		if err != nil || len(got.Warnings) > 0 {
			t.Fatal(got.Warnings, err)
		}
		if longest != 120*time.Millisecond {
			t.Errorf("%s: the longest call that ended took %v of processor time, want 120 ms", name, longest)
		}
	}
}

// A dump of all calls has their order and no time.
func TestReadAllCalls(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Events = append(s.Events,
		arttest.Event{Thread: 7, Method: 1}, arttest.Event{Thread: 7, Method: 1}, // recursion: a difference of 0
		arttest.Event{Thread: 7, Method: 1, Action: 1}, arttest.Event{Thread: 7, Method: 1, Action: 1})
	for _, memory := range []uint32{0, 0xdeadbeef, 12} {
		got, calls := read(t, s.AllCalls(memory))
		if got.Format != art.AllCalls || got.Clock != art.NoClock || len(got.Warnings) > 0 {
			t.Fatalf("%s, %s, %v", got.Format, got.Clock, got.Warnings)
		}
		want := []string{"7 com.example.Store.load depth 1", "7 com.example.Store.load depth 1", "7 com.example.Store.load depth 2",
			"7 com.example.Store.load depth 1", "9 java.lang.Thread.run depth 0", "7 com.example.Main.onCreate depth 0"}
		for i := range calls {
			calls[i], _, _ = strings.Cut(calls[i], " at ")
		}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
}

// A full ring does not show where its oldest call stands.
func TestReadAFullRing(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Events = nil
	for i := range 2047 {
		s.Events = append(s.Events, arttest.Event{Thread: 7, Method: 1, Action: i % 2})
	}
	got, _ := read(t, s.AllCalls(0))
	if got.Events != 2047 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "the ring of 1 thread was full") {
		t.Errorf("%d events, %v", got.Events, got.Warnings)
	}
}

// Times of 32 bits in microseconds wrap after 71 minutes and 35 seconds.
func TestReadTimesThatWrap(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Events = []arttest.Event{{Thread: 7, Wall: 4_294_000 * ms}, {Thread: 7, Action: 1, Wall: 4_295_000 * ms}}
	s.Events = append([]arttest.Event{{Thread: 7, Method: 1, Wall: 2_000_000 * ms}, {Thread: 7, Method: 1, Action: 1, Wall: 2_000_001 * ms}}, s.Events...)
	_, calls := read(t, s.Text(2, "wall"))
	if want := "7 com.example.Main.onCreate depth 0 at 4294000 took 1000 self 1000"; calls[len(calls)-1] != want {
		t.Errorf("the call is %q, want %q", calls[len(calls)-1], want)
	}
}

// Exits of methods that were entered before the trace began, and exits that are missing.
func TestCallsWithoutAnEnd(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Events = []arttest.Event{
		{Thread: 7, Method: 2, Action: 1, Wall: 1 * ms},  // entered before
		{Thread: 7, Method: 0, Action: 0, Wall: 2 * ms},  // ends
		{Thread: 7, Method: 1, Action: 0, Wall: 5 * ms},  // its exit is missing
		{Thread: 7, Method: 0, Action: 1, Wall: 10 * ms}, //
		{Thread: 7, Method: 1, Action: 0, Wall: 12 * ms}, // runs on
		{Thread: 7, Method: 2, Action: 0, Wall: 15 * ms},
		{Thread: 7, Method: 2, Action: 1, Wall: 16 * ms},
	}
	calls := art.Calls{}
	var got []string
	calls.Each = func(c art.Call) {
		got = append(got, fmt.Sprint(c.Method, c.Took.Milliseconds(), c.Self.Milliseconds(), c.Open))
	}
	read, err := art.Read(bytes.NewReader(s.Text(2, "wall")), calls.Add)
	if err != nil || len(read.Warnings) > 0 {
		t.Fatal(read.Warnings, err)
	}
	calls.Finish()
	if diff := cmp.Diff([]string{"1 5 5 true", "0 8 3 false", "2 1 1 false", "1 4 3 true"}, got); diff != "" || calls.Early != 1 {
		t.Errorf("calls (-want +got):\n%s%d early, want 1", diff, calls.Early)
	}
}

// What two dialects can explain is not guessed, and neither is what none can.
func TestReadADialectThatIsNotClear(t *testing.T) {
	t.Parallel()
	s := sample()
	file := s.V2(4, "wall", false)
	at := bytes.Index(file, []byte{2, 7, 0, 0, 0, 5, 0, 0}) // the first block
	file[at+5] = 6                                          // states more entries than it has
	got, calls := read(t, file)
	if len(calls) > 0 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "written in three ways, and 0 of them fit") {
		t.Errorf("%v, %v", calls, got.Warnings)
	}
}

// A file that ends early gives what was before, with a warning; whatever is flipped, nothing
// panics, hangs or takes memory.
func TestReadDamagedFiles(t *testing.T) {
	t.Parallel()
	all := files()
	all["all calls"] = sample().AllCalls(0)
	for name, file := range all {
		whole, _ := art.Read(bytes.NewReader(file), nil)
		for n := range file {
			got, err := art.Read(bytes.NewReader(file[:n]), nil)
			if err != nil || got.Events > whole.Events {
				t.Fatalf("%s, cut at %d: %d events, %v", name, n, got.Events, err)
			}
			if len(got.Warnings) == 0 && !endsBetween(name, got, whole) {
				t.Errorf("%s, cut at byte %d of %d: no warning", name, n, len(file))
			}
			for _, bit := range []byte{1, 0x40, 0x80, 0xff} {
				flipped := bytes.Clone(file)
				flipped[n] ^= bit
				got, err := art.Read(bytes.NewReader(flipped), nil)
				if err != nil || len(got.Methods) > 100 || len(got.Threads) > 100 {
					t.Fatalf("%s, flipped at %d: %d methods, %d threads, %v", name, n, len(got.Methods), len(got.Threads), err)
				}
			}
		}
	}
}

// endsBetween reports whether a cut can't be seen: dumps have neither a number of records nor an
// end, and what is missing are threads, or all of what followed the header.
func endsBetween(name string, got, whole *art.Trace) bool {
	dump := name == "long-running" || name == "all calls" || strings.HasPrefix(name, "version 6")
	return dump && (got.Events == whole.Events || got.Events == 0)
}

// An error of reading is one, and a file of another kind a warning.
func TestReadWhatIsNoTrace(t *testing.T) {
	t.Parallel()
	got, err := art.Read(io.MultiReader(bytes.NewReader(sample().Text(2, "wall")[:40]), failing{}), nil)
	if err == nil || !strings.Contains(err.Error(), "read a method trace at byte") || len(got.Warnings) > 0 {
		t.Errorf("a disk that fails: %v, %v", got, err)
	}
	for _, file := range []string{"", "PK\x03\x04", "SLOW\x07\x00", "hello", "*version\n"} {
		got, err := art.Read(strings.NewReader(file), nil)
		if err != nil || len(got.Warnings) == 0 || got.Events > 0 {
			t.Errorf("%q: %+v, %v", file, got, err)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk failed") }

// A stream of any length takes the memory of its names: of 56 MB, with APKGATE_FULL of 1 GiB.
func TestReadTakesLittleMemory(t *testing.T) {
	s := sample()
	head := s.Streaming(3, "dual")
	summary := bytes.Index(head, []byte("\x00\x00\x03"))
	record := head[summary-14 : summary]
	records := 4 << 20 // 56 MB
	if os.Getenv("APKGATE_FULL") != "" {
		records = 1 << 30 / len(record)
	}
	r := io.MultiReader(bytes.NewReader(head[:summary]), &repeated{what: record, left: records}, bytes.NewReader(head[summary:]))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	calls := art.Calls{Each: func(art.Call) {}}
	got, err := art.Read(r, calls.Add)
	runtime.ReadMemStats(&after)
	if err != nil || got.Events != records+len(s.Events) {
		t.Fatalf("%d events, %v, %v", got.Events, got.Warnings, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("reading %d bytes took %d bytes of memory", records*len(record), used)
	}
}

// repeated is the same bytes, many times.
type repeated struct {
	what []byte
	left int
	rest []byte
}

func (r *repeated) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if len(r.rest) == 0 {
			if r.left == 0 {
				break
			}
			r.left--
			r.rest = r.what
		}
		took := copy(b[n:], r.rest)
		n, r.rest = n+took, r.rest[took:]
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func FuzzRead(f *testing.F) {
	for _, file := range files() {
		f.Add(file)
	}
	f.Add(sample().AllCalls(1))
	f.Fuzz(func(t *testing.T, file []byte) {
		calls := art.Calls{Each: func(c art.Call) {
			if c.Took < 0 || c.Self < 0 {
				t.Errorf("a call took %v, %v of its own", c.Took, c.Self)
			}
		}}
		got, err := art.Read(bytes.NewReader(file), calls.Add)
		if err != nil {
			t.Fatal(err)
		}
		calls.Finish()
		if got.Events == 0 && len(got.Warnings) == 0 && len(file) < 12 {
			t.Error("nothing is read, and nothing said of it")
		}
		in := bytes.NewReader(file)
		seen, record, err := art.Record(in, nil)
		if err != nil || record == nil || len(record.Chains) == 0 {
			return
		}
		chart, err := seen.Chart(in, record.Chains[0])
		if err != nil || len(chart.Calls) > art.MaxCharted {
			t.Errorf("%d calls are drawn, %v", len(chart.Calls), err)
		}
		for _, c := range chart.Calls {
			if c.Depth < 0 || c.From < 0 || c.Took < 0 {
				t.Errorf("%+v is drawn", c)
			}
		}
	})
}

// Lines of methods in the forms that versions of Android write.
func TestReadMethodLines(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Methods = []string{
		"com.example.A\tsix\t(I)V\tA.java\t42\n",
		"com.example.B\tfour\t()V\tB.java\n",
		"com.example.C\tthree\t()V\n",
		"com.example.D\tD.java\t17\n",
		"com.example.E\n",
		"com.example.F\tF.java\t-1\n",
		"com.example.G\tname\tnot a signature\tG.java\t3\n",
	}
	s.Events = nil
	got, _ := read(t, s.Text(2, "wall"))
	want := []art.Method{
		{Class: "com.example.A", Name: "six", Signature: "(I)V", File: "A.java", Line: 42},
		{ID: 4, Class: "com.example.B", Name: "four", Signature: "()V", File: "B.java"},
		{ID: 8, Class: "com.example.C", Name: "three", Signature: "()V"},
		{ID: 12, Class: "com.example.D", File: "D.java", Line: 17},
		{ID: 16, Class: "com.example.E"},
		{ID: 20, Class: "com.example.F", File: "F.java"},
		{ID: 24, Class: "com.example.G", Name: "name", File: "G.java", Line: 3},
	}
	if diff := cmp.Diff(want, got.Methods); diff != "" {
		t.Errorf("methods (-want +got):\n%s", diff)
	}
	for i, want := range []string{"com.example.A.six", "com.example.D", "method 0x2a"} {
		m := []art.Method{got.Methods[0], got.Methods[3], {ID: 42}}[i]
		if m.String() != want {
			t.Errorf("the method is %q, want %q", m, want)
		}
	}
}

// Threads without entries come first in dumps, and fit both of them.
func TestReadDumpsThatBeginWithoutEntries(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Order = []uint32{1, 2, 7, 9}
	s.Threads[1], s.Threads[2] = "Signal Catcher", "Jit thread pool worker thread 0"
	for name, c := range map[string]struct {
		file []byte
		want art.Format
	}{
		"long-running":                   {s.LongRunning(), art.LongOnes},
		"all calls":                      {s.AllCalls(0), art.AllCalls},
		"all calls, a size from memory":  {s.AllCalls(3), art.AllCalls},
		"all calls, a large one":         {s.AllCalls(1 << 31), art.AllCalls},
		"all calls, the size of entries": {s.AllCalls(14), art.AllCalls},
	} {
		got, calls := read(t, c.file)
		if got.Format != c.want || len(calls) != 4 || len(got.Warnings) > 0 {
			t.Errorf("%s: %s, %d calls, %v", name, got.Format, len(calls), got.Warnings)
		}
	}
	s.Events = nil
	got, _ := read(t, s.LongRunning())
	if got.Format != art.Unknown || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "neither of all calls nor of long ones") {
		t.Errorf("no entries at all: %s, %v", got.Format, got.Warnings)
	}
}

// Entries that both kinds of dumps can have are not guessed: an exit at 0 ns, and an exit.
func TestReadADumpThatIsNotClear(t *testing.T) {
	t.Parallel()
	block := []byte{2, 7, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1}
	got, _ := read(t, block)
	if got.Events > 0 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "of all calls and of long ones") {
		t.Errorf("%d events, %v", got.Events, got.Warnings)
	}
}

// Version 2 of the format without a frequency: an action of 3, a method that is not aligned or
// not named, and time that runs back fit no dialect.
func TestReadEntriesThatFitNoDialect(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*arttest.Trace){
		"an action of 3":      func(s *arttest.Trace) { s.Events[0].Action = 3 },
		"time that runs back": func(s *arttest.Trace) { s.Events[0].Wall = 50 * ms },
	} {
		s := sample()
		change(&s)
		got, calls := read(t, s.V2Time(0xf4, false, 0))
		if len(calls) > 0 || len(got.Warnings) == 0 || !strings.Contains(got.Warnings[0].Text, "0 of them fit") {
			t.Errorf("%s: %v, %v", name, calls, got.Warnings)
		}
	}
	s := sample()
	file := s.V2(4, "wall", false)
	at := bytes.Index(file, []byte("com.example.Store"))
	file[at-10]++ // its id
	if got, calls := read(t, file); len(calls) > 0 || !strings.Contains(got.Warnings[0].Text, "0 of them fit") {
		t.Errorf("a method that is not named: %v, %v", calls, got.Warnings)
	}
}

// The clock of a stream stands in its summary.
func TestReadTheClockOfAStream(t *testing.T) {
	t.Parallel()
	s := sample()
	for name, file := range map[string][]byte{"streaming": s.Streaming(2, "thread-cpu"), "text": s.Text(2, "thread-cpu")} {
		got, calls := read(t, file)
		if got.Clock != art.ThreadCPU || len(got.Warnings) > 0 || !strings.Contains(strings.Join(calls, "\n"), "Store.load depth 1 at 10 took 120") {
			t.Errorf("%s: %s, %v, %q", name, got.Clock, got.Warnings, calls)
		}
	}
	file := bytes.Replace(s.Streaming(3, "dual"), []byte("clock=dual"), []byte("clock=wall"), 1)
	if got, _ := read(t, file); got.Clock != art.Dual || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "the records have two") {
		t.Errorf("%s, %v", got.Clock, got.Warnings)
	}
	file = bytes.Replace(s.Text(2, "wall"), []byte("clock=wall"), []byte("clock=dual"), 1)
	if got, _ := read(t, file); got.Clock != art.Wall || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "records of version 2 have one") {
		t.Errorf("%s, %v", got.Clock, got.Warnings)
	}
	file = bytes.Replace(s.Text(2, "wall"), []byte("clock=wall"), []byte("clock=moon"), 1)
	if got, _ := read(t, file); got.Clock != art.Wall || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, `the clock "moon" is unknown`) {
		t.Errorf("%s, %v", got.Clock, got.Warnings)
	}
}

// What a header states and is not so.
func TestReadHeadersThatAreWrong(t *testing.T) {
	t.Parallel()
	text := string(sample().Text(3, "dual"))
	for change, want := range map[[2]string]string{
		{"num-method-calls=7", "num-method-calls=8"}:            "the file states 8 events, 7 are in it",
		{"data-file-overflow=false", "data-file-overflow=true"}: "ART's buffer was full",
		{"pid=4711", "pid=-4711"}:                               `pid is "-4711", want a number`,
		{"pid=4711", "pid=many"}:                                `pid is "many", want a number`,
		{"*version\n3", "*version\n2"}:                          "the header states version 2, and the records version 3",
		{"7\tmain", "seven\tmain"}:                              `is no thread`,
		{"0x4\t", "four\t"}:                                     `is no method`,
		{"SLOW\x03\x00\x20", "SLOW\x03\x00\x11"}:                "the records begin 17 bytes after their header begins",
		{"SLOW\x03\x00", "SLOW\x09\x00"}:                        "version 9 of the format is unknown",
		{"\x00\x0e\x00\x00\x00", "\x00\x0d\x00\x00\x00"}:        "a record has 13 bytes",
		{"\x00\x0e\x00\x00\x00", "\x00\x41\x00\x00\x00"}:        "a record has 65 bytes",
	} {
		if !strings.Contains(text, change[0]) {
			t.Fatalf("there is no %q in the file", change[0])
		}
		got, err := art.Read(strings.NewReader(strings.Replace(text, change[0], change[1], 1)), nil)
		if err != nil || len(got.Warnings) == 0 || !strings.Contains(fmt.Sprint(got.Warnings), want) {
			t.Errorf("%q: %v, %v, want %q", change[1], got.Warnings, err, want)
		}
	}
	got, _ := art.Read(strings.NewReader(strings.Replace(text, "elapsed-time-usec=5000000", "elapsed-time-usec=9223372036854775807", 1)), nil)
	if got.Elapsed != 1<<63-1 {
		t.Errorf("the largest time is %v", got.Elapsed)
	}
}

// Threads and names are bounded; what is left out is counted.
func TestReadTooManyThreads(t *testing.T) {
	t.Parallel()
	s := arttest.Trace{Threads: map[uint32]string{}}
	for tid := range uint32(art.MaxThreads + 3) {
		s.Order = append(s.Order, tid+1)
		s.Threads[tid+1] = "t"
	}
	got, err := art.Read(bytes.NewReader(s.Version6(false)), nil)
	if err != nil || len(got.Threads) != art.MaxThreads || !strings.Contains(fmt.Sprint(got.Warnings), "3 methods or threads are left out") {
		t.Errorf("%d threads, %v, %v", len(got.Threads), got.Warnings, err)
	}
	for _, tid := range s.Order {
		s.Events = append(s.Events, arttest.Event{Thread: tid})
	}
	got, err = art.Read(bytes.NewReader(lastEntries(s)), nil)
	if err != nil || got.Events != art.MaxThreads || !strings.Contains(fmt.Sprint(got.Warnings), "3 events are left out") {
		t.Errorf("%d events, %v, %v", got.Events, got.Warnings, err)
	}
}

// lastEntries has a block of one entry for each thread, in version 6.
func lastEntries(s arttest.Trace) (b []byte) {
	b = s.V2Head(0xf6, 0, 0)
	for _, e := range s.Events {
		one := arttest.Trace{Order: []uint32{e.Thread}, Events: []arttest.Event{e}}
		b = append(b, one.LongRunning()...)
	}
	return b
}

// A thread that is in more methods than any can be.
func TestCallsThatAreTooDeep(t *testing.T) {
	t.Parallel()
	calls, ended := art.Calls{}, 0
	calls.Each = func(art.Call) { ended++ }
	for range 1<<16 + 5 {
		calls.Add(art.Event{Method: 1})
	}
	calls.Finish()
	if w := calls.Warnings(); len(w) != 1 || !strings.Contains(w[0].Text, "5 calls are left out") {
		t.Errorf("warnings are %v", w)
	}
	if ended != 1<<16 || calls.Deep != 5 {
		t.Errorf("%d calls ended, %d were too deep", ended, calls.Deep)
	}
}

// Threads that are in many methods, each in fewer than it may be: all of them are limited, too.
func TestCallsThatAreOpenInAllThreads(t *testing.T) {
	t.Parallel()
	calls, ended := art.Calls{}, 0
	calls.Each = func(art.Call) { ended++ }
	for thread := range uint32(9) {
		for range 1 << 16 {
			calls.Add(art.Event{Thread: thread})
		}
	}
	calls.Add(art.Event{Thread: 1, Action: art.Exit}) // makes room for one
	calls.Add(art.Event{Thread: 9})
	calls.Finish()
	if ended != 1<<19+1 || calls.Deep != 1<<16 {
		t.Errorf("%d calls ended, %d were left out", ended, calls.Deep)
	}
}
