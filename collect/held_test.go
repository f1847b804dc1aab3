package collect_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/conditions"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

// held describes the phone's screen, clocks and background compilation.
func held(s *simulator.Simulated) string {
	fixed, dexopt := s.Phone.Held()
	return fmt.Sprintf("light %s at %s, turns %s, turned %s, fixed %v, dexopt %v", s.Phone.Setting("system screen_brightness_mode"),
		s.Phone.Setting("system screen_brightness"), s.Phone.Setting("system accelerometer_rotation"), s.Phone.Setting("system user_rotation"), fixed, dexopt)
}

// during returns the phone's state while a run measured.
func during(t *testing.T, s *simulator.Simulated, job collect.Job) (collect.Result, string) {
	t.Helper()
	seen := ""
	r := collect.Collect(t.Context(), job, collect.Options{Progress: progressFunc(func(e journal.Event) {
		if e.Phase == journal.Measure {
			seen = held(s)
		}
	})})
	return r, seen
}

// A phone's conditions are held as far as its Android allows, and restored afterwards.
func TestConditionsAreHeldAndRestored(t *testing.T) {
	t.Parallel()
	ninety := 90
	for name, c := range map[string]struct {
		profile string
		want    config.Conditions
		energy  bool
		held    string
		warned  string
	}{
		"Android 14":            {"pixel-7-android-14", config.Conditions{}, false, "light 0 at 102, turns 0, turned 1, fixed false, dexopt false", ""},
		"Android 13":            {"galaxy-s21-android-13", config.Conditions{}, false, "light 0 at 102, turns 0, turned 1, fixed false, dexopt true", ""},
		"Android 9":             {"pixel-3-android-9", config.Conditions{}, false, "light 0 at 102, turns 0, turned 1, fixed false, dexopt true", ""},
		"Android 6":             {"nexus-5x-android-6.0.0", config.Conditions{}, false, "light 0 at 102, turns 0, turned 1, fixed false, dexopt true", ""},
		"all that can be asked": {"pixel-7-android-14", config.Conditions{FixedPerformance: config.PerformanceAuto, Brightness: 0.5, Rotation: &ninety, BackgroundDexopt: true}, false, "light 0 at 128, turns 0, turned 1, fixed true, dexopt true", ""},
		"clocks for energy":     {"pixel-7-android-14", config.Conditions{FixedPerformance: config.PerformanceAuto}, true, "light 0 at 102, turns 0, turned 1, fixed false, dexopt false", ""},
		"clocks all the same":   {"pixel-7-android-14", config.Conditions{FixedPerformance: config.PerformanceAlways}, true, "light 0 at 102, turns 0, turned 1, fixed true, dexopt false", ""},
		"clocks that are not":   {"pixel-3-android-9", config.Conditions{FixedPerformance: config.PerformanceAlways}, false, "light 0 at 102, turns 0, turned 1, fixed false, dexopt true", "there is none before Android 11"},
		"an emulator's clocks":  {"sdk-gphone64-x86-android-14", config.Conditions{FixedPerformance: config.PerformanceAlways}, false, "light 0 at 102, turns 0, turned 1, fixed false, dexopt false", "no clocks of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, job := simulated(t, c.profile, simulator.Options{FixedPerformance: 1.2, Lies: 1})
			s.Phone.Set("system screen_brightness_mode", "1")
			s.Phone.Set("system accelerometer_rotation", "1")
			before := held(s)
			quiet(t, &job)
			job.Conditions = c.want
			if c.energy {
				settings := config.DefaultEnergy()
				settings.Source, settings.Settle = config.EnergyModel, new(time.Duration)
				job.Energy = &settings
			}
			r, got := during(t, s, job)
			wantComplete(t, r, 1)
			if got != c.held {
				t.Errorf("while it was measured on: %s, want %s", got, c.held)
			}
			if after := held(s); after != before {
				t.Errorf("left %s, want %s", after, before)
			}
			if warned := warnedOf(r.Run, "not fit: performance"); warned != (c.warned != "") || warned && !warnedOf(r.Run, c.warned) {
				t.Errorf("want %q: %v", c.warned, r.Run.Warnings)
			}
			if fixed := strings.Contains(c.held, "fixed true"); (r.Run.Context[devctx.Performance] == "fixed") != fixed {
				t.Errorf("context %v", r.Run.Context)
			}
		})
	}
}

// A phone without the fixed performance mode says so if it is configured.
func TestPhoneWithoutFixedPerformance(t *testing.T) {
	t.Parallel()
	for want, told := range map[string]bool{config.PerformanceAuto: false, config.PerformanceAlways: true} {
		_, job := simulated(t, "pixel-5-android-11", simulator.Options{})
		quiet(t, &job)
		job.Conditions.FixedPerformance = want
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 1)
		if got := warnedOf(r.Run, "fixed performance mode can't be turned on: ", "FIXED_PERFORMANCE"); got != told || r.Run.Context[devctx.Performance] != "" {
			t.Errorf("%s: told %v: %v, %v", want, got, r.Run.Warnings, r.Run.Context)
		}
	}
}

// Settings changed by somebody else during a run are kept.
func TestSettingsChangedDuringARunStay(t *testing.T) {
	t.Parallel()
	s, job := simulated(t, "pixel-7-android-14", simulator.Options{Lies: 1})
	quiet(t, &job)
	s.Phone.Set("system screen_brightness_mode", "1")
	s.Phone.Set("system accelerometer_rotation", "1")
	r := collect.Collect(t.Context(), job, collect.Options{Progress: progressFunc(func(e journal.Event) {
		if e.Phase == journal.Measure {
			s.Phone.Set("system user_rotation", "2")
		}
	})})
	wantComplete(t, r, 1)
	if got, want := held(s), "light 1 at 102, turns 1, turned 2, fixed false, dexopt true"; got != want || !warnedOf(r.Run, "user_rotation", "is 2 by now, and stays so") {
		t.Errorf("left %s, want %s: %v", got, want, r.Run.Warnings)
	}
}

// System UI may not respond after the start of a slow phone, and its dialog keeps the focus from
// every app: "wait" is pressed. What has crashed is closed.
func TestSystemDialogIsDismissed(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"sdk-gphone64-x86-android-14", "sdk-gphone-android-11", "pixel-3-android-9", "moto-g5-android-7.0", "nexus-5x-android-6.0.0", "nexus-5-android-4.4.4"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			s, job := simulated(t, profile, simulator.Options{Boot: simulator.Boot{ANR: true}})
			quiet(t, &job)
			s.Phone.ShowDialog("com.example.clock", true)
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 1)
			if s.Phone.Dialog() != "" || !warnedOf(r.Run, "com.android.systemui does not respond", "was told to wait") || !warnedOf(r.Run, "com.example.clock has crashed", "was closed") {
				t.Errorf("%q stands there: %v", s.Phone.Dialog(), r.Run.Warnings)
			}
		})
	}
}

// A dialog that comes between two repetitions is closed before the second.
func TestDialogBetweenRepetitions(t *testing.T) {
	t.Parallel()
	s, job := simulated(t, "pixel-5-android-11", simulator.Options{})
	quiet(t, &job)
	job.Scenario.Repetitions, job.Scenario.Retries = 2, 0
	r := collect.Collect(t.Context(), job, collect.Options{Progress: progressFunc(func(e journal.Event) {
		if e.Phase == journal.Measure && e.Repetition == 2 {
			s.Phone.ShowDialog("com.android.launcher3", false)
		}
	})})
	wantComplete(t, r, 2)
	if !warnedOf(r.Run, "com.android.launcher3 does not respond", "was told to wait") {
		t.Errorf("%v", r.Run.Warnings)
	}
}

// A dialog that can't be pressed from here takes the focus from the app, which is reported before.
func TestDialogThatStays(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{config.PolicyWarn, config.PolicyRefuse} {
		s, job := simulated(t, "pixel-5-android-11", simulator.Options{ClosedTmp: true}) // nowhere to write the window to
		quiet(t, &job)
		job.Conditions.Policy = policy
		s.Phone.ShowDialog("com.android.systemui", false)
		r := collect.Collect(t.Context(), job, collect.Options{})
		if r.Run.Status == run.Complete || !warnedOf(r.Run, "not fit: dialog", "its dialog does not go") {
			t.Errorf("status %s, %v", r.Run.Status, r.Run.Warnings)
		}
		if refused := errors.Is(r.Err, conditions.ErrUnfit); refused != (policy == config.PolicyRefuse) {
			t.Errorf("%s: %v", policy, r.Err)
		}
	}
}

// sys.boot_completed is 1 before the services that installing and starting need are there.
func TestServicesThatStartAfterTheBoot(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"sdk-gphone64-x86-android-14", "nexus-5x-android-6.0.0"} {
		s, job := simulated(t, profile, simulator.Options{Boot: simulator.Boot{Takes: 20 * time.Second, Services: 25 * time.Second}})
		quiet(t, &job)
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 1)
		if len(r.Run.Warnings) > 0 || s.Phone.Setting("system screen_off_timeout") != "60000" {
			t.Errorf("%s: %v", profile, r.Run.Warnings)
		}
	}
}

// A phone that is still starting in the background loses frames, unless it is waited for.
func TestCollectWaitsForABusyPhone(t *testing.T) {
	t.Parallel()
	janky := func(busy, within time.Duration) (float64, collect.Result) {
		_, job := simulated(t, "sdk-gphone64-x86-android-14", simulator.Options{Boot: simulator.Boot{Busy: busy}})
		quiet(t, &job)
		job.Conditions = config.Conditions{IdleWithin: within}
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 1)
		return r.Run.Iterations[0].Metrics["frames.duration_ms"], r
	}
	calm, _ := janky(0, time.Minute)
	waited, r := janky(time.Minute, 2*time.Minute)
	if waited > 1.05*calm || warnedOf(r.Run, "not fit: idle") {
		t.Errorf("a frame took %.2f ms after waiting, and %.2f ms on a calm phone: %v", waited, calm, r.Run.Warnings)
	}
	hurried, r := janky(time.Hour, 30*time.Second)
	if hurried < 1.2*calm || !warnedOf(r.Run, "not fit: idle", "% busy after 30s of waiting") {
		t.Errorf("a frame took %.2f ms on a busy phone, and %.2f ms on a calm one: %v", hurried, calm, r.Run.Warnings)
	}
	if _, r := janky(time.Hour, 0); warnedOf(r.Run, "not fit: idle") {
		t.Errorf("it was looked at: %v", r.Run.Warnings)
	}
}

// If the policy is to refuse, nothing is measured on an unfit device, and it is left as it was.
func TestUnfitDeviceIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options simulator.Options
		set     string // a setting to 1
		want    config.Conditions
		says    string
	}{
		"fit":                  {simulator.Options{}, "system screen_brightness_mode", config.Conditions{}, ""},
		"battery saver":        {simulator.Options{}, "global low_power", config.Conditions{}, "saver: on"},
		"an ignored setting":   {simulator.Options{Ignored: []string{"system screen_brightness_mode"}}, "system screen_brightness_mode", config.Conditions{}, "brightness: the device ignores"},
		"no fixed performance": {simulator.Options{}, "", config.Conditions{FixedPerformance: config.PerformanceAlways}, "performance: the fixed performance mode can't be turned on"},
		"none where it is not": {simulator.Options{}, "", config.Conditions{FixedPerformance: config.PerformanceAuto}, ""},
		"busy":                 {simulator.Options{Boot: simulator.Boot{Busy: time.Hour}}, "", config.Conditions{IdleWithin: 10 * time.Second}, "idle: its CPUs were "},
		"hot for a while":      {simulator.Options{HotFor: 5 * time.Minute}, "", config.Conditions{}, ""},
		"hot for hours":        {simulator.Options{HotFor: 5 * time.Hour}, "", config.Conditions{}, "thermal: throttling"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, job := simulated(t, "pixel-7-android-14", c.options)
			quiet(t, &job)
			if c.set != "" {
				s.Phone.Set(c.set, "1")
			}
			before := held(s)
			job.Conditions = c.want
			job.Conditions.Policy = config.PolicyRefuse
			measured := false
			r := collect.Collect(t.Context(), job, collect.Options{Progress: progressFunc(func(e journal.Event) {
				measured = measured || e.Phase == journal.Measure
			})})
			if after := held(s); after != before {
				t.Errorf("left %s, want %s", after, before)
			}
			if c.says == "" {
				wantComplete(t, r, 1)
				return
			}
			problem := loss.As(r.Err)
			if !errors.Is(r.Err, conditions.ErrUnfit) || !strings.Contains(r.Err.Error(), c.says) || !loss.IsInfrastructure(r.Err) || problem.Hint() == "" || measured {
				t.Errorf("measured %v: %v", measured, r.Err)
			}
		})
	}
}

// Animations are left as they are: if they differ from users', that is a warning and part of the
// context. The context of unchanged phones stays the same.
func TestAnimationsAreLeftAndReported(t *testing.T) {
	t.Parallel()
	var contexts []devctx.Properties
	for _, c := range []struct{ scale, want string }{{"1.0", ""}, {"0", "off"}, {"0.5", "0.5x"}} {
		s, job := simulated(t, "pixel-7-android-14", simulator.Options{})
		quiet(t, &job)
		for _, name := range []string{"window_animation_scale", "transition_animation_scale", "animator_duration_scale"} {
			s.Phone.Set("global "+name, c.scale)
		}
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 1)
		if got := r.Run.Context[devctx.Animations]; got != c.want || warnedOf(r.Run, "animations are not as users have them") != (c.want != "") {
			t.Errorf("scale %s: %q, %v", c.scale, got, r.Run.Warnings)
		}
		if left := s.Phone.Setting("global window_animation_scale"); left != c.scale {
			t.Errorf("scale %s was left at %s", c.scale, left)
		}
		contexts = append(contexts, r.Run.Context)
	}
	before := devctx.Properties{} // the context when neither was recorded
	for name, value := range contexts[0] {
		if name != devctx.Animations && name != devctx.Performance {
			before[name] = value
		}
	}
	for i, same := range []bool{true, false, false} {
		if devctx.Same(before, contexts[i], nil) != same {
			t.Errorf("a run from before and one with %v: same %v", contexts[i], !same)
		}
	}
}

// Conditions held by a killed run are released by the next, or on request.
func TestConditionsOfAKilledRunAreReleased(t *testing.T) {
	t.Parallel()
	s, job := simulated(t, "pixel-7-android-14", simulator.Options{FixedPerformance: 1.2, Lies: 3})
	quiet(t, &job)
	ownedBy(&job, "here")
	job.Owner.Lock = "same"
	s.Phone.Set("system accelerometer_rotation", "1")
	before := held(s)
	job.Conditions = config.Conditions{FixedPerformance: config.PerformanceAlways}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := &life{left: 1 << 30, end: cancel}
	killed := job
	killed.Open = l.opening(job.Open)
	collect.Collect(ctx, killed, collect.Options{Progress: progressFunc(func(e journal.Event) {
		if e.Phase == journal.Measure {
			l.mu.Lock()
			l.left = 0
			l.mu.Unlock()
		}
	})})
	if got, want := held(s), "light  at 102, turns 0, turned 3, fixed true, dexopt false"; got != want {
		t.Fatalf("the killed run has left %s, want %s", got, want)
	}
	told, err := restore(t, job)
	if after := held(s); err != nil || after != before {
		t.Errorf("restored to %s, want %s: %v", after, before, err)
	}
	for _, what := range []string{"turn the fixed performance mode off", "have Android compile apps in the background again", "accelerometer_rotation back to 1"} {
		if !strings.Contains(strings.Join(told, "\n"), what) {
			t.Errorf("nothing of %q in %q", what, told)
		}
	}
}
