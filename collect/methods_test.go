package collect_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/calls"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

// chat is an app whose list binds three items after a swipe, of 400 ms each.
const chat = `apkgate-simulated-app/1
package com.example.demo
noise session 0% repetition 0% frame 4% tail 0%
cost 5ms
startup 300ms
scenario back 6s
  start 30
  1s open 30
  3s swipe 30
test com.example.chat.BackTest#goes back
`

const binds = `calls com.example.chat.List.onLayout 5ms after swipe
calls com.example.chat.List.bind 400ms after swipe times 3 from com.example.chat.List.onLayout KIND
`

// calling is a job of an app on a simulated phone that keeps calls, with a listener that the phone's
// clock waits for.
func calling(t *testing.T, profile, app string, m config.Methods, o simulator.Options) (*simulator.Simulated, collect.Job, collect.Options) {
	t.Helper()
	s, job, folder, _ := watched(t, profile, config.KeepAnomalies, o)
	apk := filepath.Join(t.TempDir(), "chat.apk")
	if err := os.WriteFile(apk, []byte(app), 0o600); err != nil {
		t.Fatal(err)
	}
	job.App = config.App{Package: "com.example.demo", APK: apk}
	job.Scenario.Name, job.Scenario.Repetitions = "back", 1
	job.Scenario.Workload = config.Workload{Instrumentation: &config.Instrumentation{TestPackage: "com.example.demo", Class: "com.example.chat.BackTest#goes"}}
	job.Methods = m
	return s, job, collect.Options{Evidence: folder}
}

// profiles counts the kept files of calls or samples.
func profiles(r run.Run) (n int) {
	for _, e := range r.Evidence {
		if e.Kind == run.Profile {
			n++
		}
	}
	return n
}

// A frozen frame keeps the calls before it: those of a list that is laid out. What records depends on
// the device, and what it can't see is reported.
func TestMethodsOfAFrozenFrame(t *testing.T) {
	t.Parallel()
	const android16, android14 = "pixel-7-android-16", "pixel-7-android-14"
	for name, c := range map[string]struct {
		profile, by, kind, app string
		production             bool
		source, recorded       string // of the record, "" for none
		top, unseen            string
	}{
		"long":              {profile: android16, by: config.MethodsAuto, source: "art-long", recorded: "perfetto+long", top: "com.example.chat.List.bind"},
		"no hooks":          {profile: android16, by: config.MethodsAuto, production: true, source: "simpleperf", recorded: "perfetto+samples", top: "com.example.chat.List.bind"},
		"samples":           {profile: android14, by: config.MethodsAuto, source: "simpleperf", recorded: "perfetto+samples", top: "com.example.chat.List.bind"},
		"calls":             {profile: android14, by: config.MethodsCalls, source: "art", recorded: "perfetto+calls", top: "com.example.chat.List.bind"},
		"long of native":    {profile: android16, by: config.MethodsLong, kind: "kind native", source: "art-long", recorded: "perfetto+long", top: "com.example.chat.List.onLayout"},
		"samples of native": {profile: android14, by: config.MethodsSamples, kind: "kind native", source: "simpleperf", recorded: "perfetto+samples", top: "com.example.chat.List.bind"},
		"long not there":    {profile: android14, by: config.MethodsLong, recorded: "perfetto"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, job, options := calling(t, c.profile, chat+strings.Replace(binds, "KIND", c.kind, 1), config.Methods{Keep: config.KeepAnomalies, By: c.by}, simulator.Options{Production: c.production})
			r := collect.Collect(t.Context(), job, options)
			if r.Err != nil || r.Run.Context["recorded"] != c.recorded {
				t.Fatalf("%v; recorded by %q, want %q: %v", r.Err, r.Run.Context["recorded"], c.recorded, r.Run.Warnings)
			}
			m := r.Run.MethodTraces
			if c.source == "" {
				if m != nil || profiles(r.Run) > 0 {
					t.Errorf("%d files, record %v", profiles(r.Run), m)
				}
				return
			}
			if m == nil || m.Source != c.source || profiles(r.Run) != 1 {
				t.Fatalf("%d files, record %+v, warnings %v", profiles(r.Run), m, r.Run.Warnings)
			}
			if m.List[0].Name != c.top || m.List[0].Event != "swipe" {
				t.Errorf("on top is %+v, want %s after swipe", m.List[0], c.top)
			}
			if m.Windows[0].Evidence == "" {
				t.Errorf("the windows name no file: %+v", m.Windows)
			}
		})
	}
}

// A run in which nothing goes wrong copies nothing from the device.
func TestMethodsOfAQuietRun(t *testing.T) {
	t.Parallel()
	for _, by := range []string{config.MethodsLong, config.MethodsSamples, config.MethodsCalls} {
		_, job, options := calling(t, "pixel-7-android-16", chat, config.Methods{Keep: config.KeepAnomalies, By: by}, simulator.Options{})
		r := collect.Collect(t.Context(), job, options)
		if r.Err != nil || profiles(r.Run) > 0 || r.Run.MethodTraces != nil {
			t.Errorf("%s: %v, %d files, record %v", by, r.Err, profiles(r.Run), r.Run.MethodTraces)
		}
		for _, w := range r.Run.Warnings {
			if strings.Contains(w.Text, "calls") || strings.Contains(w.Text, "methods") {
				t.Errorf("%s: %s", by, w.Text)
			}
		}
	}
}

// A method that the recorder does not see is named as such: the system calls a native method that
// takes 1.2 s.
func TestMethodsThatAreNotSeen(t *testing.T) {
	t.Parallel()
	_, job, options := calling(t, "pixel-7-android-16", chat+"calls com.example.chat.Codec.decode 1200ms after swipe kind native\n", config.Methods{Keep: config.KeepAnomalies, By: config.MethodsLong}, simulator.Options{})
	r := collect.Collect(t.Context(), job, options)
	found := false
	for _, w := range r.Run.Warnings {
		found = found || strings.Contains(w.Text, "recorded by long, which does not see calls of less than about 170 ms (340 ms in newer builds), native and interpreted methods")
	}
	if r.Err != nil || !found {
		t.Errorf("%v; warnings %v", r.Err, r.Run.Warnings)
	}
}

// Hubble's second case by samples: the app sleeps on its main thread. Where the device has off-CPU
// time, the method that sleeps is on top with it; where it has not, the run says so, and what is
// missing.
func TestSleepOnTheMainThreadBySamples(t *testing.T) {
	t.Parallel()
	const restore, sleep = "com.example.chat.AudioRoute.restore", "java.lang.Thread.sleep"
	app := chat + "calls " + restore + " 1ms after swipe\ncalls " + sleep + " 1s after swipe from " + restore + " waits\n"
	for profile, offCPU := range map[string]bool{"pixel-7-android-14": true, "nord-android-10": false} {
		_, job, options := calling(t, profile, app, config.Methods{Keep: config.KeepAnomalies, By: config.MethodsSamples}, simulator.Options{})
		r := collect.Collect(t.Context(), job, options)
		warned := slices.ContainsFunc(r.Run.Warnings, func(w run.Warning) bool { return strings.HasPrefix(w.Text, "methods that wait are in no sample") })
		if r.Err != nil || warned == offCPU {
			t.Errorf("%s: %v, warnings %v", profile, r.Err, r.Run.Warnings)
		}
		m := r.Run.MethodTraces
		if !offCPU {
			continue
		}
		if m == nil || m.Clock != run.WallClock || m.List[0].Name != sleep || m.List[0].SelfMS < 700 {
			t.Fatalf("%s: the record is %+v, want %s on top: %v", profile, m, sleep, r.Run.Warnings)
		}
		causes := calls.Explain(r.Run, nil, []diagnose.Finding{{Event: "swipe", Metric: "frames.frozen", Direction: gate.ToRegression}})
		if len(causes) != 1 || causes[0].Subject.Name != restore {
			t.Fatalf("%s: the causes are %+v, want %s", profile, causes, restore)
		}
		at := slices.IndexFunc(causes[0].Sentence, func(p diagnose.Part) bool { return p.Text == "; it blocked " })
		if at < 0 || causes[0].Sentence[at+1].Amount.Value < 700 || causes[0].Sentence[at+3].Name != sleep {
			t.Errorf("%s: the sentence is %+v, want for how long it blocked in %s", profile, causes[0].Sentence, sleep)
		}
	}
}
