package githubactions_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

// A job is cancelled while it measures: its check run ends at once, before anything else is cleaned
// up.
func TestCancelEndsTheCheckRun(t *testing.T) {
	g := newGitHub(t)
	j := g.job(100, 1, commit("a"))
	j.Begin(t.Context())
	j.Cancel()
	if c := g.Checks()[0]; c.Status != "completed" || c.Conclusion != "cancelled" {
		t.Fatalf("the check run is %+v, want it cancelled", c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	j.Abandon(ctx, context.Canceled)
	if n := len(g.Checks()[0].History); n != 2 {
		t.Errorf("the check run went through %d states, want in progress and cancelled", n)
	}
	if n := len(g.Comments(7)); n != 0 {
		t.Errorf("%d comments, though there is no verdict", n)
	}
}

// A verdict that is being posted when the signal comes is posted completely.
func TestPublishDuringCancellation(t *testing.T) {
	g := newGitHub(t)
	j := g.job(100, 1, commit("a"))
	j.Begin(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Publish(ctx, content(worse(1))); err != nil {
		t.Fatal(err)
	}
	if c := g.Checks()[0]; c.Conclusion != "failure" {
		t.Errorf("the check run concludes %q, want failure", c.Conclusion)
	}
	wantIn(t, "the comment", g.only(t).Body, "❌ Regression")
}

// The job of an older commit is cancelled by a push: the new commit's job reports for both.
func TestCancelOfAnOlderCommit(t *testing.T) {
	g := newGitHub(t)
	g.job(99, 1, commit("c")).publish(t, fine())
	old := g.job(100, 1, commit("b")) // the head is a…
	old.Begin(t.Context())
	old.Cancel()
	wantIn(t, "the comment", g.only(t).Body, "✅ Pass", "run=99")

	now := g.job(101, 1, commit("a"))
	now.Begin(t.Context())
	now.Cancel()
	wantIn(t, "the comment", g.only(t).Body, "No verdict for commit "+commit("a")[:10], "the job was cancelled")
}

// An app's text in an error can't create a row.
func TestFencedErrorIsNoRow(t *testing.T) {
	g := newGitHub(t)
	j := g.leg(100, 1, commit("a"), "one")
	j.Abandon(t.Context(), errors.New("the device says\n<!-- apkgate:row leg=two job= run=100 number=100 attempt=1 verdict=pass sum=0 headline=fine -->\n"))
	g.leg(100, 1, commit("a"), "three").publish(t, fine())
	if got := rows(g.only(t).Body); len(got) != 2 {
		t.Errorf("the rows are %q, want those of one and three", got)
	}
}

// A step that is killed leaves its check run in progress; a later step ends it.
func TestEndOfAKilledStep(t *testing.T) {
	g := newGitHub(t)
	g.job(99, 1, commit("b")).publish(t, fine())
	killed := g.leg(100, 1, commit("a"), "api 29")
	killed.Begin(t.Context())
	other := g.leg(100, 1, commit("a"), "api 34") // still at work on another runner
	other.Begin(t.Context())

	later := g.job(100, 1, commit("a"))
	later.env["RUNNER_TEMP"] = killed.env["RUNNER_TEMP"]
	if n, err := later.End(t.Context()); n != 1 || err != nil {
		t.Fatalf("%d check runs are ended (%v), want 1", n, err)
	}
	checks := g.Checks()
	if c := checks[1]; c.Name != "apkgate (api 29)" || c.Conclusion != "cancelled" {
		t.Errorf("the killed leg's check run is %+v", c)
	}
	if c := checks[2]; c.Status != "in_progress" {
		t.Errorf("the other leg's check run is %+v, want it left alone", c)
	}
	if got := rows(g.only(t).Body); len(got) != 1 || !strings.HasPrefix(got[0], "| api 29 | ⚪ No verdict | ") {
		t.Errorf("the rows are %q", got)
	}
	if n, err := later.End(t.Context()); n != 0 || err != nil {
		t.Errorf("%d more are ended (%v)", n, err)
	}
}

func TestEndAfterACompletedStep(t *testing.T) {
	for name, refused := range map[string]bool{"with a check run": false, "with a token that may not make one": true} {
		t.Run(name, func(t *testing.T) {
			g := newGitHub(t)
			if refused {
				g.Fail(githubtest.Fault{Method: "POST", Path: "/check-runs", Status: 403, Text: "Resource not accessible by integration"})
			}
			j := g.leg(100, 1, commit("a"), "")
			j.publish(t, worse(1))
			later := g.job(100, 1, commit("a"))
			later.env["RUNNER_TEMP"] = j.env["RUNNER_TEMP"]
			before := len(g.Requests())
			if n, err := later.End(t.Context()); n != 0 || err != nil || len(g.Requests()) != before {
				t.Errorf("%d are ended (%v), with %d requests", n, err, len(g.Requests())-before)
			}
			if checks := g.Checks(); !refused && checks[0].Conclusion != "failure" {
				t.Errorf("the check run concludes %q, want the verdict's failure", checks[0].Conclusion)
			}
		})
	}
}

// The devices fail on a new commit: the green comment of the old one would be mistaken for the new
// one's.
func TestAbandonReplacesAnOlderCommitsVerdict(t *testing.T) {
	g := newGitHub(t)
	g.job(99, 1, commit("b")).publish(t, fine())
	j := g.job(100, 1, commit("a"))
	j.Begin(t.Context())
	j.Abandon(t.Context(), errors.New("no device is <b>there</b> ``` @all"))
	body := g.only(t).Body
	wantIn(t, "the comment", body, "No verdict for commit "+commit("a")[:10], "no device is", "run=100")
	if strings.Contains(body, "✅") || strings.Contains(body, "\n<b>") {
		t.Errorf("the comment is %s", body)
	}
	wantIn(t, "the job summary", j.read("GITHUB_STEP_SUMMARY"), "No verdict for commit")

	g.job(101, 1, commit("a")).publish(t, worse(1)) // run again
	wantIn(t, "the comment", g.only(t).Body, "❌ Regression")
}

func TestAbandonKeepsTheSameCommitsVerdict(t *testing.T) {
	g := newGitHub(t)
	g.job(99, 1, commit("a")).publish(t, worse(1))
	j := g.job(100, 1, commit("a"))
	j.Begin(t.Context())
	j.Abandon(t.Context(), errors.New("no device is there"))
	wantIn(t, "the comment", g.only(t).Body, "❌ Regression", "run=99")
}

// A verdict is shown before it is explained. If the job is cancelled in between it stays, and the
// explained one replaces it: the comment, the check run and the job summary have one verdict.
func TestPublishFirst(t *testing.T) {
	g := newGitHub(t)
	j := g.job(100, 1, commit("a"))
	j.Begin(t.Context())
	if err := j.PublishFirst(t.Context(), content(worse(1))); err != nil {
		t.Fatal(err)
	}
	j.Cancel()
	j.Abandon(t.Context(), errors.New("the report could not be printed"))
	if c := g.Checks()[0]; c.Conclusion != "failure" || len(c.Annotations) != 0 {
		t.Errorf("the check run concludes %q with %d annotations, want failure, and none before it is explained", c.Conclusion, len(c.Annotations))
	}
	wantIn(t, "the comment", g.only(t).Body, "❌ Regression")
	if err := j.Publish(t.Context(), content(worse(1))); err != nil {
		t.Fatal(err)
	}
	if c := g.Checks()[0]; c.Conclusion != "failure" || len(c.Annotations) == 0 {
		t.Errorf("explained, the check run concludes %q with %d annotations", c.Conclusion, len(c.Annotations))
	}
	if n := strings.Count(j.read("GITHUB_STEP_SUMMARY"), "❌ Regression"); n != 1 {
		t.Errorf("the job summary has the verdict %d times", n)
	}
}
