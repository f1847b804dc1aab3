package action_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/exit"
)

// A nightly refresh adds references for pull requests, and refuses to on a pull request's event.
func TestActionRefresh(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	before := w.accepted()
	w.env["INPUT_MODE"] = "refresh"
	r := w.apkgate("action", "run")
	w.want(r, exit.StatusUsage)
	contains(t, "the error", r.Stderr, "mode refresh on the event pull_request")
	if n := w.accepted(); n != before {
		t.Fatalf("%d runs are accepted after a refresh on a pull request, want the %d of before", n, before)
	}
	w.env["GITHUB_EVENT_NAME"], w.env["GITHUB_REF"] = "workflow_dispatch", "refs/heads/feature"
	w.event(map[string]any{})
	for ref, branches := range map[string]string{"refs/heads/feature": "", "refs/tags/main": "", "refs/heads/main": "release"} {
		w.env["GITHUB_REF"], w.env["INPUT_BRANCHES"] = ref, branches
		r := w.apkgate("action", "run")
		w.want(r, exit.StatusUsage)
		contains(t, "the error", r.Stderr, "mode refresh on "+ref, "the input branches")
	}
	if n := w.accepted(); n != before {
		t.Fatalf("%d runs are accepted after refreshes on other branches, want the %d of before", n, before)
	}

	w.env["GITHUB_EVENT_NAME"], w.env["GITHUB_REF"], w.env["INPUT_BRANCHES"] = "schedule", "refs/heads/main", ""
	w.event(map[string]any{"schedule": "0 3 * * *"})
	w.want(w.apkgate("action", "run"), exit.StatusPass)
	refreshed := w.accepted()
	if refreshed <= before {
		t.Errorf("%d runs are accepted after the refresh, want more than the %d of before", refreshed, before)
	}
	checks := w.Checks()
	if c := checks[len(checks)-1]; c.Name != "apkgate (refresh apkgate.yml)" || c.Conclusion == "failure" || c.HeadSHA != strings.Repeat("f", 40) {
		t.Errorf("the check run is %+v", c)
	}
	w.build("demo-worse")
	w.want(w.apkgate("action", "run"), exit.StatusRegression)
	contains(t, "the summary", w.read("summary"), "Regression")
	if n := w.accepted(); n != refreshed {
		t.Errorf("%d runs are accepted after a worse build, want the %d of before", n, refreshed)
	}
	if n := len(w.Comments(7)); n != 0 {
		t.Errorf("%d comments, though it is about no pull request", n)
	}
}

// GitHub names the main branch's commit for a comment's event too, and a workflow that is started
// manually may check out anything: neither becomes a reference.
func TestActionRefreshesOnlyFromTheBranch(t *testing.T) {
	w := newWorkspace(t)
	w.env["INPUT_MODE"], w.env["GITHUB_REF"] = "refresh", "refs/heads/main"
	for _, event := range []string{"issue_comment", "issues", "release", "pull_request_target", "workflow_run", "merge_group"} {
		w.env["GITHUB_EVENT_NAME"] = event
		w.event(map[string]any{})
		r := w.apkgate("action", "run")
		w.want(r, exit.StatusUsage)
		contains(t, "the error", r.Stderr, "mode refresh on the event "+event, "run it on schedule, push, workflow_dispatch and repository_dispatch")
	}
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", w.dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput()
		if err != nil {
			t.Skipf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "a feature")
	w.env["GITHUB_EVENT_NAME"] = "workflow_dispatch"
	w.event(map[string]any{"repository": map[string]any{"default_branch": "main"}})
	r := w.apkgate("action", "run")
	w.want(r, exit.StatusUsage)
	head := git("rev-parse", "HEAD")
	contains(t, "the error", r.Stderr, head[:10]+" is checked out, and refs/heads/main is at ffffffffff")
	w.env["GITHUB_SHA"] = head
	w.want(w.apkgate("action", "run"), exit.StatusPass)
	if w.accepted() == 0 {
		t.Error("no run is accepted of the commit that GitHub names")
	}
}

func TestActionCompare(t *testing.T) {
	w := newWorkspace(t)
	w.env["GITHUB_EVENT_NAME"] = "workflow_dispatch"
	w.event(map[string]any{})
	w.env["INPUT_MODE"], w.env["INPUT_BASE"], w.env["INPUT_HEAD"], w.env["INPUT_ROUNDS"] = "compare", "demo-good.apk", "demo-worse.apk", "12"
	w.want(w.apkgate("action", "run"), exit.StatusRegression)
	if n := len(w.Checks()); n != 0 {
		t.Errorf("%d check runs on the tip of the branch that the workflow was started on", n)
	}
	if strings.Contains(w.read("summary"), strings.Repeat("f", 10)) {
		t.Errorf("the head is taken for the tip of that branch:\n%s", w.read("summary"))
	}
	w.env["INPUT_COMMIT"], w.env["INPUT_BASE-COMMIT"] = headSHA, baseSHA
	w.want(w.apkgate("action", "run"), exit.StatusRegression)
	if c := w.Checks()[0]; c.Name != "apkgate (compare apkgate.yml)" || c.Conclusion != "failure" || c.HeadSHA != headSHA {
		t.Errorf("the check run is %+v", c)
	} else if len(c.Annotations) == 0 || c.Annotations[0].Path != "apkgate.yml" || !strings.Contains(c.Annotations[0].Message, "base ") {
		t.Errorf("annotations are %v, want what got worse, in the configuration", c.Annotations)
	}
	contains(t, "the verdict file", w.read("apkgate-report/verdict.json"), headSHA, baseSHA)
	if page := w.read("apkgate-report/report.html"); strings.Count(page, `<figure id="p-t`) == 0 {
		t.Error("the page has no picture of the rounds")
	}
	contains(t, "the summary", w.read("summary"), "xychart")
	contains(t, "the summary", w.read("summary"), "Regression")
	contains(t, "the verdict file", w.read("apkgate-report/verdict.json"), "apkgate.compare/1")
	contains(t, "the outputs", w.read("output"), "report-path<<", "regression")
	w.env["INPUT_HEAD"] = ""
	w.want(w.apkgate("action", "run"), exit.StatusUsage)
}
