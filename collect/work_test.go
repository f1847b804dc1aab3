package collect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/gate"
	gatehistory "github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

// Page faults and waits are counted on every phone, and what a trace contains if one is recorded:
// as many draws, frames and transactions as the phone made.
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
		s, job, folder, _ := watched(t, c.profile, c.keep, simulator.Options{})
		job.Scenario.Repetitions, job.Scenario.WarmUp = 1, 0
		job.App.APK = demoWith(t, "work inflate 3ms after open-list every 4\nblocks disk 6ms after open-message every 5 by fsync\n")
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
		begun, synced := 0, 0
		for _, one := range s.Phone.Timeline().Sleeps {
			if one.Asks != nil && one.Asks.Syncs {
				synced++
			}
		}
		for _, l := range s.Phone.Timeline().Layers {
			for i := range l.Frames {
				if strings.HasPrefix(l.Title, job.App.Package+"/") && l.Frames[i].Kind == simulator.WholeFrame {
					begun++
				}
			}
		}
		if m["work.frames"] != float64(begun) || m["work.draws"] != float64(begun) || m["work.inflations"] < 1 || m["work.transactions"] < 1 || m["work.layouts"] != 0 {
			t.Errorf("%+v: %d frames begun: %s", c, begun, workOf(m))
		}
		if synced == 0 || m["work.syncs"] != float64(synced) {
			t.Errorf("%+v: %d files synced: %s", c, synced, workOf(m))
		}
		// Its views keep their sizes, and none is of Compose: nothing is measured or composed
		// again.
		for _, name := range []string{"work.measures", "work.recompositions"} {
			if n, known := m[name]; !known || n != 0 {
				t.Errorf("%+v: %s is %v, known %v", c, name, n, known)
			}
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

// On an emulator with a hosted runner's noise, a tenth more of an app's work stands out by the
// counts, in one run against eight, where frame times show nothing; an unchanged build does not
// stand out.
func TestMoreWorkStandsOutOnANoisyEmulator(t *testing.T) {
	t.Parallel()
	const history = 8
	measured := func(seed uint64, every int) run.Run {
		s, job := seeded(t, "sdk-gphone64-x86-android-14", seed, simulator.Options{})
		job.Evidence.Keep = config.KeepAnomalies
		job.Scenario.Repetitions, job.Scenario.WarmUp = 5, 0
		job.App.APK = demoWith(t, fmt.Sprintf("noise session 10%% repetition 15%% frame 14%% tail 0.4%%x3\nwork inflate 500us after open-list,scroll,open-message,scroll-message,back every %d\n", every))
		r := collect.Collect(t.Context(), job, collect.Options{Evidence: evidence.At(t.TempDir(), evidence.Default)})
		_ = s.Close()
		wantComplete(t, r, 5)
		return r.Run
	}
	catalogue := metric.Default()
	policy := func(metrics ...string) gate.Policy {
		p, _ := gate.PolicyOf(gate.PresetDefault)
		p.Metrics = metrics
		matters := 0.05
		p.Thresholds = []gate.Threshold{{Metric: metrics[0], MinChange: &matters}}
		return p
	}
	runs := make([]run.Run, history)
	for i := range runs {
		runs[i] = measured(uint64(i+1), 8)
		runs[i].ID = fmt.Sprint("accepted ", i)
	}
	for _, c := range []struct {
		metric string
		every  int
		found  bool
	}{
		{"work.inflations", 7, true},
		{"work.inflations", 8, false},
		{"frames.duration_ms", 7, false},
	} {
		p := policy(c.metric)
		var before []run.Summary
		for _, r := range runs {
			before = append(before, run.Summarize(r, p.Centre, catalogue))
		}
		now := measured(100, c.every)
		v := gatehistory.Check(p, catalogue, []gatehistory.Subject{{Run: now, References: before}})
		found := false
		for _, r := range v.Runs {
			for _, d := range r.Deviations {
				found = found || d.Metric == c.metric && d.Value > d.Upper
			}
		}
		if found != c.found {
			t.Errorf("%s of a build that inflates every %d frames stands out: %v, want %v (%s)", c.metric, c.every, found, c.found, v.Verdict)
		}
	}
}
