package collect_test

import (
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/internal/simlab"
)

// What an app has in RAM is read while it lives, also where its instrumentation ends it:
// all that its process maps, of which PSS counts a part.
func TestTheMostMemoryIsReadWhileTheAppLives(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"nexus-5-android-4.4.4", "pixel-3-android-9", "pixel-7-android-14"} {
		_, job := simulated(t, profile, simlab.Options{})
		r := collect.Collect(t.Context(), job, collect.Options{})
		wantComplete(t, r, 3)
		for _, it := range r.Run.Iterations {
			pss, rss, most := it.Metrics["memory.pss_kb"], it.Metrics["memory.rss_kb"], it.Metrics["memory.peak_rss_kb"]
			if pss == 0 || rss <= pss || most < rss || most > 2*rss {
				t.Errorf("%s: PSS %.0f kB, RSS %.0f kB, at most %.0f kB", profile, pss, rss, most)
			}
		}
	}
}
