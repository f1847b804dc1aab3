package show_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// A saved verdict shows everything that was shown when it was made: the JSON lacks nothing that
// people read.
func TestReportOfASavedVerdict(t *testing.T) {
	dir := t.TempDir()
	var history strings.Builder
	for i := range 12 {
		history.WriteString(clitest.Record(fmt.Sprintf("H%d", i), "", fmt.Sprintf(`{"frames.duration_ms":%g}`, 8+0.1*float64(i%5))))
	}
	past := clitest.WriteFile(t, filepath.Join(dir, "history.jsonl"), history.String())
	worse := clitest.WriteFile(t, filepath.Join(dir, "run.json"), clitest.Record("R", "", `{"frames.duration_ms":14}`))
	saved := filepath.Join(dir, "verdict.json")
	made := clitest.Run(t, nil, "check", "--history", past, "--run", worse, "--json", saved)
	if made.Status != exit.StatusRegression || !strings.Contains(made.Stdout, "99 % interval") {
		t.Fatalf("exit status %d, want a regression with its interval:\n%s%s", made.Status, made.Stdout, made.Stderr)
	}
	if again := clitest.Run(t, nil, "report", saved); again.Stdout != made.Stdout || again.Status != exit.StatusPass {
		t.Errorf("saved and shown again, exit status %d:\n%s%s\nwhen it was made:\n%s", again.Status, again.Stdout, again.Stderr, made.Stdout)
	}
	clitest.Refuses(t, clitest.Run(t, nil, "report", clitest.WriteFile(t, filepath.Join(dir, "empty.json"), "")), "the file is empty", "--json")
}

// A saved comparison and a saved refresh are shown again as they were.
func TestReportOfASavedComparisonOrRefresh(t *testing.T) {
	dir := t.TempDir()
	file := func(name, records string) string { return clitest.WriteFile(t, filepath.Join(dir, name), records) }
	runs := func(side string, from float64) string {
		var out strings.Builder
		for i := range 8 {
			out.WriteString(clitest.Record(fmt.Sprint(side, i), "", fmt.Sprintf(`{"frames.duration_ms":%g}`, from+0.1*float64(i%5))))
		}
		return out.String()
	}
	saved := filepath.Join(dir, "saved.json")
	for name, args := range map[string][]string{
		"compare":          {"compare", "--base-run", file("base.jsonl", runs("B", 8)), "--head-run", file("head.jsonl", runs("H", 14))},
		"baseline refresh": {"baseline", "refresh", "--store", filepath.Join(dir, "history.db"), "--run", file("new.jsonl", runs("N", 8))},
	} {
		made := clitest.Run(t, nil, append(args, "--json", saved)...)
		if again := clitest.Run(t, nil, "report", saved); made.Stdout == "" || again.Stdout != made.Stdout || again.Status != exit.StatusPass {
			t.Errorf("%s: saved and shown again, exit status %d:\n%s%s\nwhen it was made:\n%s%s", name, again.Status, again.Stdout, again.Stderr, made.Stdout, made.Stderr)
		}
	}
	clitest.Refuses(t, clitest.Run(t, nil, "report", file("run.json", clitest.Record("R", "", `{"x":1}`))), `format is "apkgate.run/1"`, "hint: these are runs: apkgate check ")
}

// The findings of a saved comparison are at their scenario's line in the named configuration.
func TestReportPlacesOfAComparison(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	runs := func(name string, ms float64) string {
		var out strings.Builder
		for i := range 8 {
			out.WriteString(clitest.Record(fmt.Sprint(name, i), "", fmt.Sprintf(`{"frames.duration_ms":%g}`, ms+0.1*float64(i%5))))
		}
		return clitest.WriteFile(t, name+".jsonl", out.String())
	}
	clitest.WriteFile(t, "gate.yml", "app: {package: com.example.app}\nscenarios:\n  - name: s\n    workload: {monkey: {events: 9}}\n")
	if got := clitest.Run(t, nil, "compare", "--base-run", runs("base", 8), "--head-run", runs("head", 14), "--json", "saved.json"); got.Status != exit.StatusRegression {
		t.Fatalf("exit status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
	got := clitest.Run(t, nil, "report", "saved.json", "--config", "gate.yml", "--format", "sarif")
	if got.Status != exit.StatusPass || !strings.Contains(got.Stdout, `"uri": "gate.yml"`) || !strings.Contains(got.Stdout, `"startLine": 3`) {
		t.Errorf("exit status %d, want the findings in gate.yml, line 3\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
}
