package collect_test

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/simlab"
)

// What an app has in RAM is read while it lives, also where its instrumentation ends it:
// all that its process maps, of which PSS counts a part. To add that up keeps the app from
// its work, so that nobody asks for it while a test runs but where somebody wants it, and
// afterwards where the app lives on.
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
			_, job := simulated(t, profile, simlab.Options{})
			job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
			if job.Scenario.Memory = c.memory; c.livesOn {
				job.Scenario.Workload = monkey
			}
			spy := spyOn(&job)
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 1)
			if n := len(spy.ran("meminfo")); n != c.asked {
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
