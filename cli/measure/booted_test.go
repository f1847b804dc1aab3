package measure_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/usecase/exit"
)

// emulators is a configuration of emulators that apkgate boots.
const emulators = `app: {package: com.example.demo, apk: app.apk}
scenarios:
  - {name: read, workload: &test {instrumentation: {test-package: com.example.demo, class: "com.example.demo.ReadMailTest#readsMail"}}, repetitions: 1, warm-up: 0, compile: none}
  - {name: again, workload: *test, repetitions: 1, warm-up: 0, compile: none}
devices:
  - {name: six, avd: {model: pixel_6, android: 34, abi: x86_64}, count: 2}
`

// collecting is apkgate collect as a process, on a computer whose programs are stand-ins. end
// checks that it leaves nothing behind.
func collecting(t *testing.T, l *standin.Lab, configuration, app string, args ...string) (cmd *exec.Cmd, end func()) {
	t.Helper()
	dir := t.TempDir()
	clitest.WriteFile(t, filepath.Join(dir, "app.apk"), app)
	path := clitest.WriteFile(t, filepath.Join(dir, "apkgate.yml"), configuration)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(self)
	cmd.Env = append(l.Environment(), clitest.CommandLine+"="+strings.Join(append([]string{"collect", "--config", path}, args...), "\n"))
	return cmd, func() {
		t.Helper()
		left, err := lease.List(l.Path("cache", "apkgate", "leases"))
		if err != nil || len(left) > 0 {
			t.Errorf("leases that are left: %+v, %v", left, err)
		}
		if there := l.Instances(); len(there) > 0 {
			t.Errorf("emulators that are left: %+v", there)
		}
		if there := homes(t, l); len(there) > 0 {
			t.Errorf("AVDs that are left: %q", there)
		}
	}
}

// collectOn measures on the lab's emulators.
func collectOn(t *testing.T, l *standin.Lab, args ...string) (runs []run.Run, stderr string, err error) {
	t.Helper()
	cmd, end := collecting(t, l, emulators, standin.App(1500*time.Millisecond, 1), args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	for line := range strings.Lines(string(out)) {
		r, err := run.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	end()
	return runs, said.String(), err
}

// One emulator at a time is booted on a computer, for all of its runs, and is gone at the end with
// its lease.
func TestEmulatorsAreBootedForTheRuns(t *testing.T) {
	t.Parallel()
	l := standin.New(t, standin.Options{Rate: 8, Boots: 50 * time.Millisecond})
	runs, stderr, err := collectOn(t, l)
	if err != nil || len(runs) != 2 || runs[0].Scenario != "read" || runs[1].Scenario != "again" {
		t.Fatalf("%v, %d runs\n%s", err, len(runs), stderr)
	}
	if boots := started(l); boots != 1 {
		t.Errorf("%d emulators were started, want 1", boots)
	}
	if !strings.Contains(stderr, "2 devices are booted on this computer, one at a time: --parallel 2") {
		t.Errorf("nothing is said of the one that waits:\n%s", stderr)
	}
}

// An emulator that dies while it boots gets a fresh start.
func TestEmulatorThatDiesBooting(t *testing.T) {
	t.Parallel()
	l := standin.New(t, standin.Options{Rate: 8, Boots: 50 * time.Millisecond})
	l.Breaks("dies-booting", 1)
	runs, stderr, err := collectOn(t, l)
	if err != nil || len(runs) != 2 {
		t.Fatalf("%v, %d runs\n%s", err, len(runs), stderr)
	}
	if boots := started(l); boots < 2 {
		t.Errorf("%d emulators were started, want another after the one that died\n%s", boots, stderr)
	}
}

// If no emulator can run, each run is missing, with the reason.
func TestEmulatorsWithoutAcceleration(t *testing.T) {
	t.Parallel()
	l := standin.New(t, standin.Options{Rate: 8, Boots: 50 * time.Millisecond})
	l.Breaks("no-kvm", 1000)
	runs, stderr, err := collectOn(t, l, "--parallel", "2")
	if err == nil || len(runs) != 0 || strings.Count(stderr, "no device is left to make it") < 2 || !strings.Contains(stderr, "kvm") {
		t.Errorf("%v, %d runs\n%s", err, len(runs), stderr)
	}
}

// A signal stops the emulator, deletes what was created, and leaves no lease, whether it comes
// while the emulator is booted or later.
func TestSignalStopsTheEmulators(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal os.Signal
		until  func(*standin.Lab) int // counts what the signal waits for
	}{
		"an interrupt, once it runs":                  {os.Interrupt, func(l *standin.Lab) int { return len(l.Instances()) }},
		"a SIGTERM, once something is to be booted":   {syscall.SIGTERM, func(l *standin.Lab) int { return leases(t, l) }},
		"a SIGTERM, once the AVD is to be created":    {syscall.SIGTERM, func(l *standin.Lab) int { return len(homes(t, l)) }},
		"an interrupt, once the emulator was started": {os.Interrupt, started},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := standin.New(t, standin.Options{Rate: 1, Boots: 50 * time.Millisecond})
			cmd, end := collecting(t, l, emulators, standin.App(time.Minute, 1))
			var said bytes.Buffer
			cmd.Stderr = &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			deadline := time.Now().Add(time.Minute)
			for c.until(l) == 0 && time.Now().Before(deadline) {
				time.Sleep(5 * time.Millisecond)
			}
			if c.until(l) == 0 {
				t.Error("a minute is over before that")
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exit.StatusInfrastructure {
				t.Errorf("%v\n%s", err, &said)
			}
			end()
		})
	}
}

// Two commands that boot emulators at the same time use different ports, and each stops only its
// own.
func TestTwoCommandsBootAtOnce(t *testing.T) {
	t.Parallel()
	l := standin.New(t, standin.Options{Rate: 8, Boots: 50 * time.Millisecond})
	var both sync.WaitGroup
	ends := make([]func(), 2)
	for i := range ends {
		cmd, end := collecting(t, l, emulators, standin.App(1500*time.Millisecond, 1), "--parallel", "2")
		ends[i] = end
		both.Go(func() {
			var said bytes.Buffer
			cmd.Stderr = &said
			out, err := cmd.Output()
			if runs := strings.Count(string(out), "\n"); err != nil || runs != 2 {
				t.Errorf("%v, %d runs\n%s", err, runs, &said)
			}
		})
	}
	both.Wait()
	for _, end := range ends {
		end()
	}
}

func leases(t *testing.T, l *standin.Lab) int {
	all, err := lease.List(l.Path("cache", "apkgate", "leases"))
	if err != nil {
		t.Error(err)
	}
	return len(all)
}

// homes are the folders of the AVDs that were created.
func homes(t *testing.T, l *standin.Lab) []string {
	there, err := filepath.Glob(l.Path("cache", "apkgate", "avd", "*"))
	if err != nil {
		t.Error(err)
	}
	return there
}

// started is how many emulators have been started on a device.
func started(l *standin.Lab) (n int) {
	for _, line := range l.Called("emulator") {
		if strings.Contains(fmt.Sprint(line), "-avd") || strings.Contains(fmt.Sprint(line), "@") {
			n++
		}
	}
	return n
}
