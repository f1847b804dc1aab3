package collect_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// witness records when, on a phone's clock, a fault struck and when it was first reported.
type witness struct {
	clock device.Clock

	mu    sync.Mutex
	at    time.Duration // 0: it has not struck
	known time.Duration // 0: not reported since
	said  string
}

func (w *witness) struck(_ simapp.Fault, at time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at == 0 {
		w.at = at
	}
}

func (w *witness) Report(e journal.Event) {
	if e.Phase != journal.Waiting && e.Phase != journal.Warned {
		return
	}
	now := w.clock.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at > 0 && w.known == 0 {
		w.known, w.said = now, e.Message
	}
}

// failing is a simulated phone with a fault whose time a witness knows, and a job on it that waits
// by the phone's clock.
func failing(t *testing.T, profile string, fault simapp.Fault) (*simulator.Simulated, collect.Job, *witness) {
	t.Helper()
	w := &witness{}
	s, job := simulated(t, profile, simulator.Options{Faults: []simapp.Fault{fault}, Struck: w.struck})
	job.Wall, job.Died = s.Phone.Patience(), s.Phone.Died()
	job.Open = func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, s.Address(), adb.Options{}) }
	w.clock = s.Clock()
	return s, job, w
}

// knownWithin is the promised limit, plus a margin for a busy computer: while a simulated phone
// does not answer, its time passes twenty times as fast as this computer's. Package target has
// exact tests.
const knownWithin = 5*time.Second + 5*time.Second

func TestFailuresAreReportedWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault simapp.Fault
		says  string // the warning of the repetition
		ends  run.Status
	}{
		"drops the connection":       {simapp.Fault{Kind: simapp.Drop}, "the device is gone", run.Complete},
		"hangs":                      {simapp.Fault{Kind: simapp.Hang, For: 30 * time.Second}, "no answer of the device for 15s", run.Complete},
		"hangs for good":             {simapp.Fault{Kind: simapp.Hang}, "no answer of the device for 15s", run.Partial},
		"its system hangs":           {simapp.Fault{Kind: simapp.Freeze, For: 50 * time.Second}, "no answer of the device's system for 30s", run.Complete},
		"its system hangs for good":  {simapp.Fault{Kind: simapp.Freeze}, "no answer of the device's system for 30s", run.Complete},
		"its interface hangs":        {simapp.Fault{Kind: simapp.Dialog}, "a dialog of the system's stood before the app: com.android.systemui does not respond", run.Complete},
		"is offline":                 {simapp.Fault{Kind: simapp.Offline, For: 20 * time.Second}, "the device is gone", run.Complete},
		"restarts":                   {simapp.Fault{Kind: simapp.Reboot}, "the device is gone", run.Complete},
		"restarts in a second":       {simapp.Fault{Kind: simapp.Reboot, For: time.Second}, "the device is gone", run.Complete},
		"never comes out of restart": {simapp.Fault{Kind: simapp.NoBoot}, "the device is gone", run.Partial},
		"dies":                       {simapp.Fault{Kind: simapp.Die}, "the device is gone", run.Partial},
	} {
		for _, profile := range []string{"pixel-5-android-11", "pixel-7-android-14"} {
			t.Run(name+"/"+profile, func(t *testing.T) {
				t.Parallel()
				c.fault.At, c.fault.Repetition = 3100*time.Millisecond, 3
				_, job, w := failing(t, profile, c.fault)
				r := collect.Collect(t.Context(), job, collect.Options{Progress: w})
				within := knownWithin
				if c.fault.Kind == simapp.Freeze && profile == "pixel-7-android-14" {
					within += 5 * time.Second // for which the app works, and its system is not queried
				}
				if w.at == 0 || w.known == 0 || w.known-w.at > within {
					t.Errorf("it is known after %v, by %q", w.known-w.at, w.said)
				}
				if r.Run.Status != c.ends || !warnedOf(r.Run, "repetition 2 is lost", c.says) {
					t.Errorf("status %s, want %s: %v, %v", r.Run.Status, c.ends, r.Err, r.Run.Warnings)
				}
				if name == "its system hangs for good" { // until its watchdog ends it
					wantRestarted(t, r.Run)
				} else if len(r.Run.ANRs) > 0 {
					t.Errorf("%+v did not respond; want nothing", r.Run.ANRs)
				}
				if c.ends == run.Complete {
					return
				}
				if !loss.IsGone(r.Err) || !loss.IsInfrastructure(r.Err) || len(r.Run.Iterations) != 1 {
					t.Errorf("%d iterations, %v; want those before, and the loss of the device", len(r.Run.Iterations), r.Err)
				}
				t.Logf("known after %v by %q; %v", w.known-w.at, w.said, r.Err)
			})
		}
	}
}

// A device's process that has ended is known with its reason from what booted it: the device is not
// waited for.
func TestDeadDeviceIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s, job, w := failing(t, "pixel-7-android-14", simapp.Fault{Kind: simapp.Die, At: 3 * time.Second, Repetition: 3})
	job.Why = func() string { return "emulator: ended by signal 9" }
	r := collect.Collect(t.Context(), job, collect.Options{Progress: w})
	if waited := s.Clock().Now() - w.at; waited > 10*time.Second || !errors.Is(r.Err, device.ErrGone) || !strings.Contains(r.Err.Error(), "ended by signal 9") {
		t.Errorf("after %v: %v", waited, r.Err)
	}
}

// An interrupt ends a run within the ten seconds of a job runner, even if the device does not
// answer: by this computer's clock.
func TestInterruptEndsARunOnAHungDevice(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(s *simulator.Simulated){
		"adb answers nothing":        func(s *simulator.Simulated) { s.Phone.Break(simapp.Fault{Kind: simapp.Hang}) },
		"its system answers nothing": func(s *simulator.Simulated) { s.Phone.Break(simapp.Fault{Kind: simapp.Freeze}) },
		"it is gone":                 func(s *simulator.Simulated) { s.Phone.Break(simapp.Fault{Kind: simapp.Die}) },
		"it is offline":              func(s *simulator.Simulated) { s.Phone.Break(simapp.Fault{Kind: simapp.Offline}) },
		"it only drips":              func(s *simulator.Simulated) { s.Phone.Break(simapp.Fault{Kind: simapp.Drip}) },
		"it answers":                 func(*simulator.Simulated) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, job, _ := failing(t, "pixel-7-android-14", simapp.Fault{Kind: simapp.Stuck, At: time.Hour})
			job.Wall, job.Died = nil, nil
			ctx, interrupt := context.WithCancel(t.Context())
			var at time.Time
			r := collect.Collect(ctx, job, collect.Options{Progress: progressFunc(func(e journal.Event) {
				if e.Phase == journal.Measure && e.Repetition == 2 && at.IsZero() {
					breaks(s)
					at = time.Now()
					interrupt()
				}
			})})
			const bound = 9 * time.Second // of ten
			if took := time.Since(at); at.IsZero() || took > bound {
				t.Errorf("it ends %v after the interrupt", took)
			}
			if len(r.Run.Iterations) != 1 || !errors.Is(r.Err, context.Canceled) {
				t.Errorf("%d iterations, %v", len(r.Run.Iterations), r.Err)
			}
			if left := warnedOf(r.Run, "could not be left as it was found"); left != (name != "it answers") {
				t.Errorf("it is left as it was found: %t; %v", !left, r.Run.Warnings)
			}
		})
	}
}

// wantRestarted checks that Android itself was restarted in an attempt at the second repetition,
// which is repeated.
func wantRestarted(t *testing.T, r run.Run) {
	t.Helper()
	for i, it := range r.Iterations {
		want := map[int]float64{1: 1}[i]
		if n, known := it.Metrics["snr.count"]; n != want || !known || it.Metrics["anr.count"] != 0 {
			t.Errorf("repetition %d: %g times, %g ANRs; want %g", i+1, n, it.Metrics["anr.count"], want)
		}
	}
	if len(r.ANRs) != 1 || r.ANRs[0].Kind != run.SNR || r.ANRs[0].Repetition != 2 || !strings.Contains(r.ANRs[0].Reason, "Blocked in monitor") || r.ANRs[0].AtMS == 0 {
		t.Errorf("%+v", r.ANRs)
	}
}
