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
// its work, so that nobody asks for it while a test runs, and afterwards where the app
// lives on.
func TestMemoryIsReadWithoutDisturbingTheApp(t *testing.T) {
	t.Parallel()
	monkey := config.Workload{Monkey: &config.Monkey{Seed: 3, Events: 60, Throttle: 100 * time.Millisecond}}
	for _, profile := range []string{"nexus-5-android-4.4.4", "pixel-3-android-9", "pixel-7-android-14"} {
		for _, livesOn := range []bool{false, true} {
			_, job := simulated(t, profile, simlab.Options{})
			if livesOn {
				job.Scenario.Workload = monkey
			}
			spy := spyOn(&job)
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 3)
			asked := map[bool]int{true: 3}[livesOn] // after each repetition
			if n := len(spy.ran("meminfo")); n != asked {
				t.Errorf("%s: the app was asked %d times, want %d", profile, n, asked)
			}
			for _, it := range r.Run.Iterations {
				pss, rss, most := it.Metrics["memory.pss_kb"], it.Metrics["memory.rss_kb"], it.Metrics["memory.peak_rss_kb"]
				if pss > 0 != livesOn || rss <= pss || most < rss || most > 2*rss {
					t.Errorf("%s: PSS %.0f kB, RSS %.0f kB, at most %.0f kB", profile, pss, rss, most)
				}
			}
		}
	}
}
