// Package experiments repeats the paper's experiments A to D (sections 7 and 8) on the simulated
// lab, with the code that drives real devices: apps are installed and run over adb, frames and
// events are read from dumps and logs, and the gate judges the runs. It contains only tests.
//
// The devices are simulated, so that it shows that the whole chain finds injected faults, not what
// real phones would do.
package experiments

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/fleet"
)

// subject is an app of the paper with its scenario.
type subject struct{ app, pkg, scenario, class string }

var (
	k9      = subject{"k9-5.006", "com.fsck.k9", "open-message", "com.fsck.k9.OpenMessageTest"}
	blaster = subject{"spaceblaster", "com.iraqdev.spece", "play", "com.iraqdev.spece.PlayTest"}
	player  = subject{"exoplayer", "com.google.android.exoplayer.demo", "play-videos", "com.google.android.exoplayer.demo.PlayTest"}
	mutated = subject{"exoplayer-mutated", player.pkg, player.scenario, player.class}
)

// measure runs the app's scenario on each phone and network, as in section 7.4 (which repeats ten
// times).
func measure(t *testing.T, s subject, phones []profile.Profile, repetitions int, seed uint64, networks ...string) []run.Run {
	t.Helper()
	return measureBuild(t, s, build(t, s), phones, repetitions, seed, networks...)
}

// build returns the app's definition.
func build(t *testing.T, s subject) string {
	t.Helper()
	text, err := simapp.Open(s.app)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// measureBuild is measure for a build of the app.
func measureBuild(t *testing.T, s subject, text string, phones []profile.Profile, repetitions int, seed uint64, networks ...string) []run.Run {
	t.Helper()
	return collected(t, s, text, phones, repetitions, seed, networks...).runs()
}

// collected is measureBuild with the duration of each run.
func collected(t *testing.T, s subject, text string, phones []profile.Profile, repetitions int, seed uint64, networks ...string) session {
	t.Helper()
	apk := apkOf(t, s, text)
	var jobs []collect.Job
	var stations []fleet.Station
	for i, p := range phones {
		phone, err := simulator.Start(p.Name, seed+uint64(i), simulator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = phone.Close() })
		bind := func(j *collect.Job) {
			j.Clock = phone.Clock()
			j.Open = func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, phone.Address(), noKeys) }
		}
		stations = append(stations, fleet.Station{Name: p.Name, Profile: p.Name, Start: func(context.Context, func(string)) (*fleet.Started, error) {
			return &fleet.Started{Bind: bind}, nil
		}})
		for _, network := range networks {
			jobs = append(jobs, collect.Job{
				Device: p.Name, Network: network,
				App: config.App{Package: s.pkg, APK: apk}, Scenario: s.played(repetitions),
				Extra: map[string]string{devctx.Simulated: "true"},
			})
		}
	}
	results := fleet.Lab{Jobs: jobs, Stations: stations}.Collect(context.Background())
	for i, r := range results {
		if r.Err != nil {
			t.Fatalf("%s: %v", r.Device, r.Err)
		}
		named, err := r.Run.Named()
		if err != nil {
			t.Fatal(err)
		}
		results[i].Run = named
	}
	return results
}

// apkOf returns a file with a build of the app.
func apkOf(t *testing.T, s subject, text string) string {
	t.Helper()
	apk := filepath.Join(t.TempDir(), s.app+".apk")
	if err := os.WriteFile(apk, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return apk
}

// played returns the app's scenario with so many repetitions.
func (s subject) played(repetitions int) config.Scenario {
	return config.Scenario{
		Name: s.scenario, Repetitions: repetitions, WarmUp: 0, Timeout: 5 * time.Minute, Retries: 2,
		Workload: config.Workload{Instrumentation: &config.Instrumentation{TestPackage: s.pkg, Runner: config.DefaultRunner, Class: s.class}},
	}
}

var noKeys = adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }}

func lab(t *testing.T, name string) []profile.Profile {
	t.Helper()
	phones, err := profile.Lab(name)
	if err != nil {
		t.Fatal(err)
	}
	return phones
}

// nightly reports whether the experiments are repeated as in docs/evaluation: with all repetitions,
// phones and builds. Otherwise only some are.
func nightly() bool { return !testing.Short() && (os.Getenv("APKGATE_FULL") != "" || everything()) }

// repetitions of a scenario: as documented where all are repeated, else three.
func repetitions(documented int) int {
	if nightly() {
		return documented
	}
	return 3
}

// loosely returns how far numbers of fewer repetitions or phones may be from the documented ones:
// three times as far as those of all. What must not differ at all still must not.
func loosely(within float64) float64 {
	if nightly() {
		return within
	}
	return 3 * within
}

// documented fails the test unless a page of docs/evaluation has the row, its numbers within that
// tolerance: the interleaving of simulated phones depends on the computer, so that noise differs a
// little each time. With -short there are no rounds, and rows lack them.
func documented(t *testing.T, row string, within float64) {
	t.Helper()
	if testing.Short() {
		return
	}
	label, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
	for _, page := range []string{"papers.md", "causes.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", "evaluation", page))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "|"+label+"|") {
				if got := strings.TrimSpace(line); !alike(got, row, within) {
					t.Errorf("docs/evaluation/%s has\n%s\nwhere it is\n%s", page, got, row)
				}
				return
			}
		}
	}
	t.Errorf("docs/evaluation/papers.md and causes.md lack the row %s", row)
}

var number = regexp.MustCompile(`\d+(\.\d+)?`)

// alike reports whether two rows are equal, their numbers within that tolerance.
func alike(a, b string, within float64) bool {
	if number.ReplaceAllString(a, "#") != number.ReplaceAllString(b, "#") {
		return false
	}
	inB := number.FindAllString(b, -1)
	for i, x := range number.FindAllString(a, -1) {
		p, errA := strconv.ParseFloat(x, 64)
		q, errB := strconv.ParseFloat(inB[i], 64)
		if errA != nil || errB != nil || math.Abs(p-q) > within {
			return false
		}
	}
	return true
}

// check judges the runs against the history by a reading.
func check(t *testing.T, by reading, runs, before []run.Run, change ...func(*gate.Policy)) gate.Verdict {
	t.Helper()
	p, ok := gate.PolicyOf(by.preset)
	if !ok {
		t.Fatalf("no preset %q", by.preset)
	}
	by.change(&p)
	for _, c := range change {
		c(&p)
	}
	var refs []run.Summary
	for _, h := range before {
		refs = append(refs, run.Summarize(h, p.Centre, metric.Default()))
	}
	var subjects []history.Subject
	for _, r := range runs {
		subjects = append(subjects, history.Subject{Run: r, References: refs})
	}
	return history.Check(p, metric.Default(), subjects)
}
