package measure_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator/standin/aws"
	"github.com/apkgate/apkgate/simulator/standin/browserstack"
	"github.com/apkgate/apkgate/simulator/standin/firebase"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// file writes a file next to the configuration.
func (f farmTest) file(name, text string) {
	f.t.Helper()
	clitest.WriteFile(f.t, filepath.Join(f.dir, name), text)
}

func (f farmTest) read(name string) string {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text)
}

// keeps counts the runs of the history.
func (f farmTest) keeps(run func(int, ...string) (string, string), want int) {
	f.t.Helper()
	out, _ := run(0, "baseline", "export")
	if n := strings.Count(out, `"format":"apkgate.run/1"`); n != want {
		f.t.Errorf("the history has %d runs, want %d\n%s", n, want, out)
	}
}

// runsIn are those of a file in JSON Lines.
func (f farmTest) runsIn(path string) (out []run.Run) {
	f.t.Helper()
	for line := range strings.Lines(f.read(path)) {
		r, err := run.Decode([]byte(line))
		if err != nil {
			f.t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// Each run records what is unknown about a farm's phones, and is otherwise like those of devices:
// three starts of each benchmark, twice for a scenario that is repeated.
func TestRunsOfAFarm(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 100, 100, 16)
	f.file("apkgate.yml", strings.Replace(fmt.Sprintf(onFarm, 16.0), "  - name: start\n", "  - name: start\n    repetitions: 2\n", 1)+"networks: [wifi]\n")
	_, stderr := f.run(0, "collect", "--farm", "--output", "runs.jsonl", "--commit", "c0ffee", "--session", "nightly")
	wants(t, stderr, "Firebase Test Lab: 2 matrices, at most 40 minutes of devices, 2.00 USD, of up to 10 minutes on oriole 33 and MediumPhone.arm 34 each",
		"Firebase Test Lab: it took 2 matrices, 8 minutes of devices, 0.40 USD")
	runs := f.runsIn("runs.jsonl")
	if len(runs) != 2 {
		t.Fatalf("%d runs, want one on each kind of phone", len(runs))
	}
	for i, model := range []string{"oriole", "MediumPhone.arm"} {
		r := runs[i]
		if r.Context["farm"] != "Firebase Test Lab" || r.Context["farm_model"] != model || r.Context["model"] != model || r.Context["cpu_cores"] != "8" {
			t.Errorf("run %d was made in the context %v", i, r.Context)
		}
		var starts []float64
		for _, it := range r.Iterations {
			starts = append(starts, it.Metrics["startup.ttid_ms"])
		}
		slices.Sort(starts)
		if want := []float64{100, 100, 101, 101, 200, 202}; !slices.Equal(starts, want) { // the other matrix's phone is 1 % slower
			t.Errorf("run %d has starts of %v, want %v", i, starts, want)
		}
		if r.Status != run.Complete || r.Session != "nightly" || r.Source.Commit != "c0ffee" || r.Scenario != "start" {
			t.Errorf("run %d is %s, of the session %q and the commit %q", i, r.Status, r.Session, r.Source.Commit)
		}
		wants(t, fmt.Sprint(r.Warnings), "Measured on Firebase Test Lab: which phone of the model it was", "the networks of the configuration (wifi) are not set")
	}
}

// The history decides as elsewhere, and what it leaves undecided is measured next to the base
// build: in each round a matrix of either. The cost limit applies to all of it, and the report
// states the cost.
func TestRunIsSettledOnAFarm(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 100, 130, 25)
	stdout, stderr := f.run(1, "run", "--farm", "--base", "base.apk", "--format", "text")
	wants(t, stderr, "Firebase Test Lab: 1 matrix, at most 20 minutes of devices, 1.00 USD", // a round can cost 2 USD, and 24.80 are left: 12
		"measuring base and head alternately on 2 devices of Firebase Test Lab, 12 rounds of each at most")
	wants(t, stdout, "Regression: in start, the time to initial display is 3", "Measured on Firebase Test Lab, which took", "which phone of the model it was")
	all, err := firebase.Matrices(f.Folder)
	if err != nil {
		t.Fatal(err)
	}
	builds := map[string]int{}
	for _, m := range all {
		builds[m.App]++
	}
	if builds["130"] != builds["100"]+1 || builds["100"] < 6 {
		t.Errorf("matrices by build: %v, want one of the new one, and rounds of both", builds)
	}
	wants(t, stderr, fmt.Sprintf("it took %d matrices, %d minutes of devices, %.2f USD", len(all), 4*len(all), 0.2*float64(len(all))))
}

// If there is no money for rounds the report says so, and if there is none for the runs nothing is
// started.
func TestFarmRunWithoutMoney(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 100, 100, 2.5)
	stdout, stderr := f.run(0, "run", "--farm", "--base", "base.apk", "--format", "text")
	wants(t, stdout, "What is undecided was not measured alternately with the base build: 1 round at most can't keep false alarms at 1 %", "(rounds.max, and what may be spent on the farm)")
	wants(t, stderr, "it took 1 matrix, 4 minutes of devices, 0.20 USD")
	if n := f.submitted(); n != 1 {
		t.Errorf("%d matrices, want 1", n)
	}
	f.file("apkgate.yml", fmt.Sprintf(onFarm, 0.99))
	_, stderr = f.run(2, "run", "--farm")
	wants(t, stderr, "it could cost 1.00 USD, and farm.max-usd allows 0.99: nothing was started", "hint: fewer repetitions, devices")
}

// Half a matrix: on one of its devices the test fails, or the farm does. The other is judged; a
// failed test is a run that says so, and one that the farm has lost is missing.
func TestFarmRunWithAFailingDevice(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]struct {
		runs   int
		stdout []string
	}{
		firebase.Fails:          {2, []string{"the test failed in repetition 1, the app crashed, or the time was over", "✗ MediumPhone.arm"}},
		firebase.NoResults:      {2, []string{"is it a Macrobenchmark, and may it write to /sdcard/Download?"}},
		firebase.Infrastructure: {1, []string{"1 run is missing: start on MediumPhone.arm 34", "Test Lab says ERROR"}},
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t, 100, 100, 16)
			f.Breaks(word, state.Always)
			stdout, stderr := f.run(3, "run", "--farm", "--format", "text", "--keep", "kept")
			wants(t, stdout, append(want.stdout, "google oriole")...)
			wants(t, stderr, "it took 1 matrix")
			f.keeps(f.run, want.runs)
		})
	}
}

// On AWS Device Farm a test took 1.2345 minutes on each of two phones, of which two are paid for,
// at 0.17 USD. One that fails is a run that says so, and one that the farm loses is missing: two
// runs are kept of the good matrix, two of the one whose test failed, and one of the last.
func TestRunsOnAWS(t *testing.T) {
	t.Parallel()
	f := newAWS(t, 100, 100, 3.4)
	stdout, stderr := f.run(0, "run", "--farm", "--format", "text")
	wants(t, stderr, "AWS Device Farm: 1 run, at most 20 minutes of devices, 3.40 USD", "AWS Device Farm: it took 1 run, 4 minutes of devices, 0.68 USD")
	wants(t, stdout, "Measured on AWS Device Farm, which took 1 run", "Measured on AWS Device Farm: which phone of the model it was")
	f.Breaks(aws.Fails, 1)
	stdout, _ = f.run(3, "run", "--farm", "--format", "text")
	wants(t, stdout, "the test failed in repetition 1, the app crashed, or the time was over", "✗ Samsung Galaxy S9 (Unlocked)")
	f.Breaks(aws.Errored, 1)
	stdout, _ = f.run(3, "run", "--farm", "--format", "text")
	wants(t, stdout, "1 run is missing: start on Samsung Galaxy S9 (Unlocked) 9", "Device Farm's own infrastructure failed")
	f.keeps(f.run, 5)
}

// On BrowserStack a test took 75 s on each of two phones, which begins a second minute. A build
// whose number was not returned, and that is not found at once, is reported as unknown.
func TestRunsOnBrowserStack(t *testing.T) {
	t.Parallel()
	f := newStack(t, 100, 100)
	f.Breaks(browserstack.Fails, 1)
	stdout, stderr := f.run(3, "run", "--farm", "--format", "text")
	wants(t, stderr, "BrowserStack App Automate: it took 1 build, 4 minutes of devices")
	wants(t, stdout, "the test failed in repetition 1, or the app crashed", "✗ Samsung Galaxy S23", "BrowserStack gives back no files of the phone")
	f.keeps(f.run, 2)
	f.Breaks(browserstack.Lost, 1)
	f.Breaks(browserstack.Unanswered, 1)
	_, stderr = f.run(3, "run", "--farm", "--format", "text")
	wants(t, stderr, "it took 0 builds, 0 minutes of devices; unknown for 1 more build, which ended before the farm reported a number: at most 20 minutes")
}

// Minutes limit runs and rounds if dollars don't: of 45 a run took 4, and a round may take 40.
func TestMinutesBoundRuns(t *testing.T) {
	t.Parallel()
	f := newStack(t, 100, 100)
	f.file("apkgate.yml", strings.Replace(onBrowserStack, "max-minutes: 320", "max-minutes: 45", 1))
	stdout, stderr := f.run(0, "run", "--farm", "--base", "base.apk", "--format", "text")
	wants(t, stdout, "1 round at most can't keep false alarms at 1 %", "(rounds.max, and what may be spent on the farm)")
	wants(t, stderr, "BrowserStack App Automate: 1 build, at most 20 minutes of devices", "it took 1 build, 4 minutes of devices")
	f.file("apkgate.yml", strings.Replace(onBrowserStack, "max-minutes: 320", "max-minutes: 19", 1))
	_, stderr = f.run(2, "run", "--farm")
	wants(t, stderr, "it could take 20 minutes of devices, and farm.browserstack.max-minutes allows 19: nothing was started")
	if n := f.asked(forBuild); n != 1 {
		t.Errorf("%d builds, want 1", n)
	}
}
