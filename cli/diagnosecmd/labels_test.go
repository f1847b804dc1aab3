package diagnosecmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
)

// label is what a person reads in a dump: which process did not respond, whether only its place in
// the file says so, and what its main thread, or the one that it waits for, was doing. An empty
// process is one that the file does not name; cut is of a truncated file.
type label struct {
	process       string
	placed, cut   bool
	kind, subject string
}

// labels are of the dumps of the corpus, read from their main threads by hand.
var labels = map[string]label{
	"datadog_anr_crash_trace.txt":                           {"com.datadog.android.sample", false, false, "anr.work", "com.datadog.android.sample.vitals.BadView.onDraw"},
	"digitalfarms_traces.txt":                               {"com.tencent.mm", true, false, "anr.work", "com.tencent.mm.ui.widget.celltextview.g.a.o"},
	"hbpencil_wanandroid_traces.txt":                        {"com.example.shinelon.wanandroid", true, false, "anr.work", "com.example.shinelon.wanandroid.MainActivityImpl$startBanner$runnable$1.run"},
	"jeanboydev_emulator_9_anr_2019-04-11-14-10-57-693.txt": {"com.android.systemui", true, false, "anr.idle", "main"},
	"newrelic_ApplicationExitInfo.trace.txt":                {"com.newrelic.agent.android.ndk.samples.legacy", false, false, "anr.sleep", "com.newrelic.agent.android.ndk.samples.service.SleepyBackgroundService.onStartCommand"},
	"newrelic_systrace.txt":                                 {"com.newrelic.android.test.squaretools", false, false, "anr.sleep", "com.newrelic.android.test.squaretools.MainActivity.lambda$triggerANRifAEIenabled$2"},
	"newrelic_traceThreads.txt":                             {"", false, false, "anr.sleep", "com.newrelic.agent.android.ndk.samples.service.SleepyBackgroundService.onStartCommand"},
	"sentry_thread_dump.txt":                                {"io.sentry.samples.android", false, false, "anr.lock", "java.lang.Object"},
	"sentry_thread_dump_native_only.txt":                    {"io.sentry.samples.android", false, false, "anr.stopped", "debugger"},
	"sentry_thread_dump_no_stacktrace.txt":                  {"io.sentry.samples.android", false, true, "anr.work", "io.sentry.samples.android.MainActivity.onCreate"},
	"sentry_thread_dump_process_name_main.txt":              {"io.sentry.samples.android", false, true, "anr.work", "io.sentry.samples.android.MainActivity.onCreate"},
}

// diagnosed is the command's JSON output for a file.
func diagnosed(t *testing.T, args ...string) saved.Diagnosis {
	t.Helper()
	var found saved.Diagnosis
	if err := json.Unmarshal([]byte(passes(t, append(args, "--format", "json")...).Stdout), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// cutOff reports whether a doubt says that the file is truncated.
func cutOff(d saved.Diagnosis) bool {
	text, err := json.Marshal(d.Causes)
	return err == nil && strings.Contains(string(text), "The file is cut off")
}

// The diagnosis of a dump of the corpus is what a person reads in it.
func TestDiagnoseAgreesWithAPerson(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpustest.Path(t, "anr"), "*"))
	if err != nil || len(paths) != len(labels) {
		t.Fatalf("%d dumps in the corpus, %d labels: %v", len(paths), len(labels), err)
	}
	for _, path := range paths {
		want, found := labels[filepath.Base(path)], diagnosed(t, path)
		if len(found.Causes) != 1 || len(found.ANRs) != 1 || found.ProcessUnknown {
			t.Errorf("%s: %d causes, %d ANRs", path, len(found.Causes), len(found.ANRs))
			continue
		}
		c := found.Causes[0]
		got := label{found.ANRs[0].Process, found.ByPlace, cutOff(found), c.Kind, c.Subject.Name}
		if got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", filepath.Base(path), got, want)
		}
		if doubtful := got.placed || got.cut; doubtful && c.Explains.Sure == "seen" {
			t.Errorf("%s: the cause is %s", path, c.Explains.Sure)
		}
	}
}

// A dump truncated at any place is reported as truncated, or rejected.
func TestDiagnoseTruncatedRealDumps(t *testing.T) {
	path := corpustest.Path(t, "anr")
	t.Chdir(t.TempDir())
	for name := range labels {
		text, err := os.ReadFile(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, share := range []float64{0.1, 0.25, 0.5, 0.75, 0.9} {
			write(t, "cut", string(text[:int(float64(len(text))*share)]))
			got := clitest.Run(t, nil, "diagnose", "cut", "--format", "json")
			if got.Status != 0 {
				continue // nothing is reported on what did not respond
			}
			var found saved.Diagnosis
			if err := json.Unmarshal([]byte(got.Stdout), &found); err != nil {
				t.Fatal(err)
			}
			said := slices.ContainsFunc(found.Warnings, func(w run.Warning) bool {
				return strings.Contains(w.Text, "cut off") || strings.Contains(w.Text, "the file ends in")
			})
			if !found.ProcessUnknown && !cutOff(found) || !said {
				t.Errorf("%s, %.0f %% of it: %+v, %+v", name, share*100, found.Warnings, found.Causes)
			}
		}
	}
}
