package hostiletesthostile_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// Numbers that no device measures are judged or rejected, without a crash, and without NaN or
// infinity in a report.
func TestExtremeNumbers(t *testing.T) {
	dir := t.TempDir()
	for name, metrics := range map[string][2]string{ // history's, new run's
		"huge":          {`{"frames.duration_ms":1e100}`, `{"frames.duration_ms":1e100}`},
		"suddenly huge": {`{"frames.duration_ms":8}`, `{"frames.duration_ms":1e100}`},
		"huge before":   {`{"frames.duration_ms":1e100}`, `{"frames.duration_ms":8}`},
		"huge count":    {`{"frames.count":0}`, `{"frames.count":1e100}`},
		"tiny":          {`{"frames.duration_ms":5e-324}`, `{"frames.duration_ms":1e-300}`},
		"zero":          {`{"frames.duration_ms":0,"frames.count":0,"frames.smooth_ratio":0}`, `{"frames.duration_ms":1,"frames.count":0,"frames.smooth_ratio":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			var history strings.Builder
			for i := range 8 {
				history.WriteString(clitest.Record(fmt.Sprint("H", i), "", metrics[0]))
			}
			past := clitest.WriteFile(t, filepath.Join(dir, "h.jsonl"), history.String())
			now := clitest.WriteFile(t, filepath.Join(dir, "r.json"), clitest.Record("new", "", metrics[1]))
			for _, preset := range []string{"default", "dune"} {
				for _, format := range []string{"text", "markdown", "html", "json"} {
					got := clitest.Run(t, nil, "check", "--history", past, "--run", now, "--preset", preset, "--format", format)
					if got.Status > exit.StatusRegression || got.Stderr != "" {
						t.Errorf("%s, %s: status %d, stderr %q", preset, format, got.Status, got.Stderr)
					}
					for _, word := range []string{"NaN", "Inf", "+Inf", "%!"} {
						if strings.Contains(got.Stdout, word) {
							t.Errorf("%s, %s: the report says %q", preset, format, word)
						}
					}
				}
			}
		})
	}
}

// A thousand runs at once are checked against a history of a thousand.
func TestThousandRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("checks 1,000 runs against 1,000")
	}
	dir := t.TempDir()
	history := clitest.WriteFile(t, filepath.Join(dir, "h.jsonl"), clitest.Sound(1000))
	runs := clitest.WriteFile(t, filepath.Join(dir, "r.jsonl"), strings.ReplaceAll(clitest.Sound(1000), `"id":"H`, `"id":"R`))
	got := clitest.Run(t, nil, "check", "--history", history, "--run", runs)
	if got.Status != exit.StatusPass || !strings.Contains(got.Stdout, "1000 runs") {
		t.Errorf("status %d, stdout %q, stderr %q", got.Status, got.Stdout, got.Stderr)
	}
	if n := strings.Count(got.Stdout, "\n"); n > 40 {
		t.Errorf("the report of runs that pass has %d lines", n)
	}
}

// A small file can contain hundreds of thousands of runs: more than the limit are rejected at once,
// and not read to their end.
func TestCheckLimitsTheNumberOfRuns(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.jsonl.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	packed := gzip.NewWriter(f)
	for range 50 {
		if _, err := io.WriteString(packed, clitest.Sound(4000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(packed.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	history := clitest.WriteFile(t, filepath.Join(dir, "h.jsonl"), clitest.Sound(6))
	began := time.Now()
	got := clitest.Run(t, nil, "check", "--history", history, "--run", path)
	message, hint := clitest.Complaint(t, got)
	if got.Status != exit.StatusUsage || !strings.Contains(message, "more than 5000 runs") || !strings.Contains(hint, "--history") {
		t.Errorf("status %d, %q, %q", got.Status, message, hint)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v to refuse them", took)
	}
}

// A line of 100 MB is rejected without reading it completely into memory.
func TestHugeLine(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	dir := t.TempDir()
	huge, good := filepath.Join(dir, "huge.json"), clitest.WriteFile(t, filepath.Join(dir, "good.jsonl"), clitest.Sound(6))
	f, err := os.Create(huge)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []io.Reader{
		strings.NewReader(`{"format":"apkgate.run/1","id":"`),
		io.LimitReader(letters{}, 100_000_000),
		strings.NewReader("\"}\n"),
	} {
		if _, err := io.Copy(f, part); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	clitest.Refuses(t, clitest.Run(t, nil, "check", "--history", good, "--run", huge), huge, "line 1", "larger than 64 MiB")
	clitest.Refuses(t, clitest.Run(t, nil, "baseline", "import", "--store", filepath.Join(dir, "h.db"), huge), huge, "larger than 64 MiB")
	clitest.Refuses(t, clitest.Run(t, nil, "report", huge), huge, `want one of ["apkgate.verdict/1"`)
	if got := clitest.Run(t, nil, "inspect", "gfxinfo", huge); got.Status != exit.StatusUsage || !strings.Contains(got.Stdout, "warning: ") {
		t.Errorf("inspect: status %d, stderr %q, want a warning", got.Status, got.Stderr)
	}
}

// letters is an endless line.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
