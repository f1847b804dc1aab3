package rendering_test

import (
	"encoding/csv"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/systrace"
)

// real reads a file of the corpus, a trace of packets unless it is in the folder of texts.
func real(t *testing.T, path string, of rendering.App) rendering.Trace {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	in := packets.Packets(f)
	if strings.Contains(path, "systrace") {
		in = systrace.Source(f)
	}
	trace, err := rendering.Read(in, of)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for i := range trace.Frames {
		if err := sound(&trace.Frames[i]); err != nil {
			t.Errorf("%s: frame %d: %v", path, i, err)
		}
	}
	return trace
}

func anything(int) bool { return true }

// TestReadEveryRealTrace reads the frames of all processes of every trace of the corpus.
func TestReadEveryRealTrace(t *testing.T) {
	t.Parallel()
	files, drawn := 0, 0
	for _, folder := range []string{"perfetto", "perfetto-expected", "systrace"} {
		err := filepath.WalkDir(corpustest.Path(t, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			if ext := filepath.Ext(path); ext != ".pftrace" && ext != ".perfetto-trace" && ext != ".systrace" && folder != "systrace" {
				return nil
			}
			files++
			if trace := real(t, path, rendering.App{Process: anything}); len(trace.Frames) > 0 {
				drawn++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 || drawn < 10 {
		t.Errorf("%d traces, of which %d have frames", files, drawn)
	}
}

// The statements of docs/evaluation/causes.md about real traces. The numbers are from the tables of
// slices, states and transactions (apkgate inspect perfetto --table), as shown in Perfetto's user
// interface.
func TestReadRealTraces(t *testing.T) {
	t.Parallel()
	start := corpustest.Path(t, "perfetto", "api32_startup_warm.perfetto-trace")
	t.Run("an app's start waits for its window", func(t *testing.T) {
		trace := real(t, start, rendering.App{Package: "androidx.benchmark.integration.macrobenchmark.target"})
		if len(trace.Frames) != 2 || len(trace.Clusters) != 3 || trace.Lost != 0 {
			t.Fatalf("%d frames, %+v, %d lost", len(trace.Frames), trace.Clusters, trace.Lost)
		}
		f := &trace.Frames[0]
		if f.Token != 191185 || f.Class != run.NormalFrames || f.Ready != 0 {
			t.Errorf("%+v", f)
		}
		// The main thread sleeps for 5.318 ms in a transaction to system_server of 5.375 ms,
		// in relayoutWindow, and for 0.197 ms in one to SurfaceFlinger.
		about(t, f, run.WaitBinder, run.StageTraversal, 5.515, 0.3)
	})
	t.Run("a splash screen is late by system_server and a buffer", func(t *testing.T) {
		trace := real(t, start, rendering.App{Package: "com.android.systemui"})
		f := &trace.Frames[0]
		// It ends 0.197 ms after its deadline. The thread of the splash screen's window waits for a
		// transaction of 7.168 ms before its part of the frame begins, and the render thread waits
		// 2.132 ms for its first buffer to be allocated.
		if f.Token != 191058 || f.Class != run.SlowFrames || f.Jank != "App Deadline Missed" || (f.Took-f.Deadline).Microseconds() != 197 {
			t.Errorf("%+v", f)
		}
		about(t, f, run.WaitBinder, "", 6.6, 0.7)
		about(t, f, run.WaitBuffer, run.StageRender, 1.9, 0.4)
	})
	t.Run("an app recomposes for long", func(t *testing.T) {
		trace := real(t, corpustest.Path(t, "perfetto", "nowinandroid_trace.perfetto-trace"), rendering.App{Package: "com.google.samples.apps.nowinandroid.demo"})
		classes := map[string]int{}
		for _, f := range trace.Frames {
			classes[f.Class]++
		}
		// Of 739 frames, one without an end, Android reports 11 late, 5 late and stuffed, 45
		// stuffed.
		if classes[run.SlowFrames] != 16 || classes[run.BufferedFrames] != 45 || classes[run.NormalFrames] != 677 || trace.Lost != 1 {
			t.Errorf("%v, %d lost", classes, trace.Lost)
		}
		worst := slices.MaxFunc(trace.Frames, func(a, b rendering.Frame) int { return int(a.Took - b.Took) })
		of := took(worst.Path, func(s rendering.Step) string { return s.What })
		if worst.Token != 154408141 || of["Compose:recompose"] < 20 || of["Compose:recompose"] < of["AndroidOwner:measureAndLayout"] {
			t.Errorf("%d took %v: %v", worst.Token, worst.Took, of)
		}
	})
	t.Run("others' frames", func(t *testing.T) {
		for name, want := range map[string]map[string]int{
			"com.google.android.apps.nexuslauncher": {run.NormalFrames: 2}, "com.android.systemui": {run.NormalFrames: 1, run.SlowFrames: 1},
			"com.android.settings": {run.NormalFrames: 65, run.BufferedFrames: 2},
		} {
			path := start
			if name == "com.android.settings" {
				path = corpustest.Path(t, "perfetto", "nowinandroid_trace.perfetto-trace")
			}
			got := map[string]int{}
			for _, f := range real(t, path, rendering.App{Package: name}).Frames {
				got[f.Class]++
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	})
	t.Run("a list of an older Android lays itself out", func(t *testing.T) {
		trace := real(t, corpustest.Path(t, "systrace", "catapult_decompressed_atrace_data.txt"), rendering.App{Process: func(pid int) bool { return pid == 18926 }})
		late := slices.DeleteFunc(slices.Clone(trace.Frames), func(f rendering.Frame) bool { return f.Class == run.NormalFrames })
		if trace.Source != rendering.DoFrame || len(trace.Frames) != 14 || len(late) != 3 {
			t.Fatalf("%s: %d frames, %d late", trace.Source, len(trace.Frames), len(late))
		}
		about(t, &late[0], run.WaitRunning, run.StageLayout, 11.858, 0.01)
		// The next builds and links a program for the GPU, in slices of 3.497 and 14.189 ms.
		of := took(late[1].Path, func(s rendering.Step) string { return s.Thread + " " + s.What })
		if of["RenderThread linkProgram"] < 14.18 || of["RenderThread Build GL Shader"] < 3.49 {
			t.Errorf("%v", of)
		}
	})
}

// about checks the path's total of a kind in a stage to some ms.
func about(t *testing.T, f *rendering.Frame, kind, stage string, ms, give float64) {
	t.Helper()
	got := took(f.Path, func(s rendering.Step) string { return s.Kind + " " + s.Stage })
	if d := got[kind+" "+stage] - ms; d > give || d < -give {
		t.Errorf("frame %d: %q took %.3f ms, want %.3f within %.3f\n%v", f.Token, kind+" "+stage, got[kind+" "+stage], ms, give, got)
	}
}

// TestFramesAgreeWithPerfettosTable compares with the frames by layer that Perfetto's own test of
// android.frames.timeline expects: number, layer, process, beginning or what precedes it, and end.
// Its last but one has no layer, since none of its buffers is in the trace; the one that the
// compositor made late ends here when it was shown.
func TestFramesAgreeWithPerfettosTable(t *testing.T) {
	t.Parallel()
	folder := corpustest.Path(t, "perfetto-expected")
	trace := real(t, filepath.Join(folder, "Frames__android_frames_layers.pftrace"), rendering.App{Package: "com.android.systemui"})
	var got []string
	for _, f := range trace.Frames {
		if f.Token == 100 {
			if !strings.Contains(f.Jank, "SurfaceFlinger") || f.At.Milliseconds() != 200 || f.Took.Milliseconds() <= 22 {
				t.Errorf("the compositor's late frame: %+v", f)
			}
			continue
		}
		got = append(got, fmt.Sprint(f.Token, " TX - ", f.Layer, " ", (f.At+f.Took).Nanoseconds()))
	}
	file, err := os.Open(filepath.Join(folder, "Frames__android_frames_layers.out"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(file).ReadAll()
	_ = file.Close()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, row := range rows[1:] {
		number, end, layer := row[0], row[3], row[11]
		one := number + " " + layer + " " + end
		if layer != "[NULL]" && number != "100" && !slices.Contains(want, one) { // one row each time that it was drawn
			want = append(want, one)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if len(want) < 10 || !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestOverrunsAgreeWithPerfettosTable compares the overrun of each frame, by the first layer of
// each number.
func TestOverrunsAgreeWithPerfettosTable(t *testing.T) {
	t.Parallel()
	folder := corpustest.Path(t, "perfetto-expected")
	trace := real(t, filepath.Join(folder, "Frames__android_frames_overrun.pftrace"), rendering.App{Package: "com.android.systemui"})
	raw, err := os.ReadFile(filepath.Join(folder, "Frames__android_frames_overrun.out"))
	if err != nil {
		t.Fatal(err)
	}
	seen, compared := map[int64]bool{100: true}, 0
	for _, f := range trace.Frames {
		if seen[f.Token] {
			continue
		}
		seen[f.Token] = true
		compared++
		if line := fmt.Sprintf("\n%d,%d\n", f.Token, (f.Took - f.Deadline).Nanoseconds()); !strings.Contains(string(raw), line) {
			t.Errorf("not in the table: %q", line)
		}
	}
	if compared < 12 {
		t.Errorf("%d frames were compared", compared)
	}
}
