package rendering

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// TestSameSteps: two steps are equal if they differ only in their time and CPU.
func TestSameSteps(t *testing.T) {
	t.Parallel()
	is := Doing{Thread: "main", TID: 7, PID: 7, Stage: run.StageDraw, Kind: run.WaitBinder, Does: run.WaitIO, What: "feed", Slice: "load"}
	a, b := is, is
	if !same(&Step{Doing: &a, CPU: 1}, &Step{Doing: &b, CPU: 2, From: 5, To: 6}) {
		t.Error("steps on two CPUs differ")
	}
	for name, change := range map[string]func(d *Doing){
		"TID": func(d *Doing) { d.TID = 8 }, "thread": func(d *Doing) { d.Thread = "worker" }, "stage": func(d *Doing) { d.Stage = run.StageLayout },
		"kind": func(d *Doing) { d.Kind = run.WaitLock }, "does": func(d *Doing) { d.Does = run.WaitRunning }, "what": func(d *Doing) { d.What = "sync" }, "slice": func(d *Doing) { d.Slice = "save" },
	} {
		b := is
		if change(&b); same(&Step{Doing: &a}, &Step{Doing: &b}) {
			t.Errorf("of another %s they are the same", name)
		}
	}
}

// TestStepsJoined: two joined steps have the Doing of the longer one. Their frequency is the mean
// over both, and that of the longer one if the other's is unknown: 3 ms of 1 GHz and 1 ms of 2 GHz
// are 1.25 GHz.
func TestStepsJoined(t *testing.T) {
	t.Parallel()
	long, short := &Doing{What: "long"}, &Doing{What: "short"}
	for _, c := range []struct{ long, short, want int32 }{{1_000_000, 2_000_000, 1_250_000}, {1_000_000, 0, 1_000_000}, {0, 2_000_000, 0}} {
		a, b := Step{From: 0, To: 3 * at, Doing: long, KHz: c.long}, Step{From: 3 * at, To: 4 * at, Doing: short, KHz: c.short}
		got := joined(a, b)
		if got.From != 0 || got.To != 4*at || got.What != "long" || got.KHz != c.want {
			t.Errorf("at %d and %d kHz: %v, want %d", c.long, c.short, got, c.want)
		}
		b.From, b.To, a.From, a.To = 0, at, at, 4*at
		if got := joined(b, a); got.From != 0 || got.To != 4*at || got.What != "long" || got.KHz != c.want {
			t.Errorf("the shorter one first: %v, want %d", got, c.want)
		}
	}
}

// TestStepsBounded: of too many steps the shortest are merged into the one before: first those of
// the same thread and activity, and of another only if they are much shorter.
func TestStepsBounded(t *testing.T) {
	t.Parallel()
	of := func(parts ...Step) (out []Step) {
		var from time.Duration
		for _, s := range parts {
			s.From, s.To = from, from+s.To
			from = s.To
			out = append(out, s)
		}
		return out
	}
	step := func(took time.Duration, tid int32, kind, does, what string) Step {
		return Step{To: took, Doing: &Doing{TID: tid, Kind: kind, Does: does, What: what}}
	}
	runs := func(took time.Duration, what string) Step {
		return step(took, 7, run.WaitRunning, run.WaitRunning, what)
	}
	const us = time.Microsecond
	for name, other := range map[string]Step{
		"of another thread": step(10*us, 8, run.WaitRunning, run.WaitRunning, "x"), "of another kind": step(10*us, 7, run.WaitLock, run.WaitRunning, "x"), "that does another thing": step(10*us, 7, run.WaitRunning, run.WaitIO, "x"),
	} {
		got := bounded(of(runs(1000*us, "a"), other, runs(1000*us, "b"), runs(100*us, "c")), 3)
		if len(got) != 3 || got[0].To != 1000*us || got[1].To != 1010*us || got[2].To != 2110*us || got[2].What != "b" {
			t.Errorf("%s: %v, want that of 10 µs kept, and c a part of b", name, got)
		}
	}
	// Neither is like the one before it: that of 1 µs is merged, and that of 40 µs is not.
	got := bounded(of(runs(1000*us, "a"), step(us, 8, run.WaitLock, run.WaitLock, "x"), runs(1000*us, "b"), step(40*us, 9, run.WaitLock, run.WaitLock, "y")), 3)
	if len(got) != 3 || got[0].To != 1001*us || got[2].What != "y" {
		t.Errorf("%v, want that of 1 µs a part of a", got)
	}
	if got := bounded(of(runs(us, "a"), runs(us, "b")), 2); len(got) != 2 {
		t.Errorf("as many as there may be are %d", len(got))
	}
}

// TestStepsShareDoings: equal Doings of several frames are interned.
func TestStepsShareDoings(t *testing.T) {
	t.Parallel()
	r := newReader(App{}, maxRows)
	one := r.doing(&Doing{What: "feed"})
	r.doing(&Doing{What: "sync"})
	if again := r.doing(&Doing{What: "feed"}); again != one {
		t.Error("a second copy is kept")
	}
}

// TestTurnsOfACPU: a turn without an end lasts until the next one begins, or until the end of the
// interval; the idle thread has none.
func TestTurnsOfACPU(t *testing.T) {
	t.Parallel()
	states := &sched.Reader{Names: []string{"", "S"}}
	states.Turns.Rows = []sched.Turn{{At: 0, For: 10, Thread: 1}, {At: 10, For: 5, Thread: 0}, {At: 20, For: -1, Thread: 2}, {At: 30, For: 5, Thread: 3}, {At: 36, For: -1, Thread: 4}}
	states.States.Rows = []sched.State{{At: 0, For: 10, Thread: 0}, {At: 20, For: -1, Thread: 0}}
	var work int
	h := &history{sched: states, work: &work}
	h.turnRows = sorted(5, 1, func(int) int { return 0 })
	h.stateRows = sorted(2, 1, func(int) int { return 0 })
	got := map[int32]time.Duration{}
	h.turns(0, 5, 40, func(thread int32, took time.Duration) { got[thread] += took })
	for thread, want := range map[int32]time.Duration{0: 0, 1: 5, 2: 10, 3: 5, 4: 4} {
		if got[thread] != want {
			t.Errorf("thread %d has %d ns, want %d", thread, got[thread], want)
		}
	}
	for at, want := range map[time.Duration]int{0: -1, 5: 0, 10: 0, 15: -1, 25: 20, 99: 20} {
		s, ended := h.stateBefore(0, at)
		if s == nil != (want < 0) || s != nil && int(s.At) != want || at == 15 && ended != 10 {
			t.Errorf("at %d the state is %+v, ended at %d, want that of %d", at, s, ended, want)
		}
	}
	for _, thread := range []int32{none, 1, 99} {
		if s, _ := h.stateBefore(thread, 99); s != nil {
			t.Errorf("thread %d, of which nothing is known, has the state %+v", thread, s)
		}
	}
}

// TestSetRejectsImpossibleFrequencies: impossible frequencies are left out.
func TestSetRejectsImpossibleFrequencies(t *testing.T) {
	t.Parallel()
	r := newReader(App{}, maxRows)
	for _, c := range [][2]int64{{-1, 1000}, {maxCPUs, 1000}, {0, 0}, {0, -5}, {0, 100_000_001}} {
		r.set(at, c[0], c[1])
	}
	if len(r.clocks) != 0 {
		t.Errorf("%+v", r.clocks)
	}
	if r.set(at, 1, 100_000_000); len(r.clocks) != 2 || r.clocks[1].most != 100_000_000 {
		t.Errorf("%+v", r.clocks)
	}
	info := []byte(nil)
	for range maxCPUs + 5 {
		info = append(info, 0x0a, 3, 0x10, 0xe8, 7) // CpuInfo.cpus of one frequency, 1000
	}
	s := newSurvey(packets.New())
	if s.cpus(append(info, 0x10, 1)); s.possible[maxCPUs-1] != 1000 {
		t.Errorf("the last CPU can run at %d kHz", s.possible[maxCPUs-1])
	}
}

// TestCoresWithoutClusters: if all CPUs are equal none is little or big, and for a frame without a
// length, or without turns, the busy CPUs are unknown.
func TestCoresWithoutClusters(t *testing.T) {
	t.Parallel()
	u := use{{cpu: 0, path: 6, known: 6, cycle: 6 * 1000, busy: 5}, {cpu: 1, path: 2, known: 2, cycle: 2 * 2000, busy: 8}}
	two := []Cluster{{CPUs: []int{0}, MaxKHz: 1000}, {CPUs: []int{1}, MaxKHz: 4000}}
	for name, c := range map[string]struct {
		got, want Cores
	}{
		"two kinds":     {u.cores(two, 10, true), Cores{Little: 0.75, LittleBusy: 0.5, BigBusy: 0.8, Frequency: 10.0 / 14}},
		"no turns":      {u.cores(two, 10, false), Cores{Little: 0.75, LittleBusy: -1, BigBusy: -1, Frequency: 10.0 / 14}},
		"no length":     {u.cores(two, 0, true), Cores{Little: 0.75, LittleBusy: -1, BigBusy: -1, Frequency: 10.0 / 14}},
		"one kind":      {u.cores([]Cluster{{CPUs: []int{0, 1}, MaxKHz: 2000}}, 10, true), Cores{Little: -1, LittleBusy: -1, BigBusy: -1, Frequency: 10.0 / 16}},
		"nothing known": {u.cores(nil, 10, true), Cores{Little: -1, LittleBusy: -1, BigBusy: -1, Frequency: -1}},
		"nothing ran":   {use{}.cores(two, 10, true), Cores{Little: -1, LittleBusy: 0, BigBusy: 0, Frequency: -1}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
}

// TestAppHasProcesses: the app's processes have its name, or that with a colon; the kernel keeps
// the last 15 bytes of a name. A process without a name matches no app.
func TestAppHasProcesses(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"com.example.application": true, "com.example.application:sync": true, "com.example.applications": false, "ple.application": true, "application": false, "": false,
	} {
		if got := (App{Package: "com.example.application"}).has(7, name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
		if (App{}).has(7, name) {
			t.Errorf("%q is of an app without a name", name)
		}
	}
}

// TestPeriodOnceKnown: the distance of frames determines the display's period only if its own
// counter did not.
func TestPeriodOnceKnown(t *testing.T) {
	t.Parallel()
	var apart []time.Duration
	for range 10 {
		apart = append(apart, 11*at)
	}
	for known, want := range map[time.Duration]time.Duration{0: 11 * at, 16 * at: 16 * at} {
		r := &reader{period: known, apart: apart}
		if r.findPeriod(); r.period != want || r.counts.guessed != (known == 0) {
			t.Errorf("known to be %v: %v, guessed: %t, want %v", known, r.period, r.counts.guessed, want)
		}
	}
	r := &reader{}
	for i := range 12 { // frames begin 11 ms apart on one thread, and draws do not count
		begun := time.Duration(i) * 11 * at
		r.started = append(r.started, slice{at: begun, thread: 1}, slice{at: begun + 3*at, thread: 1, draws: true}, slice{at: begun + 5*at, thread: 2, draws: true})
	}
	if r.findPeriod(); r.period != 11*at || len(r.apart) != 11 {
		t.Errorf("%v, by %d distances, want 11 ms by 11", r.period, len(r.apart))
	}
}

// TestNamesOfThreads: the main thread is called so whatever its kernel name, another thread has the
// name that the trace gives it at any time, and one without a name that draws frames is the render
// thread.
func TestNamesOfThreads(t *testing.T) {
	t.Parallel()
	tracker := &threads.Tracker{
		Threads: []threads.Thread{
			{TID: 100, Name: "com.example.app", Process: 0}, {TID: 101, Name: "1.raster", Process: 0}, {TID: 102, Process: 0}, {TID: 103, Process: 0},
			{TID: 104, Process: threads.None}, {TID: 200, Process: threads.None}, {TID: 900, Process: threads.None},
		},
		Processes: []threads.Process{{PID: 100}},
	}
	roster := &threads.Roster{Threads: map[int32]*threads.Member{104: {PID: 100, Name: "pool-1"}}, Processes: map[int32]*threads.Listed{200: {}}}
	h := &history{threads: tracker, roster: roster, renders: map[int32]bool{1: true, 2: true}}
	for thread, want := range map[int32]struct {
		name string
		pid  int32
	}{0: {"main", 100}, 1: {"1.raster", 100}, 2: {"RenderThread", 100}, 3: {"", 100}, 4: {"pool-1", 100}, 5: {"main", 200}, 6: {"", 0}, none: {"", 0}, 7: {"", 0}} {
		name, _ := h.name(thread)
		if pid := h.pid(thread); name != want.name || pid != want.pid {
			t.Errorf("thread %d is %q of process %d, want %q of %d", thread, name, pid, want.name, want.pid)
		}
	}
}
