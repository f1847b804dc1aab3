package action_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
)

// A Maestro flow runs on this computer, next to the secrets of the workflow.
func TestWorkloadOnThisComputerFindsNoSecret(t *testing.T) {
	w := newWorkspace(t)
	w.write("flow.yaml", "appId: com.example.demo\n---\n- launchApp\n")
	config := w.read("apkgate.yml")
	at, rest := strings.Index(config, "    workload:"), strings.Index(config, "    repetitions:")
	w.write("apkgate.yml", config[:at]+"    workload:\n      maestro:\n        flow: flow.yaml\n"+config[rest:])
	w.write("bin/maestro", "#!/bin/sh\nenv > "+w.dir+"/own\ntr '\\0' '\\n' < /proc/$PPID/environ > "+w.dir+"/parents\n")
	if err := os.Chmod(filepath.Join(w.dir, "bin/maestro"), 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, clitest.AsApkgate, "action", "run")
	cmd.Dir = w.dir
	cmd.Env = []string{"PATH=" + filepath.Join(w.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + w.dir,
		"PGPASSWORD=hunter2", "BROWSERSTACK_ACCESS_KEY=hunter2", "ACTIONS_RUNTIME_TOKEN=hunter2", "MY_SECRET=hunter2", "ANDROID_SIGNING_KEY=hunter2", "ANDROID_KEYSTORE_PASS=hunter2",
		"KEYSTORE_PASS=hunter2", "DATABASE_URL=postgres://u:hunter2@h/d", "GH_PAT=hunter2", "ORG_GRADLE_PROJECT_signingKey=hunter2", "MAESTRO_USER=tester", "UNKNOWN=x"}
	for name, value := range w.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, _ := cmd.CombinedOutput() // no frames are seen
	if _, err := os.Stat(filepath.Join(w.dir, "own")); err != nil {
		t.Fatalf("the flow was not run:\n%s", out)
	}
	for _, file := range []string{"own", "parents"} {
		if text := w.read(file); strings.Contains(text, actionToken) || strings.Contains(text, "hunter2") || !strings.Contains(text, "PATH=") {
			t.Errorf("a flow finds a secret in the environment, %s:\n%s", file, text)
		}
	}
	own := strings.Split(w.read("own"), "\n")
	if !slices.Contains(own, "MAESTRO_USER=tester") || slices.Contains(own, "UNKNOWN=x") {
		t.Errorf("the flow's environment is %q, want what is meant for it and nothing unknown", own)
	}
	if c := w.Checks(); len(c) != 1 || c[0].Status != "completed" { // with the token
		t.Errorf("the check runs are %+v", c)
	}
}
