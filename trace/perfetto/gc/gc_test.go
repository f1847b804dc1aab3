package gc_test

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/gc"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

type message = tracetest.Message

// read reads the runs of a trace in the app's processes.
func read(src io.ReadSeeker, of func(pid int) bool) (gc.Collections, error) {
	r := gc.New(of)
	lost, err := tracetest.Kernel(src, r)
	return r.Collections(lost), err
}

// line is a line that a thread writes at a time, in ms of CLOCK_BOOTTIME.
type line struct {
	ms   int64
	tid  int64
	text string
}

// traced is a trace of the lines.
func traced(lost bool, lines ...line) []byte {
	bundle := message(nil).Num(field.BundleCPU, 0)
	if lost {
		bundle = bundle.Num(field.BundleLostEvents, 1)
	}
	for _, l := range lines {
		bundle = bundle.In(field.BundleEvent, message(nil).Num(field.EventTimestamp, l.ms*1e6).Num(field.EventPID, l.tid).
			In(field.EventPrint, message(nil).Text(field.PrintBuf, l.text+"\n")))
	}
	return message(nil).In(field.TracePacket, message(nil).Num(field.PacketTrustedPacketSequenceID, 1).In(field.PacketFtraceEvents, bundle))
}

// The slice that ART writes around a run of its collector counts once, on any thread of the app; a
// wait for it, its phases and other apps' runs do not count.
func TestReadRuns(t *testing.T) {
	t.Parallel()
	const app, other = 40, 50
	text := traced(false,
		line{1000, 40, "B|40|Choreographer#doFrame 1"},
		line{1001, 41, "B|40|Background concurrent copying GC"},
		line{1002, 41, "B|40|CopyingPhase"},
		line{1003, 51, "B|50|Background concurrent copying GC"},
		line{1004, 40, "B|40|GC: Wait For Completion Alloc"},
		line{1011, 41, "E|40"}, // of the phase
		line{1021, 41, "E|40"},
		line{1022, 51, "E|50"},
		line{1023, 40, "E|40"},
		line{1024, 40, "E|40"},
		line{1030, 42, "B|40|Alloc concurrent mark compact GC"},
		line{1031, 42, "B|40|young concurrent mark compact GC"}, // a part of it
		line{1036, 42, "E|40"},
		line{1040, 42, "E|40"},
		line{1041, 42, "E|40"}, // of something that began before
		line{1050, 41, "B|40|semispace GC"},
		line{1058, 40, "B|40|GCd items"},
	)
	got, err := read(bytes.NewReader(text), func(pid int) bool { return pid == app })
	if err != nil || !got.Traced || got.Lost != 0 || len(got.Runs) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []gc.Run{
		{PID: app, Name: "Background concurrent copying GC", At: 1001 * time.Millisecond, For: 20 * time.Millisecond},
		{PID: app, Name: "Alloc concurrent mark compact GC", At: 1030 * time.Millisecond, For: 10 * time.Millisecond},
		{PID: app, Name: "semispace GC", At: 1050 * time.Millisecond, For: 8 * time.Millisecond}, // still running
	} {
		if got.Runs[i] != want {
			t.Errorf("%+v, want %+v", got.Runs[i], want)
		}
	}
	if got, err := read(bytes.NewReader(text), func(pid int) bool { return pid == other }); err != nil || len(got.Runs) != 1 {
		t.Errorf("of another app: %+v, %v", got, err)
	}
	if got, err := read(bytes.NewReader(text), func(pid int) bool { return pid == 60 }); err != nil || got.Traced {
		t.Errorf("of an app that wrote nothing: %+v, %v", got, err)
	}
}

// In a trace that lost events of the kernel the number of runs is unknown.
func TestLostEventsAreTold(t *testing.T) {
	t.Parallel()
	got, err := read(bytes.NewReader(traced(true, line{1000, 40, "B|40|x"}, line{1001, 40, "E|40"})), func(int) bool { return true })
	if err != nil || got.Lost == 0 || !got.Traced {
		t.Errorf("%+v, %v", got, err)
	}
}

// A trace of Perfetto's own tests has three runs, of 30, 50 and 50 ns, according to its trace
// processor.
func TestReadRunsOfPerfettosTests(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(corpustest.Path(t, "perfetto", "diff_tests_generated", "metrics-startup__android_startup_attribution.pftrace"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(bytes.NewReader(data), func(int) bool { return true })
	names := map[string]time.Duration{}
	for _, r := range got.Runs {
		names[r.Name] = r.For
	}
	if len(names) != 3 || names["Background concurrent copying GC"] != 30 || names["semispace GC"] != 50 || names["CollectorTransition mark sweep GC"] != 50 {
		t.Errorf("%v, %v", names, err)
	}
}

// Threads and depths beyond an app's are limited, and what has no room is counted. A thread that
// has room keeps it.
func TestCollectorIsBounded(t *testing.T) {
	t.Parallel()
	const depth, threads = 512, 10_000
	var deep, wide []line
	for i := range int64(depth + 3) {
		deep = append(deep, line{1000 + i, 40, "B|40|x"})
	}
	for i := range int64(threads + 2) {
		wide = append(wide, line{1000 + i, 40 + i, "B|40|x"})
	}
	wide = append(wide, line{20_000, 40, "B|40|semispace GC"})
	for name, c := range map[string]struct {
		lines      []line
		lost, runs int
	}{"deep": {deep, 3, 0}, "wide": {wide, 2, 1}} {
		got, err := read(bytes.NewReader(traced(false, c.lines...)), func(int) bool { return true })
		if err != nil || got.Lost != c.lost || len(got.Runs) != c.runs {
			t.Errorf("%s: %d lost, %d runs, %v; want %d and %d", name, got.Lost, len(got.Runs), err, c.lost, c.runs)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(traced(false, line{1000, 40, "B|40|Background concurrent copying GC"}, line{1001, 40, "E|40"}))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = read(bytes.NewReader(data), func(int) bool { return true })
	})
}

// Runs are counted with their duration. If a trace lost a part, the counts are unknown, with a
// doubt; also if the app wrote no slices.
func TestMetrics(t *testing.T) {
	t.Parallel()
	lines := []line{{1000, 41, "B|40|Background concurrent copying GC"}, {1020, 41, "E|40"}, {1100, 41, "B|40|young concurrent mark compact GC"}, {1105, 41, "E|40"}}
	for name, c := range map[string]struct {
		lines   []line
		lost    int
		count   float64
		doubted bool
	}{
		"two runs": {lines, 0, 2, false}, "a part is lost": {lines, 1, -1, true}, "nothing is written": {nil, 0, -1, false},
		"no run": {[]line{{1000, 40, "B|40|draw"}}, 0, 0, false},
	} {
		r := gc.New(func(pid int) bool { return pid == 40 })
		if _, err := tracetest.Kernel(bytes.NewReader(traced(false, c.lines...)), r); err != nil {
			t.Fatal(err)
		}
		got, doubt := r.Metrics(c.lost)
		if count, known := got["gc.count"]; known != (c.count >= 0) || known && count != c.count || (doubt != "") != c.doubted || c.count == 2 && got["gc.time_ms"] != 25 {
			t.Errorf("%s: %v, %q", name, got, doubt)
		}
	}
}
