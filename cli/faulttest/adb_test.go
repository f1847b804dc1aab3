package faulttest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/adb/adbtest"
	"github.com/apkgate/apkgate/device/devicelock"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// watchedClock is a phone's clock that calls back some seconds after its app was started for the
// n-th time.
type watchedClock struct {
	device.Clock
	phone *simulator.Simulated
	n     int
	then  func()
}

// started returns how many processes drew on the phone, and when the last one began to.
func (c *watchedClock) started() (n int, last time.Duration) {
	pids := map[int32]bool{}
	for _, l := range c.phone.Phone.Timeline().Layers {
		pids[l.PID] = true
		last = max(last, l.Opened)
	}
	return len(pids), last
}

func (c *watchedClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := c.Clock.Sleep(ctx, d); err != nil {
		return err
	}
	if n, last := c.started(); c.then != nil && n >= c.n && c.Now() > last+3*time.Second {
		c.then()
		c.then = nil
	}
	return nil
}

// TestAdbServerDiesDuringARun has a real adb server between apkgate and a simulated phone, and
// kills it during the second repetition.
func TestAdbServerDiesDuringARun(t *testing.T) {
	addr, process := adbtest.Server(t)
	phone, err := simulator.Start(clitest.FaultyPhone, 1, simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { phone.Close() })
	if _, err := adb.NewServer(addr, adb.Options{}).Connect(t.Context(), phone.Address()); err != nil {
		t.Fatal(err)
	}
	l := clitest.NewLab(t, "demo-good", "")
	l.Edit("simulated: "+clitest.FaultyPhone, "serial: "+phone.Address())
	before := l.Export()

	clock := &watchedClock{phone.Clock(), phone, 3, func() {
		process.Process.Kill()
		process.Wait()
	}}
	var stdout, stderr bytes.Buffer
	c := terminal.Console{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now, Clock: clock,
		Getenv: func(name string) string {
			return map[string]string{"ADB_SERVER_SOCKET": "tcp:" + addr}[name]
		},
	}
	status := cli.Main(c, []string{"run", "--config", l.Path("apkgate.yml"), "--store", l.Path("history.db")})
	if status != exit.StatusInfrastructure {
		t.Errorf("exit status %d, want %d\n%s", status, exit.StatusInfrastructure, &stderr)
	}
	message, hint := clitest.Complaint(t, clitest.Result{Stderr: stderr.String()})
	for _, want := range []string{phone.Address(), "scenario read-mail, repetition 2", "no adb server"} {
		if !strings.Contains(message, want) {
			t.Errorf("%q says nothing of %q", message, want)
		}
	}
	if !strings.Contains(hint, "adb start-server") {
		t.Errorf("hint %q, want how to start the server", hint)
	}
	if !strings.Contains(stderr.String(), "repetition 2 is lost") {
		t.Errorf("stderr %q: want the second repetition lost", &stderr)
	}
	if diff := cmp.Diff(wholeBut(run.Partial, "wifi"), l.Kept(before)); diff != "" {
		t.Errorf("runs in the history (-want +got):\n%s", diff)
	}
}

// firstSaid calls back at the first write.
type firstSaid struct {
	bytes.Buffer
	what string
	then func()
	said bool
}

func (f *firstSaid) Write(p []byte) (int, error) {
	n, err := f.Buffer.Write(p)
	if !f.said && strings.Contains(f.String(), f.what) {
		f.said = true
		f.then()
	}
	return n, err
}

// TestTwoRunsOfOnePhoneTakeTurns has somebody else use the phone until the run reports that it
// waits.
func TestTwoRunsOfOnePhoneTakeTurns(t *testing.T) {
	t.Parallel()
	phone, err := simulator.Start(clitest.FaultyPhone, 1, simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { phone.Close() })
	l := clitest.NewLab(t, "demo-good", "")
	clitest.WriteFile(t, l.Path("apkgate.yml"), fmt.Sprintf(clitest.LabConfig, "demo-good", "wifi", "  - {address: \""+phone.Address()+"\", name: shelf}\n"))
	other, err := devicelock.Take(devicelock.Folder(), phone.Address(), devicelock.Me(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	want := fmt.Sprintf("@%s (pid %d) since ", host, os.Getpid())
	stderr := &firstSaid{what: want, then: other.Release}
	c := terminal.Console{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: stderr, Now: time.Now, Clock: phone.Clock(),
		Getenv: func(name string) string { return map[string]string{"HOME": l.Dir}[name] },
	}
	status := cli.Main(c, []string{"collect", "--config", l.Path("apkgate.yml"), "--output", l.Path("runs.jsonl")})
	if status != exit.StatusPass || !stderr.said {
		t.Errorf("exit status %d, want %d, after %q\n%s", status, exit.StatusPass, want, stderr)
	}
	again, err := devicelock.Take(devicelock.Folder(), phone.Address(), devicelock.Me(time.Now()))
	if err != nil {
		t.Fatalf("after the run the phone is %v, want it free", err)
	}
	again.Release()
}
