package action_test

import (
	"os"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

// A fork's token may only read. Its run stays green if nothing is worse; the report goes through
// the artifact and a second workflow.
func TestActionOnAFork(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	w.SetPull(githubtest.Pull{Number: 9, Repository: "mallory/app", Branch: "patch", SHA: headSHA, Base: "main"})
	w.event(map[string]any{"pull_request": map[string]any{
		"number": 9,
		"head":   map[string]any{"sha": headSHA, "ref": "patch", "repo": map[string]any{"full_name": "mallory/app"}},
		"base":   map[string]any{"ref": "main", "repo": map[string]any{"full_name": "octo/app"}},
	}})
	w.ReadOnly(true)
	first := w.apkgate("action", "run")
	w.want(first, exit.StatusPass)
	if n := strings.Count(first.Stdout, "::warning"); n != 1 {
		t.Errorf("%d warnings, want one:\n%s", n, first.Stdout)
	}
	contains(t, "the job summary", w.read("summary"), "The devices are simulated.")

	w.ReadOnly(false)
	w.env["GITHUB_EVENT_NAME"], w.env["GITHUB_RUN_ID"] = "workflow_run", "300"
	w.event(map[string]any{
		"repository": map[string]any{"id": 1, "full_name": "octo/app"},
		"workflow_run": map[string]any{
			"id": 100, "run_number": 10, "run_attempt": 1, "event": "pull_request", "head_sha": headSHA, "head_branch": "patch",
			"head_repository": map[string]any{"full_name": "mallory/app", "owner": map[string]any{"login": "mallory"}}, "pull_requests": []any{},
		},
	})
	os.Remove("apkgate.yml") // the second workflow checks nothing out
	w.env["INPUT_COMMENT"] = "regression"
	w.want(w.apkgate("action", "comment"), exit.StatusPass)
	if n := len(w.Comments(9)); n != 0 {
		t.Errorf("%d comments on what is no regression, want none with comment: regression", n)
	}
	delete(w.env, "INPUT_COMMENT")
	w.want(w.apkgate("action", "comment"), exit.StatusPass)
	if len(w.Comments(9)) != 1 || len(w.Comments(7)) != 0 || len(w.Checks()) != 0 {
		t.Fatalf("comments on 9: %d, on 7: %d, check runs: %d; want 1, 0, 0", len(w.Comments(9)), len(w.Comments(7)), len(w.Checks()))
	}
	contains(t, "the comment", w.Comments(9)[0].Body, "Measured by a run on a fork's code", "The devices are simulated.", "run=100")

	w.write("apkgate-report/evil.sh", "#!/bin/sh")
	w.want(w.apkgate("action", "comment"), exit.StatusUsage)
}

// Each leg of a fork's matrix leaves its own report.
func TestActionCommentsForEachLegOfAFork(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	w.env["INPUT_BASE_APK"] = "demo-good.apk" // decides what the history leaves undecided
	for leg, build := range map[string]string{"api 29": "demo-worse", "api 34": "demo-good"} {
		w.build(build)
		w.env["INPUT_LEG"], w.env["INPUT_ARTIFACT"] = leg, "downloaded/apkgate-report-"+leg[4:]
		w.env["INPUT_COMMENT"] = "false"
		w.apkgate("action", "run")
	}
	w.env["INPUT_LEG"], w.env["INPUT_ARTIFACT"], w.env["INPUT_COMMENT"] = "", "downloaded", ""
	w.env["GITHUB_EVENT_NAME"], w.env["GITHUB_RUN_ID"] = "workflow_run", "300"
	w.event(map[string]any{
		"repository": map[string]any{"id": 1, "full_name": "octo/app"},
		"workflow_run": map[string]any{
			"id": 100, "run_number": 10, "run_attempt": 1, "event": "pull_request", "head_sha": headSHA, "head_branch": "feature",
			"head_repository": map[string]any{"full_name": "octo/app", "owner": map[string]any{"login": "octo"}}, "pull_requests": []any{},
		},
	})
	w.want(w.apkgate("action", "comment"), exit.StatusPass)
	if n := len(w.Comments(7)); n != 1 {
		t.Fatalf("%d comments, want one", n)
	}
	contains(t, "the comment", w.Comments(7)[0].Body, "### ❌ Regression: api 29: ", "| api 29 | ❌ Regression |", "| api 34 | ✅ Pass |")

	meta := w.read("downloaded/apkgate-report-29/meta.json")
	w.write("downloaded/apkgate-report-29/meta.json", strings.Replace(meta, "api 29", "<img src=x>", 1))
	w.want(w.apkgate("action", "comment"), exit.StatusUsage)
	w.env["INPUT_ARTIFACT"] = "nothing"
	w.want(w.apkgate("action", "comment"), exit.StatusPass)
}
