package jankcause

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
)

// world describes the frames of a made-up app.
type world struct {
	frames  int                                       // of each of the repetitions
	extra   func(n int, steps *[]rendering.Step)      // what is wrong with frame n
	in      func(rep, n int, steps *[]rendering.Step) // the same for a frame of a repetition
	cores   func(n int) rendering.Cores               // how it ran
	hidden  func(n int, f *rendering.Frame) string    // another class of it, "" for the one that follows from its time
	reps    int
	pace    float64 // factor of all of the app's own work
	session float64 // the spread of sessions
	waits   float64 // ms that ordinary frames wait, of each kind
}

func ordinary() world { return world{frames: 250, reps: 3, pace: 1, session: 0.03, waits: 0.1} }

func step(ms float64, stage, kind, what string) rendering.Step {
	return rendering.Step{To: time.Duration(ms * 1e6), Doing: &rendering.Doing{Thread: "main", PID: 7, Stage: stage, Kind: kind, Does: kind, What: what}}
}

// record returns a run of that world: frames of 8 ms or so, with a deadline of 16.7.
func (w world) record(id string, seed uint64) run.Run {
	r := rand.New(rand.NewPCG(seed, 1))
	pace := w.pace * math.Exp(w.session*r.NormFloat64())
	var c section.Collector
	for rep := 1; rep <= w.reps; rep++ {
		t := rendering.Trace{Source: rendering.FrameTimeline}
		again := pace * math.Exp(0.02*r.NormFloat64())
		for n := range w.frames {
			work := func(ms float64, stage, slice string) rendering.Step {
				return step(ms*again*math.Exp(0.25*r.NormFloat64()), stage, run.WaitRunning, slice)
			}
			steps := []rendering.Step{
				work(0.6, run.StageInput, "input"), work(1, run.StageAnimation, "animation"), work(1.5, run.StageMeasure, "measure"), work(1, run.StageLayout, "layout"),
				work(1.6, run.StageDraw, "Record View#draw()"), work(1.8, run.StageRender, fmt.Sprint("DrawFrames ", 1000+n)),
				step(w.waits*r.ExpFloat64(), run.StageAnimation, run.WaitBinder, "system_server IWindow::relayout"), step(w.waits*r.ExpFloat64(), run.StageDraw, run.WaitRunnable, "kworker/u16:2"),
				step(w.waits*r.ExpFloat64(), run.StageRender, run.WaitGPU, ""), step(w.waits*r.ExpFloat64(), run.StageRender, run.WaitBuffer, "SurfaceFlinger"),
			}
			if r.Float64() < 0.02 { // now and then one is late by itself
				steps = append(steps, work(9, run.StageRender, "DrawFrames 1"))
			}
			if w.extra != nil {
				w.extra(n, &steps)
			}
			if w.in != nil {
				w.in(rep, n, &steps)
			}
			f := rendering.Frame{PID: 7, At: time.Duration(n) * 50 * time.Millisecond, Deadline: 16_700 * time.Microsecond, Class: run.NormalFrames, Cores: rendering.Cores{Little: -1, LittleBusy: -1, BigBusy: -1, Frequency: -1}}
			for _, s := range steps {
				s.From, s.To = f.Took, f.Took+s.To
				f.Took = s.To
				f.Path = append(f.Path, s)
			}
			if w.cores != nil {
				f.Cores = w.cores(n)
			}
			switch {
			case f.Took > 700*time.Millisecond:
				f.Class = run.FrozenFrames
			case f.Took > f.Deadline:
				f.Class = run.SlowFrames
			}
			if w.hidden != nil {
				if class := w.hidden(n, &f); class != "" {
					f.Class = class
				}
			}
			t.Frames = append(t.Frames, f)
		}
		c.Add(section.Repetition{Number: rep, Evidence: strings.Repeat("0a", 32), Trace: t, Events: []trace.Event{{Name: "scroll"}}})
	}
	return run.Run{ID: id, App: run.App{Package: "com.example.mail"}, Scenario: "read", Status: run.Complete, Started: time.Unix(int64(seed), 0), Frames: c.Frames()}
}

// explained returns the causes that Explain names, without the entry that there is none.
func explained(head run.Run, base []run.Run, found []diagnose.Finding) []diagnose.Cause {
	return slices.DeleteFunc(Explain(head, base, found), func(c diagnose.Cause) bool { return c.Kind == UnexplainedKind })
}

// every adds a step to every n-th frame.
func every(n int, s rendering.Step) func(int, *[]rendering.Step) {
	return func(i int, steps *[]rendering.Step) {
		if i%n == 0 {
			*steps = append(*steps, s)
		}
	}
}

var flagged = []diagnose.Finding{{Event: "scroll", Metric: "frames.slow", Direction: gate.ToRegression}}

// past returns runs from before.
func past(w world, n int, seed uint64) []run.Run {
	var out []run.Run
	for i := range n {
		out = append(out, w.record(fmt.Sprint("base ", i), seed+uint64(i)))
	}
	return out
}

func TestMainWaitIsNamedFirst(t *testing.T) {
	before := past(ordinary(), 2, 10)
	for name, c := range map[string]struct {
		extra   func(int, *[]rendering.Step)
		kind    string
		subject string
	}{
		"a call in every 8th frame":    {every(8, step(24, run.StageLayout, run.WaitBinder, "feed IFeed::query")), BinderKind, "feed IFeed::query"},
		"a short one in each":          {every(1, step(4, run.StageLayout, run.WaitBinder, "feed IFeed::query")), BinderKind, "feed IFeed::query"},
		"storage":                      {every(16, step(30, run.StageAnimation, run.WaitIO, "f2fs_sync_file")), IOKind, "f2fs_sync_file"},
		"a lock":                       {every(16, step(20, run.StageInput, run.WaitLock, "db-writer")), LockKind, "db-writer"},
		"processors":                   {every(4, step(12, run.StageDraw, run.WaitRunnable, "dex2oat64")), CPUKind, "dex2oat64"},
		"the collector":                {every(16, step(20, run.StageAnimation, run.WaitGC, "GC: Wait For Completion Alloc")), GCKind, "garbage collection"},
		"the collector's thread":       {every(16, step(20, run.StageAnimation, run.WaitRunnable, "HeapTaskDaemon")), GCKind, "garbage collection"},
		"a measure pass":               {every(8, step(14, run.StageMeasure, run.WaitRunning, "com.example.Feed.onMeasure")), MeasureKind, "com.example.Feed.onMeasure"},
		"layout without a name":        {every(8, step(14, run.StageLayout, run.WaitRunning, "layout")), LayoutKind, "layout"},
		"drawing on the render thread": {every(8, step(14, run.StageRender, run.WaitRunning, "shader_compile")), DrawKind, "shader_compile"},
		"inflating while measured":     {every(8, step(14, run.StageMeasure, run.WaitRunning, "inflate")), WorkKind, "inflate"},
		"Compose":                      {every(8, step(14, run.StageAnimation, run.WaitRunning, "Compose:recompose")), WorkKind, "Compose:recompose"},
		"the GPU":                      {every(8, step(20, run.StageGPU, run.WaitGPU, "")), GPUKind, "GPU"},
		"SurfaceFlinger":               {every(8, step(20, run.StageComposition, run.WaitRunning, "composite")), CompositionKind, "surfaceflinger"},
		"what nothing tells":           {every(8, step(20, run.StageLayout, run.WaitSleep, "Thread-#")), SleepKind, "Thread-#"},
		"the kernel":                   {every(8, step(20, run.StageLayout, run.WaitBlocked, "mmap_write_lock")), BlockedKind, "mmap_write_lock"},
		"buffers, since the GPU is slow": {func(n int, steps *[]rendering.Step) {
			every(8, step(12, run.StageGPU, run.WaitGPU, ""))(n, steps)
			every(8, step(14, run.StageRender, run.WaitBuffer, "SurfaceFlinger"))(n, steps)
		}, GPUKind, "GPU"},
	} {
		slow := ordinary()
		slow.extra = c.extra
		for i, base := range [][]run.Run{before, nil} {
			found := flagged
			if base == nil {
				found = nil
			}
			got := explained(slow.record("head", 99), base, found)
			if name == "a short one in each" && base == nil {
				continue // of nothing else it is known that it was not there before
			}
			if len(got) == 0 || got[0].Kind != c.kind || got[0].Subject.Name != c.subject {
				t.Errorf("%s, %d: %s", name, i, brief(got))
				continue
			}
			if err := diagnose.Validate(got); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if len(got[0].Evidence) == 0 || got[0].Picture == nil || got[0].Event != "scroll" || got[0].Run != "head" {
				t.Errorf("%s: %+v", name, got[0])
			}
		}
	}
}

func brief(causes []diagnose.Cause) string {
	var out []string
	for _, c := range causes {
		share := -1.0
		if c.Explains.Share != nil {
			share = *c.Explains.Share
		}
		out = append(out, fmt.Sprintf("%s %q %.2f %s", c.Kind, c.Subject.Name, share, c.Explains.Sure))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// Sessions differ, and so do frames: that is no cause.
func TestNoCauseWithoutChange(t *testing.T) {
	named, all := 0, 60
	for i := range all {
		seed := uint64(1000 + 10*i)
		w := ordinary()
		w.frames = 100
		if got := explained(w.record("head", seed), past(w, 1+i%3, seed+1), flagged); len(got) > 0 {
			named++
			t.Logf("%d: %s", i, brief(got))
		}
	}
	if named > all*2/100 {
		t.Errorf("%d of %d unchanged builds have a cause, want 2 %% at most", named, all)
	}
}

// Real apps have many slices, of which a record lists the longest: which of several equal ones is
// listed differs from run to run.
func TestNoCauseAmongManySlices(t *testing.T) {
	with := func(longer int) world { // every other part takes 2 % longer in some sessions
		w := ordinary()
		w.frames = 60
		w.extra = func(n int, steps *[]rendering.Step) {
			for k := range 60 {
				stage := [4]string{run.StageMeasure, run.StageLayout, run.StageDraw, run.StageAnimation}[k/2%4]
				kind := [3]string{run.WaitRunning, run.WaitRunning, run.WaitBinder}[k/2%3]
				ms := 0.1 * float64(101+k%2*longer) / 100
				*steps = append(*steps, step(ms, stage, kind, "com.example.Part"+string(rune('A'+k/26))+string(rune('A'+k%26))))
			}
		}
		return w
	}
	head, base := with(1), with(-1)
	if got := explained(head.record("head", 3000), past(base, 2, 3010), flagged); len(got) > 0 {
		t.Errorf("an unchanged build has a cause: %s", brief(got))
	}
	head.extra = func(n int, steps *[]rendering.Step) {
		with(1).extra(n, steps)
		every(4, step(6, run.StageLayout, run.WaitRunning, "com.example.Feed"))(n, steps)
	}
	if got := explained(head.record("head", 3000), past(base, 2, 3010), flagged); len(got) != 1 || got[0].Kind != LayoutKind || got[0].Subject.Name != "com.example.Feed" {
		t.Errorf("among many slices: %s", brief(got))
	}
}

// ran returns how a frame ran on processors.
func ran(little, littleBusy, bigBusy, frequency float64) func(int) rendering.Cores {
	return func(int) rendering.Cores {
		return rendering.Cores{Little: little, LittleBusy: littleBusy, BigBusy: bigBusy, Frequency: frequency}
	}
}

// All work takes longer, and no piece of it is to blame.
func TestSlowerCoresAreNamedInsteadOfWork(t *testing.T) {
	fast := ordinary()
	fast.cores = ran(0.1, 0.3, 0.4, 0.9)
	untold := ordinary()
	for name, c := range map[string]struct {
		base  world
		cores func(int) rendering.Cores
		kind  string
	}{
		"little cores":                        {fast, ran(0.95, 1, 0.1, 0.9), LittleKind},
		"little cores, of before nothing":     {untold, ran(1, 1, 0.1, 0.9), LittleKind},
		"a low frequency":                     {fast, ran(0.1, 0.3, 0.4, 0.45), FrequencyKind},
		"work, though big cores are as busy":  {untold, ran(1, 1, 0.9, 0.9), DrawKind},
		"work, and cores as they were before": {fast, fast.cores, DrawKind},
	} {
		slow := ordinary()
		slow.pace, slow.cores = 1.8, c.cores
		got := explained(slow.record("head", 5), past(c.base, 2, 20), flagged)
		if len(got) == 0 || got[0].Kind != c.kind {
			t.Errorf("%s: %s", name, brief(got))
			continue
		}
		for _, one := range got {
			if isWork(one.Kind) && !isWork(c.kind) {
				t.Errorf("%s: %s blames work", name, brief(got))
			}
		}
		if err := diagnose.Validate(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What one piece of work takes longer is not due to the cores, though they are slower too.
func TestWorkAndSlowerCores(t *testing.T) {
	fast, slow := ordinary(), ordinary()
	fast.cores, slow.cores = ran(0.1, 0.3, 0.4, 0.9), ran(0.1, 0.3, 0.4, 0.6)
	fast.session, slow.session = 0, 0
	slow.pace, slow.extra = 1.4, every(2, step(16, run.StageMeasure, run.WaitRunning, "com.example.Feed.onMeasure"))
	got := explained(slow.record("head", 5), past(fast, 2, 20), flagged)
	if len(got) != 2 || got[0].Kind != MeasureKind || got[1].Kind != FrequencyKind {
		t.Fatalf("%s", brief(got))
	}
	// A frame has 8 ms of measuring more, and its work of 7.5 ms takes 1.4 times as long.
	for i, want := range []float64{8, 3} {
		if v := *got[i].Explains.Value; math.Abs(v-want) > want*0.25 {
			t.Errorf("%s explains %.2f ms of a frame, want about %g", got[i].Kind, v, want)
		}
	}
}

// The paper's false positives (section 2.3): a frame that was late by time, and that nobody saw,
// since a buffer was ready.
func TestUnseenFramesAreNoCause(t *testing.T) {
	w := ordinary()
	hidden := func(n int, f *rendering.Frame) string {
		if n%4 == 1 {
			return run.BufferedFrames
		}
		return ""
	}
	w.extra = func(n int, steps *[]rendering.Step) {
		if n%4 == 1 {
			*steps = append(*steps, step(30, run.StageLayout, run.WaitBinder, "feed IFeed::query"))
		}
		every(16, step(20, run.StageLayout, run.WaitIO, "f2fs_sync_file"))(n, steps)
	}
	for _, base := range [][]run.Run{past(ordinary(), 2, 40), nil} {
		found := flagged
		if base == nil {
			found = nil
		}
		w.hidden = nil
		if got := explained(w.record("head", 3), base, found); len(got) != 2 || got[0].Kind != BinderKind {
			t.Errorf("without buffers: %s", brief(got))
		}
		w.hidden = hidden
		if got := explained(w.record("head", 3), base, found); len(got) == 0 || got[0].Kind != IOKind || strings.Contains(brief(got), BinderKind) {
			t.Errorf("with a buffer ready: %s", brief(got))
		}
	}
}

// Once frames are behind, each waits for a buffer: that is no cause.
func TestBufferWaitsAreNoCause(t *testing.T) {
	w := ordinary()
	w.extra = every(2, step(20, run.StageRender, run.WaitBuffer, "SurfaceFlinger"))
	if got := explained(w.record("head", 99), past(ordinary(), 2, 10), flagged); len(got) > 0 {
		t.Errorf("%s", brief(got))
	}
}

// A cause is one of late frames: a negligible part of them, and of the lost time, explains nothing,
// whatever else is unblamed.
func TestNegligibleTimeIsNoCause(t *testing.T) {
	for name, c := range map[string]struct {
		ms    float64 // of a call, in each frame
		least float64
	}{
		"one ms beside six seconds": {0.5, 0},
		"four ms beside it":         {4, 0.15},
	} {
		w := ordinary()
		w.extra = func(n int, steps *[]rendering.Step) {
			every(1, step(c.ms, run.StageLayout, run.WaitBinder, "feed IFeed::query"))(n, steps)
			if n == 7 {
				*steps = append(*steps, step(6500, run.StageLayout, run.WaitIdle, ""))
			}
		}
		got := explained(w.record("head", 3), past(ordinary(), 2, 40), flagged)
		if c.least == 0 {
			if len(got) > 0 {
				t.Errorf("%s: %s", name, plain(got[0].Sentence))
			}
			continue
		}
		// 26 of 30 ms by which a frame takes longer on average are unblamed.
		if len(got) != 1 || got[0].Kind != BinderKind || *got[0].Explains.Share < 0.1 || *got[0].Explains.Share > 0.2 {
			t.Errorf("%s: %s", name, brief(got))
		}
	}
}

// Two calls that both take time are two causes, and their parts are of the whole.
func TestTwoCallsAreTwoCauses(t *testing.T) {
	w := ordinary()
	w.extra = func(n int, steps *[]rendering.Step) {
		every(8, step(24, run.StageLayout, run.WaitBinder, "feed IFeed::query"))(n, steps)
		every(8, step(16, run.StageDraw, run.WaitBinder, "system_server IPackageManager::getInfo"))(n+1, steps)
		every(8, step(1, run.StageDraw, run.WaitBinder, "audio IAudio::play"))(n+2, steps)
	}
	head, before := w.record("head", 3), past(ordinary(), 2, 40)
	got := explained(head, before, flagged)
	if len(got) != 2 || got[0].Subject.Name != "feed IFeed::query" || got[1].Subject.Name != "system_server IPackageManager::getInfo" {
		t.Fatalf("%s", brief(got))
	}
	for i, want := range []float64{3, 2} { // ms of every frame
		if v := *got[i].Explains.Value; math.Abs(v-want) > 0.3 {
			t.Errorf("%d: %.2f ms, want about %g", i, v, want)
		}
		e := got[i].Explains
		if !(*e.ShareLow <= *e.Share && *e.Share <= *e.ShareHigh) || e.Sure != diagnose.Clear {
			t.Errorf("%d: share %g from %g to %g, %s", i, *e.Share, *e.ShareLow, *e.ShareHigh, e.Sure)
		}
	}
	// For another number of the same frames the first cause is enough.
	again := append(flagged, diagnose.Finding{Event: "scroll", Metric: "frames.duration_ms", Direction: gate.ToRegression})
	if got := explained(head, before, again); len(got) != 3 || got[2].Metric != "frames.duration_ms" || got[2].Subject.Name != "feed IFeed::query" {
		t.Errorf("of two numbers: %s", brief(got))
	}
}

// plain returns a phrase in one string, numbers as they are.
func plain(p diagnose.Phrase) string {
	var b strings.Builder
	for _, part := range p {
		b.WriteString(part.Text + part.Name)
		if part.Amount != nil {
			fmt.Fprintf(&b, "%.3g %s", part.Amount.Value, part.Amount.Unit)
		}
		if part.Range != nil {
			fmt.Fprintf(&b, "%.2g to %.2g %s", part.Range.Low, part.Range.High, part.Range.Unit)
		}
	}
	return b.String()
}

func TestSentenceNamesWaiterAndOwner(t *testing.T) {
	w := ordinary()
	w.extra = every(8, step(24, run.StageLayout, run.WaitBinder, "feed IFeed::query"))
	got := explained(w.record("head", 3), past(ordinary(), 2, 40), flagged)
	if len(got) == 0 {
		t.Fatal("no cause")
	}
	text := plain(got[0].Sentence)
	for _, want := range []string{"main thread waits ", " ms more per frame for feed IFeed::query (binder) while views are laid out: ", " of the slowdown"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	if basis := plain(got[0].Basis); !strings.Contains(basis, "late frames among 750  in 3  repetitions, compared with 2  earlier runs") {
		t.Errorf("basis %q", basis)
	}
	if l := got[0].Evidence[0]; l.ToMS-l.FromMS < 24 || l.Digest == "" {
		t.Errorf("evidence %+v", l)
	}
	alone := Explain(w.record("", 3), nil, nil)
	if len(alone) == 0 || alone[0].Metric != "frames.late" || alone[0].Explains.Sure != diagnose.Likely || !strings.Contains(plain(alone[0].Sentence), "ms more in a late frame for feed IFeed::query") || !strings.Contains(plain(alone[0].Sentence), "of what makes them late") {
		t.Errorf("of a trace alone: %+v", alone)
	}
}

func TestExplain(t *testing.T) {
	w := ordinary()
	w.extra = every(8, step(24, run.StageLayout, run.WaitBinder, "feed IFeed::query"))
	head := w.record("head", 3)
	base := past(ordinary(), 2, 40)
	finding := func(event, metric string, d gate.Direction) []diagnose.Finding {
		return []diagnose.Finding{{Event: event, Metric: metric, Direction: d}}
	}
	other := func(change func(*run.Run)) []run.Run {
		b := past(ordinary(), 1, 40)
		change(&b[0])
		return b
	}
	for name, c := range map[string]struct {
		base  []run.Run
		found []diagnose.Finding
		sure  diagnose.Sure // "" where nothing is explained
	}{
		"a metric of frames":   {base, finding("scroll", "frames.duration_ms.p95", gate.ToRegression), diagnose.Clear},
		"the whole run":        {base, finding("", "frames.smooth_ratio", gate.ToRegression), diagnose.Clear},
		"joules":               {base, finding("scroll", "energy.total_j", gate.ToRegression), ""},
		"what got better":      {base, finding("scroll", "frames.slow", gate.ToImprovement), ""},
		"another event":        {base, finding("tap", "frames.slow", gate.ToRegression), ""},
		"nothing flagged":      {base, nil, ""},
		"no run before":        {nil, flagged, diagnose.Likely},
		"another app's run":    {other(func(r *run.Run) { r.App.Package = "a.b" }), flagged, diagnose.Likely},
		"another scenario's":   {other(func(r *run.Run) { r.Scenario = "write" }), flagged, diagnose.Likely},
		"another phone's":      {other(func(r *run.Run) { r.Context = map[string]string{"model": "other"} }), flagged, diagnose.Likely},
		"a failed run":         {other(func(r *run.Run) { r.Status = run.Failed }), flagged, diagnose.Likely},
		"a run without frames": {other(func(r *run.Run) { r.Frames = nil }), flagged, diagnose.Likely},
		"frames of which no path was read": {other(func(r *run.Run) {
			for i := range r.Frames.Groups {
				r.Frames.Groups[i].Path, r.Frames.Groups[i].Waits = nil, nil
			}
		}), flagged, diagnose.Likely},
		"frames told by another means": {other(func(r *run.Run) { r.Frames.Source = "doframe" }), flagged, diagnose.Likely},
		"the run itself":               {other(func(r *run.Run) { r.ID = "head" }), flagged, diagnose.Likely},
	} {
		got := explained(head, c.base, c.found)
		if c.sure == "" && len(got) > 0 || c.sure != "" && (len(got) == 0 || got[0].Explains.Sure != c.sure || got[0].Kind != BinderKind) {
			t.Errorf("%s: %s", name, brief(got))
		}
	}
	head.Frames = nil
	if got := explained(head, base, flagged); got != nil {
		t.Errorf("of nothing recorded: %s", brief(got))
	}
	twice := append(finding("scroll", "frames.slow", gate.ToRegression), finding("scroll", "frames.duration_ms", gate.ToRegression)...)
	got := explained(w.record("head", 3), base, twice)
	if len(got) != 2 || got[0].Metric != "frames.slow" || got[0].Picture == nil || got[1].Metric != "frames.duration_ms" || got[1].Picture != nil || got[1].Tables != nil {
		t.Errorf("of two metrics of an event: %+v", got)
	}
}

// Drawing what nobody sees only explains that drawing takes longer.
func TestOverdraw(t *testing.T) {
	views := func(overdraw, area float64) []run.Views {
		return []run.Views{{Event: "scroll", Count: 40, Depth: 9, Overdraw: overdraw, Hidden: []run.HiddenView{{Class: "com.example.Card", ID: "id/card", CoveredBy: "com.example.List", AreaShare: area}}}}
	}
	draws := every(2, step(12, run.StageRender, run.WaitRunning, "DrawFrames 12"))
	waits := every(2, step(12, run.StageLayout, run.WaitBinder, "feed IFeed::query"))
	for name, c := range map[string]struct {
		extra        func(int, *[]rendering.Step)
		base, head   []run.Views
		sure         diagnose.Sure
		overdrawThen string
	}{
		"more overdraw than before":      {draws, views(1.5, 0.1), views(4, 0.1), diagnose.Likely, "4  times (before: 1.5 )"},
		"more hidden than before":        {draws, views(2, 0.1), views(2.2, 0.8), diagnose.Likely, "com.example.Card is drawn and covered by com.example.List"},
		"much, and nothing is known":     {draws, nil, views(4, 0.1), diagnose.Possible, "4  times;"},
		"as before":                      {draws, views(4, 0.8), views(4.2, 0.9), "", ""},
		"little, and nothing is known":   {draws, nil, views(2, 0.4), "", ""},
		"no screen":                      {draws, nil, nil, "", ""},
		"much, and frames wait for else": {waits, views(1, 0), views(4, 1), "", ""},
	} {
		w := ordinary()
		w.extra = c.extra
		head, base := w.record("head", 3), past(ordinary(), 2, 40)
		head.Frames.Views, base[1].Frames.Views = c.head, c.base
		got := explained(head, base, flagged)
		if len(got) == 0 {
			t.Errorf("%s: no cause", name)
			continue
		}
		first := got[0]
		if c.sure == diagnose.Possible && len(got) == 2 && first.Kind == DrawKind {
			first = got[1] // what is known stands before it
		}
		if (c.sure != "") != (first.Kind == OverdrawKind) || c.sure != "" && (first.Explains.Sure != c.sure || first.Subject.Name != "com.example.Card" || !strings.Contains(plain(first.Sentence), c.overdrawThen)) {
			t.Errorf("%s: %s, %s: %s", name, brief(got), first.Explains.Sure, plain(first.Sentence))
		}
		if err := diagnose.Validate(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever the record, its causes are within the limits of what is saved.
func FuzzExplain(f *testing.F) {
	w := ordinary()
	w.frames = 12
	w.extra = every(2, step(24, run.StageLayout, run.WaitBinder, "feed IFeed::query"))
	record := w.record("head", 3)
	record.Iterations = []run.Iteration{{Metrics: map[string]float64{"frames.count": 24}}}
	data, err := run.Encode(record)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, data)
	f.Fuzz(func(t *testing.T, head, base []byte) {
		h, err := run.Decode(head)
		if err != nil {
			return
		}
		var before []run.Run
		if b, err := run.Decode(base); err == nil {
			before = append(before, b)
		}
		for _, found := range [][]diagnose.Finding{nil, flagged, {{Metric: "frames.slow", Direction: gate.ToRegression}}} {
			causes, _ := diagnose.Foremost(Explain(h, before, found), 0)
			if err := diagnose.Validate(causes); err != nil {
				t.Error(err)
			}
		}
	})
}

// A thread that slept may have waited for anything where its waker is unknown: such a cause is
// never clear, and says so.
func TestSleepWithUnknownWakerIsNeverClear(t *testing.T) {
	before := past(ordinary(), 2, 10)
	w := ordinary()
	w.extra = every(4, step(20, run.StageInput, run.WaitSleep, ""))
	head := w.record("head", 77)
	for wakers, c := range map[string]struct {
		sure  diagnose.Sure
		doubt string
	}{
		"":               {diagnose.Clear, "does not say what woke"}, // of a version that did not say
		run.WakersWaking: {diagnose.Clear, "does not say what woke"},
		run.WakersWakeup: {diagnose.Likely, "only as sched_wakeup"},
		run.WakersNone:   {diagnose.Possible, "Who woke threads was not recorded"},
	} {
		head.Frames.Wakers = wakers
		causes := Explain(head, before, flagged)
		if len(causes) == 0 || causes[0].Kind != SleepKind || causes[0].Explains.Sure != c.sure || len(causes[0].Doubts) != 1 || !strings.Contains(plain(causes[0].Doubts[0]), c.doubt) {
			t.Errorf("%q: %+v", wakers, causes)
		}
	}
	w.extra = every(4, step(20, run.StageInput, run.WaitBinder, "com.example.peer IFeed::query"))
	head = w.record("head", 77)
	head.Frames.Wakers = run.WakersNone
	if causes := Explain(head, before, flagged); len(causes) == 0 || causes[0].Explains.Sure != diagnose.Clear || len(causes[0].Doubts) > 0 {
		t.Errorf("a call, which the kernel tells by itself: %+v", causes)
	}
}
