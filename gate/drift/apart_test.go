package drift

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Nights of joules by rails, then two by the battery at half of it: no drift, and too few nights to
// detect one of the new source.
func TestJoulesDriftWithinSource(t *testing.T) {
	var before []run.Run
	for i, r := range gatetest.HungryRuns(9, "rails", 8, 40) {
		r.Started = time.Date(2026, 1, 1+i, 3, 0, 0, 0, time.UTC)
		before = append(before, r)
	}
	last := gatetest.Hungry("last", "battery", 8, 20)
	last.Started = time.Date(2026, 1, 10, 3, 0, 0, 0, time.UTC)
	now := gatetest.Hungry("now", "battery", 8, 20)
	now.Started = time.Date(2026, 1, 11, 3, 0, 0, 0, time.UTC)
	lines := Of(gatetest.Policy(t, gate.PresetDefault), metric.Default(), gatetest.Runs(now), gatetest.Runs(last), append(before, last))
	at := slices.IndexFunc(lines, func(l Line) bool { return l.Metric == "energy.total_j" })
	if at < 0 || math.Abs(lines[at].Now-20) > 1e-9 || lines[at].SinceLast == nil || lines[at].SinceAll.Runs != 1 || math.Abs(lines[at].SinceAll.Change) > 1e-9 || lines[at].Creep != nil {
		t.Errorf("%+v, want no change from the one run of its source", lines)
	}
	frames := slices.IndexFunc(lines, func(l Line) bool { return l.Metric == "frames.duration_ms" })
	if lines[frames].SinceAll.Runs != 10 {
		t.Errorf("the frames are compared with %d runs, want all 10", lines[frames].SinceAll.Runs)
	}
}

// Nights of frames by gfxinfo, then the first by the timeline, which reports them a third shorter:
// that is no change of the app.
func TestFramesDriftWithinKind(t *testing.T) {
	at := func(night int, by string, ms float64) run.Run {
		r := gatetest.Timed(by, map[string]string{"model": "a", metric.FramesBy: by}, ms)
		r.ID, r.Started = fmt.Sprint(by, night), time.Date(2026, 1, 1+night, 3, 0, 0, 0, time.UTC)
		return r
	}
	var before []run.Run
	for night := range 9 {
		before = append(before, at(night, "gfxinfo", 12+0.1*float64(night%2)))
	}
	lines := Of(gatetest.Policy(t, gate.PresetDefault), metric.Default(), gatetest.Runs(at(9, "timeline", 8)), before[8:], before)
	if len(lines) != 1 || lines[0].SinceLast != nil || lines[0].SinceAll != nil || lines[0].Direction != gate.None {
		t.Errorf("%+v, want nothing that it is compared with", lines)
	}
}
