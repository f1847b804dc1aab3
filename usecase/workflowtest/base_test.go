package workflowtest

import (
	"strings"
	"testing"
)

// A main branch that does not build must not fail the change that repairs it: its build is left
// out, and not passed to the gate.
func TestBrokenBaseFailsNoJob(t *testing.T) {
	const named = "${{ (steps.built.outputs.cache-hit == 'true' || steps.build.outcome == 'success') && 'base.apk' || '' }}"
	building := 0
	for file, all := range steps(t) {
		for _, s := range all {
			if strings.Contains(s.Run, "git worktree add") {
				building++
				if s.ID != "build" || !s.ContinueOnError {
					t.Errorf("%s: the job ends where the step %q does", file, s.Name)
				}
			}
			commit := s.Env["BASE_COMMIT"] + s.With["base-commit"]
			if s.Env["BASE_APK"]+s.With["base-apk"] != "" && commit != "${{ steps.base.outputs.commit }}" {
				t.Errorf("%s: the step %q says that its base is of %q, and not of the commit that was built", file, s.Name, commit)
			}
			for _, value := range []string{s.Env["BASE_APK"], s.With["base-apk"]} {
				if value != "" && value != named {
					t.Errorf("%s: the step %q names %s, want %s", file, s.Name, value, named)
				}
			}
		}
	}
	if building == 0 {
		t.Error("no example builds the commit before the change")
	}
}
