package workflowtest

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/simulator/standin/genymotion"
	"github.com/apkgate/apkgate/simulator/standin/instance"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// labConfig measures a short scenario, as the phones of a lab run in real time. Its history and
// devices follow.
const labConfig = `app:
  package: com.example.demo
  apk: app/build/outputs/apk/release/app-release.apk
scenarios:
  - name: read-mail
    workload:
      instrumentation:
        test-package: com.example.demo
        class: com.example.demo.ReadMailTest#readsMail
    repetitions: %d
    warm-up: 0
    timeout: 1m
networks: [wifi]
store:
  sqlite: %s
devices:
%s`

// The devices of the workflows' configurations.
const (
	oneEmulator = `  - name: pixel
    avd: {model: pixel_6, android: 34, image: google_apis, abi: x86_64}
`
	oneInstance = `  - name: pixel
    genymotion-saas: {recipe: Google Pixel 3, android: "11.0", minutes: 60}
`
	threeEmulators = `  - name: oldest
    avd: {model: pixel, android: 34, image: google_apis, abi: x86_64}
  - name: older
    avd: {model: pixel_6, android: 34, image: google_apis, abi: x86_64}
  - name: newest
    avd: {model: pixel_7, android: 34, image: google_apis, abi: x86_64}
`
)

// Workflows whose devices apkgate boots, each with the program that boots them.
var labWorkflows = map[string]struct{ devices, program string }{
	"emulator.yml":        {oneEmulator, "emulator"},
	"genymotion-saas.yml": {oneInstance, "gmsaas"},
	"shards.yml":          {threeEmulators, "emulator"},
}

// labRepository is a repository whose devices the stand-ins boot. Its app is so many times as slow
// as before, and the commit before the change does not build.
func labRepository(t *testing.T, devices string, repetitions int, slower float64) *repository {
	t.Helper()
	r := newRepository(t, "mail-good")
	r.lab = standin.New(t, standin.Options{Rate: labRate, Images: []string{}})
	r.lab.Breaks(genymotion.SaaSWantsToken, state.Always)
	r.configureLab(repetitions, devices)
	r.script(filepath.Join(r.dir, "gradlew"), "false\n")
	r.commit("break the build")
	r.git("tag", "--force", beforeTheChange)
	r.script(filepath.Join(r.dir, "gradlew"), "mkdir -p app/build/outputs/apk/release\ncp app.simapp app/build/outputs/apk/release/app-release.apk\n")
	r.write(filepath.Join(r.dir, "app.simapp"), standin.App(labScenario, slower))
	r.commit("mend the build")
	r.script(filepath.Join(r.lab.Bin, "pipx"), "") // gmsaas is there
	return r
}

// How fast the phones' time runs, and how much of it the scenario takes.
const (
	labRate     = 4
	labScenario = 1500 * time.Millisecond
)

func (r *repository) configureLab(repetitions int, devices string) {
	r.t.Helper()
	r.write(filepath.Join(r.dir, "apkgate.yml"), fmt.Sprintf(labConfig, repetitions, r.history(), devices))
}

func (r *repository) history() string { return filepath.Join(r.home, "lab-history.db") }

// nights are accepted runs, nine on each of the devices of a configuration: made once for all
// tests.
var nights = map[string]*struct {
	once sync.Once
	text string
}{oneEmulator: {}, oneInstance: {}, threeEmulators: {}}

// acceptNights fills the history with nine runs on each device, of nights on which the app was as
// fast as it is without a change.
func (r *repository) acceptNights(devices string) {
	r.t.Helper()
	known := nights[devices]
	known.once.Do(func() { known.text = measureNights(r.t, devices) })
	file := filepath.Join(r.home, "nights.jsonl")
	r.write(file, known.text)
	r.onRunner(program(r.t), "baseline", "import", "--store", r.history(), file)
}

// measureNights measures each device once, and turns each run into nine that differ little.
func measureNights(t *testing.T, devices string) string {
	t.Helper()
	r := &repository{t: t, dir: t.TempDir(), home: t.TempDir(), lab: standin.New(t, standin.Options{Rate: labRate})}
	r.configureLab(2, devices)
	r.write(filepath.Join(r.dir, "app/build/outputs/apk/release/app-release.apk"), standin.App(labScenario, 1))
	measured := filepath.Join(r.home, "night.jsonl")
	r.onRunner(program(t), "collect", "--output", measured)
	var all strings.Builder
	for line := range strings.Lines(r.read(measured)) {
		for n := range 9 {
			all.WriteString(night(t, line, n))
		}
	}
	return all.String()
}

// night is a run as it might have been on the n-th of nine nights before: its numbers differ by
// less than a hundredth.
func night(t *testing.T, line string, n int) string {
	t.Helper()
	one, err := run.Decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	one.ID, one.Started = "", one.Started.AddDate(0, 0, n-9)
	wave := float64(n)
	vary := func(metrics map[string]float64) {
		for name, v := range metrics {
			if v != math.Trunc(v) { // counts stay
				wave++
				metrics[name] = v * (1 + 0.008*math.Sin(wave))
			}
		}
	}
	for _, it := range one.Iterations {
		vary(it.Metrics)
		for _, e := range it.Events {
			vary(e.Metrics)
		}
	}
	data, err := run.Encode(one)
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

// onRunner runs a program in the checkout, as a user of the runner would.
func (r *repository) onRunner(name string, args ...string) {
	r.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = r.dir, r.lab.Environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
}

// leftNothing asserts that nothing that was booted still runs, and that no record says so.
func (r *repository) leftNothing() {
	r.t.Helper()
	if running := r.lab.Instances(); len(running) > 0 {
		r.t.Errorf("these devices still run: %+v", running)
	}
	for _, dir := range []string{r.lab.Path("cache", "apkgate", "leases"), r.lab.Path("avd")} {
		if left := files(r.t, dir); len(left) > 0 {
			r.t.Errorf("%s still holds %q", dir, left)
		}
	}
}

// Each workflow boots its devices, comments once, passes an unchanged build, fails a worse one, and
// leaves nothing behind.
func TestWorkflowsThatBootTheirDevices(t *testing.T) {
	for workflow, lab := range labWorkflows {
		for _, worse := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, worse %v", workflow, worse), func(t *testing.T) {
				t.Parallel()
				slower, verdict, conclusion := 1.0, "pass", "success"
				if worse {
					slower, verdict, conclusion = 3, "regression", "failure"
				}
				r := labRepository(t, lab.devices, 2, slower)
				r.acceptNights(lab.devices)
				j := r.run(workflow, "pull_request", r.pullRequest(owner+"/"+name), "GITHUB_RUN_ID=100", "GITHUB_RUN_NUMBER=1")
				found := j.outputs["verdict"]
				if !worse && found == "improvement" { // by chance: never worse
					found = verdict
				}
				if j.failed != worse || found != verdict {
					t.Errorf("failed is %v and the verdict %q, want %v and %s", j.failed, j.outputs["verdict"], worse, verdict)
				}
				if comments := r.github.Comments(pull); len(comments) != 1 {
					t.Errorf("%d comments, want 1: %+v", len(comments), comments)
				}
				if checks := r.github.Checks(); len(checks) != 1 || checks[0].Status != "completed" || checks[0].Conclusion != conclusion {
					t.Errorf("the check runs are %+v, want one that ends with %s", checks, conclusion)
				}
				if len(r.lab.Called(lab.program)) == 0 {
					t.Errorf("%s was never called: what was measured on?", lab.program)
				}
				r.leftNothing()
			})
		}
	}
}

// measuring is closed once the app runs on a device of the lab.
func (r *repository) measuring() <-chan struct{} {
	seen := make(chan struct{})
	ctx := r.t.Context()
	runs := func(port int) bool {
		phone, err := adb.Dial(ctx, fmt.Sprint("127.0.0.1:", port), adb.Options{})
		if err != nil {
			return false
		}
		defer phone.Close()
		out, err := phone.Exec(ctx, "pidof com.example.demo")
		return err == nil && out.ExitCode == 0
	}
	go func() {
		defer close(seen)
		for ctx.Err() == nil {
			list, err := instance.List(r.lab.Folder)
			if err == nil && slices.ContainsFunc(list, func(i instance.Running) bool { return runs(i.ADB) }) {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return seen
}

// If a job is cancelled while it measures, its booted devices are stopped.
func TestCancelledJobsStopWhatTheyHaveBooted(t *testing.T) {
	for workflow, lab := range labWorkflows {
		t.Run(workflow, func(t *testing.T) {
			t.Parallel()
			r := labRepository(t, lab.devices, 1000, 1)
			t.Cleanup(r.killOrphans)
			r.interrupt = r.measuring()
			if j := r.run(workflow, "pull_request", r.pullRequest(owner+"/"+name), "GITHUB_RUN_ID=100"); !j.failed {
				t.Error("the cancelled workflow succeeded")
			}
			r.leftNothing()
		})
	}
}
