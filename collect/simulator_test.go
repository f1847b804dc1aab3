package collect_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// patience is how long to wait for a simulated phone's answer, in this computer's time: so long
// that no repetition is lost because the computer is busy, unless a fault keeps the phone from
// answering.
func patience(o simulator.Options) adb.Options {
	limit := time.Minute
	for _, f := range o.Faults {
		if f.Kind == simapp.Hang || f.Kind == simapp.Offline {
			limit = 2 * time.Second
		}
	}
	return adb.Options{ConnectTimeout: limit, ReplyTimeout: limit, SilenceTimeout: 2 * limit}
}

// simulated starts a simulated phone and a job of the demo app on it, through the real adb client.
func simulated(t testing.TB, profile string, o simulator.Options) (*simulator.Simulated, collect.Job) {
	t.Helper()
	return seeded(t, profile, 1, o)
}

// seeded is simulated for a phone of that seed: another day of the same phone.
func seeded(t testing.TB, profile string, seed uint64, o simulator.Options) (*simulator.Simulated, collect.Job) {
	t.Helper()
	s, err := simulator.Start(profile, seed, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	dir := t.TempDir()
	file := func(name string) string {
		text, err := simapp.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name+".apk")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return s, collect.Job{
		Device: profile, Clock: s.Clock(),
		Open: func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, s.Address(), patience(o)) },
		App:  config.App{Package: "com.example.demo", APK: file("demo-good"), TestAPK: file("demo-test")},
		Scenario: config.Scenario{
			Name: "read-mail", Repetitions: 3, WarmUp: 1, Timeout: time.Minute, Retries: 2,
			Workload: config.Workload{Instrumentation: &config.Instrumentation{
				TestPackage: "com.example.demo.test", Class: "com.example.demo.ReadMailTest#readsMail"}},
		},
		Network: "wifi",
	}
}

func TestEverySimulatedDevice(t *testing.T) {
	t.Parallel()
	for _, p := range simulator.Profiles() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			_, job := simulated(t, p.Name, simulator.Options{})
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 3)
			for i, it := range r.Run.Iterations {
				var names []string
				sum := 0.0
				for _, e := range it.Events {
					names = append(names, e.Name)
					sum += e.Metrics["frames.count"]
				}
				if got := fmt.Sprint(names); got != "[start open-list scroll open-message scroll-message back]" {
					t.Errorf("repetition %d: buckets %s", i+1, got)
				}
				if sum != it.Metrics["frames.count"] || sum < 60 {
					t.Errorf("repetition %d: %g frames in buckets, %g in all", i+1, sum, it.Metrics["frames.count"])
				}
			}
			for _, name := range []string{"sdk", "api", "manufacturer", "model", "cpu", "screen", "network"} {
				if r.Run.Context[name] == "" {
					t.Errorf("no %s in the context %v", name, r.Run.Context)
				}
			}
			_, hasOverrun := r.Run.Iterations[0].Metrics["frames.overrun_ms.p95"]
			if api, _ := strconv.Atoi(r.Run.Context["api"]); hasOverrun != (api >= 31) {
				t.Errorf("API level %d: the run tells the time beyond the deadline: %v", api, hasOverrun)
			}
			if got := r.Run.Context["screen"]; got != p.Screen {
				t.Errorf("screen %q, want %q", got, p.Screen)
			}
			t.Log(r.Run.Context, r.Run.Iterations[0].Metrics, r.Run.Warnings)
		})
	}
}

// Monkey runs on a phone and on an emulator that has no system keys of its own.
func TestMonkeyRunsWithoutHardwareKeys(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"pixel-7-android-14", "sdk-gphone64-x86-android-14"} {
		_, job := simulated(t, profile, simulator.Options{})
		job.Scenario.Workload = config.Workload{Monkey: &config.Monkey{Seed: 3, Events: 60, Throttle: 100 * time.Millisecond, Args: []string{"--pct-touch", "50"}}}
		wantComplete(t, collect.Collect(t.Context(), job, collect.Options{}), 3)
	}
}

// Android 8 to 11 drops repeated lines of the log. The run says so.
func TestDroppedUIEventsAreReported(t *testing.T) {
	t.Parallel()
	for profile, drops := range map[string]bool{
		"moto-g5-android-7.0": false, "pixel-2-android-8.1.0": true, "pixel-5-android-11": true, "pixel-7-android-14": false,
	} {
		_, job := simulated(t, profile, simulator.Options{})
		job.App.APK = filepath.Join(t.TempDir(), "repeats.apk")
		app := "apkgate-simulated-app/1\npackage com.example.demo\ncost 7ms\nscenario read-mail 6s\n" +
			"  start 30\n  1s scroll 20\n  2s scroll 20\n  3s scroll 20\n  4s scroll 20\n  5s back 20\n"
		if err := os.WriteFile(job.App.APK, []byte(app), 0o600); err != nil {
			t.Fatal(err)
		}
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 3)
		for _, it := range r.Run.Iterations {
			if n := len(it.Events); drops && n != 4 || !drops && n != 6 { // start, scroll, …, back
				t.Errorf("%s: %d buckets", profile, n)
			}
		}
		if told := warnedOf(r.Run, "2 UI events are missing", `"scroll"`, "scroll n=3"); told != drops {
			t.Errorf("%s: warnings: %v", profile, r.Run.Warnings)
		}
	}
}

// The time to full display is measured of an app that reports itself as fully drawn, on every
// Android that logs it.
func TestTimeToFullDisplay(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"nexus-5-android-4.4.4", "pixel-3-android-9", "nord-android-10", "pixel-7-android-14"} {
		_, job := simulated(t, profile, simulator.Options{})
		job.App.APK = filepath.Join(t.TempDir(), "drawn.apk")
		app := "apkgate-simulated-app/1\npackage com.example.demo\ncost 7ms\nstartup 400ms\ndrawn 1250ms\nscenario read-mail 4s\n  start 30\n  3s back 20\n"
		if err := os.WriteFile(job.App.APK, []byte(app), 0o600); err != nil {
			t.Fatal(err)
		}
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 3)
		for _, it := range r.Run.Iterations {
			// The log has whole milliseconds of either.
			if after := it.Metrics["startup.ttfd_ms"] - it.Metrics["startup.ttid_ms"]; after < 1249 || after > 1251 {
				t.Errorf("%s: fully drawn %g ms after it was displayed, want 1250: %v", profile, after, it.Metrics)
			}
		}
	}
}

// A test that ends while the app draws loses the frames after the last reading, unless the system
// keeps the count, as since Android 7.
func TestTestThatEndsWhileDrawing(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"nexus-5-android-4.4.4", "nexus-5x-android-6.0.0", "pixel-5-android-11"} {
		for event, told := range map[string]bool{"3s back 90": profile != "pixel-5-android-11", "1s back 30": false} {
			_, job := simulated(t, profile, simulator.Options{})
			job.App.APK = filepath.Join(t.TempDir(), "draws.apk")
			app := "apkgate-simulated-app/1\npackage com.example.demo\ncost 7ms\nscenario read-mail 4s\n  start 30\n  " + event + "\n"
			if err := os.WriteFile(job.App.APK, []byte(app), 0o600); err != nil {
				t.Fatal(err)
			}
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 3)
			if warnedOf(r.Run, "frames were being drawn when the app was last read", "a second of quiet") != told {
				t.Errorf("%s, %s: %v", profile, event, r.Run.Warnings)
			}
		}
	}
}

// The clock of a watch or a board without a system UI process is read by another process.
func TestDeviceWithoutASystemUI(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"nexus-5-android-4.4.4", "pixel-3-android-9", "pixel-7-android-14"} {
		_, job := simulated(t, profile, simulator.Options{NoSystemUI: true})
		job.Energy = &config.Energy{Source: config.EnergyModel}
		job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 1)
		for _, it := range r.Run.Iterations {
			if it.Metrics["energy.total_j"] <= 0 || it.Metrics["frames.count"] <= 0 || len(it.Events) != 6 {
				t.Errorf("%s: %v in %d buckets", profile, it.Metrics, len(it.Events))
			}
		}
	}
}

// stepping sets a phone's wall clock while it sleeps, once.
type stepping struct {
	device.Clock
	at    int // the sleep before which it is set
	set   func()
	slept int
}

func (s *stepping) Sleep(ctx context.Context, d time.Duration) error {
	if s.slept++; s.slept == s.at {
		s.set()
	}
	return s.Clock.Sleep(ctx, d)
}

// The log of a phone whose clock was set is doubted, that of others is not.
func TestSetClockIsReported(t *testing.T) {
	t.Parallel()
	for profile, rooted := range map[string]bool{"pixel-2-android-8.1.0": false, "pixel-7-android-14": false, "pixel-3-android-9": true} {
		for by, told := range map[time.Duration]bool{0: false, 100 * time.Millisecond: false, 30 * time.Second: true, -30 * time.Second: true} {
			s, job := simulated(t, profile, simulator.Options{Root: rooted}) // whose logcat may bend its clock by what dmesg says
			job.Scenario.WarmUp = 0
			const second = 13 // in the second of the repetitions, each of which sleeps 8 times or 9
			job.Clock = &stepping{Clock: job.Clock, at: second, set: func() { s.Phone.SetWallClock(by) }}
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 3)
			if warnedOf(r.Run, "the device's clock was set by 30s") != told {
				t.Errorf("%s, set by %v: %v", profile, by, r.Run.Warnings)
			}
		}
	}
}

// Marks in the log have wrong times if the clock was set: no frame is cut off by them.
func TestSetClockKeepsAllFrames(t *testing.T) {
	t.Parallel()
	var want []float64
	for _, by := range []time.Duration{0, 30 * time.Second, -30 * time.Second} {
		s, job := simulated(t, "pixel-7-android-14", simulator.Options{Even: true})
		job.Scenario.WarmUp = 0
		job.Clock = &stepping{Clock: job.Clock, at: 10, set: func() { s.Phone.SetWallClock(by) }}
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 3)
		var counts []float64
		for _, it := range r.Run.Iterations {
			counts = append(counts, it.Metrics["frames.count"])
		}
		if want == nil {
			want = counts
		}
		if told := warnedOf(r.Run, "the device's clock was set"); !slices.Equal(counts, want) || told != (by != 0) || warnedOf(r.Run, "is lost") {
			t.Errorf("set by %v: %v frames, want %v: %v", by, counts, want, r.Run.Warnings)
		}
	}
}

func TestSimulatedFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault    simapp.Fault
		status   run.Status
		infra    bool
		warnings []string
	}{
		"crash once":   {simapp.Fault{Kind: simapp.Crash, At: 3 * time.Second, Repetition: 3}, run.Complete, false, []string{"repetition 2 is lost", "simulated crash"}},
		"crash always": {simapp.Fault{Kind: simapp.Crash, At: 3 * time.Second}, run.Failed, false, []string{"the app crashed"}},
		"stuck":        {simapp.Fault{Kind: simapp.Stuck, At: 3 * time.Second, Repetition: 3}, run.Complete, false, []string{"repetition 2 is lost", "did not end in time"}},
		"ANR":          {simapp.Fault{Kind: simapp.ANR, At: time.Second, Repetition: 3}, run.Complete, false, nil},
		"process lost": {simapp.Fault{Kind: simapp.Lost, At: 3 * time.Second, Repetition: 3}, run.Complete, false, []string{"repetition 2 is lost", "process died"}},
		"drop":         {simapp.Fault{Kind: simapp.Drop, At: 3 * time.Second, Repetition: 3}, run.Complete, false, []string{"repetition 2 is lost"}},
		"reboot":       {simapp.Fault{Kind: simapp.Reboot, At: 3 * time.Second, Repetition: 3}, run.Complete, false, []string{"repetition 2 is lost"}},
		"hang":         {simapp.Fault{Kind: simapp.Hang, At: 3 * time.Second, For: 5 * time.Second, Repetition: 3}, run.Complete, false, []string{"repetition 2 is lost", "no answer"}},
		"offline":      {simapp.Fault{Kind: simapp.Offline, At: 3 * time.Second, Repetition: 3}, run.Partial, true, []string{"repetition 2 is lost"}},
		"garbage":      {simapp.Fault{Kind: simapp.Garbage, At: 3 * time.Second, For: 2 * time.Second, Repetition: 3}, run.Complete, false, []string{"garbage"}},
		"full disk":    {simapp.Fault{Kind: simapp.NoSpace}, run.Failed, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, job := simulated(t, "pixel-5-android-11", simulator.Options{Faults: []simapp.Fault{c.fault}})
			if c.fault.Kind == simapp.NoSpace {
				s.Phone.Break(c.fault)
			}
			r := collect.Collect(t.Context(), job, collect.Options{})
			if r.Run.Status != c.status || (r.Err != nil) != (c.status != run.Complete) || loss.IsInfrastructure(r.Err) != c.infra {
				t.Fatalf("status %s, want %s; %v; %v", r.Run.Status, c.status, r.Err, r.Run.Warnings)
			}
			if c.warnings != nil && !warnedOf(r.Run, c.warnings...) {
				t.Errorf("warnings: %v", r.Run.Warnings)
			}
			if c.fault.Kind == simapp.ANR {
				wantANRByInput(t, r.Run)
			}
			t.Log(r.Err, r.Run.Warnings)
		})
	}
}

// wantANRByInput checks for one ANR, in the second repetition, of the event in which the app
// stopped: the system reports it five seconds later.
func wantANRByInput(t *testing.T, r run.Run) {
	t.Helper()
	for i, it := range r.Iterations {
		want := map[int]float64{1: 1}[i]
		for name, want := range map[string]float64{"anr.count": want, "anr.input": want, "anr.broadcast": 0, "anr.other": 0, "snr.count": 0} {
			if n, known := it.Metrics[name]; n != want || !known {
				t.Errorf("repetition %d: %s is %g, %v; want %g", i+1, name, n, known, want)
			}
		}
		for _, e := range it.Events {
			n, known := e.Metrics["anr.input"]
			if of := e.Name == r.ANRs[0].Event; known != of || of && n != want {
				t.Errorf("repetition %d: %g, %v ANRs of %s", i+1, n, known, e.Name)
			}
		}
	}
	if a := r.ANRs[0]; len(r.ANRs) != 1 || a.Kind != run.ANRInput || a.Repetition != 2 || a.Event == "" || a.PID == 0 || a.Process == "" || !strings.HasPrefix(a.Reason, "Input dispatching") {
		t.Errorf("%+v", r.ANRs)
	}
}

// TestSimulatedRunsAreReproducible covers everything from the phone to the record.
func TestSimulatedRunsAreReproducible(t *testing.T) {
	t.Parallel()
	digest := func() string {
		_, job := simulated(t, "nexus-5x-android-6.0.0", simulator.Options{})
		r := collect.Collect(t.Context(), job, collect.Options{Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
		wantComplete(t, r, 3)
		d, err := r.Run.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if a, b := digest(), digest(); a != b {
		t.Errorf("two records of one measurement: %s and %s", a, b)
	}
}

// BenchmarkRepetition is one repetition of 8 s on a simulated phone.
func BenchmarkRepetition(b *testing.B) {
	_, job := simulated(b, "pixel-5-android-11", simulator.Options{})
	job.Scenario.WarmUp, job.Scenario.Repetitions = 0, 1
	for b.Loop() {
		if r := collect.Collect(b.Context(), job, collect.Options{}); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}

// counted returns how many frames of the demo app its Android counted, and how many of them as
// janky.
func counted(s *simulator.Simulated) (all, janky int) {
	for _, l := range s.Phone.Timeline().Layers {
		for _, f := range l.Frames {
			if strings.HasPrefix(l.Title, "com.example.demo/") && f.Counted > 0 {
				all++
				if f.Janky {
					janky++
				}
			}
		}
	}
	return all, janky
}

// The total frame count is Android's, to the last one before a test's end, however many frames were
// in a dump; the run says how many were.
func TestTotalFramesAreAndroidsCount(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"moto-g5-android-7.0", "pixel-3-android-9", "nord-android-10", "pixel-5-android-11"} {
		s, job := simulated(t, profile, simulator.Options{})
		job.App.APK = scrolls(t, "cost 9ms\nscenario read-mail 4s\n  start 30\n  2700ms back 300\n")
		job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 1)
		all, janky := counted(s)
		it := r.Run.Iterations[0]
		if it.Metrics["frames.count"] != float64(all) || it.Metrics["frames.janky"] != float64(janky) || r.Run.Context["frames_by"] != "gfxinfo" {
			t.Errorf("%s: %v; Android counted %d frames, %d janky", profile, it.Metrics, all, janky)
		}
		seen := 0.0
		for _, e := range it.Events {
			seen += e.Metrics["frames.count"]
		}
		if share := seen / float64(all); it.FramesSeen <= 0 || math.Abs(it.FramesSeen-share) > 1e-9 || !warnedOf(r.Run, "of the frames were seen one by one") {
			t.Errorf("%s: %g of the frames were seen, the run says %g: %v", profile, share, it.FramesSeen, r.Run.Warnings)
		}
	}
}
