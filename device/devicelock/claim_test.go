package devicelock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/devicelock"
)

// asHolder is the environment variable that makes the test binary a process that holds the
// device in that folder until it is killed or its standard input ends.
const asHolder = "CLAIM_TEST_FOLDER"

const phone = "10.0.0.7:5555"

// kept keeps the claim of such a process reachable: an unreachable file is closed, and with
// that unlocked.
var kept *devicelock.Claim

func TestMain(m *testing.M) {
	if folder := os.Getenv(asHolder); folder != "" {
		var err error
		kept, err = devicelock.Take(folder, phone, devicelock.Me(time.Now()))
		fmt.Println(err)
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// other starts another process that holds the device.
func other(t *testing.T, folder string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asHolder+"="+folder)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		stdin.Close()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "<nil>\n" {
		t.Fatalf("the other process: %q, %v", line, err)
	}
	return cmd
}

func TestClaimIsExclusive(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "devices")
	process := other(t, folder)

	_, err := devicelock.Take(folder, phone, devicelock.Me(time.Now()))
	var held *devicelock.HeldError
	if !errors.As(err, &held) || held.Owner.PID != process.Process.Pid || time.Since(held.Owner.Since).Abs() > time.Minute {
		t.Fatalf("%v, want that process %d holds it", err, process.Process.Pid)
	}
	host, _ := os.Hostname()
	me, err2 := user.Current()
	if err2 != nil {
		t.Fatal(err2)
	}
	if want := fmt.Sprintf("in use by %s@%s (pid %d) since %s", me.Username, host, process.Process.Pid, held.Owner.Since.Local().Format("15:04")); err.Error() != want {
		t.Errorf("%q, want who it is and since when: %q", err, want)
	}
	free, err := devicelock.Take(folder, "10.0.0.7:5556", devicelock.Me(time.Now()))
	if err != nil {
		t.Errorf("another device: %v", err)
	}
	free.Release()

	// A waiter proceeds as soon as the other process ends, killed or not.
	var told []devicelock.Owner
	c, err := devicelock.Wait(t.Context(), folder, phone, devicelock.Me(time.Now()), time.Minute, func(h devicelock.Owner) {
		told = append(told, h)
		process.Process.Kill()
	})
	if err != nil || len(told) != 1 || told[0].PID != process.Process.Pid {
		t.Fatalf("%v, reported %v; want one report", err, told)
	}
	c.Release()
	if left, err := filepath.Glob(filepath.Join(folder, "*.lock")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWaitIsLimited(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c, err := devicelock.Take(folder, phone, devicelock.Me(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	var held *devicelock.HeldError
	if _, err := devicelock.Wait(t.Context(), folder, phone, devicelock.Me(time.Now()), 0, nil); !errors.As(err, &held) || held.Owner.PID != os.Getpid() {
		t.Errorf("when the time is over: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := devicelock.Wait(ctx, folder, phone, devicelock.Me(time.Now()), time.Hour, func(devicelock.Owner) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("at an interrupt: %v", err)
	}
	// A cancelled waiter does not start to wait again.
	_, err = devicelock.Wait(ctx, folder, phone, devicelock.Me(time.Now()), time.Hour, func(h devicelock.Owner) { t.Errorf("reported a wait for %v", h) })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The file's contents are informational and lock nobody out.
func TestTakeIgnoresTheContentsOfTheFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "10.0.0.7%3A5555.lock")
	if err := os.WriteFile(path, []byte(strings.Repeat("garbage", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := devicelock.Take(folder, phone, devicelock.Me(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	if err := os.WriteFile(path, []byte(`{"pid": "`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := devicelock.Take(folder, phone, devicelock.Me(time.Now())); err == nil || err.Error() != "in use by another apkgate" {
		t.Errorf("%v", err)
	}
	if _, err := devicelock.Take(filepath.Join(path, "x"), phone, devicelock.Me(time.Now())); err == nil || !strings.Contains(err.Error(), phone) {
		t.Errorf("no folder: %v, want what could not be claimed", err)
	}
}
