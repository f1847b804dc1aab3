package collect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/simulator"
)

// dumpsys prints what it has after ten seconds, says that it gave the dump up, and ends with status
// 0. Such a dump is reported, whichever service it is of.
func TestDumpsCutByTheDeviceAreReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ service, profile string }{
		{"battery", "pixel-7-android-14"}, {"connectivity", "pixel-7-android-14"}, {"display", "pixel-7-android-14"},
		{"meminfo", "nord-android-10"}, {"package", "pixel-7-android-14"}, {"power", "pixel-7-android-14"},
		{"thermalservice", "pixel-7-android-14"}, {"window", "pixel-7-android-14"}, {"gfxinfo", "nord-android-10"},
		{"graphicsstats", "nord-android-10"}, {"batterystats", "pixel-7-android-14"}, {"sensorservice", "pixel-7-android-14"},
	} {
		t.Run(c.service, func(t *testing.T) {
			t.Parallel()
			_, job := simulated(t, c.profile, simulator.Options{GivesUp: []string{c.service}, Powered: "usb"})
			quiet(t, &job)
			settle := time.Duration(0)
			settings := config.DefaultEnergy()
			settings.Source, settings.Settle = config.EnergyModel, &settle
			job.Scenario.Retries, job.Scenario.ClearData, job.Scenario.Memory = 0, true, config.MemoryPSS
			if c.service != "meminfo" { // not queried while energy is measured
				job.Energy = &settings
			}
			r := collect.Collect(t.Context(), job, collect.Options{})
			t.Log(r.Run.Status, r.Err, r.Run.Warnings)
			var all strings.Builder
			for _, w := range r.Run.Warnings {
				all.WriteString(w.Text + "\n")
			}
			if !strings.Contains(all.String(), c.service) || !strings.Contains(all.String(), "gave") {
				t.Errorf("nothing is told of it: %s", all.String())
			}
			t.Log(r.Run.Iterations)
			for _, it := range r.Run.Iterations {
				if app, told := it.Metrics["energy.app_j"]; told && app == 0 {
					t.Errorf("the app is said to have taken nothing: %v", it.Metrics)
				}
			}
		})
	}
}
