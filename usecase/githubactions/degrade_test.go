package githubactions_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

// warnings are the warnings of a job's log.
func (j *job) warnings() []string {
	var out []string
	for line := range strings.Lines(j.log.String()) {
		if strings.HasPrefix(line, "::warning") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// Whatever GitHub refuses, the report is in the summary, the findings are annotated, there is one
// warning, and no error.
func TestRefusalsAreOneWarning(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*github)
		says    string
	}{
		"a token that may only read": {func(g *github) { g.ReadOnly(true) }, "403, the token may not do this: Resource not accessible by integration"},
		"a repository it can't see":  {func(g *github) { g.Fail(githubtest.Fault{Status: 404, Text: "Not Found"}) }, "404"},
		"a validation error":         {func(g *github) { g.Fail(githubtest.Fault{Method: "POST", Status: 422, Text: "Validation Failed"}) }, "422: Validation Failed"},
		"a wrong token":              {func(g *github) { g.Fail(githubtest.Fault{Status: 401, Text: "Bad credentials"}) }, "the token is not valid"},
		"a limit without an end": {func(g *github) {
			g.Fail(githubtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "5"}, Text: "slow down"})
		}, "too many requests"},
		"a limit for an hour": {func(g *github) {
			g.Fail(githubtest.Fault{Status: 403, Header: map[string]string{"Retry-After": "3600"}, Text: "You have exceeded a secondary rate limit"})
		}, "rate limit"},
		"a server that is down":    {func(g *github) { g.Fail(githubtest.Fault{Status: 503}) }, "503"},
		"a connection that breaks": {func(g *github) { g.Fail(githubtest.Fault{}) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGitHub(t)
			c.prepare(g)
			j := g.job(100, 1, commit("a"))
			j.publish(t, worse(12))
			if w := j.warnings(); len(w) != 1 || !strings.Contains(w[0], c.says) || !strings.Contains(w[0], "The verdict stands") {
				t.Errorf("the warnings are %q, want one that says %q", w, c.says)
			}
			wantIn(t, "the job summary", j.read("GITHUB_STEP_SUMMARY"), "❌ Regression")
			if n := strings.Count(j.log.String(), "::error"); n != 10 {
				t.Errorf("%d errors are annotated, want the 10 that GitHub shows", n)
			}
			wantIn(t, "the log", j.log.String(), "::error file=app/src/androidTest/OpenMessage.kt,line=12,title=open-message after tap-0000%3A frames rendered::")
			wantIn(t, "the outputs", j.read("GITHUB_OUTPUT"), "verdict<<", "regression")
			if n := len(g.Requests()); n > 60 {
				t.Errorf("%d requests, though GitHub refuses", n)
			}
		})
	}
}

// The second workflow, whose token may not comment either, does not suggest adding a second
// workflow.
func TestWarningOfTheSecondWorkflow(t *testing.T) {
	g := newGitHub(t)
	g.ReadOnly(true)
	for event, advised := range map[string]bool{"pull_request": true, "workflow_run": false} {
		j := g.job(100, 1, commit("a"))
		j.Job.Event, j.Job.Pull.Fork = event, true
		if err := j.PostComment(t.Context(), content(fine())); err != nil {
			t.Fatal(err)
		}
		if w := j.warnings(); len(w) != 1 || strings.Contains(w[0], "a second workflow on workflow_run") != advised {
			t.Errorf("on %s the warnings are %q", event, w)
		}
	}
}

func TestPublishWithoutAToken(t *testing.T) {
	g := newGitHub(t)
	j := g.job(100, 1, commit("a"))
	j.Client = nil
	j.publish(t, fine())
	if w := j.warnings(); len(w) != 1 || !strings.Contains(w[0], "there is no token") {
		t.Errorf("the warnings are %q", w)
	}
	wantIn(t, "the job summary", j.read("GITHUB_STEP_SUMMARY"), "✅ Pass")
}

func TestRetryDelays(t *testing.T) {
	reset := time.Date(2026, 11, 21, 12, 1, 30, 0, time.UTC) // 90 s after the test's clock
	for name, c := range map[string]struct {
		fault githubtest.Fault
		want  []time.Duration
	}{
		"Retry-After": {
			githubtest.Fault{Method: "GET", Path: "/comments", Status: 429, Times: 2, Header: map[string]string{"Retry-After": "7"}},
			[]time.Duration{7 * time.Second, 7 * time.Second},
		},
		"Retry-After of a secondary limit": {
			githubtest.Fault{Method: "POST", Path: "/comments", Status: 403, Times: 1, Header: map[string]string{"Retry-After": "60"}, Text: "You have exceeded a secondary rate limit"},
			[]time.Duration{time.Minute},
		},
		"a secondary limit that says nothing": {
			githubtest.Fault{Method: "POST", Path: "/comments", Status: 403, Times: 1, Text: "You have exceeded a secondary rate limit. Please wait a few minutes"},
			[]time.Duration{time.Minute},
		},
		"the hour's limit": {
			githubtest.Fault{Method: "GET", Path: "/pulls", Status: 403, Times: 1, Header: map[string]string{
				"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": itoa(reset.Unix()),
			}},
			[]time.Duration{91 * time.Second},
		},
		"a server that stumbles": {
			githubtest.Fault{Method: "GET", Path: "/comments", Status: 500, Times: 3},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGitHub(t)
			g.Fail(c.fault)
			j := g.job(100, 1, commit("a"))
			j.Check = false
			j.publish(t, worse(1))
			want := append(c.want, 3*time.Second) // before it reads again
			if got := g.clock.naps; !slices.Equal(got, want) {
				t.Errorf("it waited %v, want %v", got, want)
			}
			g.only(t)
			if w := j.warnings(); len(w) != 0 {
				t.Errorf("it warns %q, though all went well in the end", w)
			}
		})
	}
}

func TestTokenIsNeverWritten(t *testing.T) {
	g := newGitHub(t)
	// A proxy that discloses what it was sent.
	g.Fail(githubtest.Fault{Status: 400, Text: "bad header Authorization: Bearer " + token})
	j := g.job(100, 1, commit("a"))
	j.env["GITHUB_ACTIONS"] = "true"
	j.Runner.Mask(token)
	in := fine()
	in.Notes = []string{"leaked " + token}
	j.publish(t, in)
	j.Runner.Log("in a line " + token)
	j.Abandon(t.Context(), errorf("in an error "+token))
	masked := strings.Replace(j.log.String(), "::add-mask::"+token+"\n", "", 1)
	for what, text := range map[string]string{"log": masked, "summary": j.read("GITHUB_STEP_SUMMARY"), "outputs": j.read("GITHUB_OUTPUT")} {
		if strings.Contains(text, token) {
			t.Errorf("the %s holds the token:\n%s", what, text)
		}
	}
	if len(j.warnings()) != 2 { // of the verdict, and of the error
		t.Errorf("warnings: %q", j.warnings())
	}
}
