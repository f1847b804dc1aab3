package action_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions/acceptance"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

const (
	mergedSHA = "cccccccccccccccccccccccccccccccccccccccc"
	nextSHA   = "dddddddddddddddddddddddddddddddddddddddd"
)

// verdictAt is when the verdicts of these tests were given.
var verdictAt = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// post sends a request to the simulated GitHub with the workflow's token.
func (w *workspace) post(path string, body any) {
	w.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.env["GITHUB_API_URL"]+path, bytes.NewReader(data))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+actionToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		w.t.Fatalf("%s: %s", path, resp.Status)
	}
}

// judged creates the check run of a verdict on a commit; of "" it is still in progress.
func (w *workspace) judged(head, leg string, run int, is gate.Outcome) {
	w.t.Helper()
	name := "apkgate"
	if leg != "" {
		name += " (" + leg + ")"
	}
	body := map[string]any{"name": name, "head_sha": head, "status": "in_progress", "external_id": fmt.Sprintf("apkgate:apkgate.yml:%s:%d:1:word", leg, run)}
	if is != "" {
		text, err := acceptance.Record{
			Config: "apkgate.yml", Leg: leg, Head: head, Pull: 7, Outcome: is,
			Findings: []acceptance.Finding{{Scenario: "read-mail", Metric: "frames.duration_ms", Of: "frames.duration_ms", By: 0.14, Most: 0.2, Share: true}},
		}.Text()
		if err != nil {
			w.t.Fatal(err)
		}
		body["conclusion"], body["completed_at"] = "failure", verdictAt
		body["output"] = map[string]any{"title": "Regression", "summary": "It is worse.", "text": text}
	}
	w.post("/repos/octo/app/check-runs", body)
}

// comments makes the event one of a new comment on pull request 7.
func (w *workspace) comments(by, body string) (id int64) {
	w.t.Helper()
	comment := w.AddComment(7, by, body)
	w.env["GITHUB_EVENT_NAME"], w.env["GITHUB_REF"] = "issue_comment", "refs/heads/main"
	w.event(commented(comment.ID, by, body))
	return comment.ID
}

func commented(id int64, by, body string) map[string]any {
	return map[string]any{
		"action": "created", "sender": map[string]any{"login": by, "type": "User"},
		"issue": map[string]any{"number": 7, "pull_request": map[string]any{"url": "x"}},
		"comment": map[string]any{
			"id": id, "body": body, "user": map[string]any{"login": by, "type": "User"},
			"html_url": "https://github.example/octo/app/pull/7#issuecomment-1", "created_at": verdictAt.Add(time.Hour), "performed_via_github_app": nil,
		},
	}
}

// answers are the comments that apkgate wrote.
func (w *workspace) answers() (out []string) {
	for _, c := range w.Comments(7) {
		if c.Author == "github-actions[bot]" {
			out = append(out, c.Body)
		}
	}
	return out
}

// command runs the command on the event, which never fails because of what somebody asks.
func (w *workspace) command() clitest.Result {
	w.t.Helper()
	r := w.apkgate("action", "command")
	w.want(r, exit.StatusPass)
	return r
}

// Somebody with write access accepts: the check of exactly this commit turns green, and says who and
// why. A replay of the event changes nothing more.
func TestCommandAccept(t *testing.T) {
	w := newWorkspace(t)
	w.Permit("ann", "write")
	w.judged(nextSHA, "", 99, gate.Regression) // another commit's
	w.judged(headSHA, "", 100, gate.Regression)
	w.comments("ann", "/apkgate accept the new list costs that <b>@octo/team</b> #1 | ![x](https://evil.example)\n\nmore")
	w.command()
	checks := w.Checks()
	if checks[0].Conclusion != "failure" {
		t.Errorf("the check of another commit is %+v", checks[0])
	}
	c := checks[1]
	if c.Conclusion != "success" || !strings.HasPrefix(c.Title, "Accepted by ann: the new list costs that") {
		t.Errorf("the check is %s, %q", c.Conclusion, c.Title)
	}
	contains(t, "the summary", c.Summary, "> **Accepted** by [ann](https://github.example/octo/app/pull/7#issuecomment-1): the new list costs that", "It is worse.")
	for _, bad := range []string{"<b>", " @octo", "![x]", "more"} {
		if strings.Contains(c.Summary, bad) {
			t.Errorf("the summary has %q:\n%s", bad, c.Summary)
		}
	}
	r, ok := acceptance.Read(c.Text)
	if !ok || r.Accepted == nil || r.Accepted.By != "ann" || r.Accepted.How != acceptance.ByComment || len(r.Findings) != 1 || !r.Accepted.At.Equal(verdictAt.Add(time.Hour)) {
		t.Errorf("the record is %+v, %v", r, ok)
	}
	if got := w.answers(); len(got) != 0 {
		t.Errorf("answered is %q", got)
	}
	before := len(c.History)
	contains(t, "the log of a replay", w.command().Stdout, "accepted already, by ann")
	if now := w.Checks()[1]; len(now.History) != before {
		t.Errorf("a replay changes the check: %q", now.History)
	}
}

// What must not turn a check green, whatever else happens.
func TestCommandRefuses(t *testing.T) {
	accept := "/apkgate accept it is worth it"
	for name, c := range map[string]struct {
		by     string // "ann" may write, "tim" may triage, "bob" is a stranger
		body   string
		event  func(event map[string]any) // what is different about it
		github func(w *workspace, comment int64)
		log    string
		answer string // "" for none
	}{
		"a stranger":           {by: "bob", log: "bob has no write access"},
		"who may triage":       {by: "tim", log: "tim has no write access"},
		"a login of no person": {by: "../../x", log: "no write access"},
		"a quoted reply":       {body: "> " + accept + "\n\nWhy?", log: "does not begin with /apkgate"},
		"no reason":            {body: "/apkgate accept", answer: "it gives no reason"},
		"a typo":               {body: "/apkgate acept x", answer: "there is no such command"},
		"a typo of a stranger": {by: "bob", body: "/apkgate acept x", log: "bob has no write access"},
		"an edited comment's event": {
			event: func(e map[string]any) { e["action"] = "edited" }, log: "neither a new comment nor a label",
		},
		"an issue": {
			event: func(e map[string]any) { e["issue"] = map[string]any{"number": 7} }, log: "on an issue",
		},
		"a bot": {
			event: func(e map[string]any) { e["sender"] = map[string]any{"login": "ann", "type": "Bot"} }, log: "not a person's own",
		},
		"an app in her name": {
			event: func(e map[string]any) {
				e["comment"].(map[string]any)["performed_via_github_app"] = map[string]any{"id": 1}
			}, log: "not a person's own",
		},
		"another's comment": {
			event: func(e map[string]any) { e["comment"].(map[string]any)["user"] = map[string]any{"login": "bob"} }, log: "not a person's own",
		},
		"a comment that was edited since": {
			github: func(w *workspace, id int64) { w.EditComment(id, "/apkgate accept something else") }, log: "the comment was edited",
		},
		"a comment that was deleted": {
			github: func(w *workspace, id int64) { w.EditComment(id, "") }, log: "the comment was deleted",
		},
		"a newer commit": {
			github: func(w *workspace, _ int64) {
				w.SetPull(githubtest.Pull{Number: 7, Repository: "octo/app", Branch: "feature", SHA: nextSHA, Base: "main"})
			}, answer: "the commit dddddddddd has no verdict of the configuration apkgate.yml",
		},
		"a newer commit of a fork": {
			github: func(w *workspace, _ int64) {
				w.SetPull(githubtest.Pull{Number: 7, Repository: "bob/app", Branch: "feature", SHA: nextSHA, Base: "main"})
			}, answer: "no check run on a pull request from a fork",
		},
		"a verdict that came later": {
			event: func(e map[string]any) { e["comment"].(map[string]any)["created_at"] = verdictAt.Add(-time.Second) }, answer: "the verdict on commit aaaaaaaaaa came after that",
		},
		"a comment without a time": {
			event: func(e map[string]any) { delete(e["comment"].(map[string]any), "created_at") }, answer: "came after that",
		},
		"a newer run of the same commit": {
			github: func(w *workspace, _ int64) { w.judged(headSHA, "", 101, "") }, answer: "still in progress",
		},
		"a leg in progress": {
			github: func(w *workspace, _ int64) { w.judged(headSHA, "api-level 29", 100, "") }, answer: "the check apkgate (api-level 29) of commit aaaaaaaaaa is still in progress",
		},
		"a newer pass": {
			github: func(w *workspace, _ int64) { w.judged(headSHA, "", 101, gate.Pass) }, answer: "nothing got worse",
		},
		"a newer invalid verdict": {
			github: func(w *workspace, _ int64) { w.judged(headSHA, "", 101, gate.Invalid) }, answer: "`/apkgate retry`",
		},
		"a newer inconclusive verdict": {
			github: func(w *workspace, _ int64) { w.judged(headSHA, "", 101, gate.Inconclusive) }, answer: "inconclusive, which is no regression to accept",
		},
		"a closed pull request": {
			github: func(w *workspace, _ int64) {
				w.SetPull(githubtest.Pull{Number: 7, Repository: "octo/app", Branch: "feature", SHA: headSHA, Base: "main", Closed: true})
			}, answer: "the pull request is closed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.Permit("ann", "write")
			w.Permit("tim", "read")
			w.judged(headSHA, "", 100, gate.Regression)
			by, body := "ann", accept
			if c.by != "" {
				by = c.by
			}
			if c.body != "" {
				body = c.body
			}
			id := w.comments(by, body)
			if c.event != nil {
				event := commented(id, by, body)
				c.event(event)
				w.event(event)
			}
			if c.github != nil {
				c.github(w, id)
			}
			contains(t, "the log", w.command().Stdout, c.log)
			if conclusion := w.Checks()[0].Conclusion; conclusion != "failure" {
				t.Errorf("the check is %s, want it to stay a failure", conclusion)
			}
			got := w.answers()
			if c.answer == "" && len(got) > 0 || c.answer != "" && (len(got) != 1 || !strings.Contains(got[0], c.answer)) {
				t.Errorf("answered is %q, want %q", got, c.answer)
			}
		})
	}
}

// Another app's check run of the same name, with the same record, is nobody's verdict.
func TestCommandIgnoresOtherApps(t *testing.T) {
	w := newWorkspace(t)
	w.Permit("ann", "admin")
	w.AsApp("evil[bot]")
	w.judged(headSHA, "", 100, gate.Regression)
	w.AsApp("github-actions[bot]")
	w.comments("ann", "/apkgate accept x")
	w.command()
	if c := w.Checks()[0]; c.Conclusion != "failure" {
		t.Errorf("the check is %+v", c)
	}
	if got := w.answers(); len(got) != 1 || !strings.Contains(got[0], "has no verdict") {
		t.Errorf("answered is %q", got)
	}
}

// Of a matrix, what is a regression is accepted, and an invalid leg stays red.
func TestCommandAcceptMatrix(t *testing.T) {
	w := newWorkspace(t)
	w.Permit("ann", "write")
	w.judged(headSHA, "api-level 29", 100, gate.Regression)
	w.judged(headSHA, "a: 1, b: 2", 100, gate.Regression)
	w.judged(headSHA, "api-level 34", 100, gate.Invalid)
	w.comments("ann", "/apkgate accept x")
	w.command()
	for i, want := range []string{"success", "success", "failure"} {
		if c := w.Checks()[i]; c.Conclusion != want {
			t.Errorf("the check %s is %s, want %s", c.Name, c.Conclusion, want)
		}
	}
}

func TestCommandLabel(t *testing.T) {
	label := func(w *workspace, by, name string) {
		w.env["GITHUB_EVENT_NAME"] = "pull_request"
		w.event(map[string]any{
			"action": "labeled", "label": map[string]any{"name": name}, "sender": map[string]any{"login": by, "type": "User"},
			"pull_request": map[string]any{
				"number": 7, "updated_at": verdictAt.Add(time.Hour),
				"head": map[string]any{"sha": headSHA, "ref": "feature", "repo": map[string]any{"full_name": "octo/app"}},
				"base": map[string]any{"sha": baseSHA, "ref": "main", "repo": map[string]any{"full_name": "octo/app"}},
			},
		})
		w.SetLabels(7, name)
	}
	w := newWorkspace(t)
	w.Permit("ann", "write")
	w.Permit("tim", "read") // who may triage sets labels, too
	w.judged(headSHA, "", 100, gate.Regression)
	label(w, "tim", acceptance.Label)
	contains(t, "the log", w.command().Stdout, "tim has no write access")
	label(w, "ann", "bug")
	contains(t, "the log", w.command().Stdout, "the label is another one")
	label(w, "ann", acceptance.Label)
	w.SetLabels(7)
	w.command()
	if got := w.answers(); len(got) != 1 || !strings.Contains(got[0], "the label was removed") || w.Checks()[0].Conclusion != "failure" {
		t.Errorf("answered is %q", got)
	}
	label(w, "ann", acceptance.Label)
	w.command()
	if c := w.Checks()[0]; c.Conclusion != "success" || c.Title != "Accepted by ann: by the label apkgate: accept" {
		t.Errorf("the check is %s, %q", c.Conclusion, c.Title)
	}
}

// why and retry run the pull request's own workflow again, with its own token.
func TestCommandRunsAgain(t *testing.T) {
	w := newWorkspace(t)
	w.Permit("ann", "write")
	w.judged(headSHA, "", 100, gate.Regression)
	for i, body := range []string{"/apkgate retry", "/apkgate why"} {
		w.comments("ann", body)
		w.command()
		n := 0
		for _, request := range w.Requests() {
			if request == "POST /repos/octo/app/actions/runs/100/rerun" {
				n++
			}
		}
		if n != i+1 {
			t.Errorf("%s: the run is run again %d times, want %d", body, n, i+1)
		}
	}
	r, ok := acceptance.Read(w.Checks()[0].Text)
	if c := w.Checks()[0]; !ok || r.Why != "ann" || c.Conclusion != "failure" || c.Title != "Regression" {
		t.Errorf("the check is %+v, with the record %+v", c, r)
	}
	w.comments("bob", "/apkgate retry")
	contains(t, "the log", w.command().Stdout, "bob has no write access")
}

// An intended change from its red check to the level of the next night: accepted in a comment, green
// when it is measured again, and accepted by the refresh that measures what was merged.
func TestAcceptedChangeReachesTheHistory(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	before := w.accepted()
	w.build("demo-worse")
	pull := w.read("event.json")
	w.want(w.apkgate("action", "run", "--why", "0"), exit.StatusRegression)
	if text := w.Comments(7)[0].Body; !strings.Contains(text, "`/apkgate accept REASON`") {
		t.Errorf("the comment does not say how it is accepted:\n%s", text)
	}
	w.Permit("ann", "maintain")
	comment := w.comments("ann", "/apkgate accept pictures are larger now")
	event := commented(comment, "ann", "/apkgate accept pictures are larger now")
	event["comment"].(map[string]any)["created_at"] = time.Now().Add(time.Hour)
	w.event(event)
	w.command()
	if c := w.Checks()[0]; c.Conclusion != "success" {
		t.Fatalf("the check is %+v", c)
	}
	contains(t, "the comment", w.Comments(7)[0].Body, "> **Accepted** by [ann](", "pictures are larger now", "Regression")
	w.blocksNothing("the comment", w.Comments(7)[0].Body)
	w.blocksNothing("the check", w.Checks()[0].Summary)

	w.env["GITHUB_EVENT_NAME"], w.env["GITHUB_REF"], w.env["GITHUB_RUN_ATTEMPT"] = "pull_request", "refs/pull/7/merge", "2"
	w.write("event.json", pull)
	w.want(w.apkgate("action", "run", "--why", "0"), exit.StatusPass)
	if c := w.Checks()[1]; c.Conclusion != "success" || c.Title != "Accepted by ann: pictures are larger now" {
		t.Errorf("the check of the next attempt is %s, %q", c.Conclusion, c.Title)
	}
	contains(t, "the verdict", w.read("apkgate-report/verdict.json"), `"verdict": "regression"`)

	w.env["GITHUB_EVENT_NAME"], w.env["GITHUB_REF"], w.env["INPUT_MODE"] = "schedule", "refs/heads/main", "refresh"
	w.env["GITHUB_SHA"] = mergedSHA
	w.event(map[string]any{"schedule": "0 3 * * *"})
	w.SetCommits(mergedSHA, baseSHA)
	w.want(w.apkgate("action", "run"), exit.StatusRegression) // not merged, as far as GitHub says
	w.SetPull(githubtest.Pull{Number: 7, Repository: "octo/app", Branch: "feature", SHA: nextSHA, Base: "main", Closed: true, Merged: mergedSHA})
	w.want(w.apkgate("action", "run"), exit.StatusRegression) // what was merged is another commit
	if n := w.accepted(); n != before {
		t.Fatalf("%d runs are accepted, want the %d of before", n, before)
	}
	w.SetPull(githubtest.Pull{Number: 7, Repository: "octo/app", Branch: "feature", SHA: headSHA, Base: "main", Closed: true, Merged: mergedSHA})
	w.want(w.apkgate("action", "run"), exit.StatusPass)
	if n := w.accepted(); n <= before {
		t.Errorf("%d runs are accepted, want more than the %d of before", n, before)
	}
	list := w.apkgate("baseline", "list", "--by", "run", "--format", "json")
	contains(t, "the history", list.Stdout, "accepted by ann in pull request 7 at aaaaaaaaaa", "pictures are larger now (read-mail")
	contains(t, "the summary", w.read("summary"), "The regression was accepted by ann in pull request 7")
}

// A line of the commit accepts if who pushed it wrote it and may write; whose fork it is, or who
// else wrote it, must not.
func TestAcceptedByTheCommit(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	w.build("demo-worse")
	w.Permit("ann", "write")
	w.Permit("tim", "read")
	var event map[string]any
	if err := json.Unmarshal([]byte(w.read("event.json")), &event); err != nil {
		t.Fatal(err)
	}
	head := event["pull_request"].(map[string]any)["head"].(map[string]any)
	run := func(pusher, author, repository string) int {
		event["action"], event["sender"] = "synchronize", map[string]any{"login": pusher, "type": "User"}
		head["repo"] = map[string]any{"full_name": repository}
		w.event(event)
		w.SetCommit(headSHA, githubtest.Commit{Message: "Larger pictures\n\nApkgate-accept: worth it\n", Author: author})
		return w.apkgate("action", "run", "--why", "0").Status
	}
	for _, c := range []struct {
		pusher, author, repository string
		status                     int
	}{
		{"ann", "bob", "octo/app", exit.StatusRegression}, // she pushed a stranger's commit
		{"tim", "tim", "octo/app", exit.StatusRegression},
		{"ann", "ann", "bob/app", exit.StatusRegression}, // his fork, her name in it
		{"ann", "ann", "octo/app", exit.StatusPass},
	} {
		if got := run(c.pusher, c.author, c.repository); got != c.status {
			t.Errorf("pushed by %s, written by %s, in %s: exit status %d, want %d", c.pusher, c.author, c.repository, got, c.status)
		}
	}
	checks := w.Checks()
	if c := checks[len(checks)-1]; c.Conclusion != "success" || c.Title != "Accepted by ann: worth it" {
		t.Errorf("the check is %s, %q", c.Conclusion, c.Title)
	}
	w.blocksNothing("the comment", w.Comments(7)[0].Body)
}

// blocksNothing checks that a report of what was accepted does not say that it fails the build.
func (w *workspace) blocksNothing(what, text string) {
	w.t.Helper()
	contains(w.t, what, text, "> **Accepted** by ", "- **Blocks:** nothing: accepted\n")
	if strings.Contains(text, "the build fails") {
		w.t.Errorf("%s says that it fails the build:\n%s", what, text)
	}
}
