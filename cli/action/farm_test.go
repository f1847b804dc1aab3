package action_test

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/simulator/standin/firebase"
	"github.com/apkgate/apkgate/simulator/standin/state"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

const farmConfig = `app: {package: com.example.mail, apk: head.apk, test-apk: test.apk}
scenarios:
  - name: start
    workload: {instrumentation: {test-package: com.example.benchmark, class: com.example.StartBenchmark, macrobenchmark: true}}
farm:
  firebase:
    project: mail-perf-1234
    devices: [{model: oriole, version: 33}]
  parallel: 8
  max-usd: 60
`

// farmWorkspace is a checkout whose configuration names a farm, with builds of which the new one
// takes 30 % longer to start.
func farmWorkspace(t *testing.T) (*workspace, *standin.Lab) {
	w, l := newWorkspace(t), standin.New(t, standin.Options{WithoutADB: true})
	service := httptest.NewServer(firebase.Service(l.Folder, firebase.Starts))
	t.Cleanup(service.Close)
	for name, value := range l.Variables() {
		t.Setenv(name, value)
	}
	w.env["PATH"] = l.Bin + string(os.PathListSeparator) + os.Getenv("PATH")
	for _, name := range []string{"TESTING", "TOOLRESULTS", "STORAGE"} {
		w.env["CLOUDSDK_API_ENDPOINT_OVERRIDES_"+name] = service.URL + "/"
	}
	w.write("apkgate.yml", farmConfig)
	w.write("base.apk", "PK100")
	w.write("head.apk", "PK130")
	w.write("test.apk", "PK test")
	return w, l
}

// The configuration's farm is used, and the comment names it with its cost. An input disables it.
func TestActionOnAFarm(t *testing.T) {
	w, l := farmWorkspace(t)
	w.env["INPUT_FARM"] = "false"
	r := w.apkgate("action", "run")
	w.want(r, exit.StatusInfrastructure)
	if called := l.Called("gcloud"); len(called) > 0 {
		t.Errorf("the farm was asked, though the input says false: %q", called)
	}
	delete(w.env, "INPUT_FARM")
	w.env["INPUT_BASE_APK"] = "base.apk"
	w.want(w.apkgate("action", "run"), exit.StatusRegression)
	comments := w.Comments(7)
	if len(comments) != 1 {
		t.Fatalf("%d comments, want one", len(comments))
	}
	contains(t, "the comment", comments[0].Body, "❌ Regression", "time to initial display", "Measured on Firebase Test Lab, which took ", " USD.", "which phone of the model it was")

	w.env["INPUT_MODE"], w.env["GITHUB_EVENT_NAME"], w.env["GITHUB_RUN_ID"] = "compare", "workflow_dispatch", "101"
	w.env["INPUT_BASE"], w.env["INPUT_HEAD"], w.env["INPUT_ROUNDS"] = "base.apk", "head.apk", "8"
	w.event(map[string]any{})
	w.want(w.apkgate("action", "run"), exit.StatusRegression)
	// 16 matrices of two minutes on a phone at 5 USD an hour: 32 min.
	contains(t, "the summary", w.read("summary"), "Measured on Firebase Test Lab, which took 16 matrices, 32 minutes of devices, 2.67 USD.")
}

// A fork's workflow has no credentials: it ends before anything is started, with the reason.
func TestActionOfAForkOnAFarm(t *testing.T) {
	w, l := farmWorkspace(t)
	l.Breaks(firebase.LoggedOut, state.Always)
	w.SetPull(githubtest.Pull{Number: 9, Repository: "mallory/app", Branch: "patch", SHA: headSHA, Base: "main"})
	w.event(map[string]any{"pull_request": map[string]any{
		"number": 9,
		"head":   map[string]any{"sha": headSHA, "ref": "patch", "repo": map[string]any{"full_name": "mallory/app"}},
		"base":   map[string]any{"ref": "main", "repo": map[string]any{"full_name": "octo/app"}},
	}})
	w.ReadOnly(true)
	r := w.apkgate("action", "run")
	w.want(r, exit.StatusInfrastructure)
	for what, text := range map[string]string{"the error": r.Stderr, "the summary": w.read("summary")} {
		contains(t, what, strings.Join(strings.Fields(text), " "), "this pull request comes from a fork, to whose workflow GitHub gives no secrets", "You do not currently have an active account selected")
	}
	contains(t, "the error", r.Stderr, "hint: leave forks out (docs/farms.md has how)")
	if all, err := firebase.Matrices(l.Folder); err != nil || len(all) > 0 {
		t.Errorf("%d matrices, %v", len(all), err)
	}
}
