package record_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/importer"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/logcat"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
)

const ms = time.Millisecond

// drawn are frames that took so many milliseconds each, one a second from 1 s on.
func drawn(took ...int) (out []jank.Frame) {
	for i, t := range took {
		out = append(out, jank.Frame{At: time.Duration(i+1) * time.Second, Took: time.Duration(t) * ms})
	}
	return out
}

// wantMetrics compares some metrics exactly: all are whole numbers.
func wantMetrics(t *testing.T, what string, got, want map[string]float64) {
	t.Helper()
	for name, w := range want {
		if g, ok := got[name]; !ok || g != w {
			t.Errorf("%s: %s is %v (known: %v), want %v", what, name, g, ok, w)
		}
	}
}

// A repetition's totals are metrics of the whole, its frames fall into the buckets of the events
// before them, and what is unknown is left out.
func TestIterations(t *testing.T) {
	t.Parallel()
	its := record.Iterations([]record.Measurement{{
		Repetition: 1, Frames: drawn(4, 8, 6), Events: []logcat.Event{{Name: "open", Time: 2 * time.Second}},
		Startup: 300 * ms, CPU: 1500 * ms, Watching: -1, RSSKB: 2000, PSSKB: 1000,
		Done: &framesource.Done{Faults: 7, Waits: 9}, Traced: map[string]float64{"gc.count": 2, "work.layouts": 0},
	}})
	if len(its) != 1 || len(its[0].Events) != 2 {
		t.Fatalf("%+v", its)
	}
	it := its[0]
	wantMetrics(t, "the whole", it.Metrics, map[string]float64{
		"frames.count": 3, "frames.duration_ms": 6, "startup.ttid_ms": 300, "cpu.time_ms": 1500, "memory.rss_kb": 2000, "memory.pss_kb": 1000,
		"gc.count": 2, "work.page_faults": 7, "work.waits": 9, "work.layouts": 0, "anr.count": 0, "snr.count": 0,
	})
	for _, name := range []string{"startup.ttfd_ms", "watching.cpu_ms", "memory.peak_rss_kb", "work.draws"} {
		if v, known := it.Metrics[name]; known {
			t.Errorf("%s is %v, and was not measured", name, v)
		}
	}
	wantMetrics(t, "before the event", it.Events[0].Metrics, map[string]float64{"frames.count": 1, "frames.duration_ms": 4})
	wantMetrics(t, "after the event", it.Events[1].Metrics, map[string]float64{"frames.count": 2, "frames.duration_ms": 7})
	if it.Events[0].Name != run.Start || it.Events[1].Name != "open" {
		t.Errorf("events %q and %q", it.Events[0].Name, it.Events[1].Name)
	}
}

// Only the iteration with the median mean keeps its frames.
func TestIterationsKeepFramesOfTheMedian(t *testing.T) {
	t.Parallel()
	its := record.Iterations([]record.Measurement{{Frames: drawn(30)}, {Frames: drawn(10)}, {Frames: drawn(20)}})
	if len(its[0].Frames) != 0 || len(its[1].Frames) != 0 || len(its[2].Frames) != 1 {
		t.Errorf("frames kept: %d, %d, %d; want those of 20 ms", len(its[0].Frames), len(its[1].Frames), len(its[2].Frames))
	}
	if got := record.Iterations(nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// If Android counted more frames than were seen, its counts are those of the whole.
func TestIterationsWithUnseenFrames(t *testing.T) {
	t.Parallel()
	it := record.Iterations([]record.Measurement{{Frames: drawn(4, 8), Whole: framesource.Whole{Count: 8, Janky: 2}}})[0]
	wantMetrics(t, "the whole", it.Metrics, map[string]float64{"frames.count": 8, "frames.janky": 2, "frames.smooth_ratio": 0.75})
	if it.FramesSeen != 0.25 {
		t.Errorf("seen %v, want 0.25", it.FramesSeen)
	}
	unseen := record.Iterations([]record.Measurement{{Frames: drawn(4), Unseen: true}})[0]
	if _, known := unseen.Metrics["frames.count"]; known {
		t.Errorf("frames that nobody looked at: %v", unseen.Metrics)
	}
}

// stoodStill is the log of an ANR for input, 5 s into a repetition.
func stoodStill() applog.Seen {
	return applog.Seen{
		Events: []logcat.Event{{Name: "tap", Time: 2 * time.Second}},
		Anomalies: []applog.Anomaly{
			{Kind: applog.NotResponding, From: 9 * time.Second, Waited: 5 * time.Second, Reason: "Input dispatching timed out (x)", Process: "com.example", PID: 7},
			{Kind: applog.Frozen, From: time.Second},
			{Kind: applog.SystemEnded, From: 10 * time.Second},
		},
	}
}

// A standstill counts in the event in which it began, and as 0 in other repetitions' events of that
// name.
func TestStandstills(t *testing.T) {
	t.Parallel()
	seen := stoodStill()
	stood := record.Standstills(seen)
	if len(stood) != 2 || stood[0].Since != 4*time.Second || stood[1].Metric != "snr.count" {
		t.Fatalf("%+v", stood)
	}
	if got := record.Restarts(stood); !slices.Equal(got, []record.Standstill{record.Restart}) {
		t.Errorf("restarts %+v", got)
	}
	events := []logcat.Event{{Name: "tap", Time: 2 * time.Second}}
	its := record.Iterations([]record.Measurement{{Events: events, Standstills: stood[:1]}, {Events: events}})
	wantMetrics(t, "the whole", its[0].Metrics, map[string]float64{"anr.count": 1, stood[0].Metric: 1, "snr.count": 0})
	wantMetrics(t, "the tap", its[0].Events[1].Metrics, map[string]float64{stood[0].Metric: 1})
	wantMetrics(t, "the other tap", its[1].Events[1].Metrics, map[string]float64{stood[0].Metric: 0})
	if _, has := its[0].Events[0].Metrics[stood[0].Metric]; has {
		t.Error("the start tells of an ANR of the tap")
	}
}

// The section has an entry for each standstill, as far as there is room.
func TestANRs(t *testing.T) {
	t.Parallel()
	got, more := record.ANRs(3, stoodStill(), 5)
	if more || len(got) != 2 {
		t.Fatalf("%+v, more: %v", got, more)
	}
	if a := got[0]; a.Repetition != 3 || a.Event != "tap" || a.AtMS != 9000 || a.WaitedMS != 5000 || a.PID != 7 || a.Kind == run.SNR {
		t.Errorf("%+v", a)
	}
	if got[1].Kind != run.SNR {
		t.Errorf("%+v", got[1])
	}
	if got, more := record.ANRs(3, stoodStill(), 1); len(got) != 1 || !more {
		t.Errorf("with room for one: %d, more: %v", len(got), more)
	}
}

// Doubts name their repetition, and equal repetitions have none.
func TestDoubts(t *testing.T) {
	t.Parallel()
	tap, swipe := []logcat.Event{{Name: "tap"}}, []logcat.Event{{Name: "swipe"}}
	if got := record.Doubts([]record.Measurement{{Repetition: 1, Events: tap}, {Repetition: 2, Events: tap}}); got != nil {
		t.Errorf("of repetitions that are alike: %q", got)
	}
	got := record.Doubts([]record.Measurement{
		{Repetition: 1, Events: tap, Frames: drawn(4), Whole: framesource.Whole{Count: 4}, Watching: 3 * time.Second, CPU: 10 * time.Second, Lasted: 20 * time.Second},
		{Repetition: 3, Events: swipe, Frames: drawn(4, 4, 4, 4)},
		{Repetition: 4},
	})
	for i, parts := range [][]string{
		{`repetition 3 has other UI events than repetition 1: event 1 is "swipe" instead of "tap"`},
		{"repetition 4 has other UI events than repetition 1: 0 instead of 1"},
		{"62.5 % of the frames", "25.0 % in repetition 1"},
		{"watching took 30.0 % of the CPU time that the app had, and 15.0 % of a CPU (3s in all"},
	} {
		for _, part := range parts {
			if i >= len(got) || !strings.Contains(got[i], part) {
				t.Errorf("doubt %d of %q: want %q", i, got, part)
			}
		}
	}
}

// Measurements by a workload itself replace iterations; a turn is one.
func TestImported(t *testing.T) {
	t.Parallel()
	of := func(values ...float64) *run.Run {
		r := &run.Run{Context: map[string]string{importer.MeasuredBy: "macrobenchmark"}, Declared: []run.Declared{{Name: "own"}}}
		for _, v := range values {
			r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"own": v}, Events: []run.Bucket{{Name: "e", Metrics: map[string]float64{"own": 2 * v}}}})
		}
		return r
	}
	all := []record.Measurement{{Imported: of(1, 9, 2)}, {}, {Imported: of(5)}}
	got := record.Imported(all, false)
	if len(got.Iterations) != 4 || len(got.Declared) != 1 || !slices.Contains(got.Context, record.Property{Name: importer.MeasuredBy, Value: "macrobenchmark"}) {
		t.Errorf("%+v", got)
	}
	turns := record.Imported(all, true).Iterations
	if len(turns) != 2 || turns[0].Metrics["own"] != 2 || turns[0].Events[0].Metrics["own"] != 4 || turns[1].Metrics["own"] != 5 {
		t.Errorf("alternately: %+v", turns)
	}
	if none := record.Imported([]record.Measurement{{}}, true); none.Iterations != nil {
		t.Errorf("of nothing: %+v", none)
	}
}

// The latest frame is the one that missed its deadline by the most, and each frame of the section
// links to the trace of its repetition.
func TestFrameCauses(t *testing.T) {
	t.Parallel()
	late := record.Latest(section.Repetition{Trace: rendering.Trace{Frames: []rendering.Frame{
		{At: 1, Took: 30 * ms, Deadline: 16 * ms, Class: run.SlowFrames}, {At: 2, Took: 40 * ms, Deadline: 16 * ms, Class: run.SlowFrames}, {At: 3, Took: 90 * ms, Deadline: 16 * ms},
	}}})
	if late == nil || late.At != 2 || late.By != 24*ms {
		t.Errorf("latest %+v", late)
	}
	if late := record.Latest(section.Repetition{}); late != nil {
		t.Errorf("latest of none: %+v", late)
	}
	frames := &run.Frames{Worst: []run.LateFrame{{Repetition: 1}, {Repetition: 2}}}
	record.LinkTraces(frames, []run.Evidence{{Kind: run.PerfettoTrace, Repetition: 2, Digest: "d"}, {Kind: "other", Repetition: 1, Digest: "x"}})
	if frames.Worst[0].Evidence != "" || frames.Worst[1].Evidence != "d" {
		t.Errorf("%+v", frames.Worst)
	}
	record.LinkTraces(nil, nil)
}

// The last views of an event count, in the order in which events came first.
func TestViews(t *testing.T) {
	t.Parallel()
	var v record.Views
	for _, seen := range []run.Views{{Event: "a", Count: 1}, {Event: "b", Count: 2}, {Event: "a", Count: 3, Hidden: []run.HiddenView{{ID: "x"}}}} {
		v.Add(seen)
	}
	if len(v) != 2 || v[0].Count != 3 || v[1].Event != "b" || !v.Hidden() {
		t.Errorf("%+v", v)
	}
	if v[1:].Hidden() {
		t.Error("views are hidden that are not")
	}
}

// A run's rate is that of the shortest interval that its frames were drawn for.
func TestShortestInterval(t *testing.T) {
	t.Parallel()
	got := record.ShortestInterval([]record.Measurement{{Frames: []jank.Frame{{}, {Interval: 16 * ms}}}, {Frames: []jank.Frame{{Interval: 8 * ms}}}})
	if got != 8*ms || record.ShortestInterval(nil) != 0 {
		t.Errorf("%v", got)
	}
	by := map[framesource.Source]string{framesource.Dumps: metric.ByGfxinfo, framesource.Timeline: metric.ByTimeline, framesource.Shown: metric.ByShown}
	for source := range maps.Keys(by) {
		if got := record.FramesBy(source); got != by[source] {
			t.Errorf("%v: %q", source, got)
		}
	}
}
