package rendering_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/systrace"
)

// Android's verdict decides a frame's class, since Android knows when the frame was shown.
func TestFrameClass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		jank    int64
		present int64
		took    float64
		ready   int // buffers that wait since before the vsync, -1 for no counter
		want    string
	}{
		{"in time", noJank, 1, 12, -1, run.NormalFrames},
		{"too late", appLate, 2, 20, -1, run.SlowFrames},
		{"too late for long", appLate, 2, 701, -1, run.FrozenFrames},
		{"not longer than that", appLate, 2, 700, -1, run.SlowFrames},
		{"after its deadline, and shown in time", noJank, 1, 17, -1, run.BufferedFrames},
		{"behind others", stuffed, 2, 12, -1, run.BufferedFrames},
		{"behind others, and too late for that too", stuffed | appLate, 2, 40, 2, run.SlowFrames},
		{"too late, whatever counters tell", appLate, 2, 20, 2, run.SlowFrames},
		{"nobody knows, and no buffer was ready", unknownJank, 5, 20, 0, run.SlowFrames},
		{"nobody knows, and one was", unknownJank, 5, 20, 1, run.BufferedFrames},
		{"nobody knows, in time", unknownJank, 5, 12, 0, run.NormalFrames},
		{"late by the compositor", cpuLate, 2, 12, -1, run.SlowFrames},
	} {
		p := newPhone()
		if c.ready >= 0 {
			p.count(900, "BufferTX - "+layer, c.ready)
		}
		p.shown(5, vsync, due, vsync, vsync+c.took, c.jank, c.present)
		p.slice(ui, "anything", 900, 2000)
		if f := only(t, p.read(t)); f.Class != c.want || f.Ready != c.ready {
			t.Errorf("%s: %s, %d ready, want %s", c.name, f.Class, f.Ready, c.want)
		}
	}
}

// older draws a frame on a device without a frame timeline: both threads' parts from begin on.
func (p *phone) older(begin, main, rendering float64) {
	p.slice(ui, "Choreographer#doFrame", begin, begin+main)
	p.slice(render, "DrawFrame", begin+main-1, begin+main+rendering)
}

// Without a frame timeline, frames are those for which both threads have written a part, from the
// apps' vsync on, and late ones that a ready buffer hid are recognized by the count of buffers.
func TestReadFramesWithoutATimeline(t *testing.T) {
	t.Parallel()
	p := newPhone()
	for i := range 20 { // vsyncs 16 ms apart
		p.count(float64(1000+16*i), "VSYNC-app", i%2)
	}
	p.older(1001, 5, 3)  // 0 to 9 ms after the vsync at 1000
	p.older(1016, 15, 5) // 20 ms, and nothing to show in the meantime
	p.older(1048, 15, 6) // 21 ms, while one buffer waits
	p.older(1080, 3, 2)
	p.slice(ui, "Choreographer#doFrame", 1096, 1099) // draws nothing
	counts := map[float64]int{1009: 1, 1020: 0, 1036: 1, 1040: 0, 1045: 2, 1052: 1, 1069: 2, 1070: 1, 1085: 2, 1090: 1}
	at := make([]float64, 0, len(counts))
	for one := range counts {
		at = append(at, one)
	}
	slices.Sort(at)
	for _, one := range at {
		p.count(one, layer, counts[one])
		p.count(one, "TX - "+layer, 5) // transactions, not buffers
	}
	trace := p.read(t)
	var got []string
	for _, f := range trace.Frames {
		got = append(got, fmt.Sprint(f.At, " ", f.Took, " ", f.Deadline, " ", f.Class, " ", f.Ready, " ", f.Layer == layer))
	}
	want := []string{"1s 9ms 16ms normal 0 true", "1.016s 20ms 16ms slow 0 true", "1.048s 21ms 16ms buffered 1 true", "1.08s 5ms 16ms normal 0 true"}
	if trace.Source != rendering.DoFrame || !slices.Equal(got, want) {
		t.Errorf("%s: %q,\nwant %q", trace.Source, got, want)
	}
	if !slices.ContainsFunc(trace.Warnings, func(w run.Warning) bool { return strings.HasPrefix(w.Text, "the trace has no frame timeline") }) {
		t.Errorf("warnings: %v", trace.Warnings)
	}
}

// In a text trace that lists no processes, the main thread has the end of the app's name.
func TestReadFramesOfATextTrace(t *testing.T) {
	t.Parallel()
	text := `# tracer: nop
 com.example.app-100   (  100) [000] ...1   10.001000: tracing_mark_write: B|100|Choreographer#doFrame
 com.example.app-100   (  100) [000] ...1   10.005000: tracing_mark_write: E|100
    RenderThread-101   (  100) [001] ...1   10.004000: tracing_mark_write: B|100|DrawFrame
    RenderThread-101   (  100) [001] ...1   10.009000: tracing_mark_write: E|100
`
	for name, frames := range map[string]int{"com.example.app": 1, "org.com.example.app": 1, "com.example.other": 0} {
		trace, err := rendering.Read(systrace.Source(strings.NewReader(text)), rendering.App{Package: name})
		if err != nil || len(trace.Frames) != frames {
			t.Errorf("%s: %+v, %v", name, trace, err)
		}
		if frames > 0 && (trace.Frames[0].Took != 8*time.Millisecond || trace.Frames[0].Path[len(trace.Frames[0].Path)-1].Thread != "RenderThread") {
			t.Errorf("%+v", trace.Frames[0])
		}
	}
	if _, err := rendering.Read(systrace.Source(io.MultiReader(strings.NewReader(text))), app); err == nil {
		t.Error("a text that can't be read twice")
	}
}

// Without the display's rate, a frame is slow beyond a period of 60 Hz.
func TestReadWithoutTheDisplaysRate(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.older(1001, 10, 6.6)
	p.older(1101, 10, 6.7)
	trace := p.read(t)
	if len(trace.Frames) != 2 || trace.Frames[0].Class != run.NormalFrames || trace.Frames[1].Class != run.SlowFrames || trace.Frames[1].Deadline != 0 {
		t.Errorf("%+v", trace.Frames)
	}
}

// If the display's rate is unknown, it is derived from the distance of frames.
func TestFindPeriodFromFrames(t *testing.T) {
	t.Parallel()
	for apart, want := range map[float64]time.Duration{11: 11 * time.Millisecond, 33: 0} {
		p := newPhone()
		for i := range 12 {
			p.older(1001+apart*float64(i), 5, 3)
		}
		trace := p.read(t)
		if len(trace.Frames) != 12 || trace.Frames[5].Deadline != want {
			t.Errorf("%v ms apart: %d frames, %+v", apart, len(trace.Frames), trace.Frames[5])
		}
		guessed := slices.ContainsFunc(trace.Warnings, func(w run.Warning) bool {
			return strings.Contains(w.Text, "derived from the distance of frames")
		})
		if guessed != (want > 0) {
			t.Errorf("warnings: %v", trace.Warnings)
		}
	}
}

// Frames end with the GPU's work if the app's own slices show it.
func TestFramesWithoutATimelineEndWithTheGPU(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.slice(ui, "Choreographer#doFrame", 1000, 1005)
	p.slice(render, "DrawFrame", 1004, 1009)
	p.slice(render, "queueBuffer", 1008, 1008.5)
	p.slice(gpuThread, "waiting for GPU completion 41", 995, 1003) // of the frame before
	p.slice(gpuThread, "waiting for GPU completion 42", 1008.2, 1030)
	f := only(t, p.read(t))
	if f.Took != 30*time.Millisecond || f.Class != run.SlowFrames {
		t.Errorf("%+v", f)
	}
	expect(t, "kinds", took(f.Path, kind), map[string]float64{run.WaitRunning: 8.5, run.WaitGPU: 21.5})
}

// A buffer that the GPU has not finished can't be shown: the frame's own, or one before it and all
// after that. A frame is itself late if its buffer is not ready a period after the compositor took
// the one before it; otherwise that one was late, and this one waited its turn.
func TestUndrawnBuffersAreNotReady(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		before, own float64 // when the GPU is done with the frame before, and with this one
		counted     int
		taken       float64 // when the compositor takes the first of these
		want        int
		class       string
	}{
		{"its own", 1002, 1030, 1, 1032, 0, run.SlowFrames},
		{"one before it is ready", 1002, 1030, 2, 1018, 1, run.BufferedFrames},
		{"one before it is ready, and is not enough", 1002, 1035, 2, 1018, 1, run.SlowFrames},
		{"two before it are ready", 1002, 1044, 3, 1018, 2, run.BufferedFrames},
		{"one before it is not ready, and late for both", 1020, 1030, 2, 1032, 0, run.BufferedFrames},
		{"one before it was taken in time", 1002, 1030, 2, 1012, 1, run.SlowFrames},
		{"one before it was taken in time, and it is soon there", 1002, 1020, 2, 1012, 1, run.SlowFrames},
	} {
		p := newPhone()
		for i := range 20 {
			p.count(float64(840+16*i), "VSYNC-app", i%2)
		}
		p.slice(ui, "Choreographer#doFrame", 1001, 1005)
		p.slice(render, "DrawFrame", 1004, 1009)
		p.slice(render, "queueBuffer", 1008, 1009)
		p.count(1008, layer, c.counted-1)
		p.count(1009, layer, c.counted)
		for i := range c.counted { // one each vsync
			p.count(c.taken+16*float64(i), layer, c.counted-1-i)
		}
		p.slice(gpuThread, "waiting for GPU completion 4", 990, c.before)
		p.slice(gpuThread, "waiting for GPU completion 5", max(c.before, 1009), c.own)
		f := only(t, p.read(t))
		if c.taken < 1016 {
			c.want-- // it has been taken by then
		}
		if f.Ready != c.want || f.Class != c.class || f.Took != time.Duration(c.own-1000)*time.Millisecond {
			t.Errorf("%s: %d ready, %s, took %v", c.name, f.Ready, f.Class, f.Took)
		}
	}
}

// Another app's frames, frames without an end, and those that the compositor skipped.
func TestReadLeavesOutFrames(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.shown(5, vsync, due, vsync, vsync+5, noJank, 1)
	p.shown(6, vsync+16, due+16, vsync+16, vsync+30, 1024, 4) // dropped
	p.shown(7, vsync+32, due+32, vsync+32, vsync+40, noJank, 1)
	p.packets = p.packets[:len(p.packets)-1] // its end
	p.slice(ui, "anything", 900, 2000)
	trace := p.read(t)
	if len(trace.Frames) != 1 || trace.Lost != 1 || trace.Source != rendering.FrameTimeline {
		t.Errorf("%+v", trace)
	}
	for _, want := range []string{"the end of 1 frame is not in the trace: it is left out", "1 frame was skipped by the compositor for a newer one: it is left out"} {
		if !slices.ContainsFunc(trace.Warnings, func(w run.Warning) bool { return w.Text == want }) {
			t.Errorf("no warning %q: %v", want, trace.Warnings)
		}
	}
	other, err := rendering.Read(packets.Packets(bytes.NewReader(p.bytes())), rendering.App{Package: "com.example"})
	if err != nil || len(other.Frames) != 0 || other.Source != "" {
		t.Errorf("of an app whose name begins alike: %+v, %v", other, err)
	}
	byNumber, err := rendering.Read(packets.Packets(bytes.NewReader(p.bytes())), rendering.App{Process: func(pid int) bool { return pid == ui }})
	if err != nil || len(byNumber.Frames) != 1 {
		t.Errorf("of a process: %+v, %v", byNumber, err)
	}
}

// A process is also recognized by its window if the trace does not name it.
func TestAppIsFoundByItsWindow(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.packets = p.packets[:1] // the clocks
	p.shown(5, vsync, due, vsync, vsync+5, noJank, 1)
	p.slice(ui, "anything", 900, 2000)
	only(t, p.read(t))
}

// How a frame used the processors: here 0 to 3 are little ones, 4 and 5 big ones.
func TestFrameCores(t *testing.T) {
	t.Parallel()
	p := newPhone()
	for cpu := range int64(6) {
		most := int64(1_000_000)
		if cpu > 3 {
			most = 2_000_000
		}
		p.clock(1, cpu, most)
		p.clock(2, cpu, most/2)
	}
	p.run(0, ui, begun, 1005, waiting) // 5 of the path's 8 ms on CPU 0, with what follows
	p.drawnFrom(1005)                  // to 1007 there, and 3 ms on CPU 1 until 1010
	for cpu := 2; cpu < 4; cpu++ {
		p.run(cpu, rival, 990, 1030, waiting)
	}
	p.run(4, rivalWorker, 990, 1006, waiting)
	f := only(t, p.read(t))
	busy := (6 + 3 + 12 + 12) / (4 * 12.0)
	for name, pair := range map[string][2]float64{
		"little": {f.Cores.Little, 1}, "little, busy": {f.Cores.LittleBusy, busy}, "big, busy": {f.Cores.BigBusy, 6 / (2 * 12.0)}, "frequency": {f.Cores.Frequency, 0.5},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	if running := slices.IndexFunc(f.Path, func(s rendering.Step) bool { return s.Thread == "main" && s.Kind == run.WaitRunning }); f.Path[running].CPU != 0 || f.Path[running].KHz != 500_000 {
		t.Errorf("%+v", f.Path[running])
	}
}

// Possible frequencies, which the trace may have, identify big CPUs that never ran fast.
func TestClustersByPossibleFrequencies(t *testing.T) {
	t.Parallel()
	p := newPhone()
	info := message(nil)
	for cpu := range int64(4) {
		most := int64(1_800_000)
		if cpu == 3 {
			most = 2_800_000
		}
		info = info.In(1, message(nil).Num(2, 300_000).Num(2, most)) // CpuInfo.cpus, frequencies
		p.clock(1, cpu, 300_000)
	}
	p.put(message(nil).In(67, info))
	p.shown(5, vsync, due, vsync, vsync+5, noJank, 1)
	trace := p.read(t)
	if len(trace.Clusters) != 2 || !slices.Equal(trace.Clusters[0].CPUs, []int{0, 1, 2}) || trace.Clusters[1].MaxKHz != 2_800_000 {
		t.Errorf("%+v", trace.Clusters)
	}
}

// The process tree and the frame timeline may come last, in a buffer of their own.
func TestReadTimelineAtTheEndOfTheFile(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1004, waiting)
	p.drawnFrom(1004)
	raw := p.bytes()
	end := func(q *phone) []byte { q.events, q.turns = nil, nil; return q.bytes() }
	kernel := newPhone()
	kernel.events, kernel.turns, kernel.packets = slices.Clone(p.events), slices.Clone(p.turns), kernel.packets[:1]
	turned := append(kernel.bytes(), end(p)...)
	first, err := rendering.Read(packets.Packets(bytes.NewReader(raw)), app)
	if err != nil {
		t.Fatal(err)
	}
	second, err := rendering.Read(packets.Packets(bytes.NewReader(turned)), app)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprintf("%+v", only(t, first)), fmt.Sprintf("%+v", only(t, second)); a != b {
		t.Errorf("%s\nwith the frame timeline at the end:\n%s", a, b)
	}
}

// A trace gives the same result each time, though two windows get a buffer at once.
func TestReadTwoWindowsFilledAtOnce(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.older(1000, 6, 6)
	for _, window := range []string{".Main#7", ".Dialog#9", ".Popup#11"} {
		p.count(900, "BufferTX - com.example.app/"+window, 0)
		p.count(1011, "BufferTX - com.example.app/"+window, 1)
	}
	for range 20 {
		if f := only(t, p.read(t)); f.Layer != "com.example.app/.Dialog#9" {
			t.Fatalf("layer %q, want the first by name", f.Layer)
		}
	}
}

// TestWarningsOfTheDisplaysRate: a trace with frames but without the display's rate has a warning.
func TestWarningsOfTheDisplaysRate(t *testing.T) {
	t.Parallel()
	const unknown = "the display's rate is unknown, and a frame counts as slow above 16.67 ms"
	for name, c := range map[string]struct {
		vsyncs, frames int
		want           bool
	}{"told": {20, 1, false}, "not told": {0, 1, true}, "no frames": {0, 0, false}} {
		p := newPhone()
		for i := range c.vsyncs {
			p.count(float64(1000+16*i), "VSYNC-app", i%2)
		}
		for i := range c.frames {
			p.older(1001+100*float64(i), 5, 3)
		}
		p.run(0, rival, 1000, 1010, asleep)
		trace := p.read(t)
		if got := slices.ContainsFunc(trace.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, unknown) }); got != c.want || c.frames == 0 && len(trace.Warnings) > 0 {
			t.Errorf("%s: %v", name, trace.Warnings)
		}
	}
}

// TestBuffersReadyByTheDisplaysRate: ready buffers are counted shortly before the frame was due,
// which is later on a slow display: at 1028 of 1000 to 1032 ms.
func TestBuffersReadyByTheDisplaysRate(t *testing.T) {
	t.Parallel()
	for taken, want := range map[float64]int{1020: 0, 1030: 1} {
		p := newPhone()
		p.count(900, "BufferTX - "+layer, 1)
		p.count(taken, "BufferTX - "+layer, 0)
		p.shown(5, vsync, 1032, vsync, 1040, unknownJank, 5)
		p.slice(ui, "anything", 900, 2000)
		if f := only(t, p.read(t)); f.Ready != want {
			t.Errorf("taken at %v: %d ready, want %d", taken, f.Ready, want)
		}
	}
}

// TestFramesThatFollowAtOnce: a slice that begins just as a frame ends belongs to the next one.
func TestFramesThatFollowAtOnce(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.slice(ui, "Choreographer#doFrame 5", 1001, 1004)
	p.slice(render, "DrawFrames 5", 1004, 1010)
	p.slice(render, "DrawFrames 6", 1010.5, 1012)
	p.shown(5, vsync, due, begun, 1010, noJank, 1)
	f := only(t, p.read(t))
	expect(t, "threads", took(f.Path, func(s rendering.Step) string { return s.Thread + " " + s.Kind }), map[string]float64{"main idle": 1, "main running": 3, "RenderThread running": 6})

	// Without a timeline, by when the slices of a frame begin.
	p = newPhone()
	p.slice(ui, "Choreographer#doFrame", 1000, 1005)
	p.slice(ui, "Choreographer#doFrame", 1006, 1010)
	p.slice(ui, "measure", 1007, 1008)
	p.slice(render, "DrawFrame", 1004, 1009)
	p.slice(render, "DrawFrame", 1009.5, 1014)
	trace := p.read(t)
	if len(trace.Frames) != 2 {
		t.Fatalf("%+v", trace.Frames)
	}
	for i, want := range []string{"render", "measure render"} {
		var names []string
		for _, s := range trace.Frames[i].Stages {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("frame %d has the stages %q, want %q", i, got, want)
		}
	}
}

// TestFramesOfTheirNumber: if slices have the frame's number, the render thread's part is the one
// with it, even if that of another frame begins in between; a slice without a number matches too.
func TestFramesOfTheirNumber(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		draws string
		want  time.Duration
	}{"its own": {"DrawFrames 7", 18}, "without a number": {"DrawFrame", 18}, "another's": {"DrawFrames 8", 0}} {
		p := newPhone()
		p.slice(ui, "Choreographer#doFrame 7", 1000, 1012)
		p.slice(render, "DrawFrames 6", 1002, 1009)
		p.slice(render, c.draws, 1010, 1018)
		trace := p.read(t)
		if c.want == 0 && len(trace.Frames) == 0 {
			continue
		}
		if f := only(t, trace); f.Took != c.want*time.Millisecond {
			t.Errorf("%s: it took %v, want %d ms", name, f.Took, c.want)
		}
	}
}

// TestFramesBeginAtTheirVsync: a frame that begins 5 ms after the vsync was meant for it, and one
// that begins more than a period after the last vsync begins at its own time.
func TestFramesBeginAtTheirVsync(t *testing.T) {
	t.Parallel()
	p := newPhone()
	for i := range 20 { // the last at 1000 ms
		p.count(float64(696+16*i), "VSYNC-app", i%2)
	}
	p.older(1005, 3, 3)
	p.older(1030, 3, 3)
	trace := p.read(t)
	if len(trace.Frames) != 2 || trace.Frames[0].At != vsync*time.Millisecond || trace.Frames[1].At != 1030*time.Millisecond {
		t.Errorf("%+v, want frames at 1000 and at 1030 ms", trace.Frames)
	}
}

// TestFramesDoNotEndWithTheGPUOfOthers: a wait for the GPU that begins long after the frame's
// buffer was queued belongs to a later frame.
func TestFramesDoNotEndWithTheGPUOfOthers(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.older(1000, 5, 4)
	p.slice(gpuThread, "waiting for GPU completion 43", 1040, 1050)
	if f := only(t, p.read(t)); f.Took != 9*time.Millisecond {
		t.Errorf("it took %v, want 9 ms", f.Took)
	}
}

// TestStageOfTheGPU: the GPU's stage begins when its work has begun and the buffer is queued.
func TestStageOfTheGPU(t *testing.T) {
	t.Parallel()
	for waits, from := range map[float64]time.Duration{1007: 9, 1010: 10} {
		p := newPhone()
		p.slice(ui, "Choreographer#doFrame 5", 1001, 1004)
		p.slice(render, "DrawFrames 5", 1004, 1009)
		p.slice(gpuThread, "waiting for GPU completion 5", waits, 1012)
		p.shown(5, vsync, due, begun, 1012, noJank, 1)
		f := only(t, p.read(t))
		at := slices.IndexFunc(f.Stages, func(s rendering.Stage) bool { return s.Name == run.StageGPU })
		if at < 0 || f.Stages[at].From != from*time.Millisecond || f.Stages[at].To != 12*time.Millisecond {
			t.Errorf("waited for from %v on: %+v, want from %d to 12 ms", waits, f.Stages, from)
		}
	}
}

// TestAppIsNotFoundByOtherWindows: a process without a name belongs to the app whose
// windows it draws, and one with a name is recognized by that.
func TestAppIsNotFoundByOtherWindows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		process, app string
		frames       int
	}{
		"its own window": {"", "com.example.app", 1}, "another app's window": {"", "com.example.other", 0}, "another app's process": {"com.example.other", "com.example.app", 0},
	} {
		p := newPhone()
		p.packets = p.packets[:1] // the clocks
		if c.process != "" {
			p.put(message(nil).Num(field.PacketTimestamp, ns(0)).In(field.PacketProcessTree, message(nil).
				In(field.ProcessTreeProcesses, message(nil).Num(field.TreeProcessPID, ui).Text(field.TreeProcessCmdline, c.process))))
		}
		p.shown(5, vsync, due, vsync, vsync+5, noJank, 1)
		p.slice(ui, "anything", 900, 2000)
		trace, err := rendering.Read(packets.Packets(bytes.NewReader(p.bytes())), rendering.App{Package: c.app})
		if err != nil || len(trace.Frames) != c.frames {
			t.Errorf("%s: %d frames, %v, want %d", name, len(trace.Frames), err, c.frames)
		}
	}
}

// TestFramesOnTheTracesOwnClock: if nothing leads to CLOCK_MONOTONIC, frames are on the trace's
// clock, 50 s ahead here, with a warning; a trace without frames has none.
func TestFramesOnTheTracesOwnClock(t *testing.T) {
	t.Parallel()
	const own = "nothing in the trace leads to CLOCK_MONOTONIC"
	for _, frames := range []int{0, 1} {
		p := newPhone()
		p.packets = p.packets[1:]
		for range frames {
			p.older(1001, 5, 3)
		}
		p.slice(rival, "anything", 900, 2000)
		trace := p.read(t)
		said := slices.ContainsFunc(trace.Warnings, func(w run.Warning) bool { return strings.HasPrefix(w.Text, own) })
		if len(trace.Frames) != frames || said != (frames > 0) || frames > 0 && trace.Frames[0].At != (1001+ahead)*time.Millisecond {
			t.Errorf("%d frames: %+v, warnings %v", frames, trace.Frames, trace.Warnings)
		}
	}
}
