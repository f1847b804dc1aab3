package collect_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

// opening is an app that takes 400 ms to its first frame on a good phone, and a second more to be
// fully drawn.
const opening = `apkgate-simulated-app/1
package com.example.opening
activity .InboxActivity
startup 400ms
drawn 1s
noise session 1% repetition 1% frame 2% tail 0%
`

// startup is a job that starts an app, with lines of its own, on a simulated phone.
func startup(t *testing.T, profile string, mode config.StartMode, lines string) collect.Job {
	t.Helper()
	return startupAt(t, profile, simulator.Options{}, mode, lines)
}

func startupAt(t *testing.T, profile string, o simulator.Options, mode config.StartMode, lines string) collect.Job {
	t.Helper()
	_, job := simulated(t, profile, o)
	apk := filepath.Join(t.TempDir(), "opening.apk")
	if err := os.WriteFile(apk, []byte(opening+lines), 0o600); err != nil {
		t.Fatal(err)
	}
	job.App = config.App{Package: "com.example.opening", APK: apk}
	job.Scenario.Name, job.Scenario.Workload = "start", config.Workload{Startup: &config.Startup{Mode: mode}}
	if strings.Contains(profile, "android-6.0.0") {
		job.Scenario.Workload.Startup.Activity = ".InboxActivity"
	}
	return job
}

func meanOf(r run.Run, metric string) float64 {
	sum := 0.0
	for _, it := range r.Iterations {
		sum += it.Metrics[metric]
	}
	return sum / float64(len(r.Iterations))
}

// A warm start creates the activity and not the process, a hot one neither: so each takes less than
// the one before. A resumed activity is not fully drawn again.
func TestStartsAreMeasured(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"pixel-7-android-14", "pixel-5-android-11", "pixel-3-android-9", "nexus-5x-android-6.0.0"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			took, cpu := map[config.StartMode]float64{}, map[config.StartMode]float64{}
			for _, mode := range config.StartModes() {
				r := collect.Collect(t.Context(), startup(t, profile, mode, ""), collect.Options{})
				wantComplete(t, r, 3)
				took[mode] = meanOf(r.Run, "startup.ttid_ms")
				cpu[mode] = meanOf(r.Run, "cpu.time_ms")
				full := meanOf(r.Run, "startup.ttfd_ms")
				if after := full - took[mode]; mode == config.StartHot && full != 0 || mode != config.StartHot && (after < 999 || after > 1001) {
					t.Errorf("%s: fully drawn at %g ms, displayed at %g", mode, full, took[mode])
				}
				for _, w := range r.Run.Warnings {
					if !strings.Contains(w.Text, "its caches since version 12") && !strings.Contains(w.Text, "reports no times of frames") {
						t.Errorf("%s: %s", mode, w.Text)
					}
				}
			}
			if took["cold"] < 200 || took["warm"] > took["cold"]*0.6 || took["hot"] > took["warm"]*0.5 || took["hot"] <= 0 {
				t.Errorf("cold, warm and hot: %v", took)
			}
			// The process's earlier CPU time is not the start's.
			if cpu["hot"] <= 0 || cpu["warm"] >= cpu["cold"] || cpu["hot"] >= cpu["warm"] {
				t.Errorf("CPU time of cold, warm and hot starts: %v", cpu)
			}
		})
	}
}

// A start of another kind than configured is no measurement.
func TestStartOfAnotherKindIsLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile string
		mode    config.StartMode
		lines   string
		why     string
	}{
		"a process that comes back":            {"pixel-7-android-14", config.StartCold, "launch revived 200ms\n", "a cold start was asked for, and the app's process is there"},
		"one that comes back, Android 9":       {"pixel-3-android-9", config.StartCold, "launch revived 200ms\n", "a cold start was asked for, and the app's process is there"},
		"a process that is ended":              {"pixel-7-android-14", config.StartWarm, "launch forgotten 1s\n", "a warm start was asked for, and the app's process is gone"},
		"one that is ended, hot":               {"pixel-3-android-9", config.StartHot, "launch forgotten 1s\n", "a hot start was asked for, and the app's process is gone"},
		"an activity that is made anew":        {"pixel-7-android-14", config.StartHot, "launch relaunched 100%\n", "a hot start was asked for, and the device says RELAUNCH"},
		"an app that is no longer fully drawn": {"pixel-7-android-14", config.StartCold, "launch undrawn 2\n", "did not say within 15s that it is fully drawn, as it did before"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := collect.Collect(t.Context(), startup(t, c.profile, c.mode, c.lines), collect.Options{})
			if r.Run.Status == run.Complete || !loss.IsWorkload(r.Err) || !strings.Contains(r.Err.Error(), c.why) {
				t.Errorf("%s: %v, want %q", r.Run.Status, r.Err, c.why)
			}
		})
	}
}

// Whenever the process comes back, no warm start counts as a cold one.
func TestProcessThatComesBackBeforeAColdStart(t *testing.T) {
	t.Parallel()
	lost := 0
	for after := 1000; after <= 1300; after += 50 {
		job := startup(t, "pixel-7-android-14", config.StartCold, fmt.Sprintf("launch revived %dms\n", after))
		job.Scenario.Repetitions, job.Scenario.WarmUp, job.Scenario.Retries = 1, 0, 0
		r := collect.Collect(t.Context(), job, collect.Options{})
		switch {
		case r.Run.Status == run.Complete && meanOf(r.Run, "startup.ttid_ms") < 200:
			t.Errorf("back after %d ms: %v", after, r.Run.Iterations)
		case r.Run.Status != run.Complete && !errors.Is(r.Err, loss.ErrStart):
			t.Errorf("back after %d ms: %v", after, r.Err)
		case r.Run.Status != run.Complete:
			lost++
		}
	}
	if lost == 0 {
		t.Error("no start was lost")
	}
}

// The launcher may open another activity than the one that shows, and the log may be late.
func TestUnusualStartsAreMeasured(t *testing.T) {
	t.Parallel()
	r := collect.Collect(t.Context(), startup(t, "pixel-7-android-14", config.StartWarm, "launch through .Splash logged 400ms\n"), collect.Options{})
	wantComplete(t, r, 3)
	if len(r.Run.Warnings) > 0 || meanOf(r.Run, "startup.ttid_ms") < 100 {
		t.Errorf("%v, %v", r.Run.Warnings, r.Run.Iterations)
	}
	r = collect.Collect(t.Context(), startup(t, "pixel-7-android-14", config.StartWarm, "launch undrawn again\n"), collect.Options{})
	wantComplete(t, r, 3)
	if len(r.Run.Warnings) > 0 || meanOf(r.Run, "startup.ttfd_ms") != 0 {
		t.Errorf("an app that says once in each process that it is fully drawn: %v, %v", r.Run.Warnings, r.Run.Iterations)
	}
	job := startup(t, "pixel-7-android-14", config.StartCold, "launch logged 30s\n")
	r = collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 3)
	wantWarning(t, r, "and the log does not contain it")
}

// If the frame timeline has no window's first frame near the reported end of the start, both times
// are named.
func TestStartFarFromItsFirstFrameIsReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines string
		mode  config.StartMode
		told  bool
	}{
		{"launch late 2s\n", config.StartCold, true},
		{"launch late 2s\n", config.StartWarm, true},
		{"startup 2s\nlaunch early 1500ms\n", config.StartCold, true},
		{"startup 4s\nlaunch early 1500ms\n", config.StartWarm, true},
		{"launch late 700ms\n", config.StartCold, true},
		{"launch late 350ms\n", config.StartCold, false},
		{"startup 2s\nlaunch early 800ms\n", config.StartCold, true},
		{"startup 2s\nlaunch early 350ms\n", config.StartCold, false},
		{"launch late 2s\n", config.StartHot, false}, // its window may be there, and drawn
		{"launch late 50ms logged 2s\n", config.StartCold, false},
	} {
		job := startup(t, "pixel-7-android-14", c.mode, c.lines)
		job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 1)
		if told := warnedOf(r.Run, "repetition 1: am start says", "by the frame timeline"); told != c.told {
			t.Errorf("%s, %q: %v", c.mode, c.lines, r.Run.Warnings)
		}
	}
}

// There is no warning for starts that end with their first frame, at any rate, in any phase of the
// display, and however long that frame takes.
func TestStartAtItsFirstFrameIsNotReported(t *testing.T) {
	t.Parallel()
	kinds := []struct {
		lines string
		mode  config.StartMode
	}{
		{"", config.StartCold},
		{"startup 4s\n", config.StartCold},
		{"launch through .Splash late 40ms\n", config.StartWarm},
		{"launch logged 800ms early 20ms\n", config.StartCold},
		{"startup 1.2s\n", config.StartHot},
	}
	for _, hz := range []int{60, 90, 120} {
		for _, k := range kinds {
			job := startupAt(t, "galaxy-s21-android-13", simulator.Options{Hz: hz}, k.mode, k.lines)
			job.Scenario.Repetitions, job.Scenario.WarmUp = 4, 0
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 4)
			if len(r.Run.Warnings) > 0 {
				t.Errorf("%d Hz, %s, %q: %v", hz, k.mode, k.lines, r.Run.Warnings)
			}
		}
	}
}

// Builds that are measured alternately may have different activities.
func TestStartsOfTwoBuildsInTurns(t *testing.T) {
	t.Parallel()
	base := startup(t, "pixel-7-android-14", config.StartCold, "")
	base.Session = "s"
	head := base
	head.App = startup(t, "pixel-7-android-14", config.StartCold, "launch through .Other\n").App
	b, h := collect.Interleave(t.Context(), collect.Pair{Base: base, Head: head}, collect.Options{})
	wantComplete(t, b, 3)
	wantComplete(t, h, 3)
}

// An activity that can't be started is the configuration's error, reported once.
func TestActivitiesThatCantBeStarted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ profile, activity, lines, why, hint string }{
		{"pixel-7-android-14", "", "launch second .LeakLauncherActivity\n", "the launcher shows several of com.example.opening", "workload.startup.activity"},
		{"pixel-7-android-14", ".Gone", "", "Activity class {com.example.opening/.Gone} does not exist", "workload.startup.activity"},
		{"nexus-5x-android-6.0.0", "", "", "Android reports it since version 7", "workload.startup.activity"},
	} {
		job := startup(t, c.profile, config.StartCold, c.lines)
		job.Scenario.Workload.Startup.Activity = c.activity
		r := collect.Collect(t.Context(), job, collect.Options{})
		if e := loss.As(r.Err); e == nil || e.Cause != loss.Configuration || !e.Final || !strings.Contains(e.Error(), c.why) || !strings.Contains(e.Hint(), c.hint) {
			t.Errorf("%v, want %q", r.Err, c.why)
		}
	}
}

func wantWarning(t *testing.T, r collect.Result, text string) {
	t.Helper()
	if !slices.ContainsFunc(r.Run.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, text) }) {
		t.Errorf("%v, want %q", r.Run.Warnings, text)
	}
}
