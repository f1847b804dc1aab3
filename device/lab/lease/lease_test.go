package lease_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apkgate/apkgate/device/lab/lease"
)

// asHolder is the environment variable that makes the test binary a process that takes a lease
// in that folder, notes something and keeps it until it is killed or its standard input ends.
const asHolder = "LEASE_TEST_FOLDER"

// kept keeps the lease of such a process reachable: an unreachable file is closed, and with
// that unlocked.
var kept *lease.Held

func TestMain(m *testing.M) {
	if folder := os.Getenv(asHolder); folder != "" {
		var err error
		if kept, err = lease.Take(folder, "avd", "nightly"); err == nil {
			err = kept.Note("port", "5554")
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(kept.ID())
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// other starts another process that holds a lease, and returns the lease's name.
func other(t *testing.T, folder string) (*exec.Cmd, string) {
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
	line, err := bufio.NewReader(out).ReadString('\n')
	id := strings.TrimSpace(line)
	if err != nil || !lease.IsID(id) {
		t.Fatalf("the other process: %q, %v", line, err)
	}
	return cmd, id
}

func only(t *testing.T, folder string) lease.Lease {
	t.Helper()
	all, err := lease.List(folder)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v; want one lease", all, err)
	}
	return all[0]
}

func entries(t *testing.T, folder string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// Devices of a killed process can be stopped by any later process, and by none while it lives.
func TestLeaseOutlivesAKilledProcess(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "leases")
	process, id := other(t, folder)

	l := only(t, folder)
	if !l.InUse || l.ID != id || l.Kind != "avd" || l.Session != "nightly" || l.Detail["port"] != "5554" || l.Owner.PID != process.Process.Pid || l.Elsewhere() {
		t.Errorf("while its process lives: %+v", l)
	}
	if _, err := lease.Reclaim(folder, id); !errors.Is(err, lease.ErrInUse) {
		t.Errorf("reclaimed from a process that lives: %v", err)
	}

	process.Process.Kill()
	process.Wait()
	if l = only(t, folder); l.InUse || l.Detail["port"] != "5554" {
		t.Errorf("after its process was killed: %+v", l)
	}
	h, err := lease.Reclaim(folder, id)
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Lease(); got.Owner.PID != process.Process.Pid || got.Detail["port"] != "5554" {
		t.Errorf("reclaimed: %+v, want what the killed process noted", got)
	}
	if l = only(t, folder); !l.InUse {
		t.Error("a lease that was reclaimed is another's to reclaim")
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
	if left := entries(t, folder); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := lease.Reclaim(folder, id); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a lease that was released: %v", err)
	}
	if left := entries(t, folder); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestNote(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	h, err := lease.Take(folder, "genymotion", "")
	if err != nil {
		t.Fatal(err)
	}
	if !lease.IsID(h.ID()) {
		t.Errorf("the name %q is none", h.ID())
	}
	if err := errors.Join(h.For("pixel #2"), h.Note("uuid", "a"), h.Note("uuid", "b"), h.Note("path", `C:\"x"`+"\n")); err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]lease.Lease{"held": h.Lease(), "listed": only(t, folder)} {
		if l.Name != "pixel #2" || len(l.Detail) != 2 || l.Detail["uuid"] != "b" || l.Detail["path"] != `C:\"x"`+"\n" || l.Kind != "genymotion" {
			t.Errorf("%s: %+v", name, l)
		}
	}
	h.Lease().Detail["uuid"] = "c"
	if got := h.Lease().Detail["uuid"]; got != "b" {
		t.Errorf("changing a copy changes the lease: %q", got)
	}
	h.Leave()
	if l := only(t, folder); l.InUse || l.Detail["uuid"] != "b" {
		t.Errorf("left for others: %+v", l)
	}
	if err := h.Note("uuid", "d"); err == nil {
		t.Error("a lease that was given up takes notes")
	}
	if err := h.Release(); err != nil || only(t, folder).ID != h.ID() {
		t.Errorf("an abandoned lease is released by its former holder: %v", err)
	}
}

// A note that can't be stored is an error, and earlier notes stay.
func TestNoteThatIsTooLong(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	h, err := lease.Take(folder, "avd", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Note("pid", "12"); err != nil {
		t.Fatal(err)
	}
	if err := h.Note("pid", strings.Repeat("1", 5000)); err == nil || !strings.Contains(err.Error(), h.ID()) {
		t.Errorf("a value of 5000 bytes: %v", err)
	}
	if err := h.Note("", "1"); err == nil {
		t.Error("a note without a name is taken")
	}
	for i := range 64 {
		err = h.Note(fmt.Sprint("key", i), strings.Repeat("x", 100))
	}
	if err == nil {
		t.Error("65 details are taken")
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := h.Note("pid", "13"); err == nil || h.Lease().Detail["pid"] != "12" {
		t.Errorf("without a folder: %v, noted %q", err, h.Lease().Detail["pid"])
	}
}

// A file that is not a lease is reported, with a hint, in addition to the others.
func TestListReportsBrokenFiles(t *testing.T) {
	t.Parallel()
	const id = "apkgate-torn"
	whole := `{"format":"apkgate.lease/1","id":"` + id + `","kind":"avd","owner":{"pid":1,"since":"2026-01-01T00:00:00Z"}}`
	for name, text := range map[string]string{
		"torn": whole[:40], "empty": "", "of another format": strings.Replace(whole, "lease/1", "lease/2", 1),
		"of another name":             strings.Replace(whole, id, "apkgate-other", 1),
		"with a path for a name":      strings.Replace(whole, id, "../../apkgate-torn", 1),
		"with a long kind":            strings.Replace(whole, `"avd"`, `"`+strings.Repeat("x", 5000)+`"`, 1),
		"with a long name":            strings.Replace(whole, `"kind"`, `"name":"`+strings.Repeat("x", 5000)+`","kind"`, 1),
		"with a long session":         strings.Replace(whole, `"kind"`, `"session":"`+strings.Repeat("x", 5000)+`","kind"`, 1),
		"without a kind":              strings.Replace(whole, `"avd"`, `""`, 1),
		"with a list for a detail":    strings.Replace(whole, `"kind"`, `"detail":[],"kind"`, 1),
		"with an unnamed detail":      strings.Replace(whole, `"kind"`, `"detail":{"":"x"},"kind"`, 1),
		"with a detail of 5000 bytes": strings.Replace(whole, `"kind"`, `"detail":{"x":"`+strings.Repeat("x", 5000)+`"},"kind"`, 1),
		"too large":                   whole + strings.Repeat(" ", 1<<17),
		"of nothing but zeros":        strings.Repeat("\x00", 500),
	} {
		folder := t.TempDir()
		path := filepath.Join(folder, id+".json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := lease.Take(folder, "avd", "")
		if err != nil {
			t.Fatal(err)
		}
		all, err := lease.List(folder)
		var broken *lease.BrokenError
		if len(all) != 1 || all[0].ID != h.ID() || !errors.As(err, &broken) || broken.Path != path || !strings.Contains(broken.Hint(), id) {
			t.Errorf("%s: %v, %v; want the whole lease and the path of the other", name, all, err)
		}
		if _, err := lease.Reclaim(folder, id); !errors.As(err, &broken) {
			t.Errorf("%s: reclaimed: %v", name, err)
		}
	}
	folder := t.TempDir()
	const noID = "apkgate-Of_Another_Form"
	if err := os.WriteFile(filepath.Join(folder, noID+".json"), []byte(strings.Replace(whole, id, noID, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := lease.List(folder); len(all) != 0 || err == nil || !strings.Contains(err.Error(), noID) {
		t.Errorf("of a name that no lease has: %v, %v", all, err)
	}
	folder = t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, id+".json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if all, err := lease.List(folder); len(all) != 0 || err == nil {
		t.Errorf("a folder called like a lease: %v, %v", all, err)
	}
	if _, err := lease.Reclaim(folder, "../"+id); err == nil {
		t.Error("reclaimed from outside of the folder")
	}
}

// The files of a process that was killed while it took or released a lease do not stay for
// ever.
func TestListRemovesStrayFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"apkgate-killed.lock", "apkgate-killed.next", "notes.txt", "notes.json", "other.lock"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := lease.List(folder)
	if len(all) != 0 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	if left := entries(t, folder); strings.Join(left, " ") != "notes.json notes.txt other.lock" {
		t.Errorf("left: %v, want what is not ours alone", left)
	}
	if all, err := lease.List(filepath.Join(folder, "none")); len(all) != 0 || err != nil {
		t.Errorf("without a folder: %v, %v", all, err)
	}
	if _, err := lease.List(filepath.Join(folder, "notes.txt")); err == nil {
		t.Error("a file is listed as a folder")
	}
	if _, err := lease.Take(filepath.Join(folder, "notes.txt"), "avd", ""); err == nil {
		t.Error("a lease was taken in a file")
	}
}

// Leases are taken, noted in, listed and released concurrently, and none of them is lost or
// read half-written.
func TestConcurrentLeases(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	const many = 8
	var wg sync.WaitGroup
	for range many {
		wg.Go(func() {
			h, err := lease.Take(folder, "avd", "")
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 5 {
				if err := h.Note("step", fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
				all, err := lease.List(folder)
				if err != nil {
					t.Error(err)
				}
				for _, l := range all {
					if l.ID == h.ID() && (!l.InUse || l.Detail["step"] != fmt.Sprint(i)) {
						t.Errorf("listed %+v, want step %d, in use", l, i)
					}
				}
			}
			if err := h.Release(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := lease.List(folder); err != nil {
		t.Error(err)
	}
	if left := entries(t, folder); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A lease in a home directory that computers share reports that it is another computer's.
func TestALeaseOfAnotherComputer(t *testing.T) {
	t.Parallel()
	var l lease.Lease
	if l.Owner.Host = "build-7.example.com"; !l.Elsewhere() {
		t.Error("it is taken for one of this computer")
	}
	if l.Owner.Host = ""; l.Elsewhere() {
		t.Error("whose it is is not known, and it is taken for another's")
	}
}

// A note that can't be written is an error, and does not count as noted.
func TestNoteThatCanNotBeWritten(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	h, err := lease.Take(folder, "avd", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, inTheWay := range map[string]string{"the new file": h.ID() + ".next", "the file": h.ID() + ".json"} {
		path := filepath.Join(folder, inTheWay)
		os.Remove(path)
		if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := h.Note("pid", "13"); err == nil || h.Lease().Detail["pid"] != "" {
			t.Errorf("a folder in the place of %s: %v, noted %q", name, err, h.Lease().Detail["pid"])
		}
		os.RemoveAll(path)
	}
	if err := h.Note("pid", "13"); err != nil || only(t, folder).Detail["pid"] != "13" {
		t.Errorf("with nothing in the way: %v", err)
	}
}

func FuzzLease(f *testing.F) {
	const id = "apkgate-fuzzed"
	f.Add([]byte(`{"format":"apkgate.lease/1","id":"` + id + `","kind":"avd","detail":{"a":"b"},"owner":{"pid":1,"since":"2026-01-01T00:00:00Z"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, id+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := lease.List(folder)
		if len(all) == 0 && err == nil || len(all) == 1 && (all[0].ID != id || all[0].InUse || err != nil) {
			t.Errorf("%q: %v, %v", text, all, err)
		}
	})
}
