package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/simulator/standin/instance"
)

// bench is a computer with an emulator that apkgate boots and a permanent phone, neither of which
// ends with apkgate.
type bench struct {
	*testing.T
	lab   *standin.Lab
	dir   string
	phone string // its address
}

const benchConfig = `app: {package: com.example.demo, apk: app.apk}
scenarios:
  - {name: read, workload: &test {instrumentation: {test-package: com.example.demo, class: "com.example.demo.ReadMailTest#readsMail"}}, repetitions: 1, warm-up: 0, compile: none}
  - {name: again, workload: *test, repetitions: 1, warm-up: 0, compile: none}
conditions: {brightness: 40%%}
devices:
  - {name: booted, avd: {model: pixel_6, android: 34, abi: x86_64}}
  - {name: shelf, address: "%s"}
`

func newBench(t *testing.T) bench {
	t.Helper()
	l := standin.New(t, standin.Options{Rate: 8, Boots: 50 * time.Millisecond})
	shelf, err := instance.Detach(l.Folder, instance.Spec{Name: "shelf", Profile: "pixel-7-android-14"})
	if err != nil {
		t.Fatal(err)
	}
	b := bench{T: t, lab: l, dir: t.TempDir(), phone: "127.0.0.1:" + strconv.Itoa(shelf.ADB)}
	clitest.WriteFile(t, b.dir+"/app.apk", standin.App(1500*time.Millisecond, 1))
	clitest.WriteFile(t, b.dir+"/apkgate.yml", fmt.Sprintf(benchConfig, b.phone))
	return b
}

// command is apkgate as a process on the computer.
func (b bench) command(args ...string) (*exec.Cmd, *bytes.Buffer) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(b.lab.Environment(), clitest.CommandLine+"="+strings.Join(append(args, "--config", b.dir+"/apkgate.yml"), "\n"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	return cmd, &said
}

func (b bench) apkgate(args ...string) string {
	b.Helper()
	cmd, said := b.command(args...)
	if err := cmd.Run(); err != nil {
		b.Fatalf("%q: %v\n%s", args, err, said)
	}
	return said.String()
}

// state is what users would notice on the permanent phone: its settings, its apps, and what runs in
// the background.
func (b bench) state() map[string]string {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dev, err := adb.Dial(ctx, b.phone, adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }})
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	out := map[string]string{}
	for _, command := range []string{"settings list global", "settings list system", "settings list secure", "pm list packages"} {
		answer, err := dev.Exec(ctx, command)
		if err != nil || answer.ExitCode != 0 {
			b.Fatalf("%s: %v, %q", command, err, answer.Stdout)
		}
		out[command] = string(answer.Stdout)
	}
	return out
}

// left is what a killed apkgate has left on the computer, once it was cleaned.
func (b bench) left() error {
	leases, err := lease.List(b.lab.Path("cache", "apkgate", "leases"))
	if err == nil && len(leases) > 0 {
		err = fmt.Errorf("leases are left: %+v", leases)
	}
	if there := b.lab.Instances(); len(there) != 1 || there[0].Name != "shelf" {
		err = errors.Join(err, fmt.Errorf("these devices run, want the one that stays: %+v", there))
	}
	return err
}

// TestCleanAfterAKilledRun kills apkgate at random instants, while it boots an emulator,
// measures on it and on a permanent phone, or stops it. Each time devices clean leaves nothing: no
// emulator, no lease, no changed setting. --resume then has all runs in the end, each once.
func TestCleanAfterAKilledRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := b.state()
	began := time.Now()
	b.apkgate("collect", "--output", b.dir+"/undisturbed.jsonl")
	takes := time.Since(began)
	want := unitsOf(measuredRuns(t, fileOf(t, b.dir+"/undisturbed.jsonl")))
	if d := cmp.Diff(before, b.state()); d != "" {
		t.Fatalf("an undisturbed run changed the phone:\n%s", d)
	}
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	killed, through, changed, booted := 0, 0, 0, 0
	for kills := kills(t, 2); killed < kills; {
		cmd, said := b.command("collect", "--output", b.dir+"/runs.jsonl", "--resume")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(random.Int64N(int64(takes)))
		<-time.After(after)
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		if cmd.ProcessState.Exited() {
			if through++; through > 20*kills {
				t.Fatalf("apkgate was through before %d of %d kills", through, through+killed)
			}
			continue
		}
		killed++
		if leases, _ := lease.List(b.lab.Path("cache", "apkgate", "leases")); len(leases) > 0 {
			booted++
		}
		if cmp.Diff(before, b.state()) != "" {
			changed++
		}
		cleaned := b.apkgate("devices", "clean")
		if err := b.left(); err != nil {
			t.Fatalf("killed after %v: %v\n%s\n%s", after, err, said, cleaned)
		}
		if d := cmp.Diff(before, b.state()); d != "" {
			t.Fatalf("killed after %v, the phone is not as it was:\n%s\n%s\n%s", after, d, said, cleaned)
		}
	}
	said := b.apkgate("collect", "--output", b.dir+"/runs.jsonl", "--resume")
	if got := unitsOf(measuredRuns(t, fileOf(t, b.dir+"/runs.jsonl"))); !cmp.Equal(want, got) {
		t.Errorf("resumed: %v\nundisturbed: %v\n%s", got, want, said)
	}
	if d := cmp.Diff(before, b.state()); d != "" {
		t.Errorf("the phone is not as it was:\n%s", d)
	}
	if err := b.left(); err != nil {
		t.Error(err)
	}
	t.Logf("killed %d times within %v, and %d times through before: %d times a lease was left, %d times the phone was left changed", killed, takes.Round(time.Millisecond), through, booted, changed)
}

// unitsOf lists what was measured in real-time runs, whose numbers vary, and whether it is
// complete.
func unitsOf(runs []run.Run) (out []string) {
	for _, r := range runs {
		out = append(out, fmt.Sprintf("%s on %s: %s, %d repetitions", r.Scenario, r.Context["model"], r.Status, len(r.Iterations)))
	}
	return out
}
