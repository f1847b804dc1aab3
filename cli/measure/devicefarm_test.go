package measure_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator/standin/aws"
	"github.com/apkgate/apkgate/simulator/standin/firebase"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

const onAWS = `app: {package: com.example.mail, apk: head.apk, test-apk: test.apk}
scenarios:
  - name: start
    workload: {instrumentation: {test-package: com.example.benchmark, class: com.example.StartBenchmark, macrobenchmark: true}}
farm:
  aws:
    project: ` + aws.Project + `
    devices: [{model: Google Pixel 6, version: 13}, {model: Samsung Galaxy S9 (Unlocked), version: 9}]
  parallel: 8
  max-usd: %g
`

// awsTest is a computer with a stand-in for aws, and two builds.
type awsTest struct{ farmTest }

func newAWS(t *testing.T, baseMS, headMS, maxUSD float64) awsTest {
	t.Helper()
	f := awsTest{newFarm(t, baseMS, headMS, maxUSD)}
	aws.Serve(t, f.Folder, firebase.Starts)
	clitest.WriteFile(t, filepath.Join(f.dir, "apkgate.yml"), fmt.Sprintf(onAWS, maxUSD))
	return f
}

// run runs a command, and checks that nothing is left.
func (f awsTest) run(wantStatus int, args ...string) (stdout, stderr string) {
	f.t.Helper()
	stdout, stderr = f.farmTest.run(wantStatus, args...)
	f.nothingLeft()
	if strings.Contains(stdout+stderr, aws.Signature) {
		f.t.Errorf("a signed address is shown:\n%s%s", stdout, stderr)
	}
	return stdout, stderr
}

func (f awsTest) compare(wantStatus int, args ...string) (stdout, stderr string) {
	f.t.Helper()
	return f.run(wantStatus, append(slices.Clone(ofBoth), args...)...)
}

func (f awsTest) nothingLeft() {
	f.t.Helper()
	f.farmTest.nothingLeft()
	if running, err := aws.Running(f.Folder); err != nil || len(running) > 0 {
		f.t.Errorf("runs that go on: %q, %v", running, err)
	}
	if left, _, err := aws.Uploads(f.Folder); err != nil || len(left) > 0 {
		f.t.Errorf("uploads that are left: %q, %v", left, err)
	}
}

// scheduled is the number of runs; each has its files while it runs.
func (f awsTest) scheduled() int {
	f.t.Helper()
	runs, err := aws.Runs(f.Folder)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, r := range runs {
		if r.Robbed {
			f.t.Errorf("%s lost a file that it needed", r.Name)
		}
	}
	return len(runs)
}

// Six rounds of a build whose starts take 30 % longer, on two phones. At most: 12 runs of 2 devices
// and 10 minutes, 240 min at 0.17 USD. Spent: each test took 1.2345 minutes, of which two are paid
// for.
func TestAWSComparesTwoBuilds(t *testing.T) {
	t.Parallel()
	f := newAWS(t, 100, 130, 40.8)
	f.Breaks(aws.Errored, 1)
	stdout, stderr := f.compare(1, "--rounds", "6", "--keep", "kept")
	bills := []string{
		"AWS Device Farm: 12 runs, at most 240 minutes of devices, 40.80 USD, of up to 10 minutes on Google Pixel 6 13 and Samsung Galaxy S9 (Unlocked) 9 each; what is free of charge is not subtracted",
		"AWS Device Farm: it took 12 runs, 48 minutes of devices, 8.16 USD",
	}
	document, err := os.ReadFile("../../docs/farms.md")
	if err != nil {
		t.Fatal(err)
	}
	wants(t, string(document), bills...)
	wants(t, stderr, append(bills, "warning: start on Samsung Galaxy S9 (Unlocked) 9 is incomplete: round ")...)
	wants(t, stdout, "Regression: time to initial display", "11 rounds on 2 devices", "Measured on AWS Device Farm: each round's two builds ran at about the same time on two phones of a model",
		"1 round is left out of both builds: round ", "Device Farm's own infrastructure failed")
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
	if a, b := rounds["Google Pixel 6 13 AWS Device Farm"], rounds["Samsung Galaxy S9 (Unlocked) 9 AWS Device Farm"]; !slices.Equal(a, []int{6, 6}) || !slices.Equal(b, []int{5, 5}) {
		t.Errorf("rounds of both builds: %v, want 6 on the one phone, and 5 on the other whose run failed once", rounds)
	}
	if n := f.scheduled(); n != 12 {
		t.Errorf("%d runs, want 12", n)
	}
}

// A phone on which the test fails each time is reported as missing; the other is compared.
func TestAWSComparisonWithAFailingPhone(t *testing.T) {
	t.Parallel()
	f := newAWS(t, 100, 100, 41)
	f.Breaks(aws.Fails, state.Always)
	stdout, stderr := f.compare(3, "--rounds", "2")
	wants(t, stderr, "error: Samsung Galaxy S9 (Unlocked) 9, scenario start: no round is complete: round ", "the base build: the test failed, the app crashed, or the time was over; the head build: the test failed, the app")
	wants(t, stdout, "Google Pixel 6")
}

// Nothing is uploaded for what could cost too much, is on an unknown phone, or lacks a login; and
// an exhausted limit leaves nothing behind.
func TestAWSRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		maxUSD  float64
		fails   string
		version string
		status  int
		said    []string
		uploads bool
	}{
		"what could cost too much":  {40.79, "", "9", 2, []string{"it could cost 40.80 USD, and farm.max-usd allows 40.79: nothing was started"}, false},
		"a phone that is not there": {41, "", "10", 3, []string{"the Samsung Galaxy S9 (Unlocked) has no Android 10, but 9", "hint: aws devicefarm list-devices"}, false},
		"nobody logged in":          {41, aws.LoggedOut, "9", 3, []string{"Unable to locate credentials", "hint: log in: aws configure sso"}, false},
		"a limit that is used up":   {41, aws.Limit, "9", 3, []string{"LimitExceededException", "hint: the account's limit is used up"}, true},
		"an APK that is not taken":  {41, aws.Refused, "9", 3, []string{"was refused: We could not open your file"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newAWS(t, 100, 100, c.maxUSD)
			clitest.WriteFile(t, filepath.Join(f.dir, "apkgate.yml"), strings.Replace(fmt.Sprintf(onAWS, c.maxUSD), "version: 9", "version: "+c.version, 1))
			if c.fails != "" {
				f.Breaks(c.fails, state.Always)
			}
			_, stderr := f.compare(c.status, "--rounds", "6")
			wants(t, stderr, c.said...)
			_, ever, err := aws.Uploads(f.Folder)
			if uploads := ever > 0; err != nil || uploads != c.uploads || f.scheduled() > 0 {
				t.Errorf("%d uploads and %d runs, %v", ever, f.scheduled(), err)
			}
		})
	}
}

// Whenever apkgate is killed or interrupted, its runs are stopped and its uploads are deleted: by
// itself, by devices clean, or by the next comparison.
func TestKilledComparisonOnAWS(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaks  string
		runs    int // in progress by then
		uploads int // that exist by then
		signal  os.Signal
		next    []string
	}{
		"killed while runs go on, then devices clean": {aws.Endless, 2, 4, syscall.SIGKILL, []string{"devices", "clean"}},
		"killed while aws schedules, then compared":   {aws.SlowSubmit, 2, 4, syscall.SIGKILL, []string{"compare", "--base", "base.apk", "--head", "head.apk", "--farm", "--rounds", "1"}},
		"interrupted while runs go on":                {aws.Endless, 2, 4, os.Interrupt, nil},
		"interrupted while files are sent":            {aws.SlowUpload, 0, 4, os.Interrupt, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newAWS(t, 100, 100, 41)
			f.Breaks(c.breaks, state.Always)
			cmd, _, stderr := f.command("compare", "--base", "base.apk", "--head", "head.apk", "--farm", "--rounds", "1")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
				running, _ := aws.Running(f.Folder)
				if _, ever, _ := aws.Uploads(f.Folder); len(running) == c.runs && ever == c.uploads {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("nothing is begun after a minute\n%s", stderr)
				}
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			if c.breaks == aws.SlowUpload {
				defer func() { _ = f.Mend(c.breaks) }()
			}
			_ = cmd.Wait()
			if c.next == nil && cmd.ProcessState.ExitCode() != 3 {
				t.Errorf("%v\n%s", cmd.ProcessState, stderr)
			}
			if c.breaks == aws.SlowSubmit {
				f.Breaks(aws.Endless, 2) // each once more, when it is looked at
				if err := f.Mend(c.breaks); err != nil {
					t.Fatal(err)
				}
			}
			if c.next != nil {
				if running, _ := aws.Running(f.Folder); len(running) != 2 {
					t.Errorf("%q go on after the kill, want both: is the farm too kind?", running)
				}
				next, out, said := f.command(c.next...)
				if err := next.Run(); err != nil {
					t.Errorf("%v\n%s\n%s", err, out, said)
				}
				wants(t, out.String()+said.String(), "/run-1", "/run-2", "stopping the run arn:aws:devicefarm:us-west-2:123456789012:run:")
			}
			f.nothingLeft()
		})
	}
}

// doctor prints what is missing, and what each phone costs.
func TestDoctorLooksAtAWS(t *testing.T) {
	t.Parallel()
	f := newAWS(t, 100, 100, 41)
	cmd, out, said := f.command("doctor")
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	wants(t, out.String(), "farm aws", "aws-cli/2.31.0", "mail-perf", "Google Pixel 6 13 is available: 10.20 USD an hour", "Samsung Galaxy S9 (Unlocked) 9 is available: 10.20 USD an hour")
	f.Breaks(aws.LoggedOut, state.Always)
	cmd, out, said = f.command("doctor")
	_ = cmd.Run()
	wants(t, out.String(), "BAD project", "hint: log in: aws configure sso")
	wants(t, said.String(), "AWS Device Farm can't be used from here")
}
