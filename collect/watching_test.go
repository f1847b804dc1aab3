package collect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/simlab"
	"github.com/apkgate/apkgate/internal/simlab/shell"
)

// watchedFor is a run of one repetition of an app that draws, or stands still, for so many
// seconds, and what was run on the phone for it.
func watchedFor(t *testing.T, profile string, seconds int, draws bool) (asked shell.Asked, metrics map[string]float64) {
	t.Helper()
	s, job := simulated(t, profile, simlab.Options{})
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

// What is run on a phone for each minute that a workload takes, as the table of
// docs/collection.md#what-watching-costs has it: two runs that differ by twenty seconds of
// their workload differ by a third of it.
func TestWhatWatchingCosts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/collection.md")
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
			long, of := watchedFor(t, c.profile, 30, c.draws)
			short, _ := watchedFor(t, c.profile, 10, c.draws)
			processes, dumps := 3*(long.Processes-short.Processes), 3*(long.Dumps-short.Dumps)
			t.Logf("%s: %d processes and %d dumps a minute; %g ms of %g", name, processes, dumps, of["watching.cpu_ms"], of["cpu.time_ms"])
			found := false
			for line := range strings.Lines(string(text)) {
				var told, toldDumps int
				if rest, ok := strings.CutPrefix(line, "| now: "+name+" |"); ok {
					_, err := fmt.Sscanf(strings.ReplaceAll(rest, "|", " "), "%d %d", &told, &toldDumps)
					found = true
					const near = 12 // readings more or less that fall into either run
					if err != nil || processes < told-near || processes > told+near || dumps < toldDumps-near || dumps > toldDumps+near || (dumps == 0) != (toldDumps == 0) {
						t.Errorf("docs/collection.md has %q", strings.TrimSpace(line))
					}
				}
			}
			if !found {
				t.Errorf("docs/collection.md#what-watching-costs has no row of %q", name)
			}
			if of["watching.cpu_ms"] <= 0 {
				t.Errorf("what watching took is not told: %v", of)
			}
		})
	}
}
