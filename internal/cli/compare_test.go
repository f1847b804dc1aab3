package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/simlab"
	"github.com/apkgate/apkgate/internal/simlab/simapp"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// compareConfig measures on simulated phones; every number is of one scenario.
const compareConfig = `app:
  package: com.example.demo
  test-apk: %[1]s/demo-test.apk
scenarios:
  - name: read-mail
    workload:
      instrumentation:
        test-package: com.example.demo.test
        class: com.example.demo.ReadMailTest#readsMail
    timeout: 1m
store:
  sqlite: %[1]s/history.db
report:
  html: %[1]s/report-of-run.html
networks: [wifi]
devices:
%[2]s`

// simulatedBuilds writes the demo's builds and a configuration into a folder.
func simulatedBuilds(t *testing.T, profiles ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{demoGood, demoWorse, demoTest} {
		text, err := simapp.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name+".apk"), string(text))
	}
	devices := ""
	for _, p := range profiles {
		devices += "  - simulated: " + p + "\n"
	}
	write(t, filepath.Join(dir, "apkgate.yml"), fmt.Sprintf(compareConfig, dir, devices))
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

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
	dir := simulatedBuilds(t, "pixel-5-android-11", "nexus-5x-android-6.0.0")
	at := func(name string) string { return filepath.Join(dir, name) }
	args := []string{"compare", "--config", at("apkgate.yml"), "--base", at("demo-good.apk"), "--head", at("demo-worse.apk"),
		"--head-commit", "abc123", "--format", "json", "--keep", at("kept"), "--markdown", at("report.md"), "--html", at("report.html")}
	got := cli(t, nil, args...)
	v := compared(t, got.stdout)
	if got.status != exitRegression || v.Verdict != gate.Regression || v.Format != "apkgate.compare/1" {
		t.Fatalf("status %d, %s: %s\n%s", got.status, v.Verdict, v.Reason, got.stderr)
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
		"report.md": "### ❌ Regression: time per frame after scroll", "report.html": "<h2>What changed</h2>", "kept/base.jsonl": `"build":"base"`, "kept/head.jsonl": `"build":"head"`,
	} {
		if text, err := os.ReadFile(at(file)); err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: %v, or it lacks %q", file, err, want)
		}
	}
	// The kept runs tell the same again, without a device.
	again := cli(t, nil, "compare", "--config", at("apkgate.yml"), "--base-run", at("kept/base.jsonl"), "--head-run", at("kept/head.jsonl"), "--format", "json")
	if again.status != exitRegression || again.stdout != got.stdout {
		t.Errorf("from the files: status %d, and not the same as measured", again.status)
	}
	if _, err := os.Stat(at("history.db")); err == nil {
		t.Error("a comparison wrote a history")
	}
}

// A build compared with itself passes, whatever the phone: each has noise of its own.
func TestCompareABuildWithItself(t *testing.T) {
	t.Parallel()
	profiles := []string{"pixel-5-android-11", "nexus-5x-android-6.0.0", "nexus-4-android-4.3", "optimus-l3-android-4.1.1"}
	if testing.Short() { // the others do nothing that this one does not, but noise
		profiles = profiles[:1]
	}
	for _, profile := range profiles {
		dir := simulatedBuilds(t, profile)
		good := filepath.Join(dir, "demo-good.apk")
		got := cli(t, nil, "compare", "--config", filepath.Join(dir, "apkgate.yml"), "--base", good, "--head", good)
		if got.status != exitPass || !strings.HasPrefix(got.stdout, "Pass: nothing got worse in ") {
			t.Errorf("%s: status %d\n%s%s", profile, got.status, got.stdout, got.stderr)
		}
	}
}

// The same for other phones of one profile: each seed has its own noise.
func TestCompareABuildWithItselfOverSeeds(t *testing.T) {
	if testing.Short() {
		t.Skip("measures eight phones")
	}
	t.Parallel()
	dir := simulatedBuilds(t, "pixel-5-android-11")
	cfg, err := loadConfig(filepath.Join(dir, "apkgate.yml"), false)
	if err != nil {
		t.Fatal(err)
	}
	cfg.App.APK = filepath.Join(dir, "demo-good.apk")
	cfg.Scenarios[0].Repetitions = defaultRounds
	policy, _ := gate.PolicyOf(gate.PresetDefault)
	for seed := range uint64(8) {
		phone, err := simlab.Start("pixel-5-android-11", 100+seed, simlab.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := labDevice{name: "phone", spec: cfg.Devices[0], clock: phone.Clock(), close: phone.Close}
		d.open = func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, phone.Address(), adb.Options{}) }
		job := jobs(cfg, []labDevice{d}, origin{session: "s"})[0]
		base, head := collect.Interleave(t.Context(), collect.Pair{Base: job, Head: job}, collect.Options{})
		if v := sidebyside.Compare(policy, metric.Default(), []run.Run{base.Run}, []run.Run{head.Run}); v.Verdict != gate.Pass {
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
		write(t, path, fmt.Sprintf(`{"context":{"build":{"device":"redfin","fingerprint":"f","model":"Pixel 5","version":{"sdk":30}}},
"benchmarks":[{"name":"startup","params":{},"className":"com.example.StartupBenchmark","totalRunTimeNs":1,"metrics":{
"timeToInitialDisplayMs":{"minimum":1,"maximum":1,"median":1,"runs":[%s]}},"sampledMetrics":{},"warmupIterations":0,"repeatIterations":10,"thermalThrottleSleepSeconds":0}]}`, strings.Join(runs, ",")))
		return path
	}
	base, same, slower := file("base-benchmarkData.json", 300), file("same-benchmarkData.json", 304), file("slower-benchmarkData.json", 420)
	for _, c := range []struct {
		head   string
		status int
		word   string
	}{{same, exitPass, "Pass: "}, {slower, exitRegression, "Regression: time to initial display"}} {
		got := cli(t, nil, "compare", "--package", "com.example", "--base-run", base, "--head-run", c.head)
		if got.status != c.status || !strings.HasPrefix(got.stdout, c.word) || !strings.Contains(got.stdout, "one session of each build") {
			t.Errorf("%s: status %d\n%s%s", c.head, got.status, got.stdout, got.stderr)
		}
	}
}

func TestCompareRefusesHalfOfTwo(t *testing.T) {
	t.Parallel()
	dir := simulatedBuilds(t, "pixel-5-android-11")
	at := func(name string) string { return filepath.Join(dir, name) }
	config := []string{"--config", at("apkgate.yml")}
	write(t, at("other.json"), `{"format":"apkgate.run/1","app":{"package":"b"},"scenario":"s","context":{},"status":"complete","iterations":[{"metrics":{"x":1}}]}`)
	write(t, at("run.json"), `{"format":"apkgate.run/1","app":{"package":"a"},"scenario":"s","context":{},"status":"complete","iterations":[{"metrics":{"x":1}}]}`)
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
		got := cli(t, nil, append(append([]string{"compare"}, config...), c.args...)...)
		if got.status != exitUsage || got.stdout != "" || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%v: status %d, %q, want %q", c.args, got.status, got.stderr, c.want)
		}
	}
}

// A build that crashes can't be compared, whichever of the two it is: the report
// says which, and why.
func TestCompareABuildThatCrashes(t *testing.T) {
	t.Parallel()
	dir := simulatedBuilds(t, "pixel-5-android-11")
	at := func(name string) string { return filepath.Join(dir, name) }
	text, err := simapp.Open(demoGood)
	if err != nil {
		t.Fatal(err)
	}
	write(t, at("crash.apk"), string(text)+"\nfault crash at 2s\n")
	for _, c := range []struct{ base, head, side string }{
		{"demo-good.apk", "crash.apk", "the head on Google Pixel 5"},
		{"crash.apk", "demo-good.apk", "the base on Google Pixel 5"},
	} {
		args := []string{"compare", "--config", at("apkgate.yml"), "--base", at(c.base), "--head", at(c.head), "--rounds", "2", "--json", at("v.json")}
		got := cli(t, nil, args...)
		if got.status != exitInfrastructure || !strings.HasPrefix(got.stdout, "Invalid: ") || strings.Contains(got.stderr, "error: ") {
			t.Errorf("%s and %s: status %d, want %d and an invalid verdict\n%s%s", c.base, c.head, got.status, exitInfrastructure, got.stdout, got.stderr)
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
		if got := cli(t, nil, append(args, "--fail-on", "never")...); got.status != exitPass {
			t.Errorf("%s and %s, where no verdict fails: status %d", c.base, c.head, got.status)
		}
	}
}
