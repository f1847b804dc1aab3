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

// The commands of docs/tutorial.md work as written.
func TestTutorial(t *testing.T) {
	t.Parallel()
	transcript(t, filepath.Join("..", "docs", "tutorial.md"))
}

// The first hour on five kinds of project goes as docs/evaluation/first-hours shows it.
func TestFirstHours(t *testing.T) {
	t.Parallel()
	hours, err := filepath.Glob(filepath.Join("..", "docs", "evaluation", "first-hours", "*.md"))
	if err != nil || len(hours) != 5 {
		t.Fatalf("%q, %v: want 5 documents", hours, err)
	}
	for _, hour := range hours {
		t.Run(strings.TrimSuffix(filepath.Base(hour), ".md"), func(t *testing.T) {
			t.Parallel()
			transcript(t, hour)
		})
	}
}

// aStep matches a block of commands of a transcript, and the output that is shown of it, if any.
var aStep = regexp.MustCompile("(?s)\n```sh\n(.*?)\n```\n(?:\n```text\n(.*?)\n```\n)?")

// transcript runs the commands of a document as written, in order and in an empty folder: each
// block ends with the exit status that is shown, 0 by default, and prints lines that begin as shown,
// in that order and however wide their columns are.
func transcript(t *testing.T, document string) {
	t.Helper()
	if testing.Short() {
		t.Skip("the other tests do what these commands do, without a process for each")
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell: ", err)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	steps := aStep.FindAllStringSubmatch(string(text), -1)
	if n := strings.Count(string(text), "\n```"); len(steps) < 6 || n != 2*len(steps)+2*strings.Count(string(text), "\n```text\n") {
		t.Fatalf("%d steps in %d fences: a block is neither of commands nor the output of one", len(steps), n)
	}
	dir := t.TempDir()
	for i, step := range steps {
		want, lines := 0, strings.Split(step[2], "\n")
		if n, err := fmt.Sscanf(lines[len(lines)-1], "exit status %d", &want); n == 1 && err == nil {
			lines = lines[:len(lines)-1]
		}
		status, out := shell(t, dir, step[1])
		if status != want {
			t.Fatalf("step %d\n%s\nends with status %d, want %d:\n%s", i+1, step[1], status, want, out)
		}
		rest := oneBlank(out)
		for _, line := range lines {
			_, after, found := strings.Cut(rest, strings.TrimSuffix(strings.TrimSuffix(oneBlank(line), "…"), " "))
			if !found {
				t.Errorf("step %d\n%s\nprints\n%swant a line that begins %q, after those before it", i+1, step[1], out, line)
				continue
			}
			rest = after
		}
	}
}

// oneBlank returns text with a line break before each line, and one blank where there are several:
// how wide a column is depends on what else is in it.
func oneBlank(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("\n" + strings.Join(strings.Fields(line), " "))
	}
	return b.String()
}

// shell runs commands in a folder, and returns the exit status and what they print.
func shell(t *testing.T, dir, commands string) (status int, out string) {
	t.Helper()
	var both bytes.Buffer
	command := exec.CommandContext(t.Context(), "sh", "-e", "-c", commands)
	command.Dir, command.Stdout, command.Stderr = dir, &both, &both
	command.Env = append(os.Environ(), "HOME="+dir, "GITHUB_ACTIONS=")
	if err := command.Run(); err != nil {
		exited := (*exec.ExitError)(nil)
		if !errors.As(err, &exited) {
			t.Fatal(err)
		}
		status = exited.ExitCode()
	}
	return status, both.String()
}
