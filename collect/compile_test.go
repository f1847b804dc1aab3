package collect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// demoWith is the demo app with more lines in its file.
func demoWith(t *testing.T, lines string) string {
	t.Helper()
	text, err := simapp.Open("demo-good")
	if err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(string(text), "scenario ")
	path := filepath.Join(t.TempDir(), "demo.apk")
	if err := os.WriteFile(path, []byte(before+lines+"scenario "+after), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The app is compiled as the scenario says, in every run; compiled code draws faster than
// interpreted code, and the context and a warning report its state.
func TestCodeIsCompiledAsTheScenarioSays(t *testing.T) {
	t.Parallel()
	const pixel7, pixel3, moto = "pixel-7-android-14", "pixel-3-android-9", "moto-g5-android-7.0"
	duration := func(r run.Run) (sum float64) {
		for _, it := range r.Iterations {
			sum += it.Metrics["frames.duration_ms"]
		}
		return sum
	}
	for _, c := range []struct {
		profile, compile, app string
		compiled              string
		fast                  bool
		told                  string
	}{
		{pixel7, "", "", "", false, ""},
		{pixel7, config.CompileNone, "", "", false, ""},
		{pixel7, config.CompileVerify, "", "verify", false, ""},
		{pixel7, config.CompileSpeed, "", "speed", true, ""},
		{pixel7, config.CompileProfile, "", "speed-profile", true, ""},
		{pixel7, config.CompileProfile, "no-profile\n", "speed-profile", false, "no androidx.profileinstaller in the app has answered"},
		{pixel7, config.CompileSpeed, "no-profile\n", "speed", true, ""},
		{pixel7, config.CompileProfile, "debuggable\n", "", false, "is a debug build"},
		{pixel7, config.CompileSpeed, "debuggable\n", "", false, "is a debug build"},
		{pixel3, config.CompileProfile, "", "speed-profile", true, ""},
		{moto, config.CompileProfile, "", "speed-profile", true, ""},
		{moto, config.CompileVerify, "", "verify", false, ""}, // "interpret-only" there
		{"pixel-2-android-8.1.0", config.CompileVerify, "", "verify", false, ""},
		{"nexus-5x-android-6.0.0", config.CompileProfile, "", "", true, ""}, // all of it is, when it is installed
	} {
		_, job := simulated(t, c.profile, simulator.Options{})
		job.App.APK, job.Scenario.Repetitions, job.Scenario.WarmUp = demoWith(t, c.app), 1, 0
		job.Scenario.Compile = c.compile
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 1)
		if got := r.Run.Context["compiled"]; got != c.compiled {
			t.Errorf("%+v: compiled is %q", c, got)
		}
		if told := warnedOf(r.Run, "ahead of time"); told != (c.told != "") || told && !warnedOf(r.Run, c.told) {
			t.Errorf("%+v: %v", c, r.Run.Warnings)
		}
		_, ahead := simulated(t, c.profile, simulator.Options{})
		ahead.Scenario = job.Scenario
		ahead.Scenario.Compile = config.CompileSpeed
		best := collect.Collect(t.Context(), ahead, collect.Options{})
		wantComplete(t, best, 1)
		if fast := duration(r.Run) < 1.05*duration(best.Run); fast != c.fast {
			t.Errorf("%+v: %.2f ms a frame, compiled ahead of time %.2f ms", c, duration(r.Run), duration(best.Run))
		}
	}
}

// A run with energy is compiled as its section says, unless its scenario says otherwise.
func TestScenarioOverridesEnergysCompilation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ scenario, energy, compiled string }{
		{"", config.CompileSpeed, "speed"},
		{"", config.CompileNone, "none"},
		{config.CompileVerify, config.CompileSpeed, "verify"},
		{config.CompileNone, config.CompileSpeed, "none"},
	} {
		_, r := measured(t, 33, config.EnergyModel, nil, func(j *collect.Job) {
			j.Scenario.Compile, j.Energy.Compile = c.scenario, c.energy
		})
		wantComplete(t, r, 3)
		if got := r.Run.Context["compiled"]; got != c.compiled {
			t.Errorf("%+v: compiled is %q", c, got)
		}
	}
}

// A refused compilation is a warning, and the measurement counts.
func TestRefusedCompilationIsAWarning(t *testing.T) {
	t.Parallel()
	p := newPhone(33)
	p.power = newPower()
	p.power.refuse = "Failure: package not found"
	r := collectOn(t, p, func(j *collect.Job) { j.Scenario.Compile = config.CompileSpeed })
	wantComplete(t, r, 3)
	if r.Run.Context["compiled"] != "" || !warnedOf(r.Run, "package not found", "measured as installed") {
		t.Errorf("%v, %v", r.Run.Context, r.Run.Warnings)
	}
}

// Each of two builds alternately is compiled when its turn comes.
func TestBuildsInTurnsAreCompiledAlike(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-7-android-14", simulator.Options{})
	job.Scenario.Repetitions, job.Scenario.WarmUp, job.Scenario.Compile = 2, 0, config.CompileProfile
	base, of := collect.Interleave(t.Context(), collect.Pair{Base: job, Head: job}, collect.Options{})
	for _, r := range []collect.Result{base, of} {
		wantComplete(t, r, 2)
		if r.Run.Context["compiled"] != config.CompileProfile || warnedOf(r.Run, "ahead of time") {
			t.Errorf("%v, %v", r.Run.Context, r.Run.Warnings)
		}
	}
}
