package workflowtest

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/usecase/githubactions/acceptance"
)

// commented is the event of a new comment on the pull request.
func (r *repository) commented(by, body string) map[string]any {
	comment := r.github.AddComment(pull, by, body)
	user := map[string]any{"login": by, "type": "User"}
	return map[string]any{
		"action": "created", "sender": user,
		"issue": map[string]any{"number": pull, "pull_request": map[string]any{"url": "x"}},
		"comment": map[string]any{
			"id": comment.ID, "body": body, "user": user, "created_at": time.Now().Add(time.Hour),
			"html_url": "https://github.example/acme/mail/pull/7#issuecomment-1",
		},
		"repository": map[string]any{"id": 1, "full_name": owner + "/" + name, "owner": map[string]any{"login": owner}},
	}
}

// A pull request that is worse on purpose: a stranger's comment does nothing, a maintainer's turns
// the check green, and measured again it passes.
func TestAcceptingAChange(t *testing.T) {
	r := newRepository(t, "mail-worse")
	r.onOnePhone()
	r.commit("measure on one phone")
	r.github.Permit("ann", "write")
	event := r.pullRequest(owner + "/" + name)
	if j := r.run("pull-request.yml", "pull_request", event, "GITHUB_RUN_ID=100", "GITHUB_RUN_NUMBER=1"); !j.failed {
		t.Fatal("the workflow passed, though the build is worse")
	}
	conclusions := func() (all []string) {
		for _, c := range r.github.Checks() {
			all = append(all, c.Conclusion)
		}
		return all
	}
	if j := r.run("commands.yml", "issue_comment", r.commented("mallory", "/apkgate accept mine")); j.failed {
		t.Error("a stranger's comment fails a workflow")
	}
	if got := conclusions(); len(got) != 1 || got[0] != "failure" {
		t.Fatalf("after a stranger's comment the checks are %q", got)
	}
	if j := r.run("commands.yml", "issue_comment", r.commented("ann", "/apkgate accept larger pictures")); j.failed {
		t.Error("the command failed")
	}
	c := r.github.Checks()[0]
	if c.Conclusion != "success" || c.Title != "Accepted by ann: larger pictures" {
		t.Fatalf("the check is %s, %q", c.Conclusion, c.Title)
	}
	if record, ok := acceptance.Read(c.Text); !ok || len(record.Findings) == 0 || record.Head != r.head {
		t.Errorf("the record is %+v", record)
	}
	for _, comment := range r.github.Comments(pull) {
		if strings.HasPrefix(comment.Body, "<!-- apkgate:v1") {
			contains(t, "the comment", comment.Body, "> **Accepted** by [ann]", "larger pictures")
		}
	}
	j := r.run("pull-request.yml", "pull_request", event, "GITHUB_RUN_ID=100", "GITHUB_RUN_NUMBER=1", "GITHUB_RUN_ATTEMPT=2")
	if got := conclusions(); j.failed || len(got) != 2 || got[1] != "success" {
		t.Errorf("measured again, failed is %v and the checks are %q", j.failed, got)
	}
}
