package measure_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/cli/measure"
	"github.com/apkgate/apkgate/collect"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/settings"
)

func compared(t *testing.T, stdout string) sidebyside.Verdict {
	t.Helper()
	var v sidebyside.Verdict
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	return v
}

func TestCompareFindsTheWorseBuild(t *testing.T) {
	t.Parallel()
	dir := clitest.SimulatedBuilds(t, "pixel-5-android-11", "nexus-5x-android-6.0.0")
	at := func(name string) string { return filepath.Join(dir, name) }
	args := []string{"compare", "--config", at("apkgate.yml"), at("demo-good.apk"), at("demo-worse.apk"),
		"--head-commit", "abc123", "--format", "json", "--why", "0", "--keep", at("kept"), "--markdown", at("report.md"), "--html", at("report.html")}
	got := clitest.Run(t, nil, args...)
	v := compared(t, got.Stdout)
	if got.Status != exit.StatusRegression || v.Verdict != gate.Regression || v.Format != "apkgate.compare/1" {
		t.Fatalf("status %d, %s: %s\n%s", got.Status, v.Verdict, v.Reason, got.Stderr)
	}
	if v.Base.App.Version != "1.4.0" || v.Head.App.Version != "1.5.0" || v.Head.Source.Commit != "abc123" || v.Base.Source.Commit != "" || v.Head.App.Build != "head" {
		t.Errorf("base %+v, head %+v", v.Base, v.Head)
	}
	// What demo-worse.simapp does: a jank after scroll, and slow frames from Android 5 on.
	worse := map[string]bool{}
	for _, d := range v.Scenarios[0].Deviations() {
		if d.Metric == "frames.duration_ms" && d.Direction == gate.ToRegression && d.Change > 0.3 {
			worse[d.Event] = true
		}
	}
	if !worse["scroll"] || !worse["open-message"] || worse["start"] {
		t.Errorf("slower after %v, want scroll and open-message and not start", worse)
	}
	for file, want := range map[string]string{
		"report.md": "### ❌ Regression: smooth ratio after scroll", "report.html": `<h2 id="s-changed0">What changed</h2>`, "kept/base.jsonl": `"build":"base"`, "kept/head.jsonl": `"build":"head"`,
	} {
		if text, err := os.ReadFile(at(file)); err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: %v, or it lacks %q", file, err, want)
		}
	}
	// Comparing the kept runs gives the same verdict, without a device.
	again := clitest.Run(t, nil, "compare", "--config", at("apkgate.yml"), "--base-run", at("kept/base.jsonl"), "--head-run", at("kept/head.jsonl"), "--format", "json")
	if again.Status != exit.StatusRegression || again.Stdout != got.Stdout {
		t.Errorf("from the files: status %d, and not the same as measured", again.Status)
	}
	if _, err := os.Stat(at("history.db")); err == nil {
		t.Error("a comparison wrote a history")
	}
}

// A build compared with itself is never worse, on any phone: each has its own noise, which may also
// make a worsening impossible to exclude.
func TestCompareABuildWithItself(t *testing.T) {
	t.Parallel()
	profiles := []string{"optimus-l3-android-4.1.1", "pixel-5-android-11", "nexus-5x-android-6.0.0", "nexus-4-android-4.3"}
	if os.Getenv("APKGATE_FULL") == "" { // the others do nothing that the noisy one does not, except for their noise
		profiles = profiles[:1]
	}
	for _, profile := range profiles {
		dir := clitest.SimulatedBuilds(t, profile)
		good := filepath.Join(dir, "demo-good.apk")
		got := clitest.Run(t, nil, "compare", "--config", filepath.Join(dir, "apkgate.yml"), "--base", good, "--head", good)
		passes, open := strings.HasPrefix(got.Stdout, "Pass: nothing got worse in "), strings.Contains(got.Stdout, "do not exclude a worsening")
		if got.Status != exit.StatusPass || passes == open {
			t.Errorf("%s: status %d\n%s%s", profile, got.Status, got.Stdout, got.Stderr)
		}
	}
}

// The same for other phones of one profile: each seed has its own noise.
func TestCompareABuildWithItselfOverSeeds(t *testing.T) {
	if testing.Short() {
		t.Skip("measures a phone")
	}
	t.Parallel()
	dir := clitest.SimulatedBuilds(t, "pixel-5-android-11")
	cfg, err := settings.LoadConfig(filepath.Join(dir, "apkgate.yml"), false)
	if err != nil {
		t.Fatal(err)
	}
	cfg.App.APK = filepath.Join(dir, "demo-good.apk")
	cfg.Scenarios[0].Repetitions = measure.DefaultRounds
	policy, _ := gate.PolicyOf(gate.PresetDefault)
	seeds := uint64(1)
	if os.Getenv("APKGATE_FULL") != "" {
		seeds = 8
	}
	for seed := range seeds {
		phone, err := simulator.Start("pixel-5-android-11", 100+seed, simulator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		job := collect.Job{
			Device: "phone", Clock: phone.Clock(), App: cfg.App, Scenario: cfg.Scenarios[0], Session: "s", Network: "wifi", Extra: map[string]string{devctx.Simulated: "true"},
			Open: func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, phone.Address(), adb.Options{}) },
		}
		base, head := collect.Interleave(t.Context(), collect.Pair{Base: job, Head: job}, collect.Options{})
		if v := sidebyside.Compare(policy, metric.Default(), []run.Run{base.Run}, []run.Run{head.Run}); v.Verdict != gate.Pass && v.Verdict != gate.Inconclusive {
			t.Errorf("seed %d: %s: %s", seed, v.Verdict, v.Reason)
		}
		if err := phone.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Macrobenchmark's files of two builds, as its library writes them.
func TestCompareMacrobenchmarkFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string, ms float64) string {
		var runs []string
		for i := range 10 {
			runs = append(runs, fmt.Sprint(ms+float64(i%4)))
		}
		path := filepath.Join(dir, name)
		clitest.WriteFile(t, path, fmt.Sprintf(`{"context":{"build":{"device":"redfin","fingerprint":"f","model":"Pixel 5","version":{"sdk":30}}},
"benchmarks":[{"name":"startup","params":{},"className":"com.example.StartupBenchmark","totalRunTimeNs":1,"metrics":{
"timeToInitialDisplayMs":{"minimum":1,"maximum":1,"median":1,"runs":[%s]}},"sampledMetrics":{},"warmupIterations":0,"repeatIterations":10,"thermalThrottleSleepSeconds":0}]}`, strings.Join(runs, ",")))
		return path
	}
	base, same, slower := file("base-benchmarkData.json", 300), file("same-benchmarkData.json", 304), file("slower-benchmarkData.json", 420)
	for _, c := range []struct {
		head   string
		status int
		word   string
	}{{same, exit.StatusPass, "Pass: "}, {slower, exit.StatusRegression, "Regression: time to initial display"}} {
		got := clitest.Run(t, nil, "compare", "--package", "com.example", base, c.head)
		if got.Status != c.status || !strings.HasPrefix(got.Stdout, c.word) || !strings.Contains(got.Stdout, "one session of each build") {
			t.Errorf("%s: status %d\n%s%s", c.head, got.Status, got.Stdout, got.Stderr)
		}
	}
}

func TestCompareRefusesHalfOfTwo(t *testing.T) {
	t.Parallel()
	dir := clitest.SimulatedBuilds(t, "pixel-5-android-11")
	at := func(name string) string { return filepath.Join(dir, name) }
	config := []string{"--config", at("apkgate.yml")}
	clitest.WriteFile(t, at("other.json"), `{"format":"apkgate.run/1","app":{"package":"b"},"scenario":"s","context":{},"status":"complete","iterations":[{"metrics":{"x":1}}]}`)
	clitest.WriteFile(t, at("run.json"), `{"format":"apkgate.run/1","app":{"package":"a"},"scenario":"s","context":{},"status":"complete","iterations":[{"metrics":{"x":1}}]}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{}, "want both --base and --head"},
		{[]string{"--base", at("demo-good.apk")}, "want both --base and --head"},
		{[]string{"--base-run", at("run.json")}, "want both --base-run and --head-run"},
		{[]string{"--base", at("demo-good.apk"), "--head-run", at("run.json")}, "want one or the other"},
		{[]string{"--base", at("demo-good.apk"), "--head", at("none.apk")}, "none.apk"},
		{[]string{"--base", at("demo-good.apk"), "--head", at("demo-worse.apk"), "--rounds", "0"}, "--rounds is 0, want 1 to 1000"},
		{[]string{"--base", at("demo-good.apk"), "--head", at("demo-worse.apk"), "--scenario", "x"}, "read-mail"},
		{[]string{"--base-run", at("run.json"), "--head-run", at("other.json")}, `the runs of the base are of "a"`},
	} {
		got := clitest.Run(t, nil, append(append([]string{"compare"}, config...), c.args...)...)
		if got.Status != exit.StatusUsage || got.Stdout != "" || !strings.Contains(got.Stderr, c.want) {
			t.Errorf("%v: status %d, %q, want %q", c.args, got.Status, got.Stderr, c.want)
		}
	}
}

// A build that crashes can't be compared, whichever of the two it is: the report says which, and
// why.
func TestCompareABuildThatCrashes(t *testing.T) {
	t.Parallel()
	dir := clitest.SimulatedBuilds(t, "pixel-5-android-11")
	at := func(name string) string { return filepath.Join(dir, name) }
	text, err := simapp.Open("demo-good")
	if err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, at("crash.apk"), string(text)+"\nfault crash at 2s\n")
	for _, c := range []struct{ base, head, side string }{
		{"demo-good.apk", "crash.apk", "the head on Google Pixel 5"},
		{"crash.apk", "demo-good.apk", "the base on Google Pixel 5"},
	} {
		args := []string{"compare", "--config", at("apkgate.yml"), "--base", at(c.base), "--head", at(c.head), "--rounds", "2", "--json", at("v.json")}
		got := clitest.Run(t, nil, args...)
		if got.Status != exit.StatusInfrastructure || !strings.HasPrefix(got.Stdout, "Invalid: ") || strings.Contains(got.Stderr, "error: ") {
			t.Errorf("%s and %s: status %d, want %d and an invalid verdict\n%s%s", c.base, c.head, got.Status, exit.StatusInfrastructure, got.Stdout, got.Stderr)
		}
		data, err := os.ReadFile(at("v.json"))
		if err != nil {
			t.Fatal(err)
		}
		v := compared(t, string(data))
		_, told, _ := strings.Cut(v.Reason, c.side)
		if v.Verdict != gate.Invalid || len(v.Scenarios) != 1 || !strings.Contains(strings.Split(told, ";")[0], "nothing was measured: the app crashed in repetition 1: ") {
			t.Errorf("%s and %s: %s: %s", c.base, c.head, v.Verdict, v.Reason)
		}
		if got := clitest.Run(t, nil, append(args, "--fail-on", "never")...); got.Status != exit.StatusPass {
			t.Errorf("%s and %s, where no verdict fails: status %d", c.base, c.head, got.Status)
		}
	}
}
