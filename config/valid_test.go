package config_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

func load(t *testing.T, name string, src []byte) *config.Config {
	t.Helper()
	opts := testOptions
	opts.GateOnly = filepath.Base(name) == "gate-only.yml"
	c, err := config.Load(name, src, opts)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return c
}

func TestValidConfigurations(t *testing.T) {
	for _, file := range glob(t, "testdata/valid/*.yml", 5) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			load(t, file, read(t, file))
		})
	}
}

func TestDefaults(t *testing.T) {
	got := load(t, "app/apkgate.yml", read(t, "testdata/valid/minimal.yml"))
	want := &config.Config{
		App: config.App{Package: "com.example.mail"},
		Scenarios: []config.Scenario{{
			Name: "open", Workload: config.Workload{Shell: &config.Shell{Script: "app/open.sh"}},
			Repetitions: 5, WarmUp: 1, Timeout: 5 * time.Minute, Retries: 2, Memory: config.MemoryRSS, Compile: config.CompileProfile,
		}},
		Rounds:     config.Rounds{Max: 60, Minutes: 45},
		Conditions: config.Conditions{Policy: config.PolicyWarn, FixedPerformance: config.PerformanceAuto, IdleWithin: time.Minute},
		Evidence:   config.Evidence{Keep: config.KeepNone, Why: 5 * time.Minute},
		Methods:    config.Methods{Keep: config.KeepNone, By: config.MethodsAuto},
		Gate: config.Gate{
			Preset: "default", OutlierFactor: 1.5, MinConfidence: 0.9, Alpha: 0.01,
			MinHistory: 5, MinChange: 0.05, MinEffect: 0.1, Summary: run.Median, FailOn: "regression",
		},
		Store:  config.Store{SQLite: "app/.apkgate/history.db"},
		Report: config.Report{HTML: "app/.apkgate/report.html"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("minimal.yml (-want +got):\n%s", diff)
	}
}

// A Macrobenchmark repeats by itself, unless its number of repetitions is configured.
func TestMacrobenchmarkRunsOnce(t *testing.T) {
	const head = "app: {package: a.b}\nscenarios: [{name: x, workload: {instrumentation: {test-package: a.c, macrobenchmark: "
	for file, want := range map[string][3]int{
		head + "true}}}]": {1, 0, 30},
		head + "true}}, repetitions: 3, warm-up: 2, timeout: 7m}]": {3, 2, 7},
		head + "false}}}]": {5, 1, 5},
	} {
		s := load(t, "apkgate.yml", []byte(file)).Scenarios[0]
		if got := [3]int{s.Repetitions, s.WarmUp, int(s.Timeout.Minutes())}; got != want {
			t.Errorf("%s: repetitions, warm-up and minutes %v, want %v", file, got, want)
		}
	}
}

// A farm with a plan needs no limit of cost.
func TestFarmWithAPlan(t *testing.T) {
	got := load(t, "apkgate.yml", read(t, "testdata/valid/browserstack.yml")).Farm
	want := &config.Farm{
		BrowserStack: &config.BrowserStack{Devices: []config.BrowserStackDevice{{Model: "Google Pixel 7", Version: "13.0"}, {Model: "Samsung Galaxy S23", Version: "14.0"}}, MaxMinutes: 640},
		Minutes:      10, Parallel: 3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	got := load(t, "apkgate.yml", read(t, "testdata/valid/everything.yml"))
	if diff := cmp.Diff(everything(), got); diff != "" {
		t.Errorf("everything.yml (-want +got):\n%s", diff)
	}
}

// everything is the content of testdata/valid/everything.yml.
func everything() *config.Config {
	scenario := config.Scenario{Repetitions: 5, WarmUp: 1, Timeout: 5 * time.Minute, Retries: 2, Memory: config.MemoryRSS, Compile: config.CompileNone} // energy's
	apart, start, sync, random, script := scenario, scenario, scenario, scenario, scenario
	apart.Compile, apart.Memory, apart.FramesBy = config.CompileVerify, config.MemoryPSS, config.FramesShown
	apart.Load = &config.BackgroundLoad{CPU: 0.8, Memory: 0.75, Storage: 2, Downloads: 10, From: "http://10.0.2.2:8000/a/file.bin"}
	apart.Name, apart.Workload.Instrumentation = "apart", &config.Instrumentation{TestPackage: "com.example.mail.test", Runner: config.DefaultRunner, Orchestrator: true}
	module := config.Scenario{Name: "module", Repetitions: 1, Timeout: 30 * time.Minute, Retries: 2}
	module.Workload.Instrumentation = &config.Instrumentation{
		TestPackage: "com.example.macro", Runner: config.DefaultRunner, Macrobenchmark: true, Classes: []string{"com.example.macro.StartupBenchmark", "com.example.macro.ScrollBenchmark"},
	}
	start.Name, start.Workload.Startup = "start", &config.Startup{Mode: config.StartHot, Activity: "com.example.mail.Inbox$Start"}
	sync.Name, sync.Workload.Maestro = "sync", &config.Maestro{Flow: "../flows/sync.yaml"}
	random.Name, random.Workload.Monkey = "random", &config.Monkey{Seed: 42, Events: 1000, Throttle: 50 * time.Millisecond, Args: []string{"--pct-touch", "60", "--pct-motion", "60"}}
	script.Name, script.Workload.Shell = "script", &config.Shell{Script: "scripts/open.sh"}
	return &config.Config{
		App: config.App{Package: "com.example.mail", APK: "out/mail.apk", TestAPK: "/builds/mail-test.apk", OrchestratorAPK: "out/orchestrator-1.5.1.apk", TestServicesAPK: "out/test-services-1.5.0.apk", Version: "5.10", Build: "release", Mapping: "out/mapping.txt"},
		Scenarios: []config.Scenario{{
			Name: "open message",
			Workload: config.Workload{Instrumentation: &config.Instrumentation{
				TestPackage: "com.example.mail.test", Runner: "com.example.Runner", Class: "com.example.OpenTest#openMessage",
				Args: map[string]string{"size": "3", "coverage": "false", "note": "a b"}, Macrobenchmark: true,
			}},
			Repetitions: 20, WarmUp: 0, Timeout: 90 * time.Second, ClearData: true, Retries: 0, RefreshHz: 90,
		}, module, apart, start, sync, random, script},
		Devices: []config.Device{
			{Serial: "R58M123", Name: "the S10", Context: map[string]string{"floor": "2"}, Count: 1},
			{Address: "[fe80::1]:5555", Name: "[fe80::1]:5555", Count: 1},
			{Simulated: "nexus-4", Name: "nexus-4", Count: 3, Profile: "old", Networks: []string{"lte", "none"}},
			{Name: "pixel", Count: 2, Battery: 0.8, Labs: config.Labs{AVD: &config.AVD{
				Model: "pixel_6", Android: "34-ext8", Image: "google_atd", ABI: "x86_64", Screen: config.Screen{Width: 1080, Height: 2400, Density: 420},
				RAMMiB: 2048, Cores: 2, GPU: "swiftshader_indirect",
			}}},
			{Name: "Pixel_5_API_30", Count: 1, Labs: config.Labs{AVD: &config.AVD{Existing: "Pixel_5_API_30", GPU: "auto", Snapshot: "booted"}}},
			{Name: "Google Pixel 3 11.0", Count: 1, Labs: config.Labs{Genymotion: &config.Genymotion{Model: "Google Pixel 3", Android: "11.0", Screen: config.Screen{Width: 1080, Height: 2160, Density: 440}}}},
			{Name: "Google Pixel 4 12.0", Count: 1, Labs: config.Labs{GenymotionSaaS: &config.GenymotionSaaS{Recipe: "Google Pixel 4", Android: "12.0", Minutes: 45}}},
		},
		Farm: &config.Farm{
			Firebase: &config.Firebase{Project: "mail-perf-1234", Bucket: "mail-perf-results", Devices: []config.FarmDevice{{Model: "oriole", Version: "33"}, {Model: "MediumPhone.arm", Version: "34"}}},
			Minutes:  12, Parallel: 2, MaxUSD: 17.5,
		},
		Networks: []string{"wifi", "3g"},
		Context:  config.Context{Use: []string{"sdk", "model"}, Rules: []string{"sdk", "model", "version"}, Extra: map[string]string{"lab": "Lille"}},
		Energy: &config.Energy{
			Source: config.EnergyModel, PowerProfile: "lab/power_profile.xml", BatteryCapacity: 4410.5, Compile: config.CompileNone,
			Settle: new(time.Duration(0)), Disconnect: time.Minute, Methods: true, SampleHz: 100, Profiles: "out/energy",
		},
		Base:     "../main/mail.apk",
		Rounds:   config.Rounds{Max: 0, Minutes: 15},
		Evidence: config.Evidence{Keep: config.KeepAnomalies, Tasks: true, APK: true, Why: 0},
		Methods:  config.Methods{Keep: config.KeepAnomalies, By: config.MethodsLong},
		Conditions: config.Conditions{
			Policy: config.PolicyRefuse, FixedPerformance: config.PerformanceAlways, BackgroundDexopt: true, Brightness: 0.4, Rotation: new(0), IdleWithin: 90 * time.Second,
		},
		KnownProblems: []config.KnownProblem{{
			Name: "slow bind", Calls: []string{"com.example.mail.Feed.*", "com.example.mail.Row.bind"}, Over: 1500 * time.Millisecond, Threads: config.AllThreads,
			Text: "It binds all rows.", Link: "https://example.com/wiki/rows",
		}},
		Metrics: []config.Metric{
			{Name: "search.latency_ms", Unit: "ms", Better: "lower", Title: "search latency", Decimals: 1},
			{Name: "frames.count", Unit: "frames", Better: "neutral", Title: "frames rendered"},
		},
		Gate: config.Gate{
			Preset: "dune", Cluster: gate.ClusterLiteral, Quartiles: gate.QuartilesWeka, OutlierFactor: 2, MinSupport: 0.02, MinConfidence: 0.8, MinHistory: 3, MinChange: 0.025,
			Summary: run.Median, Metrics: []string{"frames.smooth_ratio", "search.latency_ms"}, FailOn: "inconclusive", DriftBudget: new(config.Fraction(0.075)),
			Thresholds: []config.Threshold{
				{Metric: "frames.smooth_ratio", Min: new(0.9), MinChange: new(config.Fraction(0))},
				{Metric: "search.latency_ms", Event: "search", Max: new(120.5), OutlierFactor: new(3.0)},
				{Metric: "search.latency_ms", Event: "*", Ignore: true},
			},
		},
		Store:  config.Store{SQLite: "history/mail.db"},
		Report: config.Report{HTML: "out/report.html", Markdown: "out/report.md", JSON: "out/verdict.json"},
	}
}

// An empty section selects the best that a device offers; without a section nothing is measured.
func TestEnergyIsOffByDefault(t *testing.T) {
	minimal := string(read(t, "testdata/valid/minimal.yml"))
	if c := load(t, "apkgate.yml", []byte(minimal)); c.Energy.Measured() {
		t.Errorf("without a section: %+v", c.Energy)
	}
	if c := load(t, "apkgate.yml", []byte(minimal+"energy: {source: none}\n")); c.Energy.Measured() {
		t.Errorf("source none: %+v", c.Energy)
	}
	c := load(t, "apkgate.yml", []byte(minimal+"energy: {source: auto}\n"))
	want := &config.Energy{Source: "auto", Compile: "speed", SampleHz: 500, Profiles: ".apkgate/energy"}
	if diff := cmp.Diff(want, c.Energy); diff != "" || !c.Energy.Measured() {
		t.Errorf("source auto (-want +got):\n%s", diff)
	}
}

// The scenario configures how the app is compiled, else the energy section, else it is as after an
// installation from the store.
func TestCompilation(t *testing.T) {
	minimal := string(read(t, "testdata/valid/minimal.yml"))
	for _, c := range []struct{ scenario, energy, want string }{
		{"", "", config.CompileProfile},
		{"", "energy: {source: auto}\n", config.CompileSpeed},
		{"", "energy: {compile: none}\n", config.CompileNone},
		{"", "energy: {source: none, compile: speed}\n", config.CompileProfile},
		{"    compile: verify\n", "energy: {compile: speed}\n", config.CompileVerify},
		{"    compile: none\n", "", config.CompileNone},
	} {
		before, name, _ := strings.Cut(minimal, "  - name:")
		got := load(t, "apkgate.yml", []byte(before+"  - name:"+strings.TrimRight(name, "\n")+"\n"+c.scenario+c.energy))
		if got.Scenarios[0].Compile != c.want {
			t.Errorf("%q, %q: %q, want %q", c.scenario, c.energy, got.Scenarios[0].Compile, c.want)
		}
	}
}

// A decoded configuration can be encoded with yaml.Marshal and decoded again.
func TestMarshalRoundTrip(t *testing.T) {
	want := everything()
	src, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, load(t, "apkgate.yml", src)); diff != "" {
		t.Errorf("after yaml.Marshal and Load (-want +got):\n%s\n%s", diff, src)
	}
}

func TestAppWithSeveralAPKs(t *testing.T) {
	const minimal = "app:\n  package: com.example.mail\nscenarios: [{name: x, workload: {monkey: {events: 1}}}]\n"
	for text, want := range map[string][]string{
		"":                            nil,
		"  apk: a.apk\n":              {"a.apk"},
		"  apk: [a.apk]\n":            {"a.apk"},
		"  apk: [a.apk, out/b.apk]\n": {"a.apk", "out/b.apk"},
	} {
		c := load(t, "apkgate.yml", []byte(strings.Replace(minimal, "app:\n", "app:\n"+text, 1)))
		if got := c.App.APKs(); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		src, err := yaml.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, load(t, "apkgate.yml", src)); diff != "" {
			t.Errorf("%q after yaml.Marshal and Load (-want +got):\n%s\n%s", text, diff, src)
		}
	}
	for _, text := range []string{"  apk: []\n", "  apk: [a.apk, a.apk]\n", "  apk: {a: b}\n", "  apk: [~/a.apk]\n"} {
		if _, err := config.Load("apkgate.yml", []byte(strings.Replace(minimal, "app:\n", "app:\n"+text, 1)), testOptions); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestAliasesAndMerges(t *testing.T) {
	got := load(t, "apkgate.yml", read(t, "testdata/valid/aliases.yml")).Scenarios
	random := config.Workload{Monkey: &config.Monkey{Seed: 1, Events: 10}}
	want := []config.Scenario{
		{Name: "open", Repetitions: 3, Timeout: 20 * time.Minute, WarmUp: 1, Retries: 2, Workload: random, Memory: config.MemoryRSS, Compile: config.CompileProfile},
		{Name: "open again", Repetitions: 4, Timeout: 20 * time.Minute, WarmUp: 1, Retries: 2, Workload: random, Memory: config.MemoryRSS, Compile: config.CompileProfile},
		{Name: "third", Repetitions: 5, Timeout: 20 * time.Minute, WarmUp: 1, Retries: 2, Workload: random, Memory: config.MemoryRSS, Compile: config.CompileProfile},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scenarios (-want +got):\n%s", diff)
	}
}

func TestByteOrderMarkAndWindowsLineEnds(t *testing.T) {
	got := load(t, "apkgate.yml", read(t, "testdata/valid/windows.yml"))
	if name := got.Scenarios[0].Name; name != "état ✓" {
		t.Errorf("name = %q, want %q", name, "état ✓")
	}
	_, err := config.Load("apkgate.yml", []byte("\uFEFFx: 1\r\ngate: {é: 1, preset: duna}\r\n"), testOptions)
	const want = `apkgate.yml:2:22: gate.preset: want one of default, dune; got "duna"` // 21 characters before it
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got\n%v\nwant in it\n%s", err, want)
	}
}

// The preset determines the defaults, whatever the order of the keys.
func TestPresetDuneHasItsOwnDefaults(t *testing.T) {
	three := []string{"frames.count", "frames.duration_ms", "frames.smooth_ratio"}
	got := load(t, "apkgate.yml", []byte("app: {package: a.b}\nscenarios: [{name: x, workload: {shell: {script: s}}}]\ngate: {min-history: 4, preset: dune}\n")).Gate
	want := config.Gate{Preset: "dune", OutlierFactor: 1.5, MinSupport: 0.01, MinConfidence: 0.9, MinHistory: 4, Summary: run.Mean, Metrics: three, FailOn: "regression"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gate (-want +got):\n%s", diff)
	}
	got = load(t, "apkgate.yml", []byte("gate: {metrics: [cpu.time_ms], cluster: literal, quartiles: weka, preset: dune}\ncontext: {use: [sdk], rules: [sdk, version]}\n"+onlyApp)).Gate
	if len(got.Metrics) != 1 || got.Metrics[0] != "cpu.time_ms" || got.Cluster != gate.ClusterLiteral || got.Quartiles != gate.QuartilesWeka {
		t.Errorf("%q, cluster %q, quartiles %q; want those that the file names", got.Metrics, got.Cluster, got.Quartiles)
	}
}

const onlyApp = "app: {package: a.b}\nscenarios: [{name: x, workload: {shell: {script: s}}}]\n"

func TestGateOnlyFileNeedsNoScenarios(t *testing.T) {
	src := read(t, "testdata/valid/gate-only.yml")
	if _, err := config.Load("apkgate.yml", src, config.Options{GateOnly: true}); err != nil {
		t.Errorf("GateOnly: %v", err)
	}
	if _, err := config.Load("apkgate.yml", src, config.Options{}); err == nil {
		t.Error("to collect: no problem was found")
	}
}

func TestCatalogueWithMetricsOfFile(t *testing.T) {
	catalogue, err := everything().Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	own, known := catalogue.Lookup("search.latency_ms")
	if !known || own.Unit != "ms" || own.Direction != metric.LowerIsBetter || own.Title != "search latency" || own.Format(3) != "3.0 ms" {
		t.Errorf("search.latency_ms = %+v, known %v: want what the file says of it", own, known)
	}
	count, _ := catalogue.Lookup("frames.count")
	if count.Direction != metric.Neutral || count.Unit != "frames" || count.Title != "frames rendered" || count.Resolution != 1 {
		t.Errorf("frames.count = %+v: want neutral, and the rest as the catalogue has it", count)
	}
}
