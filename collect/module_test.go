package collect_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/fleet"
)

// installs counts the installations on a device.
type installs struct {
	device.Device
	n *atomic.Int32
}

func (i installs) Install(ctx context.Context, files ...string) error {
	i.n.Add(1)
	return i.Device.Install(ctx, files...)
}

// module is a job for each class of a Macrobenchmark module, and the number of installations for
// them.
func module(t *testing.T, profile string, classes ...string) (*simulator.Simulated, []collect.Job, *atomic.Int32) {
	t.Helper()
	s, job := benchmark(t, profile, "", simulator.Options{})
	job.Scenario.Workload.Instrumentation.Class = ""
	count := &atomic.Int32{}
	job.Open = func(ctx context.Context) (device.Device, error) {
		d, err := adb.Dial(ctx, s.Address(), patience(simulator.Options{}))
		return installs{d, count}, err
	}
	scenarios, err := job.Scenario.OfClasses(classes)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []collect.Job
	for _, scenario := range scenarios {
		job.Scenario = scenario
		jobs = append(jobs, job)
	}
	return s, jobs, count
}

// The classes of a module are measured with one installation, and each has its own run: with its
// context, in its order, of its own benchmarks.
func TestModuleInstallsOnce(t *testing.T) {
	t.Parallel()
	s, jobs, installed := module(t, "pixel-7-android-14", "com.example.macro.WarmBenchmark", "com.example.macro.StartupBenchmark")
	for i := range jobs {
		jobs[i].Evidence = config.Evidence{Keep: config.KeepAll}
	}
	results := collect.Module(t.Context(), jobs, collect.Options{Evidence: &memory{}}, nil)
	wantComplete(t, results[0], 3)
	wantComplete(t, results[1], 5)
	if a, b := len(results[0].Run.Evidence), len(results[1].Run.Evidence); a != 3+2 || b != 5 { // warm and hot, cold
		t.Errorf("%d and %d traces are kept", a, b)
	}
	if n := installed.Load(); n != 2 {
		t.Errorf("%d installations of the app and its test", n)
	}
	for i, want := range []struct {
		scenario string
		events   int
	}{{"start/com.example.macro.WarmBenchmark", 2}, {"start/com.example.macro.StartupBenchmark", 1}} {
		r := results[i].Run
		if r.Scenario != want.scenario || len(r.Iterations[0].Events) != want.events || r.Context["model"] == "" || r.Context["measured_by"] != "macrobenchmark" {
			t.Errorf("%s: %v, %v", r.Scenario, r.Iterations[0], r.Context)
		}
		if _, err := run.Encode(r); err != nil {
			t.Error(err)
		}
	}
	if !results[0].Run.Started.Before(results[1].Run.Started) {
		t.Errorf("begun %v and %v", results[0].Run.Started, results[1].Run.Started)
	}
	if left, err := onPhone(t, s, "pm list packages com.example"); left != "" || err != nil {
		t.Errorf("it stays on the phone: %s, %v", left, err)
	}
}

// A class whose test crashes, and a missing one, are lost with a reason: later ones are measured.
func TestModuleContinuesAfterAFailedClass(t *testing.T) {
	t.Parallel()
	_, jobs, _ := module(t, "pixel-7-android-14", "com.example.macro.WarmBenchmark", "com.example.macro.Gone", "com.example.macro.StartupBenchmark")
	rewrite(t, jobs[0].App.TestAPK, "#hot hot 2", "#hot crash 2")
	results := collect.Module(t.Context(), jobs, collect.Options{}, nil)
	wantComplete(t, results[2], 5)
	for i, why := range []string{"Process crashed", "com.example.macro.Gone#initializationError"} {
		if r := results[i]; r.Run.Status != run.Failed || !loss.IsWorkload(r.Err) || !strings.Contains(r.Err.Error(), why) {
			t.Errorf("%s: %s, %v; want %s", r.Run.Scenario, r.Run.Status, r.Err, why)
		}
	}
	if len(results[2].Run.Warnings) > 0 {
		t.Errorf("what was lost of others is told of one that is whole: %v", results[2].Run.Warnings)
	}
}

// A lab makes a module's classes together, and reports each in its own place.
func TestLabReportsEachClassOfAModule(t *testing.T) {
	t.Parallel()
	_, jobs, installed := module(t, "pixel-7-android-14", "com.example.macro.StartupBenchmark", "com.example.macro.WarmBenchmark")
	alone := jobs[0]
	alone.Scenario.Name, alone.Scenario.Module = "alone", ""
	jobs = []collect.Job{jobs[0], alone, jobs[1]}
	told := map[int]string{}
	bind := func(j *collect.Job) { j.Open, j.Clock = jobs[0].Open, jobs[0].Clock }
	lab := fleet.Lab{
		Jobs: jobs, Finished: func(place int, r collect.Result) { told[place] = r.Run.Scenario },
		Stations: []fleet.Station{{Name: jobs[0].Device, Profile: jobs[0].Device, Start: func(context.Context, func(string)) (*fleet.Started, error) {
			return &fleet.Started{Bind: bind}, nil
		}}},
	}
	results := lab.Collect(t.Context())
	for i, want := range []struct {
		name       string
		iterations int
	}{{"start/com.example.macro.StartupBenchmark", 5}, {"alone", 5}, {"start/com.example.macro.WarmBenchmark", 3}} {
		wantComplete(t, results[i], want.iterations)
		if results[i].Run.Scenario != want.name || told[i] != want.name {
			t.Errorf("at %d is %s, told as %s; want %s", i, results[i].Run.Scenario, told[i], want.name)
		}
	}
	if n := installed.Load(); n != 4 {
		t.Errorf("%d installations for a module and one scenario, want 4", n)
	}
}

// doomed is a device that dies at a command that contains these words.
type doomed struct {
	device.Device
	words string
	died  chan struct{}
	dead  *atomic.Bool
}

func (m doomed) Exec(ctx context.Context, line string) (device.Output, error) {
	if m.dead.Load() {
		return device.Output{}, device.ErrGone
	}
	return m.Device.Exec(ctx, line)
}

func (m doomed) Start(ctx context.Context, line string) (device.Process, error) {
	if strings.Contains(line, m.words) && m.dead.CompareAndSwap(false, true) {
		close(m.died)
	}
	if m.dead.Load() {
		return nil, device.ErrGone
	}
	return m.Device.Start(ctx, line)
}

// A class that was completed before its device died is reported once and not repeated: another
// device makes the remaining ones.
func TestAnotherDeviceContinuesAModule(t *testing.T) {
	t.Parallel()
	_, jobs, _ := module(t, "pixel-7-android-14", "com.example.macro.StartupBenchmark", "com.example.macro.WarmBenchmark")
	other, _, _ := module(t, "pixel-7-android-14")
	died, dead := make(chan struct{}), &atomic.Bool{}
	first := jobs[0].Open
	open := map[string]func(context.Context) (device.Device, error){
		"a": func(ctx context.Context) (device.Device, error) {
			d, err := first(ctx)
			if dead.Load() {
				err = device.ErrGone
			}
			return doomed{d, "WarmBenchmark", died, dead}, err
		},
		"b": func(ctx context.Context) (device.Device, error) {
			return adb.Dial(ctx, other.Address(), patience(simulator.Options{}))
		},
	}
	var told []string
	lab := fleet.Lab{Jobs: jobs, Parallel: 1, Finished: func(_ int, r collect.Result) { told = append(told, r.Station+" "+r.Run.Scenario) }}
	for _, name := range []string{"a", "b"} {
		lab.Stations = append(lab.Stations, fleet.Station{Name: name, Profile: jobs[0].Device, Start: func(context.Context, func(string)) (*fleet.Started, error) {
			return &fleet.Started{Bind: func(j *collect.Job) {
				j.Open, j.Clock = open[name], other.Clock()
				if name == "a" {
					j.Clock, j.Died, j.Why = jobs[0].Clock, died, func() string { return "it died" }
				}
			}}, nil
		}})
	}
	results := lab.Collect(t.Context())
	wantComplete(t, results[0], 5)
	wantComplete(t, results[1], 3)
	if want := []string{"a start/com.example.macro.StartupBenchmark", "b start/com.example.macro.WarmBenchmark"}; !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
	if a, b := warnedOf(results[0].Run, "started again"), warnedOf(results[1].Run, "started again", "a: "); a || !b {
		t.Errorf("%v and %v", results[0].Run.Warnings, results[1].Run.Warnings)
	}
}
