package art_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/art/arttest"
	"github.com/apkgate/apkgate/trace/r8map"
)

// looper is a main thread that waits for messages and handles two, of 30 and of 800 ms, and a
// worker that is in one call from before the trace to its end.
func looper() arttest.Trace {
	const loop, next, poll, dispatch, bind, parse, read = 0, 1, 2, 3, 4, 5, 6
	s := arttest.Trace{
		Methods: []string{
			"android.os.Looper\tloop\t()V\tLooper.java\n",
			"android.os.MessageQueue\tnext\t()Landroid/os/Message;\tMessageQueue.java\n",
			"android.os.MessageQueue\tnativePollOnce\t(JI)V\tMessageQueue.java\n",
			"android.os.Handler\tdispatchMessage\t(Landroid/os/Message;)V\tHandler.java\n",
			"a.b\tc\t(I)V\tSourceFile\n",
			"a.b\td\t()V\tSourceFile\n",
			"java.io.InputStream\tread\t()I\tInputStream.java\n",
		},
		Threads: map[uint32]string{4711: "main", 4720: "Loader"}, Order: []uint32{4711, 4720},
	}
	at := func(thread uint32, method, action int, when uint64) {
		s.Events = append(s.Events, arttest.Event{Thread: thread, Method: method, Action: action, Wall: when * ms, CPU: when * ms})
	}
	at(4711, loop, 0, 0)
	message := func(begin uint64, work func()) {
		at(4711, next, 0, begin-10)
		at(4711, poll, 0, begin-9)
		at(4711, poll, 1, begin-1)
		at(4711, next, 1, begin)
		work()
	}
	message(100, func() {
		at(4711, dispatch, 0, 100)
		at(4711, bind, 0, 110)
		at(4711, bind, 1, 120)
		at(4711, dispatch, 1, 130)
	})
	message(200, func() {
		at(4711, dispatch, 0, 200)
		at(4711, bind, 0, 210)
		at(4711, parse, 0, 220)
		at(4711, parse, 1, 900)
		at(4711, parse, 0, 900)
		at(4711, parse, 1, 990)
		at(4711, bind, 1, 995)
		at(4711, dispatch, 1, 1000)
	})
	at(4720, read, 0, 50)
	at(4720, parse, 0, 60)
	at(4720, parse, 1, 70)
	return s
}

// A looper's messages are its pieces of work, and not the loop, which waits between them.
func TestRecord(t *testing.T) {
	t.Parallel()
	for name, file := range map[string][]byte{"text": looper().Text(3, "dual"), "v2": looper().V2(0xf4, "wall", false), "long-running": looper().LongRunning()} {
		_, got, err := art.Record(bytes.NewReader(file), nil)
		if err != nil {
			t.Fatal(err)
		}
		var chains []string
		for _, c := range got.Chains {
			chains = append(chains, fmt.Sprintf("%s at %.0f: %s %v", c.Thread, c.AtMS, strings.Join(c.Methods, " > "), c.MS))
		}
		main, loader := "main", "Loader"
		if name == "long-running" { // it has no names of threads
			main, loader = "thread 4711", "thread 4720"
		}
		want := []string{
			main + " at 200: android.os.Handler.dispatchMessage > a.b.c > a.b.d [800 785 680]",
			main + " at 100: android.os.Handler.dispatchMessage > a.b.c [30 10]",
			loader + " at 50: java.io.InputStream.read > a.b.d [20 10]",
		}
		if diff := cmp.Diff(want, chains); diff != "" {
			t.Errorf("%s: pieces of work (-want +got):\n%s", name, diff)
		}
		if w := got.Windows[0]; w.FromMS != 0 || w.ToMS != 1000 || w.Calls != 11 || w.Lost != 2 || got.Clock != run.WallClock {
			t.Errorf("%s: traced were %+v", name, w)
		}
		first := run.TracedMethod{Name: "a.b.d", File: "SourceFile", Thread: main, Calls: 2, SelfMS: 770, TotalMS: 770, LongestMS: 680}
		if diff := cmp.Diff(first, got.List[0]); diff != "" {
			t.Errorf("%s: the first method (-want +got):\n%s", name, diff)
		}
		for _, m := range got.List {
			if strings.Contains(m.Name, "nativePollOnce") {
				t.Errorf("%s: waiting for messages is listed", name)
			}
		}
	}
}

func TestRecordOfRenamedMethods(t *testing.T) {
	t.Parallel()
	mapping, err := r8map.Read(strings.NewReader(`com.example.Feed -> a.b:
    void bind(int) -> c
    void parse() -> d
    void skip() -> d
`))
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := art.Record(bytes.NewReader(looper().Text(2, "wall")), mapping)
	if err != nil {
		t.Fatal(err)
	}
	// Two methods became d, and their arguments are the same.
	if want := "[android.os.Handler.dispatchMessage com.example.Feed.bind com.example.Feed.d]"; fmt.Sprint(got.Chains[0].Methods) != want {
		t.Errorf("the chain is %v, want %s", got.Chains[0].Methods, want)
	}
}

// Many threads don't hide the main one.
func TestRecordKeepsTheMainThread(t *testing.T) {
	t.Parallel()
	s := looper()
	for i := range uint32(300) {
		tid := 5000 + i
		s.Order = append(s.Order, tid)
		s.Threads[tid] = fmt.Sprint("pool-", i)
		s.Events = append(s.Events, arttest.Event{Thread: tid, Method: 6}, arttest.Event{Thread: tid, Method: 6, Action: 1, Wall: 2000 * ms})
	}
	_, got, err := art.Record(bytes.NewReader(s.Text(2, "wall")), nil)
	if err != nil {
		t.Fatal(err)
	}
	main := 0
	for _, c := range got.Chains {
		if c.Thread == "main" {
			main++
		}
	}
	if len(got.Chains) != run.MaxCallChains || main != 2 {
		t.Errorf("%d chains, %d of them of the main thread, want %d and 2", len(got.Chains), main, run.MaxCallChains)
	}
	if len(got.List) != 200 || got.LeftOut != 107 || got.List[199].Thread != "main" {
		t.Errorf("%d methods and %d more, the last of %s, want 200, 107 and of main", len(got.List), got.LeftOut, got.List[199].Thread)
	}
}

// Without a clock nothing is long.
func TestRecordWithoutAClock(t *testing.T) {
	t.Parallel()
	seen, got, err := art.Record(bytes.NewReader(looper().AllCalls(0)), nil)
	if err != nil || got != nil || seen.Clock != art.NoClock {
		t.Errorf("%+v, %v, %v", seen, got, err)
	}
}

// A chart keeps the calls that took longest, and counts the others.
func TestChartOfManyCalls(t *testing.T) {
	t.Parallel()
	s := looper()
	s.Events = []arttest.Event{{Thread: 4711, Method: 6, Wall: ms}}
	at := uint64(2 * ms)
	for i := range uint64(1000) { // each takes 1 µs more than the one before
		s.Events = append(s.Events, arttest.Event{Thread: 4711, Method: 5, Wall: at}, arttest.Event{Thread: 4711, Method: 5, Action: 1, Wall: at + (i+1)*1000})
		at += (i + 2) * 1000
	}
	s.Events = append(s.Events, arttest.Event{Thread: 4711, Method: 6, Action: 1, Wall: at})
	file := bytes.NewReader(s.Text(2, "wall"))
	seen, got, err := art.Record(file, nil)
	if err != nil || len(got.Chains) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	chart, err := seen.Chart(file, got.Chains[0])
	if err != nil || len(chart.Calls) != art.MaxCharted || chart.Left != 1001-art.MaxCharted {
		t.Fatalf("%d calls and %d more, %v", len(chart.Calls), chart.Left, err)
	}
	if c := chart.Calls[0]; c.Depth != 0 || c.From != 0 || c.Took != time.Duration(at-ms) {
		t.Errorf("the outermost call is %+v", c)
	}
	if c := chart.Calls[1]; c.Depth != 1 || c.Took != 402*time.Microsecond {
		t.Errorf("the first inner call is %+v, want the first of the 599 longest, of 402 µs", c)
	}
	other := got.Chains[0]
	other.Thread = "pool-1"
	if chart, err = seen.Chart(file, other); err != nil || len(chart.Calls) != 0 {
		t.Errorf("of a thread that is not there: %+v, %v", chart, err)
	}
}
