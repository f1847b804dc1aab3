package action_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/terminal"
)

const (
	actionToken = "ghs_SECRETSECRETSECRET"
	headSHA     = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	baseSHA     = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// workspace is a checkout on a runner, with one simulated phone, next to a simulated GitHub.
type workspace struct {
	*githubtest.Server
	t   *testing.T
	dir string
	env map[string]string
}

// The phone's frames are read from the frame timeline: a phone whose app is queried for frames is
// delayed by that, after an event that depends on the moment, however calm the phone is.
const actionConfig = `app:
  package: com.example.demo
  apk: %s.apk
  test-apk: demo-test.apk
scenarios:
  - name: read-mail
    workload:
      instrumentation:
        test-package: com.example.demo.test
        class: com.example.demo.ReadMailTest#readsMail
    repetitions: 3
    timeout: 1m
devices:
  - simulated: pixel-7-android-14
`

// Which build is first in each round is drawn by the time of day: any draw must settle what three
// repetitions on a calm phone leave undecided.
const calm = "noise session 0.5% repetition 1% phone x0.2 frame 14% tail 0.4%x3"

var noise = regexp.MustCompile(`(?m)^noise .*`)

func newWorkspace(t *testing.T) *workspace {
	t.Helper()
	s := githubtest.New("octo", "app", actionToken)
	s.SetPull(githubtest.Pull{Number: 7, Repository: "octo/app", Branch: "feature", SHA: headSHA, Base: "main"})
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	dir := t.TempDir()
	t.Chdir(dir)
	w := &workspace{Server: s, t: t, dir: dir}
	w.env = map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_API_URL": web.URL, "GITHUB_REPOSITORY": "octo/app", "GITHUB_WORKSPACE": dir,
		"GITHUB_SHA": strings.Repeat("f", 40), "GITHUB_REF": "refs/pull/7/merge", "GITHUB_RUN_ID": "100", "GITHUB_RUN_NUMBER": "10",
		"GITHUB_SERVER_URL": "https://github.example", "GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"),
		"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": filepath.Join(dir, "event.json"), "INPUT_GITHUB_TOKEN": actionToken,
	}
	w.event(map[string]any{"pull_request": map[string]any{
		"number": 7,
		"head":   map[string]any{"sha": headSHA, "ref": "feature", "repo": map[string]any{"full_name": "octo/app"}},
		"base":   map[string]any{"sha": baseSHA, "ref": "main", "repo": map[string]any{"full_name": "octo/app"}},
	}})
	w.SetCommits(baseSHA)
	for _, name := range []string{"demo-good", "demo-worse", "demo-test"} {
		text, err := simapp.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		w.write(name+".apk", noise.ReplaceAllString(string(text), calm))
	}
	w.build("demo-good")
	return w
}

func (w *workspace) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workspace) event(payload map[string]any) {
	w.t.Helper()
	data, err := json.Marshal(payload)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write("event.json", string(data))
}

// build makes a build of the app the one to measure.
func (w *workspace) build(name string) { w.write("apkgate.yml", fmt.Sprintf(actionConfig, name)) }

// apkgate runs a command line on the runner.
func (w *workspace) apkgate(args ...string) clitest.Result {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	c := terminal.Console{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now,
		Getenv: func(name string) string { return w.env[name] },
		Pause:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, // nobody else writes to this GitHub
	}
	return clitest.Result{Status: cli.Main(c, args), Stdout: stdout.String(), Stderr: stderr.String()}
}

// histories are the files that history has made, by the configuration.
var histories = map[string]string{}

// history accepts the runs of six sessions of the configured build.
func (w *workspace) history() {
	w.t.Helper()
	const file = ".apkgate/history.db"
	config := w.read("apkgate.yml")
	if made, ok := histories[config]; ok {
		w.write(file, made)
		return
	}
	for range 6 {
		if r := w.apkgate("run", "--accept", "--commit", baseSHA); r.Status != exit.StatusPass {
			w.t.Fatalf("run --accept: status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
		}
	}
	histories[config] = w.read(file)
}

func (w *workspace) want(r clitest.Result, status int) {
	w.t.Helper()
	if r.Status != status {
		w.t.Fatalf("exit status %d, want %d\n%s%s", r.Status, status, r.Stdout, r.Stderr)
	}
}

func (w *workspace) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// accepted counts the references.
func (w *workspace) accepted() int {
	w.t.Helper()
	c := terminal.Console{Stderr: &bytes.Buffer{}, Now: time.Now, Getenv: func(string) string { return "" }}
	store, err := openstore.OpenExisting(w.t.Context(), c, filepath.Join(w.dir, ".apkgate", "history.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer store.Close()
	n := 0
	for entry, err := range store.List(w.t.Context(), runstore.Filter{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		if entry.Mark.State == runstore.Accepted {
			n++
		}
	}
	return n
}

func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%.3000s", what, p, text)
		}
	}
}

// A good and a worse build on a pull request, from the simulated phone to the pull request's
// comment.
func TestActionOnAPullRequest(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	accepted := w.accepted()
	w.env["INPUT_BASE_APK"] = "demo-good.apk" // decides what the history leaves undecided
	w.write("app/src/androidTest/java/com/example/demo/ReadMailTest.kt", "package com.example.demo\n\nclass ReadMailTest {\n    @Test\n    fun readsMail() {}\n}\n")

	w.want(w.apkgate("action", "run"), exit.StatusPass)
	contains(t, "the comment", w.Comments(7)[0].Body, "✅ Pass", "The devices are simulated.")

	w.build("demo-worse")
	w.env["GITHUB_RUN_ID"] = "101"
	r := w.apkgate("action", "run")
	w.want(r, exit.StatusRegression)
	comments := w.Comments(7)
	if len(comments) != 1 || comments[0].Edits != 2 {
		t.Fatalf("%d comments, the first with %d edits, want one, edited by the verdict and by what explains it", len(comments), comments[0].Edits)
	}
	contains(t, "the comment", comments[0].Body, "❌ Regression", "| scroll: time per frame |", "commit "+headSHA[:10], "merge base [`"+baseSHA[:10]+"`](https://github.example/octo/app/commit/"+baseSHA+")")
	check := w.Checks()[1]
	if check.Name != "apkgate" || check.Conclusion != "failure" || check.HeadSHA != headSHA || len(check.Annotations) == 0 {
		t.Fatalf("the check run is %+v", check)
	}
	if a := check.Annotations[0]; a.Path != "app/src/androidTest/java/com/example/demo/ReadMailTest.kt" || a.Line != 5 {
		t.Errorf("the annotation is at %s:%d, want the test's line 5", a.Path, a.Line)
	}
	contains(t, "the job summary", w.read("summary"), "❌ Regression")
	contains(t, "the outputs", w.read("output"), "verdict<<", "regression", "report-path<<", "sarif-path<<", "comment-url<<", "check-url<<")
	contains(t, "the SARIF file", w.read("apkgate-report/apkgate.sarif"), "ReadMailTest.kt")
	contains(t, "the verdict file", w.read("apkgate-report/verdict.json"), `"verdict": "regression"`)
	if n := w.accepted(); n != accepted {
		t.Errorf("%d runs are what others are compared with, want the %d of the main branch", n, accepted)
	}
	logged := strings.Replace(r.Stdout+r.Stderr, "::add-mask::"+actionToken+"\n", "", 1)
	if strings.Contains(logged, actionToken) {
		t.Error("the token is in the log")
	}
	stop := strings.Index(r.Stdout, "::stop-commands::")
	if report := strings.Index(r.Stdout, "REGRESSION"); stop < 0 || (report >= 0 && report < stop) {
		t.Errorf("the report is printed where workflow commands count:\n%.2000s", r.Stdout)
	}
}

// One of two phones is lost: what the other showed is posted, and it is no success.
func TestActionThatLosesAPhone(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	w.write("apkgate.yml", fmt.Sprintf(actionConfig, "demo-good")+"  - address: 127.0.0.1:1\n")
	r := w.apkgate("action", "run")
	w.want(r, exit.StatusInfrastructure)
	if c := w.Checks()[0]; c.Conclusion != "failure" {
		t.Errorf("the check run concludes %q, want failure", c.Conclusion)
	}
}

// A commit that crashes replaces the pass of the previous one.
func TestActionReportsACrash(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	w.env["INPUT_BASE_APK"] = "demo-good.apk" // decides what the history leaves undecided
	w.want(w.apkgate("action", "run"), exit.StatusPass)
	contains(t, "the comment", w.Comments(7)[0].Body, "✅ Pass")
	w.write("crash.apk", w.read("demo-good.apk")+"\nfault crash after scroll\n")
	w.build("crash")
	w.env["GITHUB_RUN_ID"], w.env["GITHUB_RUN_NUMBER"] = "101", "11"
	w.want(w.apkgate("action", "run"), exit.StatusInfrastructure)
	comments, checks := w.Comments(7), w.Checks()
	if len(comments) != 1 {
		t.Fatalf("%d comments, want the one", len(comments))
	}
	contains(t, "the comment", comments[0].Body, "Invalid", "the app crashed in repetition 1")
	if c := checks[len(checks)-1]; c.Conclusion != "failure" || !strings.Contains(c.Summary, "the app crashed in repetition 1") {
		t.Errorf("the check run concludes %q: %s", c.Conclusion, c.Summary)
	}
	contains(t, "the summary", w.read("summary"), "the app crashed in repetition 1")
	contains(t, "the outputs", w.read("output"), "invalid")
	contains(t, "the verdict file", w.read("apkgate-report/verdict.json"), `"verdict": "invalid"`)
	w.env["INPUT_FAIL-ON"], w.env["GITHUB_RUN_ID"], w.env["GITHUB_RUN_NUMBER"] = "never", "102", "12"
	w.want(w.apkgate("action", "run"), exit.StatusPass)
	checks = w.Checks()
	if c := checks[len(checks)-1]; c.Conclusion != "neutral" {
		t.Errorf("where no verdict fails, the check run concludes %q, want neutral", c.Conclusion)
	}
}

func TestActionInAdvisoryMode(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	w.build("demo-worse")
	w.env["INPUT_FAIL-ON"] = "never"
	w.want(w.apkgate("action", "run"), exit.StatusPass)
	if c := w.Checks()[0]; c.Conclusion != "neutral" {
		t.Errorf("the check run concludes %q, want neutral", c.Conclusion)
	}
	contains(t, "the comment", w.Comments(7)[0].Body, "❌ Regression")
}

// The advice for a new user works where it is given.
func TestActionAdviceWorks(t *testing.T) {
	for name, c := range map[string]struct {
		store, runner string
		says          string
		byID          bool
	}{
		"a file on a hosted runner":   {"", "github-hosted", "which is gone with this runner", false},
		"a file on one's own runner":  {"", "self-hosted", "apkgate baseline accept ", true},
		"a branch, which is not kept": {"branch", "github-hosted", "the refresh of the main branch (mode refresh, or apkgate baseline refresh) measures and accepts", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.env["RUNNER_ENVIRONMENT"] = c.runner
			if c.store == "branch" {
				remote := filepath.Join(t.TempDir(), "remote.git")
				for _, args := range [][]string{{"init", "--quiet", "--bare", remote}, {"init", "--quiet", w.dir}} {
					if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
						t.Skipf("git: %v\n%s", err, out)
					}
				}
				w.env["INPUT_STORE"] = "branch:" + remote + "#apkgate-history"
			}
			w.want(w.apkgate("action", "run"), exit.StatusPass)
			body := w.Comments(7)[0].Body
			contains(t, "the comment", body, "Inconclusive", c.says)
			if strings.Contains(body, "baseline accept") != c.byID {
				t.Errorf("the comment's advice is wrong there:\n%s", body)
			}
		})
	}
}

func TestActionWithoutAVerdictEndsItsCheckRun(t *testing.T) {
	w := newWorkspace(t)
	w.write("apkgate.yml", "app: {}\n")
	w.want(w.apkgate("action", "run"), exit.StatusUsage)
	if c := w.Checks(); len(c) != 1 || c[0].Conclusion != "failure" || !strings.Contains(c[0].Summary, "apkgate.yml:1") {
		t.Errorf("the check runs are %+v", c)
	}
	if n := len(w.Comments(7)); n != 0 {
		t.Errorf("%d comments without a verdict", n)
	}
}

// A runner may keep its files: a call that comes to no verdict, or is refused, leaves none of an earlier
// run to the job that publishes.
func TestActionLeavesNoEarlierVerdict(t *testing.T) {
	const report = "apps/mail/apkgate-report/"
	w := newWorkspace(t)
	w.write("apps/mail/apkgate.yml", "app: {}\n")
	w.env["INPUT_WORKING-DIRECTORY"] = "apps/mail"
	for name, value := range map[string]string{"INPUT_CONFIG": "", "INPUT_MODE": "nightly", "INPUT_ROUNDS": "many", "INPUT_LEG": "<b>"} {
		w.env[name] = value
		w.write(report+"verdict.json", "{}")
		w.write(report+"report.html", "")
		w.want(w.apkgate("action", "run"), exit.StatusUsage)
		if _, err := os.Stat(filepath.Join(w.dir, report, "verdict.json")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s=%s: the earlier verdict is still there: %v", name, value, err)
		}
		delete(w.env, name)
	}
	w.want(w.apkgate("action", "publish", "--artifact", report), exit.StatusPass)
	checks := w.Checks()
	if c := checks[len(checks)-1]; c.Conclusion != "failure" || c.Title != "No verdict" {
		t.Errorf("published, it is the check run %+v", c)
	}
}

// A gate in a folder of the workspace: its paths are relative to that, and this process does not
// change its folder.
func TestActionInAWorkingDirectory(t *testing.T) {
	w := newWorkspace(t)
	for _, name := range []string{"demo-good.apk", "demo-test.apk", "apkgate.yml"} {
		w.write("apps/mail/"+name, w.read(name))
		if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.env["INPUT_WORKING-DIRECTORY"] = "apps/mail"
	w.env["INPUT_STORE"] = "kept/history.db"
	w.want(w.apkgate("action", "run"), exit.StatusPass)
	for _, file := range []string{"apkgate-report/verdict.json", "kept/history.db"} {
		if _, err := os.Stat(filepath.Join(w.dir, "apps/mail", file)); err != nil {
			t.Errorf("it is not in the working directory: %v", err)
		}
	}
	if c := w.Checks()[0]; c.Name != "apkgate (apps/mail/apkgate.yml)" {
		t.Errorf("the check run is called %q", c.Name)
	}
	if now, err := os.Getwd(); err != nil || now != w.dir {
		t.Errorf("the process is in %s (%v), want %s", now, err, w.dir)
	}
	contains(t, "the SARIF file", w.read("apps/mail/apkgate-report/apkgate.sarif"), `"results": []`)
}

func TestActionRejectsInvalidInput(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		says string
	}{
		"no workflow":         {map[string]string{"GITHUB_REPOSITORY": ""}, "apkgate run does the same"},
		"an unknown mode":     {map[string]string{"INPUT_MODE": "nightly"}, `--mode is "nightly", want one of`},
		"a comment that is x": {map[string]string{"INPUT_COMMENT": "x"}, `--comment is "x", want one of always, change, inconclusive, regression, never`},
		"a leg that is a tag": {map[string]string{"INPUT_LEGS": "<b>"}, "the leg's name"},
		"no address":          {map[string]string{"INPUT_REPORT_URL": "javascript:alert(1)"}, "--report-url is"},
		"a name with a tag":   {map[string]string{"INPUT_NAME": "<b>"}, "the configuration's name"},
		"no such folder":      {map[string]string{"INPUT_WORKING-DIRECTORY": "nowhere"}, "go to the working directory"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			for k, v := range c.env {
				w.env[k] = v
			}
			r := w.apkgate("action", "run")
			w.want(r, exit.StatusUsage)
			contains(t, "the error", r.Stderr, c.says)
		})
	}
}

// Later changes of main do not judge the pull request: accepted runs of such a commit would excuse
// a build that is as slow. The run records the commits of its build.
func TestActionIgnoresLaterCommitsOfMain(t *testing.T) {
	w := newWorkspace(t)
	w.history()
	later := strings.Repeat("d", 40)
	w.build("demo-worse")
	for range 3 {
		w.apkgate("run", "--commit", later)
	}
	w.want(w.apkgate("baseline", "accept", "--where", "model=Pixel 7", "--commit", later, "--note", "the test wants it"), exit.StatusPass)
	w.want(w.apkgate("action", "run"), exit.StatusRegression)
	contains(t, "the comment", w.Comments(7)[0].Body, " accepted runs are of commits outside this build's history (the newest: dddddddddd) and are left out")
	measured := w.apkgate("baseline", "list", "--commit", headSHA, "--format", "json")
	id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(measured.Stdout)
	if id == nil {
		t.Fatalf("no run of the head is kept:\n%s%s", measured.Stdout, measured.Stderr)
	}
	contains(t, "the run", w.apkgate("baseline", "show", id[1]).Stdout, `"head":"`+headSHA+`"`, `"base":"`+baseSHA+`"`, `"merge":"`+strings.Repeat("f", 40)+`"`)
}
