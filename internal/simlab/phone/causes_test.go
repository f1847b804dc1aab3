package phone

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/clock"
	"github.com/apkgate/apkgate/internal/simlab/simapp"
	"github.com/apkgate/apkgate/internal/simlab/timeline"
	"github.com/apkgate/apkgate/trace/perfetto/binder"
	"github.com/apkgate/apkgate/trace/perfetto/blockio"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// causesConfig asks for all that tells why frames are slow.
const causesConfig = `buffers { size_kb: 65536 fill_policy: RING_BUFFER }
data_sources { config { name: "linux.ftrace" ftrace_config {
  ftrace_events: "power/cpu_frequency" ftrace_events: "block/block_rq_issue" ftrace_events: "block/block_rq_complete" symbolize_ksyms: true
  atrace_categories: ["sched", "view", "gfx", "dalvik", "aidl", "binder_driver", "disk"] atrace_apps: "com.example.still" } } }
data_sources { config { name: "linux.process_stats" process_stats_config { scan_all_processes_on_start: true } } }
data_sources { config { name: "android.surfaceflinger.frametimeline" } }`

// causes is what readers found in a trace of an app with a cause of slow frames.
type causes struct {
	recording
	binder *binder.Reader
	disk   *blockio.Reader
	frames []timeline.Frame
	ui     int32 // its thread, in the tracker's
}

// recordCauses records the test of an app with some lines more.
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
	if err := f.ReadInOrder(bytes.NewReader([]byte(output(t, p, "cat "+kernelTrace))), c.threads, c.sched, c.slices, c.binder, c.disk); err != nil {
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

// of are the delays of a kind.
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

// states are those of a thread that have a part between two instants, by time: those of
// which the end is known.
func (c *causes) states(thread int32, from, to time.Duration) (out []sched.State) {
	for _, s := range c.sched.States {
		at := s.At - clock.Slept
		if s.Thread == thread && at < to && s.For > 0 && at+s.For > from {
			out = append(out, s)
		}
	}
	return out
}

// in is how long a thread was in a state between two instants.
func (c *causes) in(thread int32, state string, from, to time.Duration) (long time.Duration) {
	for _, s := range c.states(thread, from, to) {
		if at := s.At - clock.Slept; strings.TrimSuffix(c.sched.Names[s.Name], "+") == state {
			long += min(at+s.For, to) - max(at, from)
		}
	}
	return long
}

// wakers are the names of the threads that woke the UI thread at the end of a delay.
func (c *causes) waker(d timeline.Delay) string {
	for _, s := range c.states(c.ui, d.To-50*time.Microsecond, d.To) {
		if s.Waker > 0 {
			return c.threads.Threads[s.Waker].Name
		}
	}
	return ""
}

// said are the sections of a thread that begin between two instants.
func (c *causes) said(thread int32, from, to time.Duration) (out []string) {
	for _, s := range c.slices.Slices {
		if at := s.At - clock.Slept; c.slices.Tracks[s.Track].Thread == int(thread) && at >= from && at < to {
			out = append(out, c.slices.Names[s.Name])
		}
	}
	return out
}

// What the UI thread waits for shows as it does on a phone: in its state, and in who wakes it.
func TestATraceShowsWhatTheUIThreadWaitsFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line, state, waker string
		kind               simapp.CauseKind
		says               string // the UI thread
	}{
		{"blocks binder com.example.backend IFeed::query 24ms after tap every 5", "S", "inder:20000_1", simapp.Binder, "binder transaction"},
		{"blocks disk 24ms after tap every 5 in measure", "D", "", simapp.Disk, ""},
		{"blocks lock db-writer 24ms after tap every 5 in layout", "S", "db-writer", simapp.Lock, "Lock contention on a monitor lock (owner tid: "},
		{"blocks lock db-writer 24ms through disk after tap every 5", "S", "db-writer", simapp.Lock, "monitor contention with owner db-writer ("},
		{"blocks cpu 24ms after tap every 5 in draw", "R", "", simapp.CPU, ""},
		{"gc 24ms after tap every 5 in input", "S", "HeapTaskDaemon", simapp.GC, "GC: Wait For Completion Alloc"},
		{"work measure 24ms after tap every 5 of Feed.onMeasure", "Running", "", simapp.Measure, "Feed.onMeasure"},
		{"work draw 24ms after tap every 5", "Running", "", simapp.Draw, "Record View#draw()"},
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
				if said := strings.Join(c.said(c.ui, d.From-20*time.Microsecond, d.To-50*time.Microsecond), "\n"); !strings.Contains(said, tt.says) || tt.says == "" && said != "" {
					t.Errorf("%s: %s: the UI thread says %q", phone, tt.line, said)
				}
			}
		}
	}
}
