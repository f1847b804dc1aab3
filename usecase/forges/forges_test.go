package forges_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/reporttest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/artifact"
	"github.com/apkgate/apkgate/usecase/forges"
	"github.com/apkgate/apkgate/usecase/forges/forgetest"
	"github.com/apkgate/apkgate/usecase/githubactions"
)

var next = strings.Repeat("c", 40)

// The verdict is one comment, which is updated in place, and a status of the commit, which links to
// it. The command and the day of the base build's commit are in it.
func TestCommentIsUpdatedInPlace(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.Write(forgetest.Mallory, "a remark", false)
		l.good(left(t, verdict(forgetest.Base)))
		before := l.only()
		l.want(before.Body, "<!-- apkgate:v1 config=apkgate.yml run=900 ", "### ❌ Regression", "commit bbbbbbbbbb of 2026-03-01",
			"`apkgate compare --base base.apk --head app.apk --scenario open-message`", "if intended", "/commit/"+forgetest.Head+")", "merge base [`bbbbbbbbbb`](")
		s := l.last()
		if s.Commit != forgetest.Head || s.Name != "apkgate" || s.State != l.failed || !strings.HasPrefix(s.Description, "Regression: ") || !strings.Contains(s.URL, "7#") {
			t.Errorf("the status is %+v", s)
		}
		l.good(left(t, verdict(forgetest.Base))) // the same once more

		l.Push(next)
		l.later(9000, next)
		l.good(left(t, passed()))
		after := l.only()
		if after.ID != before.ID || after.Edits > 2 {
			t.Errorf("comment %d was edited %d times, want comment %d edited once or twice", after.ID, after.Edits, before.ID)
		}
		l.want(after.Body, "✅ Pass", "commit [`cccccccccc`]")
		if s := l.last(); s.Commit != next || s.State != "success" {
			t.Errorf("the status is %+v", s)
		}
	})
}

// The run of an older commit that ends late changes nothing in the comment.
func TestOlderRunLeavesTheComment(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.Push(next)
		l.later(9000, next)
		l.good(left(t, passed()))
		l.later(5000, forgetest.Head)
		l.good(left(t, verdict(forgetest.Base)))
		l.want(l.only().Body, "✅ Pass")
		l.want(l.log.String(), "The comment is left as it is: it shows a newer run")
	})
}

// Others' comments with our stamp are neither read nor written nor deleted, nor is what a system
// wrote, wherever they stand; ours is found behind them.
func TestOthersCommentsStay(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		other := &lab{Server: l.start(t), kind: l.kind, t: t}
		other.env = l.kind.env(t, other.Server)
		other.good(left(t, verdict(forgetest.Base)))
		copied := strings.ReplaceAll(other.only().Body, "run=900 ", "run=1 ")
		l.Write(forgetest.Mallory, copied, false)
		if l.env["CI_PROJECT_ID"] != "" { // Gitea lists no notes of the system as comments
			l.Write(forgetest.Me, copied, true)
		}
		for range 250 { // more than two pages
			l.Write(forgetest.Mallory, "a remark", false)
		}
		before := len(l.Comments())
		l.good(left(t, verdict(forgetest.Base)))
		l.later(9000, next)
		l.Push(next)
		l.good(left(t, passed()))
		all := l.Comments()
		if len(all) != before+1 {
			t.Fatalf("there are %d comments, want one more than %d", len(all), before)
		}
		for _, c := range all[:before] {
			if c.Edits > 0 {
				t.Errorf("comment %d, which is not ours, was edited", c.ID)
			}
		}
		l.want(all[before].Body, "✅ Pass")
	})
}

// No text of a report executes a command of GitLab's, begins another comment of ours, or mentions
// anybody.
func TestHostileReport(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		for i, hostile := range append(reporttest.Hostile, "x\n/merge\n", "/merge", "x\r\n\t/close", "<!-- apkgate:v1 config=apkgate.yml run=99999999 -->") {
			in := verdict(forgetest.Base)
			r := &in.Verdict.Runs[0]
			r.Scenario, r.App.Version, r.Deviations[0].Event, r.Context["model"] = hostile, hostile, hostile, hostile
			r.Warnings = []run.Warning{{Text: hostile}}
			r.Comparisons, in.Notes, in.Why = r.Deviations, []string{hostile, "/merge"}, hostile
			l.later(9000+i, forgetest.Head)
			l.good(left(t, in))
			body := l.only().Body
			if strings.Count(body, "<!--") != 1 || strings.Contains(body, "<script") || !strings.Contains(body, "`apkgate compare --base base.apk --head app.apk` ·") {
				t.Errorf("%q: the comment is\n%s", hostile, body)
			}
			if found := reporttest.Mention.FindString(strings.ReplaceAll(body, "&#8203;", "\u200b")); found != "" {
				t.Errorf("%q: the comment mentions %q", hostile, found)
			}
		}
		if c := l.Commands(); len(c) > 0 {
			t.Errorf("notes executed %q", c)
		}
	})
}

// No hint of a report is a command to be copied.
func TestHintsAreNoCommands(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		for i, outcome := range []gate.Outcome{gate.Inconclusive, gate.Invalid} {
			in := passed()
			r := &in.Verdict.Runs[0]
			in.Verdict.Verdict, r.Verdict = outcome, outcome
			r.Reason, r.Hint = "it is not known", "do this first: apkgate baseline prune --keep 0"
			l.later(9000+i, forgetest.Head)
			l.good(left(t, in))
			body := l.only().Body
			if !strings.Contains(body, "do this first: apkgate baseline prune") || strings.Contains(body, "`apkgate baseline prune") {
				t.Errorf("%s: the comment is\n%s", outcome, body)
			}
		}
	})
}

// A line that begins with a slash does not, whatever stands before it.
func TestSafe(t *testing.T) {
	for body, want := range map[string]string{
		"/merge":               "\u200b/merge",
		"a\n/close\n/assign x": "a\n\u200b/close\n\u200b/assign x",
		"a\n \t/merge":         "a\n \t\u200b/merge",
		"a\n\r/merge":          "a\n\r\u200b/merge",
		"a /b c/d":             "a /b c/d",
		"<span>$</span>5":      `\$5`,
	} {
		if got := forges.Safe(body); got != want {
			t.Errorf("%q became %q, want %q", body, got, want)
		}
		if got := forges.Safe(forges.Safe(body)); got != want {
			t.Errorf("%q became %q at last, want %q", body, got, want)
		}
	}
}

// A folder that holds something else is refused; the commit's status says that there is no verdict,
// as it does without a report.
func TestReportsThatCantBeRead(t *testing.T) {
	spoil := map[string]func(dir string) error{
		"there is no report": os.RemoveAll,
		"it holds \"x.sh\"":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "x.sh"), nil, 0o644) },
		"format is \"apkgate.verdict/9\"": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "verdict.json"), []byte(`{"format":"apkgate.verdict/9"}`), 0o644)
		},
		"verdict.json is not a regular file": func(dir string) error {
			os.Remove(filepath.Join(dir, "verdict.json"))
			return os.Symlink("/etc/passwd", filepath.Join(dir, "verdict.json"))
		},
	}
	for says, spoil := range spoil {
		t.Run(says, func(t *testing.T) {
			each(t, func(t *testing.T, l *lab) { l.unreadable(says, spoil) })
		})
	}
}

// unreadable publishes a report that has been spoiled, of the commit after one that passed: what the
// server has then is of this report alone.
func (l *lab) unreadable(says string, spoil func(dir string) error) {
	l.good(left(l.t, passed()))
	l.Push(next)
	l.later(9000, next)
	dir := left(l.t, verdict(forgetest.Base))
	if err := spoil(dir); err != nil {
		l.t.Fatal(err)
	}
	_, errs := l.publish(dir)
	why := forges.ErrReport.Error()
	if says == "there is no report" {
		why = "the job that measures left no report"
		if errs != "" {
			l.t.Errorf("without a report: %s", errs)
		}
	} else {
		l.want(errs, why, says)
	}
	body := l.only().Body
	l.want(body, "⚪ No verdict for commit cccccccccc", why)
	if strings.Contains(body, "✅ Pass") {
		l.t.Errorf("the comment still shows the verdict on the commit before:\n%s", body)
	}
	all := l.Statuses()
	if s := l.last(); len(all) != 2 || s.Commit != next || s.State != l.failed || !strings.HasPrefix(s.Description, "no verdict: "+why) {
		l.t.Errorf("the statuses are %+v", all)
	}
}

// Each leg of a matrix is a row of the comment and has a status.
func TestLegs(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		dir := t.TempDir()
		leave(t, filepath.Join(dir, "api-34"), verdict(forgetest.Base))
		leave(t, filepath.Join(dir, "api-29"), passed())
		l.good(dir)
		l.want(l.only().Body, "### ❌ Regression: api-34: ", "| api-29 | ✅ Pass |", "| api-34 | ❌ Regression |")
		states := map[string]string{}
		for _, s := range l.Statuses() {
			states[s.Name] = s.State
		}
		if states["apkgate (api-34)"] != l.failed || states["apkgate (api-29)"] != "success" {
			t.Errorf("the statuses are %v", states)
		}
	})
}

// Of two reports of one leg, a pass does not replace a regression: the leg has no verdict.
func TestLegsOfOneName(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		dir := t.TempDir()
		for name, in := range map[string]layout.Input{"a": verdict(forgetest.Base), "b": passed()} {
			if _, err := artifact.WriteFolder(filepath.Join(dir, name), artifact.Report{Input: in, Leg: "api-34"}); err != nil {
				t.Fatal(err)
			}
		}
		_, errs := l.publish(dir)
		l.want(errs, forges.ErrReport.Error(), `another one is of the leg "api-34" too`)
		l.want(l.only().Body, "| api-34 | ❌ Regression |")
		if s := l.last(); s.Name != "apkgate (api-34)" || s.State != l.failed {
			t.Errorf("the status is %+v", s)
		}
	})
}

// What fails nothing is no failure; a comment can be left out; a build of no pull request has a
// status alone.
func TestWhatBlocksNothing(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		in := verdict(forgetest.Base)
		in.Verdict.FailOn = gate.FailNever
		l.good(left(t, in), func(p *forges.Publisher) { p.CommentOn = githubactions.Never })
		if s := l.last(); s.State != "success" || !strings.HasPrefix(s.Description, "blocks nothing: Regression: ") || len(l.Comments()) > 0 {
			t.Errorf("the status is %+v, and there are %d comments", s, len(l.Comments()))
		}
		delete(l.env, "CI_MERGE_REQUEST_IID")
		if l.env["GITHUB_EVENT_NAME"] != "" {
			l.env["GITHUB_EVENT_NAME"], l.env["GITHUB_EVENT_PATH"] = "push", ""
		}
		l.good(left(t, verdict(forgetest.Base)))
		if s := l.last(); s.State != l.failed || len(l.Comments()) > 0 {
			t.Errorf("of a push: the status is %+v, and there are %d comments", s, len(l.Comments()))
		}
	})
}

// A commit that is not on the base branch has no day, though the server finds it by its id.
func TestDayOfTheBaseBuild(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		for i, commit := range []string{forgetest.Fork, forgetest.Head, strings.Repeat("e", 40), "main", "../../../user"} {
			l.later(9000+i, forgetest.Head)
			l.good(left(t, verdict(commit)))
			if body := l.only().Body; strings.Contains(body, " of 2026-03-01") || strings.Contains(body, " of 0001-") {
				t.Errorf("the commit %q has a day:\n%s", commit, body)
			}
		}
		for _, r := range l.Requests() {
			if strings.Contains(r, "main...main") || strings.Contains(r, "..%2F") || strings.Contains(r, "/commits/main") {
				t.Errorf("it asks %s", r)
			}
		}
	})
}

// What the server refuses is said with what the token may lack, and the rest is shown.
func TestRefusals(t *testing.T) {
	html := map[string]string{"Content-Type": "text/html; charset=utf-8"}
	const page = "<html><body>Sign in</body></html>"
	for name, c := range map[string]struct {
		fault  forgetest.Fault
		says   []string
		status bool // it is set all the same
	}{
		"a token of another server": {forgetest.Fault{Status: 401, Body: `{"message":"401 Unauthorized"}`}, []string{"answered 401: 401 Unauthorized", "is not valid here"}, false},
		"a comment is forbidden": {forgetest.Fault{Method: "POST", Path: "/7/", Status: 403, Body: `{"error":"insufficient_scope","error_description":"The request requires higher privileges","scope":"api"}`},
			[]string{"answered 403: insufficient_scope: The request requires higher privileges", "token"}, true},
		"no such pull request":  {forgetest.Fault{Path: "/7", Status: 404, Body: `{"message":"404 Not found"}`}, []string{"answered 404: 404 Not found", "token"}, false},
		"a login page":          {forgetest.Fault{Status: 200, Header: html, Body: page}, []string{`answered 200: no JSON but "text/html; charset=utf-8"`, "a proxy or a login page"}, false},
		"a proxy that is down":  {forgetest.Fault{Status: 502, Header: html, Body: page}, []string{"answered 502: no JSON"}, false},
		"an unexpected answer":  {forgetest.Fault{Status: 200, Body: `[[]]`}, []string{"an unexpected answer"}, false},
		"an answer of no bytes": {forgetest.Fault{Status: 200}, []string{"an unexpected answer"}, false},
		"an echoed token":       {forgetest.Fault{Status: 400, Body: `{"message":"no ` + forgetest.Token + `"}`}, []string{"answered 400: no ***"}, false},
		"a redirect": {forgetest.Fault{Status: 302, Header: map[string]string{"Location": "https://evil.example/x"}},
			[]string{"a redirect to https://evil.example, which is not followed"}, false},
		"the status is forbidden": {forgetest.Fault{Path: "/statuses/", Status: 403, Body: `{"message":"403 Forbidden"}`}, []string{"set the status of commit aaaaaaaaaa", "answered 403: 403 Forbidden"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, l *lab) {
				l.Fail(c.fault)
				_, errs := l.publish(left(t, verdict(forgetest.Base)))
				l.want(errs, c.says...)
				if set := len(l.Statuses()) > 0; set != c.status {
					t.Errorf("a status is set: %v, want %v", set, c.status)
				}
				if name == "the status is forbidden" {
					l.want(l.only().Body, "❌ Regression")
				}
			})
		})
	}
}

// Limits and faults of the server are waited for; what may have been done is not done twice.
func TestFaults(t *testing.T) {
	each(t, func(t *testing.T, l *lab) {
		l.Fail(forgetest.Fault{Method: "GET", Times: 1, Status: 429, Header: map[string]string{"Retry-After": "7"}})
		l.Fail(forgetest.Fault{Method: "GET", Path: "comments", Times: 2, Status: 503})
		l.Fail(forgetest.Fault{Method: "GET", Path: "notes", Times: 2, Status: 503})
		l.Fail(forgetest.Fault{Method: "POST", Path: "/7/", Times: 1, Status: 504, Late: true})
		l.Fail(forgetest.Fault{Method: "POST", Path: "/statuses/", Times: 1, Status: 500})
		l.good(left(t, verdict(forgetest.Base)))
		l.only()
		if n := len(l.Statuses()); n != 1 {
			t.Errorf("there are %d statuses", n)
		}
		l.want(l.log.String(), "answered 429 to GET", "trying again in 7s")

		l.later(9000, forgetest.Head)
		l.Fail(forgetest.Fault{Method: "PUT", Times: 1, Status: 503})
		l.Fail(forgetest.Fault{Method: "PATCH", Times: 1, Status: 503})
		l.good(left(t, passed()))
		l.want(l.only().Body, "✅ Pass")
	})
}

// A job of a pipeline with the status's name is GitLab's reason to refuse it, which the hint says.
func TestStatusWithTheNameOfAJob(t *testing.T) {
	k := kinds["GitLab"]
	s := k.start(t)
	l := &lab{Server: s, kind: k, t: t, env: k.env(t, s)}
	l.Jobs("apkgate")
	_, errs := l.publish(left(t, passed()))
	l.want(errs, "has already been taken", "rename the job")
}

// Merged results are built on a merge of the branch's commit: the status is the merge's, the comment
// the commit's.
func TestMergedResults(t *testing.T) {
	k := kinds["GitLab"]
	s := k.start(t)
	l := &lab{Server: s, kind: k, t: t, env: k.env(t, s)}
	l.env["CI_COMMIT_SHA"], l.env["CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"] = strings.Repeat("d", 40), forgetest.Head
	l.good(left(t, passed()))
	if got := l.last().Commit; got != l.env["CI_COMMIT_SHA"] {
		t.Errorf("the status is of %s", got)
	}
	l.want(l.only().Body, "head="+forgetest.Head)
}

// The environment is checked before anything is sent.
func TestEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		kind string
		set  map[string]string
		want string
	}{
		"no server":            {"GitLab", map[string]string{"CI_API_V4_URL": ""}, "the server is unknown: CI_API_V4_URL is not set"},
		"no address":           {"GitLab", map[string]string{"CI_API_V4_URL": "gitlab.example"}, `is "gitlab.example", want https://HOST/PATH`},
		"a password":           {"GitLab", map[string]string{"CI_API_V4_URL": "https://oauth2:" + forgetest.Token + "@gitlab.example"}, `names a user before "@gitlab.example"`},
		"a query":              {"GitLab", map[string]string{"CI_API_V4_URL": "https://gitlab.example?private_token=x"}, "want https://HOST/PATH"},
		"a fork's pipeline":    {"GitLab", map[string]string{"CI_PROJECT_ID": "99"}, "a fork's pipeline publishes nothing"},
		"a number":             {"GitLab", map[string]string{"CI_MERGE_REQUEST_IID": "7/notes"}, `the pull request is "7/notes", want its number`},
		"a commit":             {"GitLab", map[string]string{"CI_COMMIT_SHA": "main"}, `the commit is "main"`},
		"a path":               {"GitLab", map[string]string{"CI_PROJECT_PATH": "a/../b"}, `the repository is "a/../b"`},
		"a repository":         {"Gitea", map[string]string{"GITHUB_REPOSITORY": "a/b/c"}, "GITHUB_REPOSITORY"},
		"a fork's own trigger": {"Gitea", map[string]string{"GITHUB_EVENT_NAME": "pull_request_target"}, `the workflow runs on "pull_request_target"`},
		"another's run":        {"Gitea", map[string]string{"GITHUB_EVENT_NAME": "workflow_run"}, `the workflow runs on "workflow_run"`},
	} {
		k := kinds[c.kind]
		s := k.start(t)
		env := k.env(t, s)
		for variable, value := range c.set {
			env[variable] = value
		}
		_, err := k.open(forges.Options{Getenv: func(name string) string { return env[name] }, Token: forgetest.Token})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), forgetest.Token) {
			t.Errorf("%s: the token is in the error: %v", name, err)
		}
		if n := len(s.Requests()); n > 0 {
			t.Errorf("%s: %d requests were sent", name, n)
		}
	}
}

// The page of a run has its id in the address on Gitea (from 1.26 on), and its number on Forgejo.
func TestPageOfTheRun(t *testing.T) {
	k := kinds["Gitea"]
	for variable, want := range map[string]string{"GITEA_ACTIONS": "/octo/app/actions/runs/900", "FORGEJO_ACTIONS": "/octo/app/actions/runs/90"} {
		s := k.start(t)
		env := k.env(t, s)
		env[variable] = "true"
		forge, err := k.open(forges.Options{Getenv: func(name string) string { return env[name] }, Token: forgetest.Token})
		if err != nil {
			t.Fatal(err)
		}
		if got := forge.Job().RunURL; got != s.URL+want {
			t.Errorf("with %s it is %s, want %s%s", variable, got, s.URL, want)
		}
	}
}

// What is not in the environment can be given, on any CI system.
func TestGivenByFlags(t *testing.T) {
	for name, k := range kinds {
		s := k.start(t)
		repository := forgetest.Flat
		if name == "GitLab" {
			repository = forgetest.Repository
		}
		forge, err := k.open(forges.Options{
			Getenv: func(string) string { return "" }, Server: s.URL, Repository: repository, Number: "7", Commit: forgetest.Head, Token: forgetest.Token,
		})
		if err != nil {
			t.Fatal(err)
		}
		if c, err := forge.Change(t.Context()); err != nil || c.Head != forgetest.Head || c.Base != "main" || c.MergeBase != forgetest.Base {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if err := forge.SetStatus(t.Context(), forges.Status{Name: "apkgate", Passes: true, URL: "https://a.example/" + strings.Repeat("x", 300)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.Statuses(); len(got) != 1 || got[0].State != "success" || got[0].Pipeline != 0 {
			t.Errorf("%s: the statuses are %+v", name, got)
		}
		if address := forge.CommitURL(forgetest.Head); !strings.HasPrefix(address, s.URL+"/"+repository+"/") {
			t.Errorf("%s: the commit's page is %q", name, address)
		}
	}
}

// A token that goes over a network unencrypted is reported, and one that stays on this computer is not.
func TestUnencryptedTokenIsReported(t *testing.T) {
	k := kinds["Gitea"]
	s := k.start(t)
	for server, says := range map[string]string{s.URL: "", "http://localhost:3000": "", "https://git.example": "", "http://git.example": "The token is sent unencrypted", "http://10.0.0.7": "The token is sent unencrypted"} {
		env, said := k.env(t, s), ""
		env["GITHUB_API_URL"] = server + "/api/v1"
		if _, err := k.open(forges.Options{Getenv: func(name string) string { return env[name] }, Token: forgetest.Token, Log: func(text string) { said += text }}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(said, says) || says == "" && said != "" {
			t.Errorf("%s: it says %q", server, said)
		}
	}
}

// An address that could end a link, or has a password, is none.
func TestLink(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://gitlab.example/a/-/pipelines/1": true, "http://127.0.0.1:3000/a/b#c": true,
		"": false, "javascript:alert(1)": false, "https://a.example/x) [y](z": false, "https://a.example/\n/merge": false, "https://u:p@a.example/": false, "//a.example": false,
	} {
		if got := forges.Link(address); got != "" != ok {
			t.Errorf("%q is the link %q", address, got)
		}
	}
}
