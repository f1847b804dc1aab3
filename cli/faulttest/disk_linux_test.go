package faulttest_test

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
)

// smallDisk is a file system of one megabyte, if this process may mount one.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("mount a small file system, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// fillUp fills the disk except for so many bytes.
func fillUp(t *testing.T, dir string, left int64) (ballast string) {
	t.Helper()
	ballast = filepath.Join(dir, "ballast")
	file, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = file.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill the disk: %v", err)
	}
	end, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		err = file.Truncate(end - left)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ballast
}

// The disk of the history is full, or fills up while runs are stored: the error says so, earlier
// runs are kept, and once there is room the same command works.
func TestFullDiskOfTheHistory(t *testing.T) {
	for name, left := range map[string]int64{"from the start": 0, "in the middle": 64 << 10} {
		t.Run(name, func(t *testing.T) {
			l := clitest.NewLab(t, "demo-good", "")
			disk := smallDisk(t)
			if err := os.CopyFS(disk, os.DirFS(l.Dir)); err != nil {
				t.Fatal(err)
			}
			l.Dir = disk
			before := l.Export()
			ballast := fillUp(t, disk, left)
			got := l.Apkgate("run")
			if got.Status != exit.StatusInfrastructure {
				t.Errorf("exit status %d, want %d", got.Status, exit.StatusInfrastructure)
			}
			message, hint := clitest.Complaint(t, got)
			if !strings.Contains(message, "history.db: the disk is full") || !strings.Contains(hint, "Free some space") {
				t.Errorf("%q, %q, want that the disk is full, and what to do", message, hint)
			}
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			if added := l.Kept(before); len(added) != 0 {
				t.Errorf("runs that could not be stored are in the history: %v", added)
			}
			if got := l.Apkgate("run"); got.Status != exit.StatusPass {
				t.Errorf("once there is room: %+v", got)
			}
			if diff := cmp.Diff(wholeBut(run.Complete, "wifi"), l.Kept(before)); diff != "" {
				t.Errorf("runs in the history (-want +got):\n%s", diff)
			}
		})
	}
}

// Commands that only read a history work where nothing can be written: on a read-only mount, and on
// a full disk.
func TestHistoryOnAReadOnlyOrFullDisk(t *testing.T) {
	l := clitest.NewLab(t, "demo-good", "")
	disk := smallDisk(t)
	if err := os.CopyFS(disk, os.DirFS(l.Dir)); err != nil {
		t.Fatal(err)
	}
	l.Dir = disk
	runs := filepath.Join(t.TempDir(), "runs.jsonl")
	reading := [][]string{
		{"baseline", "list"},
		{"baseline", "verify"},
		{"baseline", "contexts"},
		{"baseline", "export"},
		{"noise"},
		{"check", "--run", runs},
	}
	exported := l.Apkgate("baseline", "export")
	if exported.Status != exit.StatusPass {
		t.Fatalf("%+v", exported)
	}
	if err := os.WriteFile(runs, []byte(exported.Stdout), 0o644); err != nil {
		t.Fatal(err)
	}
	stored := l.Export()
	id := slices.Sorted(maps.Keys(stored))[0]
	reading = append(reading, []string{"baseline", "show", id}, []string{"baseline", "anrs"}, []string{"baseline", "evidence", id},
		[]string{"baseline", "list", "--format", "json"})
	want := map[int]clitest.Result{}
	for i, args := range reading {
		if want[i] = l.Apkgate(args...); want[i].Status != exit.StatusPass {
			t.Fatalf("%q: %+v", args, want[i])
		}
	}
	check := func(t *testing.T) {
		t.Helper()
		for i, args := range reading {
			if got := l.Apkgate(args...); got.Status != want[i].Status || got.Stdout != want[i].Stdout {
				t.Errorf("%q: status %d, %.300s\nwant %d, %.300s\nit says %.300s", args, got.Status, got.Stdout, want[i].Status, want[i].Stdout, got.Stderr)
			}
		}
	}
	t.Run("full disk", func(t *testing.T) {
		ballast := fillUp(t, disk, 0)
		defer os.Remove(ballast)
		check(t)
	})
	t.Run("read-only bind mount", func(t *testing.T) {
		bound := t.TempDir()
		if err := syscall.Mount(disk, bound, "", syscall.MS_BIND, ""); err != nil {
			t.Skipf("mount it at another place: %v", err)
		}
		defer func() { _ = syscall.Unmount(bound, 0) }()
		if err := syscall.Mount("", bound, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Skipf("mount it read-only: %v", err)
		}
		l.Dir = bound
		defer func() { l.Dir = disk }()
		check(t)
	})
	t.Run("read-only mount", func(t *testing.T) {
		if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Skipf("mount it read-only: %v", err)
		}
		check(t)
		got := l.Apkgate("baseline", "reject", id)
		if message, _ := clitest.Complaint(t, got); got.Status != exit.StatusInfrastructure || !strings.Contains(message, "can't be written") {
			t.Errorf("a command that writes: %+v", got)
		}
	})
}
