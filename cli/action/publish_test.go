package action_test

import (
	"os"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/exit"
)

// One job measures with a token that may only read, and another one shows its verdict: the comment,
// and the check run with each finding at its scenario's line.
func TestPublish(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	w.build("demo-worse")
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
	// What the second job shows is what the first one would have shown, to the letter, but for the
	// command that repeats it: a command out of an artifact could be anybody's.
	const repeat = "reproduce: with this build and a device: `apkgate run` · "
	if shown := w.Comments(7)[0].Body; !strings.Contains(before, repeat) || !strings.Contains(shown, strings.TrimSpace(strings.Replace(before, repeat, "", 1))) {
		t.Errorf("the comment is\n%s\nand the first job's summary\n%s", shown, before)
	}
	if w.read("summary") != before {
		t.Error("the job summary repeats what that of the first job says")
	}

	w.write("apkgate-report/meta.json", `{"format":"apkgate.artifact/1","base":"not a commit","places":{"read-mail":{"path":"../../etc/passwd","line":3}}}`)
	w.want(w.apkgate("action", "publish"), exit.StatusPass)
	if c := w.Checks()[1]; len(c.Annotations) != 0 {
		t.Errorf("annotations are outside of the repository: %+v", c.Annotations)
	}
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
