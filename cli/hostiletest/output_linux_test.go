package hostiletesthostile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// A list that could not be printed completely is no success.
func TestFullDiskIsReportedForEveryOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	store := filepath.Join(t.TempDir(), "h.db")
	if got := clitest.Run(t, nil, "baseline", "import", "--store", store, clitest.WriteFile(t, filepath.Join(t.TempDir(), "h.jsonl"), clitest.Sound(6))); got.Status != exit.StatusPass {
		t.Fatal(got.Stderr)
	}
	for _, args := range [][]string{{"baseline", "list"}, {"baseline", "list", "--format", "json"}, {"baseline", "verify"}, {"baseline", "export"}} {
		var stderr strings.Builder
		c := terminal.Console{Stdin: strings.NewReader(""), Stdout: full, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: time.Now}
		if status := cli.Main(c, append(args, "--store", store)); status != exit.StatusInfrastructure || !strings.Contains(stderr.String(), "no space") {
			t.Errorf("%q ended with %d and %q", args, status, stderr.String())
		}
	}
}

// A special file such as /dev/stdout or a pipe receives the report and is not replaced.
func TestPipeIsNotReplacedByAReport(t *testing.T) {
	dir := t.TempDir()
	runs, history := clitest.WriteFile(t, filepath.Join(dir, "run.json"), clitest.Record("R", "", `{"memory.pss_kb":600}`)), clitest.WriteFile(t, filepath.Join(dir, "h.jsonl"), clitest.Sound(6))
	path := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("make a pipe: %v", err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // both ends: neither waits for the other
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	got := clitest.Run(t, nil, "check", "--run", runs, "--history", history, "--json", path)
	if info, err := os.Stat(path); err != nil || info.Mode().Type() != fs.ModeNamedPipe || got.Status != 0 {
		t.Fatalf("exit status %d; %v, %v, want a pipe as before\n%s", got.Status, info, err, got.Stderr)
	}
	if err := pipe.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	some := make([]byte, 4096)
	n, err := pipe.Read(some)
	if err != nil || !strings.Contains(string(some[:n]), `"apkgate.verdict/1"`) {
		t.Errorf("through the pipe came %.200q, %v", some[:n], err)
	}
}
