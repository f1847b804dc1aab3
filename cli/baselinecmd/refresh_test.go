package baselinecmd_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/usecase/exit"
)

// refreshed reads the output of `baseline refresh --format json`.
func refreshed(t *testing.T, r clitest.Result) saved.Refresh {
	t.Helper()
	var out saved.Refresh
	if err := json.Unmarshal([]byte(r.Stdout), &out); err != nil {
		t.Fatalf("%v; status %d\n%s%s", err, r.Status, r.Stdout, r.Stderr)
	}
	return out
}

// One per cent a night: no night is refused, and after ten the drift is reported.
func TestRefreshSeesACreep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "history.db")
	ms := 8.0
	for n := range 11 {
		got := clitest.RunAtNight(t, n, "baseline", "refresh", "--store", store, "--run", clitest.NightlyRuns(t, dir, n, ms), "--format", "json")
		r := refreshed(t, got)
		if got.Status != exit.StatusPass || len(r.Accepted) != 3 || len(r.Refused) != 0 || r.Format != "apkgate.refresh/1" {
			t.Fatalf("night %d: status %d, %+v", n, got.Status, r)
		}
		all := r.Drift[0]
		switch {
		case n == 0 && all.SinceLast != nil, n > 0 && (all.SinceLast == nil || all.SinceLast.Runs != 3 || all.SinceAll.Runs != 3*n):
			t.Errorf("night %d is compared with %+v and %+v", n, all.SinceLast, all.SinceAll)
		case n <= 2 && all.Direction != gate.None:
			t.Errorf("night %d: a creep is seen in so few", n)
		case n == 10 && (all.Direction != gate.ToRegression || all.Creep.Change < 0.08 || all.Creep.Change > 0.13):
			t.Errorf("the creep of 10 %% over ten nights is not seen: %+v", all)
		}
		ms *= 1.01
	}
	text := clitest.RunAtNight(t, 11, "baseline", "refresh", "--store", store, "--run", clitest.NightlyRuns(t, dir, 11, ms))
	if !strings.Contains(text.Stdout, "Creeps") || !strings.Contains(text.Stdout, "s: time per frame moved by +1") {
		t.Errorf("the text does not tell of the creep:\n%s", text.Stdout)
	}
}

func TestRefreshRefusesARegression(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "history.db")
	for n := range 6 {
		if got := clitest.RunAtNight(t, n, "baseline", "refresh", "--store", store, "--run", clitest.NightlyRuns(t, dir, n, 8)); got.Status != exit.StatusPass {
			t.Fatalf("night %d: %s%s", n, got.Stdout, got.Stderr)
		}
	}
	slow := clitest.NightlyRuns(t, dir, 6, 16)
	got := clitest.RunAtNight(t, 6, "baseline", "refresh", "--store", store, "--run", slow)
	if got.Status != exit.StatusRegression || !strings.HasPrefix(got.Stdout, "Regression: 0 runs accepted, 3 runs refused") || !strings.Contains(got.Stdout, "--accept-regression") {
		t.Fatalf("status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
	// The refused runs are marked with the reason, whether it is the run itself or another of its
	// build, and are not accepted inadvertently.
	listed := clitest.RunAtNight(t, 6, "baseline", "list", "--store", store, "--format", "json", "--state", "rejected")
	if n, m := strings.Count(listed.Stdout, `"note":"the gate's verdict: regression"`), strings.Count(listed.Stdout, `"note":"refused by baseline refresh: another run of this refresh is a regression"`); n == 0 || n+m != 3 {
		t.Errorf("%d runs are marked as a regression and %d as refused with it, want 3 together\n%s", n, m, listed.Stdout)
	}
	if n := strings.Count(listed.Stdout, `"judged":{"outcome":"`); n != 3 {
		t.Errorf("the outcome is kept with %d runs, want 3\n%s", n, listed.Stdout)
	}
	if got := clitest.RunAtNight(t, 6, "baseline", "accept", "--store", store, "--all"); !strings.Contains(got.Stdout, "accepted: 0 runs") || !strings.Contains(got.Stdout, "3 are not accepted") {
		t.Errorf("accept --all after a refusal says:\n%s%s", got.Stdout, got.Stderr)
	}
	got = clitest.RunAtNight(t, 6, "baseline", "refresh", "--store", store, "--run", slow, "--accept-regression", "--format", "json")
	if r := refreshed(t, got); got.Status != exit.StatusPass || len(r.Accepted) != 3 || r.Verdict != gate.Regression {
		t.Errorf("told to accept: status %d, %+v", got.Status, r)
	}
	if listed = clitest.RunAtNight(t, 6, "baseline", "list", "--store", store, "--state", "rejected"); !strings.Contains(listed.Stdout, "no run matches") {
		t.Errorf("not all are accepted:\n%s", listed.Stdout)
	}
}

// The same from the device on: simulated phones, the demo's builds.
func TestRefreshOnSimulatedPhones(t *testing.T) {
	t.Parallel()
	dir := clitest.SimulatedBuilds(t, "pixel-5-android-11")
	refresh := func(n int, apk string) clitest.Result {
		return clitest.RunAtNight(t, n, "baseline", "refresh", "--config", filepath.Join(dir, "apkgate.yml"), "--apk", filepath.Join(dir, apk))
	}
	for n := range 5 {
		if got := refresh(n, "demo-good.apk"); got.Status != exit.StatusPass || !strings.Contains(got.Stdout, ": 1 run accepted") {
			t.Fatalf("night %d: status %d\n%s%s", n, got.Status, got.Stdout, got.Stderr)
		}
	}
	// It is measured again in another session, and both are refused.
	got := refresh(5, "demo-worse.apk")
	if got.Status != exit.StatusRegression || !strings.HasPrefix(got.Stdout, "Regression: 0 runs accepted, 2 runs refused") {
		t.Errorf("status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
}

func TestRefreshRefusesWrongInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "history.db")
	clitest.WriteFile(t, filepath.Join(dir, "empty.jsonl"), "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--run", filepath.Join(dir, "none.jsonl")}, "none.jsonl"},
		{[]string{"--run", filepath.Join(dir, "empty.jsonl")}, "no run in"},
		{[]string{"--run", clitest.NightlyRuns(t, dir, 0, 8), "--format", "pdf"}, `--format is "pdf"`},
	} {
		got := clitest.RunAtNight(t, 0, append([]string{"baseline", "refresh", "--store", store}, c.args...)...)
		if got.Status != exit.StatusUsage || got.Stdout != "" || !strings.Contains(got.Stderr, c.want) {
			t.Errorf("%v: status %d, %q, want %q", c.args, got.Status, got.Stderr, c.want)
		}
	}
}

// A user's note in a refresh's words is no refresh, and accepting a run of the last one again does
// not remove the others from it.
func TestLastRefreshIsFoundByItsBatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "history.db")
	for n := range 2 {
		clitest.RunAtNight(t, n, "baseline", "refresh", "--store", store, "--run", clitest.NightlyRuns(t, dir, n, 8))
	}
	first := clitest.RunAtNight(t, 2, "baseline", "list", "--store", store, "--format", "json", "--limit", "1")
	var newest struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(first.Stdout), &newest); err != nil {
		t.Fatalf("%v\n%s", err, first.Stdout)
	}
	if got := clitest.RunAtNight(t, 2, "baseline", "accept", "--store", store, newest.ID, "--note", "baseline refresh"); got.Status != exit.StatusPass {
		t.Fatal(got.Stderr)
	}
	r := refreshed(t, clitest.RunAtNight(t, 3, "baseline", "refresh", "--store", store, "--run", clitest.NightlyRuns(t, dir, 3, 8), "--format", "json"))
	if last := r.Drift[0].SinceLast; last == nil || last.Runs != 2 {
		t.Errorf("since the last refresh there are %+v, want the two runs that nobody has decided on since", last)
	}
}

// A creep fails a refresh if configured, by flag or configuration, from the budget on. The runs are
// accepted nevertheless.
func TestRefreshFailsOnACreep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "history.db")
	ms := 8.0
	for n := range 11 {
		got := clitest.RunAtNight(t, n, "baseline", "refresh", "--store", store, "--run", clitest.NightlyRuns(t, dir, n, ms), "--fail-on", "drift", "--format", "json")
		r := refreshed(t, got)
		if len(r.Accepted) != 3 || (got.Status == exit.StatusRegression) != r.DriftFails || r.Verdict == gate.Regression {
			t.Fatalf("night %d: status %d, %+v", n, got.Status, r)
		}
		if n == 10 && got.Status != exit.StatusRegression {
			t.Errorf("10 %% over ten nights: status %d", got.Status)
		}
		if n < 4 && got.Status != exit.StatusPass {
			t.Errorf("night %d: status %d", n, got.Status)
		}
		ms *= 1.01
	}
	config := func(gate string) string {
		path := filepath.Join(dir, "apkgate.yml")
		clitest.WriteFile(t, path, "app: {package: com.example.mail}\ngate: {"+gate+"}\n")
		return path
	}
	next := clitest.NightlyRuns(t, dir, 11, ms)
	for settings, want := range map[string]int{
		"fail-on: drift": exit.StatusRegression, "fail-on: drift, drift-budget: 50%": exit.StatusPass,
		"fail-on: regression": exit.StatusPass, "fail-on: never": exit.StatusPass,
	} {
		for _, command := range [][]string{{"baseline", "refresh", "--run", next}, {"noise"}} {
			if got := clitest.RunAtNight(t, 11, append(command, "--store", store, "--config", config(settings))...); got.Status != want {
				t.Errorf("%s with %s: status %d, want %d\n%s%s", command[0], settings, got.Status, want, got.Stdout, got.Stderr)
			}
		}
	}
	got := clitest.RunAtNight(t, 11, "baseline", "refresh", "--store", store, "--run", next, "--fail-on", "drift")
	if !strings.HasPrefix(got.Stdout, "Regression: 3 runs accepted, and the history creeps for the worse") || !strings.Contains(got.Stdout, "starts a new level") {
		t.Errorf("%s", got.Stdout)
	}
	got = clitest.RunAtNight(t, 11, "noise", "--store", store, "--fail-on", "drift")
	if got.Status != exit.StatusRegression || !strings.Contains(got.Stdout, "creeps: s: time per frame moved by +1") {
		t.Errorf("noise: status %d\n%s", got.Status, got.Stdout)
	}
	if got := clitest.RunAtNight(t, 11, "noise", "--store", store, "--fail-on", "inconclusive"); got.Status != exit.StatusUsage {
		t.Errorf("noise --fail-on inconclusive: status %d", got.Status)
	}
	// A rebaselined run begins a new level.
	newest := refreshed(t, clitest.RunAtNight(t, 11, "baseline", "refresh", "--store", store, "--run", next, "--format", "json")).Accepted
	if got := clitest.RunAtNight(t, 11, append([]string{"baseline", "rebaseline", "--store", store}, newest...)...); got.Status != exit.StatusPass {
		t.Fatalf("rebaseline: %s%s", got.Stdout, got.Stderr)
	}
	if got := clitest.RunAtNight(t, 11, "noise", "--store", store, "--fail-on", "drift"); got.Status != exit.StatusPass {
		t.Errorf("after a rebaselining: status %d\n%s", got.Status, got.Stdout)
	}
}
