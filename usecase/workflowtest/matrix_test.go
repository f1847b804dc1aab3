package workflowtest

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

// onOnePhone leaves one of the phones in the configuration.
func (r *repository) onOnePhone() {
	r.t.Helper()
	file := filepath.Join(r.dir, "apkgate.yml")
	one, found := strings.CutSuffix(r.read(file), "  - simulated: "+phones[1]+"\n")
	if !found {
		r.t.Fatalf("the configuration does not end with a phone:\n%s", one)
	}
	r.write(file, one)
}

// Two emulators at the same time; on the older one the build is worse.
func TestMatrixWithARegressionOnOneLeg(t *testing.T) {
	r := newRepository(t, "mail-good")
	r.onOnePhone()
	r.copy(filepath.Join(demo(t), "mail-worse.apk"), filepath.Join(r.dir, "worse.simapp"))
	r.script(filepath.Join(r.dir, "emulator"), `[ "$1" != 29 ] || cp worse.simapp app/build/outputs/apk/release/app-release.apk`+"\n")
	r.commit("be worse on API level 29")
	j := r.run("matrix.yml", "pull_request", r.pullRequest(owner+"/"+name), "GITHUB_RUN_ID=100", "GITHUB_RUN_NUMBER=1")
	if !j.failed {
		t.Error("the workflow succeeded, though one leg is worse")
	}
	comments := r.github.Comments(pull)
	if len(comments) != 1 {
		t.Fatalf("%d comments, want one", len(comments))
	}
	contains(t, "the comment", comments[0].Body, "### ❌ Regression: api-level 29: in read-mail after scroll, ", "| api-level 29 | ❌ Regression |", "| api-level 34 | ✅ ")
	// Equal builds may look better by chance, never worse.
	if text := comments[0].Body; !strings.Contains(text, "2 legs: 1 regression, 1 pass") && !strings.Contains(text, "2 legs: 1 regression, 1 improvement") {
		t.Errorf("the comment does not count the legs:\n%s", text)
	}
	checks := map[string]githubtest.CheckRun{}
	for _, c := range r.github.Checks() {
		checks[c.Name] = c
	}
	if got := slices.Sorted(maps.Keys(checks)); !slices.Equal(got, []string{"apkgate (api-level 29)", "apkgate (api-level 34)"}) {
		t.Fatalf("the check runs are %q", got)
	}
	if bad, good := checks["apkgate (api-level 29)"], checks["apkgate (api-level 34)"]; bad.Conclusion != "failure" || good.Conclusion != "success" || bad.ExternalID == good.ExternalID {
		t.Errorf("the check runs are %+v and %+v", bad, good)
	}
	if got := files(t, r.artifacts); !slices.Equal(got, []string{"apkgate-report-29", "apkgate-report-34"}) {
		t.Errorf("the artifacts are %q", got)
	}
}
