package collect_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/simulator"
)

// The memory of an app is read while it lives, also if its instrumentation ends it: everything that
// its process maps, of which PSS counts a part. Adding PSS up disturbs the app, so that it is not
// queried while a test runs unless configured, and afterwards if the app is still alive.
func TestMemoryIsReadWithoutDisturbingTheApp(t *testing.T) {
	t.Parallel()
	monkey := config.Workload{Monkey: &config.Monkey{Seed: 3, Events: 60, Throttle: 100 * time.Millisecond}}
	for _, profile := range []string{"nexus-5-android-4.4.4", "pixel-3-android-9", "pixel-7-android-14"} {
		for _, c := range []struct {
			livesOn bool
			memory  string
			asked   int // in all
		}{
			{false, "", 0}, {false, config.MemoryRSS, 0}, {true, config.MemoryRSS, 1}, // after the repetition
			{false, config.MemoryPSS, 2}, // every 5 s of 8
		} {
			_, job := simulated(t, profile, simulator.Options{})
			job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
			if job.Scenario.Memory = c.memory; c.livesOn {
				job.Scenario.Workload = monkey
			}
			spy := spyOn(&job)
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 1)
			if n := len(spy.ran("dumpsys meminfo")); n != c.asked {
				t.Errorf("%s, %+v: the app was asked %d times", profile, c, n)
			}
			for _, it := range r.Run.Iterations {
				pss, rss, most := it.Metrics["memory.pss_kb"], it.Metrics["memory.rss_kb"], it.Metrics["memory.peak_rss_kb"]
				if pss > 0 != (c.asked > 0) || rss <= pss || most < rss || most > 2*rss {
					t.Errorf("%s: PSS %.0f kB, RSS %.0f kB, at most %.0f kB", profile, pss, rss, most)
				}
			}
		}
	}
}

// A process has only as much of a long name as its command line has room for, and is found by that.
func TestAppWithALongName(t *testing.T) {
	t.Parallel()
	for _, length := range []int{69, 70, 74, 75, 76, 99, 200} {
		pkg := "com.example." + strings.Repeat("long_name.", 20)[:length-len("com.example.")-1] + "x"
		for _, mode := range []config.StartMode{config.StartCold, config.StartWarm} {
			_, job := simulated(t, "pixel-7-android-14", simulator.Options{})
			if err := os.WriteFile(job.App.APK, []byte(strings.ReplaceAll(opening, "com.example.opening", pkg)), 0o600); err != nil {
				t.Fatal(err)
			}
			job.App.Package, job.App.TestAPK = pkg, ""
			job.Scenario.Workload = config.Workload{Startup: &config.Startup{Mode: mode}}
			job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 1)
			if m := r.Run.Iterations[0].Metrics; m["memory.rss_kb"] == 0 || m["cpu.time_ms"] == 0 {
				t.Errorf("%d bytes, %s: %v, %v", length, mode, m, r.Run.Warnings)
			}
		}
	}
}

// answering is a device with another answer to the query of the app's processes.
type answering struct {
	device.Device
	pids func(answer string) string
}

// pidsLine is what pidof prints.
var pidsLine = regexp.MustCompile(`(?m)^\d+( \d+)*$`)

func (a answering) Exec(ctx context.Context, command string) (device.Output, error) {
	out, err := a.Device.Exec(ctx, command)
	if strings.HasPrefix(command, "cat /proc/uptime ") {
		out.Stdout = pidsLine.ReplaceAllFunc(out.Stdout, func(line []byte) []byte { return []byte(a.pids(string(line))) })
	}
	return out, err
}

// Unmeasurable processes, or several of them, are reported.
func TestUnmeasurableProcessesAreReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pids func(answer string) string
		told string
	}{
		"none":           {func(string) string { return "" }, "CPU time and memory are missing: no process of the name com.example.demo"},
		"a work profile": {func(pids string) string { return strings.TrimSpace("4000 " + pids) }, "com.example.demo ran 2 times at once"},
	} {
		_, job := simulated(t, "pixel-7-android-14", simulator.Options{})
		open := job.Open
		job.Open = func(ctx context.Context) (device.Device, error) {
			d, err := open(ctx)
			return answering{d, c.pids}, err
		}
		job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 1)
		if m := r.Run.Iterations[0].Metrics; !warnedOf(r.Run, c.told) || (m["memory.rss_kb"] == 0) != (name == "none") || m["frames.count"] == 0 {
			t.Errorf("%s: %v, %v", name, m, r.Run.Warnings)
		}
	}
}
