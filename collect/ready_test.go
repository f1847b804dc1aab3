package collect_test

import (
	"math"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/simulator"
)

// A throttled phone rests before it is measured, in every run: by the thermal service, and before
// Android 10 by the battery's temperature. A phone that stays hot is measured after ten minutes of
// rest in all, and each repetition says so.
func TestHotPhoneRestsInEveryRun(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"pixel-3-android-9", "pixel-7-android-14"} {
		measured := func(hot time.Duration) (r collect.Result, took time.Duration) {
			s, job := simulated(t, profile, simulator.Options{HotFor: hot})
			begun := s.Clock().Now()
			r = collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 3)
			return r, s.Clock().Now() - begun
		}
		mean := func(r collect.Result) (sum float64) {
			for _, it := range r.Run.Iterations {
				sum += it.Metrics["frames.duration_ms"] / 3
			}
			return sum
		}
		cool, usual := measured(0)
		rested, _ := measured(7 * time.Minute)
		// Heat makes a frame 60 % longer; the timing of dumps relative to the frames, up to 10 %.
		if math.Abs(mean(rested)/mean(cool)-1) > 0.1 {
			t.Errorf("%s: %.2f ms a frame after a rest, %.2f ms on a cool phone", profile, mean(rested), mean(cool))
		}
		if warnedOf(rested.Run, "for heat") || warnedOf(rested.Run, "cool down within") {
			t.Errorf("%s: %v", profile, rested.Run.Warnings)
		}
		hot, took := measured(9 * time.Hour)
		if more := took - usual; more < 10*time.Minute || more > 11*time.Minute {
			t.Errorf("%s: a phone that stays hot takes %v longer, want ten minutes", profile, more)
		}
		if !warnedOf(hot.Run, "did not cool down within 10m") || !warnedOf(hot.Run, "repetition 1: Android was slowing", "for heat") ||
			!warnedOf(hot.Run, "repetition 3: Android was slowing", "for heat") {
			t.Errorf("%s: %v", profile, hot.Run.Warnings)
		}
	}
}

// A screen that went off between two repetitions, and locked the phone, is on and unlocked in the
// next one.
func TestScreenThatWentOffIsTurnedOn(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"nexus-5-android-4.4.4", "pixel-7-android-14"} {
		for _, keyguard := range []string{"", "swipe"} {
			s, job := simulated(t, profile, simulator.Options{Keyguard: keyguard})
			job.Scenario.Retries = 0
			r := collect.Collect(t.Context(), job, collect.Options{Progress: progressFunc(func(e journal.Event) {
				if e.Phase == journal.Measure && e.Repetition == 2 {
					if _, err := onPhone(t, s, "input keyevent KEYCODE_POWER"); err != nil {
						t.Error(err)
					}
				}
			})})
			wantComplete(t, r, 3)
			if !warnedOf(r.Run, "the screen had gone off between two repetitions") || warnedOf(r.Run, "lock") {
				t.Errorf("%s, lock screen %q: %v", profile, keyguard, r.Run.Warnings)
			}
		}
	}
}
