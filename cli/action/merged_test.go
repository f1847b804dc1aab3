package action_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/exit"
)

// sharded measures a build on two phones in so many shards, whose parts are then given to the
// action.
func (w *workspace) sharded(build string, shards int) {
	w.t.Helper()
	w.twoPhones(build)
	for k := range shards {
		w.want(w.apkgate("collect", "--shard", fmt.Sprintf("%d/%d", k+1, shards), "--output", fmt.Sprintf("parts/%d.session", k+1)), exit.StatusPass)
	}
	w.env["INPUT_MERGE"] = "parts"
}

func (w *workspace) twoPhones(build string) {
	w.write("apkgate.yml", fmt.Sprintf(actionConfig, build)+"    name: one\n  - simulated: pixel-7-android-14\n    name: other\n    context: {shelf: upper}\n")
}

// A pull request measured by shards has the same result as one measured by one job: the verdict on
// all runs, settled alternately with the build before the change, in one comment.
func TestActionJudgesShards(t *testing.T) {
	w := newWorkspace(t)
	w.twoPhones("demo-good")
	w.history()
	w.sharded("demo-worse", 2)
	w.env["INPUT_BASE_APK"] = "demo-good.apk"
	w.want(w.apkgate("action", "run"), exit.StatusRegression)
	comments := w.Comments(7)
	if len(comments) != 1 {
		t.Fatalf("%d comments, want one", len(comments))
	}
	contains(t, "the comment", comments[0].Body, "❌ Regression", "2 runs: 2 worse", "rounds of both builds alternately", "| scroll: time per frame |", "commit "+headSHA[:10])
	if strings.Contains(comments[0].Body, "missing") {
		t.Errorf("nothing is missing:\n%s", comments[0].Body)
	}
}

// What a shard has not delivered is listed as missing in the comment, next to what is there, and
// the job is no success: a regression in what is there is one, and nothing passes.
func TestActionWithAMissingShard(t *testing.T) {
	w := newWorkspace(t)
	w.twoPhones("demo-good")
	w.history()
	w.env["INPUT_BASE_APK"] = "demo-good.apk" // decides what the history leaves undecided
	for i, c := range []struct {
		build, says string
		status      int
	}{{"demo-good", "⚠️ Invalid: 1 of 2 runs is missing", exit.StatusInfrastructure}, {"demo-worse", "❌ Regression", exit.StatusRegression}} {
		w.env["GITHUB_RUN_ID"] = fmt.Sprint(100 + i)
		w.sharded(c.build, 2)
		if err := os.Remove("parts/2.session"); err != nil {
			t.Fatal(err)
		}
		w.want(w.apkgate("action", "run"), c.status)
		comments, checks := w.Comments(7), w.Checks()
		if len(comments) != 1 || len(checks) != i+1 {
			t.Fatalf("%s: %d comments and %d checks, want one comment and %d", c.build, len(comments), len(checks), i+1)
		}
		contains(t, "the comment", comments[0].Body, c.says, "1 run is missing: read-mail on other", "shard 2/2 is missing", "1 run:")
		contains(t, "the verdict file", w.read("apkgate-report/verdict.json"), `"scenario": "read-mail"`)
		if checks[i].Conclusion != "failure" {
			t.Errorf("%s: the check run concludes %q, want failure", c.build, checks[i].Conclusion)
		}
	}

	// The same parts where the gate only advises: missing runs are no verdict, and end with 3.
	w.env["GITHUB_RUN_ID"], w.env["INPUT_FAIL_ON"] = "102", "never"
	delete(w.env, "INPUT_BASE_APK")
	w.want(w.apkgate("action", "run"), exit.StatusInfrastructure)
	check := w.Checks()[2]
	for surface, text := range map[string]string{"the comment": w.Comments(7)[0].Body, "the check": check.Summary, "the page": w.read("apkgate-report/report.html")} {
		contains(t, surface, text, "Regression", "what is missing ends with exit status 3")
	}
	if check.Conclusion != "neutral" {
		t.Errorf("the check run concludes %q, want neutral", check.Conclusion)
	}
}

// The texts in a part, which a fork's job may have written, are shown as text in the comment and in
// the log, whatever they contain.
func TestActionEscapesTextsOfAPart(t *testing.T) {
	w := newWorkspace(t)
	w.sharded("demo-good", 2)
	header, _, _ := strings.Cut(w.read("parts/2.session"), "\n")
	w.write("parts/2.session", header+"\n"+`{"unit":"read-mail on other","device":"<b>x</b>\n::warning::d","scenario":"read-mail",`+
		`"lost":{"cause":"infrastructure","why":"gone\n::error::oops\u001b[31m <img src=http://evil.example/x.png> @octo/all [link](http://evil.example) <!-- apkgate:v1 -->","hint":"do\n::error::hinted"}}`+"\n")
	r := w.apkgate("action", "run")
	w.want(r, exit.StatusInfrastructure)
	body := w.Comments(7)[0].Body
	contains(t, "the comment", body, "oops")
	for _, bad := range []string{"<img", "<b>", "](http://evil", " @octo/all"} {
		if strings.Contains(body, bad) {
			t.Errorf("the comment has %q as it was given:\n%s", bad, body)
		}
	}
	if n := strings.Count(body, "<!-- apkgate:v1"); n != 1 {
		t.Errorf("the comment has %d of apkgate's marks, want 1", n)
	}
	for line := range strings.Lines(r.Stdout + r.Stderr) {
		if strings.HasPrefix(line, "::error::oops") || strings.HasPrefix(line, "::error::hinted") || strings.HasPrefix(line, "::warning::d") || strings.Contains(line, "\x1b") {
			t.Errorf("the log has %q", line)
		}
	}
}
