package claim_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/claim"
)

// asHolder is the environment variable that makes the test's own program a process
// that holds the device in that folder until it is killed.
const asHolder = "CLAIM_TEST_FOLDER"

const phone = "10.0.0.7:5555"

func TestMain(m *testing.M) {
	if folder := os.Getenv(asHolder); folder != "" {
		_, err := claim.Take(folder, phone, time.Now())
		fmt.Println(err)
		select {}
	}
	os.Exit(m.Run())
}

// other is another process that holds the device.
func other(t *testing.T, folder string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asHolder+"="+folder)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "<nil>\n" {
		t.Fatalf("the other process: %q, %v", line, err)
	}
	return cmd
}

func TestADeviceIsUsedByOneProcess(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "devices")
	process := other(t, folder)

	_, err := claim.Take(folder, phone, time.Now())
	var held *claim.HeldError
	if !errors.As(err, &held) || held.Holder.PID != process.Process.Pid || time.Since(held.Holder.Since).Abs() > time.Minute {
		t.Fatalf("%v, want that process %d holds it", err, process.Process.Pid)
	}
	if want := fmt.Sprintf("in use by apkgate (pid %d) since %s", process.Process.Pid, held.Holder.Since.Local().Format("15:04")); err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	free, err := claim.Take(folder, "10.0.0.7:5556", time.Now())
	if err != nil {
		t.Errorf("another device: %v", err)
	}
	free.Release()

	// Whoever waits goes on as soon as the other process is gone, killed or not.
	var told []claim.Holder
	c, err := claim.Wait(t.Context(), folder, phone, time.Minute, func(h claim.Holder) {
		told = append(told, h)
		process.Process.Kill()
	})
	if err != nil || len(told) != 1 || told[0].PID != process.Process.Pid {
		t.Fatalf("%v, told of %v; want to be told once", err, told)
	}
	c.Release()
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAHeldDeviceIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c, err := claim.Take(folder, phone, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	var held *claim.HeldError
	if _, err := claim.Wait(t.Context(), folder, phone, 0, nil); !errors.As(err, &held) || held.Holder.PID != os.Getpid() {
		t.Errorf("when the time is over: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := claim.Wait(ctx, folder, phone, time.Hour, func(claim.Holder) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("at an interrupt: %v", err)
	}
}

// What stands in the file is for the reader alone: it locks nobody out.
func TestAFileWithoutAHolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "10.0.0.7%3A5555.lock")
	if err := os.WriteFile(path, []byte(strings.Repeat("garbage", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := claim.Take(folder, phone, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	if err := os.WriteFile(path, []byte(`{"pid": "`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := claim.Take(folder, phone, time.Now()); err == nil || err.Error() != "in use by another apkgate" {
		t.Errorf("%v", err)
	}
	if _, err := claim.Take(filepath.Join(path, "x"), phone, time.Now()); err == nil || !strings.Contains(err.Error(), phone) {
		t.Errorf("no folder: %v, want what could not be claimed", err)
	}
}
