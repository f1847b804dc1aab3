package section

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

const each = time.Millisecond

// frame is a frame at a time whose path is these consecutive steps.
func frame(at, took time.Duration, class string, steps ...rendering.Step) rendering.Frame {
	from := time.Duration(0)
	for i := range steps {
		steps[i].From, steps[i].To = from, from+steps[i].To
		from = steps[i].To
	}
	return rendering.Frame{PID: 7, At: at, Took: took, Deadline: 16 * each, Class: class, Path: steps, Cores: rendering.Cores{Little: -1, LittleBusy: -1, BigBusy: -1, Frequency: -1}}
}

// running is time of the app's main thread.
func running(took time.Duration, slice string) rendering.Step {
	return rendering.Step{To: took, Doing: &rendering.Doing{Thread: "main", PID: 7, Process: "com.example.mail", Stage: run.StageLayout, Kind: run.WaitRunning, What: slice}}
}

func waiting(took time.Duration, kind, what string) rendering.Step {
	return rendering.Step{To: took, Doing: &rendering.Doing{Thread: "main", PID: 7, Process: "com.example.mail", Stage: run.StageLayout, Kind: kind, What: what}}
}

func collected(t *testing.T, all ...Repetition) *run.Frames {
	t.Helper()
	var c Collector
	for _, r := range all {
		c.Add(r)
	}
	out := c.Frames()
	record := run.Run{App: run.App{Package: "com.example.mail"}, Scenario: "scroll", Status: run.Complete, Iterations: []run.Iteration{{}}, Frames: out}
	if _, err := run.Encode(record); err != nil {
		t.Fatalf("no record: %v", err)
	}
	return out
}

func repetition(n int, frames ...rendering.Frame) Repetition {
	return Repetition{Number: n, Trace: rendering.Trace{Source: rendering.FrameTimeline, Frames: frames}}
}

func TestCollectorGroupsLikeFrames(t *testing.T) {
	tap := []trace.Event{{Name: "tap", At: 100 * each}}
	var all []Repetition
	for n := 1; n <= 2; n++ {
		r := repetition(n,
			frame(0, 8*each, run.NormalFrames, running(8*each, "start")),
			frame(100*each, 6*each, run.NormalFrames, running(6*each, "layout")),
			frame(120*each, 30*each, run.SlowFrames, running(6*each, "layout"), waiting(time.Duration(10*n)*each, run.WaitBinder, "system_server I::m"), running(4*each, "layout")),
		)
		r.Events = tap
		all = append(all, r)
	}
	got := collected(t, all...)
	if len(got.Groups) != 3 || got.Groups[0].Event != run.Start || got.Groups[2].Event != "tap" || got.Groups[2].Class != run.SlowFrames || got.Groups[2].Frames != 2 {
		t.Fatalf("groups %+v", got.Groups)
	}
	want := []run.FramePart{
		{Name: run.WaitBinder, Thread: "main", Stage: run.StageLayout, What: "system_server I::m", Spread: run.Spread{Count: 2, MeanMS: 15, QuantilesMS: []float64{10, 12.5, 15, 17.5, 20}}, RepetitionsMS: []float64{10, 20}},
		{Name: run.WaitRunning, Thread: "main", Stage: run.StageLayout, What: "layout", Spread: run.Spread{Count: 2, MeanMS: 10, QuantilesMS: []float64{10, 10, 10, 10, 10}}, RepetitionsMS: []float64{10, 10}},
	}
	if diff := cmp.Diff(want, got.Groups[2].Path); diff != "" {
		t.Errorf("path (-want +got):\n%s", diff)
	}
	if w := got.Groups[2].Waits; len(w) != 2 || w[0].Name != run.WaitBinder || w[0].What != "" || w[0].MeanMS != 15 {
		t.Errorf("waits %+v", w)
	}
	if got := got.Groups[2].Repetitions; !slices.Equal(got, []int{1, 1}) {
		t.Errorf("frames of each repetition %v", got)
	}
	if took := got.Groups[0].Took; took.Count != 2 || took.MeanMS != 8 {
		t.Errorf("took %+v", took)
	}
}

// Many repetitions share entries, and one without such frames has none.
func TestCollectorBoundsRepetitions(t *testing.T) {
	var all []Repetition
	for n := 1; n <= 20; n++ {
		took := time.Duration(n) * each
		if n == 3 {
			all = append(all, repetition(n))
			continue
		}
		all = append(all, repetition(n, frame(0, took, run.NormalFrames, running(took, "layout"))))
	}
	g := collected(t, all...).Groups[0]
	frames := []int{2, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	times := []float64{1 + 17, 2 + 18, 19, 4 + 20, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	if !slices.Equal(g.Repetitions, frames) || !slices.Equal(g.Path[0].RepetitionsMS, times) || !slices.Equal(g.Waits[0].RepetitionsMS, times) {
		t.Errorf("frames %v, path %v", g.Repetitions, g.Path[0].RepetitionsMS)
	}
}

// The frames of an evidence file are listed worst first, with the path from thread to thread.
func TestCollectorListsTheWorstFrames(t *testing.T) {
	r := repetition(3,
		frame(0, 20*each, run.SlowFrames, running(20*each, "layout")),
		frame(100*each, 900*each, run.FrozenFrames, running(100*each, "layout"),
			rendering.Step{To: 800 * each, Doing: &rendering.Doing{Thread: "Binder:5_1", PID: 5, Process: "system_server", Kind: run.WaitIO, What: "f2fs_sync_file"}}),
		frame(1200*each, 40*each, run.BufferedFrames, running(40*each, "layout")),
		frame(1300*each, 6*each, run.NormalFrames, running(6*each, "layout")),
		frame(1400*each, 9*each, run.NormalFrames, running(9*each, "layout")),
		frame(1500*each, 14*each, run.NormalFrames, running(14*each, "layout")),
	)
	r.Evidence = strings.Repeat("ab", 32)
	got := collected(t, r)
	if len(got.Worst) != 2 || got.LeftOut != 0 || got.Worst[0].DurationMS != 900 || got.Worst[1].DurationMS != 20 || got.Worst[0].Evidence != r.Evidence || got.Worst[0].Repetition != 3 {
		t.Fatalf("worst %+v", got.Worst)
	}
	want := []run.PathStep{
		{Thread: "main", Stage: run.StageLayout, Kind: run.WaitRunning, What: "layout", ToMS: 100},
		{Thread: "Binder:5_1", Process: "system_server", Kind: run.WaitIO, What: "f2fs_sync_file", FromMS: 100, ToMS: 900},
	}
	if diff := cmp.Diff(want, got.Worst[0].Path); diff != "" {
		t.Errorf("path (-want +got):\n%s", diff)
	}
	if len(got.Usual) != 1 || got.Usual[0].DurationMS != 9 {
		t.Errorf("usual %+v, want the frame of 9 ms", got.Usual)
	}
}

// However many frames, events, names and steps a trace has, the record is bounded.
func TestCollectorIsBounded(t *testing.T) {
	var all []Repetition
	for n := 1; n <= 2; n++ {
		var frames []rendering.Frame
		var events []trace.Event
		for i := range 60 {
			at := time.Duration(i) * 1000 * each
			events = append(events, trace.Event{Name: fmt.Sprint("event ", i), At: at})
			for _, class := range []string{run.NormalFrames, run.SlowFrames, run.FrozenFrames, run.BufferedFrames} {
				var steps []rendering.Step
				for k := range 300 {
					steps = append(steps, running(each/10, strings.Repeat("x", 300)+fmt.Sprint("type=", k%100)), waiting(each/10, run.WaitLock, "\xff"))
				}
				frames = append(frames, frame(at, 60*each, class, steps...))
			}
		}
		r := repetition(n, frames...)
		r.Events = events
		all = append(all, r)
	}
	got := collected(t, all...)
	events := map[string]bool{}
	late := 0
	for _, g := range got.Groups {
		events[g.Event] = true
		if g.Class == run.SlowFrames || g.Class == run.FrozenFrames {
			late += g.Frames
		}
	}
	if len(events) != maxEvents+1 || late != 2*60*2 || got.LeftOut != late-len(got.Worst) {
		t.Errorf("%d events, %d late frames, %d of them listed and %d left out", len(events), late, len(got.Worst), got.LeftOut)
	}
	for _, f := range slices.Concat(got.Worst, got.Usual) {
		if len(f.Path) > maxSteps || len(f.Path) > 0 && (f.Path[0].FromMS != 0 || f.Path[len(f.Path)-1].ToMS != 60) {
			t.Fatalf("a path of %d steps", len(f.Path))
		}
	}
	data, err := run.Encode(run.Run{App: run.App{Package: "a.b"}, Scenario: "s", Status: run.Complete, Iterations: []run.Iteration{{}}, Frames: got})
	if err != nil || len(data) > 4<<20 {
		t.Errorf("a record of %d bytes, %v", len(data), err)
	}
}

func TestPartNames(t *testing.T) {
	for name, c := range map[string]struct {
		step rendering.Step
		want part
	}{
		"a pool's threads are one":    {rendering.Step{Doing: &rendering.Doing{PID: 7, Thread: "pool-3-thread-7", Kind: run.WaitRunnable, What: "kworker/u16:2"}}, part{"runnable", "", "pool-#-thread-#", "kworker/u16:#"}},
		"a frame's number goes":       {rendering.Step{Doing: &rendering.Doing{PID: 7, Thread: "main", Kind: run.WaitRunning, What: "Choreographer#doFrame 48"}}, part{"running", "", "main", "Choreographer#doFrame #"}},
		"a kind of view stays":        {rendering.Step{Doing: &rendering.Doing{PID: 7, Thread: "main", Kind: run.WaitRunning, What: "RV CreateView type=12"}}, part{"running", "", "main", "RV CreateView type=12"}},
		"a resource's number goes":    {rendering.Step{Doing: &rendering.Doing{PID: 7, Thread: "main", Kind: run.WaitRunning, What: "id=2131296"}}, part{"running", "", "main", "id=#"}},
		"a call keeps its version":    {rendering.Step{Doing: &rendering.Doing{PID: 7, Thread: "main", Kind: run.WaitBinder, What: "hwc a.b@2.1::IComposer::commit"}}, part{"binder", "", "main", "hwc a.b@2.1::IComposer::commit"}},
		"the display's process":       {rendering.Step{Doing: &rendering.Doing{PID: 5, Process: "surfaceflinger", Stage: run.StageComposition, Thread: "RenderEngine", Kind: run.WaitRunning, What: "m"}}, part{"running", "composition", "surfaceflinger", "m"}},
		"a process by its name":       {rendering.Step{Doing: &rendering.Doing{PID: 5, Process: "system_server", Thread: "Binder:5_1", Kind: run.WaitRunning, What: "m"}}, part{"running", "", "system_server", "m"}},
		"sleep is told by its slice":  {rendering.Step{Doing: &rendering.Doing{PID: 7, Thread: "main", Kind: run.WaitSleep, Slice: "GC: Wait For Completion Alloc"}}, part{"sleep", "", "main", "GC: Wait For Completion Alloc"}},
		"a wait for I/O by what read": {rendering.Step{Doing: &rendering.Doing{PID: 7, Thread: "main", Kind: run.WaitIO, What: "f2fs_wait", Slice: "open"}}, part{"io", "", "main", "f2fs_wait"}},
	} {
		if got := partsOf(rendering.Frame{PID: 7, Path: []rendering.Step{c.step}}); got[0] != c.want {
			t.Errorf("%s: %+v, want %+v", name, got[0], c.want)
		}
	}
}

// A call's whole time is attributed to the call, since an app can only change what it waits for.
func TestPartOfACall(t *testing.T) {
	peer := func(pid int32, does string) rendering.Step {
		return rendering.Step{
			To: each, Doing: &rendering.Doing{PID: pid, Process: fmt.Sprint("process ", pid), Thread: "Binder", Stage: run.StageDraw, Kind: run.WaitBinder, Does: does, What: "feed IFeed::query"},
		}
	}
	holder := rendering.Step{To: each, Doing: &rendering.Doing{PID: 7, Thread: "db-writer", Stage: run.StageDraw, Kind: run.WaitLock, Does: run.WaitIO, What: "db-writer"}}
	one := frame(0, 6*each, run.SlowFrames, running(each, "layout"), peer(8, run.WaitRunning), peer(9, run.WaitIO), holder, running(each, "draw"))
	got := partsOf(one)
	wait := func(kind, what string) part { return part{kind, run.StageDraw, "main", what} }
	own := func(slice string) part { return part{run.WaitRunning, run.StageLayout, "main", slice} }
	want := []part{own("layout"), wait(run.WaitBinder, "feed IFeed::query"), wait(run.WaitBinder, "feed IFeed::query"), wait(run.WaitLock, "db-writer"), own("draw")}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(part{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var does []string
	for _, s := range collected(t, repetition(1, one)).Worst[0].Path {
		does = append(does, s.Thread+" "+s.Kind+" "+s.Does)
	}
	if diff := cmp.Diff([]string{"main running ", "Binder binder running", "Binder binder io", "db-writer lock io", "main running "}, does); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGroupCores(t *testing.T) {
	little := frame(0, 8*each, run.SlowFrames, running(8*each, "layout"))
	little.Cores = rendering.Cores{Little: 1, LittleBusy: 1, BigBusy: 0, Frequency: 0.5}
	beside := little
	beside.Cores.BigBusy = 1
	unknown := frame(0, 8*each, run.SlowFrames)
	got := collected(t, repetition(1, little, beside, unknown)).Groups[0].CPU
	want := &run.FrameCPU{LittleShare: new(1.0), LittleBusy: new(1.0), BigBusy: new(0.5), FrequencyShare: new(0.5), Saturated: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := collected(t, repetition(1, unknown)).Groups[0].CPU; got != nil {
		t.Errorf("of nothing known: %+v", got)
	}
}

// The kept values represent the others, and sum and extremes are over all.
func TestSpreadOfManyTimes(t *testing.T) {
	var s sample
	for i := range 100_000 {
		s.add(float64((i*7919)%100_000), 0)
	}
	q := s.spread(5)
	if q.Count != 100_000 || q.MeanMS != 49_999.5 || q.QuantilesMS[0] != 0 || q.QuantilesMS[4] != 99_999 || len(s.kept) > maxKept {
		t.Fatalf("%+v of %d kept", q, len(s.kept))
	}
	for i, want := range []float64{25_000, 50_000, 75_000} {
		if off(q.QuantilesMS[i+1], want) > 5_000 {
			t.Errorf("quantile %d of 4: %g, want about %g", i+1, q.QuantilesMS[i+1], want)
		}
	}
}

func TestCollectorWithoutFrames(t *testing.T) {
	if got := collected(t, repetition(1)); got != nil {
		t.Errorf("%+v", got)
	}
}

// All conditions must hold: little cores without a rest, big ones idle.
func TestSaturated(t *testing.T) {
	for _, c := range []struct {
		cores rendering.Cores
		want  int
	}{
		{rendering.Cores{Little: 1, LittleBusy: 1, BigBusy: 0.1, Frequency: 1}, 1},
		{rendering.Cores{Little: 0.5, LittleBusy: 1, BigBusy: 0.1, Frequency: 1}, 0},
		{rendering.Cores{Little: 1, LittleBusy: 0.5, BigBusy: 0.1, Frequency: 1}, 0},
		{rendering.Cores{Little: 1, LittleBusy: 1, BigBusy: 0.5, Frequency: 1}, 0},
		{rendering.Cores{Little: 1, LittleBusy: 1, BigBusy: -1, Frequency: 1}, 0},
	} {
		f := frame(0, 20*each, run.SlowFrames, running(20*each, "layout"))
		f.Cores = c.cores
		if got := collected(t, repetition(1, f)).Groups[0].CPU.Saturated; got != c.want {
			t.Errorf("%+v: %d saturated, want %d", c.cores, got, c.want)
		}
	}
}

// Of too many steps the long ones stay, and no time is lost.
func TestPathKeepsLongSteps(t *testing.T) {
	var steps []rendering.Step
	for i := range 200 {
		took := each / 10
		if i%50 == 25 {
			took = 100 * each
		}
		steps = append(steps, waiting(took, run.WaitLock, fmt.Sprint("owner ", string(rune('a'+i%26)), string(rune('a'+i/26)))))
	}
	path := collected(t, repetition(1, frame(0, 419600*time.Microsecond, run.SlowFrames, steps...))).Worst[0].Path
	long, at := 0, 0.0
	for _, s := range path {
		if s.FromMS != at {
			t.Fatalf("a step begins at %g, after one that ends at %g", s.FromMS, at)
		}
		at = s.ToMS
		if s.ToMS-s.FromMS >= 100 {
			long++
		}
	}
	if long != 4 || len(path) > maxSteps || len(path) < maxSteps/2 || off(at, 419.6) > 0.01 {
		t.Errorf("%d steps, %d of them long, to %g ms", len(path), long, at)
	}
}

// A stage's critical part is its part on the path.
func TestStagesCriticalPart(t *testing.T) {
	f := frame(0, 20*each, run.SlowFrames, running(20*each, "layout"))
	f.Stages = []rendering.Stage{{Name: run.StageLayout, Thread: "main", To: 12 * each}, {Name: run.StageDraw, Thread: "main", From: 12 * each, To: 18 * each}}
	got := collected(t, repetition(1, f))
	want := []run.FrameTime{{Name: run.StageLayout, Thread: "main", MS: 12, CriticalMS: 12}, {Name: run.StageDraw, Thread: "main", MS: 6}}
	if diff := cmp.Diff(want, got.Worst[0].Stages); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := got.Groups[0].Stages; len(s) != 2 || s[0].MeanMS != 12 || s[1].MeanMS != 6 {
		t.Errorf("of the group %+v", s)
	}
}

// Names beyond the limit are merged, and none of their time is lost.
func TestGroupMergesManyNames(t *testing.T) {
	var frames []rendering.Frame
	for i := range maxKeys + 100 {
		name := "s"
		for n := i; n > 0; n /= 26 {
			name += string(rune('a' + n%26))
		}
		frames = append(frames, frame(time.Duration(i)*each, each, run.NormalFrames, running(each, name)))
	}
	g := collected(t, repetition(1, frames...)).Groups[0]
	if len(g.Path) != run.MaxPathParts || g.Path[0].What != "" || g.Path[0].Count != 100 || g.Waits[0].Count != maxKeys+100 {
		t.Errorf("%d parts, the first %+v; waits %+v", len(g.Path), g.Path[0], g.Waits)
	}
}

// The frames that keep their paths are first those that differ from each other, then similar ones,
// and the worst frozen one of each repetition.
func TestTelling(t *testing.T) {
	late := func(after, took time.Duration, on string) rendering.Frame {
		return frame(after, took, run.SlowFrames, waiting(took, run.WaitLock, on))
	}
	paths := func(f *run.Frames) (out []string) {
		for _, one := range f.Worst {
			if len(one.Path) > 0 {
				out = append(out, fmt.Sprint(one.Repetition, " ", one.DurationMS))
			}
		}
		return out
	}
	alike := repetition(1, late(0, 50*each, "a"), late(time.Second, 49*each, "a"), late(2*time.Second, 48*each, "a"), late(3*time.Second, 20*each, "b"))
	if got, want := paths(collected(t, alike)), []string{"1 50", "1 49", "1 20"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q: two of one lock, and the one of the other", got, want)
	}
	var froze []Repetition
	var want []string
	for n := 1; n <= 5; n++ {
		froze = append(froze, repetition(n, late(0, time.Duration(1205-n)*time.Millisecond, "a"), late(3*time.Second, 800*time.Millisecond, "a")))
		want = append(want, fmt.Sprint(n, " ", 1205-n))
	}
	if got := paths(collected(t, froze...)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q: one of each repetition", got, want)
	}
}

// TestCollectorKeepsTheLeastWakers: of repetitions with different wake-up information, the one
// with the least counts; one without scheduling has no say.
func TestCollectorKeepsTheLeastWakers(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""}, {"", run.WakersWaking, run.WakersWaking}, {run.WakersWaking, run.WakersWaking, run.WakersWaking}, {run.WakersWaking, run.WakersWakeup, run.WakersWakeup},
		{run.WakersWakeup, run.WakersNone, run.WakersNone}, {run.WakersWaking, run.WakersNone, run.WakersNone}, {"", run.WakersNone, run.WakersNone},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			first, second := repetition(1, frame(0, 5*each, run.NormalFrames)), repetition(2, frame(0, 5*each, run.NormalFrames))
			first.Trace.Wakers, second.Trace.Wakers = pair[0], pair[1]
			if got := collected(t, first, second).Wakers; got != c.want {
				t.Errorf("%q and %q are %q, want %q", pair[0], pair[1], got, c.want)
			}
		}
	}
}

// TestEventsBeyondTheBoundAreOne: 40 events are distinguished, and stay so; the frames of others
// are those of no event.
func TestEventsBeyondTheBoundAreOne(t *testing.T) {
	var r Repetition
	r.Number = 1
	for i := range 2 * 44 { // each event twice
		at := time.Duration(i) * 100 * each
		r.Events = append(r.Events, trace.Event{Name: fmt.Sprint("event ", i%44), At: at})
		r.Trace.Frames = append(r.Trace.Frames, frame(at, 5*each, run.NormalFrames))
	}
	frames := map[string]int{}
	for _, g := range collected(t, r).Groups {
		frames[g.Event] += g.Frames
	}
	if len(frames) != 41 || frames["event 0"] != 2 || frames["event 39"] != 2 || frames[""] != 8 {
		t.Errorf("%d events, %v, want 40 with two frames each, and 8 frames of no event", len(frames), frames)
	}
}

// TestLateFramesFillTheList: 40 late frames are listed, three of an event with their paths and the
// others without, though all are alike; of more events each has its own, and no others are listed.
func TestLateFramesFillTheList(t *testing.T) {
	var one, many Repetition
	one.Number, many.Number = 1, 1
	for i := range 60 {
		at := time.Duration(i) * 100 * each
		one.Trace.Frames = append(one.Trace.Frames, frame(at, 30*each, run.SlowFrames, waiting(30*each, run.WaitLock, "db")))
	}
	for i := range 20 * 4 {
		at := time.Duration(i) * 100 * each
		many.Events = append(many.Events, trace.Event{Name: fmt.Sprint("event ", i%20), At: at})
		many.Trace.Frames = append(many.Trace.Frames, frame(at, 30*each, run.SlowFrames, waiting(30*each, run.WaitLock, "db")))
	}
	for name, c := range map[string]struct {
		of                    Repetition
		listed, paths, others int
	}{"one event": {one, 40, 3, 20}, "20 events": {many, 60, 40, 20}} {
		got := collected(t, c.of)
		paths := 0
		for _, f := range got.Worst {
			if len(f.Path) > 0 {
				paths++
			}
		}
		if len(got.Worst) != c.listed || paths != c.paths || got.LeftOut != c.others {
			t.Errorf("%s: %d listed, %d with their paths, %d left out, want %d, %d and %d", name, len(got.Worst), paths, got.LeftOut, c.listed, c.paths, c.others)
		}
	}
}

// TestLongPathsJoinStepsThatGoOn: if the short ones of 180 steps are left out, like ones become
// adjacent and are joined: 90 of 1 ms with 90 of 0.1 between them are one of 99 ms.
func TestLongPathsJoinStepsThatGoOn(t *testing.T) {
	var steps []rendering.Step
	for range 90 {
		steps = append(steps, running(each, "measure"), waiting(each/10, run.WaitLock, "db"))
	}
	path := collected(t, repetition(1, frame(0, 99*each, run.SlowFrames, steps...))).Worst[0].Path
	if len(path) != 1 || path[0].What != "measure" || path[0].FromMS != 0 || off(path[0].ToMS, 99) > 0.01 {
		t.Errorf("%d steps, the first %+v, want one of measuring from 0 to 99 ms", len(path), path[0])
	}
}
