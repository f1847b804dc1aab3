package workflowtest

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/simulator/standin/firebase"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// farmConfig measures on one kind of phone. Its history follows.
const farmConfig = `app:
  package: com.example.mail
  apk: app/build/outputs/apk/benchmark/app-benchmark.apk
  test-apk: macrobenchmark/build/outputs/apk/benchmark/macrobenchmark-benchmark.apk
scenarios:
  - name: start
    workload: {instrumentation: {test-package: com.example.benchmark, class: com.example.StartBenchmark, macrobenchmark: true}}
store:
  sqlite: %s
farm:
  firebase:
    project: mail-perf-1234
    devices: [{model: oriole, version: 33}]
  parallel: 6
  max-usd: 60
`

// farmRepository is a repository that measures on a farm, which accepts only the workflow's
// credentials. Its app takes so many milliseconds to start, and 100 before the change. env
// configures its jobs for the farm.
func farmRepository(t *testing.T, ms int) (r *repository, env []string) {
	t.Helper()
	r = newRepository(t, "mail-good")
	r.lab = standin.New(t, standin.Options{WithoutADB: true})
	r.lab.Breaks(firebase.WantsCredentials, state.Always)
	service := httptest.NewServer(firebase.Service(r.lab.Folder, firebase.Starts))
	t.Cleanup(service.Close)
	for _, name := range []string{"TESTING", "TOOLRESULTS", "STORAGE"} {
		env = append(env, "CLOUDSDK_API_ENDPOINT_OVERRIDES_"+name+"="+service.URL+"/")
	}
	r.write(filepath.Join(r.dir, "apkgate.yml"), fmt.Sprintf(farmConfig, r.history()))
	r.script(filepath.Join(r.dir, "gradlew"), `
mkdir -p app/build/outputs/apk/benchmark macrobenchmark/build/outputs/apk/benchmark
cp app.ms app/build/outputs/apk/benchmark/app-benchmark.apk
cp app.ms macrobenchmark/build/outputs/apk/benchmark/macrobenchmark-benchmark.apk
`)
	r.write(filepath.Join(r.dir, "app.ms"), "PK100")
	r.commit("measure on a farm")
	r.git("tag", "--force", beforeTheChange)
	r.write(filepath.Join(r.dir, "app.ms"), fmt.Sprint("PK", ms))
	r.commit("change the app", "--allow-empty")
	return r, env
}

// leftNoMatrix asserts that nothing runs on the farm, and that no record says so.
func (r *repository) leftNoMatrix() {
	r.t.Helper()
	if running, err := firebase.Running(r.lab.Folder); err != nil || len(running) > 0 {
		r.t.Errorf("matrices that go on: %q, %v", running, err)
	}
	if left, err := lease.List(r.lab.Path("cache", "apkgate", "leases")); err != nil || len(left) > 0 {
		r.t.Errorf("leases that are left: %+v, %v", left, err)
	}
}

// A pull request that makes the app slower is measured in matrices of a farm, which the comment
// lists with their cost; a cancelled job leaves none of them.
func TestWorkflowOnAFarm(t *testing.T) {
	t.Run("worse", func(t *testing.T) {
		t.Parallel()
		r, env := farmRepository(t, 130)
		j := r.run("firebase-test-lab.yml", "pull_request", r.pullRequest(owner+"/"+name), append(env, "GITHUB_RUN_ID=100", "GITHUB_RUN_NUMBER=1")...)
		if !j.failed || j.outputs["verdict"] != "regression" {
			t.Errorf("failed is %v and the verdict %q, want true and a regression", j.failed, j.outputs["verdict"])
		}
		comments := r.github.Comments(pull)
		if len(comments) != 1 {
			t.Fatalf("%d comments, want 1", len(comments))
		}
		all, err := firebase.Matrices(r.lab.Folder)
		if err != nil || len(all) < 13 {
			t.Fatalf("%d matrices, %v; want one of the new build, and rounds of both", len(all), err)
		}
		// Each test takes two minutes of a phone that costs 5 USD an hour.
		contains(t, "the comment", comments[0].Body, "egression", "time to initial display",
			fmt.Sprintf("Measured on Firebase Test Lab, which took %d matrices, %d minutes of devices, %.2f USD", len(all), 2*len(all), float64(2*len(all))*5/60))
		if strings.Contains(j.log, firebase.Token) {
			t.Error("the log shows the token")
		}
		r.leftNoMatrix()
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		r, env := farmRepository(t, 100)
		t.Cleanup(r.killOrphans)
		r.lab.Breaks(firebase.Endless, state.Always)
		r.interrupt = r.submitted()
		if j := r.run("firebase-test-lab.yml", "pull_request", r.pullRequest(owner+"/"+name), append(env, "GITHUB_RUN_ID=100")...); !j.failed {
			t.Error("the cancelled workflow succeeded")
		}
		r.leftNoMatrix()
	})
}

// submitted is closed once a matrix runs.
func (r *repository) submitted() <-chan struct{} {
	seen := make(chan struct{})
	go func() {
		defer close(seen)
		for r.t.Context().Err() == nil {
			if running, err := firebase.Running(r.lab.Folder); err == nil && len(running) > 0 {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return seen
}
