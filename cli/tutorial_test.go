package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// aStep matches a block of commands of the tutorial, and the output that is shown of it, if any.
var aStep = regexp.MustCompile("(?s)\n```sh\n(.*?)\n```\n(?:\n```text\n(.*?)\n```\n)?")

// The commands of docs/tutorial.md work as written, in order and in an empty folder: each block ends
// with the exit status that is shown, 0 by default, and a line of its output begins as shown.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("the other tests do what these commands do, without a process for each")
	}
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell: ", err)
	}
	steps := aStep.FindAllStringSubmatch(string(text), -1)
	if n := strings.Count(string(text), "\n```"); len(steps) < 8 || n != 2*len(steps)+2*strings.Count(string(text), "\n```text\n") {
		t.Fatalf("%d steps in %d fences: a block is neither of commands nor the output of one", len(steps), n)
	}
	dir := t.TempDir()
	for i, step := range steps {
		want, lines := 0, strings.Split(step[2], "\n")
		if n, err := fmt.Sscanf(lines[len(lines)-1], "exit status %d", &want); n == 1 && err == nil {
			lines = lines[:len(lines)-1]
		}
		var out bytes.Buffer
		command := exec.CommandContext(t.Context(), "sh", "-e", "-c", step[1])
		command.Dir, command.Stdout, command.Stderr = dir, &out, &out
		command.Env = append(os.Environ(), "HOME="+dir, "GITHUB_ACTIONS=")
		status, exited := 0, (*exec.ExitError)(nil)
		if err := command.Run(); errors.As(err, &exited) {
			status = exited.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if status != want {
			t.Fatalf("step %d\n%s\nends with status %d, want %d:\n%s", i+1, step[1], status, want, out.String())
		}
		for _, line := range lines {
			if !strings.Contains("\n"+out.String(), "\n"+strings.TrimSuffix(line, "…")) {
				t.Errorf("step %d\n%s\nprints\n%swant a line that begins %q", i+1, step[1], out.String(), line)
			}
		}
	}
}
