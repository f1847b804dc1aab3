package gfxinfo_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/gfxinfo"
	"github.com/apkgate/apkgate/trace/jank"
)

const head16 = "Flags,IntendedVsync,Vsync,OldestInputEvent,NewestInputEvent,HandleInputStart,AnimationStart,PerformTraversalsStart,DrawStart,SyncQueued,SyncStart,IssueDrawCommandsStart,SwapBuffers,FrameCompleted,DequeueBufferDuration,QueueBufferDuration,\n"

// row16 is a row of Android 7's layout that begins at start and lasts d.
func row16(flags int, start int64, d time.Duration) string {
	return fmt.Sprintf("%d,%d,%d,9223372036854775807,0,%d,%d,%d,%d,%d,%d,%d,%d,%d,12000,34000,\n",
		flags, start, start, start+1e6, start+2e6, start+3e6, start+4e6, start+5e6, start+6e6, start+7e6, start+8e6, start+int64(d))
}

func process(pid int, name, body string) string {
	return fmt.Sprintf("** Graphics info for pid %d [%s] **\n\n%s", pid, name, body)
}

func window(name, hash, rows string) string {
	return fmt.Sprintf("\t%s/android.view.ViewRootImpl@%s (visibility=0)\nWindow: %s\n\n---PROFILEDATA---\n%s---PROFILEDATA---\n\n", name, hash, name, head16+rows)
}

func read(t *testing.T, text string) gfxinfo.Dump {
	t.Helper()
	d, err := gfxinfo.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func warned(ws []run.Warning, line int, part string) bool {
	for _, w := range ws {
		if w.Line == line && strings.Contains(w.Text, part) {
			return true
		}
	}
	return false
}

func TestMetricsByHand(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	body := row16(0, 1e9, 10*ms) + row16(0, 2e9, 20*ms) + row16(0, 3e9, 30*ms) + row16(0, 4e9, 800*ms) +
		row16(8, 6e9, 900*ms) // skipped
	d := read(t, process(7, "p", "Profile data in ms:\n\n"+window("p/p.A", "1a", body)))
	got := gfxinfo.Metrics(d.Rows(), jank.Display{})
	// 10, 20, 30, 800: mean 215; type 7 at p: index 3p, so p50 at 1.5, p90 at 2.7.
	want := map[string]float64{
		"frames.count": 4, "frames.janky": 3, "frames.slow": 3, "frames.frozen": 1,
		"frames.smooth_ratio": 0.25, "frames.duration_ms": 215,
		"frames.duration_ms.p50": 25, "frames.duration_ms.p90": 30 + 0.7*770,
		"frames.duration_ms.p95": 30 + 0.85*770, "frames.duration_ms.p99": 30 + 0.97*770,
	}
	for name, v := range want {
		if math.Abs(got[name]-v) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, got[name], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	// At 30 Hz a frame of 30 ms is in time.
	if j := gfxinfo.Metrics(d.Rows(), jank.Display{Period: time.Second / 30})["frames.janky"]; j != 1 {
		t.Errorf("janky at 30 Hz: %g", j)
	}
}

func TestEveryLayout(t *testing.T) {
	t.Parallel()
	const start, done = 1_000_000_000, 1_012_000_000
	for name, c := range map[string]struct {
		header   string
		deadline bool
	}{
		"Android 6":           {"Flags,IntendedVsync,Vsync,OldestInputEvent,NewestInputEvent,HandleInputStart,AnimationStart,PerformTraversalsStart,DrawStart,SyncQueued,SyncStart,IssueDrawCommandsStart,SwapBuffers,FrameCompleted,", false},
		"Android 8":           {strings.TrimSpace(head16), false},
		"Android 11":          {strings.TrimSpace(head16) + "GpuCompleted,", false},
		"Android 12 (beta)":   {"Flags,FrameTimelineVsyncId,IntendedVsync,Vsync,OldestInputEvent,NewestInputEvent,HandleInputStart,AnimationStart,PerformTraversalsStart,DrawStart,FrameDeadline,FrameInterval,SyncQueued,SyncStart,IssueDrawCommandsStart,SwapBuffers,FrameCompleted,DequeueBufferDuration,QueueBufferDuration,GpuCompleted,", true},
		"Android 12 to 14":    {"Flags,FrameTimelineVsyncId,IntendedVsync,Vsync,InputEventId,HandleInputStart,AnimationStart,PerformTraversalsStart,DrawStart,FrameDeadline,FrameStartTime,FrameInterval,SyncQueued,SyncStart,IssueDrawCommandsStart,SwapBuffers,FrameCompleted,DequeueBufferDuration,QueueBufferDuration,GpuCompleted,SwapBuffersCompleted,DisplayPresentTime,CommandSubmissionCompleted,", true},
		"Android 15":          {"Flags,FrameTimelineVsyncId,IntendedVsync,Vsync,InputEventId,HandleInputStart,AnimationStart,PerformTraversalsStart,DrawStart,FrameDeadline,FrameStartTime,FrameInterval,WorkloadTarget,AnimationTime,SyncQueued,SyncStart,IssueDrawCommandsStart,SwapBuffers,FrameCompleted,DequeueBufferDuration,QueueBufferDuration,GpuCompleted,SwapBuffersCompleted,DisplayPresentTime,CommandSubmissionCompleted,", true},
		"no flags":            {"FrameTimelineVsyncId,IntendedVsync,FrameCompleted,", false},
		"one not yet written": {"Flags,NewColumn,FrameCompleted,Other,IntendedVsync", false},
	} {
		var row strings.Builder
		for column := range strings.SplitSeq(strings.TrimSuffix(c.header, ","), ",") {
			v := map[string]int64{"IntendedVsync": start, "FrameCompleted": done, "GpuCompleted": done, "FrameDeadline": start + 11_000_000, "FrameInterval": 8_333_333}[column]
			fmt.Fprintf(&row, "%d,", v)
		}
		d := read(t, "---PROFILEDATA---\n"+c.header+"\n"+row.String()+"\n---PROFILEDATA---\n")
		rows := d.Rows()
		if len(d.Warnings) != 0 || len(rows) != 1 || rows[0].Duration() != 12*time.Millisecond || !rows[0].Counted() {
			t.Errorf("%s: %+v, %v", name, rows, d.Warnings)
			continue
		}
		if rows[0].Janky(jank.Display{}) != c.deadline {
			t.Errorf("%s: 12 ms against a deadline of 11 ms: janky is %v", name, !c.deadline)
		}
	}
}

func TestIntervalAndStartTimeAreSwappedInAndroid12To14(t *testing.T) {
	t.Parallel()
	d := read(t, "---PROFILEDATA---\nFlags,IntendedVsync,FrameInterval,FrameStartTime,FrameCompleted,\n0,5000000000,5000000001,8333333,5012000000,\n---PROFILEDATA---\n")
	if f := d.Rows()[0]; f.Interval != 8333333 || !f.Janky(jank.Display{}) {
		t.Errorf("a frame of 12 ms at 120 Hz: %+v", f)
	}
}

func TestFrameUsable(t *testing.T) {
	t.Parallel()
	row := func(start, done string) string { return "0," + start + "," + done + ",\n" }
	d := read(t, "Flags,IntendedVsync,FrameCompleted,\n"+
		row("5000000000", "0")+ // still being drawn
		row("5000000000", "9223372036854775807")+
		row("5000000000", "4000000000")+ // stale, from an earlier frame
		row("5000000000", "288234774265332736")+
		row("-5", "7")+
		row("18446744073709551615", "7")+ // -1, printed as unsigned
		row("5000000000", "5016000000"))
	got := gfxinfo.Metrics(d.Rows(), jank.Display{})
	if got["frames.count"] != 1 || got["frames.duration_ms"] != 16 {
		t.Errorf("got %v", got)
	}
	if !warned(d.Warnings, 2, "6 of 7 rows") {
		t.Errorf("warnings: %v", d.Warnings)
	}
}

func TestBrokenRowsAreWarnings(t *testing.T) {
	t.Parallel()
	d := read(t, "---PROFILEDATA---\n"+head16+row16(0, 1e9, 16e6)+"0,123,456\n"+row16(0, 2e9, 16e6)+
		"0,12x,1,1,1,1,1,1,1,1,1,1,1,1,1,1,\nView hierarchy:\n")
	if got := gfxinfo.Metrics(d.Rows(), jank.Display{})["frames.count"]; got != 2 {
		t.Errorf("%g frames", got)
	}
	for line, part := range map[int]string{4: "after 3 of 16 columns", 6: "column IntendedVsync", 7: "not closed"} {
		if !warned(d.Warnings, line, part) {
			t.Errorf("line %d: no warning of %q in %v", line, part, d.Warnings)
		}
	}
	d = read(t, "---PROFILEDATA---\nFlags,Vsync,\n0,5,\n")
	if !warned(d.Warnings, 2, "IntendedVsync") || !warned(d.Warnings, 3, "without a header") || !warned(d.Warnings, 3, "ends within") {
		t.Errorf("warnings: %v", d.Warnings)
	}
}

func TestOldTables(t *testing.T) {
	t.Parallel()
	d := read(t, process(1, "p", "Profile data in ms:\n\n\tp/p.A/android.view.ViewRootImpl@42\n\tDraw\tProcess\tExecute\n\t1.00\t2.50\t0.50\n\n\t10,00\t9,00\t1,00\n\t1.0\t-\t2\n\n"+
		"\tp/p.B/android.view.ViewRootImpl@43 (visibility=8)\n\tDraw\tPrepare\tProcess\tExecute\n\t50.00\t1.00\t2.00\t3.00\n"+
		"View hierarchy:\n\n  p/p.A/android.view.ViewRootImpl@42\n  106 views, 7.42 kB of display lists, 2071 frames rendered\n"))
	got := gfxinfo.Metrics(d.Rows(), jank.Display{})
	// 4, 20 and 56 ms.
	if got["frames.count"] != 3 || got["frames.slow"] != 2 || math.Abs(got["frames.duration_ms"]-80.0/3) > 1e-9 {
		t.Errorf("got %v", got)
	}
	w := d.Processes[0].Windows
	if len(w) != 2 || w[0].Name != "p/p.A" || w[0].ID != "42" || w[0].Rendered != 2071 || w[1].Rendered != -1 {
		t.Errorf("windows: %+v", w)
	}
	if w[0].Table[0].Stages != [4]time.Duration{time.Millisecond, 0, 2500 * time.Microsecond, 500 * time.Microsecond} {
		t.Errorf("stages of three columns: %v", w[0].Table[0].Stages)
	}
	if !warned(d.Warnings, 10, "2 is not a time") || !warned(d.Warnings, 12, "exactly 50 ms") {
		t.Errorf("warnings: %v", d.Warnings)
	}
}

const summary = "Stats since: 5000ns\nTotal frames rendered: 100\nJanky frames: 20 (20.00%)\nJanky frames (legacy): 30 (30.00%)\n" +
	"50th percentile: 9ms\n90th percentile: 20ms\n95th percentile: 32ms\n99th percentile: 750ms\nNumber Slow UI thread: 4\nHISTOGRAM: 9ms=80 16ms=5 17ms=13 750ms=2\n"

func TestSummaryOutranksRows(t *testing.T) {
	t.Parallel()
	in, err := gfxinfo.Inspect(strings.NewReader(process(1, "p", summary+"\nProfile data in ms:\n"+window("p/p.A", "1", row16(0, 1e9, 10e6)))))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]float64{
		"frames.count": 100, "frames.janky": 20, "frames.smooth_ratio": 0.8, "frames.slow": 15, "frames.frozen": 2,
		"frames.duration_ms.p99": 750,
		"frames.duration_ms":     (80*9 + 5*16 + 13*17 + 2*750) / 100.0,
	} {
		if math.Abs(in.Metrics[name]-v) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, in.Metrics[name], v)
		}
	}
	d := in.Details.(gfxinfo.Details)
	if d.Source != gfxinfo.FromSummary || d.Rows["frames.count"] != 1 || *d.Processes[0].Summary.LegacyJanky != 30 || d.Processes[0].Summary.Counters["Slow UI thread"] != 4 {
		t.Errorf("details: %+v", d)
	}
}

func TestSeveralProcesses(t *testing.T) {
	t.Parallel()
	second := strings.NewReplacer("rendered: 100", "rendered: 300", "Janky frames: 20", "Janky frames: 10", "9ms=80 16ms=5 17ms=13 750ms=2", "5ms=300").Replace(summary)
	in, err := gfxinfo.Inspect(strings.NewReader(process(1, "p", summary) + process(2, "p:remote", second) + process(1, "p", summary)))
	if err != nil {
		t.Fatal(err)
	}
	// The first process is dumped twice with the same start: it counts once. Of 400 frames, 300 are
	// of 5 ms: the median's bin. 40 are above the 90th percentile: 2 + 13 + 5 are above 9 ms, so it
	// is 9.
	for name, v := range map[string]float64{"frames.count": 400, "frames.janky": 30, "frames.duration_ms.p50": 5, "frames.duration_ms.p90": 9, "frames.duration_ms.p95": 16} {
		if in.Metrics[name] != v {
			t.Errorf("%s: %g, want %g", name, in.Metrics[name], v)
		}
	}
}

func TestBugReport(t *testing.T) {
	t.Parallel()
	d := read(t, "DUMP OF SERVICE gfxinfo:\nApplications Graphics Acceleration Info:\nUptime: 123456 Realtime: 3\n\n"+process(1, "p", summary)+
		"DUMP OF SERVICE other:\nStats since: 1ns\nTotal frames rendered: 9999\nJanky frames: 1 (1%)\n"+
		"DUMP OF SERVICE graphicsstats:\nPackage: q\nVersion: 28\n"+summary+"Package: r\n"+summary)
	if got, source := d.Totals(); got["frames.count"] != 100 || source != gfxinfo.FromSummary {
		t.Errorf("%v from %s", got, source)
	}
	if len(d.Packages) != 2 || d.Packages[0].Name != "q" || d.Packages[0].Version != "28" || d.Packages[1].Stats.Total != 100 {
		t.Errorf("packages: %+v", d.Packages)
	}
	if d.Uptime != 123456*time.Millisecond {
		t.Errorf("uptime %v", d.Uptime)
	}
}

func TestReadFilesWithoutFrames(t *testing.T) {
	t.Parallel()
	for text, part := range map[string]string{
		"":                                        "no line of gfxinfo",
		"hello\nHISTOGRAM: 5ms=1\n":               "no line of gfxinfo",
		"No process found for: com.example\n":     "No process found",
		process(1, "p", "Profile data in ms:\n"):  "neither a summary nor rows",
		process(1, "p", "Stats since: 1ns\n"):     "states no total",
		process(1, "p", summary[:60]) + "\n":      "does not state its janky",
		process(1, "p", summary+"HISTOGRAM: 1=2"): "breaks off",
	} {
		in, err := gfxinfo.Inspect(strings.NewReader(text))
		if err != nil || !strings.Contains(fmt.Sprint(in.Warnings), part) {
			t.Errorf("%q: %v, %v", text, in.Warnings, err)
		}
	}
}

func TestRecordingMergesOverlappingDumps(t *testing.T) {
	t.Parallel()
	const vsync = int64(16_666_667)
	dump := func(since, from, to int) gfxinfo.Dump {
		var rows strings.Builder
		for i := from; i < to; i++ {
			rows.WriteString(row16(0, 1e9+int64(i)*vsync, 10e6))
		}
		s := fmt.Sprintf("Stats since: %dns\nTotal frames rendered: %d\nJanky frames: %d (0%%)\n", since, to-since, (to-since)/10)
		return read(t, process(1, "p", s+"Profile data in ms:\n"+window("p/p.A", "1", rows.String())))
	}
	var rec gfxinfo.Recording
	rec.Baseline(dump(0, 0, 10))
	for _, c := range []struct {
		name            string
		since, from, to int
		fresh           int
		stated          gfxinfo.Stated
	}{
		{"first", 0, 0, 70, 60, gfxinfo.Stated{Total: 60, Janky: 6}},
		{"the same again", 0, 0, 70, 0, gfxinfo.Stated{Total: 60, Janky: 6}},
		{"a full window", 0, 40, 160, 90, gfxinfo.Stated{Total: 150, Janky: 15}},
		{"40 frames scrolled out", 0, 200, 320, 120, gfxinfo.Stated{Total: 310, Janky: 31}},
		{"the counters were reset", 320, 300, 420, 100, gfxinfo.Stated{Total: 410, Janky: 41}},
		{"ten more", 320, 420, 430, 10, gfxinfo.Stated{Total: 420, Janky: 42}},
		{"a reset that tells no other start, and 80 more", 320, 400, 400, 0, gfxinfo.Stated{Total: 500, Janky: 50}},
	} {
		if a := rec.Add(dump(c.since, c.from, c.to)); len(a.Frames) != c.fresh || rec.Stated() != c.stated {
			t.Errorf("%s: %d frames are new, want %d; %+v in all, want %+v", c.name, len(a.Frames), c.fresh, rec.Stated(), c.stated)
		}
	}
}

func TestRecordingWaitsForAFrameToComplete(t *testing.T) {
	t.Parallel()
	unfinished := strings.Replace(row16(0, 2e9, 10e6), ",2010000000,", ",0,", 1)
	var rec gfxinfo.Recording
	if a := rec.Add(read(t, window("A", "1", row16(0, 1e9, 10e6)+unfinished))); len(a.Frames) != 1 {
		t.Fatalf("%d frames, want the complete one", len(a.Frames))
	}
	a := rec.Add(read(t, window("A", "1", row16(0, 1e9, 10e6)+row16(0, 2e9, 10e6))))
	if len(a.Frames) != 1 || a.Frames[0].IntendedVsync != 2e9 {
		t.Errorf("then %+v", a.Frames)
	}
}

func TestRecordingKeepsFramesThroughAnEmptyDump(t *testing.T) {
	t.Parallel()
	full := window("A", "1", row16(0, 1e9, 10e6)+row16(0, 2e9, 10e6))
	var rec gfxinfo.Recording
	rec.Add(read(t, full))
	rec.Add(read(t, "Failure while dumping the app: p\n"))
	if a := rec.Add(read(t, full)); len(a.Frames) != 0 {
		t.Errorf("%d frames are taken for new", len(a.Frames))
	}
}

func TestOneVsyncMayDrawTwoWindows(t *testing.T) {
	t.Parallel()
	first, second := row16(0, 1e9, 10e6), row16(0, 1e9, 12e6)
	d := read(t, process(1, "p", "Profile data in ms:\n"+window("A", "1", first)+window("B", "2", second)+window("C", "3", first)))
	if n := len(d.Rows()); n != 2 {
		t.Errorf("%d frames: two were drawn, one is listed below two windows", n)
	}
	if n := gfxinfo.Metrics(d.Rows(), jank.Display{})["frames.count"]; n != 2 {
		t.Errorf("%g frames count", n)
	}
}

func TestRecordingOfDrainedTables(t *testing.T) {
	t.Parallel()
	table := func(n int) gfxinfo.Dump {
		return read(t, process(1, "p", "Profile data in ms:\n\tA/android.view.ViewRootImpl@1\n\tDraw\tProcess\tExecute\n"+strings.Repeat("\t1.00\t2.00\t3.00\n", n)))
	}
	var rec gfxinfo.Recording
	if a := rec.Add(table(30)); len(a.Frames) != 30 || len(a.Full) != 0 {
		t.Errorf("%d frames, full: %v", len(a.Frames), a.Full)
	}
	if a := rec.Add(table(128)); len(a.Frames) != 128 || len(a.Full) != 1 {
		t.Errorf("%d frames, full: %v", len(a.Frames), a.Full)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("** Graphics info for pid 1 [p] **\n" + summary + "Profile data in ms:\n" + window("A", "1", row16(0, 1e9, 10e6))))
	f.Add([]byte("Profile data in ms:\n\tA/android.view.ViewRootImpl@1\n\tDraw\tProcess\tExecute\n\t1\t2\t3\nView hierarchy:\nA/android.view.ViewRootImpl@1\n1 views, 3 frames rendered\n"))
	f.Add([]byte("\xff\xfeD\x00U\x00"))
	f.Add([]byte("DUMP OF SERVICE graphicsstats:\nPackage: a\n" + summary))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := gfxinfo.Inspect(strings.NewReader(string(data)))
		if err != nil {
			t.Fatalf("an error for what was read: %v", err)
		}
		for name, v := range in.Metrics {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 && name != "frames.smooth_ratio" {
				t.Errorf("%s is %g", name, v)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var rows strings.Builder
	for i := range 100_000 {
		rows.WriteString(row16(0, 1e12+int64(i)*16_666_667, 10e6))
	}
	text := process(1, "p", summary+"Profile data in ms:\n"+window("A", "1", rows.String()))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		d, err := gfxinfo.Read(strings.NewReader(text))
		if err != nil || len(d.Processes[0].Windows[0].Frames) != 100_000 {
			b.Fatal(err)
		}
	}
}
