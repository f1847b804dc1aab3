package completion_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
)

// completed returns what a shell would offer for the last word.
func completed(t *testing.T, words ...string) (values []string, directive string) {
	t.Helper()
	got := clitest.Run(t, nil, append([]string{"__complete"}, words...)...)
	lines := strings.Split(strings.TrimSpace(got.Stdout), "\n")
	for _, line := range lines[:len(lines)-1] {
		value, _, _ := strings.Cut(line, "\t")
		values = append(values, value)
	}
	return values, lines[len(lines)-1]
}

// The directives of cobra: no files (4), files (0).
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cfg := write("a.yml", "app: {package: a.b}\nscenarios:\n  - {name: open, workload: {startup: {}}}\n  - {name: scroll, workload: {monkey: {events: 9}}}\ndevices: [{serial: X1, name: shelf}]\n")
	store := filepath.Join(dir, "h.db")
	if got := clitest.Run(t, nil, "baseline", "import", "--store", store, write("runs.jsonl", clitest.Sound(2))); got.Status != 0 {
		t.Fatal(got.Stderr)
	}
	for _, c := range []struct {
		words []string
		want  []string
		files bool
	}{
		{[]string{"check", "--fail-on", ""}, []string{"never", "regression", "inconclusive", "drift"}, false},
		{[]string{"check", "--fail-on", "re"}, []string{"regression"}, false},
		{[]string{"check", "--format", ""}, []string{"text", "json", "markdown", "html", "sarif", "svg", "codequality"}, false},
		{[]string{"noise", "--format", ""}, []string{"text", "json"}, false},
		{[]string{"energy", "--format", ""}, []string{"text", "csv", "json"}, false},
		{[]string{"run", "--config", cfg, "--scenario", ""}, []string{"open", "scroll"}, false},
		{[]string{"devices", "restore", "--config", cfg, "--device", ""}, []string{"shelf"}, false},
		{[]string{"baseline", "show", "--store", store, ""}, []string{"H1", "H0"}, false},
		{[]string{"baseline", "show", "--store", filepath.Join(dir, "none.db"), ""}, nil, false},
		{[]string{"inspect", "sy"}, []string{"systrace"}, false},
		{[]string{"inspect", "logcat", ""}, nil, true},
		{[]string{"inspect", "perfetto", "--table", "slic"}, []string{"slices"}, false},
		{[]string{"check", ""}, nil, true},
	} {
		got, directive := completed(t, c.words...)
		slices.Sort(got)
		want := slices.Sorted(slices.Values(c.want))
		if want := map[bool]string{false: ":4", true: ":0"}[c.files]; directive != want {
			t.Errorf("%q: directive %s, want %s", c.words, directive, want)
		}
		if len(c.words) > 1 && c.words[len(c.words)-1] != "" { // the shell itself drops what doesn't begin so
			got = slices.DeleteFunc(got, func(v string) bool { return !strings.HasPrefix(v, c.words[len(c.words)-1]) })
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", c.words, got, want)
		}
	}
}
