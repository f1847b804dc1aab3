package githubactions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
	"github.com/apkgate/apkgate/usecase/restapi"
)

const token = "ghs_0123456789abcdefSECRET"

// commit is a commit's id made of one hexadecimal digit.
func commit(digit string) string { return strings.Repeat(digit, 40) }

// clock is a clock on which sleeping returns at once.
type clock struct {
	mu   sync.Mutex
	now  time.Time
	naps []time.Duration
	nap  func() // called while a client that is created from now on sleeps
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
}

func (c *clock) clock() restapi.Clock {
	nap := c.nap
	return restapi.Clock{
		Now: func() time.Time {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.now
		},
		Sleep: func(ctx context.Context, d time.Duration) error {
			if nap != nil {
				nap()
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.now = c.now.Add(d)
			c.naps = append(c.naps, d)
			return ctx.Err()
		},
	}
}

// github is a repository on a simulated GitHub with pull request 7 at commit a….
type github struct {
	*githubtest.Server
	t     *testing.T
	url   string
	clock *clock
}

func newGitHub(t *testing.T) *github {
	t.Helper()
	s := githubtest.New("octo", "app", token)
	s.SetPull(githubtest.Pull{Number: 7, Repository: "octo/app", Branch: "feature", SHA: commit("a"), Base: "main", BaseSHA: commit("e")})
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return &github{Server: s, t: t, url: web.URL, clock: newClock()}
}

// move pushes to the pull request.
func (g *github) move(sha string) {
	g.SetPull(githubtest.Pull{Number: 7, Repository: "octo/app", Branch: "feature", SHA: sha, Base: "main", BaseSHA: commit("e")})
}

func (g *github) client(j githubactions.Job, log func(string)) *githubactions.Client {
	g.t.Helper()
	c, err := githubactions.NewClient(j, githubactions.ClientOptions{API: g.url, Token: token, Clock: g.clock.clock(), Log: log})
	if err != nil {
		g.t.Fatal(err)
	}
	return c
}

// job is a run of the workflow on a commit of pull request 7.
type job struct {
	*githubactions.Reporter
	log  *bytes.Buffer
	env  map[string]string
	read func(name string) string // a file of the runner, by its variable
}

func (g *github) job(runID int64, attempt int, sha string) *job {
	g.t.Helper()
	dir := g.t.TempDir()
	event := map[string]any{
		"number": 7, "repository": map[string]any{"id": 1, "full_name": "octo/app"},
		"pull_request": map[string]any{
			"number": 7,
			"head":   map[string]any{"sha": sha, "ref": "feature", "repo": map[string]any{"id": 1, "full_name": "octo/app"}},
			"base":   map[string]any{"sha": commit("e"), "ref": "main", "repo": map[string]any{"id": 1, "full_name": "octo/app"}},
		},
	}
	env := map[string]string{
		"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": writeJSON(g.t, dir, "event.json", event),
		"GITHUB_REPOSITORY": "octo/app", "GITHUB_SHA": commit("f"), "GITHUB_REF": "refs/pull/7/merge",
		"GITHUB_RUN_ID": fmt.Sprint(runID), "GITHUB_RUN_NUMBER": fmt.Sprint(runID % 1000), "GITHUB_RUN_ATTEMPT": fmt.Sprint(attempt),
		"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary.md"),
		"GITHUB_SERVER_URL": "https://github.example",
	}
	return g.jobOf(env)
}

func (g *github) jobOf(env map[string]string) *job {
	g.t.Helper()
	j, err := githubactions.ReadJob(func(name string) string { return env[name] })
	if err != nil {
		g.t.Fatal(err)
	}
	log := &bytes.Buffer{}
	runner := githubactions.NewRunner(log, func(name string) string { return env[name] })
	runner.Mask(token)
	return &job{
		Reporter: &githubactions.Reporter{
			Runner: runner, Client: g.client(j, runner.Log), Job: j,
			Name: githubactions.DefaultName, FailOn: "regression", Comment: true, Check: true,
		},
		log: log, env: env,
		read: func(name string) string { data, _ := os.ReadFile(env[name]); return string(data) },
	}
}

// publish runs the job from its beginning to its verdict.
func (j *job) publish(t *testing.T, in layout.Input) {
	t.Helper()
	j.Begin(t.Context())
	if err := j.Publish(t.Context(), githubactions.ContentOf(in, places)); err != nil {
		t.Fatal(err)
	}
}

var places = document.Places{"open-message": {Path: "app/src/androidTest/OpenMessage.kt", Line: 12}}

func writeJSON(t *testing.T, dir, name string, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// worse is a verdict with n events in which a run renders half as many frames. It is synthetic;
// nothing was measured.
func worse(n int) layout.Input {
	r := gate.RunVerdict{
		ID: "U1", Verdict: gate.Regression, Scenario: "open-message", App: run.App{Package: "com.example.mail", Version: "2.0"},
		Context: map[string]string{"sdk": "6.0.0", "model": "Nexus 5X"}, Labels: []string{"Outlier-"}, ReferenceTotal: 40,
	}
	for i := range n {
		r.Deviations = append(r.Deviations, gate.Comparison{
			Event: fmt.Sprintf("tap-%04d", i), Metric: "frames.count", Direction: gate.ToRegression,
			Value: 50, Expected: 100, Change: -0.5, Low: new(-0.55), High: new(-0.45), Q1: 98, Q3: 102, Lower: 92, Upper: 108, N: 40, P: 0.001,
		})
	}
	r.Comparisons = r.Deviations
	return layout.Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Regression, Preset: "default", Runs: []gate.RunVerdict{r}}}
}

// fine is a verdict in which nothing deviates.
func fine() layout.Input {
	in := worse(1)
	in.Verdict.Verdict, in.Verdict.Runs[0].Verdict = gate.Pass, gate.Pass
	in.Verdict.Runs[0].Comparisons[0].Direction = gate.None
	in.Verdict.Runs[0].Deviations, in.Verdict.Runs[0].Labels = nil, []string{"N"}
	return in
}

func content(in layout.Input) githubactions.Content { return githubactions.ContentOf(in, places) }
