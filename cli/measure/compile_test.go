package measure_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/usecase/exit"
)

// One build without and with its baseline profile: the start of the demo, whose process begins with
// all of its code interpreted, takes 1.45 times as long without, and the profile is reported as an
// improvement.
func TestCompareWithAndWithoutABaselineProfile(t *testing.T) {
	t.Parallel()
	dir := clitest.SimulatedBuilds(t, "pixel-7-android-14")
	at := func(name string) string { return filepath.Join(dir, name) }
	got := clitest.Run(t, nil, "compare", "--config", at("apkgate.yml"), "--head", at("demo-good.apk"),
		"--base-compile", "verify", "--head-compile", "speed-profile", "--format", "json", "--keep", at("kept"))
	v := compared(t, got.Stdout)
	if got.Status != exit.StatusPass || v.Verdict != gate.Improvement {
		t.Fatalf("status %d, %s: %s\n%s", got.Status, v.Verdict, v.Reason, got.Stderr)
	}
	if v.Base.App.Build != "base (verify)" || v.Head.App.Build != "head (speed-profile)" {
		t.Errorf("base %q, head %q", v.Base.App.Build, v.Head.App.Build)
	}
	better := false
	for _, d := range v.Scenarios[0].Deviations() {
		better = better || d.Metric == "startup.ttid_ms" && d.Event == "" && d.Direction == gate.ToImprovement && d.Change < -0.15
		if d.Direction == gate.ToRegression {
			t.Errorf("%s of %q is worse with the profile", d.Metric, d.Event)
		}
	}
	if !better {
		t.Errorf("its start is no faster: %+v", v.Scenarios[0].Deviations())
	}
	if text := clitest.ReadFile(t, at("kept/base.jsonl")); strings.Contains(text, `"compiled"`) || !strings.Contains(text, "base (verify)") {
		t.Errorf("kept: %.300s", text)
	}
}

// If the two ways of compiling can't differ, an error says so.
func TestCompareRejectsEqualCompilations(t *testing.T) {
	t.Parallel()
	dir := clitest.SimulatedBuilds(t, "nexus-5x-android-6.0.0")
	config, good := filepath.Join(dir, "apkgate.yml"), filepath.Join(dir, "demo-good.apk")
	old := clitest.Run(t, nil, "compare", "--config", config, "--head", good, "--head-compile", "speed", "--rounds", "1", "--format", "json", "--fail-on", "never")
	if want := "its code was to be compiled (speed), and was not"; !strings.Contains(old.Stdout, want) {
		t.Errorf("Android 6, which compiles when it installs: no word of it in %s", old.Stdout)
	}
	clitest.Refuses(t, clitest.Run(t, nil, "compare", "--config", config, "--head", good, "--head-compile", "fast"), "fast", "speed-profile")
	clitest.Refuses(t, clitest.Run(t, nil, "compare", "--config", config, "--base-run", good, "--head-run", good, "--head-compile", "speed"), "--head-compile")
	text := strings.Replace(clitest.ReadFile(t, config), "class: com.example.demo.ReadMailTest#readsMail", "macrobenchmark: true", 1)
	macro := clitest.WriteFile(t, filepath.Join(dir, "macro.yml"), text)
	clitest.Refuses(t, clitest.Run(t, nil, "compare", "--config", macro, "--head", good, "--head-compile", "speed"), "CompilationMode of its own")
}
