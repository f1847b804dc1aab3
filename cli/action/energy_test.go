package action_test

import (
	"os"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/githubactions/githubtest"
)

// hungry makes the workspace's phone measure joules and sample methods.
func (w *workspace) hungry(build string) {
	w.build(build)
	w.write("apkgate.yml", w.read("apkgate.yml")+"energy: {methods: true, sample-hz: 1000, settle: 0s}\n")
}

// What made the energy rise is named in the summary and in the comment that a second workflow posts
// from a fork's artifact, which has the profiles.
func TestActionNamesTheEnergyConsumer(t *testing.T) {
	if testing.Short() {
		t.Skip("measures energy in many repetitions")
	}
	w := newWorkspace(t)
	w.hungry("demo-good")
	w.history()
	w.hungry("demo-worse")
	w.want(w.apkgate("action", "run", "--comment=false"), exit.StatusRegression)
	contains(t, "the summary", w.read("summary"), "energy", "Where the energy goes", "MessageView.decodeImages", "measured (power rails)")

	f, err := os.Open("apkgate-report/read-mail_pixel-7-android-14_wifi.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := profile.Parse(f); err != nil {
		t.Errorf("the artifact's profile: %v", err)
	}

	w.SetPull(githubtest.Pull{Number: 9, Repository: "mallory/app", Branch: "patch", SHA: headSHA, Base: "main"})
	w.env["GITHUB_EVENT_NAME"], w.env["GITHUB_RUN_ID"] = "workflow_run", "300"
	w.event(map[string]any{
		"repository": map[string]any{"id": 1, "full_name": "octo/app"},
		"workflow_run": map[string]any{
			"id": 100, "run_number": 10, "run_attempt": 1, "event": "pull_request", "head_sha": headSHA, "head_branch": "patch",
			"head_repository": map[string]any{"full_name": "mallory/app", "owner": map[string]any{"login": "mallory"}}, "pull_requests": []any{},
		},
	})
	w.want(w.apkgate("action", "comment"), exit.StatusPass)
	contains(t, "the fork's comment", w.Comments(9)[0].Body, "Where the energy goes", "MessageView.decodeImages")
}

// Two builds that an action compares leave their profiles in its artifact too.
func TestActionCompareKeepsProfiles(t *testing.T) {
	if testing.Short() {
		t.Skip("measures energy in many repetitions")
	}
	w := newWorkspace(t)
	w.hungry("demo-good")
	w.env["GITHUB_EVENT_NAME"] = "workflow_dispatch"
	w.event(map[string]any{})
	w.want(w.apkgate("action", "run", "--mode", "compare", "--base", "demo-good.apk", "--head", "demo-worse.apk", "--rounds", "12"), exit.StatusRegression)
	contains(t, "the summary", w.read("summary"), "MessageView.decodeImages")
	for _, side := range []string{"base", "head"} {
		if _, err := os.Stat("apkgate-report/read-mail_pixel-7-android-14_wifi_" + side + ".pb.gz"); err != nil {
			t.Error(err)
		}
	}
}
