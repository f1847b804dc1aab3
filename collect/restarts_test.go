package collect_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// before is a device with a hook that runs before each command.
type before struct {
	device.Device
	do func(ctx context.Context, d device.Device, command string)
}

func (b before) Exec(ctx context.Context, command string) (device.Output, error) {
	b.do(ctx, b.Device, command)
	return b.Device.Exec(ctx, command)
}

// doBefore runs a hook before each command of a job.
func doBefore(job *collect.Job, do func(ctx context.Context, d device.Device, command string)) {
	open := job.Open
	job.Open = func(ctx context.Context) (device.Device, error) {
		d, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return before{d, do}, nil
	}
}

// wantOneRestart checks that Android's restart is reported once, and counted in the second
// repetition.
func wantOneRestart(t *testing.T, r run.Run) {
	t.Helper()
	for i, it := range r.Iterations {
		if want := map[int]float64{1: 1}[i]; it.Metrics["snr.count"] != want {
			t.Errorf("repetition %d: %g times, want %g", i+1, it.Metrics["snr.count"], want)
		}
	}
	if len(r.ANRs) != 1 || r.ANRs[0].Kind != run.SNR || r.ANRs[0].Repetition != 2 {
		t.Errorf("%+v", r.ANRs)
	}
}

// A restart of Android counts if the repetition is lost by the app's reaction to it, on a device
// that answers all the time.
func TestRestartOfAndroidThatCrashesTheApp(t *testing.T) {
	t.Parallel()
	crashed := make(chan struct{})
	_, job := simulated(t, "nexus-5x-android-6.0.0", simulator.Options{
		Faults: []simapp.Fault{{Kind: simapp.Crash, At: time.Second, Repetition: 3}},
		Struck: func(simapp.Fault, time.Duration) { close(crashed) },
	})
	var once sync.Once
	doBefore(&job, func(ctx context.Context, d device.Device, command string) {
		select {
		case <-crashed:
			once.Do(func() {
				_, _ = d.Exec(ctx, "log -p w -t Watchdog '*** WATCHDOG KILLING SYSTEM PROCESS: Blocked in monitor'")
			})
		default:
		}
	})
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 3)
	wantOneRestart(t, r.Run)
}
