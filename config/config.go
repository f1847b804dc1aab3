// Package config reads apkgate.yml: its types, its defaults, its strict decoder and the file that
// `apkgate init` writes.
//
// It owns what a user may write and what it means; it reads no devices, no APKs and no file that
// apkgate.yml names. A configuration is valid or rejected, with every problem reported at once,
// each with its line and what is allowed there. Nothing unknown is skipped, and no value is
// corrected silently.
//
// It has more files than other packages, as each large section of the file has one.
//
// The comments on the fields are shown by editors: docs/apkgate.schema.json is generated from them.
package config

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// FileName is the configuration's usual name, at the root of a repository.
const FileName = "apkgate.yml"

// Config is a complete apkgate.yml with every default filled in. Its paths are already joined to
// the folder of the file.
type Config struct {
	// The app to measure.
	App App `yaml:"app" jsonschema:"required"`
	// What is done with the app, and how often. Required to collect; a file that only gates
	// imported runs may leave it out.
	Scenarios []Scenario `yaml:"scenarios,omitempty" jsonschema:"minItems=1,maxItems=1000"`
	// The devices to measure on. Without any: the only device that adb sees, or the one in
	// ANDROID_SERIAL.
	Devices []Device `yaml:"devices,omitempty" jsonschema:"maxItems=1000"`
	// A device farm for run --farm and compare --farm.
	Farm *Farm `yaml:"farm,omitempty"`
	// Networks: wifi, 5g, lte, 3g, edge, lossy, offline, or any other name for the device's own mobile data. Each scenario runs once on each device and network. Without any: the network as the device has it.
	Networks []string `yaml:"networks,omitempty" jsonschema:"maxItems=1000,uniqueItems=true"`
	// Which context properties have to agree for two runs to be alike, and properties that can't be
	// read from a device.
	Context Context `yaml:"context,omitempty"`
	// How joules are measured. Without it, they aren't.
	Energy *Energy `yaml:"energy,omitempty"`
	// The base build, with which a new one is measured alternately where its history does not clear it:
	// an APK, an archive or a folder of its parts. Paths are relative to this file, and a missing
	// file is ignored.
	Base string `yaml:"base,omitempty"`
	// How long the two builds are measured alternately at most.
	Rounds Rounds `yaml:"rounds,omitempty"`
	// How devices are kept in a constant state while they are measured.
	Conditions Conditions `yaml:"conditions,omitempty"`
	// Files that are kept with the runs, to see why the app was slow.
	Evidence Evidence `yaml:"evidence,omitempty"`
	// Which of the app's methods ran when something went wrong.
	Methods Methods `yaml:"methods,omitempty"`
	// Problems that you know by the calls that they make, which reports name where a run's traces
	// have them.
	KnownProblems []KnownProblem `yaml:"known-problems,omitempty" jsonschema:"maxItems=1000"`
	// Metrics of your own, and changes to those of the catalogue.
	Metrics []Metric `yaml:"metrics,omitempty" jsonschema:"maxItems=1000"`
	// When a run counts as worse, and what that does to the exit status.
	Gate Gate `yaml:"gate,omitempty"`
	// Where the history of accepted runs is kept.
	Store Store `yaml:"store,omitempty"`
	// The report files that a check writes.
	Report Report `yaml:"report,omitempty"`
}

// App is the app under test.
type App struct {
	// The application id, such as com.example.mail.
	Package string `yaml:"package" jsonschema:"required"`
	// What to install: an APK file; a list of the APKs of one app, its base and its splits; the
	// folder with them; or the .apks from bundletool. Without it, the installed app is measured.
	APK string `yaml:"apk,omitempty"`
	// Splits are the other files of the list under apk.
	Splits []string `yaml:"-"`
	// The APK file with the instrumentation tests.
	TestAPK string `yaml:"test-apk,omitempty"`
	// The APK file of androidx.test:orchestrator, for a test that runs under it. Without it, the
	// installed one.
	OrchestratorAPK string `yaml:"orchestrator-apk,omitempty"`
	// The APK file of androidx.test.services:test-services, which the Orchestrator needs. Without
	// it, the installed one.
	TestServicesAPK string `yaml:"test-services-apk,omitempty"`
	// The version to record in each run. Without it, that of the installed app.
	Version string `yaml:"version,omitempty"`
	// The build to record in each run, such as release.
	Build string `yaml:"build,omitempty"`
	// The mapping file that R8 wrote for this build, to show the names of the source.
	Mapping string `yaml:"mapping,omitempty"`
}

// APKs returns what to install: files, or one folder or archive of them; nil: nothing.
func (a App) APKs() []string {
	if a.APK == "" {
		return nil
	}
	return append([]string{a.APK}, a.Splits...)
}

// MarshalYAML encodes several APKs as a list.
func (a App) MarshalYAML() (any, error) {
	type fields App // without this method
	var n yaml.Node
	if err := n.Encode(fields(a)); err != nil || len(a.Splits) == 0 {
		return &n, err
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "apk" {
			return &n, n.Content[i+1].Encode(a.APKs())
		}
	}
	return &n, nil
}

// Install replaces what is installed: with a file, a folder or an archive.
func (a *App) Install(path string) { a.APK, a.Splits = path, nil }

// Scenario is one thing that is done with the app and measured.
type Scenario struct {
	// The name in the history. A run is compared only with runs of the same scenario.
	Name string `yaml:"name" jsonschema:"required,minLength=1,maxLength=200"`
	// What drives the app: exactly one of instrumentation, startup, maestro, monkey and shell.
	Workload Workload `yaml:"workload" jsonschema:"required"`
	// How often the workload is measured. A Macrobenchmark repeats by itself: 1.
	Repetitions int `yaml:"repetitions,omitempty" jsonschema:"minimum=1,maximum=1000,default=5"`
	// How often it runs before that, unmeasured; 0 for a Macrobenchmark.
	WarmUp int `yaml:"warm-up" jsonschema:"minimum=0,maximum=100,default=1"`
	// The longest duration of one repetition, such as 90s or 5m; the default is 30m for a
	// Macrobenchmark.
	Timeout time.Duration `yaml:"timeout,omitempty" jsonschema:"default=5m"`
	// Clear the app's data before each repetition.
	ClearData bool `yaml:"clear-data,omitempty" jsonschema:"default=false"`
	// How much of the app's code is compiled ahead of time before it is measured (Android 7 and
	// later): what its baseline profile names (speed-profile), all of it (speed), none of it
	// (verify), or what was compiled at installation (none). Without it, speed-profile; where
	// energy is measured, energy.compile. Not for a Macrobenchmark, which has a CompilationMode of
	// its own.
	Compile string `yaml:"compile,omitempty" jsonschema:"enum=speed-profile,enum=speed,enum=verify,enum=none"`
	// Which memory is measured for an app that ends with its test (an instrumentation): its
	// resident memory and its peak (rss), which costs the app nothing, or its PSS too, every five
	// seconds (pss), which stalls it each time. For an app that keeps running, PSS is read after
	// the workload. Not for a Macrobenchmark, during which none is measured.
	Memory string `yaml:"memory,omitempty" jsonschema:"enum=rss,enum=pss,default=rss"`
	// The fixed refresh rate of the display in Hz while the scenario runs (Android 10 and later),
	// such as 60. Without it, the display chooses.
	RefreshHz int `yaml:"refresh-hz,omitempty" jsonschema:"minimum=24,maximum=1000"`
	// The source of frames: the most detailed one for how long the app took (auto, the default), or
	// what the compositor showed, and how far apart (shown, Android 11 and later). Apps that draw
	// by themselves, such as Flutter apps and games, always use the latter. Runs of one source are
	// never compared with runs of the other. Not for a Macrobenchmark, which times its frames
	// itself.
	FramesBy string `yaml:"frames-by,omitempty" jsonschema:"enum=auto,enum=shown"`
	// What else keeps the device busy while the scenario is measured (Android 6 and later). Runs with
	// a load are compared with runs under the same load. Not for a Macrobenchmark.
	Load *BackgroundLoad `yaml:"load,omitempty"`
	// How many lost repetitions of a run are repeated.
	Retries int `yaml:"retries" jsonschema:"minimum=0,maximum=100,default=2"`
	// Module is the scenario's name in the file where it is one class of several that are measured
	// in one installation, else "".
	Module string `yaml:"-"`
}

// Workload drives the app. Exactly one field is set.
type Workload struct {
	// An instrumentation test, run with am instrument.
	Instrumentation *Instrumentation `yaml:"instrumentation,omitempty"`
	// The start of the app, with am start.
	Startup *Startup `yaml:"startup,omitempty"`
	// A Maestro flow, run by the maestro command on this computer.
	Maestro *Maestro `yaml:"maestro,omitempty"`
	// Random input by Android's monkey; the same seed gives the same input.
	Monkey *Monkey `yaml:"monkey,omitempty"`
	// A shell script that is pushed to the device and run there.
	Shell *Shell `yaml:"shell,omitempty"`
}

// DefaultRunner is the instrumentation runner where none is given.
const DefaultRunner = "androidx.test.runner.AndroidJUnitRunner"

// Instrumentation is a workload run with `am instrument`.
type Instrumentation struct {
	// The package of the test APK, such as com.example.mail.test.
	TestPackage string `yaml:"test-package" jsonschema:"required"`
	// The class of the test runner.
	Runner string `yaml:"runner,omitempty" jsonschema:"default=androidx.test.runner.AndroidJUnitRunner"`
	// The test class, or class#method. Without it, every test of the package runs.
	Class string `yaml:"class,omitempty"`
	// The classes of a Macrobenchmark module to measure, all in one installation: each becomes a
	// scenario named SCENARIO/CLASS. Without it and class, those in the test APK, where there are
	// several.
	Classes []string `yaml:"classes,omitempty" jsonschema:"minItems=1,maxItems=100,uniqueItems=true"`
	// More arguments for the runner, each passed as -e NAME VALUE.
	Args map[string]string `yaml:"args,omitempty"`
	// Whether it is a Macrobenchmark, whose own measurements become the run.
	Macrobenchmark bool `yaml:"macrobenchmark,omitempty" jsonschema:"default=false"`
	// Run each test in a process of its own, with Android's Test Orchestrator.
	Orchestrator bool `yaml:"orchestrator,omitempty" jsonschema:"default=false"`
}

// Benchmark returns the workload's instrumentation if it is a Macrobenchmark, else nil.
func (w Workload) Benchmark() *Instrumentation {
	if w.Instrumentation != nil && w.Instrumentation.Macrobenchmark {
		return w.Instrumentation
	}
	return nil
}

// StartMode is what is left of the app before it is started.
type StartMode string

// The modes of a start.
const (
	StartCold StartMode = "cold" // neither process nor activity
	StartWarm StartMode = "warm" // the process
	StartHot  StartMode = "hot"  // both, in the background
)

// StartModes returns all modes.
func StartModes() []StartMode { return []StartMode{StartCold, StartWarm, StartHot} }

// Startup is a workload that starts the app once.
type Startup struct {
	// What is left of the app before the start: nothing (cold), its process (warm), or its activity
	// too, in the background (hot).
	Mode StartMode `yaml:"mode,omitempty" jsonschema:"enum=cold,enum=warm,enum=hot,default=cold"`
	// The class of the activity, such as .MainActivity. Without it, the one that the launcher
	// opens.
	Activity string `yaml:"activity,omitempty"`
}

// Maestro is a workload run by Maestro.
type Maestro struct {
	// The file of the flow.
	Flow string `yaml:"flow" jsonschema:"required"`
}

// Monkey is a workload of random input.
type Monkey struct {
	// The seed of the input.
	Seed int64 `yaml:"seed" jsonschema:"minimum=0,maximum=9007199254740991,default=1"`
	// How many input events are sent.
	Events int `yaml:"events" jsonschema:"required,minimum=1,maximum=1000000"`
	// The pause after each input event, such as 50ms.
	Throttle time.Duration `yaml:"throttle,omitempty" jsonschema:"default=0s"`
	// More arguments of the command line, such as --pct-touch and "60".
	Args []string `yaml:"args,omitempty"`
}

// Shell is a workload run by the device's own shell.
type Shell struct {
	// The file of the script.
	Script string `yaml:"script" jsonschema:"required"`
}

// Context configures which properties count when contexts are compared.
type Context struct {
	// The properties that count where runs are compared. Without it: all that both runs have,
	// except version, app_abi, network_quality, energy_from, frames_by, powered, battery, thermal,
	// security_patch, cpu_mhz and host, and on phones gpu, ram, cores, density and translation,
	// which count where they are named.
	Use []string `yaml:"use,omitempty" jsonschema:"minItems=1,maxItems=1000,uniqueItems=true"`
	// The properties that rules may use (such as "of the runs on Android 15, nine of ten are
	// slow"). Without it: those of use.
	Rules []string `yaml:"rules,omitempty" jsonschema:"minItems=1,maxItems=1000,uniqueItems=true"`
	// Properties to record in every run, in addition to those read from the device.
	Extra map[string]string `yaml:"extra,omitempty"`
}

// Metric declares a metric, or changes one of the catalogue: keys that are left out keep the
// catalogue's values.
type Metric struct {
	// The metric's name, such as search.latency_ms.
	Name string `yaml:"name" jsonschema:"required,minLength=1,maxLength=128"`
	// The unit of its values, such as ms, J or kB.
	Unit string `yaml:"unit,omitempty" jsonschema:"maxLength=20"`
	// Which direction is better. Required for a metric of your own; neutral is shown and never
	// gated.
	Better string `yaml:"better,omitempty" jsonschema:"enum=higher,enum=lower,enum=neutral"`
	// A few words for reports.
	Title string `yaml:"title,omitempty" jsonschema:"minLength=1,maxLength=200"`
	// Digits after the point in reports.
	Decimals int `yaml:"decimals" jsonschema:"minimum=0,maximum=9"`
}

// Fraction is a share of one: 5 % is 0.05. A file may write 5% or 0.05.
type Fraction float64

// Gate is the policy by which runs are judged.
type Gate struct {
	// The method of judging. dune is the published technique.
	Preset string `yaml:"preset,omitempty" jsonschema:"enum=default,enum=dune,default=default"`
	// Which runs the preset dune compares with: the nearest cluster alone (literal, the letter of
	// the paper), or with the next in rank until there are five runs (joined). For the preset dune
	// only.
	Cluster gate.Cluster `yaml:"cluster,omitempty" jsonschema:"enum=joined,enum=literal"`
	// How the preset dune computes quartiles: as in the paper's worked example (type-6), or as
	// Weka's InterquartileRange, which the paper says that it ran (weka). For the preset dune only.
	Quartiles gate.Quartiles `yaml:"quartiles,omitempty" jsonschema:"enum=type-6,enum=weka"`
	// How many interquartile ranges beyond the quartiles a value may lie.
	OutlierFactor float64 `yaml:"outlier-factor,omitempty" jsonschema:"minimum=0.1,maximum=100,default=1.5"`
	// The least share of all runs, including the history's, that a rule needs. Without it: 1% of
	// the checked runs, however long the history is. (Preset dune: 1% of all.)
	MinSupport Fraction `yaml:"min-support,omitempty"`
	// The least share of the runs in a rule's context for which it must hold.
	MinConfidence Fraction `yaml:"min-confidence,omitempty" jsonschema_extras:"default=90%"`
	// The share of unchanged pull requests that may fail by chance. Not for the preset dune, which
	// has no such limit.
	Alpha Fraction `yaml:"false-alarms,omitempty" jsonschema_extras:"default=1%"`
	// With fewer comparable runs than this, the verdict is inconclusive. (Preset dune: 0, and it
	// joins clusters until there are as many, at least five.)
	MinHistory int `yaml:"min-history,omitempty" jsonschema:"minimum=1,maximum=10000,default=5"`
	// A smaller change than this never fails. (Preset dune: 0%.)
	MinChange Fraction `yaml:"min-change" jsonschema_extras:"default=5%"`
	// The worsening that must not be overlooked: where the history can't rule it out, rounds are
	// measured. For a ratio in percentage points. Not for the preset dune.
	MinEffect Fraction `yaml:"min-effect,omitempty" jsonschema_extras:"default=10%"`
	// How repetitions are summarized. (Preset dune: mean.)
	Summary run.Centre `yaml:"summary,omitempty" jsonschema:"enum=median,enum=mean,default=median"`
	// The metrics that decide. Without it: all that are not neutral, except frames.count and others
	// that are judged on request; a percentile or another detail only where its summary is absent.
	// (Preset dune: frames.count, frames.duration_ms and frames.smooth_ratio.)
	Metrics []string `yaml:"metrics,omitempty" jsonschema:"minItems=1,maxItems=1000,uniqueItems=true"`
	// The least grave outcome with exit status 1. drift is a regression, or a drift that baseline
	// refresh or noise finds.
	FailOn gate.FailOn `yaml:"fail-on,omitempty" jsonschema:"enum=never,enum=regression,enum=inconclusive,enum=drift,default=regression"`
	// How far a metric may move within a quarter before drift is reported. Without it: min-change.
	DriftBudget *Fraction `yaml:"drift-budget,omitempty"`
	// Limits of single metrics and events; one entry for each metric and event.
	Thresholds []Threshold `yaml:"thresholds,omitempty" jsonschema:"maxItems=1000"`
}

// Threshold configures the gate for one metric in one event. A nil field is not set.
type Threshold struct {
	// The metric, from the catalogue or declared under metrics.
	Metric string `yaml:"metric" jsonschema:"required"`
	// The UI event. Without it: the whole run. "*": the whole run and every event.
	Event string `yaml:"event,omitempty" jsonschema:"maxLength=200"`
	// Instead of gate.min-change.
	MinChange *Fraction `yaml:"min-change,omitempty"`
	// Instead of gate.outlier-factor.
	OutlierFactor *float64 `yaml:"outlier-factor,omitempty" jsonschema:"minimum=0.1,maximum=100"`
	// A budget: a higher value fails whatever the history. In the metric's unit; a ratio may be
	// written as 95%.
	Max *float64 `yaml:"max,omitempty"`
	// A budget: a lower value fails whatever the history. In the metric's unit; a ratio may be
	// written as 95%.
	Min *float64 `yaml:"min,omitempty"`
	// Show this metric of this event, but never fail because of it.
	Ignore bool `yaml:"ignore,omitempty" jsonschema:"default=false"`
}

// Store is where the history is kept: at most one field is set.
type Store struct {
	// The file of the SQLite database.
	SQLite string `yaml:"sqlite,omitempty" jsonschema:"default=.apkgate/history.db"`
	// A branch of a git remote, shared by a team: REMOTE#BRANCH. Either may be left out, as in origin or #perf; the branch is then apkgate-history. Remotes are those of the repository, URLs or folders.
	Branch string `yaml:"branch,omitempty" jsonschema:"maxLength=1000"`
	// A PostgreSQL database, such as postgres://ci@db.example.org/apkgate?sslmode=verify-full. Its password belongs in PGPASSWORD or ~/.pgpass.
	Postgres string `yaml:"postgres,omitempty" jsonschema:"maxLength=1000"`
	// A history of any other kind, as --store takes it.
	Other string `yaml:"address,omitempty" jsonschema:"maxLength=1000"`
}

// Address returns the store's address as --store accepts it: a file, branch:… or postgres://….
func (s Store) Address() string {
	switch {
	case s.Branch != "":
		return "branch:" + s.Branch
	case s.Postgres != "":
		return s.Postgres
	case s.Other != "":
		return s.Other
	}
	return s.SQLite
}

// Report names the files that a check writes. An empty name is not written.
type Report struct {
	// One self-contained HTML file.
	HTML string `yaml:"html,omitempty" jsonschema:"default=.apkgate/report.html"`
	// Markdown, as for a pull request's comment.
	Markdown string `yaml:"markdown,omitempty"`
	// The verdict as apkgate.verdict/1 JSON.
	JSON string `yaml:"json,omitempty"`
}

// Default returns the configuration of an empty file: the gate, the store and the reports with
// their defaults.
func Default() Config {
	return Config{
		Rounds:     Rounds{Max: 60, Minutes: 45},
		Evidence:   Evidence{Keep: KeepNone, Why: DefaultWhy},
		Methods:    Methods{Keep: KeepNone, By: MethodsAuto},
		Conditions: Conditions{Policy: PolicyWarn, FixedPerformance: PerformanceAuto, IdleWithin: time.Minute},
		Gate:       DefaultGate(gate.PresetDefault),
		Store:      Store{SQLite: ".apkgate/history.db"},
		Report:     Report{HTML: ".apkgate/report.html"},
	}
}

// DefaultGate returns the policy of a preset without changes by a file. In the preset dune Alpha is
// 0: the technique has no such limit. In the default preset MinSupport is 0: it is not a share of
// all runs.
func DefaultGate(preset string) Gate {
	p, _ := gate.PolicyOf(preset)
	g := Gate{
		Preset: preset, OutlierFactor: p.OutlierFactor, MinConfidence: Fraction(p.MinConfidence),
		Alpha: Fraction(p.Alpha), MinHistory: p.MinHistory, MinChange: Fraction(p.MinChange), MinEffect: Fraction(p.MinEffect),
		Summary: p.Centre, FailOn: gate.FailRegression, Metrics: p.Metrics,
	}
	if p.SupportOfAll {
		g.MinSupport = Fraction(p.MinSupport)
	}
	return g
}

// Policy returns the gate's policy, with the context properties that count.
func (g Gate) Policy(c Context) gate.Policy {
	p, _ := gate.PolicyOf(g.Preset)
	p.Centre, p.OutlierFactor = g.Summary, g.OutlierFactor
	p.MinConfidence = float64(g.MinConfidence)
	if g.MinSupport > 0 {
		p.MinSupport, p.SupportOfAll = float64(g.MinSupport), true
	}
	p.Alpha, p.MinHistory, p.MinChange, p.MinEffect = float64(g.Alpha), g.MinHistory, float64(g.MinChange), float64(g.MinEffect)
	p.Metrics, p.Cluster, p.Quartiles = g.Metrics, g.Cluster, g.Quartiles
	p.DriftBudget = (*float64)(g.DriftBudget)
	p.Use, p.RuleUse = c.Use, c.Rules
	for _, t := range g.Thresholds {
		p.Thresholds = append(p.Thresholds, t.policy())
	}
	return p
}

func (t Threshold) policy() gate.Threshold {
	return gate.Threshold{
		Metric: t.Metric, Event: t.Event, OutlierFactor: t.OutlierFactor, MinChange: (*float64)(t.MinChange),
		Max: t.Max, Min: t.Min, Ignore: t.Ignore,
	}
}

// Catalogue returns the built-in catalogue with the file's own metrics and changes.
func (c *Config) Catalogue() (*metric.Catalogue, error) {
	catalogue := metric.Default()
	for _, m := range c.Metrics {
		changed, err := catalogue.With(m.entry(catalogue))
		if err != nil {
			return nil, err
		}
		catalogue = changed
	}
	return catalogue, nil
}

// entry returns the metric for the catalogue. How its noise behaves stays as in the catalogue.
func (m Metric) entry(catalogue *metric.Catalogue) metric.Metric {
	out, _ := catalogue.Lookup(m.Name)
	out.Unit, out.Title, out.Decimals = m.Unit, m.Title, m.Decimals
	if d, err := metric.ParseDirection(m.Better); err == nil {
		out.Direction = d
	}
	return out
}
