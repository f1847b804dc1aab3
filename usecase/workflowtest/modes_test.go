package workflowtest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// accepted counts the accepted runs of the history.
func (r *repository) accepted(store string) int {
	r.t.Helper()
	cmd := exec.Command(program(r.t), "baseline", "export", "--state", "accepted", "--store", store)
	cmd.Dir = r.dir
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("apkgate baseline export: %v\n%s", err, out)
	}
	return strings.Count(string(out), `"apkgate.run/1"`)
}

func TestNightlyAcceptsWhatIsNoRegression(t *testing.T) {
	r := newRepository(t, "mail-good")
	history := filepath.Join(r.home, "history.db")
	before := r.accepted(history)
	j := r.run("nightly.yml", "schedule", map[string]any{"schedule": "17 2 * * *"})
	if j.failed {
		t.Error("the workflow failed, though the build is as it was")
	}
	if n := r.accepted(history) - before; n != 2 {
		t.Errorf("%d runs were accepted, want 2, one a phone", n)
	}
	contains(t, "the summary", j.summary, "2 runs")
}

// The first night keeps the build that it accepts; the second one measures alternately with it what it
// can't clear.
func TestNightlyRefusesARegression(t *testing.T) {
	r := newRepository(t, "mail-good")
	config := filepath.Join(r.dir, "apkgate.yml")
	r.write(config, r.read(config)+"\nevidence: {apk: true}\n")
	r.commit("keep the builds of accepted runs")
	if j := r.run("nightly.yml", "schedule", map[string]any{"schedule": "17 2 * * *"}); j.failed {
		t.Fatal("the first night failed")
	}
	r.copy(filepath.Join(demo(t), "mail-worse.apk"), filepath.Join(r.dir, "app.simapp"))
	r.commit("make it worse")
	history := filepath.Join(r.home, "history.db")
	before := r.accepted(history)
	j := r.run("nightly.yml", "schedule", map[string]any{"schedule": "17 2 * * *"})
	if !j.failed || j.outputs["verdict"] != "regression" {
		t.Errorf("failed is %v and the verdict %q, want a regression that fails", j.failed, j.outputs["verdict"])
	}
	if n := r.accepted(history) - before; n != 0 {
		t.Errorf("%d runs of a worse build were accepted", n)
	}
}

// On temporary runners, the history is a branch of the repository: what the nightly run accepts is
// what the pull request is compared with.
func TestHistoryOnABranch(t *testing.T) {
	r := newRepository(t, "mail-good")
	remote := filepath.Join(t.TempDir(), "mail.git")
	r.git("init", "--quiet", "--bare", remote)
	r.git("remote", "set-url", "origin", remote)
	config := r.read(filepath.Join(r.dir, "apkgate.yml"))
	history := filepath.Join(r.home, "history.db")
	r.write(filepath.Join(r.dir, "apkgate.yml"), strings.Replace(config, "sqlite: "+history, "branch: origin#apkgate-history", 1))
	r.commit("keep the history on a branch")
	if j := r.run("nightly.yml", "schedule", map[string]any{"schedule": "17 2 * * *"}); j.failed {
		t.Fatal("the nightly workflow failed")
	}
	if refs := r.git("ls-remote", remote); !strings.Contains(refs, "refs/heads/apkgate-history") {
		t.Fatalf("the repository has no branch apkgate-history: %q", refs)
	}
	j := r.run("pull-request.yml", "pull_request", r.pullRequest(owner+"/"+name))
	contains(t, "the summary", j.summary, "| 2 runs |") // one of each phone
	if n := len(r.github.Comments(pull)); n != 1 {
		t.Errorf("%d comments, want 1", n)
	}
}

// The workflow runs on the tip of main, which is neither of the compared builds.
func TestCompareTwoBuilds(t *testing.T) {
	r := newRepository(t, "mail-good")
	base := r.head
	r.git("branch", "good")
	r.copy(filepath.Join(demo(t), "mail-worse.apk"), filepath.Join(r.dir, "app.simapp"))
	r.commit("make it worse")
	worse := r.head
	r.git("branch", "worse")
	r.commit("go on", "--allow-empty")
	j := r.run("compare.yml", "workflow_dispatch", map[string]any{"inputs": map[string]any{"base": "good", "head": "worse"}})
	if !j.failed || j.outputs["verdict"] != "regression" {
		t.Errorf("failed is %v and the verdict %q, want a regression that fails", j.failed, j.outputs["verdict"])
	}
	contains(t, "the summary", j.summary, "scroll", "The devices are simulated", "commit "+base[:10], "commit "+worse[:10])
	if n := len(r.github.Comments(pull)); n != 0 {
		t.Errorf("%d comments, want none: no pull request is asked about", n)
	}
	if checks := r.github.Checks(); len(checks) != 1 || checks[0].HeadSHA != worse || checks[0].Conclusion != "failure" {
		t.Errorf("the check runs are %+v, want one on the head %s", checks, worse)
	}
}
