package action_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/exit"
)

// waiting is a build that waits for another process while it scrolls.
const waiting = "blocks binder com.example.backend IFeed::query 24ms after scroll every 4"

// A regression of unrecorded runs is explained on the pull request: once in the comment and in the
// summary, with the cause in the annotations, and nothing in the history. If disabled, the verdict
// is the same, and the comment says how to explain it.
func TestActionExplainsARegression(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	w.changed("demo-slow", waiting)
	w.build("demo-slow")
	w.env["INPUT_BASE_APK"], w.env["INPUT_WHY"] = "demo-good.apk", "0"
	w.want(w.apkgate("action", "run"), exit.StatusRegression)
	contains(t, "the comment without", plainly(w.Comments(7)[0].Body), "nothing explains read-mail yet: recording both builds is turned off")

	w.env["GITHUB_RUN_ID"], w.env["INPUT_WHY"] = "101", ""
	w.write("summary", "")
	w.want(w.apkgate("action", "run"), exit.StatusRegression)
	comment := plainly(w.Comments(7)[0].Body)
	contains(t, "the comment", comment, "❌ Regression", "ms more per frame for com.example.backend IFeed::query (binder)", "recorded after the verdict; they judge nothing")
	if n := strings.Count(w.read("summary"), "❌ Regression"); n != 1 {
		t.Errorf("the job summary has the verdict %d times:\n%s", n, w.read("summary"))
	}
	check := w.Checks()[1]
	if check.Conclusion != "failure" || len(check.Annotations) == 0 || !strings.Contains(plainly(check.Annotations[0].Message), "ms more per frame for com.example.backend IFeed::query (binder)") {
		t.Errorf("the check run is %+v", check)
	}
	contains(t, "the page", w.read("apkgate-report/report.html"), "IFeed::query")
	if rounds := w.found("apkgate-report/evidence/why-*.jsonl"); len(rounds) != 2 {
		t.Errorf("the artifact has the rounds %q, want those of both builds", rounds)
	}
	if text := w.apkgate("baseline", "export").Stdout; text == "" || strings.Contains(text, `"explains"`) {
		t.Error("the history has what explains a verdict, or nothing")
	}
}

// A comparison of the demo's builds is explained on the pull request too: with the method that is
// slow once in each repetition, its share, and a frame of it.
func TestActionExplainsAComparison(t *testing.T) {
	w := newWorkspace(t)
	for _, name := range []string{"mail-good", "mail-worse"} {
		text, err := simapp.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		w.write(name+".apk", string(text))
	}
	w.env["INPUT_MODE"], w.env["INPUT_BASE"], w.env["INPUT_HEAD"] = "compare", "mail-good.apk", "mail-worse.apk"
	w.want(w.apkgate("action", "run"), exit.StatusRegression)
	comment := plainly(w.Comments(7)[0].Body)
	contains(t, "the comment", comment, "❌ Regression", "recorded after the verdict; they judge nothing",
		"ms more per repetition in com.example.demo.MessageView.decodeImages: ", "main runs com.example.demo.MessageView.decodeImages")
	if share := regexp.MustCompile(`decodeImages: (\d+) % of the slowdown`).FindStringSubmatch(comment); share == nil || share[1] < "50" || len(share[1]) < 2 {
		t.Errorf("the share of the slowdown is %q in\n%s", share, comment)
	}
}

// From a red check to its cause: the time for recording was too short, someone asks why in a comment,
// and the next attempt of the same run records longer, whatever the workflow's input says, and leaves
// what it recorded in its report. An attempt without that question doesn't.
func TestWhyInACommentRecordsLonger(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	w.changed("demo-slow", waiting)
	w.build("demo-slow")
	w.Permit("ann", "write")
	w.env["INPUT_BASE_APK"], w.env["INPUT_WHY"] = "demo-good.apk", "1m"
	pushed := w.read("event.json")
	// attempt runs the workflow for the n-th time, and returns its log and how many rounds it recorded.
	attempt := func(n string) (log, rounds string) {
		w.env["GITHUB_RUN_ATTEMPT"], w.env["GITHUB_EVENT_NAME"], w.env["GITHUB_REF"] = n, "pull_request", "refs/pull/7/merge"
		w.write("event.json", pushed)
		if err := os.RemoveAll("apkgate-report"); err != nil {
			t.Fatal(err)
		}
		r := w.apkgate("action", "run")
		w.want(r, exit.StatusRegression)
		m := regexp.MustCompile(`come from (\d+) rounds? of both builds`).FindStringSubmatch(plainly(w.Comments(7)[0].Body))
		if m != nil {
			rounds = m[1]
		}
		return r.Stdout, rounds
	}
	log, first := attempt("1")
	if strings.Contains(log, "asked why") || first == "4" {
		t.Fatalf("the first attempt recorded %q rounds:\n%s", first, log)
	}
	w.env["INPUT_WHY"] = "0"
	if log, again := attempt("2"); again != "" || strings.Contains(log, "asked why") {
		t.Errorf("an attempt without the question recorded %q rounds:\n%s", again, log)
	}
	w.comments("ann", "/apkgate why")
	w.want(w.apkgate("action", "command"), exit.StatusPass)
	log, asked := attempt("3")
	contains(t, "the log", log, "ann asked why: both builds are recorded for up to 10m after a regression")
	if asked != "4" {
		t.Errorf("the attempt after the question recorded %q rounds, want all 4:\n%s", asked, w.Comments(7)[0].Body)
	}
	contains(t, "the comment", plainly(w.Comments(7)[0].Body), "ms more per frame for com.example.backend IFeed::query (binder)")
	if kept := w.found("apkgate-report/evidence/why-*.jsonl"); len(kept) != 2 {
		t.Errorf("the report keeps the rounds %q, want those of both builds", kept)
	}
	contains(t, "the rounds of the new build", w.read("apkgate-report/evidence/why-head.jsonl"), "IFeed::query", `"explains"`)
}
