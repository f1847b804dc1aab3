package viewer

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/pftrace"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// phoneTrace writes a trace of a phone that was asleep since it was started: its own clock is 40 s
// ahead of CLOCK_MONOTONIC.
func phoneTrace(t *testing.T) (path string, content []byte) {
	t.Helper()
	w := pftrace.New(1)
	w.Snapshot(pftrace.Clocks{Boottime: 100 * time.Second, Monotonic: 60 * time.Second, Realtime: 1_800_000_000 * time.Second})
	path = filepath.Join(t.TempDir(), "open.pftrace")
	if err := os.WriteFile(path, w.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, w.Bytes()
}

func freePort() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

func TestOpen(t *testing.T) {
	path, content := phoneTrace(t)
	printed, stdout := io.Pipe()
	c := terminal.Console{Stdout: stdout, Stderr: io.Discard, Stdin: strings.NewReader("")}
	ended := make(chan error, 1)
	go func() { ended <- openTrace(t.Context(), c, "perfetto", path, Span{61_000, 62_000}, freePort) }()
	line, err := bufio.NewReader(printed).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	asked, err := url.ParseQuery(strings.TrimPrefix(strings.TrimSpace(line), "https://ui.perfetto.dev/#!/?"))
	if err != nil || asked.Get("visStart") != "100950000000" || asked.Get("visEnd") != "102050000000" {
		t.Errorf("the link is %q: want 101 s to 102 s with 50 ms around", line)
	}
	answer, err := http.Get(asked.Get("url"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got, err := io.ReadAll(answer.Body); err != nil || string(got) != string(content) {
		t.Errorf("the page gets %d bytes, %v; want the %d of the trace", len(got), err, len(content))
	}
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// Ending it instead of opening the link is no error: that is the documented way to end it.
func TestOpenEndedByTheUser(t *testing.T) {
	path, _ := phoneTrace(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := openTrace(ctx, terminal.Console{Stdout: io.Discard, Stderr: io.Discard}, "perfetto", path, Span{}, freePort); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestOpenRejects(t *testing.T) {
	path, _ := phoneTrace(t)
	taken := func() (net.Listener, error) { return nil, errors.New("address already in use") }
	for name, c := range map[string]struct {
		reader, path string
		part         Span
		listen       func() (net.Listener, error)
		want         string
		status       int
	}{
		"another reader":  {"logcat", path, Span{}, freePort, "--open is for perfetto and systrace, not for logcat", exit.StatusUsage},
		"no file":         {"perfetto", path + "x", Span{}, freePort, "no such file", exit.StatusUsage},
		"standard input":  {"perfetto", "-", Span{}, freePort, "open -:", exit.StatusUsage},
		"a folder":        {"perfetto", filepath.Dir(path), Span{}, freePort, "it is no file", exit.StatusUsage},
		"backwards":       {"perfetto", path, Span{2, 1}, freePort, "--from-ms is 2 and --to-ms 1", exit.StatusUsage},
		"a text's part":   {"systrace", path, Span{1, 2}, freePort, "are for perfetto, not for systrace", exit.StatusUsage},
		"a port in use":   {"perfetto", path, Span{}, taken, "address already in use", exit.StatusInfrastructure},
		"a part of hours": {"perfetto", path, Span{1, 1e300}, freePort, "--to-ms 1e+300", exit.StatusUsage},
	} {
		var stderr strings.Builder
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // a trace that is served ends at once
		err := openTrace(ctx, terminal.Console{Stdout: io.Discard, Stderr: io.Discard}, c.reader, c.path, c.part, c.listen)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if status := exit.Finish(&stderr, err); status != c.status {
			t.Errorf("%s: exit status %d, want %d", name, status, c.status)
		}
	}
}
