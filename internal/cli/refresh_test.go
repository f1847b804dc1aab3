package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/layout"
)

// night runs a command line so many days later.
func night(t *testing.T, n int, args ...string) ran {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := Command{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" },
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).AddDate(0, 0, n) },
	}
	return ran{status: c.Main(args), stdout: stdout.String(), stderr: stderr.String()}
}

// refreshed reads what `baseline refresh --format json` printed.
func refreshed(t *testing.T, r ran) layout.Refresh {
	t.Helper()
	var out layout.Refresh
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatalf("%v; status %d\n%s%s", err, r.status, r.stdout, r.stderr)
	}
	return out
}

// nightlyRuns writes a night's runs on three phones, each ms milliseconds a frame
// times the phone's own level and a noise of at most 2 %.
func nightlyRuns(t *testing.T, dir string, n int, ms float64) string {
	t.Helper()
	var b strings.Builder
	for phone := range 3 {
		v := ms * (1 + 0.3*float64(phone)) * (1 + 0.01*float64((n*7+phone*3)%5-2))
		fmt.Fprintf(&b, `{"format":"apkgate.run/1","started":%q,"app":{"package":"a"},"scenario":"s","context":{"model":"phone %d"},"status":"complete","iterations":[{"metrics":{"frames.duration_ms":%g}}]}`+"\n",
			time.Date(2026, 1, 2+n, 3, phone, 0, 0, time.UTC).Format(time.RFC3339), phone, v)
	}
	path := filepath.Join(dir, fmt.Sprintf("night-%d.jsonl", n))
	write(t, path, b.String())
	return path
}

// One per cent a night: no night is refused, and after ten the drift says so.
func TestRefreshSeesACreep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "history.db")
	ms := 8.0
	for n := range 11 {
		got := night(t, n, "baseline", "refresh", "--store", store, "--run", nightlyRuns(t, dir, n, ms), "--format", "json")
		r := refreshed(t, got)
		if got.status != exitPass || len(r.Accepted) != 3 || len(r.Refused) != 0 || r.Format != "apkgate.refresh/1" {
			t.Fatalf("night %d: status %d, %+v", n, got.status, r)
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
	text := night(t, 11, "baseline", "refresh", "--store", store, "--run", nightlyRuns(t, dir, 11, ms))
	if !strings.Contains(text.stdout, "Creeps") || !strings.Contains(text.stdout, "s: time per frame moved by +1") {
		t.Errorf("the text does not tell of the creep:\n%s", text.stdout)
	}
}

func TestRefreshRefusesARegression(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "history.db")
	for n := range 6 {
		if got := night(t, n, "baseline", "refresh", "--store", store, "--run", nightlyRuns(t, dir, n, 8)); got.status != exitPass {
			t.Fatalf("night %d: %s%s", n, got.stdout, got.stderr)
		}
	}
	slow := nightlyRuns(t, dir, 6, 16)
	got := night(t, 6, "baseline", "refresh", "--store", store, "--run", slow)
	if got.status != exitRegression || !strings.HasPrefix(got.stdout, "Regression: 0 runs accepted, 3 runs refused") || !strings.Contains(got.stdout, "--accept-regression") {
		t.Fatalf("status %d\n%s%s", got.status, got.stdout, got.stderr)
	}
	listed := night(t, 6, "baseline", "list", "--store", store, "--state", "unmarked")
	if n := strings.Count(listed.stdout, "unmarked"); n != 3 {
		t.Errorf("%d runs are kept unmarked, want the 3 refused\n%s", n, listed.stdout)
	}
	got = night(t, 6, "baseline", "refresh", "--store", store, "--run", slow, "--accept-regression", "--format", "json")
	if r := refreshed(t, got); got.status != exitPass || len(r.Accepted) != 3 || r.Verdict != gate.Regression {
		t.Errorf("told to accept: status %d, %+v", got.status, r)
	}
	if listed = night(t, 6, "baseline", "list", "--store", store, "--state", "unmarked"); !strings.Contains(listed.stdout, "no run matches") {
		t.Errorf("not all are accepted:\n%s", listed.stdout)
	}
}

// The same from the device on: simulated phones, the demo's builds.
func TestRefreshOnSimulatedPhones(t *testing.T) {
	t.Parallel()
	dir := simulatedBuilds(t, "pixel-5-android-11")
	refresh := func(n int, apk string) ran {
		return night(t, n, "baseline", "refresh", "--config", filepath.Join(dir, "apkgate.yml"), "--apk", filepath.Join(dir, apk))
	}
	for n := range 5 {
		if got := refresh(n, "demo-good.apk"); got.status != exitPass || !strings.Contains(got.stdout, ": 1 run accepted") {
			t.Fatalf("night %d: status %d\n%s%s", n, got.status, got.stdout, got.stderr)
		}
	}
	got := refresh(5, "demo-worse.apk")
	if got.status != exitRegression || !strings.HasPrefix(got.stdout, "Regression: 0 runs accepted, 1 run refused") {
		t.Errorf("status %d\n%s%s", got.status, got.stdout, got.stderr)
	}
}

func TestRefreshRefusesWrongInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "history.db")
	write(t, filepath.Join(dir, "empty.jsonl"), "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--run", filepath.Join(dir, "none.jsonl")}, "none.jsonl"},
		{[]string{"--run", filepath.Join(dir, "empty.jsonl")}, "no run in"},
		{[]string{"--run", nightlyRuns(t, dir, 0, 8), "--format", "pdf"}, `--format is "pdf"`},
	} {
		got := night(t, 0, append([]string{"baseline", "refresh", "--store", store}, c.args...)...)
		if got.status != exitUsage || got.stdout != "" || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%v: status %d, %q, want %q", c.args, got.status, got.stderr, c.want)
		}
	}
}

// A user's note in a refresh's words is no refresh, and accepting a run of the last
// one again does not take the others out of it.
func TestLastRefreshIsNoNote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "history.db")
	for n := range 2 {
		night(t, n, "baseline", "refresh", "--store", store, "--run", nightlyRuns(t, dir, n, 8))
	}
	first := night(t, 2, "baseline", "list", "--store", store, "--format", "json", "--limit", "1")
	var newest struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(first.stdout), &newest); err != nil {
		t.Fatalf("%v\n%s", err, first.stdout)
	}
	if got := night(t, 2, "baseline", "accept", "--store", store, newest.ID, "--note", "baseline refresh"); got.status != exitPass {
		t.Fatal(got.stderr)
	}
	r := refreshed(t, night(t, 3, "baseline", "refresh", "--store", store, "--run", nightlyRuns(t, dir, 3, 8), "--format", "json"))
	if last := r.Drift[0].SinceLast; last == nil || last.Runs != 2 {
		t.Errorf("since the last refresh there are %+v, want the two runs that nobody has decided on since", last)
	}
}
