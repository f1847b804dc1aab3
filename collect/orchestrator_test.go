package collect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/simulator"
)

// apart is an app with two tests, and lines of its own.
const apart = `apkgate-simulated-app/1
package com.example.apart
startup 300ms
scenario one 4s
  500ms open 40
scenario two 4s
  500ms scroll 40
test com.example.apart.AppTest#one one
test com.example.apart.AppTest#two two
`

// orchestrated is a job whose tests run under the Orchestrator.
func orchestrated(t *testing.T, profile, lines string) collect.Job {
	t.Helper()
	_, job := simulated(t, profile, simulator.Options{})
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name+".apk")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	job.App = config.App{
		Package: "com.example.apart", APK: file("app", apart+lines), TestAPK: file("test", "apkgate-simulated-app/1\npackage com.example.apart.test\ntests com.example.apart\n"),
		OrchestratorAPK: file("orchestrator", "apkgate-simulated-app/1\npackage androidx.test.orchestrator\n"),
		TestServicesAPK: file("services", "apkgate-simulated-app/1\npackage androidx.test.services\n"),
	}
	job.Scenario.Repetitions, job.Scenario.WarmUp, job.Scenario.Retries = 2, 0, 0
	job.Scenario.Workload = config.Workload{Instrumentation: &config.Instrumentation{TestPackage: "com.example.apart.test", Orchestrator: true}}
	return job
}

// Under the Orchestrator the app's process ends with each test. That is no crash, and the frames
// and events of both tests are there.
func TestOrchestrator(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"pixel-7-android-14", "pixel-5-android-11", "pixel-3-android-9"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			r := collect.Collect(t.Context(), orchestrated(t, profile, ""), collect.Options{})
			wantComplete(t, r, 2)
			for _, it := range r.Run.Iterations {
				if len(it.Events) != 3 || it.Events[1].Name != "open" || it.Events[2].Name != "scroll" ||
					it.Events[1].Metrics["frames.count"] < 30 || it.Events[2].Metrics["frames.count"] < 30 {
					t.Errorf("%+v", it.Events)
				}
			}
		})
	}
}

// A test that crashes fails, and the others run; the run says which it was.
func TestCrashUnderTheOrchestrator(t *testing.T) {
	t.Parallel()
	r := collect.Collect(t.Context(), orchestrated(t, "pixel-7-android-14", "fault crash after open\n"), collect.Options{})
	if !loss.IsWorkload(r.Err) || !strings.Contains(r.Err.Error(), "the app crashed") || !strings.Contains(r.Err.Error(), "AppTest#one") {
		t.Errorf("%v", r.Err)
	}
}

// A missing Orchestrator is detected before anything is measured.
func TestMissingOrchestrator(t *testing.T) {
	t.Parallel()
	for _, without := range []func(a *config.App){
		func(a *config.App) { a.OrchestratorAPK = "" },
		func(a *config.App) { a.TestServicesAPK = "" },
	} {
		job := orchestrated(t, "pixel-7-android-14", "")
		without(&job.App)
		r := collect.Collect(t.Context(), job, collect.Options{})
		if e := loss.As(r.Err); e == nil || e.Cause != loss.Configuration || !strings.Contains(e.Error(), "androidx.test.") || !strings.Contains(e.Hint(), "app.orchestrator-apk and app.test-services-apk") {
			t.Errorf("%v", r.Err)
		}
	}
}

// Clearing data between tests revokes the app's permissions, which only the test can grant again.
func TestDataClearedBetweenTests(t *testing.T) {
	t.Parallel()
	job := orchestrated(t, "pixel-5-android-11", "")
	job.Scenario.Workload.Instrumentation.Args = map[string]string{"clearPackageData": "true"}
	wantComplete(t, collect.Collect(t.Context(), job, collect.Options{}), 2)
	job = orchestrated(t, "pixel-5-android-11", "permission android.permission.CAMERA\n")
	wantComplete(t, collect.Collect(t.Context(), job, collect.Options{}), 2)
	job.Scenario.Workload.Instrumentation.Args = map[string]string{"clearPackageData": "true"}
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantWarning(t, r, "GrantPermissionRule): android.permission.CAMERA")
	if !loss.IsWorkload(r.Err) {
		t.Errorf("%v", r.Err)
	}
}
