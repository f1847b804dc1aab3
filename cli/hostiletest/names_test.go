package hostiletesthostile_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// What hostile names try: to control a terminal, to start new lines, to reverse text, to end the
// surrounding markup, to command a GitHub runner, to ping people.
const hostile = "\x1b[31mE\x07\n::error::pwned\r\n##[error]x\u202egnp.exe\u2028</script><script>alert(1)</script>" +
	"<img src=x onerror=alert(1)>|`|**bold**|[l](http://evil.example)|@everyone\u200b${{x}}&lt;"

func hostileRun(t *testing.T, id string, kilobytes float64) string {
	t.Helper()
	line, err := json.Marshal(map[string]any{
		"format": "apkgate.run/1", "id": id, "session": id + hostile, "scenario": "s " + hostile,
		"app":      map[string]string{"package": "app " + hostile, "version": hostile, "build": hostile},
		"source":   map[string]string{"repository": hostile, "commit": hostile, "ref": hostile},
		"context":  map[string]string{"model": hostile, "manufacturer": hostile, hostile: hostile},
		"warnings": []string{hostile},
		"iterations": []any{map[string]any{
			"metrics": map[string]float64{"memory.pss_kb": kilobytes},
			"events":  []any{map[string]any{"name": "start", "metrics": map[string]float64{"memory.pss_kb": 5}}, map[string]any{"name": hostile, "metrics": map[string]float64{"memory.pss_kb": kilobytes}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}

func hostileFiles(t *testing.T) (history, worse string) {
	t.Helper()
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 8 {
		lines.WriteString(hostileRun(t, strings.Repeat("h", i+1)+hostile, 600+float64(i)))
	}
	return clitest.WriteFile(t, filepath.Join(dir, "h.jsonl"), lines.String()), clitest.WriteFile(t, filepath.Join(dir, "r.json"), hostileRun(t, "r"+hostile, 3000))
}

// harmlessLines asserts what every output for a terminal or a build's log guarantees.
func harmlessLines(t *testing.T, text string) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Errorf("a runner would take this line for a command: %q", line)
		}
		for _, r := range line {
			if strings.ContainsRune("\x1b\x07\r\u202e\u2028\u200b", r) {
				t.Errorf("%q is left in the line %q", r, line)
				break
			}
		}
	}
}

func TestHostileNamesAsText(t *testing.T) {
	history, worse := hostileFiles(t)
	got := clitest.Run(t, nil, "check", "--history", history, "--run", worse, "--verbose")
	if got.Status != exit.StatusRegression || got.Stderr != "" {
		t.Fatalf("status %d, stderr %q", got.Status, got.Stderr)
	}
	harmlessLines(t, got.Stdout)
	store := filepath.Join(t.TempDir(), "h.db")
	for _, args := range [][]string{
		{"baseline", "import", "--store", store, history},
		{"baseline", "list", "--store", store},
		{"baseline", "prune", "--store", store, "--keep", "1"},
		{"noise", "--store", store},
		{"check", "--store", store, "--run", worse},
	} {
		got := clitest.Run(t, nil, args...)
		if got.Status > exit.StatusRegression || got.Stdout == "" {
			t.Errorf("%q: %+v", args, got)
		}
		harmlessLines(t, got.Stdout+got.Stderr)
	}
	got = clitest.Run(t, nil, "baseline", "show", "--store", store, hostile)
	clitest.Fails(t, got, exit.StatusUsage)
	harmlessLines(t, got.Stderr)
	got = clitest.Run(t, nil, "check", "--history", history, "--run", "no\x1b[31m\n::error::such\u202e.json")
	clitest.Fails(t, got, exit.StatusUsage, "no such file")
	harmlessLines(t, got.Stderr)
}

func TestHostileNamesAsMarkdown(t *testing.T) {
	history, worse := hostileFiles(t)
	got := clitest.Run(t, nil, "check", "--history", history, "--run", worse, "--format", "markdown")
	if got.Status != exit.StatusRegression {
		t.Fatalf("%+v", got)
	}
	harmlessLines(t, got.Stdout)
	for _, live := range []string{"<script", "<img", "[l](", "**bold**", "|`|"} {
		if strings.Contains(got.Stdout, live) {
			t.Errorf("Markdown holds %q unescaped", live)
		}
	}
	if regexp.MustCompile(`(^|[^\\&;\w/])@everyone`).MatchString(got.Stdout) {
		t.Error("Markdown would ping @everyone")
	}
}

func TestHostileNamesAsHTML(t *testing.T) {
	history, worse := hostileFiles(t)
	got := clitest.Run(t, nil, "check", "--history", history, "--run", worse, "--format", "html")
	if got.Status != exit.StatusRegression {
		t.Fatalf("status %d, stderr %q", got.Status, got.Stderr)
	}
	for _, live := range []string{"<script>alert", "<img src=x", "</script><script>", "href=\"http://evil"} {
		if strings.Contains(got.Stdout, live) {
			t.Errorf("the page holds %q unescaped", live)
		}
	}
	for _, r := range "\x1b\x07\u202e\u2028" {
		if strings.ContainsRune(got.Stdout, r) {
			t.Errorf("the page holds %q", r)
		}
	}
}

// JSON keeps names as they are for its readers, escaped so that they do not control a terminal.
func TestHostileNamesAsJSON(t *testing.T) {
	history, worse := hostileFiles(t)
	got := clitest.Run(t, nil, "check", "--history", history, "--run", worse, "--format", "json")
	var verdict struct {
		Runs []struct{ ID, Scenario string }
	}
	if err := json.Unmarshal([]byte(got.Stdout), &verdict); err != nil {
		t.Fatal(err)
	}
	if len(verdict.Runs) != 1 || verdict.Runs[0].ID != "r"+hostile || verdict.Runs[0].Scenario != "s "+hostile {
		t.Errorf("names are changed: %+v", verdict.Runs)
	}
	if strings.ContainsAny(got.Stdout, "\x1b\x07\r\u2028") {
		t.Error("a control character is left unescaped")
	}
}
