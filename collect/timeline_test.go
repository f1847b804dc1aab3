package collect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/simulator"
)

// scrolls is an app that draws all the time.
func scrolls(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scrolls.apk")
	if err := os.WriteFile(path, []byte("apkgate-simulated-app/1\npackage com.example.demo\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// shown counts the frames of the demo app that came to the screen, and those of them that were late
// by its own fault.
func shown(s *simulator.Simulated) (all, late int) {
	const appDeadline = 64
	for _, l := range s.Phone.Timeline().Layers {
		for _, f := range l.Frames {
			if strings.HasPrefix(l.Title, "com.example.demo/") && f.Presented > 0 {
				all++
				if f.Jank&appDeadline != 0 {
					late++
				}
			}
		}
	}
	return all, late
}

// Where the system reports frames itself, all of them are seen, to the last one before the test's
// end, and the app is not queried.
func TestFramesOfTheTimelineAreAllSeen(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"galaxy-s21-android-13", "pixel-7-android-14"} {
		for _, scenario := range []string{"cost 7ms\nscenario read-mail 4s\n  start 30\n  3s back 90\n", "cost 12ms\nscenario read-mail 4s\n  start 30\n  1s back 100\n"} {
			s, job := simulated(t, profile, simulator.Options{})
			spy := spyOn(&job)
			job.App.APK = scrolls(t, scenario)
			job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 1)
			all, late := shown(s)
			m := r.Run.Iterations[0].Metrics
			if m["frames.count"] != float64(all) || m["frames.janky"] != float64(late) || all < 60 {
				t.Errorf("%s, %q: %v frames, %v janky; %d came to the screen, %d late", profile, scenario, m["frames.count"], m["frames.janky"], all, late)
			}
			if r.Run.Context["frames_by"] != "timeline" || len(r.Run.Warnings) > 0 {
				t.Errorf("%s: %v, %v", profile, r.Run.Context, r.Run.Warnings)
			}
			if asked := spy.ran("gfxinfo com.example.demo"); len(asked) > 0 {
				t.Errorf("%s: the app was asked for its frames: %q", profile, asked)
			}
		}
	}
}

// A device without a frame timeline is measured by dumps of gfxinfo, all repetitions alike, with
// one warning, and none of them counts as lost.
func TestDumpsReplaceAMissingTimeline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change    func(*power)
		workloads int // that ran
	}{
		"no perfetto":               {nil, 3},
		"a perfetto that refuses":   {func(w *power) { w.noPerfetto = true }, 3},
		"a trace with nothing":      {func(w *power) { w.noTimeline = true }, 4},
		"a trace that can't be had": {func(w *power) { w.loseTrace = 1 }, 4},
		"a trace that lost parts":   {func(w *power) { w.lossyTrace = 1 }, 4},
	} {
		p := newPhone(33)
		if c.change != nil {
			p.power = newPower()
			c.change(p.power)
		}
		r := collectOn(t, p, func(j *collect.Job) { j.Scenario.Retries = 0 })
		wantComplete(t, r, 3)
		for _, it := range r.Run.Iterations {
			if it.Metrics["frames.count"] != 500 {
				t.Errorf("%s: %v", name, it.Metrics)
			}
		}
		if r.Run.Context["frames_by"] != "gfxinfo" || len(r.Run.Warnings) != 1 || !warnedOf(r.Run, "frames are read from dumps of gfxinfo") || p.workloads != c.workloads {
			t.Errorf("%s: %v, %v; %d workloads", name, r.Run.Context, r.Run.Warnings, p.workloads)
		}
	}
}

// Once a repetition has had the frame timeline, one without it is lost and repeated: a run does not
// mix frames of two kinds.
func TestFramesOfARunAreOfOneKind(t *testing.T) {
	t.Parallel()
	p := newPhone(33)
	p.power = newPower()
	p.power.loseTrace, p.power.lossyTrace = 2, 4
	r := collectOn(t, p, nil)
	wantComplete(t, r, 3)
	if r.Run.Context["frames_by"] != "timeline" || p.workloads != 5 || !warnedOf(r.Run, "repetition 2 is lost", "the frame timeline is not known") ||
		!warnedOf(r.Run, "repetition 3 is lost", "parts of it were lost") {
		t.Errorf("%v, %v; %d workloads", r.Run.Context, r.Run.Warnings, p.workloads)
	}
	p.power.loseTrace = 7
	r = collectOn(t, p, func(j *collect.Job) { j.Scenario.Retries = 0 })
	if !loss.IsInfrastructure(r.Err) || len(r.Run.Iterations) != 1 {
		t.Errorf("where none may be made again: %v, %d iterations", r.Err, len(r.Run.Iterations))
	}
}

// A trace that ended before the workload did has some of the frames and looks complete: a
// repetition that perfetto did not record to the end is repeated.
func TestTruncatedTraceLosesTheRepetition(t *testing.T) {
	t.Parallel()
	p := newPhone(33)
	p.power = newPower()
	p.power.shortTrace = 2
	r := collectOn(t, p, nil)
	wantComplete(t, r, 3)
	for _, it := range r.Run.Iterations {
		if it.Metrics["frames.count"] != 500 {
			t.Errorf("%v frames", it.Metrics["frames.count"])
		}
	}
	if r.Run.Context["frames_by"] != "timeline" || p.workloads != 4 || !warnedOf(r.Run, "repetition 2 is lost", "perfetto", "before it was stopped") {
		t.Errorf("%v, %v; %d workloads", r.Run.Context, r.Run.Warnings, p.workloads)
	}
}

// Frames that a running app drew before the repetition are not the repetition's.
func TestFramesBeforeTheBeginningDoNotCount(t *testing.T) {
	t.Parallel()
	p := newPhone(33)
	p.power = newPower()
	p.drewBefore = 20
	r := collectOn(t, p, nil)
	wantComplete(t, r, 3)
	for _, it := range r.Run.Iterations {
		if it.Metrics["frames.count"] != 500 {
			t.Errorf("%v frames", it.Metrics["frames.count"])
		}
	}
}

// An app that renders its window's first frame by itself too, as a game does in a NativeActivity,
// has everything else measured: the log shows that it was opened.
func TestAppThatRendersItsFirstFrameToo(t *testing.T) {
	t.Parallel()
	p := newPhone(33)
	p.power = newPower()
	p.fail = func(int) fault { return fault{noFrames: true} }
	r := collectOn(t, p, nil)
	wantComplete(t, r, 3)
	for _, it := range r.Run.Iterations {
		if _, there := it.Metrics["frames.count"]; there || it.Metrics["startup.ttid_ms"] != 250 {
			t.Errorf("%v", it.Metrics)
		}
	}
	if !warnedOf(r.Run, "showed a window, and Android counts no frames in it: frames are not measured") {
		t.Error(r.Run.Warnings)
	}
}

// Frames after the workload's end are not the workload's: their number depends on when the end is
// detected.
func TestFramesAfterTheEndDoNotCount(t *testing.T) {
	t.Parallel()
	p := newPhone(33)
	p.power = newPower()
	p.drawsOn = 3 * time.Second
	r := collectOn(t, p, nil)
	wantComplete(t, r, 3)
	for _, it := range r.Run.Iterations {
		if it.Metrics["frames.count"] != 501 { // with the one that is due at the end
			t.Errorf("%v frames", it.Metrics["frames.count"])
		}
	}
}

// A maker may have Perfetto's service off, which adb's shell turns on for the run; if that is not
// allowed either, frames come from dumps.
func TestTracingIsTurnedOnForTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile, tracing string
		evidence         string
		by, left         string // frames_by, and the property afterwards
		traced           bool   // a trace is kept
	}{
		"off":                   {"galaxy-s21-android-13", "off", config.KeepNone, "timeline", "0", false},
		"locked":                {"galaxy-s21-android-13", "locked", config.KeepNone, "gfxinfo", "0", false},
		"on":                    {"galaxy-s21-android-13", "", config.KeepNone, "timeline", "", false},
		"Android 10, no Pixel":  {"nord-android-10", "", config.KeepAll, "gfxinfo", "0", true},
		"Android 10 and locked": {"nord-android-10", "locked", config.KeepAll, "gfxinfo", "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, job, folder, _ := watched(t, c.profile, c.evidence, simulator.Options{Tracing: c.tracing})
			job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
			r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
			wantComplete(t, r, 1)
			left, err := onPhone(t, s, "getprop persist.traced.enable")
			if err != nil || strings.TrimSpace(left) != c.left || r.Run.Context["frames_by"] != c.by || (len(tracesOf(r.Run)) > 0) != c.traced {
				t.Errorf("frames by %s, left at %q, %v; %d traces: %v", r.Run.Context["frames_by"], left, err, len(tracesOf(r.Run)), r.Run.Warnings)
			}
			if told := warnedOf(r.Run, "Is traced running?"); told != (c.tracing == "locked") {
				t.Errorf("warnings %v", r.Run.Warnings)
			}
		})
	}
}
