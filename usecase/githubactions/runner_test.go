package githubactions_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/githubactions"
)

// readOutputs reads an environment file as the runner does: NAME<<WORD, lines until WORD.
// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions#multiline-strings
func readOutputs(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		if key, value, ok := strings.Cut(lines[i], "="); ok && !strings.Contains(key, "<<") {
			out[key] = value
			continue
		}
		name, word, ok := strings.Cut(lines[i], "<<")
		if !ok {
			t.Fatalf("line %d of the outputs is %q", i+1, lines[i])
		}
		var value []string
		for i++; i < len(lines) && lines[i] != word; i++ {
			value = append(value, lines[i])
		}
		out[name] = strings.Join(value, "\n")
	}
	return out
}

func newRunner(t *testing.T, env map[string]string) (*githubactions.Runner, *bytes.Buffer) {
	log := &bytes.Buffer{}
	return githubactions.NewRunner(log, func(name string) string { return env[name] }), log
}

func TestOutputCantSetAnother(t *testing.T) {
	file := filepath.Join(t.TempDir(), "output")
	r, _ := newRunner(t, map[string]string{"GITHUB_OUTPUT": file})
	values := map[string]string{
		"comment-url": "x\n_GitHubActionsFileCommandDelimeter_\nverdict=pass\nverdict<<_GitHubActionsFileCommandDelimeter_\npass",
		"report-path": "y\nEOF\nverdict=pass\nverdict<<EOF\npass\nEOF",
		"verdict":     "regression",
	}
	for _, name := range []string{"verdict", "comment-url", "report-path"} {
		if err := r.Output(name, values[name]); err != nil {
			t.Fatal(err)
		}
	}
	got := readOutputs(t, file)
	for name, want := range values {
		if got[name] != want {
			t.Errorf("output %s is %q, want %q", name, got[name], want)
		}
	}
	if len(got) != len(values) {
		t.Errorf("the outputs are %q", got)
	}
	if err := r.Output("a\nb", "c"); err == nil {
		t.Error("an output's name may hold a line break")
	}
}

func TestInputs(t *testing.T) {
	r, _ := newRunner(t, map[string]string{"INPUT_FAIL-ON": " never ", "INPUT_WORKING_DIRECTORY": "app", "INPUT_NAME": "mail"})
	for name, want := range map[string]string{"fail-on": "never", "working-directory": "app", "name": "mail", "mode": ""} {
		if got := r.Input(name); got != want {
			t.Errorf("input %s is %q, want %q", name, got, want)
		}
	}
}

func TestLogCantBeAWorkflowCommand(t *testing.T) {
	r, log := newRunner(t, nil)
	r.Log("::error::owned\r\n::add-mask::x")
	r.Log("##[error]owned")
	r.Warn("50 %\n::error::owned")
	r.Annotate([]githubactions.Note{{Path: "a,line=1::b", Line: 3, Worse: true, Title: "x::y\n::error::owned", Text: "\r::error::owned"}})
	want := []string{
		": :error::owned ::add-mask::x",
		"# #[error]owned",
		"::warning::50 %25%0A::error::owned",
		"::error file=a%2Cline=1%3A%3Ab,line=3,title=x%3A%3Ay%0A%3A%3Aerror%3A%3Aowned::%0D::error::owned",
	}
	if got := strings.Split(strings.TrimSpace(log.String()), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the log is\n%s\nwant\n%s", log, strings.Join(want, "\n"))
	}
}

func TestStopCommandsUsesARandomWord(t *testing.T) {
	r, log := newRunner(t, nil)
	r.StopCommands()()
	r.StopCommands()()
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	word, ok := strings.CutPrefix(lines[0], "::stop-commands::")
	if !ok || lines[1] != "::"+word+"::" || len(word) < 32 || lines[2] == lines[0] {
		t.Errorf("the log is %q", lines)
	}
}

func TestSummaryLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "summary")
	if err := os.WriteFile(file, make([]byte, githubactions.MaxSummary-2000), 0o644); err != nil {
		t.Fatal(err)
	}
	r, _ := newRunner(t, map[string]string{"GITHUB_STEP_SUMMARY": file})
	var told int
	fill := func(limit int) (string, error) { told = limit; return strings.Repeat("x", limit), nil }
	if err := r.Summary(fill); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(file); told == 0 || info.Size() > githubactions.MaxSummary {
		t.Errorf("the summary has %d bytes after room for %d was given", info.Size(), told)
	}
	if err := r.Summary(fill); err == nil {
		t.Error("a full summary is written to")
	}
}
