package collect_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

// A display that is to be held at a rate draws at it during the run, and as before afterwards. A
// display that refuses is named.
func TestDisplayIsHeldAtARate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile string
		hz      int
		ignored []string
		drawn   string // refresh_hz
		told    string
	}{
		{"pixel-7-android-14", 0, nil, "90", ""},
		{"pixel-7-android-14", 60, nil, "60", ""},
		{"pixel-7-android-14", 90, nil, "90", ""},
		{"pixel-5-android-11", 60, nil, "60", ""},
		{"galaxy-s21-android-13", 60, nil, "60", ""},
		{"galaxy-s21-android-13", 120, nil, "120", ""},
		{"pixel-7-android-14", 120, nil, "90", "was to be held at 120 Hz, and is at 90.0 Hz (its rates are 60 and 90 Hz)"},
		{"galaxy-s21-android-13", 60, []string{"secure refresh_rate_mode"}, "120", "was to be held at 60 Hz, and frames were drawn for 120 Hz"},
		{"pixel-3-android-9", 60, nil, "60", "only Android 10 and later"},
	} {
		s, job := simulated(t, c.profile, simulator.Options{Ignored: c.ignored})
		job.Scenario.RefreshHz = c.hz
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 3)
		if got := r.Run.Context["refresh_hz"]; got != c.drawn {
			t.Errorf("%+v: drawn at %s Hz", c, got)
		}
		told := slices.DeleteFunc(r.Run.Warnings, func(w run.Warning) bool { return !strings.Contains(w.Text, "held at") })
		if c.told == "" && len(told) > 0 || c.told != "" && (len(told) != 1 || !strings.Contains(told[0].Text, c.told)) {
			t.Errorf("%+v: %v", c, told)
		}
		list, err := onPhone(t, s, "settings list system; settings list secure")
		if err != nil || strings.Contains(list, "refresh_rate") {
			t.Errorf("%+v: the phone is left with %q, %v", c, list, err)
		}
	}
}

// A display that changes its rate late is waited for.
func TestDisplayThatChangesItsRateLate(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"pixel-7-android-14", "galaxy-s21-android-13"} {
		for takes, told := range map[time.Duration]bool{time.Millisecond: false, 400 * time.Millisecond: false, 1500 * time.Millisecond: false, 2500 * time.Millisecond: false, time.Hour: true} {
			_, job := simulated(t, profile, simulator.Options{RateTakes: takes})
			job.Scenario.RefreshHz, job.Scenario.Repetitions, job.Scenario.WarmUp = 60, 1, 0
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 1)
			if warnedOf(r.Run, "held at 60 Hz") != told || r.Run.Context["refresh_hz"] == "60" == told {
				t.Errorf("%s, %v: %s Hz, %v", profile, takes, r.Run.Context["refresh_hz"], r.Run.Warnings)
			}
		}
	}
}
