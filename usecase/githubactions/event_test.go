package githubactions_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
)

type object = map[string]any

// envOf is the environment of a job on an event.
func envOf(t *testing.T, event string, payload any) map[string]string {
	return map[string]string{
		"GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": writeJSON(t, t.TempDir(), "event.json", payload),
		"GITHUB_REPOSITORY": "octo/app", "GITHUB_SHA": commit("f"), "GITHUB_RUN_ID": "500", "GITHUB_RUN_NUMBER": "5",
		"GITHUB_SERVER_URL": "https://github.example",
	}
}

func repo(id int, name string) object {
	owner, _, _ := strings.Cut(name, "/")
	return object{"id": id, "full_name": name, "owner": object{"login": owner}}
}

func side(sha, ref string, of any) object { return object{"sha": sha, "ref": ref, "repo": of} }

// triggered is the event of a second workflow after a first one on a branch.
func triggered(branch string, head object, pulls ...object) object {
	return object{
		"repository": repo(1, "octo/app"),
		"workflow_run": object{
			"id": 100, "run_number": 10, "run_attempt": 2, "event": "pull_request",
			"head_sha": commit("a"), "head_branch": branch, "head_repository": head, "pull_requests": pulls,
		},
	}
}

func TestReadJob(t *testing.T) {
	pull := func(head any) object {
		return object{"repository": repo(1, "octo/app"), "pull_request": object{
			"number": 7, "head": side(commit("a"), "feature", head), "base": side(commit("e"), "main", repo(1, "octo/app")),
		}}
	}
	for name, c := range map[string]struct {
		event   string
		payload object
		head    string
		pull    int
		fork    bool
	}{
		"pull_request":             {"pull_request", pull(repo(1, "octo/app")), commit("a"), 7, false},
		"pull_request from a fork": {"pull_request", pull(repo(2, "mallory/app")), commit("a"), 7, true},
		"the fork is gone":         {"pull_request", pull(nil), commit("a"), 7, true},
		"pull_request_target":      {"pull_request_target", pull(repo(2, "mallory/app")), commit("a"), 7, true},
		"push":                     {"push", object{"after": commit("f"), "repository": repo(1, "octo/app")}, commit("f"), 0, false},
		"workflow_dispatch":        {"workflow_dispatch", object{"inputs": nil}, commit("f"), 0, false},
		"merge_group":              {"merge_group", object{"merge_group": object{"head_sha": commit("c")}}, commit("c"), 0, false},
		"workflow_run of a branch": {"workflow_run", triggered("feature", repo(1, "octo/app"),
			object{"number": 7, "head": side(commit("a"), "feature", object{"id": 1}), "base": side(commit("e"), "main", object{"id": 1})}), commit("a"), 7, false},
		"workflow_run of a fork": {"workflow_run", triggered("feature", repo(2, "mallory/app")), commit("a"), 0, false},
		"a fork's pull request in itself is not ours": {"workflow_run", triggered("feature", repo(1, "octo/app"),
			object{"number": 3, "head": side(commit("a"), "feature", object{"id": 1}), "base": side(commit("e"), "main", object{"id": 2})}), commit("a"), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			env := envOf(t, c.event, c.payload)
			j, err := githubactions.ReadJob(func(n string) string { return env[n] })
			if err != nil {
				t.Fatal(err)
			}
			var number int
			var fork bool
			if j.Pull != nil {
				number, fork = j.Pull.Number, j.Pull.Fork
			}
			if j.HeadSHA != c.head || number != c.pull || fork != c.fork {
				t.Errorf("it is about commit %.4s, pull request %d, fork %v; want %.4s, %d, %v", j.HeadSHA, number, fork, c.head, c.pull, c.fork)
			}
			wantRun := matrixcomment.RunRef{ID: 500, Number: 5, Attempt: 1}
			if c.event == "workflow_run" {
				wantRun = matrixcomment.RunRef{ID: 100, Number: 10, Attempt: 2}
			}
			if j.Run != wantRun {
				t.Errorf("the run that measured is %+v, want %+v", j.Run, wantRun)
			}
		})
	}
}

func TestReadJobRejectsHostileEvents(t *testing.T) {
	good := envOf(t, "push", object{"after": commit("f")})
	long := filepath.Join(t.TempDir(), "long.json")
	if err := os.WriteFile(long, []byte(`{"a":"`+strings.Repeat("x", githubactions.MaxEvent)+`"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]map[string]string{
		"no repository":            {"GITHUB_REPOSITORY": ""},
		"a repository with a path": {"GITHUB_REPOSITORY": "octo/../../user"},
		"a commit that is none":    {"GITHUB_SHA": "HEAD; rm -rf /"},
		"a payload of 8 MiB":       {"GITHUB_EVENT_PATH": long},
		"a payload that is no JSON": {"GITHUB_EVENT_PATH": func() string {
			p := filepath.Join(t.TempDir(), "e")
			os.WriteFile(p, []byte("{"), 0o644)
			return p
		}()},
		"a payload of another shape": {"GITHUB_EVENT_PATH": writeJSON(t, t.TempDir(), "e", object{"pull_request": []int{1}})},
		"no payload where one is":    {"GITHUB_EVENT_PATH": "/does/not/exist"},
	} {
		t.Run(name, func(t *testing.T) {
			env := maps.Clone(good)
			maps.Copy(env, change)
			if j, err := githubactions.ReadJob(func(n string) string { return env[n] }); err == nil {
				t.Errorf("it is read as %+v", j)
			}
		})
	}
}

// The pull request of a fork's run is found by repository, branch and commit, all three of the
// event.
func TestResolvePull(t *testing.T) {
	mine := githubtest.Pull{Number: 9, Repository: "mallory/app", Branch: "feature", SHA: commit("a"), Base: "main"}
	with := func(change func(*githubtest.Pull)) []githubtest.Pull {
		p := mine
		change(&p)
		return []githubtest.Pull{p}
	}
	for name, c := range map[string]struct {
		pulls []githubtest.Pull
		want  int
	}{
		"found":                    {[]githubtest.Pull{mine}, 9},
		"it has moved on":          {with(func(p *githubtest.Pull) { p.SHA = commit("b") }), 0},
		"it is closed":             {with(func(p *githubtest.Pull) { p.Closed = true }), 0},
		"another branch":           {with(func(p *githubtest.Pull) { p.Branch = "feature2" }), 0},
		"another repository":       {with(func(p *githubtest.Pull) { p.Repository = "mallory/other" }), 0},
		"two, and no way to tell":  {append(with(func(p *githubtest.Pull) { p.Number, p.Base = 10, "release" }), mine), 0},
		"beside one of another":    {append(with(func(p *githubtest.Pull) { p.Number, p.Repository = 10, "mallory/other" }), mine), 9},
		"the same commit, by us":   {with(func(p *githubtest.Pull) { p.Repository = "octo/app" }), 0},
		"none, and nothing breaks": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGitHub(t)
			for _, p := range c.pulls {
				g.SetPull(p)
			}
			env := envOf(t, "workflow_run", triggered("feature", repo(2, "mallory/app")))
			j := g.jobOf(env)
			err := j.Client.ResolvePull(t.Context(), &j.Job)
			switch {
			case c.want == 0 && err == nil:
				t.Errorf("pull request %d is taken", j.Job.Pull.Number)
			case c.want != 0 && (err != nil || j.Job.Pull.Number != c.want || !j.Job.Pull.Fork):
				t.Errorf("error %v, pull request %+v, want %d of a fork", err, j.Job.Pull, c.want)
			}
		})
	}
}

func TestMergeBase(t *testing.T) {
	g := newGitHub(t)
	j := g.job(100, 1, commit("a"))
	if err := j.Client.FindMergeBase(t.Context(), j.Job.Pull); err != nil || j.Job.Pull.MergeBase != commit("e") {
		t.Errorf("the merge base is %q (%v), want %s", j.Job.Pull.MergeBase, err, commit("e"))
	}
	j.publish(t, fine())
	wantIn(t, "the comment", g.only(t).Body, "commit [`aaaaaaaaaa`](https://github.example/octo/app/commit/"+commit("a")+")", "merge base [`eeeeeeeeee`](https://github.example/octo/app/commit/"+commit("e")+")")
}

func TestCommitsUpTo(t *testing.T) {
	g := newGitHub(t)
	var all []string
	for i := range 250 {
		all = append(all, fmt.Sprintf("%040x", 1000+i))
	}
	g.SetCommits(all...)
	c := g.job(100, 1, commit("a")).Client
	for _, want := range []struct {
		from, most, n int
		more          bool
	}{{0, 300, 250, false}, {40, 300, 210, false}, {0, 150, 150, true}, {0, 100, 100, true}, {0, 250, 250, false}, {50, 200, 200, false}} {
		got, err := c.CommitsUpTo(t.Context(), all[want.from], want.most)
		if err != nil || !slices.Equal(got.IDs, all[want.from:want.from+want.n]) || got.More != want.more {
			t.Errorf("from %d, at most %d: %d commits, more %t (%v), want %d, %t", want.from, want.most, len(got.IDs), got.More, err, want.n, want.more)
		}
		if last := githubtest.Committed(want.from + want.n - 1); !got.Since.Equal(last) {
			t.Errorf("from %d, at most %d: since %s, want %s", want.from, want.most, got.Since, last)
		}
	}
}

func FuzzReadJob(f *testing.F) {
	f.Add("pull_request", `{"pull_request":{"number":7,"head":{"sha":"`+commit("a")+`","repo":null},"base":{"sha":"x"}}}`)
	f.Add("workflow_run", `{"repository":{"id":1},"workflow_run":{"event":"pull_request","pull_requests":[{"number":7,"base":{"repo":{"id":1}}}]}}`)
	f.Fuzz(func(t *testing.T, event, payload string) {
		file := filepath.Join(t.TempDir(), "event.json")
		if err := os.WriteFile(file, []byte(payload), 0o644); err != nil {
			t.Fatal(err)
		}
		env := map[string]string{"GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": file, "GITHUB_REPOSITORY": "octo/app"}
		j, err := githubactions.ReadJob(func(n string) string { return env[n] })
		if err == nil && (strings.ContainsAny(j.HeadSHA+j.RunURL, " \n\r`") || j.Repository() != "octo/app") {
			t.Errorf("the job is %+v", j)
		}
	})
}
