package layout

import (
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/wording"
)

func TestFindingsGroupRunsAndFoldAfterEffects(t *testing.T) {
	all := findings(regression().Verdict, metric.Default())
	var got []string
	for _, f := range all {
		got = append(got, f.what()+" "+f.share())
	}
	want := []string{
		"E2: frames rendered 5 of 5 runs", "whole run: frames rendered 5 of 5 runs", "whole run: smooth ratio 5 of 5 runs",
		"whole run: time per frame 5 of 5 runs", "start: frames rendered 2 of 5 runs",
	}
	if !slices.Equal(got, want) {
		t.Errorf("findings\n%q, want\n%q", got, want)
	}
	if e2 := all[0]; len(e2.AfterEffects) != 1 || e2.AfterEffects[0].Event != "E3" {
		t.Errorf("the after-effects of E2 are %v, want E3", e2.AfterEffects)
	}
}

// The event that changed most comes first, whatever the whole run shows: half as much and twice as
// much are equally far, what few runs have counts for less, and what is new for most.
func TestFindingsBeginWithTheWorstEvent(t *testing.T) {
	of := func(value float64) func(event, metric string) gate.Comparison {
		return func(event, metric string) gate.Comparison {
			return compared(event, metric, 100, 1, value, gate.ToRegression)
		}
	}
	a := runVerdict("A", gate.Regression, nil, of(141)("", ms), of(176)("tap", ms), of(246)("scroll", ms))
	b := runVerdict("B", gate.Regression, nil, of(141)("", ms), of(50)("back", "frames.count"), of(176)("tap", ms))
	a.Comparisons = append(a.Comparisons, gate.Comparison{Event: "back", Metric: "frames.count"})
	b.Comparisons = append(b.Comparisons, gate.Comparison{Event: "scroll", Metric: ms})
	place := func(v gate.Verdict) (out []string) {
		for _, f := range findings(v, metric.Default()) {
			out = append(out, f.Event)
		}
		return out
	}
	if got, want := place(gate.Verdict{Runs: []gate.RunVerdict{a, b}}), []string{"tap", "scroll", "back", ""}; !slices.Equal(got, want) {
		t.Errorf("the events are %q, want %q: +76 %% in both, +146 %% in one, half in one, +41 %% in both", got, want)
	}
	b.Deviations = append(b.Deviations, compared("open", "anr.count", 0, 0, 1, gate.ToRegression))
	if got := place(gate.Verdict{Runs: []gate.RunVerdict{a, b}}); got[0] != "open" {
		t.Errorf("the events are %q, want the new ANR first", got)
	}
}

// An after-effect whose cause is not flagged is still shown.
func TestFindingsKeepAfterEffectWithoutCause(t *testing.T) {
	c := compared("E3", "frames.count", 100, 10, 50, gate.ToRegression)
	c.AfterEffectOf = "E2"
	v := gate.Verdict{Runs: []gate.RunVerdict{runVerdict("R", gate.Regression, nil, c)}}
	if all := findings(v, metric.Default()); len(all) != 1 || all[0].status() != "after-effect of E2" {
		t.Errorf("findings %v, want the after-effect", all)
	}
}

func TestFindingsNameScenarios(t *testing.T) {
	a := runVerdict("A", gate.Regression, nil, compared("E1", "frames.count", 100, 10, 50, gate.ToRegression))
	b := runVerdict("B", gate.Regression, nil, compared("", "frames.count", 100, 10, 60, gate.ToRegression))
	b.Scenario = "scroll"
	var got []string
	for _, f := range findings(gate.Verdict{Runs: []gate.RunVerdict{a, b}}, metric.Default()) {
		got = append(got, f.what())
	}
	slices.Sort(got)
	if want := []string{"open-message / E1: frames rendered", "scroll: frames rendered"}; !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
}

// The row of several runs is one of them, so that its numbers agree.
func TestMiddleIsOneRun(t *testing.T) {
	f := finding{Hits: []hit{
		{nil, gate.Comparison{Expected: 10, Value: 30, Change: 2, P: 0.01}},
		{nil, gate.Comparison{Expected: 20, Value: 22, Change: 0.1, P: 0.04}},
		{nil, gate.Comparison{Expected: 40, Value: 60, Change: 0.5, P: 0.001}},
		{nil, gate.Comparison{Expected: 50, Value: 90, Change: 0.8, P: 0.001}},
	}}
	c := f.middle()
	if c.Expected != 40 || c.Value != 60 || c.Change != 0.5 {
		t.Errorf("the middle of changes 10, 50, 80 and 200 %% is %+v, want the run with 50 %%", c)
	}
	if c.P != 0.04 {
		t.Errorf("p is %g, want the largest, 0.04", c.P)
	}
}

func TestShortKeepsOneRowPerEvent(t *testing.T) {
	place := func(event, metric string) finding {
		return finding{cell: cell{Event: event, MetricName: metric}, Direction: gate.ToRegression}
	}
	first, rest := short([]finding{place("", "a"), place("", "b"), place("E1", "a"), place("E1", "b"), place("E2", "b")})
	if len(first) != 4 || len(rest) != 1 || rest[0].MetricName != "b" || rest[0].Event != "E1" {
		t.Errorf("first %v, rest %v: want the second metric of E1 left for later", first, rest)
	}
}

func TestPatternsListContextsOnce(t *testing.T) {
	sdk := map[string]string{"sdk": "5.0.0"}
	rules := []gate.Rule{
		{If: map[string]string{"model": "S4"}, Then: "Outlier+", Support: 0.1, Confidence: 0.9, Lift: 3, Count: 9},
		{If: sdk, Then: "E2Outlier-", Support: 0.04, Confidence: 1, Lift: 12, Count: 2},
		{If: sdk, Then: "Outlier-", Support: 0.04, Confidence: 1, Lift: 9, Count: 2},
		{If: sdk, Then: "E5Outlier-", Support: 0.04, Confidence: 1, Lift: 9, Count: 2},
	}
	var got []string
	for _, p := range patterns(rules) {
		got = append(got, strings.ReplaceAll(p.sentence(), wording.NBSP, " "))
	}
	want := []string{
		"All 2 runs with sdk = 5.0.0 are worse, also after E2 and E5 (support 4 %, confidence 100 %, lift 9 to 12).",
		"9 of 10 runs with model = S4 are better (support 10 %, confidence 90 %, lift 3).",
	}
	if !slices.Equal(got, want) {
		t.Errorf("patterns\n%q, want\n%q", got, want)
	}
}

func TestSimilarHistoriesShareABox(t *testing.T) {
	near := compared("", "frames.count", 450, 16, 270, gate.ToRegression)
	nearly := near
	nearly.Q1, nearly.Lower = near.Q1+0.5, near.Lower+0.5
	other := compared("", "frames.count", 300, 16, 200, gate.ToRegression)
	f := finding{Hits: []hit{{&gate.RunVerdict{ID: "A"}, near}, {&gate.RunVerdict{ID: "B"}, nearly}, {&gate.RunVerdict{ID: "C"}, other}}}
	fig := f.history()
	if len(fig.Boxes) != 2 || len(fig.Boxes[0].Marks) != 2 || fig.Boxes[1].Marks[0].Label != "C" {
		t.Errorf("boxes %+v, want A and B below one and C below another", fig.Boxes)
	}
}

func TestComparisonsInWords(t *testing.T) {
	overrun, _ := metric.Default().Lookup("frames.overrun_ms")
	for got, want := range map[string]string{
		change(metric.Metric{}, gate.Comparison{N: 5, Expected: 8, Value: 144, Change: 17}): "×18",
		change(metric.Metric{}, gate.Comparison{N: 5, Expected: 0, Value: 3}):               "new",
		change(metric.Metric{}, gate.Comparison{N: 5, Expected: 0, Value: 0}):               "0 %",
		change(metric.Metric{}, gate.Comparison{N: 5, Expected: 8, Value: 0, Change: -1}):   "−100 %",
		change(metric.Metric{}, gate.Comparison{}):                                          "–",
		change(overrun, gate.Comparison{N: 5, Expected: -8, Value: -4}):                     "+4.00 ms",
		change(overrun, gate.Comparison{N: 5, Expected: 0, Value: -4}):                      "−4.00 ms",
		probability(gate.Comparison{P: 0.0004}):                                             "p < 0.001",
		probability(gate.Comparison{P: 1}):                                                  "",
		interval(metric.Metric{}, gate.Comparison{Low: new(-0.41), High: new(-0.35)}):       "−41…−35 %",
	} {
		if got := strings.ReplaceAll(got, wording.NBSP, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestContextsInWords(t *testing.T) {
	at := func(maker, model, sdk string) hit {
		return hit{&gate.RunVerdict{Context: map[string]string{"manufacturer": maker, "model": model, "sdk": sdk}}, gate.Comparison{}}
	}
	for want, hits := range map[string][]hit{
		"LG Nexus 5 with Android 5.0": {at("LG", "Nexus 5", "5.0")},
		"Android 9, 10 and 11":        {at("a", "b", "11"), at("c", "d", "9"), at("e", "f", "10")},
		"LG G2 with Android 6":        {at("LG", "G2", "6"), at("LG", "G2", "6"), at("", "", "6")},
		"4 versions of Android":       {at("a", "b", "1"), at("a", "b", "2"), at("a", "b", "3"), at("a", "b", "4")},
		"2 devices":                   {at("a", "b", ""), at("c", "d", "")},
		"samsung S3":                  {at("samsung", "samsung S3", "")},
		"":                            {at("", "", "")},
	} {
		if got := (finding{Hits: hits}).contexts(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A regression without an explanation shows how to get one; other verdicts don't.
func TestRegressionHintToExplain(t *testing.T) {
	in := Input{Verdict: gate.Verdict{Verdict: gate.Regression, Runs: []gate.RunVerdict{{ID: "a", Verdict: gate.Regression}}}, Why: "nothing explains open-list yet: apkgate why pr"}
	why := func() string {
		for _, f := range Verdict(in).Facts {
			if f.Label == "Why" {
				return f.Text
			}
		}
		return ""
	}
	if got := why(); got != in.Why {
		t.Errorf("it says %q, want %q", got, in.Why)
	}
	in.Verdict.Verdict, in.Verdict.Runs[0].Verdict = gate.Pass, gate.Pass
	if got := why(); got != "" {
		t.Errorf("a pass says %q", got)
	}
}

// Among findings with as many runs the whole run comes first, then the gravest in any of them.
func TestFindingsInOrder(t *testing.T) {
	of := func(event, metric string) gate.Comparison {
		return compared(event, metric, 100, 10, 200, gate.ToRegression)
	}
	order := func(runs ...[]gate.Comparison) string {
		var v gate.Verdict
		for _, cs := range runs {
			v.Runs = append(v.Runs, runVerdict("R", gate.Regression, nil, cs...))
		}
		var out []string
		for _, f := range findings(v, metric.Default()) {
			out = append(out, f.Event+"/"+f.MetricName)
		}
		return strings.Join(out, " ")
	}
	if got, want := order([]gate.Comparison{of("E1", ms), of("", ms)}), "/frames.duration_ms E1/frames.duration_ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	a, b, c := of("", "cpu.time_ms"), of("", ms), of("", "memory.pss_kb")
	if got, want := order([]gate.Comparison{c, b, a}, []gate.Comparison{a, b, c}), "/cpu.time_ms /memory.pss_kb /frames.duration_ms"; got != want {
		t.Errorf("%q, want %q: both others stand first in one of the runs", got, want)
	}
}

// The number of runs that would settle a suspect, and the number of runs behind p, are the largest
// of all runs.
func TestMiddleUsesMaxima(t *testing.T) {
	c := finding{Hits: []hit{{nil, gate.Comparison{Change: 0.1, Enough: 9, Together: 3}}, {nil, gate.Comparison{Change: 0.2, Enough: 6}}, {nil, gate.Comparison{Change: 0.3, Enough: 8, Together: 2}}}}.middle()
	if c.Change != 0.2 || c.Enough != 9 || c.Together != 3 {
		t.Errorf("%+v, want the change of 0.2 with 9 runs enough, and 3 together", c)
	}
}

// An interval with only one end, as a file may have, is not shown.
func TestIntervalsInWords(t *testing.T) {
	overrun, _ := metric.Default().Lookup("frames.overrun_ms")
	both := gate.Comparison{Low: new(0.1), High: new(0.2)}
	rounds := func(low, high *float64) gate.Comparison {
		c := both
		c.Expected, c.Rounds = -8, &gate.RoundsComparison{Rounds: 8, Base: -8, ShiftLow: low, ShiftHigh: high}
		return c
	}
	for _, c := range []struct {
		name string
		of   gate.Comparison
		want string
	}{
		{"both ends", both, "+10…+20 %"},
		{"the lower end", gate.Comparison{Low: new(0.1)}, "–"},
		{"the upper end", gate.Comparison{High: new(0.1)}, "–"},
		{"rounds", rounds(new(1.0), new(5.0)), "+1.00…+5.00 ms"},
		{"the lower end of rounds", rounds(new(1.0), nil), "–"},
		{"the upper end of rounds", rounds(nil, new(5.0)), "–"},
	} {
		if got := strings.ReplaceAll(interval(overrun, c.of), wording.NBSP, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Where the confidence of intervals is unknown it is not shown.
func TestEvidenceWithoutALevel(t *testing.T) {
	f := finding{Direction: gate.ToRegression, Hits: []hit{{nil, gate.Comparison{Low: new(0.1), High: new(0.2), P: 1}}}}
	for level, want := range map[float64]string{0: "interval +10…+20 %", 0.95: "95 % interval +10…+20 %", 1: "interval +10…+20 %"} {
		if got := strings.ReplaceAll(f.evidence(Input{Verdict: gate.Verdict{Level: level}}), wording.NBSP, " "); got != want {
			t.Errorf("level %g: %q, want %q", level, got, want)
		}
	}
}

// Counts are more or fewer, not higher or lower.
func TestHappeningOfCounts(t *testing.T) {
	for name, want := range map[string]string{
		"frames.janky": "open-message has 50 % more janky frames", "anr.count": "open-message has 50 % more ANRs",
		"cpu.time_ms": "in open-message, the CPU time is 50 % higher",
	} {
		m, _ := metric.Default().Lookup(name)
		f := finding{cell: cell{Scenario: "open-message", MetricName: name}, Metric: m, Hits: []hit{{nil, gate.Comparison{N: 9, Expected: 2, Value: 3, Change: 0.5}}}}
		if got := strings.ReplaceAll(f.happening(), wording.NBSP, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A device is named by what is known of it, a run without properties by its ID.
func TestDevicesInWords(t *testing.T) {
	for want, context := range map[string]map[string]string{
		"LG Nexus 5 (Android 5.0)": {"manufacturer": "LG", "model": "Nexus 5", "sdk": "5.0"},
		"LG Nexus 5":               {"manufacturer": "LG", "model": "Nexus 5"},
		"Android 5.0":              {"sdk": "5.0"},
		"run-1":                    {"network": "wifi"},
	} {
		if got := device(gate.RunVerdict{ID: "run-1", Context: context}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
