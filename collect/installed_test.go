package collect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	planned "github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

// A runner that the test APK lacks is detected before anything is measured, as a failure of the
// configuration.
func TestMissingRunner(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-5-android-11", simulator.Options{})
	job.Scenario.Workload.Instrumentation.Runner = ".OwnRunner"
	r := collect.Collect(t.Context(), job, collect.Options{})
	if !loss.IsConfiguration(r.Err) || r.Run.Status != run.Failed {
		t.Fatalf("%s, %v", r.Run.Status, r.Err)
	}
	for _, want := range []string{"no runner .OwnRunner of com.example.demo.test", "but androidx.test.runner.AndroidJUnitRunner"} {
		if !strings.Contains(r.Err.Error(), want) {
			t.Errorf("%q says nothing of %q", r.Err, want)
		}
	}
}

// A test APK with another package name than configured is named if it is of the app.
func TestTestOfAnotherNameIsReported(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-5-android-11", simulator.Options{})
	d, err := job.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rewrite(t, job.App.TestAPK, "package com.example.demo.test", "package com.example.own.tests")
	for _, apk := range []string{job.App.APK, job.App.TestAPK} {
		if err := d.Install(t.Context(), apk); err != nil {
			t.Fatal(err)
		}
	}
	job.App.APK, job.App.TestAPK = "", ""
	job.Scenario.Workload.Instrumentation.TestPackage = "com.example.own.tests"
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 3)
	job.Scenario.Workload.Instrumentation.TestPackage = "com.example.demo"
	r = collect.Collect(t.Context(), job, collect.Options{})
	if want := "but com.example.own.tests/androidx.test.runner.AndroidJUnitRunner"; !loss.IsConfiguration(r.Err) || !strings.Contains(r.Err.Error(), want) {
		t.Errorf("%v, want %q", r.Err, want)
	}
}

// A test of another app than the measured one is reported, as a likely mistake.
func TestTestOfAnotherAppIsReported(t *testing.T) {
	t.Parallel()
	s, job := simulated(t, "pixel-5-android-11", simulator.Options{})
	other, err := os.ReadFile(job.App.APK)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Phone.Install([]byte(strings.Replace(string(other), "package com.example.demo", "package com.example.other", 1))); err != nil {
		t.Fatal(err)
	}
	rewrite(t, job.App.TestAPK, "tests com.example.demo", "tests com.example.other")
	job.Scenario.Retries = 0
	r := collect.Collect(t.Context(), job, collect.Options{})
	if !warnedOf(r.Run, "com.example.demo.test is a test of com.example.other, and app.package is com.example.demo") {
		t.Errorf("%v, warnings: %v", r.Err, r.Run.Warnings)
	}
}

// Packages without a configured APK must be on the device.
func TestInstalled(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-5-android-11", simulator.Options{})
	d, err := job.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := planned.Installed(t.Context(), d, job.App, job.Scenario); err != nil {
		t.Errorf("with both APKs: %v", err)
	}
	bare := job.App
	bare.APK, bare.TestAPK = "", ""
	err = planned.Installed(t.Context(), d, bare, job.Scenario)
	if !loss.IsConfiguration(err) || !strings.Contains(err.Error(), "com.example.demo is not on the device") {
		t.Errorf("without the app: %v", err)
	}
	for _, apk := range []string{job.App.APK, job.App.TestAPK} {
		if err := d.Install(t.Context(), apk); err != nil {
			t.Fatal(err)
		}
	}
	if err := planned.Installed(t.Context(), d, bare, job.Scenario); err != nil {
		t.Errorf("with both on the device: %v", err)
	}
	job.Scenario.Workload.Instrumentation.Runner = "com.example.OtherRunner"
	if err := planned.Installed(t.Context(), d, bare, job.Scenario); !loss.IsConfiguration(err) {
		t.Errorf("without the runner: %v", err)
	}
}

// A test APK is installed for scenarios that run tests, and removed from the phone after others.
func TestTestAPKIsUninstalled(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "script.sh")
	if err := os.WriteFile(script, []byte("am start -n com.example.demo/.InboxActivity; pm path com.example.demo.test; sleep 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]config.Workload{
		"start-up": {Startup: &config.Startup{Mode: config.StartCold}},
		"monkey":   {Monkey: &config.Monkey{Events: 10}},
		"shell":    {Shell: &config.Shell{Script: script}},
	} {
		s, job := simulated(t, "pixel-7-android-14", simulator.Options{})
		job.Scenario.Workload = w
		if r := collect.Collect(t.Context(), job, collect.Options{}); r.Err != nil {
			t.Errorf("%s: %v", name, r.Err)
		}
		if left, _ := onPhone(t, s, "pm list packages com.example.demo"); left != "" {
			t.Errorf("%s: it leaves %s", name, left)
		}
	}
}
