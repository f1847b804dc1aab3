package githubactions_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/artifact"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

// folder writes a good report folder.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "apkgate-report")
	in := worse(2)
	in.Notes = []string{"The devices are simulated."}
	if _, err := artifact.WriteFolder(dir, artifact.Report{Input: in, Places: places}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPostCommentOfAForksReport(t *testing.T) {
	g := newGitHub(t)
	g.SetPull(githubtest.Pull{Number: 9, Repository: "mallory/app", Branch: "feature", SHA: commit("a"), Base: "main"})
	// The first workflow may only read: it leaves a folder.
	dir := folder(t)
	// The second one has a token, and the event of the first.
	second := g.jobOf(envOf(t, "workflow_run", triggered("feature", repo(2, "mallory/app"))))
	if err := second.Client.ResolvePull(t.Context(), &second.Job); err != nil {
		t.Fatal(err)
	}
	read, err := artifact.ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	in := read.Input
	in.Notes = append([]string{githubactions.ForkNote}, in.Notes...)
	for range 2 {
		if err := second.PostComment(t.Context(), githubactions.ContentOf(in, nil)); err != nil {
			t.Fatal(err)
		}
	}
	all := g.Comments(9)
	if len(all) != 1 || len(g.Comments(7)) != 0 {
		t.Fatalf("%d comments on the fork's pull request and %d on another, want one and none", len(all), len(g.Comments(7)))
	}
	wantIn(t, "the comment", all[0].Body, "Measured by a run on a fork's code", "The devices are simulated.", "❌ Regression",
		"run=100 number=10 attempt=2 head="+commit("a"), "actions/runs/100/attempts/2#artifacts")
	if len(g.Checks()) != 0 {
		t.Error("a check run rests on what a fork wrote")
	}
}

// Files kept with a fork's runs are in a subfolder that is not read.
func TestReadFolderIgnoresKeptFiles(t *testing.T) {
	dir := folder(t)
	inside := filepath.Join(dir, "evidence")
	err := errors.Join(os.Mkdir(inside, 0o755), os.WriteFile(filepath.Join(inside, "1f0c-open.pftrace"), []byte("a trace"), 0o644),
		os.Symlink("/dev/zero", filepath.Join(inside, "verdict.json")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := artifact.ReadFolder(dir); err != nil {
		t.Error(err)
	}
}

func TestReadFolderRejectsHostileArtifacts(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(outside, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) }
	}
	for name, c := range map[string]struct {
		spoil func(dir string) error
		says  string
	}{
		"another file":             {write("run.sh", "#!/bin/sh"), `it holds "run.sh", want only verdict.json`},
		"a name with a line break": {write("x\n::error::y", ""), `"x\n::error::y"`},
		"a folder": {func(dir string) error {
			os.Remove(filepath.Join(dir, "report.html"))
			return os.Mkdir(filepath.Join(dir, "report.html"), 0o755)
		}, "report.html is not a regular file"},
		"a link called a profile": {func(dir string) error { return os.Symlink(outside, filepath.Join(dir, "x.pb.gz")) }, "x.pb.gz is not a regular file"},
		"a link called evidence":  {func(dir string) error { return os.Symlink(filepath.Dir(outside), filepath.Join(dir, "evidence")) }, `it holds "evidence"`},
		"a file called evidence":  {write("evidence", ""), `it holds "evidence"`},
		"too many profiles": {func(dir string) error {
			for i := range 2000 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.csv", i)), nil, 0o644); err != nil {
					return err
				}
			}
			return nil
		}, "more than 2000 files"},
		"a link out of it": {func(dir string) error {
			os.Remove(filepath.Join(dir, "verdict.json"))
			return os.Symlink(outside, filepath.Join(dir, "verdict.json"))
		}, "verdict.json is not a regular file"},
		"a file of 65 MiB that takes no space": {func(dir string) error { return os.Truncate(filepath.Join(dir, "report.html"), 65<<20) }, "at most 64 MiB"},
		"a verdict of 33 MiB":                  {func(dir string) error { return os.Truncate(filepath.Join(dir, "verdict.json"), 33<<20) }, "verdict.json is larger than"},
		"no verdict":                           {func(dir string) error { return os.Remove(filepath.Join(dir, "verdict.json")) }, "verdict.json"},
		"a verdict of another shape":           {write("verdict.json", `{"format":"apkgate.verdict/1","verdict":"pass","runs":{"id":1}}`), "verdict.json: read the verdict"},
		"a verdict of another format":          {write("verdict.json", `{"format":"apkgate.verdict/9","verdict":"pass"}`), `format is "apkgate.verdict/9"`},
		"an unknown outcome":                   {write("verdict.json", `{"format":"apkgate.verdict/1","verdict":"approved"}`), `verdict is "approved"`},
		"nesting without end":                  {write("verdict.json", strings.Repeat("[", 100_000)), "verdict.json"},
		"6,000 runs":                           {write("verdict.json", `{"format":"apkgate.verdict/1","verdict":"pass","runs":[`+strings.Repeat(`{"verdict":"pass"},`, 5999)+`{"verdict":"pass"}]}`), "6000 runs, at most 5000"},
		"notes of another shape":               {write("meta.json", `{"format":"apkgate.artifact/1","notes":7}`), "meta.json"},
		"notes of 1 MiB":                       {write("meta.json", strings.Repeat(" ", 1<<20)), "meta.json is larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			if err := c.spoil(dir); err != nil {
				t.Fatal(err)
			}
			_, err := artifact.ReadFolder(dir)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want one that says %q", err, c.says)
			}
		})
	}
	if _, err := artifact.ReadFolder(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that is not there is read")
	}
}

// Names that an app, a device or a fork chooses are escaped in what is posted.
func TestPublishEscapesHostileText(t *testing.T) {
	g := newGitHub(t)
	in := worse(1)
	v := &in.Verdict.Runs[0]
	v.Scenario = "-->\n<!-- apkgate:v1 config=other run=1 -->"
	v.Deviations[0].Event = "</details><script>alert(1)</script> @octocat #1\n::error::owned"
	v.Comparisons = v.Deviations
	in.Notes = []string{"<!-- apkgate:v1 config=apkgate.yml run=999999 number=1 attempt=1 head= sum= -->"}
	j := g.job(100, 1, commit("a"))
	j.Begin(t.Context())
	if err := j.Publish(t.Context(), githubactions.ContentOf(in, nil)); err != nil {
		t.Fatal(err)
	}
	body := g.only(t).Body
	for _, bad := range []string{"<script", "@octocat", "</details><script"} {
		if strings.Contains(body, bad) {
			t.Errorf("the comment holds %q:\n%s", bad, body)
		}
	}
	if strings.Count(body, "<!--") != 1 {
		t.Errorf("the comment has a second marker:\n%s", body)
	}
	for line := range strings.Lines(j.log.String()) {
		if strings.HasPrefix(line, "::error::owned") {
			t.Errorf("an event's name is a workflow command:\n%s", j.log)
		}
	}
}

func FuzzReadFolder(f *testing.F) {
	f.Add([]byte(`{"format":"apkgate.verdict/1","verdict":"regression","runs":[{"verdict":"regression","deviations":[{"direction":"regression","metric":"frames.count"}]}]}`), []byte(`{"format":"apkgate.artifact/1","notes":["x"]}`))
	f.Fuzz(func(t *testing.T, verdict, meta []byte) {
		dir := t.TempDir()
		os.WriteFile(filepath.Join(dir, "verdict.json"), verdict, 0o644)
		os.WriteFile(filepath.Join(dir, "meta.json"), meta, 0o644)
		r, err := artifact.ReadFolder(dir)
		if err != nil {
			return
		}
		if _, err := artifact.WriteFolder(filepath.Join(dir, "again"), artifact.Report{Input: r.Input, Places: places, Builds: r.Builds}); err != nil && !strings.Contains(err.Error(), "JSON") {
			t.Errorf("what was read can't be shown: %v", err)
		}
	})
}
