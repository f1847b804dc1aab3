package action_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

// tracedConfig records what frames wait for.
const tracedConfig = actionConfig + "evidence: {keep: all}\n"

// changed writes a build of the demo with an additional line and a newer version.
func (w *workspace) changed(name, line string) {
	w.t.Helper()
	good := w.read("demo-good.apk")
	text := strings.Replace(good, "\nscenario ", "\n"+line+"\n\nscenario ", 1)
	if text == good {
		w.t.Fatal("the demo has no scenario any more")
	}
	w.write(name+".apk", strings.Replace(text, "version 1.4.0 140", "version 1.5.0 150", 1))
}

// plainly is Markdown as a reader sees it, without what keeps names from being links.
func plainly(markdown string) string {
	return strings.NewReplacer("&#8203;", "", "\u00a0", " ", `\_`, "_").Replace(markdown)
}

// A build in which scrolling waits for another process: the comment names binder, the called method
// and the duration, the page draws the worst frame, and the files for programs have the cause too.
func TestActionExplainsSlowScrolling(t *testing.T) {
	w := newWorkspace(t)
	w.write("apkgate.yml", fmt.Sprintf(tracedConfig, "demo-good"))
	w.history()
	w.changed("demo-slow", "blocks binder com.example.backend IFeed::query 24ms after scroll every 4")
	w.write("apkgate.yml", fmt.Sprintf(tracedConfig, "demo-slow"))
	w.env["INPUT_BASE_APK"] = "demo-good.apk" // decides what the history leaves undecided
	w.want(w.apkgate("action", "run"), exit.StatusRegression)

	comment := plainly(w.Comments(7)[0].Body)
	contains(t, "the comment", comment, "❌ Regression", "<summary>What the frames waited for", "main thread waits ", " ms more per frame for com.example.backend IFeed::query (binder)",
		" of the slowdown; based on ", "compared with 5 earlier runs", "To look at it: apkgate inspect perfetto evidence/", "Late frame: ", "answers binder: com.example.backend IFeed::query", "Usual frame: ")
	if cause, table := strings.Index(comment, "Cause of slow frames"), strings.Index(comment, "| What |"); cause < 0 || cause > table {
		t.Errorf("the cause stands at %d of the comment, want it before the table, which is at %d", cause, table)
	}
	contains(t, "the page", plainly(w.read("apkgate-report/report.html")), "IFeed::query", `class="step binder"`, "com.example.backend", "thread by thread")
	contains(t, "the SARIF file", w.read("apkgate-report/apkgate.sarif"), "frames.duration_ms")
	if notes := w.Checks()[0].Annotations; len(notes) == 0 || !strings.Contains(plainly(notes[0].Message), " ms more per frame for com.example.backend IFeed::query (binder)") {
		t.Errorf("the annotations are %+v, want the cause in the first", notes)
	}
	verdict, err := saved.ReadVerdict(strings.NewReader(w.read("apkgate-report/verdict.json")))
	if err != nil || len(verdict.Causes) == 0 || verdict.Causes[0].Kind != "render.binder" || verdict.Causes[0].Subject.Name != "com.example.backend IFeed::query" {
		t.Errorf("the verdict file has the causes %+v, %v", verdict.Causes, err)
	}
}

func (w *workspace) causes() []string {
	w.t.Helper()
	var v struct {
		Causes []struct{ Kind string }
	}
	if err := json.Unmarshal([]byte(w.read("apkgate-report/verdict.json")), &v); err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, c := range v.Causes {
		out = append(out, c.Kind)
	}
	return out
}

// An unchanged build has no causes.
func TestActionExplainsNoUnchangedBuild(t *testing.T) {
	w := newWorkspace(t)
	w.write("apkgate.yml", fmt.Sprintf(tracedConfig, "demo-good"))
	w.history()
	w.env["INPUT_BASE_APK"] = "demo-good.apk"
	w.want(w.apkgate("action", "run"), exit.StatusPass)
	if kinds := w.causes(); len(kinds) != 0 {
		t.Errorf("an unchanged build has the causes %q", kinds)
	}
}

// An ANR of an earlier commit of the pull request is known in the next one, and the page draws the
// chain of waits.
func TestActionKnowsAFaultOfAnEarlierCommit(t *testing.T) {
	w := newWorkspace(t)
	w.changed("demo-stuck", "fault anr after open-list because lock DatabaseWriter")
	w.write("apkgate.yml", strings.Replace(fmt.Sprintf(tracedConfig, "demo-stuck"), "repetitions: 3", "repetitions: 1", 1))
	w.apkgate("action", "run") // the history is empty, so that the verdict is undecided
	contains(t, "the comment", plainly(w.Comments(7)[0].Body), "<summary>What did not respond", "it waited for thread DatabaseWriter, which held the lock, in com.example.demo.Store.rebuild", "this is new",
		"waits for lock com.example.demo.Store held by DatabaseWriter", "DatabaseWriter of com.example.demo (Runnable, keeps the others waiting)")
	contains(t, "the page", plainly(w.read("apkgate-report/report.html")), `class="thread worse"`, "Who waited for whom")

	const nextSHA = "cccccccccccccccccccccccccccccccccccccccc"
	w.SetPull(githubtest.Pull{Number: 7, Repository: "octo/app", Branch: "feature", SHA: nextSHA, Base: "main"})
	w.event(map[string]any{"pull_request": map[string]any{
		"number": 7,
		"head":   map[string]any{"sha": nextSHA, "ref": "feature", "repo": map[string]any{"full_name": "octo/app"}},
		"base":   map[string]any{"sha": baseSHA, "ref": "main", "repo": map[string]any{"full_name": "octo/app"}},
	}})
	w.env["GITHUB_RUN_ID"] = "101"
	w.apkgate("action", "run")
	if comment := plainly(w.Comments(7)[0].Body); !strings.Contains(comment, "known since") || strings.Contains(comment, "this is new") {
		t.Errorf("of the same fault in the next commit the comment says\n%.3000s", comment)
	}
}
