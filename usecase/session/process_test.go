package session_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
)

// labOf is a lab of so many simulated phones, of all profiles in turn, on two networks.
func labOf(t *testing.T, phones int) clitest.Lab {
	t.Helper()
	l := clitest.NewLab(t, "demo-good", "")
	profiles := simulator.Profiles()
	var devices strings.Builder
	for i := range phones {
		fmt.Fprintf(&devices, "  - {simulated: %s, name: phone %d}\n", profiles[i%len(profiles)].Name, i+1)
	}
	l.ConfigurePhones("demo-good", &devices, "wifi", "none")
	return l
}

// measuredRuns are the runs of a file in order, without when and in which session they were
// measured.
func measuredRuns(t *testing.T, text string) []run.Run {
	t.Helper()
	var out []run.Run
	for r, err := range runstore.ReadJSONL(strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		r = r.Recorded() // the time of the verdict differs
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

// apart runs apkgate as a process of its own.
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

// TestShardsMergedAreOneMeasurement measures 25 phones on two networks in one process, and shared
// over five: the merge has the same runs.
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

// killsVariable sets how often tests kill apkgate, each time at another instant; by default as
// often as there is time for among other tests.
const killsVariable = "APKGATE_TEST_KILLS"

func kills(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv(killsVariable)
	switch {
	case text == "" && testing.Short():
		return max(usual/4, 1)
	case text == "":
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, want how often apkgate is killed", killsVariable, text)
	}
	return n
}

// TestKilledRunIsResumed kills apkgate again and again, from before it has opened anything to while
// it writes: each session finally has what an uninterrupted one would have, and each run is once in
// the history.
func TestKilledRunIsResumed(t *testing.T) {
	t.Parallel()
	l := labOf(t, 9)
	command := []string{"run", "--config", l.Path("apkgate.yml"), "--store", l.Path("history.db"), "--parallel", "2"}
	before := l.Export()
	if status, said := apart(t, command...); status != exit.StatusPass {
		t.Fatalf("exit status %d\n%s", status, said)
	}
	want := bySession(t, l, before)
	before = l.Export()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	goneOn := 0
	killed := kills(t, 20)
	for range killed {
		if said := runUntilKilled(t, append(command, "--resume"), random); strings.Contains(said, "resuming the session") {
			goneOn++
		}
	}
	if status, said := apart(t, append(command, "--resume")...); status != exit.StatusPass {
		t.Fatalf("after all kills: exit status %d\n%s", status, said)
	}
	got := bySession(t, l, before)
	for name, runs := range got {
		if d := cmp.Diff(slices.Collect(maps.Values(want))[0], runs); d != "" {
			t.Errorf("session %s (-undisturbed +resumed):\n%s", name, d)
		}
	}
	if len(got) == 0 || goneOn == 0 {
		t.Errorf("%d sessions, resumed %d times: the test has seen nothing", len(got), goneOn)
	}
	if left, err := filepath.Glob(l.Path(".apkgate/sessions/*")); err != nil || len(left) > 0 {
		t.Errorf("sessions that are through are left: %q, %v", left, err)
	}
	t.Logf("%d sessions of 18 runs, resumed %d times after %d kills", len(got), goneOn, killed)
}

// runUntilKilled kills apkgate some time after it has reported some runs, and returns its output.
func runUntilKilled(t *testing.T, command []string, random *rand.Rand) (said string) {
	t.Helper()
	cmd, stderr := clitest.Start(t, command...)
	in := bufio.NewReader(stderr)
	for reports := random.IntN(5); reports > 0; {
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		said += line
		if strings.HasPrefix(line, "run ") {
			reports--
		}
	}
	<-time.After(time.Duration(random.IntN(60_000)) * time.Microsecond)
	_ = cmd.Process.Kill() // it may have ended
	rest, _ := io.ReadAll(in)
	_ = cmd.Wait()
	return said + string(rest)
}

// bySession are the new complete runs of the history, by their session, in an order that does not
// depend on when they were measured.
func bySession(t *testing.T, l clitest.Lab, before map[string]string) map[string][]run.Run {
	t.Helper()
	out := map[string][]run.Run{}
	for id, record := range l.Export() {
		r, err := run.Decode([]byte(record))
		if err != nil {
			t.Fatal(err)
		}
		if _, known := before[id]; known || r.Status != run.Complete {
			continue
		}
		session := r.Session
		r = r.Recorded() // the time of the verdict differs
		r.ID, r.Started, r.Session = "", time.Time{}, ""
		out[session] = append(out[session], r)
	}
	for _, runs := range out {
		slices.SortFunc(runs, func(a, b run.Run) int {
			return strings.Compare(fmt.Sprint(a.Context, a.Iterations), fmt.Sprint(b.Context, b.Iterations))
		})
	}
	return out
}
