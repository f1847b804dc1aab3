package collect_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// theLoads are those of DiagDroid's section 6.
func theLoads() *config.BackgroundLoad {
	return &config.BackgroundLoad{CPU: 0.8, Memory: 0.8, Storage: 2, Downloads: 10, From: "http://10.0.2.2:8000/file"}
}

// underLoad runs a job of the demo under the loads and checks that nothing of them is left.
func underLoad(t *testing.T, o simulator.Options, change func(*collect.Job)) (collect.Result, *simulator.Simulated) {
	t.Helper()
	s, job := simulated(t, "pixel-7-android-14", o)
	job.Scenario.Load = theLoads()
	if change != nil {
		change(&job)
	}
	r := collect.Collect(t.Context(), job, collect.Options{})
	if err := s.Clock().Sleep(t.Context(), time.Second); err != nil { // the script looks each half second
		t.Fatal(err)
	}
	d, err := job.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Exec(t.Context(), "ls /data/local/tmp; pkill -f apkgate-load; echo $?; cat /proc/meminfo")
	if left := string(out.Stdout); err != nil || strings.Contains(left, "apkgate-load") || !strings.HasPrefix(strings.TrimSpace(left), "1\n") {
		t.Errorf("left on the device: %s, %v", left, err)
	} else if !strings.Contains(left, "MemAvailable:    4756340 kB") { // 60 % of 8 GB less what the kernel keeps
		t.Errorf("memory is still held: %s", left)
	}
	return r, s
}

// meanFrame returns the time per frame of a run in ms.
func meanFrame(r run.Run) (mean float64) {
	for _, it := range r.Iterations {
		mean += it.Metrics["frames.duration_ms"] / float64(len(r.Iterations))
	}
	return mean
}

// The paper's loads are there while the app is measured, make it slower, stand in the context, and
// are gone afterwards.
func TestLoads(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-7-android-14", simulator.Options{})
	without := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, without, 3)
	during := &watcher{}
	r, _ := underLoad(t, simulator.Options{}, during.watch)
	wantComplete(t, r, 3)
	if got := r.Run.Context["load"]; got != "cpu 80%, memory 80%, storage 2, downloads 10" {
		t.Errorf("load %q in the context", got)
	}
	if got, has := without.Run.Context["load"]; has {
		t.Errorf("load %q in the context of a run without", got)
	}
	if before, now := meanFrame(without.Run), meanFrame(r.Run); now < 1.3*before {
		t.Errorf("a frame takes %.1f ms under the loads, and %.1f ms without", now, before)
	}
	if warnedOf(r.Run, "load") {
		t.Errorf("warnings: %v", r.Run.Warnings)
	}
	// Each repetition has one start of all of its loads, of 8 processors and 3.1 GB of memory.
	if len(during.started) != 3 {
		t.Fatalf("started %q", during.started)
	}
	for _, line := range during.started {
		// 7,927,234 kB, of which 60 % are available and 20 % are to be left: 3,096 MiB.
		if !strings.Contains(line, "cpu 8 80 memory 3097 storage 2 downloads 10 http://10.0.2.2:8000/file") {
			t.Errorf("started %q", line)
		}
	}
}

// watcher sees the commands of a job.
type watcher struct {
	device.Device
	started []string
}

func (w *watcher) watch(j *collect.Job) {
	open := j.Open
	j.Open = func(ctx context.Context) (device.Device, error) {
		d, err := open(ctx)
		w.Device = d
		return w, err
	}
}

func (w *watcher) Exec(ctx context.Context, line string) (device.Output, error) {
	if strings.Contains(line, "nohup sh /data/local/tmp/apkgate-load.sh") {
		w.started = append(w.started, line)
	}
	return w.Device.Exec(ctx, line)
}

// A load that can't be there is an error before anything is measured.
func TestLoadsThatCannotStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o      simulator.Options
		change func(*collect.Job)
		want   []string
	}{
		"no nc and no curl":   {simulator.Options{Lacks: []string{"nc", "curl"}}, nil, []string{"start the load of the workload (cpu 80%, memory 80%, storage 2, downloads 10)", "downloads: 0 bytes came from 10.0.2.2:8000"}},
		"no timeout":          {simulator.Options{Lacks: []string{"timeout"}}, nil, []string{"downloads: 0 bytes came from 10.0.2.2:8000"}},
		"no network":          {simulator.Options{Network: "none"}, func(j *collect.Job) { j.Network = "none" }, []string{"downloads: 0 bytes came from 10.0.2.2:8000"}},
		"no dd":               {simulator.Options{Lacks: []string{"dd"}}, nil, []string{"storage: ", "dd: inaccessible or not found"}},
		"a read-only storage": {simulator.Options{ClosedTmp: true}, nil, []string{"copy its script to the device", "Permission denied"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := underLoad(t, c.o, func(j *collect.Job) {
				j.Scenario.Retries = 0
				if c.change != nil {
					c.change(j)
				}
			})
			if r.Err == nil || r.Run.Status != run.Failed {
				t.Fatalf("%s, %v", r.Run.Status, r.Err)
			}
			for _, want := range c.want {
				if !strings.Contains(r.Err.Error(), want) {
					t.Errorf("%v: does not say %q", r.Err, want)
				}
			}
		})
	}
}

// An Android without toybox has no load; the run says so.
func TestLoadsNeedAndroid6(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "nexus-4-android-5.0.0", simulator.Options{})
	job.Scenario.Load = &config.BackgroundLoad{CPU: 0.8}
	r := collect.Collect(t.Context(), job, collect.Options{})
	if r.Err == nil || !strings.Contains(r.Err.Error(), "it needs Android 6 or later, and this is API level 21") {
		t.Errorf("%v", r.Err)
	}
}

// What ends while the app is measured is a warning beside the numbers.
func TestLoadsThatEndEarly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    simulator.Options
		want []string
	}{
		"memory is killed": {simulator.Options{LoadKilledAfter: 3 * time.Second},
			[]string{"repetition 1 was not measured under all of its load: memory: its processes were killed"}},
		"the storage is full": {simulator.Options{Faults: []simapp.Fault{{Kind: simapp.NoSpace, After: "scroll", Repetition: 2, For: 5 * time.Second}}},
			// Nothing that the script says of it finds room.
			[]string{"repetition 1 was not measured under all of its load: 0 of 2 files were still written at the end"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := underLoad(t, c.o, nil)
			wantComplete(t, r, 3)
			if !warnedOf(r.Run, c.want...) {
				t.Errorf("warnings: %v", r.Run.Warnings)
			}
		})
	}
}

// A device that restarts in the middle of a repetition has lost the load with it; the repetition is
// made again under a load of its own.
func TestLoadsOnALostDevice(t *testing.T) {
	t.Parallel()
	for _, kind := range []simapp.FaultKind{simapp.Reboot, simapp.Drop} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			during := &watcher{}
			r, _ := underLoad(t, simulator.Options{Faults: []simapp.Fault{{Kind: kind, After: "scroll", Repetition: 2}}}, during.watch)
			wantComplete(t, r, 3)
			if len(during.started) != 4 || warnedOf(r.Run, "was not measured under") {
				t.Errorf("%d loads, warnings: %v", len(during.started), r.Run.Warnings)
			}
		})
	}
}

// What a task waits for takes longer beside a load: ten downloads halve the network.
func TestLoadsSlowTasks(t *testing.T) {
	t.Parallel()
	ran := func(load *config.BackgroundLoad) float64 {
		_, job, folder, _ := watched(t, "pixel-7-android-16", config.KeepWorst, simulator.Options{})
		job.Evidence.Tasks, job.Scenario.Load = true, load
		job.Scenario.Repetitions, job.Scenario.WarmUp = 2, 0
		job.App.APK = demoWith(t, queued)
		r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
		wantComplete(t, r, 2)
		for _, g := range r.Run.Tasks.Groups {
			if g.Name == "message 7: Saver.sync from main" {
				return g.Ran.MeanMS
			}
		}
		t.Fatalf("no sync in %+v", r.Run.Tasks.Groups)
		return 0
	}
	// 600 ms of network become 1,200; the 20 ms of CPU stay.
	before, now := ran(nil), ran(&config.BackgroundLoad{Downloads: 10, From: "http://10.0.2.2/f"})
	if more := now - before; more < 590 || more > 610 {
		t.Errorf("the sync takes %.0f ms beside ten downloads, and %.0f ms without", now, before)
	}
}
