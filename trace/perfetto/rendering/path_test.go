package rendering_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// A frame of the made-up phone is due from 1000 to 1016 ms. Its main thread gets to run 1 ms after
// the vsync; the test determines its activity until middle. Then it draws for 2 ms, the render
// thread for 3, and the GPU for 2.
const vsync, due, begun = 1000, 1016, 1001

// drawnFrom writes the frame's end, from the time that the main thread's own part has reached.
func (p *phone) drawnFrom(middle float64) (end float64) {
	p.wake(begun, ui, flinger)
	p.run(0, ui, middle, middle+2, asleep)
	p.around(ui, "Choreographer#doFrame 5", begun, middle+2)
	p.slice(ui, "traversal", middle, middle+2)
	p.slice(ui, "draw", middle+0.5, middle+1.5)
	p.wake(middle+2, render, ui)
	p.run(1, render, middle+2, middle+5, asleep)
	p.slice(render, "DrawFrames 5", middle+2, middle+5)
	p.slice(gpuThread, "waiting for GPU completion 5", middle+5, middle+7)
	jank, present := int64(noJank), int64(1)
	if middle+7 > due {
		jank, present = appLate, 2
	}
	p.shown(5, vsync, due, begun, middle+7, jank, present)
	return middle + 7
}

func only(t *testing.T, trace rendering.Trace) *rendering.Frame {
	t.Helper()
	if len(trace.Frames) != 1 {
		t.Fatalf("%d frames: %+v", len(trace.Frames), trace)
	}
	return &trace.Frames[0]
}

// A frame without delays goes from the vsync over both threads to the GPU.
func TestPathOfAUsualFrame(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1004, waiting)
	p.drawnFrom(1004)
	trace := p.read(t)
	f := only(t, trace)
	if len(trace.Warnings) > 0 || trace.Lost > 0 || trace.Source != rendering.FrameTimeline {
		t.Errorf("%+v", trace.Warnings)
	}
	if len(f.Path) != 7 {
		t.Errorf("%d steps: %+v", len(f.Path), f.Path)
	}
	if f.Token != 5 || f.PID != ui || f.Layer != layer || f.At != vsync*time.Millisecond || f.Took != 11*time.Millisecond ||
		f.Deadline != 16*time.Millisecond || f.Class != run.NormalFrames || f.Ready != -1 || f.Jank != "" {
		t.Errorf("%+v", f)
	}
	expect(t, "kinds", took(f.Path, kind), map[string]float64{run.WaitIdle: 1, run.WaitRunning: 8, run.WaitGPU: 2})
	expect(t, "threads", took(f.Path, func(s rendering.Step) string { return s.Thread }),
		map[string]float64{"main": 6, "RenderThread": 3, "GPU completion": 2})
	expect(t, "stages", took(f.Path, func(s rendering.Step) string { return s.Stage }),
		map[string]float64{"": 4, run.StageTraversal: 1, run.StageDraw: 1, run.StageRender: 3, run.StageGPU: 2})
	var stages []string
	for _, s := range f.Stages {
		stages = append(stages, s.Thread+" "+s.Name+" "+s.From.String()+" "+s.To.String())
	}
	want := []string{"main traversal 4ms 6ms", "main draw 4.5ms 5.5ms", "RenderThread render 6ms 9ms", "GPU completion gpu 9ms 11ms"}
	if !slices.Equal(stages, want) {
		t.Errorf("stages %q, want %q", stages, want)
	}
}

// Work of another kind on two CPUs is one step, at the mean of both frequencies.
func TestPathStepOnTwoCPUs(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.clock(900, 0, 1_000_000)
	p.clock(900, 3, 3_000_000)
	p.run(0, ui, begun, 1002.5, waiting)
	p.run(3, ui, 1002.5, 1005.5, asleep)
	p.slice(ui, "Choreographer#doFrame 5", begun, 1005.5)
	p.wake(1005.5, render, ui)
	p.run(5, render, 1005.5, 1010, asleep)
	p.slice(render, "DrawFrames 5", 1005.5, 1010)
	p.shown(5, vsync, due, begun, 1010, noJank, 1)
	f := only(t, p.read(t))
	if len(f.Path) != 3 || f.Path[1].CPU != 3 || f.Path[1].KHz != 2_333_333 || f.Path[2].KHz != 0 {
		t.Errorf("%+v", f.Path)
	}
}

// The main thread waits for a peer's reply. The path shows the peer's activity in the meantime.
func TestPathOverBinder(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1003, asleep)
	p.slice(ui, "animation", begun, 1024)
	p.slice(ui, "AIDL::java::IFeed::query::client", 1002.9, 1023.5)
	p.call(70, ui, peerBinder, 1003, 1003.5, 1023)
	p.slice(peerBinder, "AIDL::java::IFeed::query::server", 1004, 1022)
	p.wake(1003, peerBinder, ui)
	p.run(2, peerBinder, 1003.5, 1005, blocked)
	p.blockedIn(1020, peerBinder, 1, true)
	p.wake(1020, peerBinder, rival)
	p.run(2, peerBinder, 1020, 1023, asleep)
	p.wake(1023, ui, peerBinder)
	p.run(0, ui, 1023, 1024, waiting)
	p.drawnFrom(1024)
	f := only(t, p.read(t))
	if f.Class != run.SlowFrames || f.Jank != "App Deadline Missed" {
		t.Errorf("class %s, jank %q", f.Class, f.Jank)
	}
	expect(t, "kinds", took(f.Path, kind), map[string]float64{run.WaitIdle: 1, run.WaitRunning: 8, run.WaitBinder: 20, run.WaitGPU: 2})
	for _, s := range f.Path {
		if s.Kind == run.WaitBinder && (s.What != "com.example.peer IFeed::query" || s.Stage != run.StageAnimation) {
			t.Errorf("of binder %q in %q", s.What, s.Stage)
		}
	}
	expect(t, "what the peer did", took(f.Path, func(s rendering.Step) string {
		if s.Kind != run.WaitBinder {
			return "other"
		}
		return s.Process + " " + s.Thread + " " + s.Does
	}), map[string]float64{
		"other": 11, "com.example.peer binder:200_1 running": 4.5, "com.example.peer binder:200_1 io": 15, "com.example.peer binder:200_1 runnable": 0.5,
	})
}

// A peer that calls another process makes the frame wait as long, and the frame's own call is
// named.
func TestPathOverTwoProcesses(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1003, asleep)
	p.call(70, ui, peerBinder, 1003, 1003, 1020)
	p.run(2, peerBinder, 1003, 1005, asleep)
	p.call(80, peerBinder, farBinder, 1005, 1005, 1019)
	p.run(3, farBinder, 1005, 1019, asleep)
	p.wake(1019, peerBinder, farBinder)
	p.run(2, peerBinder, 1019, 1020, asleep)
	p.wake(1020, ui, peerBinder)
	p.run(0, ui, 1020, 1021, waiting)
	p.drawnFrom(1021)
	f := only(t, p.read(t))
	expect(t, "binder by process", took(f.Path, func(s rendering.Step) string {
		if s.Kind != run.WaitBinder {
			return "other"
		}
		return s.What + " " + s.Process
	}), map[string]float64{"other": 11, "com.example.peer com.example.peer": 3, "com.example.peer com.example.far": 14})
}

// ART states which thread holds a monitor, by its kernel id and by its name.
func TestPathOverALock(t *testing.T) {
	t.Parallel()
	for name, slicesOf := range map[string][]string{
		"by number and name": {"monitor contention with owner DefaultDispatcher-worker-1 (18) at void Store.write(int)(Store.java:12) waiters=0 blocking from int Store.read()(Store.java:30)", "Lock contention on a monitor lock (owner tid: 102)"},
		"by name":            {"monitor contention with owner DefaultDispatcher-worker-1 (18) at void Store.write(int)(Store.java:12) waiters=0 blocking from int Store.read()(Store.java:30)"},
		"by number":          {"Lock contention on a monitor lock (owner tid: 102)"},
	} {
		p := newPhone()
		p.run(0, ui, begun, 1002, asleep)
		p.slice(ui, "input", begun, 1022)
		for _, one := range slicesOf {
			p.slice(ui, one, 1001.9, 1021.1)
		}
		p.run(3, worker, 990, 1021, asleep)
		p.slice(worker, "Store.write", 995, 1021)
		p.wake(1021, ui, worker)
		p.run(0, ui, 1021, 1022, waiting)
		p.drawnFrom(1022)
		f := only(t, p.read(t))
		expect(t, name, took(f.Path, kind), map[string]float64{run.WaitIdle: 1, run.WaitRunning: 7, run.WaitLock: 19, run.WaitGPU: 2})
		for _, s := range f.Path {
			if s.Kind != run.WaitLock {
				continue
			}
			owner, where, _ := strings.Cut(s.What, " at ")
			if s.TID != worker || s.Does != run.WaitRunning || s.Stage != run.StageInput || s.Slice != "Store.write" ||
				!strings.HasPrefix(owner, "DefaultDispatch") || (where == "void Store.write(int)(Store.java:12)") != strings.Contains(name, "name") {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// The kernel's reasons of uninterruptible sleep: I/O, and others.
func TestPathOverTheKernel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		function   int64
		io         bool
		disk       bool
		fsync      bool
		kind, what string
	}{
		{"a page that is read", 1, true, false, false, run.WaitIO, "filemap_fault"},
		{"a lock of the kernel", 2, false, false, false, run.WaitBlocked, "rwsem_down_read"},
		{"a request to the disk, without symbols", 0, false, true, false, run.WaitIO, "device 259:7"},
		{"a file that is written out", 0, false, false, true, run.WaitIO, "fsync"},
	} {
		p := newPhone()
		p.run(0, ui, begun, 1003, blocked)
		p.slice(ui, "input", begun, 1020)
		if c.disk {
			p.event(1003.5, ui, 45, message(nil).Num(1, 259<<20|7)) // block_rq_issue
		}
		p.event(1002, ui, 256, nil) // f2fs_sync_file_exit of one that began before the trace
		if c.fsync {
			p.event(1002.5, ui, 255, nil) // f2fs_sync_file_enter
			p.event(1019.5, ui, 256, nil)
		}
		if c.function != 0 {
			p.blockedIn(1019, ui, c.function, c.io)
		}
		p.wake(1019, ui, rival)
		p.run(0, ui, 1019, 1020, waiting)
		p.drawnFrom(1020)
		f := only(t, p.read(t))
		expect(t, c.name, took(f.Path, kind), map[string]float64{run.WaitIdle: 1, run.WaitRunning: 8, c.kind: 16, run.WaitGPU: 2})
		at := slices.IndexFunc(f.Path, func(s rendering.Step) bool { return s.Kind == c.kind })
		if at < 0 || f.Path[at].What != c.what || f.Path[at].Stage != run.StageInput {
			t.Errorf("%s: %+v", c.name, f.Path)
		}
	}
}

// A thread that is runnable but does not run: the path names the thread that had its processor for
// the most time.
func TestPathOverAnOccupiedCPU(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1003, waiting)
	p.run(0, rival, 1003, 1005, asleep)
	p.run(0, rivalWorker, 1005, 1015, waiting)
	p.run(0, ui, 1015, 1016, waiting)
	p.run(4, worker, 1003, 1015, asleep) // elsewhere, without an effect
	p.drawnFrom(1016)
	f := only(t, p.read(t))
	expect(t, "kinds", took(f.Path, kind), map[string]float64{run.WaitIdle: 1, run.WaitRunning: 8, run.WaitRunnable: 12, run.WaitGPU: 2})
	for _, s := range f.Path {
		if s.Kind == run.WaitRunnable && s.What != "com.example.rival: crunch" {
			t.Errorf("who ran instead: %q", s.What)
		}
	}
}

// The render thread still draws the last frame: the main thread waits for it.
func TestPathOverTheRenderThread(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1004, asleep)
	p.run(1, render, 990, 1018, waiting)
	p.slice(render, "DrawFrames 4", 990, 1016)
	p.slice(render, "flush commands", 999, 1015)
	p.slice(ui, "Choreographer#doFrame 5", begun, 1019)
	p.slice(ui, "traversal", 1002, 1019)
	p.slice(ui, "postAndWait", 1004, 1018)
	p.slice(render, "DrawFrames 5", 1016, 1022)
	p.slice(render, "syncFrameState", 1016, 1018)
	p.wake(1018, ui, render)
	p.run(0, ui, 1018, 1019, asleep)
	p.run(1, render, 1018, 1022, asleep)
	p.shown(5, vsync, due, begun, 1022, appLate, 2)
	f := only(t, p.read(t))
	expect(t, "threads", took(f.Path, func(s rendering.Step) string { return s.Thread + " " + s.Kind }), map[string]float64{"RenderThread running": 22})
	expect(t, "slices", took(f.Path, func(s rendering.Step) string { return s.Slice }), map[string]float64{"": 7, "flush commands": 15})
}

// The render thread waits for a buffer to draw into, and for the GPU.
func TestPathWaitsOfTheRenderThread(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"dequeueBuffer": run.WaitBuffer, "waitForever": run.WaitGPU, "GC: Wait For Completion Alloc": run.WaitGC, "shader_compile": run.WaitSleep,
	} {
		p := newPhone()
		p.run(0, ui, begun, 1003, asleep)
		p.slice(ui, "Choreographer#doFrame 5", begun, 1003)
		p.wake(1003, render, ui)
		p.run(1, render, 1003, 1004, asleep)
		p.slice(render, "DrawFrames 5", 1003, 1021)
		p.slice(render, name, 1003.5, 1020)
		p.wake(1019, render, worker)
		p.run(3, worker, 1003, 1019, asleep)
		p.run(1, render, 1019, 1021, asleep)
		p.shown(5, vsync, due, begun, 1021, appLate, 2)
		f := only(t, p.read(t))
		expect(t, name, took(f.Path, kind), map[string]float64{run.WaitIdle: 1, run.WaitRunning: 5, want: 15})
	}
}

// An animation of the render thread alone, since Android 12 with the frame's number.
func TestPathOfTheRenderThreadAlone(t *testing.T) {
	t.Parallel()
	for name, running := range map[string]float64{"prepareAndDraw 5": 8, "prepareAndDraw": 8, "prepareAndDraw 4": 0} {
		p := newPhone()
		p.wake(1002, render, flinger)
		p.run(1, render, 1002, 1010, asleep)
		p.slice(render, name, 1002, 1010)
		p.shown(5, vsync, due, begun, 1010, noJank, 1)
		f := only(t, p.read(t))
		if got := took(f.Path, kind)[run.WaitRunning]; got != running {
			t.Errorf("%s: runs for %v ms: %+v", name, got, f.Path)
		}
	}
}

// A wait for a buffer that the GPU still draws into is a wait for the GPU.
func TestPathOverAnUndrawnBuffer(t *testing.T) {
	t.Parallel()
	for until, want := range map[float64]string{1018: run.WaitGPU, 1010: run.WaitBuffer} {
		p := newPhone()
		p.run(0, ui, begun, 1003, asleep)
		p.slice(ui, "Choreographer#doFrame 5", begun, 1003)
		p.wake(1003, render, ui)
		p.run(1, render, 1003, 1004, asleep)
		p.slice(render, "DrawFrames 5", 1003, 1021)
		p.slice(render, "dequeueBuffer", 1003.5, 1020)
		p.slice(gpuThread, "waiting for GPU completion 4", 990, until)
		p.run(1, render, 1019, 1021, asleep)
		p.shown(5, vsync, due, begun, 1021, appLate, 2)
		expect(t, want, took(only(t, p.read(t)).Path, kind), map[string]float64{run.WaitIdle: 1, run.WaitRunning: 5, want: 15})
	}
}

// A frame that the compositor makes late ends when the display shows it.
func TestPathOverTheCompositor(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1003, asleep)
	p.slice(ui, "Choreographer#doFrame 5", begun, 1003)
	p.wake(1003, render, ui)
	p.run(1, render, 1003, 1007, asleep)
	p.slice(render, "DrawFrames 5", 1003, 1007)
	p.shown(5, vsync, due, begun, 1007, cpuLate, 2)
	p.run(5, flinger, 1016, 1040, asleep)
	p.slice(flinger, "commit 3", 1000, 1001) // of the frames before
	p.slice(flinger, "onMessageReceived", 1016, 1040)
	p.slice(flinger, "commit 6", 1016, 1017)
	p.slice(flinger, "composite 6", 1017, 1040)
	p.slice(flinger, "commit 7", 1049, 1050)
	p.display(5, 1016, 1032, 1048)
	f := only(t, p.read(t))
	compositions := slices.DeleteFunc(slices.Clone(f.Stages), func(s rendering.Stage) bool { return s.Name != run.StageComposition })
	if want := []rendering.Stage{{Name: run.StageComposition, Thread: "main", From: 16 * time.Millisecond, To: 40 * time.Millisecond}}; !slices.Equal(compositions, want) {
		t.Errorf("composition %+v", compositions)
	}
	if f.Class != run.SlowFrames || f.Took != 48*time.Millisecond || f.Deadline != 32*time.Millisecond || f.Jank != "SurfaceFlinger CPU Deadline Missed" {
		t.Errorf("%s, %v of %v, %q", f.Class, f.Took, f.Deadline, f.Jank)
	}
	expect(t, "stages", took(f.Path, func(s rendering.Step) string { return s.Stage + " " + s.Does }), map[string]float64{
		" idle": 1, " running": 2, "render running": 4, "composition idle": 8, "composition unknown": 9, "composition running": 24,
	})
	if last := f.Path[len(f.Path)-1]; last.What != "the display" || last.To-last.From != 8*time.Millisecond {
		t.Errorf("the end is %v, want 8 ms of the display", last)
	}
}

// Without the scheduler's events the path rests on slices, with a warning.
func TestPathOfSlicesAlone(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.slice(ui, "animation", 1002, 1012)
	p.slice(ui, "Lock contention on a monitor lock (owner tid: 102)", 1003, 1010)
	p.drawnFrom(1012)
	p.turns = nil
	p.events = slices.DeleteFunc(p.events, func(e event) bool { return e.kind != 3 }) // print
	trace := p.read(t)
	f := only(t, trace)
	expect(t, "kinds", took(f.Path, kind), map[string]float64{run.WaitIdle: 1, run.WaitRunning: 9, run.WaitLock: 7, run.WaitGPU: 2})
	if f.Cores != (rendering.Cores{Little: -1, LittleBusy: -1, BigBusy: -1, Frequency: -1}) {
		t.Errorf("%+v", f.Cores)
	}
	if !slices.ContainsFunc(trace.Warnings, func(w run.Warning) bool { return strings.HasPrefix(w.Text, "scheduling was not recorded") }) {
		t.Errorf("warnings: %v", trace.Warnings)
	}
}

// Threads that wait for each other in a circle, according to the trace, end the search.
func TestPathOverACircleOfThreadsEnds(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1003, asleep)
	p.slice(ui, "Lock contention on a monitor lock (owner tid: 102)", 1002, 1030)
	p.run(3, worker, begun, 1003, asleep)
	p.slice(worker, "Lock contention on a monitor lock (owner tid: 100)", 1002, 1029)
	p.wake(1029, worker, ui)
	p.wake(1030, ui, worker)
	p.run(3, worker, 1029, 1030, asleep)
	p.run(0, ui, 1030, 1031, waiting)
	p.drawnFrom(1031)
	f := only(t, p.read(t))
	expect(t, "kinds", took(f.Path, kind), map[string]float64{run.WaitIdle: 1, run.WaitRunning: 8, run.WaitLock: 27, run.WaitGPU: 2})
}

// Of very many steps the short ones are merged into others, and the total of each kind stays.
func TestPathIsBounded(t *testing.T) {
	t.Parallel()
	p := newPhone()
	at := float64(begun)
	for i := range 2000 {
		p.run(0, ui, at, at+0.02, blocked)
		p.slice(ui, "inflate", at, at+0.01)
		if i%2 == 0 {
			p.slice(ui, "bind", at+0.01, at+0.02)
		}
		p.blockedIn(at+0.03, ui, 1, true)
		p.wake(at+0.03, ui, rival)
		at += 0.03
	}
	at += 40
	p.run(0, ui, at-40, at, waiting)
	p.drawnFrom(at)
	f := only(t, p.read(t))
	kinds := took(f.Path, kind)
	if len(f.Path) > 120 || kinds[run.WaitIO] > 30 || kinds[run.WaitRunning] < 80 {
		t.Errorf("%d steps, %v", len(f.Path), kinds)
	}
}

// TestPathOverAnOccupiedCPUWithATie: of two threads that had the processor for the same time,
// the first in the trace is named each time; one has no known process.
func TestPathOverAnOccupiedCPUWithATie(t *testing.T) {
	t.Parallel()
	const kernel = 900
	for other, want := range map[int64]string{rivalWorker: "com.example.rival: main", kernel: "kswapd0"} {
		p := newPhone()
		p.put(message(nil).Num(field.PacketTimestamp, ns(0)).In(field.PacketProcessTree, message(nil).
			In(field.ProcessTreeThreads, message(nil).Num(field.TreeThreadTID, kernel).Text(field.TreeThreadName, "kswapd0"))))
		p.run(4, rival, 900, 901, asleep)
		p.run(0, ui, begun, 1003, waiting)
		p.run(0, other, 1003, 1009, asleep)
		if other == rivalWorker {
			p.run(0, rival, 1009, 1015, asleep)
		}
		p.run(0, ui, 1015, 1016, waiting)
		p.drawnFrom(1016)
		for range 8 {
			f := only(t, p.read(t))
			at := slices.IndexFunc(f.Path, func(s rendering.Step) bool { return s.Kind == run.WaitRunnable })
			if at < 0 || f.Path[at].What != want {
				t.Fatalf("the processor was taken by %+v, want %q", f.Path, want)
			}
		}
	}
}

// TestPathOverAnUnknownCompositor: if the compositor's thread is unknown, so is its part of a
// late frame; and if no slice shows when it was done, no part is the display's.
func TestPathOverAnUnknownCompositor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known bool
		want  map[string]float64
	}{
		"no thread": {false, map[string]float64{" idle ": 1, " running Choreographer#doFrame 5": 2, "render running DrawFrames 5": 4, "composition unknown ": 41}},
		"no slices": {true, map[string]float64{" idle ": 1, " running Choreographer#doFrame 5": 2, "render running DrawFrames 5": 4, "composition running ": 24, "composition unknown ": 9, "composition idle ": 8}},
	} {
		p := newPhone()
		if !c.known {
			p.packets = p.packets[:1] // the clocks
			p.put(message(nil).Num(field.PacketTimestamp, ns(0)).In(field.PacketProcessTree, message(nil).
				In(field.ProcessTreeProcesses, message(nil).Num(field.TreeProcessPID, ui).Text(field.TreeProcessCmdline, names[ui])).
				In(field.ProcessTreeThreads, message(nil).Num(field.TreeThreadTID, render).Num(field.TreeThreadTGID, ui))))
		}
		p.run(0, ui, begun, 1003, asleep)
		p.slice(ui, "Choreographer#doFrame 5", begun, 1003)
		p.wake(1003, render, ui)
		p.run(1, render, 1003, 1007, asleep)
		p.slice(render, "DrawFrames 5", 1003, 1007)
		p.shown(5, vsync, due, begun, 1007, cpuLate, 2)
		if c.known {
			p.run(5, flinger, 1016, 1040, asleep)
		}
		p.display(5, 1016, 1032, 1048)
		f := only(t, p.read(t))
		expect(t, name, took(f.Path, func(s rendering.Step) string { return s.Stage + " " + s.Kind + " " + s.What }), c.want)
		if at := slices.IndexFunc(f.Path, func(s rendering.Step) bool { return s.Stage == run.StageRender }); at < 0 || f.Path[at].Thread != "RenderThread" {
			t.Errorf("%s: who draws frames is %+v", name, f.Path)
		}
	}
}

// TestPathOverABusyRenderThread: the main thread waits for the render thread,
// which still draws the frame before, and passes it the next one: that is the render thread's work,
// not sleep.
func TestPathOverABusyRenderThread(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.wake(begun, ui, flinger)
	p.run(0, ui, begun, 1004, asleep)
	p.run(1, render, 990, 1018, asleep)
	p.slice(render, "DrawFrames 4", 990, 1018)
	p.slice(ui, "Choreographer#doFrame 5", begun, 1020)
	p.slice(ui, "postAndWait", 1003.5, 1019)
	p.wake(1018, ui, render)
	p.run(0, ui, 1018, 1020, asleep)
	p.wake(1020, render, ui)
	p.run(1, render, 1020, 1023, asleep)
	p.slice(render, "DrawFrames 5", 1020, 1023)
	p.shown(5, vsync, due, begun, 1023, appLate, 2)
	f := only(t, p.read(t))
	expect(t, "threads", took(f.Path, func(s rendering.Step) string { return s.Thread + " " + s.Kind }), map[string]float64{
		"main idle": 1, "main running": 5, "RenderThread running": 17,
	})
}

// TestPathOfSlicesWithoutTheMainThreadsFrame: if the slice around the main thread's part of a frame
// is missing, the path continues from the render thread to the main thread's own slices.
func TestPathOfSlicesWithoutTheMainThreadsFrame(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.slice(ui, "traversal", 1002, 1006)
	p.slice(ui, "a callback", 1007, 1009)
	p.slice(render, "DrawFrames 5", 1010, 1014)
	p.shown(5, vsync, due, begun, 1014, noJank, 1)
	expect(t, "threads", took(only(t, p.read(t)).Path, func(s rendering.Step) string { return s.Thread + " " + s.Kind }), map[string]float64{
		"main unknown": 4, "main running": 6, "RenderThread running": 4,
	})
}

// TestPathsOfNormalFramesAreShorter: 40 steps are kept for a frame in time, and 120 for a late one.
// Each step is as long as the one before or 5 % longer, so that some are shorter than others.
func TestPathsOfNormalFramesAreShorter(t *testing.T) {
	t.Parallel()
	for until, want := range map[float64][2]int{1008: {10, 40}, 1040: {41, 120}} {
		p := newPhone()
		at, each := float64(begun), 0.01
		for n := 0; at+2*each < until; n++ {
			p.run(0, ui, at, at+each, blocked)
			p.blockedIn(at+2*each, ui, int64(1+n%2), n%2 == 0)
			p.wake(at+2*each, ui, rival)
			at, each = at+2*each, 1.05*each
		}
		p.run(0, ui, at, until, waiting)
		p.drawnFrom(until)
		if f := only(t, p.read(t)); len(f.Path) < want[0] || len(f.Path) > want[1] {
			t.Errorf("a frame until %g ms, %s, has %d steps, want %d to %d", until, f.Class, len(f.Path), want[0], want[1])
		}
	}
}
