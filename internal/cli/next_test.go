package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// nextLine is the last thing that a run says: where to go from here.
func nextLine(got ran) string {
	lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
	return lines[len(lines)-1]
}

// After a run of each verdict one knows where its report is, and the one command
// that comes next; the command works as it stands.
func TestWhatComesAfterARun(t *testing.T) {
	t.Parallel()
	l := newFaultLab(t, "demo-good", "")
	l.configurePhones("demo-good", stringer("  - simulated: nexus-5x-android-6.0.0\n"), "wifi")
	measure := func(session string, status int, more ...string) ran {
		t.Helper()
		got := l.apkgate(append([]string{"run", "--session", session, "--html", l.path("r.html")}, more...)...)
		if got.status != status || !strings.Contains(got.stderr, "\nreport: "+l.path("r.html")+"\n") {
			t.Errorf("exit status %d, want %d and the report named:\n%s%s", got.status, status, got.stdout, got.stderr)
		}
		return got
	}
	follow := func(got ran, begins string) {
		t.Helper()
		about, command, found := strings.Cut(nextLine(got), ": apkgate ")
		if !found || !strings.HasPrefix(about, "next: "+begins) {
			t.Fatalf("the last line is %q, want %q and a command", nextLine(got), "next: "+begins)
		}
		if got := cli(t, nil, strings.Fields(command)...); got.status != exitPass || !strings.Contains(got.stdout, ": 1 run") {
			t.Errorf("apkgate %s: exit status %d\n%s%s", command, got.status, got.stdout, got.stderr)
		}
	}
	for i := range 5 {
		follow(measure(fmt.Sprint("first-", i), exitPass), "if this build is good")
	}
	for i := range 6 {
		follow(measure(fmt.Sprint("good-", i), exitPass), "if this ")
	}
	if got := measure("done", exitPass, "--accept"); strings.Contains(got.stderr, "\nnext: ") {
		t.Errorf("%q, though all is done", nextLine(got))
	}
	worse, err := os.ReadFile(l.path("demo-good.apk"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, l.path("demo-good.apk"), string(worse)+"\nfault crash after scroll\n")
	for _, more := range [][]string{nil, {"--apk", l.path("demo-good.apk")}} {
		got := nextLine(measure("crash", exitInfrastructure, more...))
		_, command, _ := strings.Cut(got, ": apkgate run --scenario read-mail")
		if !strings.Contains(got, "fix what ended run ") || !strings.HasSuffix(command, strings.Join(more, " ")) || command == "" {
			t.Errorf("after a crash: %q, want what to fix and the command with %q", got, more)
		}
	}
	put(t, l.path("demo-good.apk"), strings.Replace(string(worse), "cost 7ms", "cost 14ms", 1))
	follow(measure("worse", exitRegression), "if the change is intended, make these runs the new level")
}

type stringer string

func (s stringer) String() string { return string(s) }

// What apkgate leaves behind in a repository is in no commit, unless a history was
// put elsewhere by its user.
func TestItsOwnFolderIgnoresItself(t *testing.T) {
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
	runs := put(t, filepath.Join(t.TempDir(), "runs.jsonl"), sound(3))
	if got := cli(t, nil, "baseline", "import", runs); got.status != exitPass {
		t.Fatal(got.stderr)
	}
	if _, err := os.Stat(".apkgate/history.db"); err != nil {
		t.Fatal(err)
	}
	if left := git("status", "--short"); left != "" {
		t.Errorf("git sees\n%s", left)
	}
	put(t, ".apkgate/.gitignore", "own\n")
	if got := cli(t, nil, "baseline", "import", runs, "--store", "kept/history.db"); got.status != exitPass {
		t.Fatal(got.stderr)
	}
	if got := cli(t, nil, "baseline", "import", runs); got.status != exitPass {
		t.Fatal(got.stderr)
	}
	if text, err := os.ReadFile(".apkgate/.gitignore"); err != nil || string(text) != "own\n" {
		t.Errorf("the user's .gitignore is %q, %v", text, err)
	}
	if left := git("status", "--short"); !strings.Contains(left, "kept/") {
		t.Errorf("a history that was put elsewhere is not seen by git:\n%s", left)
	}
}
