package forges_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/artifact"
	"github.com/apkgate/apkgate/usecase/forges"
	"github.com/apkgate/apkgate/usecase/forges/forgetest"
	"github.com/apkgate/apkgate/usecase/forges/gitea"
	"github.com/apkgate/apkgate/usecase/forges/gitlab"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/reproduction"
	"github.com/apkgate/apkgate/usecase/restapi"
)

// kind is one kind of server.
type kind struct {
	start  func(*testing.T) *forgetest.Server
	env    func(*testing.T, *forgetest.Server) map[string]string
	open   func(forges.Options) (forges.Forge, error)
	failed string // the state of a status that is no success
}

var kinds = map[string]kind{
	"GitLab": {forgetest.GitLab, gitlabEnv, func(o forges.Options) (forges.Forge, error) { return gitlab.New(o) }, "failed"},
	"Gitea":  {forgetest.Gitea, giteaEnv, func(o forges.Options) (forges.Forge, error) { return gitea.New(o) }, "failure"},
}

// gitlabEnv is the environment of a job of a merge request's pipeline, by GitLab's list of predefined
// variables.
func gitlabEnv(_ *testing.T, s *forgetest.Server) map[string]string {
	return map[string]string{
		"CI_API_V4_URL": s.URL + "/api/v4", "CI_PROJECT_PATH": forgetest.Repository, "CI_PROJECT_ID": "12", "CI_PROJECT_URL": s.URL + "/" + forgetest.Repository,
		"CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_PROJECT_ID": "12", "CI_COMMIT_SHA": forgetest.Head, "CI_PIPELINE_ID": fmt.Sprint(forgetest.Pipeline),
		"CI_PIPELINE_IID": "90", "CI_JOB_ID": "5001", "CI_PIPELINE_URL": s.URL + "/" + forgetest.Repository + "/-/pipelines/900",
	}
}

// giteaEnv is the environment of a step in Gitea Actions.
func giteaEnv(t *testing.T, s *forgetest.Server) map[string]string {
	return map[string]string{
		"GITHUB_API_URL": s.URL + "/api/v1", "GITHUB_SERVER_URL": s.URL, "GITHUB_REPOSITORY": forgetest.Flat, "GITHUB_EVENT_NAME": "pull_request",
		"GITHUB_SHA": forgetest.Head, "GITHUB_RUN_ID": "900", "GITHUB_RUN_NUMBER": "90", "GITHUB_EVENT_PATH": event(t, forgetest.Head),
	}
}

func event(t *testing.T, head string) string {
	t.Helper()
	repo := map[string]any{"full_name": forgetest.Flat}
	data, err := json.Marshal(map[string]any{"pull_request": map[string]any{
		"number": 7, "head": map[string]any{"sha": head, "ref": "feature", "repo": repo}, "base": map[string]any{"sha": forgetest.Base, "ref": "main", "repo": repo},
	}})
	path := filepath.Join(t.TempDir(), "event.json")
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// lab is a server and a job on it.
type lab struct {
	*forgetest.Server
	kind
	t   *testing.T
	env map[string]string
	log bytes.Buffer
}

// each runs a test on each kind of server.
func each(t *testing.T, test func(*testing.T, *lab)) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := k.start(t)
			test(t, &lab{Server: s, kind: k, t: t, env: k.env(t, s)})
		})
	}
}

// later makes it the job of a later run, on a commit.
func (l *lab) later(run int, commit string) {
	for _, name := range []string{"CI_JOB_ID", "GITHUB_RUN_ID"} {
		if _, ok := l.env[name]; ok {
			l.env[name] = fmt.Sprint(run)
		}
	}
	for _, name := range []string{"CI_COMMIT_SHA", "GITHUB_SHA"} {
		if _, ok := l.env[name]; ok {
			l.env[name] = commit
		}
	}
	if l.env["GITHUB_EVENT_PATH"] != "" {
		l.env["GITHUB_EVENT_PATH"] = event(l.t, commit)
	}
}

// publish publishes a folder and returns what went wrong, as one text.
func (l *lab) publish(dir string, more ...func(*forges.Publisher)) (forges.Forge, string) {
	l.t.Helper()
	clock := restapi.Clock{Now: time.Now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	log := func(text string) { fmt.Fprintln(&l.log, text) }
	forge, err := l.open(forges.Options{Getenv: func(name string) string { return l.env[name] }, Token: forgetest.Token, Clock: clock, Log: log})
	if err != nil {
		l.t.Fatal(err)
	}
	p := &forges.Publisher{Forge: forge, Name: githubactions.DefaultName, CommentOn: githubactions.Always, Log: log, Sleep: clock.Sleep}
	for _, set := range more {
		set(p)
	}
	var text strings.Builder
	for _, err := range p.Publish(l.t.Context(), dir) {
		fmt.Fprintf(&text, "%s (hint: %s)\n", err, forge.Hint(restapi.StatusOf(err)))
	}
	if strings.Contains(l.log.String()+text.String(), forgetest.Token) {
		l.t.Errorf("the token is written:\n%s%s", l.log.String(), text.String())
	}
	return forge, text.String()
}

// good publishes a folder without an error.
func (l *lab) good(dir string, more ...func(*forges.Publisher)) {
	l.t.Helper()
	if _, errs := l.publish(dir, more...); errs != "" {
		l.t.Fatalf("publish: %s", errs)
	}
}

// only returns the one comment of ours.
func (l *lab) only() forgetest.Comment {
	l.t.Helper()
	ours := l.Ours()
	if len(ours) != 1 {
		l.t.Fatalf("there are %d comments of ours, want one", len(ours))
	}
	return ours[0]
}

// last returns the newest status.
func (l *lab) last() forgetest.Status {
	l.t.Helper()
	all := l.Statuses()
	if len(all) == 0 {
		l.t.Fatal("there is no status")
	}
	return all[len(all)-1]
}

func (l *lab) want(text string, parts ...string) {
	l.t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			l.t.Errorf("no %q in\n%.3000s", part, text)
		}
	}
}

// verdict is one in which a run renders half as many frames, in rounds with the build of a commit. It
// is synthetic; nothing was measured.
func verdict(base string) layout.Input {
	c := gate.Comparison{
		Event: "scroll", Metric: "frames.count", Direction: gate.ToRegression, Value: 50, Expected: 100, Change: -0.5,
		Low: new(-0.55), High: new(-0.45), Q1: 98, Q3: 102, Lower: 92, Upper: 108, N: 40, P: 0.001,
	}
	r := gate.RunVerdict{
		ID: "U1", Verdict: gate.Regression, Scenario: "open-message", App: run.App{Package: "com.example.mail", Version: "2.0"},
		Context: map[string]string{"sdk": "14", "model": "Pixel 7"}, ReferenceTotal: 40, Deviations: []gate.Comparison{c}, Comparisons: []gate.Comparison{c},
		Rounds: &gate.RoundsMeasured{Measured: 8, Base: gate.RoundsBase{App: run.App{Package: "com.example.mail", Version: "1.9"}, Source: run.Source{Commit: base}}},
	}
	return layout.Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Regression, Preset: "default", Runs: []gate.RunVerdict{r}}}
}

// passed is one in which nothing deviates.
func passed() layout.Input {
	in := verdict(forgetest.Base)
	r := &in.Verdict.Runs[0]
	in.Verdict.Verdict, r.Verdict = gate.Pass, gate.Pass
	r.Comparisons[0].Direction, r.Deviations = gate.None, nil
	return in
}

// left leaves a report's folder.
func left(t *testing.T, in layout.Input) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "apkgate-report")
	leave(t, dir, in)
	return dir
}

func leave(t *testing.T, dir string, in layout.Input) {
	t.Helper()
	_, err := artifact.WriteFolder(dir, artifact.Report{Input: in, Builds: &reproduction.Builds{Base: "base.apk", Head: "app.apk", Scenarios: 2}})
	if err == nil {
		err = artifact.WriteRuns(dir, in.Runs)
	}
	if err != nil {
		t.Fatal(err)
	}
}
