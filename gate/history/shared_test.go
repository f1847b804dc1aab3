package history

import (
	"fmt"
	"maps"
	"math"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/screening"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

const smoothRatio = "frames.smooth_ratio"

// night returns one session's run of a scenario: three repetitions that vary by 1 %, longer by a
// factor. Bad frames increase with its fourth power.
func night(scenario int, name string, day int, factor float64) run.Run {
	r := gatetest.Run(fmt.Sprint(name, " of ", scenario), nil)
	r.Scenario, r.Session, r.Context = fmt.Sprint("s", scenario), name, gatetest.Phone("a")
	r.Started = time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC)
	r.Iterations = nil
	for _, waver := range []float64{0.99, 1, 1.01} {
		by := factor * waver
		bad := 0.05 / 0.95 * math.Pow(by, 4)
		ms := 8 * float64(scenario+1) * by
		tap := run.Bucket{Name: "tap", Metrics: map[string]float64{perFrame: ms}}
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{perFrame: ms, smoothRatio: 1 / (1 + bad)}, Events: []run.Bucket{tap}})
	}
	return r
}

// lucks are what nights share: values with mean zero and a standard deviation of one.
var lucks = []float64{0.3, -1.1, 0.9, -0.2, 1.6, -0.7, 0.1, -1.5, 1.0, 0.4, -0.9, 0.1}

// own is a number's own effect that night: half a per cent, different for each scenario.
func own(scenario, day int) float64 { return 0.005 * math.Sin(float64(13*day+5*scenario)) }

// nightly returns a verdict on one session of so many scenarios, each longer by the given amount
// today, where nights differ by spread in all of their scenarios.
func nightly(t *testing.T, spread float64, now ...float64) gate.Verdict {
	t.Helper()
	p := gatetest.Policy(t, gate.PresetDefault)
	var subjects []Subject
	for s, by := range now {
		var history []run.Run
		for day, luck := range lucks {
			history = append(history, night(s, fmt.Sprint("night ", day), day, math.Exp(spread*luck+own(s, day))))
		}
		subjects = append(subjects, Subject{Run: night(s, "today", 99, 1+by), References: gatetest.Summaries(p, history...)})
	}
	return Check(p, metric.Default(), subjects)
}

// representatives returns the scenarios that keep what all share of a metric, with the number of
// scenarios that share it.
func representatives(v gate.Verdict, name string) map[int]int {
	out := map[int]int{}
	for i, r := range v.Runs {
		for _, c := range r.Comparisons {
			if c.Metric == name && c.Event == "" && c.Common > 0 {
				out[i] = c.Common
			}
		}
	}
	return out
}

func of(v gate.Verdict, scenario int, event, name string) gate.Comparison {
	for _, c := range v.Runs[scenario].Comparisons {
		if c.Event == event && c.Metric == name {
			return c
		}
	}
	return gate.Comparison{}
}

// A phone that is slower today in all scenarios by as much as nights differ need not be measured in
// all of them: one undecided scenario stands for all, and the others are cleared.
func TestPhoneSlowerTodayIsJudgedOnce(t *testing.T) {
	const slower = 0.04
	v := nightly(t, 0.04, slower, slower, slower, slower, slower, slower)
	for _, name := range []string{perFrame, smoothRatio} {
		who := representatives(v, name)
		if len(who) != 1 {
			t.Fatalf("%s: %v speak for all, want one", name, who)
		}
		for i := range v.Runs {
			c := of(v, i, "", name)
			if n, speaks := who[i]; speaks {
				if n != 6 || c.Screen != gate.Open || c.Direction != gate.None {
					t.Errorf("%s: the one that speaks for %d is %s, %s; want it asked, for six", name, n, c.Screen, c.Direction)
				}
				continue
			}
			if c.Screen != gate.Cleared {
				t.Errorf("%s of scenario %d is %q, missed with %g; want it cleared", name, i, c.Screen, gatetest.End(c.Missed))
			}
		}
	}
	if a, b := representatives(v, perFrame), representatives(v, smoothRatio); !maps.Equal(a, b) {
		t.Errorf("%v speak of times and %v of shares, want one scenario of both", a, b)
	}
	// Expected values are those of today, of UI events too.
	for i := range v.Runs {
		if _, speaks := representatives(v, perFrame)[i]; speaks {
			continue
		}
		for _, event := range []string{"", "tap"} {
			want := 8 * float64(i+1) * (1 + slower)
			if c := of(v, i, event, perFrame); math.Abs(c.Expected/want-1) > 0.01 || math.Abs(c.Change) > 0.01 {
				t.Errorf("scenario %d, %q: %g is expected, want about %g; changed by %g", i, event, c.Expected, want, c.Change)
			}
		}
	}
	// No scenario is cleared by itself.
	if alone := nightly(t, 0.04, slower); of(alone, 0, "", perFrame).Screen != gate.Open || len(representatives(alone, perFrame)) > 0 {
		t.Errorf("one scenario alone: %+v", of(alone, 0, "", perFrame))
	}
}

// Where nights hardly differ the history clears what all share, and no rounds are needed.
func TestQuietNightsAreCleared(t *testing.T) {
	v := nightly(t, 0.01, 0, 0.005, -0.005, 0.002)
	if v.Verdict != gate.Pass || len(representatives(v, perFrame)) > 0 {
		t.Errorf("%s: %s; %v speak", v.Verdict, v.Runs[0].Reason, representatives(v, perFrame))
	}
}

// A build that is slower everywhere is not excused as a bad day of the phone: one scenario shows it
// in full.
func TestSlowdownOfWholeApp(t *testing.T) {
	for name, c := range map[string]struct {
		spread, by float64
		want       gate.Direction
		verdict    gate.Outcome
	}{
		"quiet nights, by 12 %": {0.01, 0.12, gate.Suspect, gate.Inconclusive},
		"quiet nights, by 30 %": {0.01, 0.3, gate.ToRegression, gate.Regression},
		"loud nights, by 15 %":  {0.04, 0.15, gate.Suspect, gate.Inconclusive},
		"loud nights, by 6 %":   {0.04, 0.06, gate.None, gate.Inconclusive},
	} {
		v := nightly(t, c.spread, c.by, c.by, c.by, c.by)
		who := representatives(v, perFrame)
		if len(who) != 1 || v.Verdict != c.verdict {
			t.Errorf("%s: %v speak, %s; want one, %s", name, who, v.Verdict, c.verdict)
		}
		for i := range who {
			got := of(v, i, "", perFrame)
			if got.Direction != c.want || got.Screen != gate.Open || math.Abs(got.Change-c.by) > 0.02 {
				t.Errorf("%s: it is %s, %s, changed by %g; want %s", name, got.Direction, got.Screen, got.Change, c.want)
			}
		}
	}
	// A build that is faster everywhere leaves nothing undecided.
	if v := nightly(t, 0.01, -0.2, -0.2, -0.2, -0.2); v.Verdict != gate.Improvement && v.Verdict != gate.Pass || len(representatives(v, perFrame)) > 0 {
		t.Errorf("faster all over: %s, %v speak", v.Verdict, representatives(v, perFrame))
	}
}

// One scenario that is slower stands out, on a day on which all are slower too.
func TestOneScenarioStandsOut(t *testing.T) {
	for _, slower := range []int{0, 3} {
		now := []float64{0.03, 0.03, 0.03, 0.03, 0.03, 0.03}
		now[slower] = 1.03*1.1 - 1
		v := nightly(t, 0.04, now...)
		for i := range v.Runs {
			c := of(v, i, "", perFrame)
			if worse := c.Direction == gate.Suspect; worse != (i == slower) {
				t.Errorf("where scenario %d is 10 %% slower, %d is %s (%s, p %g)", slower, i, c.Direction, c.Screen, c.P)
			}
		}
	}
}

// Two scenarios have no middle, and runs without a session have nothing in common, nor do two runs
// of one scenario.
func TestNothingInCommon(t *testing.T) {
	if v := nightly(t, 0.04, 0.04, 0.04); len(representatives(v, perFrame)) > 0 || of(v, 0, "", perFrame).Screen != gate.Open || of(v, 1, "", perFrame).Screen != gate.Open {
		t.Errorf("two scenarios: %s", v.Runs[0].Reason)
	}
	p := gatetest.Policy(t, gate.PresetDefault)
	for name, change := range map[string]func(r, ref *run.Run, s int){
		"runs that name no session":   func(r, _ *run.Run, _ int) { r.Session = "" },
		"nights that name no session": func(_, ref *run.Run, _ int) { ref.Session = "" },
		"one scenario, thrice":        func(r, ref *run.Run, _ int) { r.Scenario, ref.Scenario = "s", "s" },
		"three devices":               func(r, ref *run.Run, s int) { r.Context = gatetest.Phone(fmt.Sprint(s)); ref.Context = r.Context },
		"nights of one scenario each": func(_, ref *run.Run, s int) { ref.Session += fmt.Sprint(" of ", s) },
		"three sessions":              func(r, _ *run.Run, s int) { r.Session += fmt.Sprint(s) },
	} {
		var subjects []Subject
		for s := range 3 {
			now := night(s, "today", 99, 1.04)
			var history []run.Run
			for day, luck := range lucks {
				ref := night(s, fmt.Sprint("night ", day), day, math.Exp(0.04*luck+own(s, day)))
				change(&now, &ref, s)
				history = append(history, ref)
			}
			subjects = append(subjects, Subject{Run: now, References: gatetest.Summaries(p, history...)})
		}
		v := Check(p, metric.Default(), subjects)
		for i := range v.Runs {
			if c := of(v, i, "", perFrame); c.Common != 0 || c.Screen != gate.Open || math.Abs(c.Change-0.04) > 0.03 {
				t.Errorf("%s: scenario %d is %q, for %d, changed by %g; want it judged by itself", name, i, c.Screen, c.Common, c.Change)
			}
		}
	}
}

// For four scenarios the shared part of the others is the middle of three, for each night that two
// of them have.
func TestMiddlesOfOthers(t *testing.T) {
	before := []map[string]float64{{"a": 1, "b": 10}, {"a": 2, "c": 7}, {"a": 4}, {"a": 9, "b": 20}}
	if got, want := middles(before, 0), map[string]float64{"a": 4}; !maps.Equal(got, want) {
		t.Errorf("but for the first %v, want %v", got, want)
	}
	if got, want := middles(before, 1), map[string]float64{"a": 4, "b": 15}; !maps.Equal(got, want) {
		t.Errorf("but for the second %v, want %v", got, want)
	}
	if got, want := middles(before, -1), map[string]float64{"a": 3, "b": 15}; !maps.Equal(got, want) {
		t.Errorf("of all %v, want %v", got, want)
	}
	if got := middleBut([]float64{1, 2, 4, 9}, 3); got != 2 {
		t.Errorf("the middle of 1, 2 and 4 is %g", got)
	}
}

// The scenario with the most undecided numbers represents the session, among equals the one whose
// repetitions vary least in the number that varies most.
func TestRepresentativeOf(t *testing.T) {
	a, b, c := &check{}, &check{}, &check{}
	number := func(missed, sd float64) *judgement {
		j := &judgement{}
		j.Missed, j.evidence.Within = &missed, screening.Within{Squares: sd * sd, DF: 1}
		return j
	}
	of := func(js ...*judgement) *shared { return &shared{of: js, checks: []*check{a, b, c}} }
	unknown := number(1, 0.01)
	unknown.Missed = nil
	for name, x := range map[string]struct {
		of   []*shared
		want *check
	}{
		"nobody":                  {nil, nil},
		"the calmest":             {[]*shared{of(number(1, 0.05), number(1, 0.02), number(1, 0.03))}, b},
		"the one that is open":    {[]*shared{of(number(0.01, 0.01), number(0.01, 0.02), number(0.5, 0.09))}, c},
		"just cleared is not":     {[]*shared{of(number(gate.MostMissed, 0.01), number(0.03, 0.02), number(gate.MostMissed, 0.01))}, b},
		"open twice":              {[]*shared{of(number(1, 0.05), number(1, 0.02), number(1, 0.03)), of(number(1, 0.05), number(0, 0.02), number(0, 0.03))}, a},
		"its loudest number":      {[]*shared{of(number(1, 0.01), number(1, 0.02), number(1, 0.03)), of(number(1, 0.09), number(1, 0.02), number(1, 0.03))}, b},
		"what is unknown is none": {[]*shared{of(unknown, number(1, 0.05), number(1, 0.06))}, b},
	} {
		if got := representativeOf(x.of); got != x.want {
			t.Errorf("%s: another speaks", name)
		}
	}
}

// Without a base build a number that no history clears is only shown along with one that it can
// clear, unless it represents a whole session: all scenarios that take 30 % longer would pass.
func TestSlowdownOfWholeAppWithoutBase(t *testing.T) {
	const loud, scenarios, start = 0.2, 4, "startup.ttid_ms"
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Budget = gate.Budget{Alone: true}
	with := func(r run.Run) run.Run {
		for i := range r.Iterations {
			r.Iterations[i].Metrics[start] = 400 + float64(i)
		}
		return r
	}
	var subjects []Subject
	for s := range scenarios {
		var history []run.Run
		for day, luck := range lucks {
			history = append(history, with(night(s, fmt.Sprint("night ", day), day, math.Exp(loud*luck+own(s, day)))))
		}
		subjects = append(subjects, Subject{Run: with(night(s, "today", 99, 1.3)), References: gatetest.Summaries(p, history...)})
	}
	v := Check(p, metric.Default(), subjects)
	who := representatives(v, perFrame)
	if v.Verdict == gate.Pass || len(who) != 1 {
		t.Errorf("%s, %v speak: %s", v.Verdict, who, v.Runs[0].Reason)
	}
	for i := range who {
		if got := of(v, i, "", perFrame); got.Shown || got.Screen != gate.Open {
			t.Errorf("it is shown %t and %q", got.Shown, got.Screen)
		}
	}
}

// Checks belong to one session where they name the same session on the same device, with a run each
// of three scenarios or more. A run that names no session belongs to none.
func TestSessionsOfChecks(t *testing.T) {
	one := func(session, context, scenario string) *check {
		return &check{run: run.Run{Session: session, Scenario: scenario}, context: context, judged: []*judgement{{}}}
	}
	unjudged := one("night", "a", "back")
	unjudged.judged = nil
	for name, c := range map[string]struct {
		checks []*check
		want   int // number of checks in the one session, 0 for none
	}{
		"three scenarios":         {[]*check{one("night", "a", "open"), one("night", "a", "scroll"), one("night", "a", "back")}, 3},
		"two scenarios":           {[]*check{one("night", "a", "open"), one("night", "a", "scroll")}, 0},
		"one that is not judged":  {[]*check{one("night", "a", "open"), one("night", "a", "scroll"), unjudged}, 0},
		"on two devices":          {[]*check{one("night", "a", "open"), one("night", "a", "scroll"), one("night", "b", "back")}, 0},
		"of two sessions":         {[]*check{one("night", "a", "open"), one("night", "a", "scroll"), one("day", "a", "back")}, 0},
		"of no session":           {[]*check{one("", "a", "open"), one("", "a", "scroll"), one("", "a", "back")}, 0},
		"a scenario twice":        {[]*check{one("night", "a", "open"), one("night", "a", "open"), one("night", "a", "back")}, 0},
		"a scenario twice of all": {[]*check{one("night", "a", "open"), one("night", "a", "open"), one("night", "a", "back"), one("night", "a", "scroll")}, 0},
	} {
		got := sessionsOf(c.checks)
		if c.want == 0 && len(got) > 0 || c.want > 0 && (len(got) != 1 || len(got[0]) != c.want) {
			t.Errorf("%s: %d sessions", name, len(got))
		}
	}
}

// The scenario that represents all is judged including what all share. Where that is not cleared,
// its chance to overlook a worsening is above the 2 % that clear, unless it looks worse, or the
// chance is unknown.
func TestRepresentativeIsNotCleared(t *testing.T) {
	for name, c := range map[string]struct {
		suspect bool
		missed  *float64
		want    float64 // at least, -1 for none
		most    float64
	}{
		"too small a chance": {false, new(0.001), 0.02 + 1e-18, 0.0201}, "a large chance": {false, new(0.3), 0.3, 0.3}, "it looks worse": {true, new(0.001), 0.001, 0.001}, "no chance known": {false, nil, -1, -1},
	} {
		speaker, other := &check{}, &check{}
		own, silent := &judgement{}, &judgement{}
		with := &judgement{Comparison: gate.Comparison{Value: 7, Missed: c.missed}}
		s := &shared{of: []*judgement{silent, own}, checks: []*check{other, speaker}, with: []*judgement{{Comparison: gate.Comparison{Value: 9}}, with}, suspect: c.suspect}
		s.judgeRepresentative(speaker)
		if own.Value != 7 || own.Common != 2 || silent.Value != 0 {
			t.Errorf("%s: judged is %+v, and of the other scenario %+v", name, own.Comparison, silent.Comparison)
		}
		if missed := own.Missed; (missed == nil) != (c.want < 0) || missed != nil && (*missed < c.want || *missed > c.most || !c.suspect && *missed <= gate.MostMissed) {
			t.Errorf("%s: the chance is %v", name, missed)
		}
	}
}
