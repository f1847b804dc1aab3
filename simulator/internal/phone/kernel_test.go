package phone

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/tables"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

const kernelTrace = "/data/misc/perfetto-traces/kernel.pftrace"

// kernelConfig records the events of the kernel and of apps, and the process list.
const kernelConfig = `buffers { size_kb: 32768 fill_policy: RING_BUFFER }
data_sources { config { name: "linux.ftrace" ftrace_config {
  ftrace_events: "sched/sched_switch" ftrace_events: "sched/sched_waking" ftrace_events: "sched/sched_wakeup" ftrace_events: "power/cpu_frequency"
  atrace_categories: "view" atrace_categories: "gfx" atrace_apps: "com.example.still" } } }
data_sources { config { name: "linux.process_stats" process_stats_config { scan_all_processes_on_start: true } } }`

// recording is a parsed trace of the kernel.
type recording struct {
	threads *threads.Tracker
	sched   *sched.Reader
	slices  *slices.Reader
	truth   *timeline.Timeline
	during  timeline.Interval
}

// recordKernel records the kernel while the app's test runs.
func recordKernel(t *testing.T, p *Phone) recording {
	t.Helper()
	pid := strings.TrimSpace(output(t, p, "echo '"+kernelConfig+"' | perfetto --txt -c - -o "+kernelTrace+" --background"))
	from := p.clock.Now()
	start(p, instrument)
	pass(t, p, 7*time.Second)
	return readKernel(t, p, pid, from)
}

// readKernel ends a recording of the kernel that began at a time, and parses it.
func readKernel(t *testing.T, p *Phone, pid string, from time.Duration) recording {
	t.Helper()
	output(t, p, "kill "+pid)
	until := p.clock.Now()
	pass(t, p, time.Second)
	f := packets.New()
	r := recording{truth: p.Timeline(), during: timeline.Interval{From: from, To: until}}
	r.threads = threads.New(f)
	r.sched = sched.New(f, r.threads, sched.Keep{Turns: true, States: true, Wakeups: true})
	r.slices = slices.New(f, r.threads)
	if err := f.ReadInOrder(bytes.NewReader([]byte(output(t, p, "cat "+kernelTrace))), r.threads, r.sched, r.slices); err != nil {
		t.Fatal(err)
	}
	return r
}

// The runs on CPUs in a trace are the true ones, by thread and name.
func TestTraceOfRuns(t *testing.T) {
	for _, phone := range []string{"pixel-7-android-14", "pixel-5-android-11"} { // in the compact format and in the other
		p := newPhone(t, phone, hungry)
		r := recordKernel(t, p)
		ran, unsure := map[int32]time.Duration{}, map[int32]time.Duration{}
		first := map[int8]timeline.Run{}
		for _, run := range r.truth.Runs {
			long := max(0, min(run.To, r.during.To)-max(run.From, r.during.From))
			ran[run.TID] += long
			if before, known := first[run.CPU]; !known && long > 0 || known && before.TID == run.TID && before.To == run.From {
				first[run.CPU] = run
				unsure[run.TID] += long // the compact format lacks the first run on a CPU
			}
		}
		told, names := map[int32]time.Duration{}, map[string]bool{}
		for _, turn := range r.sched.Turns.Rows {
			one := r.threads.Threads[turn.Thread]
			if one.TID != 0 && turn.For >= 0 {
				told[one.TID] += turn.For
				names[one.Name] = true
			}
		}
		for tid, want := range ran {
			if got := told[tid]; got > want || want-got > unsure[tid]+10*time.Millisecond { // a run at the end is missing
				t.Errorf("%s: thread %d ran for %v, the trace says %v", phone, tid, want, got)
			}
		}
		for _, name := range []string{"m.example.still", "RenderThread", "pool-2-thread-1", "surfaceflinger", "kworker/0:1"} {
			if !names[name] {
				t.Errorf("%s: no thread %s ran: %v", phone, name, names)
			}
		}
	}
}

// The UI thread wakes the render thread, and SurfaceFlinger's thread the UI thread.
func TestTraceOfWakings(t *testing.T) {
	for _, phone := range []string{"pixel-7-android-14", "pixel-5-android-11"} {
		r := recordKernel(t, newPhone(t, phone, hungry))
		woken := map[string]int{}
		for _, s := range r.sched.States.Rows {
			if s.Waker > 0 {
				woken[r.threads.Threads[s.Waker].Name+" wakes "+r.threads.Threads[s.Thread].Name]++
			}
		}
		for _, edge := range []string{"m.example.still wakes RenderThread", "RenderThread wakes m.example.still", "app wakes m.example.still"} {
			if woken[edge] < 30 {
				t.Errorf("%s: %s %d times: %v", phone, edge, woken[edge], woken)
			}
		}
	}
}

// Android 12 permits sched_waking to the shell of a user build (private/genfs_contexts).
// Before, there is only sched_wakeup: with the waker if both CPUs share a cache, otherwise
// with the thread that the other CPU's interrupt hits.
func TestOlderUserBuildsTraceOnlyWakeups(t *testing.T) {
	for _, c := range []struct {
		phone      string
		production bool
		wakings    bool
	}{{"pixel-5-android-11", true, false}, {"nord-android-10", true, false}, {"pixel-5-android-11", false, true}, {"galaxy-s21-android-13", true, true}} {
		pr, err := profile.Find(c.phone)
		if err != nil {
			t.Fatal(err)
		}
		p := New(pr, 1, Options{Production: c.production, Tracing: "on"})
		t.Cleanup(p.Close)
		if err := p.Install([]byte(hungry)); err != nil {
			t.Fatal(err)
		}
		r := recordKernel(t, p)
		if (r.sched.Wakings > 0) != c.wakings || r.sched.Wakeups < 100 {
			t.Errorf("%s, as sold: %t: %d wakings, %d wakeups", c.phone, c.production, r.sched.Wakings, r.sched.Wakeups)
		}
		if c.wakings {
			continue
		}
		queued, named := 0, 0
		for _, s := range r.sched.States.Rows {
			if s.Waker > 0 && r.threads.Threads[s.Thread].Name == "RenderThread" {
				if s.Queued {
					queued++
				} else if r.threads.Threads[s.Waker].Name == "m.example.still" {
					named++
				}
			}
		}
		if named < 30 {
			t.Errorf("%s: %d times the UI thread is told to wake the render thread, and %d times its CPU's queue is", c.phone, named, queued)
		}
	}
}

// Each frame has its sections on the UI thread and on the render thread, with the token in the
// frame timeline and framestats, at the times of its stages.
func TestTraceOfFrameSections(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", hungry)
	r := recordKernel(t, p)
	type section struct {
		thread, name string
		at           time.Duration
	}
	told := map[section]time.Duration{}
	for _, s := range r.slices.Slices.Rows {
		if thread := r.slices.Tracks[s.Track].Thread; thread >= 0 {
			told[section{r.threads.Threads[thread].Name, r.slices.Names[s.Name], s.At - clock.Slept}] = s.For
		}
	}
	whole := 0
	for _, f := range windowsOf(p, "com.example.still")[0].Frames {
		if f.Actual.To > r.during.To-100*time.Millisecond {
			break
		}
		draw, at := fmt.Sprintf("DrawFrames %d", f.Token), f.Sync
		if f.Kind == timeline.RenderThread {
			draw = fmt.Sprintf("prepareAndDraw %d", f.Token)
		} else {
			whole++
			long, ok := told[section{"m.example.still", fmt.Sprintf("Choreographer#doFrame %d", f.Token), f.Actual.From}]
			if end := f.Actual.From + long; !ok || end < f.SyncQueued || end > f.Actual.To {
				t.Fatalf("frame %d: doFrame takes %v (%v), its stages go from %v over %v to %v", f.Token, long, ok, f.Actual.From, f.SyncQueued, f.Actual.To)
			}
		}
		if got := told[section{"RenderThread", draw, at}]; got != f.Queued-at {
			t.Fatalf("frame %d: %s takes %v, want %v", f.Token, draw, got, f.Queued-at)
		}
		if got := told[section{"RenderThread", "queueBuffer", f.Swap}]; got != f.Queued-f.Swap {
			t.Fatalf("frame %d: queueBuffer takes %v, want %v", f.Token, got, f.Queued-f.Swap)
		}
	}
	if whole < 30 {
		t.Errorf("%d frames", whole)
	}
	open, composed := 0, 0
	for _, s := range r.slices.Slices.Rows {
		if s.For < 0 {
			open++
		}
		if strings.HasPrefix(r.slices.Names[s.Name], "composite ") && s.Depth == 0 {
			composed++
		}
	}
	if open > 4 || composed < whole {
		t.Errorf("%d sections do not end, SurfaceFlinger composes %d times", open, composed)
	}
}

// An app's own section is where its heavy computation ran.
func TestTraceOfTheAppsOwnSections(t *testing.T) {
	r := recordKernel(t, newPhone(t, "pixel-7-android-14", hungry))
	found := 0
	for _, s := range r.slices.Slices.Rows {
		if name := r.slices.Names[s.Name]; strings.HasPrefix(name, "com.example.still.") && s.For > 50*time.Millisecond {
			found++
		}
	}
	if found == 0 {
		t.Error("no section of the app")
	}
}

// Sections of an app itself are traced for debug builds and profileable apps, unless Android
// itself is a debug build; the framework's sections are always traced.
func TestOwnSectionsNeedAProfileableApp(t *testing.T) {
	pr, err := profile.Find("pixel-7-android-14")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags      string
		production bool
		want       bool
	}{{"", true, true}, {"unprofileable\n", true, false}, {"unprofileable\ndebuggable\n", true, true}, {"unprofileable\n", false, true}} {
		p := New(pr, 1, Options{Production: c.production, Tracing: "on"})
		t.Cleanup(p.Close)
		if err := p.Install([]byte(hungry + c.flags)); err != nil {
			t.Fatal(err)
		}
		r := recordKernel(t, p)
		told := map[string]bool{}
		for _, s := range r.slices.Slices.Rows {
			told[r.slices.Names[s.Name]] = true
		}
		if told["com.example.still.Json.parse"] != c.want || !told["animation"] {
			t.Errorf("%q, as sold: %t: own sections: %t, the framework's: %t", c.flags, c.production, told["com.example.still.Json.parse"], told["animation"])
		}
	}
}

// SurfaceFlinger toggles a counter at each vsync that an app requested, whether or not its UI
// thread is free to begin a frame then.
func TestTraceOfVsyncs(t *testing.T) {
	for _, phone := range []string{"pixel-7-android-14", "nord-android-10"} {
		p := newPhone(t, phone, hungry+"jank 300ms after tap\n")
		recordKernel(t, p)
		read, err := tables.Read(strings.NewReader(output(t, p, "cat "+kernelTrace)), "counters")
		if err != nil {
			t.Fatal(err)
		}
		at, name := indexOf(read.Columns, "ts"), indexOf(read.Columns, "track_name")
		told := map[time.Duration]bool{}
		for row := range read.Rows {
			if row[name] == "VSYNC-app" {
				told[time.Duration(row[at].(int64))-clock.Slept] = true
			}
		}
		held, missing := 0, 0
		for _, f := range windowsOf(p, "com.example.still")[0].Frames {
			const passesOn = time.Millisecond
			near := false
			for v := range told {
				near = near || v >= f.Expected.From && v < f.Expected.From+passesOn
			}
			if !near {
				missing++
			}
			if f.Held > 200*time.Millisecond && near {
				held++
			}
		}
		if held == 0 || missing > 3 {
			t.Errorf("%s: %d vsyncs of frames that were held up are told, and %d of all are not", phone, held, missing)
		}
	}
}

func indexOf(all []string, one string) int {
	for i, s := range all {
		if s == one {
			return i
		}
	}
	return -1
}
