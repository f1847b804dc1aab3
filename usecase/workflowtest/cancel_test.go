package workflowtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endless makes the gate measure for longer than any test waits.
func (r *repository) endless() {
	r.t.Helper()
	r.onOnePhone()
	file := filepath.Join(r.dir, "apkgate.yml")
	text, found := r.read(file), false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "repetitions:") {
			indent, _, _ := strings.Cut(line, "repetitions:")
			text, found = strings.Replace(text, line, indent+"repetitions: 1000\n", 1), true
		}
	}
	if !found {
		r.t.Fatalf("the demo's configuration has no repetitions:\n%s", text)
	}
	r.write(file, text)
	r.commit("measure for long")
	r.t.Cleanup(r.killOrphans)
}

// killOrphans ends the processes of a killed step: the runner does so after a job, and act does not.
// Those of this repository are identified by their PATH.
func (r *repository) killOrphans() {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		r.t.Error(err)
	}
	for _, dir := range dirs {
		environment, _ := os.ReadFile(filepath.Join(dir, "environ"))
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err == nil && pid != os.Getpid() && bytes.Contains(environment, []byte(r.bin)) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// The runner kills the emulator's step of a cancelled job; the step after it ends the check run.
func TestCancelledJobLeavesNoCheckInProgress(t *testing.T) {
	r := newRepository(t, "mail-good")
	r.endless()
	// The gate's own process survives act's kill of its parent here. The first answer after the
	// start of the check run never comes, so that the gate ends nothing by itself.
	begun, release := r.github.Hold("GET", "/compare/")
	defer release()
	r.interrupt = begun
	one := r.read(filepath.Join(r.dir, ".github/workflows/nightly.yml")) // a job that measures and shows it
	before, _, _ := strings.Cut(one, "\non:\n")
	_, after, _ := strings.Cut(one, "\npermissions:\n")
	one = strings.Replace(before+"\non: pull_request\n\npermissions:\n"+after, " --mode refresh", "", 1)
	r.write(filepath.Join(r.dir, ".github/workflows/one-job.yml"), one)
	j := r.run("one-job.yml", "pull_request", r.pullRequest(owner+"/"+name), "GITHUB_RUN_ID=100")
	if !j.failed {
		t.Error("the cancelled workflow succeeded")
	}
	checks := r.github.Checks()
	if len(checks) != 1 || checks[0].Status != "completed" || checks[0].Conclusion != "cancelled" {
		t.Errorf("the check runs are %+v, want one that is cancelled", checks)
	}
}

// The action's step is apkgate itself: the runner signals only the step's first process, and kills
// it 10 seconds later.
func TestSignalReachesTheGate(t *testing.T) {
	r := newRepository(t, "mail-good")
	r.endless()
	steps := readAction(t).Runs.Steps
	script := filepath.Join(r.home, "step.sh")
	r.write(script, steps[slices.IndexFunc(steps, func(s step) bool { return s.ID == "run" })].Run)
	event := filepath.Join(r.home, "event.json")
	r.write(event, marshal(t, r.pullRequest(owner+"/"+name)))
	build := exec.Command("./gradlew")
	build.Dir = r.dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	begun, release := r.github.Hold("GET", "/compare/")
	cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
	cmd.Dir = r.dir
	cmd.Env = append(r.environment(), "PATH="+filepath.Dir(program(t))+":"+os.Getenv("PATH"), "HOME="+r.home, "GITHUB_ACTIONS=true",
		"GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH="+event, "GITHUB_SHA="+r.head, "GITHUB_RUN_ID=100", "GITHUB_WORKSPACE="+r.dir,
		"RUNNER_TEMP="+t.TempDir(), "INPUT_GITHUB_TOKEN="+token)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-begun
	ended, letEnd := r.github.Hold("PATCH", "/check-runs/")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(7500 * time.Millisecond): // then it would be signaled again, and killed
		t.Error("no check run is ended within 7.5 seconds of the signal")
	}
	letEnd()
	release()
	_ = cmd.Wait()
	checks := r.github.Checks()
	if len(checks) != 1 || checks[0].Conclusion != "cancelled" {
		t.Errorf("the check runs are %+v, want one that is cancelled\n%s", checks, &out)
	}
}
