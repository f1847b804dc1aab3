package phone

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/trace/perfetto/binder"
	"github.com/apkgate/apkgate/trace/perfetto/blockio"
	"github.com/apkgate/apkgate/trace/perfetto/counters"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// causesConfig records everything that explains slow frames.
const causesConfig = `buffers { size_kb: 65536 fill_policy: RING_BUFFER }
data_sources { config { name: "linux.ftrace" ftrace_config {
  ftrace_events: "power/cpu_frequency" ftrace_events: "block/block_rq_issue" ftrace_events: "block/block_rq_complete" symbolize_ksyms: true
  atrace_categories: ["sched", "view", "gfx", "dalvik", "aidl", "binder_driver", "disk"] atrace_apps: "com.example.still" } } }
data_sources { config { name: "linux.process_stats" process_stats_config { scan_all_processes_on_start: true } } }
data_sources { config { name: "android.surfaceflinger.frametimeline" } }`

// causes is the parsed trace of an app with a cause of slow frames.
type causes struct {
	recording
	binder   *binder.Reader
	disk     *blockio.Reader
	counters *counters.Reader
	frames   []timeline.Frame
	ui       int32 // the UI thread, in the tracker
}

// recordCauses records the test of an app with additional lines.
func recordCauses(t *testing.T, phone, lines string) causes {
	t.Helper()
	p := newPhone(t, phone, still+lines)
	pid := strings.TrimSpace(output(t, p, "echo '"+causesConfig+"' | perfetto --txt -c - -o "+kernelTrace+" --background"))
	start(p, instrument)
	pass(t, p, 5*time.Second)
	output(t, p, "kill "+pid)
	pass(t, p, time.Second)
	f := packets.New()
	c := causes{recording: recording{truth: p.Timeline(), threads: threads.New(f)}}
	c.sched = sched.New(f, c.threads, sched.Keep{States: true})
	c.slices, c.binder, c.disk = slices.New(f, c.threads), binder.New(f, c.threads), blockio.New(f, c.threads)
	c.counters = counters.New(f, c.threads)
	if err := f.ReadInOrder(bytes.NewReader([]byte(output(t, p, "cat "+kernelTrace))), c.threads, c.sched, c.slices, c.binder, c.disk, c.counters); err != nil {
		t.Fatal(err)
	}
	l := windowsOf(p, "com.example.still")[0]
	c.frames = l.Frames
	for i, one := range c.threads.Threads {
		if int32(one.TID) == l.PID {
			c.ui = int32(i)
		}
	}
	return c
}

// of returns the delays of a kind.
func (c *causes) of(kind simapp.CauseKind) (out []timeline.Delay) {
	for _, f := range c.frames {
		for _, d := range f.Delays {
			if d.Cause.Kind == kind {
				out = append(out, d)
			}
		}
	}
	return out
}

// states returns the states of a thread that overlap an interval, by time, except for
// unfinished ones.
func (c *causes) states(thread int32, from, to time.Duration) (out []sched.State) {
	for _, s := range c.sched.States.Rows {
		at := s.At - clock.Slept
		if s.Thread == thread && at < to && s.For > 0 && at+s.For > from {
			out = append(out, s)
		}
	}
	return out
}

// in returns how long a thread was in a state between two instants.
func (c *causes) in(thread int32, state string, from, to time.Duration) (long time.Duration) {
	for _, s := range c.states(thread, from, to) {
		if at := s.At - clock.Slept; strings.TrimSuffix(c.sched.Names[s.Name], "+") == state {
			long += min(at+s.For, to) - max(at, from)
		}
	}
	return long
}

// waker returns the name of the thread that woke the UI thread at the end of a delay.
func (c *causes) waker(d timeline.Delay) string {
	for _, s := range c.states(c.ui, d.To-50*time.Microsecond, d.To) {
		if s.Waker > 0 {
			return c.threads.Threads[s.Waker].Name
		}
	}
	return ""
}

// said returns the trace sections of a thread that begin between two instants.
func (c *causes) said(thread int32, from, to time.Duration) (out []string) {
	for _, s := range c.slices.Slices.Rows {
		if at := s.At - clock.Slept; c.slices.Tracks[s.Track].Thread == int(thread) && at >= from && at < to {
			out = append(out, c.slices.Names[s.Name])
		}
	}
	return out
}

// What the UI thread waits for is visible as on a phone: in its state, and in its waker.
func TestTraceOfWaitsOfTheUIThread(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line, state, waker string
		kind               simapp.CauseKind
		says               string // the UI thread's section
	}{
		{"blocks binder com.example.backend IFeed::query 24ms after tap every 5", "S", "inder:20000_1", simapp.Binder, "binder transaction"},
		{"blocks disk 24ms after tap every 5 in measure", "D", "", simapp.Disk, ""},
		{"blocks lock db-writer 24ms after tap every 5 in layout", "S", "db-writer", simapp.Lock, "Lock contention on a monitor lock (owner tid: "},
		{"blocks lock db-writer 24ms through disk after tap every 5", "S", "db-writer", simapp.Lock, "monitor contention with owner db-writer ("},
		{"blocks cpu 24ms after tap every 5 in draw", "R", "", simapp.CPU, ""},
		{"gc 24ms after tap every 5 in input", "S", "HeapTaskDaemon", simapp.GC, "GC: Wait For Completion Alloc"},
		{"work measure 24ms after tap every 5 of Feed.onMeasure", "Running", "", simapp.Measure, "Feed.onMeasure"},
		{"work draw 24ms after tap every 5 of Feed.onDraw", "Running", "", simapp.Draw, "Feed.onDraw"},
		{"work inflate 24ms after tap every 5 of com.example.Card", "Running", "", simapp.Inflate, "com.example.Card"},
		{"work compose 24ms after tap every 5", "Running", "", simapp.Compose, "Compose:recompose"},
	} {
		for _, phone := range []string{"pixel-7-android-14", "pixel-5-android-11"} {
			c := recordCauses(t, phone, tt.line+"\n")
			delays := c.of(tt.kind)
			if len(delays) < 4 {
				t.Errorf("%s: %s: %d delays", phone, tt.line, len(delays))
			}
			for _, d := range delays {
				if got, all := c.in(c.ui, tt.state, d.From, d.To), d.To-d.From; got < all*95/100 {
					t.Errorf("%s: %s: %v of %v in %s: %v", phone, tt.line, got, all, tt.state, c.states(c.ui, d.From, d.To))
				}
				if ran := c.in(c.ui, "Running", d.To, d.To+100*time.Microsecond); ran < 90*time.Microsecond {
					t.Errorf("%s: %s: it runs for %v of the 0.1 ms after", phone, tt.line, ran)
				}
				if got := c.waker(d); !strings.HasSuffix(got, tt.waker) || tt.waker == "" && got != "" {
					t.Errorf("%s: %s: woken by %q", phone, tt.line, got)
				}
				if tid := c.threads.Threads[max(0, c.thread("com.example.still", tt.waker))].TID; tt.kind == simapp.Lock && !strings.Contains(strings.Join(c.said(c.ui, d.From-20*time.Microsecond, d.To), "\n"), fmt.Sprintf("owner db-writer (%d) at void com.example.still.data.Store.write(", tid)) {
					t.Errorf("%s: %s: the owner %d is not named", phone, tt.line, tid)
				}
				if said := strings.Join(c.said(c.ui, d.From-20*time.Microsecond, d.To-50*time.Microsecond), "\n"); !strings.Contains(said, tt.says) || tt.says == "" && said != "" {
					t.Errorf("%s: %s: the UI thread says %q", phone, tt.line, said)
				}
			}
		}
	}
}

// Each frame that draws has the section for recording, whether or not it is delayed.
func TestTraceOfFrameRecordings(t *testing.T) {
	t.Parallel()
	c := recordCauses(t, "pixel-7-android-14", "work draw 24ms after tap every 5\n")
	drawn, recorded := 0, 0
	for _, name := range c.said(c.ui, 0, math.MaxInt64) {
		switch name {
		case "draw":
			drawn++
		case "Record View#draw()":
			recorded++
		}
	}
	if drawn < 20 || recorded != drawn {
		t.Errorf("%d frames draw, and %d record", drawn, recorded)
	}
}

// thread returns the tracker's number of a thread by name, and process if it is not "".
func (c *causes) thread(process, name string) int32 {
	for i, one := range c.threads.Threads {
		if one.Name == name && (process == "" || one.Process >= 0 && c.threads.Processes[one.Process].Name == process) {
			return int32(i)
		}
	}
	return -1
}

// A call is visible as transactions with their flags, and its work on threads of the called
// processes, in sections named like AIDL's; a nested call takes a part of it.
func TestTraceOfNestedBinderCalls(t *testing.T) {
	t.Parallel()
	for _, phone := range []string{"pixel-7-android-14", "pixel-5-android-11"} {
		c := recordCauses(t, phone, "blocks binder com.example.backend IFeed::query 24ms through /system/bin/vold IVold::mount after tap every 5\n")
		calls := map[string]int{}
		for one := range c.binder.Transactions() {
			client, server := c.threads.Threads[one.Client.Thread], c.threads.Threads[one.Server.Thread]
			if !one.Waits {
				continue
			}
			calls[c.threads.Processes[client.Process].Name+" asks "+c.threads.Processes[server.Process].Name]++
		}
		delays := c.of(simapp.Binder)
		if n := len(delays); calls["com.example.still asks com.example.backend"] != n || calls["com.example.backend asks /system/bin/vold"] != n {
			t.Errorf("%s: %d calls are %v", phone, n, calls)
		}
		first, second := c.answering(delays[0], "com.example.backend"), c.answering(delays[0], "/system/bin/vold")
		for _, d := range delays {
			all := d.To - d.From
			worked, asked := c.in(first, "Running", d.From, d.To), c.in(second, "Running", d.From, d.To)
			if asked < all*55/100 || asked > all*65/100 || worked+asked < all*98/100 || worked+asked > all {
				t.Errorf("%s: of %v the one works for %v, whom it asks for %v", phone, all, worked, asked)
			}
			said := strings.Join(c.said(first, d.From, d.To), " ") + " " + strings.Join(c.said(second, d.From, d.To), " ")
			named := strings.Contains(said, "AIDL::java::IFeed::query::server") && strings.Contains(said, "AIDL::java::IVold::mount::server")
			if old := strings.Contains(phone, "android-11"); named == old || old && strings.Contains(said, "AIDL") {
				t.Errorf("%s: they say %q", phone, said)
			}
		}
	}
}

// answering returns the thread of a process that runs in a delay.
func (c *causes) answering(d timeline.Delay, process string) int32 {
	for i, one := range c.threads.Threads {
		if one.Process >= 0 && c.threads.Processes[one.Process].Name == process && c.in(int32(i), "Running", d.From, d.To) > 0 {
			return int32(i)
		}
	}
	return -1
}

// Storage is visible as requests to one device, which the waiting thread sends one after the
// other, and as the kernel function in which it slept; for a lock, the owner waits.
func TestTraceOfStorageRequests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, function, kind, thread string }{
		{"blocks disk 24ms after tap every 5 by read", "folio_wait_bit_common", "R", "m.example.still"},
		{"blocks disk 24ms after tap every 5 by fsync", "f2fs_issue_flush", "FWFS", "m.example.still"},
		{"blocks lock db-writer 24ms through disk after tap every 5", "f2fs_wait_on_page_writeback", "WS", "db-writer"},
	} {
		c := recordCauses(t, "pixel-7-android-14", tt.line+"\n")
		thread := c.thread("com.example.still", tt.thread)
		slept, told := time.Duration(0), time.Duration(0)
		for _, s := range c.states(thread, 0, time.Hour) {
			if c.sched.Names[s.Name] != "D" {
				continue
			}
			slept += s.For
			if s.IOWait != 1 || s.Blocked < 0 || c.sched.Functions[s.Blocked] != tt.function {
				t.Errorf("%s: a sleep %+v", tt.line, s)
			}
		}
		requests := map[blockio.Level]int{}
		for _, w := range c.disk.Work.All() {
			requests[w.Level]++
			told += w.For / 2 // reported at two levels
			if c.disk.Names[w.Kind] != tt.kind || w.Thread != thread || w.For <= 0 || w.For > 8*time.Millisecond {
				t.Errorf("%s: a request %+v", tt.line, w)
			}
		}
		if n := requests[blockio.Request]; n < 4*5 || requests[blockio.Bio] != n || len(requests) != 2 {
			t.Errorf("%s: %v requests", tt.line, requests)
		}
		if gap := slept - told; gap < -time.Millisecond || gap > time.Millisecond {
			t.Errorf("%s: it sleeps for %v, requests take %v", tt.line, slept, told)
		}
	}
}

// If other processes take the CPUs, none is idle while the UI thread waits for one, and the
// wait is attributed to them.
func TestTraceOfBusyCPUs(t *testing.T) {
	t.Parallel()
	for _, phone := range []string{"pixel-7-android-14", "c1-go-android-11"} {
		c := recordCauses(t, phone, "blocks cpu 24ms after tap every 5 by com.android.vending\n")
		for _, d := range c.of(simapp.CPU)[1:] { // the compact format lacks the first run on a CPU
			var others, all time.Duration
			for i, one := range c.threads.Threads {
				if one.TID == 0 {
					continue
				}
				ran := c.in(int32(i), "Running", d.From, d.To)
				all += ran
				if one.Process >= 0 && c.threads.Processes[one.Process].Name == "com.android.vending" {
					others += ran
				}
			}
			cpus := time.Duration(8)
			if phone != "pixel-7-android-14" {
				cpus = 6
			}
			if long := cpus * (d.To - d.From); all < long*99/100 || others < long*90/100 {
				t.Errorf("%s: of %v on all CPUs %v are taken, %v by others", phone, long, all, others)
			}
		}
	}
}

// A frame limited to the little CPUs runs only there, and they are busy while the big ones are
// almost idle; a frame on throttled CPUs runs at less than half the frequency, and takes
// correspondingly longer.
func TestTraceOfLittleAndSlowCPUs(t *testing.T) {
	t.Parallel()
	usual := recordCauses(t, "pixel-7-android-14", "")
	little := recordCauses(t, "pixel-7-android-14", "little after tap\n")
	held := recordCauses(t, "pixel-7-android-14", "slow-clock after tap\n")
	took := func(f *timeline.Frame) time.Duration { return f.Drawn() - f.Actual.From }
	speeds := func(c *causes, f *timeline.Frame) (out uint32) {
		for _, r := range c.truth.Runs {
			if r.TID == int32(c.threads.Threads[c.ui].TID) && r.From < f.SyncQueued && r.To > f.Input {
				out = max(out, r.KHz)
			}
		}
		return out
	}
	var fast, slow uint32
	for i := range usual.frames {
		fast = max(fast, speeds(&usual, &usual.frames[i]))
	}
	seen := 0
	for i := range little.frames {
		f := &little.frames[i]
		if !f.Little || f.Kind == timeline.RenderThread {
			continue
		}
		seen++
		if by := float64(took(f)) / float64(took(&usual.frames[i])); by < 1.9 || by > 3 {
			t.Errorf("a frame on the little CPUs takes %.2f times as long", by)
		}
		var busy [2]time.Duration
		for _, r := range little.truth.Runs {
			ran := max(0, min(r.To, f.Actual.To)-max(r.From, f.Actual.From))
			if r.CPU >= 4 {
				busy[1] += ran
			} else {
				busy[0] += ran
			}
			if tid := int32(little.threads.Threads[little.ui].TID); ran > 0 && (r.TID == tid || r.TID == tid+2) && r.CPU >= 4 {
				t.Errorf("the frame runs on CPU %d", r.CPU)
			}
		}
		if all := 4 * took(f); busy[0] < all*95/100 || busy[1] > all*30/100 {
			t.Errorf("of %v the little CPUs are busy for %v, the big ones for %v", all, busy[0], busy[1])
		}
	}
	for i := range held.frames {
		f := &held.frames[i]
		if !f.SlowClock || f.Kind == timeline.RenderThread {
			continue
		}
		seen++
		slow = speeds(&held, f)
		if by, want := float64(took(f))/float64(took(&usual.frames[i])), float64(fast)/float64(slow); by < want*0.75 || by > want*1.25 || want < 1.5 {
			t.Errorf("at %d kHz instead of %d a frame takes %.2f times as long", slow, fast, by)
		}
	}
	if seen < 80 {
		t.Errorf("%d frames", seen)
	}
}

// The GPU's work uses no CPU except for the thread that waits for it, and makes the frame
// late; SurfaceFlinger's work is on its own thread, and the app is not at fault.
func TestTraceOfTheGPUAndSurfaceFlinger(t *testing.T) {
	t.Parallel()
	gpu := recordCauses(t, "pixel-7-android-14", "gpu 24ms after tap every 8\n")
	fence := gpu.thread("com.example.still", "GPU completion")
	for _, f := range gpu.frames {
		for _, d := range f.Delays {
			if ran := gpu.in(fence, "Running", f.Queued, f.GPUDone+50*time.Microsecond); ran <= 0 || ran > 200*time.Microsecond {
				t.Errorf("who waits for the GPU runs for %v of %v", ran, d.To-d.From)
			}
			if f.Jank == timeline.NoJank || f.Drawn()-f.Queued < d.To-d.From {
				t.Errorf("the GPU takes %v, the frame is drawn %v after it was queued: jank %d", d.To-d.From, f.Drawn()-f.Queued, f.Jank)
			}
			if said := gpu.said(fence, f.Queued, f.GPUDone); len(said) != 1 || !strings.HasPrefix(said[0], "waiting for GPU completion ") {
				t.Errorf("it says %q", said)
			}
		}
	}
	c := recordCauses(t, "pixel-7-android-14", "blocks composition 24ms after tap every 8\n")
	flinger := c.thread("", "surfaceflinger")
	late := 0
	for _, d := range c.truth.Displays {
		if d.Takes == 0 {
			continue
		}
		late++
		if ran := c.in(flinger, "Running", d.Actual.From, d.Actual.To); d.Jank != timeline.SFCPUDeadline || d.Actual.To-d.Actual.From < d.Takes || ran < d.Takes*98/100 {
			t.Errorf("SurfaceFlinger runs for %v of %v: %+v", ran, d.Takes, d)
		}
		for _, s := range d.Shows {
			if f := s.Of(); f.Jank&timeline.SFCPUDeadline == 0 || f.Jank&timeline.AppDeadline != 0 {
				t.Errorf("it shows a frame of jank %d", f.Jank)
			}
		}
	}
	if late < 4 || len(gpu.of(simapp.GPU)) < 4 {
		t.Errorf("%d frames of the display, %d of the GPU", late, len(gpu.of(simapp.GPU)))
	}
}

// A buffer waits after a frame with a slow render thread: the next late frame is late although
// a new frame is shown at each vsync. The counter shows it.
func TestTraceOfWaitingBuffers(t *testing.T) {
	t.Parallel()
	c := recordCauses(t, "sdk-gphone64-x86-android-14", "work shader 26ms after tap every 16\nwork layout 10ms after tap every 16 from 8\n")
	waiting := func(at time.Duration) (n float64) {
		for _, v := range c.counters.Values.Rows {
			if strings.HasPrefix(c.counters.Tracks[v.Track].Name, "BufferTX - com.example.still/com.example.still.MainActivity#") && v.At-clock.Slept < at {
				n = v.Value
			}
		}
		return n
	}
	absorbed := 0
	for i := range c.frames {
		f := &c.frames[i]
		if len(f.Delays) == 0 || f.Delays[0].Cause.Kind != simapp.Layout {
			continue
		}
		if f.Drawn() <= f.Expected.To {
			t.Errorf("a frame is drawn %v after its vsync", f.Drawn()-f.Expected.From)
		}
		before := &c.frames[i-1]
		if since := f.Presented - before.Presented; since > f.Period*3/2 {
			t.Errorf("nothing new is seen for %v", since)
		}
		if vsync := f.Expected.To; waiting(vsync) < 1 || before.Latched < vsync {
			t.Errorf("%v buffers wait at the vsync for which it was late, the last was taken %v before", waiting(vsync), vsync-before.Latched)
		}
		absorbed++
	}
	for _, v := range c.counters.Values.Rows {
		if strings.HasPrefix(c.counters.Tracks[v.Track].Name, "BufferTX") && (v.Value < 0 || v.Value > 3) {
			t.Errorf("%v buffers wait", v.Value)
		}
	}
	if absorbed < 3 {
		t.Errorf("%d late frames", absorbed)
	}
}

// everyCause is an app with all causes at once.
const everyCause = `work shader 9ms after tap every 9
blocks binder com.example.backend IFeed::query 7ms through system_server IStore::get after tap every 3
blocks disk 9ms after tap every 4 by fsync in input
blocks lock db-writer 8ms through disk after tap every 5 in draw
blocks lock feed-reader 8ms after tap every 2 in input
blocks cpu 12ms after tap every 7 in measure
gc 6ms after tap every 2 from 2 in input
gpu 14ms after tap every 10
blocks composition 20ms after tap every 11
little after swipe
slow-clock after swipe
`

// However often the timeline is read, and whatever delays frames, it is the same and
// consistent: one thread runs on a CPU at a time, and a thread on one CPU.
func TestCausesKeepTheSchedulingConsistent(t *testing.T) {
	t.Parallel()
	for _, phone := range []string{"pixel-7-android-14", "c1-go-android-11", "nexus-5-android-4.4.4"} {
		runs := func(step time.Duration) ([]timeline.Run, []timeline.Transaction, []timeline.Sleep) {
			p := newPhone(t, phone, still+everyCause)
			s := start(p, "am start -n com.example.still/.MainActivity")
			pass(t, p, 2*time.Second)
			<-s.done
			start(p, instrument)
			for at := time.Duration(0); at < 6*time.Second; at += step {
				pass(t, p, step)
				p.Timeline()
			}
			truth := p.Timeline()
			return truth.Runs, truth.Transactions, truth.Sleeps
		}
		seldom, calls, sleeps := runs(6 * time.Second)
		often, sameCalls, sameSleeps := runs(1500 * time.Microsecond)
		if !reflect.DeepEqual(calls, sameCalls) || !reflect.DeepEqual(sleeps, sameSleeps) {
			t.Errorf("%s: other calls, or other sleeps, where it is asked often", phone)
		}
		if len(sleeps) == 0 || len(calls) == 0 {
			t.Errorf("%s: %d sleeps, %d calls", phone, len(sleeps), len(calls))
		}
		ran := func(list []timeline.Run) map[int32]time.Duration {
			out := map[int32]time.Duration{}
			for _, r := range list {
				out[r.TID] += r.To - r.From
			}
			return out
		}
		if a, b := ran(seldom), ran(often); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: threads ran %v, and %v where it is asked often", phone, a, b)
		}
		onCPU, ofThread := map[int8]time.Duration{}, map[int32]time.Duration{}
		for _, r := range seldom {
			if r.From >= r.To || r.From < onCPU[r.CPU] || r.From < ofThread[r.TID] {
				t.Fatalf("%s: %+v; its CPU is busy until %v, its thread until %v", phone, r, onCPU[r.CPU], ofThread[r.TID])
			}
			onCPU[r.CPU], ofThread[r.TID] = r.To, r.To
		}
	}
}

// An app may allocate without having methods. Allocations beyond what the collector frees fill
// its heap, and then its UI thread waits for the collector.
func TestFullHeapBlocksTheUIThread(t *testing.T) {
	for allocates, want := range map[string]bool{"allocates 4000\n": true, "allocates 2500\n": false} {
		p := newPhone(t, "pixel-7-android-14", still+allocates)
		pid := strings.TrimSpace(output(t, p, "echo '"+strings.Replace(kernelConfig, `"view"`, `"view" atrace_categories: "dalvik"`, 1)+"' | perfetto --txt -c - -o "+kernelTrace+" --background"))
		from := p.clock.Now()
		start(p, instrument)
		pass(t, p, 7*time.Second)
		r := readKernel(t, p, pid, from)
		output(t, p, "dumpsys batterystats") // the collector's work costs energy, and belongs to no method
		waits, runs := 0, 0
		for _, s := range r.slices.Slices.Rows {
			switch r.slices.Names[s.Name] {
			case "GC: Wait For Completion Alloc":
				waits++
				if s.For < 5*time.Millisecond || s.For > 100*time.Millisecond {
					t.Errorf("%s: the UI thread waits for %v", allocates, s.For)
				}
			case "Background concurrent copying GC":
				runs++
			}
		}
		if (waits > 0) != want || runs == 0 {
			t.Errorf("%s: %d waits for the collector, which runs %d times", allocates, waits, runs)
		}
	}
}
