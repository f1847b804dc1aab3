package jankcause

import (
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// What a part of a path is blamed on, by what its thread did, the stage and the slice.
func TestBlames(t *testing.T) {
	for _, c := range []struct {
		kind, stage, what string
		want              blame
	}{
		{run.WaitBinder, run.StageDraw, "feed I::m", blame{BinderKind, "feed I::m"}},
		{run.WaitBinder, run.StageDraw, "GC I::m", blame{BinderKind, "GC I::m"}}, // a name with GC is not the collector's
		{run.WaitIO, run.StageDraw, "HeapTaskDaemon", blame{IOKind, "HeapTaskDaemon"}},
		{run.WaitLock, run.StageDraw, "db", blame{LockKind, "db"}},
		{run.WaitLock, run.StageDraw, "HeapTaskDaemon", blame{GCKind, "garbage collection"}},
		{run.WaitRunnable, run.StageDraw, "dex2oat", blame{CPUKind, "dex2oat"}},
		{run.WaitSleep, run.StageDraw, "pool", blame{SleepKind, "pool"}},
		{run.WaitBlocked, run.StageDraw, "mmap", blame{BlockedKind, "mmap"}},
		{run.WaitBlocked, run.StageDraw, "throttle_direct_reclaim", blame{MemoryKind, "throttle_direct_reclaim"}},
		{run.WaitIO, run.StageDraw, "do_swap_page", blame{MemoryKind, "do_swap_page"}},
		{run.WaitIO, run.StageDraw, "folio_wait_bit_common", blame{IOKind, "folio_wait_bit_common"}}, // any page of a file
		{run.WaitBlocked, run.StageDraw, "do_try_to_free_pages", blame{MemoryKind, "do_try_to_free_pages"}},
		{run.WaitBlocked, run.StageDraw, "shrink_dcache_parent", blame{BlockedKind, "shrink_dcache_parent"}},
		{run.WaitRunnable, run.StageDraw, "kswapd#", blame{MemoryKind, "kswapd#"}},
		{run.WaitRunnable, run.StageDraw, "kcompactd0: main", blame{MemoryKind, "kcompactd0: main"}},
		{run.WaitSleep, run.StageDraw, "kswapd0", blame{MemoryKind, "kswapd0"}},
		{run.WaitRunnable, run.StageDraw, "com.example.kswapd0: main", blame{CPUKind, "com.example.kswapd0: main"}},
		{run.WaitBinder, run.StageDraw, "kswapd0", blame{BinderKind, "kswapd0"}},
		{run.WaitGC, run.StageDraw, "x", blame{GCKind, "garbage collection"}},
		{run.WaitGPU, run.StageGPU, "x", blame{GPUKind, "GPU"}},
		{run.WaitBuffer, run.StageRender, "SurfaceFlinger", blame{bufferKind, "surfaceflinger"}},
		{run.WaitIdle, "", "", blame{}},
		{run.WaitRunning, run.StageComposition, "composite", blame{CompositionKind, "surfaceflinger"}},
		{run.WaitRunning, run.StageGPU, "x", blame{GPUKind, "GPU"}},
		{run.WaitRunning, run.StageMeasure, "x", blame{MeasureKind, "x"}},
		{run.WaitRunning, run.StageLayout, "x", blame{LayoutKind, "x"}},
		{run.WaitRunning, run.StageDraw, "x", blame{DrawKind, "x"}},
		{run.WaitRunning, run.StageSync, "x", blame{DrawKind, "x"}},
		{run.WaitRunning, run.StageRender, "x", blame{DrawKind, "x"}},
		{run.WaitRunning, run.StageRender, "dequeueBuffer - VRI", blame{bufferKind, "surfaceflinger"}},
		{run.WaitRunning, run.StageMeasure, "inflate", blame{WorkKind, "inflate"}},
		{run.WaitRunning, run.StageAnimation, "x", blame{WorkKind, "x"}},
	} {
		if got := blameOf(run.FramePart{Name: c.kind, Stage: c.stage, What: c.what}); got != c.want {
			t.Errorf("%s in %s, %q: %+v, want %+v", c.kind, c.stage, c.what, got, c.want)
		}
	}
	work := []string{MeasureKind, LayoutKind, DrawKind, WorkKind}
	draws := []string{DrawKind, GPUKind, CompositionKind}
	for _, kind := range []string{MeasureKind, LayoutKind, DrawKind, WorkKind, BinderKind, GPUKind, CompositionKind, GCKind} {
		if isWork(kind) != slices.Contains(work, kind) || drawsMore(kind) != slices.Contains(draws, kind) {
			t.Errorf("%s is work: %t, draws: %t", kind, isWork(kind), drawsMore(kind))
		}
	}
}

// Each kind has a title and a sentence of its own or those of work, and is found by the paths of
// frames, unless something else finds it.
func TestEachKind(t *testing.T) {
	elsewhere := []string{OverdrawKind, LittleKind, FrequencyKind, UnexplainedKind}
	for _, k := range kinds {
		if (k.blames == nil) != slices.Contains(elsewhere, k.name) {
			t.Errorf("%s is found by paths: %t", k.name, k.blames != nil)
		}
		if !k.work && k.says == nil && k.name != bufferKind && k.name != UnexplainedKind {
			t.Errorf("%s is told as work, and is none", k.name)
		}
		if got := causeKindOf(k.name); got.name != k.name || got.row != k.row {
			t.Errorf("%s is taken for %s", k.name, got.name)
		}
	}
}

// A cause is named in a few words, and a subject without a name by its kind.
func TestTitlesOfCauses(t *testing.T) {
	for want, b := range map[string]blame{
		"waiting for feed": {BinderKind, "feed"}, "waiting for binder": {BinderKind, ""}, "waiting for storage": {IOKind, "ext4"}, "waiting for a lock of db": {LockKind, "db"},
		"waiting for a processor": {CPUKind, "x"}, "drawing what is never shown": {OverdrawKind, "x"}, "little cores": {LittleKind, "little cores"}, "GPU": {GPUKind, "GPU"},
		"waiting for memory": {MemoryKind, "kswapd0"},
		"garbage collection": {GCKind, "garbage collection"}, "layout in x": {LayoutKind, "x"}, "sleep": {SleepKind, ""},
	} {
		if got := plain(title(suspect{blame: b})); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, b := range map[string]blame{
		"binder feed": {BinderKind, "feed"}, "sleep": {SleepKind, ""}, "layout": {LayoutKind, ""}, "layout, x": {LayoutKind, "x"}, "GPU": {GPUKind, "GPU"}, "render.gc": {GCKind, ""},
		"waiting for a buffer of surfaceflinger": {bufferKind, displayProcess}, "waiting for a buffer": {bufferKind, ""}, "waiting for a processor": {CPUKind, " "},
		"waiting for a processor next to logd": {CPUKind, "logd"}, "drawing, DrawFrames": {DrawKind, "DrawFrames #"},
	} {
		if got := plain(row(b)); got != want {
			t.Errorf("the row is %q, want %q", got, want)
		}
	}
}

// TestMemoryIsACause: frames that wait for the kernel's thread that frees pages, and in its
// functions, wait for one thing; behind another thread they wait for a processor.
func TestMemoryIsACause(t *testing.T) {
	before := past(ordinary(), 4, 40)
	short := ordinary()
	short.extra = func(n int, steps *[]rendering.Step) {
		if n%5 == 0 {
			*steps = append(*steps, step(7, run.StageDraw, run.WaitRunnable, "kswapd0"), step(6, run.StageDraw, run.WaitBlocked, "throttle_direct_reclaim"))
		}
	}
	causes := explained(short.record("H", 60), before, flagged)
	if len(causes) != 1 || causes[0].Kind != MemoryKind || !strings.Contains(plain(causes[0].Sentence), "for memory, which is short (kswapd") {
		t.Errorf("memory that is short: %s", brief(causes))
	}
	busy := ordinary()
	busy.extra = every(5, step(13, run.StageDraw, run.WaitRunnable, "com.example.rival: crunch"))
	if causes := explained(busy.record("H", 60), before, flagged); len(causes) != 1 || causes[0].Kind != CPUKind {
		t.Errorf("a busy phone: %s", brief(causes))
	}
}

// Numbers in a name count threads of a pool, and are replaced by "#".
func TestUncountedNames(t *testing.T) {
	for name, want := range map[string]string{"binder:1234_5": "binder:_", "pool-#-thread-09": "pool--thread-", "RenderThread": "RenderThread", "a/b:c": "a/b:c"} {
		if got := uncounted(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// A wait's root is what the lock owner or peer did for half of it or more, by the late frames of
// the event that wait for the same.
func TestRootsOfWaits(t *testing.T) {
	wait := func(event, kind, what, does string, ms float64) run.LateFrame {
		return run.LateFrame{Event: event, Path: []run.PathStep{{Kind: kind, What: what, Thread: "db", Does: does, ToMS: ms}}}
	}
	list := []run.LateFrame{
		wait("tap", run.WaitLock, "db-1", run.WaitIO, 10), wait("tap", run.WaitLock, "db-2", run.WaitRunning, 9), wait("scroll", run.WaitLock, "db-1", run.WaitRunning, 50),
		wait("tap", run.WaitLock, "other", run.WaitRunning, 50), wait("tap", run.WaitSleep, "db-1", run.WaitRunning, 50),
	}
	of := func(event string, b blame) root {
		return teller{head: run.Run{Frames: &run.Frames{Worst: list}}, comparison: comparison{event: event}}.rootOf(b)
	}
	for name, c := range map[string]struct {
		got, want root
	}{
		"a lock whose owner waits for storage": {of("tap", blame{LockKind, "db-7"}), root{"db", run.WaitIO}},
		"of all events its owner works":        {of("", blame{LockKind, "db-7"}), root{}},
		"another lock":                         {of("tap", blame{LockKind, "other"}), root{}},
		"any lock":                             {of("tap", blame{LockKind, ""}), root{}},
		"storage itself":                       {of("tap", blame{IOKind, "db"}), root{}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
	if got := (teller{}).rootOf(blame{LockKind, "db"}); got != (root{}) {
		t.Errorf("without frames: %+v", got)
	}
}

// The basis names earlier runs, or the base build of the same session or of rounds recorded for it.
func TestCompared(t *testing.T) {
	with := func(r *run.Run, repetitions int) teller {
		t := teller{head: run.Run{Session: "night"}}
		if r != nil {
			one := event{late: newTally(), normal: newTally()}
			if repetitions > 0 {
				list := make([]repetition, repetitions)
				for i := range list {
					list[i] = repetition{place: i, frames: 10}
				}
				one.normal.runs = [][]repetition{list}
			}
			t.base, t.comparison.base = []run.Run{*r}, []event{one}
		}
		return t
	}
	for want, t1 := range map[string]teller{
		"":                                     with(nil, 0),
		", compared with 1  earlier run":       with(&run.Run{Session: "other"}, 3),
		", compared with the base build's":     with(&run.Run{Session: "night"}, 0),
		", compared with 3  of the base build": with(&run.Run{Session: "night"}, 3),
		", compared with 4  of the base build, recorded after the verdict": with(&run.Run{Explains: true}, 4),
	} {
		if got := plain(t1.compared()); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	none := with(&run.Run{}, 3)
	none.head.Session = ""
	if got := plain(none.compared()); !strings.Contains(got, "earlier run") {
		t.Errorf("two runs without a session: %q", got)
	}
}

// The part that causes explain is subtracted from all that was lost, except overdraw that is only
// possible, which is part of drawing; the rest is not negative.
func TestLeft(t *testing.T) {
	of := func(kind string, sure diagnose.Sure, share float64) suspect {
		return suspect{blame: blame{kind: kind}, sure: sure, share: share}
	}
	for name, c := range map[string]struct {
		of   []suspect
		want float64
	}{
		"nothing": {nil, 1}, "a call": {[]suspect{of(BinderKind, diagnose.Possible, 0.25)}, 0.75}, "overdraw": {[]suspect{of(OverdrawKind, diagnose.Likely, 0.25)}, 0.75},
		"overdraw, perhaps": {[]suspect{of(OverdrawKind, diagnose.Possible, 0.25)}, 1}, "more than all": {[]suspect{of(BinderKind, diagnose.Clear, 0.75), of(IOKind, diagnose.Clear, 0.5)}, 0},
	} {
		if got := (teller{outcome: outcome{suspects: c.of}}).left(); got != c.want {
			t.Errorf("%s: %g is left, want %g", name, got, c.want)
		}
	}
}

// What is behind a wait is described for the owner itself, or for another thread behind it; for a
// process that is called further it is the wait for that.
func TestRootsInWords(t *testing.T) {
	for _, c := range []struct {
		of   root
		wait blame
		want string
	}{
		{root{}, blame{LockKind, "db"}, ""},
		{root{"db", run.WaitIO}, blame{LockKind, "db"}, ", which itself waits for storage"},
		{root{"db", run.WaitIO}, blame{LockKind, "db at Store.write"}, ", which itself waits for storage"},
		{root{"db", run.WaitIO}, blame{LockKind, "db-2"}, ", behind which db waits for storage"},
		{root{"store", run.WaitRunning}, blame{BinderKind, "peer I::m"}, ", which waits for store"},
	} {
		if got := plain(c.of.words(c.wait)); got != c.want {
			t.Errorf("%+v of %+v: %q, want %q", c.of, c.wait, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		wait blame
		of   root
		want bool
	}{
		"another process": {blame{BinderKind, "peer I::m"}, root{"store", run.WaitRunning}, true}, "the one that is called": {blame{BinderKind, "peer I::m"}, root{"peer", run.WaitRunning}, false},
		"nobody knows which": {blame{BinderKind, "peer I::m"}, root{"", run.WaitRunning}, false}, "a call of nobody knows whom": {blame{BinderKind, ""}, root{"store", run.WaitRunning}, false},
		"a lock": {blame{LockKind, "db"}, root{"store", run.WaitRunning}, false}, "one that waits": {blame{BinderKind, "peer I::m"}, root{"store", run.WaitIO}, false},
	} {
		if got := (teller{}).further(c.wait, c.of); got != c.want {
			t.Errorf("%s: called further: %t", name, got)
		}
	}
}
