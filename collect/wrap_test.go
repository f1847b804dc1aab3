package collect_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

// deaf is a device whose log can't be followed.
type deaf struct{ device.Device }

func (d deaf) Start(ctx context.Context, command string) (device.Process, error) {
	if strings.HasPrefix(command, "logcat ") {
		return nil, errors.New("logcat: not found")
	}
	return d.Device.Start(ctx, command)
}

// A phone that logs much, and refuses to enlarge its log, has its events read while it is measured.
// If that fails too, its repetitions are lost: no event's frames are attributed to another.
func TestWrappingLogKeepsAllEvents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile string
		options simulator.Options
		deaf    bool
		status  run.Status
	}{
		"enlarged":                {"pixel-7-android-14", simulator.Options{}, true, run.Complete},
		"enlarged, Android 11":    {"pixel-5-android-11", simulator.Options{}, true, run.Complete},
		"followed":                {"pixel-7-android-14", simulator.Options{FixedLog: true, Chatter: 300_000}, false, run.Complete},
		"followed, Android 11":    {"pixel-5-android-11", simulator.Options{FixedLog: true, LowRAM: true}, false, run.Complete},
		"followed, Android 4.4":   {"nexus-5-android-4.4.4", simulator.Options{}, false, run.Complete},
		"neither":                 {"pixel-7-android-14", simulator.Options{FixedLog: true, Chatter: 300_000}, true, run.Failed},
		"neither, on Android 4.4": {"nexus-5-android-4.4.4", simulator.Options{}, true, run.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, job := simulated(t, c.profile, c.options)
			job.Scenario.Repetitions, job.Scenario.WarmUp, job.Scenario.Retries = 2, 0, 1
			if open := job.Open; c.deaf {
				job.Open = func(ctx context.Context) (device.Device, error) {
					d, err := open(ctx)
					return deaf{d}, err
				}
			}
			r := collect.Collect(t.Context(), job, collect.Options{})
			for _, it := range r.Run.Iterations {
				var names []string
				for _, e := range it.Events {
					names = append(names, e.Name)
				}
				if got := fmt.Sprint(names); got != "[start open-list scroll open-message scroll-message back]" || it.Metrics["startup.ttid_ms"] == 0 {
					t.Errorf("buckets %s, started in %g ms", got, it.Metrics["startup.ttid_ms"])
				}
			}
			lost := c.status == run.Failed
			if r.Run.Status != c.status || lost != errors.Is(r.Err, loss.ErrLog) || lost != loss.IsInfrastructure(r.Err) {
				t.Errorf("%s, %v: %v", r.Run.Status, r.Err, r.Run.Warnings)
			}
			if told := warnedOf(r.Run, "keeps no more of its log than"); told != c.options.FixedLog {
				t.Errorf("warnings %v", r.Run.Warnings)
			}
		})
	}
}
