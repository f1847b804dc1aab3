package workflowtest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

const pull = 7

// pullRequest is the event of a pull request from a branch of a repository. Its merge into the
// commit before the change is checked out, as on GitHub.
func (r *repository) pullRequest(from string) map[string]any {
	r.git("reset", "--quiet", "--soft", r.git("-c", "user.name=test", "-c", "user.email=test@example.org",
		"commit-tree", "-m", "merge", "-p", beforeTheChange, "-p", r.head, "HEAD^{tree}"))
	r.github.SetPull(githubtest.Pull{Number: pull, Repository: from, Branch: "faster", SHA: r.head, Base: "main", BaseSHA: base})
	return map[string]any{
		"number": pull,
		"pull_request": map[string]any{
			"number": pull,
			"head":   map[string]any{"sha": r.head, "ref": "faster", "repo": map[string]any{"full_name": from}},
			"base":   map[string]any{"sha": base, "ref": "main", "repo": map[string]any{"id": 1, "full_name": owner + "/" + name}},
		},
		"repository": map[string]any{"id": 1, "full_name": owner + "/" + name, "owner": map[string]any{"login": owner}},
	}
}

// base is a commit that the pull request is compared with. It need not exist.
const base = "1111111111111111111111111111111111111111"

func TestPullRequestThatMakesTheAppWorse(t *testing.T) {
	r := newRepository(t, "mail-worse")
	j := r.run("pull-request.yml", "pull_request", r.pullRequest(owner+"/"+name), "GITHUB_RUN_ID=100", "GITHUB_RUN_NUMBER=1")
	if !j.failed {
		t.Error("the workflow succeeded, though the build is worse")
	}
	if j.outputs["verdict"] != "regression" || j.outputs["regressions"] != "2" {
		t.Errorf("outputs are %v, want the verdict regression, and 2 regressions, one a phone", j.outputs)
	}
	comments := r.github.Comments(pull)
	if len(comments) != 1 {
		t.Fatalf("%d comments, want 1", len(comments))
	}
	contains(t, "the comment", comments[0].Body, "egression", "scroll", "The devices are simulated")
	contains(t, "the summary", j.summary, "egression", "scroll")
	checks := r.github.Checks()
	if len(checks) != 1 || checks[0].Status != "completed" || checks[0].Conclusion != "failure" || checks[0].HeadSHA != r.head {
		t.Errorf("check runs are %+v, want one on %s that failed", checks, r.head)
	}
	want := "apkgate.sarif evidence meta.json picture.svg report.html report.md runs.jsonl.zst verdict.json"
	if got := strings.Join(files(t, filepath.Join(r.artifacts, "apkgate-report")), " "); got != want {
		t.Errorf("the artifact holds %s, want %s", got, want)
	}
}

func TestPullRequestThatIsFixed(t *testing.T) {
	r := newRepository(t, "mail-worse")
	r.onOnePhone()
	r.commit("measure on one phone")
	if j := r.run("pull-request.yml", "pull_request", r.pullRequest(owner+"/"+name), "GITHUB_RUN_ID=100", "GITHUB_RUN_NUMBER=1"); !j.failed {
		t.Error("the workflow passed, though the build is worse")
	}
	if kept := files(t, r.cache); len(kept) != 1 || !strings.HasPrefix(kept[0], "apkgate-base-") {
		t.Errorf("a job that ends red keeps %q, want the build before the change", kept)
	}
	r.copy(filepath.Join(demo(t), "mail-good.apk"), filepath.Join(r.dir, "app.simapp"))
	r.commit("fix it")
	j := r.run("pull-request.yml", "pull_request", r.pullRequest(owner+"/"+name), "GITHUB_RUN_ID=101", "GITHUB_RUN_NUMBER=2")
	if j.failed {
		t.Error("the workflow failed, though the build is as it was")
	}
	if v := j.outputs["verdict"]; v != "pass" && v != "improvement" { // equal builds may look better by chance, never worse
		t.Errorf("the verdict is %q, want pass or improvement", v)
	}
	comments := r.github.Comments(pull)
	if len(comments) != 1 || comments[0].Edits < 1 {
		t.Fatalf("comments are %+v, want one, edited", comments)
	}
	contains(t, "the comment", comments[0].Body, "### ✅ ", r.head[:7])
	if checks := r.github.Checks(); len(checks) != 2 || checks[1].Conclusion != "success" {
		t.Errorf("check runs are %+v, want a second one that succeeded", checks)
	}
}

// The app crashes at the second commit: nothing of the first one's pass remains.
func TestCrashAfterAPass(t *testing.T) {
	r := newRepository(t, "mail-good")
	r.onOnePhone()
	r.commit("measure on one phone")
	if j := r.run("pull-request.yml", "pull_request", r.pullRequest(owner+"/"+name), "GITHUB_RUN_ID=100", "GITHUB_RUN_NUMBER=1"); j.failed || j.outputs["verdict"] != "pass" && j.outputs["verdict"] != "improvement" {
		t.Fatalf("failed is %v and the verdict %q, want a pass", j.failed, j.outputs["verdict"])
	}
	app := filepath.Join(r.dir, "app.simapp")
	r.write(app, r.read(app)+"\nfault crash after scroll\n")
	r.commit("crash")
	j := r.run("pull-request.yml", "pull_request", r.pullRequest(owner+"/"+name), "GITHUB_RUN_ID=101", "GITHUB_RUN_NUMBER=2")
	if !j.failed || j.outputs["verdict"] != "invalid" {
		t.Errorf("failed is %v and the verdict %q, want an invalid one that fails", j.failed, j.outputs["verdict"])
	}
	comments := r.github.Comments(pull)
	if len(comments) != 1 || strings.Contains(comments[0].Body, "✅") {
		t.Fatalf("comments are %+v, want one without a pass", comments)
	}
	contains(t, "the comment", comments[0].Body, "Invalid", "the app crashed", r.head[:10])
	contains(t, "the summary", j.summary, "the app crashed")
	if checks := r.github.Checks(); len(checks) != 2 || checks[1].HeadSHA != r.head || checks[1].Conclusion != "failure" {
		t.Errorf("check runs are %+v, want a second one that failed", checks)
	}
	contains(t, "the artifact", r.read(filepath.Join(r.artifacts, "apkgate-report/verdict.json")), `"verdict": "invalid"`)
}

// A gate whose devices need no emulator's step uses the action itself.
func TestOwnDevices(t *testing.T) {
	r := newRepository(t, "mail-worse")
	j := r.run("own-devices.yml", "pull_request", r.pullRequest(owner+"/"+name))
	if !j.failed {
		t.Error("the workflow succeeded, though the build is worse")
	}
	contains(t, "the log", j.log, "The verdict is regression, with 2 regressions.", "apkgate "+version+", SHA-256")
	if n := len(r.github.Comments(pull)); n != 1 {
		t.Errorf("%d comments, want 1", n)
	}
	if len(files(t, filepath.Join(r.artifacts, "apkgate-report"))) == 0 {
		t.Error("the report was not uploaded")
	}
	for _, output := range []string{"report-path", "verdict-path", "sarif-path", "comment-url", "check-url"} {
		if j.outputs[output] == "" {
			t.Errorf("the output %s is empty", output)
		}
	}
}

func TestOwnDevicesAreNotForForks(t *testing.T) {
	r := newRepository(t, "mail-worse")
	j := r.run("own-devices.yml", "pull_request", r.pullRequest("stranger/mail"))
	if requests := r.github.Requests(); j.failed || len(requests) != 0 || j.log != "" {
		t.Errorf("the job ran: %q\n%s", requests, j.log)
	}
}

// On a fork the gate's token may only read: the verdict counts, and the second workflow comments.
func TestPullRequestFromFork(t *testing.T) {
	r := newRepository(t, "mail-worse")
	r.github.ReadOnly(true)
	j := r.run("pull-request.yml", "pull_request", r.pullRequest("stranger/mail"), "GITHUB_RUN_ID=100")
	if !j.failed || j.outputs["verdict"] != "regression" {
		t.Errorf("failed is %v and the verdict %q, want a regression that fails", j.failed, j.outputs["verdict"])
	}
	if n := len(r.github.Comments(pull)); n != 0 {
		t.Fatalf("%d comments were made with a token that may only read", n)
	}
	contains(t, "the summary", j.summary, "egression")

	r.github.ReadOnly(false)
	j = r.run("fork-comment.yml", "workflow_run", r.workflowRun("stranger/mail"))
	if j.failed {
		t.Error("the commenter failed; the verdict's colour is the first workflow's")
	}
	comments := r.github.Comments(pull)
	if len(comments) != 1 {
		t.Fatalf("%d comments, want 1", len(comments))
	}
	contains(t, "the comment", comments[0].Body, "egression", "fork")
}

// workflowRun is the event of the gate's finished run for a fork. For those, GitHub lists no pull
// requests.
func (r *repository) workflowRun(from string) map[string]any {
	stranger, _, _ := strings.Cut(from, "/")
	return map[string]any{
		"action": "completed",
		"workflow_run": map[string]any{
			"id": 100, "run_number": 1, "run_attempt": 1, "event": "pull_request", "conclusion": "failure",
			"head_sha": r.head, "head_branch": "faster", "pull_requests": []any{},
			"head_repository": map[string]any{"id": 2, "full_name": from, "owner": map[string]any{"login": stranger}},
		},
		"repository": map[string]any{"id": 1, "full_name": owner + "/" + name, "owner": map[string]any{"login": owner}},
	}
}

func TestForkCommentWithoutReport(t *testing.T) {
	r := newRepository(t, "mail-good")
	r.pullRequest("stranger/mail")
	if j := r.run("fork-comment.yml", "workflow_run", r.workflowRun("stranger/mail")); j.failed {
		t.Error("the commenter failed, though there was nothing to say")
	}
	if n := len(r.github.Comments(pull)); n != 0 {
		t.Errorf("%d comments, want none", n)
	}
}
