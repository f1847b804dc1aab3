package measure_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/simulator/standin/firebase"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

const onFarm = `app: {package: com.example.mail, apk: head.apk, test-apk: test.apk}
scenarios:
  - name: start
    workload: {instrumentation: {test-package: com.example.benchmark, class: com.example.StartBenchmark, macrobenchmark: true}}
farm:
  firebase:
    project: mail-perf-1234
    devices: [{model: oriole, version: 33}, {model: MediumPhone.arm, version: 34}]
  minutes: 10
  parallel: 8
  max-usd: %g
`

// farmTest is a computer with a stand-in for gcloud and for Test Lab, and two builds.
type farmTest struct {
	*standin.Lab
	t       *testing.T
	dir     string
	service *httptest.Server
}

// run runs a command, and checks that nothing is left.
func (f farmTest) run(wantStatus int, args ...string) (stdout, stderr string) {
	f.t.Helper()
	cmd, out, said := f.command(args...)
	_ = cmd.Run()
	if status := cmd.ProcessState.ExitCode(); status != wantStatus {
		f.t.Errorf("exit status %d, want %d\n%s\n%s", status, wantStatus, out, said)
	}
	f.nothingLeft()
	if all := out.String() + said.String(); strings.Contains(all, firebase.Token) {
		f.t.Errorf("the token is shown:\n%s", all)
	}
	return out.String(), said.String()
}

// newFarm has builds whose starts take so many milliseconds.
func newFarm(t *testing.T, baseMS, headMS, maxUSD float64) farmTest {
	t.Helper()
	f := farmTest{standin.New(t, standin.Options{WithoutADB: true}), t, t.TempDir(), nil}
	f.service = httptest.NewServer(firebase.Service(f.Folder, firebase.Starts))
	t.Cleanup(f.service.Close)
	clitest.WriteFile(t, filepath.Join(f.dir, "apkgate.yml"), fmt.Sprintf(onFarm, maxUSD))
	clitest.WriteFile(t, filepath.Join(f.dir, "base.apk"), fmt.Sprint("PK", baseMS))
	clitest.WriteFile(t, filepath.Join(f.dir, "head.apk"), fmt.Sprint("PK", headMS))
	clitest.WriteFile(t, filepath.Join(f.dir, "test.apk"), "PK test")
	return f
}

// command is apkgate there, as a process.
func (f farmTest) command(args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	f.t.Helper()
	self, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	cmd, stdout, stderr = exec.Command(self), &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = f.dir, stdout, stderr
	cmd.Env = append(f.Environment(), clitest.CommandLine+"="+strings.Join(args, "\n"))
	for _, service := range []string{"TESTING", "TOOLRESULTS", "STORAGE"} {
		cmd.Env = append(cmd.Env, "CLOUDSDK_API_ENDPOINT_OVERRIDES_"+service+"="+f.service.URL+"/")
	}
	return cmd, stdout, stderr
}

// ofBoth compares the two builds.
var ofBoth = []string{"compare", "--base", "base.apk", "--head", "head.apk", "--farm", "--format", "text"}

// compare compares the builds, and checks that nothing is left.
func (f farmTest) compare(wantStatus int, args ...string) (stdout, stderr string) {
	f.t.Helper()
	return f.run(wantStatus, append(slices.Clone(ofBoth), args...)...)
}

func (f farmTest) nothingLeft() {
	f.t.Helper()
	if running, err := firebase.Running(f.Folder); err != nil || len(running) > 0 {
		f.t.Errorf("matrices that go on: %q, %v", running, err)
	}
	if left, err := lease.List(f.Path("cache", "apkgate", "leases")); err != nil || len(left) > 0 {
		f.t.Errorf("leases that are left: %+v, %v", left, err)
	}
	if logs, err := os.ReadDir(f.Path("cache", "apkgate", "farms")); err != nil && !errors.Is(err, fs.ErrNotExist) || len(logs) > 0 {
		f.t.Errorf("what gcloud said is left: %v, %v", logs, err)
	}
}

// submitted counts the requested matrices.
func (f farmTest) submitted() int {
	return len(slices.DeleteFunc(f.Called("gcloud"), func(line string) bool { return !strings.HasPrefix(line, "firebase test android run") }))
}

// wants checks for texts, wherever lines are broken.
func wants(t *testing.T, text string, lines ...string) {
	t.Helper()
	flat := strings.Join(strings.Fields(text), " ")
	for _, line := range lines {
		if !strings.Contains(flat, line) {
			t.Errorf("%q is not said in:\n%s", line, text)
		}
	}
}

// Eight rounds of a build whose starts take 30 % longer, on a physical and a virtual phone. At
// most: 16 matrices of 2 devices and 10 minutes, 160 min at 5 USD an hour and 160 at 1. Spent: each
// test took 74 s and a bit, of which two minutes are paid for.
func TestFarmComparesTwoBuilds(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 100, 130, 16)
	f.Breaks(firebase.Infrastructure, 1)
	stdout, stderr := f.compare(1, "--rounds", "8", "--keep", "kept")
	bills := []string{
		"Firebase Test Lab: 16 matrices, at most 320 minutes of devices, 16.00 USD, of up to 10 minutes on oriole 33 and MediumPhone.arm 34 each; what is free of charge is not subtracted",
		"Firebase Test Lab: it took 16 matrices, 64 minutes of devices, 3.20 USD",
	}
	document, err := os.ReadFile("../../docs/farms.md")
	if err != nil {
		t.Fatal(err)
	}
	wants(t, string(document), bills...)
	wants(t, stderr, append(bills, "warning: start on MediumPhone.arm 34 is incomplete: round ")...)
	wants(t, stdout, "Regression: time to initial display", "15 rounds on 2 devices", "on two phones of a model, not alternately on one",
		"scenario start on MediumPhone.arm 34: 1 round is left out of both builds: round ", "Test Lab says ERROR")
	if n := f.submitted(); n != 16 {
		t.Errorf("%d matrices, want 16", n)
	}
	rounds := map[string][]int{}
	for _, side := range []string{"base", "head"} {
		text, err := os.ReadFile(filepath.Join(f.dir, "kept", side+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			r, err := run.Decode([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			on := r.Context["farm_model"] + " " + r.Context["farm_version"] + " " + r.Context["farm"]
			rounds[on] = append(rounds[on], len(r.Iterations))
		}
	}
	if a, b := rounds["oriole 33 Firebase Test Lab"], rounds["MediumPhone.arm 34 Firebase Test Lab"]; !slices.Equal(a, []int{8, 8}) || !slices.Equal(b, []int{7, 7}) {
		t.Errorf("rounds of both builds: %v, want 8 on the one phone, and 7 on the other whose matrix failed once", rounds)
	}
}

// A device on which the test fails each time is reported as missing; the other is compared.
func TestFarmComparisonWithAFailingDevice(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 100, 100, 16)
	f.Breaks(firebase.Fails, state.Always)
	stdout, stderr := f.compare(3, "--rounds", "3")
	wants(t, stderr, "error: MediumPhone.arm 34, scenario start: no round is complete: round ", "the base build: the test failed, the app crashed, or the time was over; the head build: the test failed, the app")
	wants(t, stdout, "oriole")
}

// If the test leaves no results anywhere, the rounds end after two failed ones.
func TestFarmComparisonWithoutResults(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 100, 100, 16)
	f.Breaks(firebase.NoResults, state.Always)
	one := strings.Replace(fmt.Sprintf(onFarm, 16.0), "devices: [{model: oriole, version: 33}, {model: MediumPhone.arm, version: 34}]", "devices: [{model: oriole, version: 33}]", 1)
	clitest.WriteFile(t, filepath.Join(f.dir, "apkgate.yml"), strings.Replace(one, "parallel: 8", "parallel: 1", 1))
	_, stderr := f.compare(3, "--rounds", "8")
	wants(t, stderr, "is it a Macrobenchmark, and may it write to /sdcard/Download?", "it took 4 matrices, 8 minutes of devices, 0.67 USD")
}

// Nothing is started that could cost more than allowed, is on no device of the farm's, or lacks a
// login.
func TestFarmRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		maxUSD float64
		fails  string
		edit   [2]string
		status int
		said   []string
	}{
		"what could cost too much": {maxUSD: 15.99, status: 2, said: []string{"it could cost 16.00 USD, and farm.max-usd allows 15.99: nothing was started"}},
		"a device that is not there": {16, "", [2]string{"version: 34", "version: 29"}, 3,
			[]string{"the model MediumPhone.arm has no Android 29, but 33 and 34", "hint: gcloud firebase test android models list"}},
		"another workload": {16, "", [2]string{", macrobenchmark: true", ""}, 2, []string{"scenario start is no Macrobenchmark"}},
		"nobody logged in": {16, firebase.LoggedOut, [2]string{}, 3, []string{"You do not currently have an active account selected", "hint: log in: gcloud auth login"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t, 100, 100, c.maxUSD)
			clitest.WriteFile(t, filepath.Join(f.dir, "apkgate.yml"), strings.Replace(fmt.Sprintf(onFarm, c.maxUSD), c.edit[0], c.edit[1], 1))
			if c.fails != "" {
				f.Breaks(c.fails, state.Always)
			}
			_, stderr := f.compare(c.status, "--rounds", "8")
			wants(t, stderr, c.said...)
			if n := f.submitted(); n != 0 {
				t.Errorf("%d matrices were asked for", n)
			}
		})
	}
}

// Flags that don't apply to a farm are rejected, and not ignored.
func TestFarmRejectsOtherFlags(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 100, 100, 16)
	for _, flag := range []string{"--parallel=2", "--base-run=x.jsonl"} {
		f.compare(2, flag)
	}
	f.run(2, "run", "--farm", "--parallel=2")
	f.run(2, "collect", "--farm", "--merge=x")
	f.run(2, "collect", "--farm", "--shard=1/2", "--output=x.session")
}

// An exhausted quota ends the comparison, and cancels the other matrices.
func TestFarmQuota(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 100, 100, 1000)
	f.Breaks(firebase.Quota, state.Always)
	_, stderr := f.compare(3, "--rounds", "100")
	wants(t, stderr, "Not enough test quota", "hint: the project's quota of tests is used up")
	if n := f.submitted(); n > 32 {
		t.Errorf("%d matrices were asked for, want no more than were begun at once", n)
	}
}

// Whenever apkgate is killed or interrupted, its matrices on the farm are cancelled: by itself, by
// devices clean, or by the next comparison.
func TestKilledComparisonOnAFarm(t *testing.T) {
	t.Parallel()
	comparing := []string{"compare", "--base", "base.apk", "--head", "head.apk", "--farm", "--rounds", "1"}
	for name, c := range map[string]struct {
		breaks   string
		matrices int // that run by then
		signal   os.Signal
		args     []string
		next     []string
	}{
		"killed while matrices run, then devices clean": {firebase.Endless, 2, syscall.SIGKILL, comparing, []string{"devices", "clean"}},
		"killed while gcloud submits, then compared":    {firebase.SlowSubmit, 2, syscall.SIGKILL, comparing, comparing},
		"interrupted while matrices run":                {firebase.Endless, 2, os.Interrupt, comparing, nil},
		"interrupted while gcloud uploads":              {firebase.SlowUpload, 0, os.Interrupt, comparing, nil},
		"a run, killed while its matrix runs, then run": {firebase.Endless, 1, syscall.SIGKILL, []string{"run", "--farm"}, []string{"run", "--farm", "--resume"}},
		"a run, interrupted while its matrix runs":      {firebase.Endless, 1, os.Interrupt, []string{"run", "--farm"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t, 100, 100, 16)
			f.Breaks(c.breaks, state.Always)
			cmd, _, stderr := f.command(c.args...)
			asked := max(c.matrices, 2*(1-c.matrices))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
				if running, _ := firebase.Running(f.Folder); len(running) == c.matrices && f.submitted() == asked {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("nothing is submitted after a minute\n%s", stderr)
				}
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if c.next == nil && cmd.ProcessState.ExitCode() != 3 {
				t.Errorf("%v\n%s", cmd.ProcessState, stderr)
			}
			if c.breaks == firebase.SlowUpload {
				wants(t, stderr.String(), "Firebase Test Lab: it took 0 matrices, 0 minutes of devices, 0.00 USD; unknown for 2 more matrices, which ended before the farm reported a number: at most 40 minutes, 2.00 USD")
			}
			if c.breaks == firebase.SlowSubmit {
				f.Breaks(firebase.Endless, 2) // each once more, when it is looked at
				if err := f.Mend(c.breaks); err != nil {
					t.Fatal(err)
				}
			}
			if c.next != nil {
				if running, _ := firebase.Running(f.Folder); len(running) != asked {
					t.Errorf("%q go on after the kill, want %d: is the farm too kind?", running, asked)
				}
				if c.breaks == firebase.Endless {
					if err := f.Mend(c.breaks); err != nil {
						t.Fatal(err)
					}
					f.Breaks(firebase.Endless, asked) // each once more, when it is looked at
				}
				next, out, said := f.command(c.next...)
				if err := next.Run(); err != nil {
					t.Errorf("%v\n%s\n%s", err, out, said)
				}
				for i := range asked {
					wants(t, out.String()+said.String(), fmt.Sprintf("cancelling matrix-%dstandin", i+1))
				}
			}
			f.nothingLeft()
		})
	}
}

// doctor prints what is missing, and what each device costs.
func TestDoctorLooksAtTheFarm(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 100, 100, 16)
	cmd, out, said := f.command("doctor")
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	wants(t, out.String(), "farm firebase", "oriole 33 is available, physical: 5.00 USD an hour", "MediumPhone.arm 34 is available, virtual: 1.00 USD an hour")
	f.Breaks(firebase.LoggedOut, state.Always)
	cmd, out, said = f.command("doctor")
	_ = cmd.Run()
	wants(t, out.String(), "BAD account", "hint: log in: gcloud auth login")
	wants(t, said.String(), "Firebase Test Lab can't be used from here")
}
