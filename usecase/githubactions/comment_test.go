package githubactions_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

// apkgates are the comments of pull request 7 that apkgate wrote.
func (g *github) apkgates() []githubtest.Comment {
	var out []githubtest.Comment
	for _, c := range g.Comments(7) {
		if strings.HasPrefix(c.Body, "<!-- apkgate:") && c.Author == "github-actions[bot]" {
			out = append(out, c)
		}
	}
	return out
}

// only is the one comment that apkgate may have written.
func (g *github) only(t *testing.T) githubtest.Comment {
	t.Helper()
	all := g.apkgates()
	if len(all) != 1 {
		t.Fatalf("%d comments of apkgate stand on the pull request, want one", len(all))
	}
	return all[0]
}

func wantIn(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%.2000s", what, part, text)
		}
	}
}

func TestCommentIsUpdatedInPlace(t *testing.T) {
	g := newGitHub(t)
	first := g.job(100, 1, commit("a"))
	first.publish(t, worse(1))
	before := g.only(t)
	wantIn(t, "the comment", before.Body, "❌ Regression", "https://github.example/octo/app/actions/runs/100/attempts/1#artifacts",
		"config=apkgate.yml run=100 number=100 attempt=1 head="+commit("a"))
	wantIn(t, "the outputs", first.read("GITHUB_OUTPUT"), "comment-url<<", fmt.Sprintf("pull/7#issuecomment-%d", before.ID))

	g.job(100, 2, commit("a")).publish(t, fine()) // the same commit, run again
	g.move(commit("b"))
	g.job(101, 1, commit("b")).publish(t, worse(2)) // the next commit
	after := g.only(t)
	if after.ID != before.ID || after.Edits != 2 {
		t.Errorf("comment %d was edited %d times, want comment %d edited twice", after.ID, after.Edits, before.ID)
	}
	wantIn(t, "the comment", after.Body, "run=101", "Regression")
}

// With CommentOn a pull request gets its first comment from that outcome on; an existing comment is
// always updated.
func TestCommentOn(t *testing.T) {
	of := func(o gate.Outcome) layout.Input {
		in := fine()
		in.Verdict.Verdict, in.Verdict.Runs[0].Verdict = o, o
		return in
	}
	for from, begins := range map[githubactions.When]map[gate.Outcome]bool{
		"":                           {gate.Pass: true, gate.Improvement: true, gate.Inconclusive: true, gate.Regression: true, gate.Invalid: true},
		githubactions.OnChange:       {gate.Pass: false, gate.Improvement: true, gate.Inconclusive: true, gate.Regression: true, gate.Invalid: true},
		githubactions.OnInconclusive: {gate.Pass: false, gate.Improvement: false, gate.Inconclusive: true, gate.Regression: true, gate.Invalid: true},
		githubactions.OnRegression:   {gate.Pass: false, gate.Improvement: false, gate.Inconclusive: false, gate.Regression: true, gate.Invalid: true},
	} {
		for outcome, want := range begins {
			g := newGitHub(t)
			first := g.job(100, 1, commit("a"))
			first.CommentOn = from
			first.publish(t, of(outcome))
			if n := len(g.apkgates()); n == 1 != want {
				t.Errorf("from %q on, %s makes %d comments", from, outcome, n)
			}
			if address := first.read("GITHUB_OUTPUT"); strings.Contains(address, "issuecomment") != want {
				t.Errorf("from %q on, %s: the outputs are\n%s", from, outcome, address)
			}
		}
	}
	g := newGitHub(t)
	for i, in := range []layout.Input{worse(1), fine()} {
		j := g.job(int64(100+i), 1, commit("a"))
		j.CommentOn = githubactions.OnChange
		j.publish(t, in)
	}
	wantIn(t, "the comment once it is mended", g.only(t).Body, "run=101", "✅ Pass")
}

// web answers for the server of a workflow's pages.
type web func(*http.Request) (*http.Response, error)

func (w web) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

// answering answers every request with a status and a header.
func answering(status int, header ...string) web {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: http.NoBody}, nil
	}
}

// charted is a regression with rounds to chart.
func charted() githubactions.Content {
	c := content(worse(1))
	c.Document.Chart = &document.Chart{Title: "frames", Unit: "frames", Base: []float64{100, 101}, Head: []float64{50, 51}}
	return c
}

// pictured publishes a regression with rounds, and returns the comment and the log.
func pictured(t *testing.T, page string, answer web) (body, log string) {
	t.Helper()
	g := newGitHub(t)
	j := g.job(100, 1, commit("a"))
	j.ReportURL, j.Web = page, answer
	j.Begin(t.Context())
	if err := j.Publish(t.Context(), charted()); err != nil {
		t.Fatal(err)
	}
	return g.only(t).Body, j.log.String()
}

// A comment shows the picture next to the published page, in place of a chart, and says in words what
// it shows. Without a page that a browser would load there is none, and in a pass nothing to show.
func TestCommentShowsThePublishedPicture(t *testing.T) {
	for page, want := range map[string]string{
		"https://acme.example/app/7/report.html": "](https://acme.example/app/7/picture.svg?" + commit("a") + ")",
		"https://acme.example/app/7/":            "](https://acme.example/app/7/picture.svg?" + commit("a") + ")",
		"https://acme.example/app/7/?x=)![y](z)": "](https://acme.example/app/7/picture.svg?" + commit("a") + ")",
		"http://acme.example/app/7/":             "",
		"":                                       "",
	} {
		asked := 0
		body, _ := pictured(t, page, func(r *http.Request) (*http.Response, error) {
			asked++
			at, limited := r.Context().Deadline()
			if r.Method != http.MethodHead || r.Header.Get("Authorization") != "" || !limited || time.Until(at) > 5*time.Second || !strings.Contains(want, "("+r.URL.String()+")") {
				t.Errorf("%q: it asks %s %s with %v, until %v", page, r.Method, r.URL, r.Header, at)
			}
			return answering(http.StatusOK, "Content-Type", "image/svg+xml; charset=utf-8")(r)
		})
		if n := strings.Count(body, "!["); (n == 1) != (want != "") || n > 1 || !strings.Contains(body, want) || strings.Contains(body, "```mermaid") != (want == "") {
			t.Errorf("%q: %d pictures, want %q in\n%s", page, n, want, body)
		}
		if want != "" && !strings.Contains(body, "![tap-0000: frames rendered") {
			t.Errorf("%q: the picture has no words:\n%s", page, body)
		}
		if asked > 1 || asked == 1 != (want != "") {
			t.Errorf("%q: the picture was looked for %d times", page, asked)
		}
	}
	g := newGitHub(t)
	j := g.job(100, 1, commit("a"))
	j.ReportURL, j.Web = "https://acme.example/app/7/", web(func(r *http.Request) (*http.Response, error) {
		t.Errorf("a pass asks %s", r.URL)
		return answering(http.StatusOK, "Content-Type", "image/svg+xml")(r)
	})
	j.publish(t, fine())
	if body := g.only(t).Body; strings.Contains(body, "![") {
		t.Errorf("a pass has a picture:\n%s", body)
	}
}

// Where the workflow has published the page alone, or not yet, the comment has the chart and no broken
// image, and the log says why.
func TestCommentShowsNoMissingPicture(t *testing.T) {
	const image = "image/svg+xml"
	elsewhere := func(r *http.Request) (*http.Response, error) {
		if r.URL.Host == "acme.example" {
			return answering(http.StatusFound, "Location", "https://evil.example/picture.svg", "Content-Type", image)(r)
		}
		t.Errorf("it asks %s", r.URL)
		return answering(http.StatusOK, "Content-Type", image)(r)
	}
	for says, answer := range map[string]web{
		`answered 404 with the type "text/html"`:             answering(http.StatusNotFound, "Content-Type", "text/html; charset=utf-8"),
		`answered 404 with the type "image/svg+xml"`:         answering(http.StatusNotFound, "Content-Type", image),
		`answered 200 with the type "text/html"`:             answering(http.StatusOK, "Content-Type", "text/html"), // a page for every address, or a login
		`answered 200 with the type ""`:                      answering(http.StatusOK),
		`answered 204 with the type "image/svg+xml"`:         answering(http.StatusNoContent, "Content-Type", image),
		`answered 302 with the type "image/svg+xml"`:         elsewhere,
		`picture.svg?` + commit("a") + `": no route to host`: func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") },
	} {
		body, log := pictured(t, "https://acme.example/app/7/", answer)
		if strings.Contains(body, "![") || !strings.Contains(body, "```mermaid") {
			t.Errorf("%s: the comment is\n%s", says, body)
		}
		wantIn(t, "the log", log, "The comment does not show the report's picture: ", "https://acme.example/app/7/picture.svg", says)
	}
}

func TestCommentSkipsAnUnchangedResult(t *testing.T) {
	g := newGitHub(t)
	g.job(100, 1, commit("a")).publish(t, worse(1))
	g.job(100, 1, commit("a")).publish(t, worse(1))
	if c := g.only(t); c.Edits != 0 {
		t.Errorf("the comment was edited %d times, though it says the same", c.Edits)
	}
}

func TestCommentKeepsANewerRuns(t *testing.T) {
	for name, old := range map[string]struct {
		run     int64
		attempt int
		sha     string
	}{
		"an older commit that ends late":      {100, 1, commit("a")},
		"an older commit run again":           {100, 3, commit("a")},
		"an older attempt on the same commit": {101, 1, commit("b")},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGitHub(t)
			g.move(commit("b"))
			g.job(101, 2, commit("b")).publish(t, fine())
			late := g.job(old.run, old.attempt, old.sha)
			late.publish(t, worse(1))
			c := g.only(t)
			wantIn(t, "the comment", c.Body, "✅ Pass", "run=101 number=101 attempt=2")
			wantIn(t, "the older run's log", late.log.String(), "The comment is left as it is: it shows run 101, attempt 2, on commit bbbbbbbbbb")
			wantIn(t, "the older run's outputs", late.read("GITHUB_OUTPUT"), fmt.Sprintf("#issuecomment-%d", c.ID))
			if strings.Contains(late.log.String(), "::warning::") {
				t.Error("the older run warns, though nothing is wrong")
			}
		})
	}
}

// After a push that reverts a commit, the run on the commit that is the head again is shown, though
// its number is lower.
func TestCommentPrefersTheHeadCommit(t *testing.T) {
	g := newGitHub(t)
	g.job(101, 1, commit("b")).publish(t, worse(1)) // the head is a…
	g.job(100, 2, commit("a")).publish(t, fine())
	wantIn(t, "the comment", g.only(t).Body, "✅ Pass", "run=100")
}

func TestTwoConfigurationsHaveTwoComments(t *testing.T) {
	g := newGitHub(t)
	for range 2 {
		for _, name := range []string{"apps/mail/apkgate.yml", "apps/mail/apkgate"} {
			j := g.job(100, 1, commit("a"))
			j.Name = name
			j.publish(t, worse(1))
		}
	}
	all := g.apkgates()
	if len(all) != 2 || all[0].Body == all[1].Body {
		t.Fatalf("%d comments for two configurations, want two that differ", len(all))
	}
	wantIn(t, "the first comment", all[0].Body, "configuration `apps/mail/apkgate.yml`")
	if names := []string{g.Checks()[0].Name, g.Checks()[1].Name}; names[0] == names[1] {
		t.Errorf("both check runs are called %q", names[0])
	}
}

func TestCommentIsFoundAfter250Others(t *testing.T) {
	g := newGitHub(t)
	for i := range 250 {
		g.AddComment(7, "octocat", fmt.Sprintf("comment %d", i))
	}
	g.job(100, 1, commit("a")).publish(t, fine())
	g.job(101, 1, commit("a")).publish(t, worse(1))
	c := g.only(t)
	if c.Edits != 1 {
		t.Errorf("the comment was edited %d times, want once", c.Edits)
	}
	if n := len(g.Comments(7)); n != 251 {
		t.Errorf("%d comments, want 251", n)
	}
}

// Anybody can copy the marker; only our account's comment is ours.
func TestCommentIgnoresACopiedMarker(t *testing.T) {
	g := newGitHub(t)
	g.job(100, 1, commit("a")).publish(t, worse(1))
	stolen := strings.Replace(g.only(t).Body, "run=100", "run=999999", 1)
	g.AddComment(7, "mallory", stolen)
	quoted := g.AddComment(7, "github-actions[bot]", "> quoting\n"+stolen)
	g.job(101, 1, commit("a")).publish(t, fine())
	wantIn(t, "the comment", g.only(t).Body, "✅ Pass", "run=101")
	for _, c := range g.Comments(7) {
		if (c.Author == "mallory" || c.ID == quoted.ID) && c.Edits > 0 {
			t.Errorf("comment %d of %s was edited", c.ID, c.Author)
		}
	}
	if n := len(g.Comments(7)); n != 3 {
		t.Errorf("%d comments, want ours and the two others", n)
	}
}

// Our own duplicates, left by concurrent jobs, become one.
func TestCommentMergesDuplicates(t *testing.T) {
	g := newGitHub(t)
	g.job(101, 1, commit("a")).publish(t, fine())
	newest := g.only(t)
	g.AddComment(7, "github-actions[bot]", strings.Replace(newest.Body, "run=101", "run=99", 1))
	g.AddComment(7, "github-actions[bot]", newest.Body)
	g.job(100, 1, commit("a")).publish(t, worse(1))
	if c := g.only(t); c.ID != newest.ID || c.Edits != 0 {
		t.Errorf("comment %d stays, want %d, which was there first of the newest", c.ID, newest.ID)
	}
}

func TestConcurrentJobsLeaveOneComment(t *testing.T) {
	g := newGitHub(t)
	var wg sync.WaitGroup
	for i := range 8 {
		j := g.job(int64(100+i), 1, commit("a"))
		j.Check = false
		wg.Go(func() { j.publish(t, worse(1)) })
	}
	wg.Wait()
	g.only(t)
}

// An older job reads, a newer one writes, and then the older one overwrites it: the newer one sees
// that when it reads again.
func TestCommentOverwritesAnOlderJobsWrite(t *testing.T) {
	g := newGitHub(t)
	g.job(101, 1, commit("a")).publish(t, worse(1))
	arrived, release := g.Hold("PATCH", "/issues/comments/")
	older := g.job(103, 1, commit("a"))
	older.Check = false
	done := make(chan struct{})
	go func() {
		defer close(done)
		older.publish(t, worse(2))
	}()
	<-arrived // the older job has read, and its write is on the way

	newer := g.job(107, 1, commit("a"))
	newer.Check = false
	g.clock.nap = sync.OnceFunc(func() { // the newer job has written
		release()
		<-done
	})
	newer.Client = g.client(newer.Job, newer.Runner.Log)
	newer.publish(t, fine())
	wantIn(t, "the comment", g.only(t).Body, "✅ Pass", "run=107")
}

func TestCommentCreatedWithoutAnAnswer(t *testing.T) {
	g := newGitHub(t)
	g.Fail(githubtest.Fault{Method: "POST", Path: "/comments", Status: 502, Times: 1, Late: true})
	j := g.job(100, 1, commit("a"))
	j.publish(t, worse(1))
	g.only(t)
	if strings.Contains(j.log.String(), "::warning::") {
		t.Errorf("it warns, though the comment is there:\n%s", j.log)
	}
}

// A report of some 2 MB of Markdown is cut to GitHub's limit.
func TestPublishFitsALargeReport(t *testing.T) {
	g := newGitHub(t)
	in := worse(1)
	long := strings.Repeat("a long name 长 ", 8)
	for i := range 10_000 {
		c := in.Verdict.Runs[0].Deviations[0]
		c.Event = fmt.Sprintf("%d %s", i, long)
		in.Verdict.Runs[0].Deviations = append(in.Verdict.Runs[0].Deviations, c)
	}
	in.Verdict.Runs[0].Comparisons = in.Verdict.Runs[0].Deviations
	for i := range 300 {
		in.Verdict.Warnings = append(in.Verdict.Warnings, run.Warning{Line: i, Text: strings.Repeat(long, 4)})
	}
	j := g.job(100, 1, commit("a"))
	j.publish(t, in)
	body := g.only(t).Body
	wantIn(t, "the comment", body, "❌ Regression", "left out", "artifacts of this run")
	if len(body) > 65_536 {
		t.Errorf("the comment has %d bytes", len(body))
	}
	summary := j.read("GITHUB_STEP_SUMMARY")
	if len(summary) > githubactions.MaxSummary || !utf8.ValidString(summary) || len(summary) < len(body) {
		t.Errorf("the job summary has %d bytes, want more than the comment's %d and at most 1 MiB", len(summary), len(body))
	}
	if n := len(g.Checks()[0].Annotations); n != 200 {
		t.Errorf("the check run has %d annotations, want 200", n)
	}
}

func TestLogin(t *testing.T) {
	for name, as := range map[string]func(*github) string{
		"a person": func(g *github) string { g.As("machine-user"); return "machine-user" },
		"an app":   func(g *github) string { g.AsApp("gate[bot]"); return "gate[bot]" },
		"GraphQL is closed": func(g *github) string {
			g.As("machine-user")
			g.Fail(githubtest.Fault{Path: "/graphql", Status: 403})
			return "machine-user"
		},
		"nobody says": func(g *github) string {
			g.AsApp("gate[bot]")
			g.Fail(githubtest.Fault{Path: "/graphql", Status: 403})
			return "gate[bot]"
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGitHub(t)
			login := as(g)
			g.job(100, 1, commit("a")).publish(t, worse(1))
			all := g.Comments(7)
			if len(all) != 1 || all[0].Author != login || all[0].Edits != 0 {
				t.Errorf("comments %+.200v, want one by %s", all, login)
			}
		})
	}
}
