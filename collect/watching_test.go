package collect_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/simulator"
)

// byProcesses is a device that keeps no shell open: each query starts a process.
type byProcesses struct{ device.Device }

// watchedFor makes a run of one repetition of an app that draws, or stands still, for so many
// seconds, and returns the commands that the phone ran for it.
func watchedFor(t *testing.T, profile string, seconds int, draws, keeps bool) (asked simulator.Asked, metrics map[string]float64) {
	t.Helper()
	s, job := simulated(t, profile, simulator.Options{})
	if open := job.Open; !keeps {
		job.Open = func(ctx context.Context) (device.Device, error) {
			d, err := open(ctx)
			return byProcesses{d}, err
		}
	}
	frames := 60 * seconds
	if !draws {
		frames = 30
	}
	job.App.APK = filepath.Join(t.TempDir(), "watched.apk")
	app := fmt.Sprintf("apkgate-simulated-app/1\npackage com.example.demo\ncost 7ms\nscenario read-mail %ds\n  start %d\n", seconds+2, frames)
	if err := os.WriteFile(job.App.APK, []byte(app), 0o600); err != nil {
		t.Fatal(err)
	}
	job.Scenario.Repetitions, job.Scenario.WarmUp, job.Scenario.Compile = 1, 0, config.CompileNone
	before := s.Phone.Asked()
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 1)
	asked = s.Phone.Asked()
	asked.Processes, asked.Dumps = asked.Processes-before.Processes, asked.Dumps-before.Dumps
	return asked, r.Run.Iterations[0].Metrics
}

// The commands that a phone runs for each minute of a workload are those in the table of
// docs/collection/watching.md: two runs whose workloads differ by twenty seconds differ
// by a third of it.
func TestCostOfWatching(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/collection/watching.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		profile string
		draws   bool
	}{
		"frame timeline, the app works":        {"galaxy-s22-android-14", true},
		"frame timeline, the app stands still": {"galaxy-s22-android-14", false},
		"dumps of gfxinfo, the app works":      {"pixel-3-android-9", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var counted [3]int // processes by processes, by the kept shell; dumps
			var of map[string]float64
			for i, keeps := range []bool{false, true} {
				var long simulator.Asked
				long, of = watchedFor(t, c.profile, 30, c.draws, keeps)
				short, _ := watchedFor(t, c.profile, 10, c.draws, keeps)
				counted[i], counted[2] = 3*(long.Processes-short.Processes), 3*(long.Dumps-short.Dumps)
			}
			t.Logf("%s: %d processes a minute, %d by the kept shell, and %d dumps; %g ms of %g", name, counted[0], counted[1], counted[2], of["watching.cpu_ms"], of["cpu.time_ms"])
			found := false
			for line := range strings.Lines(string(text)) {
				rest, ok := strings.CutPrefix(line, "| "+name+" |")
				if !ok {
					continue
				}
				found = true
				var told [3]int
				_, err := fmt.Sscanf(strings.ReplaceAll(rest, "|", " "), "%d %d %d", &told[0], &told[1], &told[2])
				for i, n := range counted {
					const near = 12 // readings more or less that fall into either run
					if err != nil || n < told[i]-near || n > told[i]+near || (n == 0) != (told[i] == 0) {
						t.Errorf("docs/collection/watching.md has %q", strings.TrimSpace(line))
					}
				}
			}
			if !found {
				t.Errorf("docs/collection/watching.md has no row of %q", name)
			}
			if of["watching.cpu_ms"] <= 0 {
				t.Errorf("what watching took is not told: %v", of)
			}
		})
	}
}

// killed is a device whose kept shell is killed before each third query.
type killed struct {
	*adb.Device
	asked *atomic.Int64
}

func (k killed) Ask(ctx context.Context, command string) (device.Output, error) {
	if k.asked.Add(1)%3 == 0 {
		if out, err := k.Exec(ctx, "kill -9 $(pidof sh); :"); err != nil || len(out.Stderr) > 0 {
			return out, fmt.Errorf("kill the kept shell: %q, %w", out.Stderr, err)
		}
	}
	return k.Device.Ask(ctx, command)
}

// If the kept shell is killed again and again, every query is still answered: the run has the
// frames of one whose shell lives, event by event, except for what comes before the first, which
// begins some milliseconds of killing later.
func TestRunIsTheSameWhenTheShellIsKilled(t *testing.T) {
	t.Parallel()
	frames := func(kills bool) (events []string, asked int64) {
		s, job := simulated(t, "pixel-7-android-14", simulator.Options{Even: true})
		job.Scenario.Repetitions, job.Scenario.WarmUp = 2, 0
		var n atomic.Int64
		if kills {
			job.Open = func(ctx context.Context) (device.Device, error) {
				d, err := adb.Dial(ctx, s.Address(), adb.Options{})
				return killed{d, &n}, err
			}
		}
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 2)
		if len(r.Run.Warnings) > 0 {
			t.Errorf("kills %v: %q", kills, r.Run.Warnings)
		}
		for _, it := range r.Run.Iterations {
			if it.Metrics["cpu.time_ms"] <= 0 || it.Metrics["memory.rss_kb"] <= 0 {
				t.Errorf("kills %v: an iteration tells of no process: %v", kills, it.Metrics)
			}
			for _, e := range it.Events[1:] {
				events = append(events, fmt.Sprintf("%s %g of %g janky", e.Name, e.Metrics["frames.janky"], e.Metrics["frames.count"]))
			}
		}
		return events, n.Load()
	}
	lives, _ := frames(false)
	dies, asked := frames(true)
	if !slices.Equal(lives, dies) {
		t.Errorf("%q, want %q", dies, lives)
	}
	if asked < 20 {
		t.Errorf("%d questions were asked, so that the shell was hardly killed", asked)
	}
}
