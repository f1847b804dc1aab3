package measure_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// nextOf returns what a run says to do next, and the command, which has a line of its own; "" for
// nothing.
func nextOf(got clitest.Result) (about, command string) {
	last := ""
	for line := range strings.Lines(got.Stdout) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "apkgate "); ok {
			return last, command
		}
		last = strings.Join(strings.Fields(line), " ")
	}
	return "", ""
}

// After a run of each verdict the location of its report and the next command are printed; the
// command works as printed.
func TestNextStep(t *testing.T) {
	t.Parallel()
	l := clitest.NewLab(t, "demo-good", "")
	l.ConfigurePhones("demo-good", clitest.Text("  - simulated: nexus-5x-android-6.0.0\n"), "wifi")
	measure := func(session string, status int, more ...string) clitest.Result {
		t.Helper()
		got := l.Apkgate(append([]string{"run", "--session", session, "--html", l.Path("r.html")}, more...)...)
		if got.Status != status || !strings.Contains(got.Stderr, "\nreport: "+l.Path("r.html")+"\n") {
			t.Errorf("exit status %d, want %d and the report named:\n%s%s", got.Status, status, got.Stdout, got.Stderr)
		}
		return got
	}
	follow := func(got clitest.Result, begins string) {
		t.Helper()
		about, command := nextOf(got)
		if begins != "" && about != begins || command == "" {
			t.Fatalf("next is %q, want %q and a command:\n%s", about, begins, got.Stdout)
		}
		if got := clitest.Run(t, nil, strings.Fields(command)...); got.Status != exit.StatusPass || !strings.Contains(got.Stdout, ": 1 run") {
			t.Errorf("apkgate %s: exit status %d\n%s%s", command, got.Status, got.Stdout, got.Stderr)
		}
	}
	for i := range 5 {
		follow(measure(fmt.Sprint("first-", i), exit.StatusPass), "If good let later builds be compared with this one:")
	}
	for i := range 6 {
		follow(measure(fmt.Sprint("good-", i), exit.StatusPass), "")
	}
	if got := measure("done", exit.StatusPass, "--accept"); strings.Contains(got.Stdout, "apkgate baseline") {
		t.Errorf("there is a next step, though all is done:\n%s", got.Stdout)
	}
	worse, err := os.ReadFile(l.Path("demo-good.apk"))
	if err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, l.Path("demo-good.apk"), string(worse)+"\nfault crash after scroll\n")
	for _, more := range [][]string{nil, {"--apk", l.Path("demo-good.apk")}} {
		about, command := nextOf(measure("crash", exit.StatusInfrastructure, more...))
		if !strings.HasPrefix(about, "Measure again once it is fixed") || !strings.HasPrefix(command, "run --scenario read-mail") || !strings.HasSuffix(command, strings.Join(more, " ")) {
			t.Errorf("after a crash: %q, %q, want what to fix and the command with %q", about, command, more)
		}
	}
	clitest.WriteFile(t, l.Path("demo-good.apk"), strings.Replace(string(worse), "cost 7ms", "cost 14ms", 1))
	follow(measure("worse", exit.StatusRegression), "If intended make these runs the new level:")
}

// apkgate's own files in a repository are in no commit, unless the user stores a history elsewhere.
func TestOwnFolderIsIgnoredByGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	git := func(args ...string) string {
		out, err := exec.Command("git", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "--quiet")
	runs := clitest.WriteFile(t, filepath.Join(t.TempDir(), "runs.jsonl"), clitest.Sound(3))
	if got := clitest.Run(t, nil, "baseline", "import", runs); got.Status != exit.StatusPass {
		t.Fatal(got.Stderr)
	}
	if _, err := os.Stat(".apkgate/history.db"); err != nil {
		t.Fatal(err)
	}
	if left := git("status", "--short"); left != "" {
		t.Errorf("git sees\n%s", left)
	}
	clitest.WriteFile(t, ".apkgate/.gitignore", "own\n")
	if got := clitest.Run(t, nil, "baseline", "import", runs, "--store", "kept/history.db"); got.Status != exit.StatusPass {
		t.Fatal(got.Stderr)
	}
	if got := clitest.Run(t, nil, "baseline", "import", runs); got.Status != exit.StatusPass {
		t.Fatal(got.Stderr)
	}
	if text, err := os.ReadFile(".apkgate/.gitignore"); err != nil || string(text) != "own\n" {
		t.Errorf("the user's .gitignore is %q, %v", text, err)
	}
	if left := git("status", "--short"); !strings.Contains(left, "kept/") {
		t.Errorf("a history that was put elsewhere is not seen by git:\n%s", left)
	}
}
