package trend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// at returns a run of a night on a phone, of so many ms per frame.
func at(night int, phone string, ms float64) Run {
	return Run{Package: "p", Scenario: "s", Summary: run.Summary{
		ID: fmt.Sprint(phone, night), Commit: fmt.Sprintf("%040x", night), Started: time.Date(2026, 1, 1+night, 3, 0, 0, 0, time.UTC),
		Context: gatetest.Phone(phone), Cells: run.CellsOf(map[run.Cell]float64{{Metric: "frames.duration_ms"}: ms}),
	}}
}

// only returns the only number of the only scenario.
func only(t *testing.T, runs []Run) (Scenario, Number) {
	t.Helper()
	got := Of(gatetest.Policy(t, gate.PresetDefault), metric.Default(), runs)
	if len(got) != 1 || len(got[0].Numbers) != 1 {
		t.Fatalf("%+v, want one number", got)
	}
	return got[0], got[0].Numbers[0]
}

// Twenty nights of 10 ms and twenty of 12 ms, 1 % apart by turns: one change of 20 % in the first
// night of the new level, with the reason that was given for it.
func TestStepByHand(t *testing.T) {
	var runs []Run
	for night := range 40 {
		ms := 10 * (1 + 0.01*float64(night%2))
		if night >= 20 {
			ms *= 1.2
		}
		r := at(night, "a", ms)
		if night == 21 {
			r.Decision = Decision{NewLevel: true, Note: "animations are wanted"}
		}
		runs = append(runs, r)
	}
	s, n := only(t, runs)
	if len(n.Fleet.Levels) != 2 || len(n.Fleet.Changes) != 1 || len(n.Devices) != 0 || n.Fleet.Device != -1 || len(s.Nights) != 40 {
		t.Fatalf("%+v", n)
	}
	c := n.Fleet.Changes[0]
	if c.Last != 19 || c.First != 20 || c.Direction != gate.ToRegression || c.Decision == nil || c.Decision.Note != "animations are wanted" {
		t.Errorf("%+v", c)
	}
	// The geometric mean of 10 and 10.1 is 10.04988.
	gatetest.About(t, "before", c.Before, math.Sqrt(10*10.1))
	gatetest.About(t, "after", c.After, 1.2*math.Sqrt(10*10.1))
	gatetest.About(t, "change", c.Change, 0.2)
	gatetest.About(t, "shift", c.Shift, 0.2*math.Sqrt(10*10.1))
}

// A phone that takes twice as long is missing in every second half: that is no improvement, and the
// fleet's value is that of a phone between the two, √(10·20).
func TestMissingPhoneIsNoChange(t *testing.T) {
	var runs []Run
	for night := range 40 {
		runs = append(runs, at(night, "a", 10))
		if night < 20 {
			runs = append(runs, at(night, "b", 20))
		}
	}
	s, n := only(t, runs)
	if len(n.Fleet.Changes) != 0 || len(n.Fleet.Levels) != 1 || len(n.Devices) != 2 || len(s.Devices) != 2 {
		t.Fatalf("%+v, want one level", n.Fleet)
	}
	for _, p := range n.Fleet.Points {
		gatetest.About(t, "fleet", p.Value, math.Sqrt(200))
	}
	if n.Devices[1].Device != 1 || len(n.Devices[1].Points) != 20 || n.Devices[1].Levels[0].To != 19 {
		t.Errorf("the second phone has %+v", n.Devices[1])
	}
	// Each got slower by a tenth: so did the fleet, though the mean of what was measured fell.
	for i := range runs {
		if night := runs[i].Started.YearDay() - 1; night >= 20 {
			runs[i] = at(night, "a", 11)
		}
	}
	if _, n := only(t, runs); len(n.Fleet.Changes) != 1 || math.Abs(n.Fleet.Changes[0].Change-0.1) > 1e-6 {
		t.Errorf("%+v, want one change of 10 %%", n.Fleet.Changes)
	}
}

// Legs of a matrix have sessions of their own, but a commit and a night in common. The same commit
// a day later is another night.
func TestNights(t *testing.T) {
	hour := func(h int, session, commit string) Run {
		r := at(0, "a", 10)
		r.ID, r.Session, r.Commit = fmt.Sprint(session, h), session, commit
		r.Started = r.Started.Add(time.Duration(h) * time.Hour)
		return r
	}
	s, _ := only(t, []Run{hour(0, "x", "c1"), hour(1, "y", "c1"), hour(30, "z", "c1"), hour(31, "", "c1"), hour(40, "", ""), hour(41, "", "")})
	var got []string
	for _, n := range s.Nights {
		got = append(got, strings.Join(n.Runs, " "))
	}
	if want := "x0 y1|z30 31|40|41"; strings.Join(got, "|") != want {
		t.Errorf("the nights are %s, want %s", strings.Join(got, "|"), want)
	}
}

// Only the newest nights count, and the runs of the others are counted.
func TestMostNights(t *testing.T) {
	var runs []Run
	for night := range MostNights + 7 {
		runs = append(runs, at(night, "a", 10))
	}
	s, n := only(t, runs)
	if s.LeftOut != 7 || s.Runs != MostNights+7 || len(s.Nights) != MostNights || s.Nights[0].Runs[0] != "a7" || len(n.Fleet.Points) != MostNights {
		t.Errorf("%d runs, %d left out, %d nights from %v on", s.Runs, s.LeftOut, len(s.Nights), s.Nights[0].Runs)
	}
}

// A creep of 1 % in two nights on a fleet has no change point, and the quarter's drift is reported.
func TestCreepHasNoStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	w := simulatedHistory(func(night int) float64 { return 0.005 * float64(max(0, night-30)) })
	w.n = 80
	_, n := only(t, w.runs(rng))
	last := n.Fleet.Levels[len(n.Fleet.Levels)-1]
	if len(n.Fleet.Changes) != 0 || !last.Moves() || last.End < 1.15*last.Start {
		t.Errorf("levels %+v, changes %+v; want a drift of about 25 %%", n.Fleet.Levels, n.Fleet.Changes)
	}
	if n.Drift == nil || !n.Drift.Creeps() {
		t.Errorf("the quarter's drift is %+v", n.Drift)
	}
}

// Values that no series should have, and few of them, harm nothing.
func TestOddValues(t *testing.T) {
	for name, ms := range map[string][]float64{
		"one": {5}, "zeros": {0, 0, 0, 0, 0, 0, 0}, "huge": {1e308, 1e308, 1e-300, 1e308, 1e308, 1e308, 1e-300}, "negative": {-1, -1, -1, -1, 5, 5, 5, 5},
	} {
		var runs []Run
		for night, x := range ms {
			runs = append(runs, at(night, "a", x))
		}
		_, n := only(t, runs)
		for _, p := range n.Fleet.Points {
			if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
				t.Errorf("%s: %+v", name, n.Fleet.Points)
			}
		}
	}
	if got := Of(gatetest.Policy(t, gate.PresetDefault), metric.Default(), nil); len(got) != 0 {
		t.Errorf("of no runs: %+v", got)
	}
}

// Pull requests have a value next to the accepted ones, the fleet's being that of a phone of the
// mean level, and change no level. What was measured before the first night, or on another phone,
// has none.
func TestJudgedBuildsAreNoPartOfALevel(t *testing.T) {
	t.Parallel()
	var runs []Run
	for night := range 30 {
		runs = append(runs, at(night, "a", 10), at(night, "b", 40))
	}
	quiet, _ := only(t, runs)
	judged := func(night int, phone string, ms float64, outcome gate.Outcome, ref string) Run {
		r := at(night, phone, ms)
		r.ID, r.Session, r.Ref, r.Outcome = "pull "+r.ID, ref+fmt.Sprint(night), ref, outcome
		r.Commit, r.Started = r.Session, r.Started.Add(15*time.Hour)
		return r
	}
	for night := 10; night < 30; night++ {
		runs = append(runs, judged(night, "a", 15, gate.Pass, "refs/pull/7/merge"), judged(night, "b", 60, gate.Regression, "refs/pull/7/merge"))
	}
	early := judged(0, "a", 11, gate.Pass, "refs/pull/1/merge")
	early.Started = early.Started.AddDate(0, 0, -1)
	s, n := only(t, append(runs, early, judged(12, "c", 15, gate.Pass, "refs/pull/8/merge")))
	if len(n.Fleet.Changes) != 0 || len(n.Fleet.Levels) != 1 || s.Runs != quiet.Runs || len(s.Nights) != 30 || len(s.Devices) != 2 {
		t.Fatalf("%d runs, %d nights, levels %+v: not those of the accepted runs alone", s.Runs, len(s.Nights), n.Fleet.Levels)
	}
	if len(s.Judged) != 21 || len(n.Fleet.Judged) != 20 || len(n.Devices[1].Judged) != 20 {
		t.Fatalf("%d builds, %d values of the fleet; want 21 and 20", len(s.Judged), len(n.Fleet.Judged))
	}
	first := s.Judged[0]
	if first.Outcome != gate.Regression || first.Night != 10 || first.Ref != "refs/pull/7/merge" || strings.Join(first.Runs, " ") != "pull a10 pull b10" {
		t.Errorf("%+v", first)
	}
	gatetest.About(t, "fleet", n.Fleet.Judged[0].Value, 1.5*math.Sqrt(10*40)) // half more on each phone
	gatetest.About(t, "the second phone", n.Devices[1].Judged[0].Value, 60)
}

// Only the newest builds that were not accepted are kept, and a history of nothing else is none.
func TestMostJudgedBuilds(t *testing.T) {
	t.Parallel()
	runs := []Run{at(0, "a", 10)}
	for k := range MostJudged + 5 {
		r := at(k+1, "a", 10)
		r.Outcome = gate.Pass
		runs = append(runs, r)
	}
	if s, n := only(t, runs); len(s.Judged) != MostJudged || s.Judged[0].Runs[0] != "a6" || len(n.Fleet.Judged) != MostJudged {
		t.Errorf("%d builds from %v on", len(s.Judged), s.Judged[0].Runs)
	}
	if got := Of(gatetest.Policy(t, gate.PresetDefault), metric.Default(), runs[1:]); len(got) != 0 {
		t.Errorf("of no accepted run: %d scenarios", len(got))
	}
}
