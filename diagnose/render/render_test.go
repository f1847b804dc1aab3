package render

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
)

// world is how the frames of a made-up app come about.
type world struct {
	frames  int                                    // of each of the repetitions
	extra   func(n int, steps *[]rendering.Step)   // what is wrong with frame n
	cores   func(n int) rendering.Cores            // how it ran
	hidden  func(n int, f *rendering.Frame) string // another class of it, "" for the one that its time makes
	reps    int
	pace    float64 // by which all of the app's own work takes longer
	session float64 // the spread of sessions
	waits   float64 // ms that ordinary frames wait, of each kind
}

func ordinary() world { return world{frames: 250, reps: 2, pace: 1, session: 0.03, waits: 0.1} }

func step(ms float64, stage, kind, what string) rendering.Step {
	return rendering.Step{To: time.Duration(ms * 1e6), Thread: "main", PID: 7, Stage: stage, Kind: kind, Does: kind, What: what}
}

// record is a run of that world: frames of 8 ms or so, with a deadline of 16.7.
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
		c.Add(section.Repetition{Number: rep, Evidence: strings.Repeat("0a", 32), Trace: t, Events: []section.Event{{Name: "scroll"}}})
	}
	return run.Run{ID: id, App: run.App{Package: "com.example.mail"}, Scenario: "read", Status: run.Complete, Started: time.Unix(int64(seed), 0), Frames: c.Frames()}
}

// every adds a step to each so many frames.
func every(n int, s rendering.Step) func(int, *[]rendering.Step) {
	return func(i int, steps *[]rendering.Step) {
		if i%n == 0 {
			*steps = append(*steps, s)
		}
	}
}

var flagged = []diagnose.Finding{{Event: "scroll", Metric: "frames.slow", Direction: gate.ToRegression}}

// past are runs of before.
func past(w world, n int, seed uint64) []run.Run {
	var out []run.Run
	for i := range n {
		out = append(out, w.record(fmt.Sprint("base ", i), seed+uint64(i)))
	}
	return out
}

func TestWhatFramesWaitForIsNamedFirst(t *testing.T) {
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
		"buffers for no known reason":  {every(8, step(20, run.StageRender, run.WaitBuffer, "SurfaceFlinger")), CompositionKind, "surfaceflinger"},
		"what nothing tells":           {every(8, step(20, run.StageLayout, run.WaitSleep, "Thread-#")), SleepKind, "Thread-#"},
		"the kernel":                   {every(8, step(20, run.StageLayout, run.WaitBlocked, "mmap_write_lock")), BlockedKind, "mmap_write_lock"},
		"buffers, since the GPU is slow": {func(n int, steps *[]rendering.Step) {
			every(8, step(12, run.StageGPU, run.WaitGPU, ""))(n, steps)
			every(8, step(14, run.StageRender, run.WaitBuffer, "SurfaceFlinger"))(n, steps)
		}, GPUKind, "GPU"},
	} {
		slow := ordinary()
		slow.extra = c.extra
		for i, base := range [][]run.Run{past(ordinary(), 2, 10), nil} {
			found := flagged
			if base == nil {
				found = nil
			}
			got := Explain(slow.record("head", 99), base, found)
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
		out = append(out, fmt.Sprintf("%s %q %.2f", c.Kind, c.Subject.Name, *c.Explains.Share))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// Sessions differ, and frames do: that is no cause.
func TestNothingIsNamedWhereNothingChanged(t *testing.T) {
	named, all := 0, 100
	for i := range all {
		seed := uint64(1000 + 10*i)
		w := ordinary()
		w.frames = 100
		if got := Explain(w.record("head", seed), past(w, 1+i%3, seed+1), flagged); len(got) > 0 {
			named++
			t.Logf("%d: %s", i, brief(got))
		}
	}
	if named > all*2/100 {
		t.Errorf("%d of %d unchanged builds have a cause, want 2 %% at most", named, all)
	}
}
