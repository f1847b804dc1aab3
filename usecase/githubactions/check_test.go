package githubactions_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

func TestConclude(t *testing.T) {
	for _, c := range []struct {
		outcome gate.Outcome
		failOn  gate.FailOn
		want    string
	}{
		{gate.Pass, "regression", "success"},
		{gate.Improvement, "inconclusive", "success"},
		{gate.Regression, "regression", "failure"},
		{gate.Regression, "never", "neutral"},
		{gate.Inconclusive, "regression", "neutral"},
		{gate.Inconclusive, "inconclusive", "failure"},
		{gate.Inconclusive, "never", "neutral"},
		{gate.Invalid, "regression", "failure"},
		{gate.Invalid, "never", "neutral"},
	} {
		if got := githubactions.Conclude(c.outcome, c.failOn); got != c.want {
			t.Errorf("%s with fail-on %s is %s, want %s", c.outcome, c.failOn, got, c.want)
		}
	}
}

func TestCheckRunGoesFromProgressToItsConclusion(t *testing.T) {
	g := newGitHub(t)
	j := g.job(100, 1, commit("a"))
	j.publish(t, worse(120))
	checks := g.Checks()
	if len(checks) != 1 {
		t.Fatalf("%d check runs, want one", len(checks))
	}
	c := checks[0]
	if c.Name != "apkgate" || c.HeadSHA != commit("a") || c.DetailsURL != "https://github.example/octo/app/actions/runs/100/attempts/1" {
		t.Errorf("the check run is %q on %s with details at %s", c.Name, c.HeadSHA, c.DetailsURL)
	}
	if want := []string{"in_progress", "in_progress", "in_progress", "completed failure"}; !slices.Equal(c.History, want) {
		t.Errorf("it went through %q, want %q: 120 annotations are three requests", c.History, want)
	}
	if len(c.Annotations) != 120 {
		t.Fatalf("%d annotations, want 120", len(c.Annotations))
	}
	a := c.Annotations[0]
	if a.Path != "app/src/androidTest/OpenMessage.kt" || a.Line != 12 || a.Level != "failure" || !strings.Contains(a.Message, "fewer frames on Nexus 5X") {
		t.Errorf("the first annotation is %+v", a)
	}
	wantIn(t, "the title", c.Title, "Regression: open-message after tap-0000")
	wantIn(t, "the outputs", j.read("GITHUB_OUTPUT"), "check-url<<", c.HTMLURL)
	if strings.Contains(j.log.String(), "::error") {
		t.Error("the findings are annotated twice: by the check run and by workflow commands")
	}
}

func TestLossIsNoSuccess(t *testing.T) {
	for _, c := range []struct {
		in     layout.Input
		failOn gate.FailOn
		want   string
	}{
		{fine(), "regression", "failure"},
		{fine(), "never", "neutral"},
		{worse(1), "regression", "failure"},
	} {
		g := newGitHub(t)
		j := g.job(100, 1, commit("a"))
		j.FailOn = c.failOn
		c.in.Verdict = c.in.Verdict.WithLoss("a phone is gone")
		content := githubactions.ContentOf(c.in, nil)
		j.Begin(t.Context())
		if err := j.Publish(t.Context(), content); err != nil {
			t.Fatal(err)
		}
		if got := g.Checks()[0].Conclusion; got != c.want {
			t.Errorf("%s with fail-on %s concludes %q, want %s", content.Outcome, c.failOn, got, c.want)
		}
	}
}

// A scenario without a known line has no place in a check run.
func TestFindingsWithoutAPlaceAreWorkflowCommands(t *testing.T) {
	g := newGitHub(t)
	j := g.job(100, 1, commit("a"))
	j.Begin(t.Context())
	if err := j.Publish(t.Context(), githubactions.ContentOf(worse(30), nil)); err != nil {
		t.Fatal(err)
	}
	if c := g.Checks()[0]; c.Conclusion != "failure" || len(c.Annotations) != 0 {
		t.Errorf("the check run is %+v", c)
	}
	if n := strings.Count(j.log.String(), "::error"); n != 10 {
		t.Errorf("%d annotations, want the 10 that GitHub shows", n)
	}
	wantIn(t, "the log", j.log.String(), "::error::21 more findings")
}

func TestStartCheckWithoutAnAnswer(t *testing.T) {
	for name, late := range map[string]bool{"and is there": true, "and is not": false} {
		t.Run(name, func(t *testing.T) {
			g := newGitHub(t)
			g.Fail(githubtest.Fault{Method: "POST", Path: "/check-runs", Status: 502, Times: 1, Late: late})
			g.job(100, 1, commit("a")).publish(t, fine())
			if c := g.Checks(); len(c) != 1 || c[0].Conclusion != "success" {
				t.Errorf("the check runs are %+v, want one with success", c)
			}
		})
	}
}

func TestAbandonEndsTheCheckRun(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		failOn gate.FailOn
		want   string
	}{
		"the device was lost":         {errors.New("emulator-5554: the device is offline"), "regression", "failure"},
		"the same, in advisory mode":  {errors.New("emulator-5554: the device is offline"), "never", "neutral"},
		"the job was cancelled":       {context.Canceled, "regression", "cancelled"},
		"an error that holds a fence": {errors.New("```\n@octocat"), "regression", "failure"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGitHub(t)
			j := g.job(100, 1, commit("a"))
			j.FailOn = c.failOn
			j.Begin(t.Context())
			j.Abandon(t.Context(), c.err)
			k := g.Checks()[0]
			if k.Conclusion != c.want {
				t.Errorf("the check run concludes %q, want %q", k.Conclusion, c.want)
			}
			if strings.Count(k.Summary, "```") > 2 {
				t.Errorf("the error breaks out of its fence:\n%s", k.Summary)
			}
			if n := len(g.Comments(7)); n != 0 {
				t.Errorf("%d comments without a verdict", n)
			}
		})
	}
}

func TestAbandonAfterCancellation(t *testing.T) {
	g := newGitHub(t)
	j := g.job(100, 1, commit("a"))
	j.Begin(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	j.Abandon(ctx, errors.New("interrupted"))
	if k := g.Checks()[0]; k.Conclusion != "cancelled" {
		t.Errorf("the check run concludes %q, want cancelled", k.Conclusion)
	}
}
