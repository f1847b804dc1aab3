package collect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/simlab"
	"github.com/apkgate/apkgate/internal/simlab/timeline"
)

// Page faults and waits are counted on every phone, what a trace tells where one is
// recorded: as many draws, frames and transactions as the phone made.
func TestWorkIsCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile, keep string
		traced        bool
	}{
		{"pixel-7-android-14", config.KeepAnomalies, true},
		{"pixel-5-android-11", config.KeepAnomalies, true},
		{"pixel-7-android-14", config.KeepNone, false},
		{"pixel-3-android-9", config.KeepAnomalies, false},
	} {
		s, job, folder, _ := watched(t, c.profile, c.keep, simlab.Options{})
		job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
		job.App.APK = demoWith(t, "work inflate 3ms after open-list every 4\n")
		r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
		wantComplete(t, r, 1)
		m := r.Run.Iterations[0].Metrics
		if m["work.page_faults"] < 20_000 || m["work.waits"] < 300 {
			t.Errorf("%+v: %v page faults, %v waits", c, m["work.page_faults"], m["work.waits"])
		}
		_, known := m["work.draws"]
		if known != c.traced {
			t.Errorf("%+v: known %v: %s", c, known, workOf(m))
		}
		if !c.traced {
			continue
		}
		begun := 0
		for _, l := range s.Phone.Timeline().Layers {
			for i := range l.Frames {
				if strings.HasPrefix(l.Title, job.App.Package+"/") && l.Frames[i].Kind == timeline.Whole {
					begun++
				}
			}
		}
		if m["work.frames"] != float64(begun) || m["work.draws"] != float64(begun) || m["work.inflations"] < 1 || m["work.transactions"] < 1 || m["work.layouts"] != 0 {
			t.Errorf("%+v: %d frames begun: %s", c, begun, workOf(m))
		}
	}
}

func workOf(m map[string]float64) string {
	var b strings.Builder
	for name, v := range m {
		if strings.HasPrefix(name, "work.") {
			b.WriteString(name + " " + fmt.Sprint(v) + " ")
		}
	}
	return b.String()
}
