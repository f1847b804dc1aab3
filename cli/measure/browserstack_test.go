package measure_test

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/simulator/standin/browserstack"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

const onBrowserStack = `app: {package: com.example.mail, apk: head.apk, test-apk: test.apk}
scenarios:
  - name: start
    workload: {instrumentation: {test-package: com.example.benchmark, class: com.example.StartBenchmark, macrobenchmark: true}}
farm:
  browserstack:
    devices: [{model: Google Pixel 7, version: 13.0}, {model: Samsung Galaxy S23, version: 14.0}]
    max-minutes: 320
  minutes: 10
  parallel: 8
`

// stackTest is a computer with a stand-in for BrowserStack, and two builds.
type stackTest struct{ farmTest }

// newStack has builds whose starts take so many milliseconds.
func newStack(t *testing.T, baseMS, headMS float64) stackTest {
	t.Helper()
	f := stackTest{farmTest{standin.New(t, standin.Options{WithoutADB: true}), t, t.TempDir(), nil}}
	f.service = httptest.NewServer(browserstack.Service(f.Folder, printsStarts))
	t.Cleanup(f.service.Close)
	clitest.WriteFile(t, filepath.Join(f.dir, "apkgate.yml"), onBrowserStack)
	clitest.WriteFile(t, filepath.Join(f.dir, "base.apk"), fmt.Sprint("PK", baseMS))
	clitest.WriteFile(t, filepath.Join(f.dir, "head.apk"), fmt.Sprint("PK", headMS))
	clitest.WriteFile(t, filepath.Join(f.dir, "test.apk"), "PK test")
	return f
}

// printsStarts is the output of a Macrobenchmark of starts, slower by 1 % for each build before it,
// as phones of a model are.
func printsStarts(app, _ string, number int) string {
	ms, _ := strconv.ParseFloat(app, 64)
	ms *= 1 + float64(number%5)/100
	const of = "INSTRUMENTATION_STATUS: class=com.example.StartBenchmark\nINSTRUMENTATION_STATUS: numtests=1\nINSTRUMENTATION_STATUS: test=start\nINSTRUMENTATION_STATUS_CODE: "
	return of + "1\nINSTRUMENTATION_STATUS: android.studio.display.benchmark=StartBenchmark_start\n  timeToInitialDisplayMs   min 99.0\n" +
		fmt.Sprintf("INSTRUMENTATION_STATUS: time_to_initial_display_millis_median=%g\nINSTRUMENTATION_STATUS: time_to_initial_display_millis_min=%g\n", ms, ms/2) +
		fmt.Sprintf("INSTRUMENTATION_STATUS: frame_duration_cpu_millis_p50=%g\nINSTRUMENTATION_STATUS: frame_duration_cpu_millis_p95=%g\nINSTRUMENTATION_STATUS_CODE: 2\n", ms/10, ms/5) +
		of + "0\nINSTRUMENTATION_CODE: -1\n"
}

// command is apkgate there, as a process.
func (f stackTest) command(args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	f.t.Helper()
	cmd, stdout, stderr = f.farmTest.command(args...)
	cmd.Env = append(cmd.Env, "BROWSERSTACK_API_URL="+f.service.URL, "BROWSERSTACK_USERNAME="+browserstack.User, "BROWSERSTACK_ACCESS_KEY="+browserstack.Key)
	return cmd, stdout, stderr
}

// compare compares the builds, and checks that nothing is left.
func (f stackTest) compare(wantStatus int, args ...string) (stdout, stderr string) {
	f.t.Helper()
	return f.run(wantStatus, append(slices.Clone(ofBoth), args...)...)
}

// run runs a command, and checks that nothing is left.
func (f stackTest) run(wantStatus int, args ...string) (stdout, stderr string) {
	f.t.Helper()
	cmd, out, said := f.command(args...)
	_ = cmd.Run()
	if status := cmd.ProcessState.ExitCode(); status != wantStatus {
		f.t.Errorf("exit status %d, want %d\n%s\n%s", status, wantStatus, out, said)
	}
	f.nothingLeft()
	if all := out.String() + said.String(); strings.Contains(all, browserstack.Key) || strings.Contains(all, browserstack.User) {
		f.t.Errorf("the user or the key is shown:\n%s", all)
	}
	return out.String(), said.String()
}

func (f stackTest) nothingLeft() {
	f.t.Helper()
	f.farmTest.nothingLeft()
	if running, err := browserstack.Running(f.Folder); err != nil || len(running) > 0 {
		f.t.Errorf("builds that go on: %q, %v", running, err)
	}
}

// asked counts the requests of a kind.
func (f stackTest) asked(of string) int {
	return len(slices.DeleteFunc(f.Called("browserstack"), func(line string) bool { return !strings.HasPrefix(line, of) }))
}

const forBuild = "POST /app-automate/espresso/v2/build"

// Eight rounds of a build whose starts take 30 % longer, on two phones. At most: 16 builds of 2
// devices and 10 minutes. Taken: each test took 75 s, which begins a second minute. Each of three
// APKs is uploaded once.
func TestBrowserStackComparesTwoBuilds(t *testing.T) {
	t.Parallel()
	f := newStack(t, 100, 130)
	f.Breaks(browserstack.Infrastructure, 1)
	stdout, stderr := f.compare(1, "--rounds", "8", "--keep", "kept", "--verbose")
	bills := []string{
		"BrowserStack App Automate: 16 builds, at most 320 minutes of devices, of up to 10 minutes on Google Pixel 7 13.0 and Samsung Galaxy S23 14.0 each; paid for by the plan, and not by the minute",
		"BrowserStack App Automate: it took 16 builds, 64 minutes of devices",
	}
	document, err := os.ReadFile("../../docs/farms.md")
	if err != nil {
		t.Fatal(err)
	}
	wants(t, string(document), bills...)
	wants(t, stderr, append(bills, "warning: start on Samsung Galaxy S23 14.0 is incomplete: round ")...)
	wants(t, stdout, "Regression: ", "whole run: time to initial display", "whole run: time per frame, median", "15 rounds on 2 devices", "on two phones of a model, not alternately on one",
		"BrowserStack gives back no files of the phone: the numbers are the medians and percentiles that the benchmark prints",
		"scenario start on Samsung Galaxy S23 14.0: 1 round is left out of both builds: round ", "BrowserStack's own infrastructure failed")
	if builds, uploads := f.asked(forBuild), f.asked("POST /app-automate/espresso/v2/app")+f.asked("POST /app-automate/espresso/v2/test-suite"); builds != 16 || uploads != 3 {
		t.Errorf("%d builds and %d uploads, want 16 and 3", builds, uploads)
	}
	text, err := os.ReadFile(filepath.Join(f.dir, "kept", "base.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		r, err := run.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		on := fmt.Sprintf("%s, %s %s: %d rounds by %s", r.Context["farm"], r.Context["farm_model"], r.Context["farm_version"], len(r.Iterations), r.Context["measured_by"])
		if on != "BrowserStack App Automate, Google Pixel 7 13.0: 8 rounds by macrobenchmark_log" && on != "BrowserStack App Automate, Samsung Galaxy S23 14.0: 7 rounds by macrobenchmark_log" {
			t.Error(on)
		}
	}
}

// A device on which the test fails each time is reported as missing; so is one whose log is cut in
// the middle of a number. The other is compared.
func TestBrowserStackComparisonWithAFailingDevice(t *testing.T) {
	t.Parallel()
	for breaks, said := range map[string]string{
		browserstack.Fails:  "the test failed, or the app crashed",
		browserstack.CutLog: "it has no results of androidx.benchmark",
	} {
		t.Run(breaks, func(t *testing.T) {
			t.Parallel()
			f := newStack(t, 100, 100)
			f.Breaks(breaks, state.Always)
			stdout, stderr := f.compare(3, "--rounds", "3")
			wants(t, stderr, "error: Samsung Galaxy S23 14.0, scenario start: no round is complete: round ", said)
			wants(t, stdout, "3 rounds")
		})
	}
}

// Nothing is started that could exceed the limit, is on no device of BrowserStack's, or that lacks
// credentials.
func TestBrowserStackRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit   [2]string
		breaks string
		status int
		said   []string
	}{
		"what could take too long":   {[2]string{"max-minutes: 320", "max-minutes: 319"}, "", 2, []string{"it could take 320 minutes of devices, and farm.browserstack.max-minutes allows 319: nothing was started"}},
		"a device that is not there": {[2]string{"version: 14.0", "version: 12.0"}, "", 3, []string{"the device Samsung Galaxy S23 has no Android 12.0, but 13.0 and 14.0", "hint: https://www.browserstack.com/list"}},
		"a key that is not taken":    {[2]string{}, browserstack.LoggedOut, 3, []string{"the service answered 401 HTTP Basic: Access denied.", "hint: check that BROWSERSTACK_USERNAME and BROWSERSTACK_ACCESS_KEY"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newStack(t, 100, 100)
			clitest.WriteFile(t, filepath.Join(f.dir, "apkgate.yml"), strings.Replace(onBrowserStack, c.edit[0], c.edit[1], 1))
			if c.breaks != "" {
				f.Breaks(c.breaks, state.Always)
			}
			_, stderr := f.compare(c.status, "--rounds", "8")
			wants(t, stderr, c.said...)
			if n := f.asked("POST"); n != 0 {
				t.Errorf("%d things were asked for", n)
			}
		})
	}
}

// Whenever apkgate is killed or interrupted, its builds are stopped: by itself, by devices clean,
// or by the next comparison.
func TestKilledComparisonOnBrowserStack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaks string // next to builds that run on
		builds int    // that run by then
		until  string // that was requested
		signal os.Signal
		next   []string
	}{
		"killed while builds run, then devices clean":   {"", 2, forBuild, syscall.SIGKILL, []string{"devices", "clean"}},
		"killed before a number is told, then compared": {browserstack.SlowBuild, 2, forBuild, syscall.SIGKILL, []string{"compare", "--base", "base.apk", "--head", "head.apk", "--farm", "--rounds", "1"}},
		"interrupted while builds run":                  {"", 2, forBuild, os.Interrupt, nil},
		"interrupted during an upload":                  {browserstack.SlowUpload, 0, "POST /app-automate/espresso/v2/", os.Interrupt, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newStack(t, 100, 100)
			f.Breaks(browserstack.Endless, 2)
			if c.breaks != "" {
				f.Breaks(c.breaks, state.Always)
			}
			cmd, _, stderr := f.command("compare", "--base", "base.apk", "--head", "head.apk", "--farm", "--rounds", "1")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
				if running, _ := browserstack.Running(f.Folder); len(running) == c.builds && f.asked(c.until) > 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("nothing is begun after a minute\n%s", stderr)
				}
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if c.next == nil && cmd.ProcessState.ExitCode() != 3 {
				t.Errorf("%v\n%s", cmd.ProcessState, stderr)
			}
			if c.next != nil {
				if running, _ := browserstack.Running(f.Folder); len(running) != 2 {
					t.Errorf("%q go on after the kill, want both: is the farm too kind?", running)
				}
				if err := f.Mend(browserstack.SlowBuild); err != nil {
					t.Fatal(err)
				}
				next, out, said := f.command(c.next...)
				if err := next.Run(); err != nil {
					t.Errorf("%v\n%s\n%s", err, out, said)
				}
				wants(t, out.String()+said.String(), "stopping the build "+fmt.Sprintf("%036dbeef", 1), "stopping the build "+fmt.Sprintf("%036dbeef", 2))
			}
			f.nothingLeft()
		})
	}
}

// doctor prints the limits of the plan, and what is missing.
func TestDoctorLooksAtBrowserStack(t *testing.T) {
	t.Parallel()
	f := newStack(t, 100, 100)
	cmd, out, said := f.command("doctor")
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	wants(t, out.String(), "farm browserstack", "App Automate: 5 tests at once, and 5 that wait", "Google Pixel 7 13.0 is available: paid for by the plan")
	cmd, out, said = f.command("doctor")
	cmd.Env = append(cmd.Env, "BROWSERSTACK_ACCESS_KEY=")
	_ = cmd.Run()
	wants(t, out.String(), "BAD account", "the environment has no credentials for it", "hint: set BROWSERSTACK_USERNAME and BROWSERSTACK_ACCESS_KEY")
	wants(t, said.String(), "BrowserStack App Automate can't be used from here")
}
