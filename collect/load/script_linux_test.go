package load

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
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

// running is the script in a real mksh, Android's shell, with this computer's dd, head and curl.
type running struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	ended chan error
}

func runScript(t *testing.T, seconds int, args ...any) *running {
	t.Helper()
	for _, need := range []string{"mksh", "dd", "timeout"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skipf("there is no %s here", need)
		}
	}
	r := &running{t: t, dir: t.TempDir(), ended: make(chan error, 1)}
	file := filepath.Join(r.dir, "apkgate-load.sh")
	for name, text := range map[string]string{file: script, filepath.Join(r.dir, "apkgate-load-on"): ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(r.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	words := []string{file, strconv.Itoa(seconds)}
	for _, a := range args {
		words = append(words, fmt.Sprint(a))
	}
	r.cmd = exec.Command("mksh", words...)
	r.cmd.Stdout, r.cmd.Stderr = log, log
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.ended <- r.cmd.Wait() }()
	t.Cleanup(func() { _ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) })
	return r
}

func (r *running) log() string {
	text, _ := os.ReadFile(filepath.Join(r.dir, "log"))
	return string(text)
}

// until waits until the condition holds.
func (r *running) until(what string, holds func() bool) {
	r.t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			r.t.Fatalf("not within a minute: %s; the script said %q", what, r.log())
		}
	}
}

// processes returns what the script's processes use: how many of each name there are, their resident
// memory in bytes, and their CPU time.
func (r *running) processes() (names map[string]int, rss int64, cpu time.Duration) {
	names = map[string]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, _ := os.ReadFile(name)
		open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
		if open < 0 || end < 0 {
			continue
		}
		f := strings.Fields(string(text[end+1:])) // from state, the third, on
		if len(f) < 22 || f[2] != strconv.Itoa(r.cmd.Process.Pid) || f[0] == "Z" {
			continue
		}
		names[string(text[open+1:end])]++
		pages, _ := strconv.ParseInt(f[21], 10, 64)
		rss += pages * int64(os.Getpagesize())
		for _, ticks := range f[11:13] { // user and system
			n, _ := strconv.Atoi(ticks)
			cpu += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return names, rss, cpu
}

// over waits for the script's end and checks that nothing is left.
func (r *running) over() {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(time.Minute):
		r.t.Fatalf("the script still runs; it said %q", r.log())
	}
	r.until("all processes are gone", func() bool { names, _, _ := r.processes(); return len(names) == 0 })
	if left, _ := filepath.Glob(filepath.Join(r.dir, "apkgate-load-w*")); len(left) > 0 {
		r.t.Errorf("left behind: %q", left)
	}
}

func (r *running) said(lines ...string) bool {
	all := strings.Split(strings.TrimSpace(r.log()), "\n")
	return !slices.ContainsFunc(lines, func(l string) bool { return !slices.Contains(all, l) })
}

// All loads are there until the switch is gone, and then they are gone.
func TestScript(t *testing.T) {
	t.Parallel()
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/a/b" {
			_, _ = w.Write(make([]byte, 70_000))
		}
	}))
	defer served.Close()
	r := runScript(t, 120, "cpu", 1, 50, "memory", 64, "storage", 1, "downloads", 2, served.URL+"/a/b")
	r.until("the loads are ready", func() bool { return r.said("ready: cpu", "ready: storage", "ready: downloads") })
	// Two processes hold 31 MiB each.
	r.until("memory is held", func() bool { names, rss, _ := r.processes(); return names["dd"] >= 2 && rss >= 62<<20 })
	r.until("a file is written", func() bool {
		i, err := os.Stat(filepath.Join(r.dir, "apkgate-load-w1"))
		return err == nil && i.Size() >= 8<<20
	})
	if err := os.Remove(filepath.Join(r.dir, "apkgate-load-on")); err != nil {
		t.Fatal(err)
	}
	r.over()
	if said := r.log(); strings.Contains(said, "ended") || strings.Contains(said, "failed") {
		t.Errorf("it said %q", said)
	}
}

// After apkgate is killed, a load ends by itself; a CPU load takes no more than its share.
func TestScriptEndsByItself(t *testing.T) {
	t.Parallel()
	began := time.Now()
	r := runScript(t, 2, "cpu", 1, 40, "memory", 31)
	var used time.Duration
	r.until("the time is up", func() bool {
		_, _, cpu := r.processes()
		used = max(used, cpu)
		return time.Since(began) > 1900*time.Millisecond
	})
	r.over()
	// 40 % of two seconds, 50 ms more for the last turn, and what the script takes besides: 32 MiB of
	// random bytes, and its looks at the clock.
	if most := 1300 * time.Millisecond; used < 100*time.Millisecond || used > most {
		t.Errorf("it took %v of the CPU, want up to %v", used, most)
	}
}

// What can't be had is said once, with the reason.
func TestScriptSaysWhatFails(t *testing.T) {
	t.Parallel()
	nothing := httptest.NewServer(http.NotFoundHandler())
	address := nothing.URL
	nothing.Close()
	r := runScript(t, 60, "downloads", 3, address+"/a")
	want := "failed: downloads: 0 bytes came from " + strings.TrimPrefix(address, "http://") + ", where 65536 are the least"
	r.until("the failure is said", func() bool { return r.said(want) })
	if n := strings.Count(r.log(), "failed"); n != 1 {
		t.Errorf("said %d times: %q", n, r.log())
	}
	if err := os.Remove(filepath.Join(r.dir, "apkgate-load-on")); err != nil {
		t.Fatal(err)
	}
	r.over()
}
