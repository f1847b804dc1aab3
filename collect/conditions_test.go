package collect_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/run"
)

// A throttled phone rests until it no longer is, ten minutes at most; if it was hot in a
// repetition, a warning says so.
func TestHotDeviceCoolsDown(t *testing.T) {
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
		"hot for hours":         {start, start + 9*time.Hour, 10 * time.Minute, "did not cool down within 10m", 2 * time.Minute},
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
			r := collect.Collect(t.Context(), job, collect.Options{Progress: progressFunc(func(e journal.Event) {
				switch {
				case e.Phase == journal.Settle && strings.HasPrefix(e.Message, "cooling down") && from == 0:
					from = p.Now()
				case e.Phase == journal.Measure:
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

func TestBatterySaverIsReported(t *testing.T) {
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

// The actual state of the app's code is part of the context: Android says "Success" and leaves
// debug builds uncompiled.
func TestCompileState(t *testing.T) {
	t.Parallel()
	const (
		split = "    path: /data/app/com.example-1/split.apk\n      arm64: [status=verify] [reason=install] [primary-abi]\n"
		base  = "Dexopt state:\n  [com.example]\n    path: /data/app/com.example-1/base.apk\n      arm64: "
		odex  = "/data/app/com.example-1/oat/arm64/base.odex"
	)
	for name, c := range map[string]struct {
		dexopt, compiled string
		told             bool
	}{
		"nothing is said":             {"", "speed", false},
		"Android 14":                  {base + "[status=speed] [reason=cmdline] [primary-abi]\n" + split, "speed", false},
		"Android 14, a debug build":   {base + "[status=verify] [reason=cmdline] [primary-abi]\n" + split, "verify", true},
		"Android 8":                   {base + odex + "[status=kOatUpToDate, compilation_filter=speed]\n", "speed", false},
		"Android 8, a debug build":    {base + odex + "[status=kOatUpToDate, compilation_filter=quicken]\n", "quicken", true},
		"Android 7 on a small screen": {base + odex + " [compilation_filter=interpret-only, status=kOatUpToDa\n      te]\n", "interpret-only", true},
	} {
		_, r := measured(t, 34, config.EnergyModel, func(w *power) { w.dexopt = c.dexopt }, nil)
		wantComplete(t, r, 3)
		if told := warnedOf(r.Run, "was to be compiled ahead of time"); r.Run.Context["compiled"] != c.compiled || told != c.told {
			t.Errorf("%s: compiled is %q, told %v, want %q and %v", name, r.Run.Context["compiled"], told, c.compiled, c.told)
		}
	}
}

// Ambient light does not change the screen's brightness between two repetitions.
func TestBrightnessIsHeld(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"1", "0", "null"} {
		p, r := measured(t, 33, config.EnergyModel, func(w *power) { w.settings["screen_brightness_mode"] = mode }, nil)
		wantComplete(t, r, 3)
		held, given := p.did("settings put system screen_brightness_mode 0"), p.did("settings put system screen_brightness_mode 1")
		if want := map[string]int{"1": 1}[mode]; held != want || given != want {
			t.Errorf("of mode %s: held %d times, given back %d times", mode, held, given)
		}
	}
}

// A screen timeout that was never set is Android's default of a minute.
func TestAScreenWithoutATimeoutStaysOn(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{"null": "60000", "15000": "15000", "": ""} {
		p, r := measured(t, 33, config.EnergyModel, func(w *power) { w.settings["screen_off_timeout"] = before }, nil)
		wantComplete(t, r, 3)
		if lit := p.did("settings put system screen_off_timeout 86399000") == 1; lit != (after != "") || p.power.settings["screen_off_timeout"] != after {
			t.Errorf("of %q: kept on %v, then %q", before, lit, p.power.settings["screen_off_timeout"])
		}
	}
}

// An event that is shorter than an update of the sensor gets its even share of the energy, with a
// warning. The events add up to the whole.
func TestEventShorterThanAnUpdateHasAShare(t *testing.T) {
	t.Parallel()
	for _, tap := range []bool{false, true} {
		p := newPhone(34)
		p.power, p.tap = newPower(), tap
		p.power.rails = true
		settings := config.DefaultEnergy()
		r := collectOn(t, p, func(j *collect.Job) { j.Energy = &settings })
		wantComplete(t, r, 3)
		if told := warnedOf(r.Run, "shorter than the time between two readings of the power (250ms): \"tap\": "); told != tap {
			t.Errorf("told %v: %v", told, r.Run.Warnings)
		}
		for _, it := range r.Run.Iterations {
			sum := 0.0
			for _, b := range it.Events {
				sum += b.Metrics["energy.total_j"]
			}
			if total := it.Metrics["energy.total_j"]; math.Abs(sum-total) > 1e-6 {
				t.Errorf("the events have %.9f J, the whole %.9f J", sum, total)
			}
		}
	}
}

// CLOCK_MONOTONIC stands still while the phone sleeps, and the battery's sensor too.
func TestSleepOfThePhoneIsReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rails  bool
		asleep time.Duration
	}{{true, 0}, {true, 3 * time.Second}, {false, 3 * time.Second}} {
		_, r := measured(t, 34, config.EnergyAuto, func(w *power) { w.current, w.rails, w.asleep = true, c.rails, c.asleep }, nil)
		wantComplete(t, r, 3)
		if told := warnedOf(r.Run, "was suspended for 3s", "time awake"); told != (c.asleep > 0) || warnedOf(r.Run, "not in its joules") != (told && !c.rails) {
			t.Errorf("%+v: %v", c, r.Run.Warnings)
		}
	}
}

// An app without a window, or one that renders by itself, has its energy measured. An app that drew
// frames before should do so again.
func TestEnergyOfAnAppThatDrawsNothing(t *testing.T) {
	t.Parallel()
	for _, source := range []string{config.EnergyRails, config.EnergyNone} {
		for _, drawsAtFirst := range []bool{false, true} {
			p := newPhone(30) // by dumps: the frame timeline has all frames
			p.power = newPower()
			p.power.rails = true
			p.fail = func(n int) fault { return fault{noFrames: n > 1 || !drawsAtFirst} }
			settings := config.DefaultEnergy()
			settings.Source = source
			r := collectOn(t, p, func(j *collect.Job) { j.Energy = &settings })
			if source == config.EnergyNone || drawsAtFirst {
				if !errors.Is(r.Err, loss.ErrNoFrames) {
					t.Errorf("%s, draws at first %v: %v", source, drawsAtFirst, r.Err)
				}
				continue
			}
			wantComplete(t, r, 3)
			for _, it := range r.Run.Iterations {
				if _, counted := it.Metrics["frames.count"]; counted || math.Abs(it.Metrics["energy.total_j"]-26) > 0.5 {
					t.Errorf("%v", it.Metrics)
				}
			}
			if !warnedOf(r.Run, "draws nothing that gfxinfo counts") {
				t.Errorf("%v", r.Run.Warnings)
			}
		}
	}
}

// Counts of batterystats since an unknown time are not a repetition's.
func TestStatisticsWithoutReset(t *testing.T) {
	t.Parallel()
	_, r := measured(t, 34, config.EnergyAuto, func(w *power) { w.rails, w.noReset = true, true }, nil)
	wantComplete(t, r, 3)
	for _, it := range r.Run.Iterations {
		if _, told := it.Metrics["wakelock.time_ms"]; told || it.Metrics["energy.total_j"] == 0 {
			t.Errorf("%v", it.Metrics)
		}
	}
	if !warnedOf(r.Run, "batterystats can't be reset", "Permission Denial") || len(r.Run.Energy.Wakelocks) > 0 {
		t.Errorf("%v, %+v", r.Run.Warnings, r.Run.Energy)
	}
}

// dumpsys gives a service up after 10 s, prints so, and ends with status 0.
func TestTruncatedStatistics(t *testing.T) {
	t.Parallel()
	_, r := measured(t, 34, config.EnergyAuto, func(w *power) {
		w.rails, w.estimate = true, "\n*** SERVICE 'batterystats' DUMP TIMEOUT (10000ms) EXPIRED ***\n\n"
	}, nil)
	wantComplete(t, r, 3)
	for _, it := range r.Run.Iterations {
		if _, told := it.Metrics["wakelock.time_ms"]; told || it.Metrics["energy.total_j"] == 0 {
			t.Errorf("%v", it.Metrics)
		}
	}
	if !warnedOf(r.Run, "batterystats was cut short", "DUMP TIMEOUT") {
		t.Errorf("%v", r.Run.Warnings)
	}
}

// Joules from truncated batterystats would be too low: the repetition is lost, and a retry may
// succeed.
func TestTruncatedStatisticsLoseTheRepetition(t *testing.T) {
	t.Parallel()
	const (
		estimate = "9,0,l,pws,3000,100,100,100\n9,10123,l,pwi,uid,25,0,25,0\n9,h,0,Bl=83,Bs=d,Bp=n,Bv=4000\n9,h,10000,Bl=82,Bv=4000\n"
		gaveUp   = "\n*** SERVICE 'batterystats' DUMP TIMEOUT (10000ms) EXPIRED ***\n\n"
	)
	for _, source := range []string{config.EnergyPlatform, config.EnergyModel} {
		p, r := measured(t, 34, source, func(w *power) { w.estimate, w.cutStats = estimate, 2 }, nil)
		wantComplete(t, r, 3)
		if p.workloads != 4 {
			t.Errorf("by %s: %d workloads, want 3 and the one whose statistics were cut", source, p.workloads)
		}
		_, r = measured(t, 34, source, func(w *power) { w.estimate = estimate + gaveUp }, nil)
		if r.Run.Status != run.Failed || r.Err == nil || !strings.Contains(r.Err.Error(), "batterystats was cut short") {
			t.Errorf("by %s, cut each time: status %s, %v", source, r.Run.Status, r.Err)
		}
	}
}

// 500 mAh of a battery of 3,000 mAh whose level fell by one step of 30 mAh is impossible.
func TestImpossibleEstimateLosesTheRepetition(t *testing.T) {
	t.Parallel()
	p, r := measured(t, 34, config.EnergyPlatform, func(w *power) {
		w.estimate = "9,0,l,pws,3000,500,0,30\n9,h,0,Bl=83,Bs=d,Bp=n,Bv=4000\n9,h,10000,Bl=82,Bv=4000\n"
	}, nil)
	if r.Run.Status != run.Failed || !errors.Is(r.Err, energy.ErrContradicted) || p.workloads == 1 {
		t.Errorf("status %s after %d workloads, %v", r.Run.Status, p.workloads, r.Err)
	}
}
