package session_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/internal/cli/clitest"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/simlab"
	"github.com/apkgate/apkgate/run"
)

// labOf is a lab of so many simulated phones, of all profiles in turn, on two networks.
func labOf(t *testing.T, phones int) clitest.Lab {
	t.Helper()
	l := clitest.NewLab(t, "demo-good", "")
	profiles := simlab.Profiles()
	var devices strings.Builder
	for i := range phones {
		fmt.Fprintf(&devices, "  - {simulated: %s, name: phone %d}\n", profiles[i%len(profiles)].Name, i+1)
	}
	l.ConfigurePhones("demo-good", &devices, "wifi", "none")
	return l
}

// measuredRuns are the runs of a file in order, without what says when and in which
// session they were measured.
func measuredRuns(t *testing.T, text string) []run.Run {
	t.Helper()
	var out []run.Run
	for r, err := range baseline.ReadJSONL(strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		r.ID, r.Started, r.Session = "", time.Time{}, ""
		out = append(out, r)
	}
	return out
}

func fileOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// apart is apkgate as a process of its own, waited for.
func apart(t *testing.T, args ...string) (status int, said string) {
	t.Helper()
	cmd, stderr := clitest.Start(t, args...)
	text, err := io.ReadAll(stderr)
	_ = cmd.Wait()
	if err != nil {
		t.Error(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// TestShardsMergedAreOneMeasurement measures 25 phones on two networks in one process,
// and shared out over five: what the merge leaves is the same, run for run.
func TestShardsMergedAreOneMeasurement(t *testing.T) {
	t.Parallel()
	const shards = 5
	l := labOf(t, 25)
	config := l.Path("apkgate.yml")
	if status, said := apart(t, "collect", "--config", config, "--output", l.Path("one.jsonl")); status != exit.StatusPass {
		t.Fatalf("exit status %d\n%s", status, said)
	}
	type ended struct {
		status int
		said   string
	}
	done := make(chan ended, shards)
	for k := range shards {
		go func() {
			status, said := apart(t, "collect", "--config", config, "--shard", fmt.Sprintf("%d/%d", k+1, shards), "--output", l.Path(fmt.Sprintf("parts/%d.session", k+1)))
			done <- ended{status, said}
		}()
	}
	for range shards {
		if e := <-done; e.status != exit.StatusPass {
			t.Errorf("exit status %d\n%s", e.status, e.said)
		}
	}
	if status, said := apart(t, "collect", "--config", config, "--merge", l.Path("parts"), "--output", l.Path("merged.jsonl")); status != exit.StatusPass || said != "" {
		t.Fatalf("exit status %d\n%s", status, said)
	}
	one, merged := measuredRuns(t, fileOf(t, l.Path("one.jsonl"))), measuredRuns(t, fileOf(t, l.Path("merged.jsonl")))
	if len(one) != 50 {
		t.Errorf("%d runs, want 50", len(one))
	}
	if d := cmp.Diff(one, merged); d != "" {
		t.Errorf("(-one process +five):\n%s", d)
	}
}
