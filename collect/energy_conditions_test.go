package collect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
)

// A phone that is slowed down for heat rests until it no longer is, ten minutes at
// most; that it was hot in a repetition is told.
func TestAHotDeviceCoolsDown(t *testing.T) {
	t.Parallel()
	const start = 1000 * time.Second // of the phone's clock
	for name, c := range map[string]struct {
		from, to time.Duration
		cooled   time.Duration
		told     string
		settle   time.Duration
	}{
		"never hot":             {0, 0, 0, "", 2 * time.Minute},
		"cool after 7 minutes":  {start, start + 7*time.Minute, 5 * time.Minute, "", 2 * time.Minute},
		"hot for hours":         {start, start + 9*time.Hour, 10 * time.Minute, "did not cool down within 10m0s", 2 * time.Minute},
		"hot while it measures": {start + 130*time.Second, start + time.Hour, 0, "repetition 1: Android was slowing the device down for heat (throttling: severe)", 2 * time.Minute},
		"without a rest":        {start, start + time.Hour, 0, "repetition 1: Android was slowing", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPhone(33)
			p.power = newPower()
			p.power.rails, p.power.hotFrom, p.power.hotTo = true, c.from, c.to
			settings := config.DefaultEnergy()
			settings.Settle = &c.settle
			job := p.job("fake")
			job.Energy, job.Scenario.Repetitions = &settings, 1
			var from, measured time.Duration
			r := collect.Collect(t.Context(), job, collect.Options{Progress: collect.ProgressFunc(func(e collect.Event) {
				switch {
				case e.Phase == collect.Settle && strings.HasPrefix(e.Message, "cooling down") && from == 0:
					from = p.Now()
				case e.Phase == collect.Measure:
					measured = p.Now()
				}
			})})
			wantComplete(t, r, 1)
			cooled := time.Duration(0)
			if from > 0 {
				cooled = measured - from
			}
			if cooled < c.cooled-10*time.Second || cooled > c.cooled+10*time.Second {
				t.Errorf("cooled down for %v, want about %v", cooled, c.cooled)
			}
			if told := warnedOf(r.Run, "for heat") || warnedOf(r.Run, "did not cool down"); told != (c.told != "") || !warnedOf(r.Run, c.told) && c.told != "" {
				t.Errorf("want %q: %v", c.told, r.Run.Warnings)
			}
		})
	}
}

func TestTheBatterySaverIsTold(t *testing.T) {
	t.Parallel()
	p := newPhone(33)
	p.power = newPower()
	p.globals["low_power"] = "1"
	settings := config.DefaultEnergy()
	r := collectOn(t, p, func(j *collect.Job) { j.Energy = &settings })
	wantComplete(t, r, 3)
	if !warnedOf(r.Run, "not fit: saver: on", "turn the battery saver off") || !warnedOf(r.Run, "the battery saver was on") {
		t.Errorf("%v", r.Run.Warnings)
	}
}
