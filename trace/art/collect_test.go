package art_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/art/arttest"
)

// lines is a tree, an entry a line, each below its caller.
func lines(tree []run.TracedCall) (out []string) {
	depth := make([]int, len(tree))
	for i, c := range tree {
		head := c.Event + " " + c.Thread + ": "
		if c.Parent >= 0 {
			depth[i] = depth[c.Parent] + 1
			head = strings.Repeat("> ", depth[i])
		}
		out = append(out, fmt.Sprintf("%s%s %v%v", head, c.Name, c.Repetitions, c.RepetitionsMS))
	}
	return out
}

// Pieces of work belong to the event in which they begin, and the calls of a method by one caller
// are one entry, counted by repetition. The loop that waits between them is in none.
func TestCollectorSplitsARepetitionByEvents(t *testing.T) {
	t.Parallel()
	var c art.Collector
	if c.MethodTraces() != nil {
		t.Error("nothing was added, and there is a section")
	}
	for _, number := range []int{1, 3} {
		rep := art.Repetition{
			Number: number, Began: 10 * time.Second, Evidence: strings.Repeat("ab", 32),
			Events: []trace.Event{{Name: "swipe", At: 2 * time.Second}, {Name: "tap", At: 10_150 * time.Millisecond}, {Name: "fling", At: 10_890 * time.Millisecond}, {Name: "tap", At: 20 * time.Second}},
			Wrong:  []trace.Event{{Name: "a frame took 800 ms", At: 10_300 * time.Millisecond}},
		}
		if seen, err := c.Add(bytes.NewReader(looper().Text(3, "dual")), nil, rep); err != nil || len(seen.Warnings) != 0 {
			t.Fatal(err, seen.Warnings)
		}
	}
	got := c.MethodTraces()
	want := []string{
		"swipe main: android.os.Handler.dispatchMessage [1 0 1][30 0 30]",
		"> a.b.c [1 0 1][10 0 10]",
		"tap main: android.os.Handler.dispatchMessage [1 0 1][800 0 800]",
		"> a.b.c [1 0 1][785 0 785]",
		"> > a.b.d [2 0 2][770 0 770]",
		"swipe Loader: java.io.InputStream.read [1 0 1][20 0 20]",
		"> a.b.d [1 0 1][10 0 10]",
	}
	if diff := cmp.Diff(want, lines(got.Tree)); diff != "" || got.TreeLeftOutMS != 0 {
		t.Errorf("the tree, without calls of up to %g ms (-want +got):\n%s", got.TreeLeftOutMS, diff)
	}
	var windows, chains []string
	for _, w := range got.Windows[:3] {
		windows = append(windows, fmt.Sprintf("%d %s %.0f–%.0f %q %d calls, %d lost", w.Repetition, w.Event, w.FromMS, w.ToMS, w.Why, w.Calls, w.Lost))
	}
	for _, c := range got.Chains[:3] {
		chains = append(chains, fmt.Sprintf("%d %s %s at %.0f, %.0f ms", c.Repetition, c.Event, c.Thread, c.AtMS, c.MS[0]))
	}
	// Of the calls of before 150 ms, the loop and the worker's are open; the rest are the first
	// message's two, its wait's two, and those of the wait for the second and of the worker that ended.
	if diff := cmp.Diff([]string{
		"1 swipe 10000–10150 \"\" 5 calls, 2 lost", "1 tap 10150–10890 \"a frame took 800 ms\" 5 calls, 0 lost", "1 fling 10890–11000 \"\" 1 calls, 0 lost",
	}, windows); diff != "" {
		t.Errorf("windows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1 tap main at 10200, 800 ms", "3 tap main at 10200, 800 ms", "1 swipe main at 10100, 30 ms"}, chains); diff != "" {
		t.Errorf("chains (-want +got):\n%s", diff)
	}
	if m := got.List[0]; m != (run.TracedMethod{Name: "a.b.d", File: "SourceFile", Thread: "main", Event: "tap", Calls: 2, SelfMS: 1360, TotalMS: 1360, LongestMS: 680}) {
		t.Errorf("the first method is %+v", m)
	}
	r := run.Run{App: run.App{Package: "a.b"}, Scenario: "s", Status: run.Complete, MethodTraces: got, Iterations: make([]run.Iteration, 3)}
	data, err := run.Encode(r)
	if err == nil {
		_, err = run.Decode(data)
	}
	if err != nil {
		t.Errorf("no record can have it: %v", err)
	}
}

// Processor time is no time of an event, and is not added up with wall time.
func TestCollectorOfClocks(t *testing.T) {
	t.Parallel()
	var c art.Collector
	events := []trace.Event{{Name: "tap"}}
	for _, s := range []struct {
		file  []byte
		warns int
	}{{looper().Text(2, "thread-cpu"), 0}, {looper().Text(2, "wall"), 1}, {looper().AllCalls(0), 0}, {looper().Text(2, "thread-cpu"), 0}} {
		seen, err := c.Add(bytes.NewReader(s.file), nil, art.Repetition{Number: 1, Events: events})
		n := 0
		for _, w := range seen.Warnings {
			if strings.Contains(w.String(), "the calls of repetition 1 are left out") {
				n++
			}
		}
		if err != nil || n != s.warns {
			t.Errorf("%v, %v, want %d of another clock", err, seen.Warnings, s.warns)
		}
	}
	got := c.MethodTraces()
	if len(got.Windows) != 2 || got.Windows[0].Event != "" || got.Clock != run.CPUClock || got.Tree[0].Repetitions[0] != 4 { // two messages in each
		t.Errorf("it has %+v of %s, and %q", got.Windows, got.Clock, lines(got.Tree))
	}
}

// A tree keeps its longest calls, and bounds what others took; the main thread's come first.
func TestCollectorLeavesOutShortCalls(t *testing.T) {
	t.Parallel()
	const methods = 3000
	s := arttest.Trace{Threads: map[uint32]string{4711: "main", 9: "pool"}, Order: []uint32{4711, 9}}
	for i := range methods {
		s.Methods = append(s.Methods, fmt.Sprintf("a.b.C%d\tm\t()V\tC.java\n", i))
	}
	for _, tid := range s.Order {
		at := uint64(0)
		for i := range methods {
			if tid == 9 && i < methods-300 {
				continue // the pool's are the 300 longest
			}
			s.Events = append(s.Events, arttest.Event{Thread: tid, Method: i, Wall: at}, arttest.Event{Thread: tid, Method: i, Action: 1, Wall: at + uint64(i+1)*1000})
			at += uint64(i+1) * 1000
		}
	}
	_, got, err := art.Record(bytes.NewReader(s.Streaming(2, "wall")), nil)
	if err != nil {
		t.Fatal(err)
	}
	main := slices.DeleteFunc(slices.Clone(got.Tree), func(c run.TracedCall) bool { return c.Thread != "main" })
	if len(got.Tree) != run.MaxTracedCalls || len(main) != 1700 {
		t.Errorf("%d calls, %d of the main thread, want %d and 1700", len(got.Tree), len(main), run.MaxTracedCalls)
	}
	if got.TreeLeftOutMS != 1.3 {
		t.Errorf("what is left out took up to %g ms, want 1.3", got.TreeLeftOutMS)
	}
	if slices.ContainsFunc(main, func(c run.TracedCall) bool { return c.RepetitionsMS[0] < 1.301 }) {
		t.Error("a shorter call is kept")
	}
}

// Whatever calls a trace has, the tree's outermost entries take as long as the pieces of work, and
// no entry less than those below it.
func TestTreesAddUp(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(24, 7))
	for range 20 {
		s := arttest.Trace{Threads: map[uint32]string{4711: "main"}, Order: []uint32{4711}}
		for i := range 6 {
			s.Methods = append(s.Methods, fmt.Sprintf("a.b.C\tm%d\t()V\tC.java\n", i))
		}
		s.Methods = append(s.Methods, "android.os.MessageQueue\tnativePollOnce\t(JI)V\tMessageQueue.java\n")
		at, pieces := uint64(0), uint64(0)
		var call func(depth int) (idle bool)
		call = func(depth int) bool {
			m := random.IntN(7)
			begin := at
			s.Events = append(s.Events, arttest.Event{Thread: 4711, Method: m, Wall: at})
			idle, sum := m == 6, uint64(0)
			for depth < 6 && random.IntN(3) > 0 {
				at += uint64(random.IntN(5)) * 1000
				from := at
				if call(depth + 1) {
					idle = true
				} else {
					sum += at - from
				}
			}
			at += uint64(1+random.IntN(5)) * 1000
			s.Events = append(s.Events, arttest.Event{Thread: 4711, Method: m, Action: 1, Wall: at})
			if idle { // what it called is pieces of their own
				pieces += sum
			} else if depth == 0 {
				pieces += at - begin
			}
			return idle
		}
		for range 20 {
			call(0)
		}
		_, got, err := art.Record(bytes.NewReader(s.Streaming(2, "wall")), nil)
		if err != nil {
			t.Fatal(err)
		}
		outer, below := 0.0, make([]float64, len(got.Tree))
		for i, c := range got.Tree {
			if c.Parent < 0 {
				outer += c.RepetitionsMS[0]
			} else {
				below[c.Parent] += c.RepetitionsMS[0]
			}
			if strings.HasSuffix(c.Name, "nativePollOnce") {
				t.Fatalf("entry %d waits for messages", i)
			}
		}
		if diff := outer - float64(pieces)/1e6; diff > 0.0005 || diff < -0.0005 {
			t.Fatalf("the outermost calls take %g ms, want %g", outer, float64(pieces)/1e6)
		}
		for i, c := range got.Tree {
			if below[i] > c.RepetitionsMS[0]+0.0005 {
				t.Fatalf("%s takes %g ms, and what it calls %g", c.Name, c.RepetitionsMS[0], below[i])
			}
		}
	}
}

// Names and times are all that a record has of a trace: neither the arguments of calls, among them
// the names of sections, nor what else a file's header says.
func TestARecordHasNamesAndTimesAlone(t *testing.T) {
	t.Parallel()
	s := looper()
	s.Methods[4] = "android.os.Trace\tbeginSection\t(Ljava/lang/String;)V\tTrace.java\n"
	file := strings.Replace(string(s.Text(3, "dual")), "vm=art\n", "vm=art\nsection=pay 19.99 EUR to alice@example.com\nalloc-count=4\n", 1)
	_, got, err := art.Record(strings.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var record any
	if err := json.Unmarshal(data, &record); err != nil {
		t.Fatal(err)
	}
	known := []string{"art", "wall", "main", "Loader", "Looper.java", "MessageQueue.java", "Handler.java", "Trace.java", "SourceFile", "InputStream.java"}
	for _, line := range s.Methods {
		fields := strings.Split(line, "\t")
		known = append(known, fields[0]+"."+fields[1])
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if !slices.Contains(known, v) {
				t.Errorf("the record has %q", v)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(record)
	if !strings.Contains(string(data), "android.os.Trace.beginSection") {
		t.Error("the call of the section is not in it")
	}
}

// A low-overhead dump has the CPU's counter and names no thread: it is put onto CLOCK_MONOTONIC by
// when it began. The app was in bind for 400 of 500 ms.
func TestCollectADumpOfLongCalls(t *testing.T) {
	t.Parallel()
	const ms = uint64(time.Millisecond)
	trace := arttest.Trace{
		Methods: []string{"android.os.Looper\tloop\t()V\tLooper.java\n", "android.os.MessageQueue\tnext\t()V\tMessageQueue.java\n", "com.example.List\tbind\t()V\tList.java\n"},
		Threads: map[uint32]string{4711: "main"}, Order: []uint32{4711}, Begin: 900_000 * ms,
		Events: []arttest.Event{
			{Thread: 4711, Method: 0, Wall: 0},
			{Thread: 4711, Method: 1, Wall: 10 * ms}, {Thread: 4711, Method: 1, Action: 1, Wall: 1000 * ms},
			{Thread: 4711, Method: 2, Wall: 1100 * ms}, {Thread: 4711, Method: 2, Action: 1, Wall: 1500 * ms},
		},
	}
	var c art.Collector
	got, err := c.Add(bytes.NewReader(trace.LongRunning()), nil, art.Repetition{Number: 1, First: 60 * time.Second, Main: 4711})
	if err != nil || got.Format != art.LongOnes {
		t.Fatalf("%v: %s, %v", err, got.Format, got.Warnings)
	}
	m := c.MethodTraces()
	if len(m.List) != 1 || m.List[0].Name != "com.example.List.bind" || m.List[0].Thread != "main" || m.List[0].SelfMS != 400 {
		t.Errorf("methods %+v, want bind alone: the looper waits, or is not to blame", m.List)
	}
	if w := m.Windows[0]; w.FromMS != 60_000 || w.ToMS != 61_500 {
		t.Errorf("it reaches from %v to %v ms, want 60,000 to 61,500", w.FromMS, w.ToMS)
	}
	if seen := c.Seen(61*time.Second, 61500*time.Millisecond); seen != 400*time.Millisecond {
		t.Errorf("the app is seen for %v, want 400 ms", seen)
	}
}
