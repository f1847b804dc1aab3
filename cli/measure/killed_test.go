package measure_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/simulator/standin/instance"
)

// knownWithin is the promised limit for a device that dies, doubled for a busy computer.
const knownWithin = 10 * time.Second

// plays reports whether the app runs on an emulator: a repetition is under way.
func plays(t *testing.T, r instance.Running) bool {
	t.Helper()
	d, err := adb.Dial(t.Context(), fmt.Sprintf("127.0.0.1:%d", r.ADB), adb.Options{})
	if err != nil {
		return false // it is still booting, or has gone
	}
	defer d.Close()
	out, err := d.Exec(t.Context(), "pidof com.example.demo")
	return err == nil && strings.TrimSpace(string(out.Stdout)) != ""
}

// killing measures on the lab's emulators, of which so many are killed while the app runs on them,
// and returns the longest time from a kill until its effect on the run is reported.
func killing(t *testing.T, configuration string, kills int, args ...string) (runs []run.Run, stderr string, longest time.Duration, err error) {
	t.Helper()
	l := standin.New(t, standin.Options{Rate: 8, Boots: 50 * time.Millisecond})
	cmd, end := collecting(t, l, configuration, standin.App(24*time.Second, 1), args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	said, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd.Stderr = writer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	ended, told := make(chan struct{}), make(chan time.Time, 100)
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(said); lines.Scan(); {
			stderr += lines.Text() + "\n"
			if strings.Contains(lines.Text(), "the run of read is ") {
				told <- time.Now()
			}
		}
	}()
	var killed []int
	for len(killed) < kills {
		select {
		case <-ended:
			t.Fatalf("it is over after %d of %d kills\n%s", len(killed), kills, stderr)
		case <-time.After(10 * time.Millisecond):
		}
		for _, r := range l.Instances() {
			if slices.Contains(killed, r.PID) || !plays(t, r) {
				continue
			}
			at := time.Now()
			r.Kill()
			killed = append(killed, r.PID)
			select {
			case when := <-told:
				longest = max(longest, when.Sub(at))
			case <-time.After(time.Minute):
				t.Errorf("nothing is told of an emulator that was killed")
			}
			break
		}
	}
	<-ended
	err = cmd.Wait()
	for line := range strings.Lines(out.String()) {
		r, err := run.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	end()
	return runs, stderr, longest, err
}

// The death of an emulator that is killed while it measures is detected at once, and it is not
// waited for: its run is made again on the other, with a warning.
func TestEmulatorThatIsKilledWhileItMeasures(t *testing.T) {
	t.Parallel()
	runs, stderr, longest, err := killing(t, emulators, 1, "--scenario", "read")
	if err != nil || len(runs) != 1 || runs[0].Status != run.Complete || len(runs[0].Iterations) != 1 {
		t.Fatalf("%v, runs %+v\n%s", err, runs, stderr)
	}
	if longest > knownWithin {
		t.Errorf("it took %v until the loss was known", longest)
	}
	named := slices.ContainsFunc(runs[0].Warnings, func(w run.Warning) bool {
		return strings.HasPrefix(w.Text, "started again, and earlier measurements are not counted: six #1: the device is gone: it was ended by the signal")
	})
	if !named {
		t.Errorf("the run does not say what was lost: %+v\n%s", runs[0].Warnings, stderr)
	}
}

// If no other is left, the emulator is booted again once, and the run is then missing, with the
// reason; nothing of either is left.
func TestEmulatorThatIsKilledTwice(t *testing.T) {
	t.Parallel()
	runs, stderr, longest, err := killing(t, strings.Replace(emulators, "count: 2", "count: 1", 1), 2)
	if longest > knownWithin {
		t.Errorf("it took %v until the loss was known", longest)
	}
	if err == nil || len(runs) != 0 || !strings.Contains(stderr, "the run of read is started again: ") ||
		!strings.Contains(stderr, "the run of read is failed: ") || strings.Count(stderr, "it was ended by the signal") < 3 {
		t.Errorf("%v, %d runs\n%s", err, len(runs), stderr)
	}
}
