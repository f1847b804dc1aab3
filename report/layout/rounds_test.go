package layout

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// beside returns a comparison that rounds of both builds settled, or left undecided: the head takes
// this much more, ± half as much.
func beside(c gate.Comparison, change float64, rounds int, says gate.RoundsOutcome) gate.Comparison {
	x := gate.RoundsComparison{Rounds: rounds, Base: 100, Head: 100 * (1 + change), Change: change, Shift: 100 * change, P: 0.0016, Outcome: says}
	for i := range rounds {
		x.Values = append(x.Values, [2]float64{100, 100*(1+change) + 10*math.Sin(float64(i))})
	}
	spread := max(change/4, 0.02)
	x.ChangeLow, x.ChangeHigh = new(change-spread), new(change+spread)
	x.ShiftLow, x.ShiftHigh = new(100*(change-spread)), new(100*(change+spread))
	c.Screen, c.Rounds = gate.Open, &x
	switch says {
	case gate.RoundsWorse:
		c.Direction = gate.ToRegression
	case gate.RoundsUndecided:
		c.Direction, c.Low, c.High, c.P = gate.None, nil, nil, 1
	}
	return c
}

// cleared returns a comparison that the history cleared.
func cleared(name string, value float64) gate.Comparison {
	c := compared("", name, 100, 4, value, gate.None)
	c.Screen, c.Missed, c.Detectable = gate.Cleared, new(0.004), 0.08
	return c
}

// settled returns a check of two phones, one of which was measured alternately too.
func settled(outcome gate.Outcome, stopped gate.Stopped, measured int, open gate.Comparison) Input {
	first := runVerdict("U1", outcome, upgraded[0], open, cleared("cpu.time_ms", 101))
	first.Repetitions, first.Reason = 5, "as the rounds say"
	first.Rounds = &gate.RoundsMeasured{Measured: measured, Most: 40, Stopped: stopped, Repetitions: 2 * measured}
	second := runVerdict("U2", gate.Pass, upgraded[1], cleared("frames.duration_ms", 99), cleared("cpu.time_ms", 100))
	second.Repetitions = 5
	v := gate.Verdict{Format: gate.Format, Verdict: outcome, Preset: "default", Level: 0.99, Runs: []gate.RunVerdict{first, second}}
	return Input{Verdict: v}
}

const ms = "frames.duration_ms"

func commentOf(t *testing.T, in Input) string {
	t.Helper()
	return strings.ReplaceAll(markdownOf(t, in, 0), wording.NBSP, " ")
}

func lacks(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("it lacks %q:\n%s", w, got)
		}
	}
}

// A build that is worse: the numbers are those of the rounds, not of the session before.
func TestCommentOnWorseRounds(t *testing.T) {
	open := beside(compared("", ms, 90, 4, 107, gate.None), 0.104, 16, gate.RoundsWorse)
	lacks(t, commentOf(t, settled(gate.Regression, gate.StoppedSettled, 16, open)),
		"### ❌ Regression: in open-message, the time per frame is 10 % higher on Google Nexus 9 with Android 5.0.0 (1 of 2 runs); 99 % interval +7.8…+13 %, after 16 rounds of each build\n",
		"- **Measured:** 5 repetitions in each of 2 runs. 40 accepted runs cleared 3 of 4 comparisons. 16 of at most 40 rounds of both builds alternately on Google Nexus 9 (Android 5.0.0), 32 repetitions, stopped early as the answer was clear.\n",
		"| whole run: time per frame | +10 % | 100.00 ms | 110.40 ms | +7.8…\u2060+13 % | 1 of 2 | **worse** |\n")
}

// An unchanged build: what the history can't clear, the rounds exclude.
func TestCommentOnExcludedWorsening(t *testing.T) {
	open := beside(compared("", ms, 90, 4, 97, gate.None), 0.01, 40, gate.RoundsExcluded)
	got := commentOf(t, settled(gate.Pass, gate.StoppedSettled, 40, open))
	lacks(t, got, "### ✅ Pass: nothing got worse in 4 comparisons of 2 runs with 40 accepted runs\n",
		"- **Would have seen:** in 9 of 10 builds: CPU time worse by 8 %\n", "- **Excluded:** time per frame worse by more than 3 %\n",
		"80 repetitions.\n")
	if strings.Contains(got, "Undecided") {
		t.Errorf("all is settled:\n%s", got)
	}
	// For a ratio it is points: 97.5 % where the base has 99 % are 1.5, and not 1.515 %.
	ratio := beside(compared("", "frames.smooth_ratio", 0.99, 0.01, 0.985, gate.None), -0.01, 40, gate.RoundsExcluded)
	ratio.Rounds.Base, ratio.Rounds.ShiftLow, ratio.Rounds.ShiftHigh = 0.99, new(-0.015), new(0.002)
	lacks(t, commentOf(t, settled(gate.Pass, gate.StoppedSettled, 40, ratio)), "- **Excluded:** smooth ratio worse by more than 1.5 points\n")
}

// An ANR that no accepted run had is in the headline, whatever the verdict: from the new run alone,
// and from rounds where the base build had none. One that the base has too is not new.
func TestNewKindOfANRIsInHeadline(t *testing.T) {
	none := compared("", "anr.count", 0, 0, 0, gate.None)
	seen, everywhere := none, none
	seen.Value = 0.1
	everywhere.Rounds = &gate.RoundsComparison{Rounds: 8, Base: 0.1, Head: 0.1, Outcome: gate.RoundsExcluded}
	inRounds := none
	inRounds.Rounds = &gate.RoundsComparison{Rounds: 8, Base: 0, Head: 0.02, Outcome: gate.RoundsExcluded}
	const new = "; new: ANRs in open-message"
	for name, c := range map[string]struct {
		anrs gate.Comparison
		says bool
	}{"none": {none, false}, "one in ten": {seen, true}, "in rounds": {inRounds, true}, "in rounds of both": {everywhere, false}} {
		for _, outcome := range []gate.Outcome{gate.Pass, gate.Inconclusive} {
			heading, _, _ := strings.Cut(commentOf(t, settled(outcome, gate.StoppedSettled, 8, c.anrs)), "\n")
			if strings.HasSuffix(heading, new) != c.says {
				t.Errorf("%s, %s: %q, want it to end with %q: %t", name, outcome, heading, new, c.says)
			}
		}
	}
}

// What the rounds left undecided is shown with its numbers, and what would settle it.
func TestCommentOnUndecidedRounds(t *testing.T) {
	open := beside(compared("", ms, 90, 4, 97, gate.None), 0.03, 40, gate.RoundsUndecided)
	in := settled(gate.Inconclusive, gate.StoppedBudget, 40, open)
	in.Verdict.Runs[0].Hint = "allow more rounds"
	lacks(t, commentOf(t, in), "- **What would settle it:** allow more rounds", "then the budget was spent",
		"<summary>Undecided: 1 comparison</summary>\n", "| whole run: time per frame | +3 % | 100.00 ms | 103.00 ms | +1…\u2060+5 % | 1 of 2 | undecided after 40 rounds |\n")
}

// The first run of a project has nothing to be compared with, and shows its measurements.
func TestFirstRunShowsItsNumbers(t *testing.T) {
	c := gate.Comparison{Metric: ms, Direction: gate.None, Value: 11.25, P: 1}
	r := runVerdict("U1", gate.Inconclusive, upgraded[0], c)
	r.Reference, r.ReferenceTotal, r.Repetitions, r.Reason = nil, 0, 5, "there is no accepted run to compare with"
	in := Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Inconclusive, Preset: "default", Runs: []gate.RunVerdict{r}}}
	lacks(t, textOf(t, in, document.Options{Width: 100, Verbose: true}), "Measured              5 repetitions.", "whole run: time per frame", "11.25 ms", "no accepted run")
}

// The reason why a comparison is undecided, for a table cell.
func TestOpenBecause(t *testing.T) {
	for want, c := range map[string]gate.Comparison{
		"no accepted run":                  {},
		"too few accepted runs":            {N: 3},
		"none in the accepted runs":        {N: 3, Missed: new(0.001), Value: 1},
		"24 % risk of missing a worsening": {N: 9, Missed: new(0.24)},
		"undecided after 1 round":          {N: 9, Missed: new(0.24), Rounds: &gate.RoundsComparison{Rounds: 1}},
	} {
		if got := strings.ReplaceAll(openBecause(c), wording.NBSP, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := openBecause(gate.Comparison{N: 3, Missed: new(0.001), Q3: 1, Value: 1}); got != "too few accepted runs" {
		t.Errorf("a history that is too short, and would clear it: %q", got)
	}
	for open, c := range map[bool][]gate.Comparison{
		true:  {{Screen: gate.Open}, {Screen: gate.Open, Rounds: &gate.RoundsComparison{Outcome: gate.RoundsUndecided}}},
		false: {{}, {Screen: gate.Cleared}, {Screen: gate.Open, Direction: gate.Suspect}, {Screen: gate.Open, Rounds: &gate.RoundsComparison{Outcome: gate.RoundsExcluded}}, {Screen: gate.Open, Limit: new(1.0)}},
	} {
		for i, c := range c {
			c.Direction = gate.Direction(strings.TrimPrefix(string(c.Direction), ""))
			if c.Direction == "" {
				c.Direction = gate.None
			}
			if got := isOpen(c); got != open {
				t.Errorf("%d: open is %t: %+v", i, got, c)
			}
		}
	}
}

// The page draws the rounds: each one a dot, with the estimate and its interval in words.
func TestPageDrawsRounds(t *testing.T) {
	open := beside(compared("", ms, 90, 4, 107, gate.None), 0.104, 16, gate.RoundsWorse)
	var b bytes.Buffer
	if err := asHTML(&b, Verdict(settled(gate.Regression, gate.StoppedSettled, 16, open))); err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(b.String(), wording.NBSP, " ")
	lacks(t, got, "Base and head, round by round", "whole run: time per frame on Google Nexus 9 (Android 5.0.0)", "16 rounds, of which the head build is worse in", "Estimate +10 %, interval +7.8…+13 %.", "as the base build")
	if n := strings.Count(got, "<circle class=\"mark worse\""); n != 2*16 { // wide and narrow
		t.Errorf("%d dots, want 16 in each of two widths", n)
	}
	// For a metric that may be below zero there are no shares, and a hostile number is no dot.
	x := gate.RoundsComparison{Rounds: 2, Base: -8, Shift: 3, Outcome: gate.RoundsUndecided, Values: [][2]float64{{-8, -5}, {math.MaxFloat64, -math.MaxFloat64}}}
	signed := compared("", "frames.overrun_ms", -8, 1, -5, gate.None)
	signed.Screen, signed.Rounds = gate.Open, &x
	b.Reset()
	if err := asHTML(&b, Verdict(settled(gate.Inconclusive, gate.StoppedLost, 2, signed))); err != nil {
		t.Fatal(err)
	}
	lacks(t, strings.ReplaceAll(b.String(), wording.NBSP, " "), "+3.00 ms", "then they broke off")
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Error("a number that is none is drawn")
	}
}

// Comparisons that are only shown are counted separately from those that the history cleared,
// unless it screened them too; a single comparison has no "all".
func TestMeasuredCountsDecidingNumbers(t *testing.T) {
	shown := compared("tap", ms, 100, 4, 101, gate.None)
	shown.Shown = true
	asked := shown
	asked.Screen = gate.Cleared
	open := compared("back", ms, 100, 4, 101, gate.None)
	open.Screen = gate.Open
	for _, c := range []struct {
		of   []gate.Comparison
		want string
	}{
		{[]gate.Comparison{cleared(ms, 99)}, "40 accepted runs cleared 1 of 1 comparison."},
		{[]gate.Comparison{cleared(ms, 99), cleared("cpu.time_ms", 99)}, "40 accepted runs cleared all 2 comparisons."},
		{[]gate.Comparison{cleared(ms, 99), compared("", "cpu.time_ms", 100, 4, 101, gate.None)}, "40 accepted runs cleared 1 of 2 comparisons."},
		{[]gate.Comparison{cleared(ms, 99), open, shown}, "40 accepted runs cleared 1 of 2 comparisons. 1 more is shown and does not decide."},
		{[]gate.Comparison{asked, shown, shown}, "40 accepted runs cleared 1 of 1 comparison. 2 more are shown and do not decide."},
	} {
		in := Input{Verdict: gate.Verdict{Verdict: gate.Pass, Runs: []gate.RunVerdict{runVerdict("U1", gate.Pass, nil, c.of...)}}}
		if got := factOf(Verdict(in), "Measured"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The number of repetitions is reported once where it is equal, else from the fewest to the most,
// and not at all where a run lacks it.
func TestRepetitionsInWords(t *testing.T) {
	for want, repetitions := range map[string][]int{
		"": {5, 0}, "5 repetitions": {5}, "5 repetitions in each of 2 runs": {5, 5}, "3 to 7 repetitions in each of 3 runs": {5, 7, 3},
	} {
		var v gate.Verdict
		for _, n := range repetitions {
			v.Runs = append(v.Runs, gate.RunVerdict{Repetitions: n})
		}
		if got := repeated(v); got != want {
			t.Errorf("%v: %q, want %q", repetitions, got, want)
		}
	}
}

// How much worse a number may be at most is reported where the rounds excluded more, as a share of
// the base build's value: not where that is zero or may be below it, nor where their interval has
// no such end.
func TestExcludedInWords(t *testing.T) {
	const told = "time per frame worse by more than 3 %"
	half := beside(compared("", ms, 90, 4, 97, gate.None), 0.01, 40, gate.RoundsExcluded)
	half.Rounds.ChangeHigh = nil
	nothing := beside(compared("", ms, 90, 4, 97, gate.None), 0.01, 40, gate.RoundsExcluded)
	nothing.Rounds.Base = 0
	for name, c := range map[string]struct {
		of   gate.Comparison
		want string
	}{
		"excluded":             {beside(compared("", ms, 90, 4, 97, gate.None), 0.01, 40, gate.RoundsExcluded), told},
		"open":                 {beside(compared("", ms, 90, 4, 97, gate.None), 0.01, 40, gate.RoundsUndecided), ""},
		"of an event":          {beside(compared("tap", ms, 90, 4, 97, gate.None), 0.01, 40, gate.RoundsExcluded), ""},
		"of nothing":           {nothing, ""},
		"without an end":       {half, ""},
		"of what may be below": {beside(compared("", "frames.overrun_ms", 90, 4, 97, gate.None), 0.01, 40, gate.RoundsExcluded), ""},
	} {
		if got := strings.ReplaceAll(excluded(settled(gate.Pass, gate.StoppedSettled, 40, c.of)), wording.NBSP, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Twelve comparisons in rounds are drawn, worse ones first, those of the whole run before others that
// are no findings, and the rest are counted.
func TestRoundFigures(t *testing.T) {
	of := func(n int) *document.Gallery {
		event := beside(compared("tap", ms, 90, 4, 107, gate.None), 0.2, 8, gate.RoundsWorse)
		whole := beside(compared("", ms, 90, 4, 107, gate.None), 0.1, 8, gate.RoundsWorse)
		list := []gate.Comparison{beside(compared("back", ms, 90, 4, 97, gate.None), 0, 8, gate.RoundsUndecided), event, whole}
		for i := range n - 3 {
			list = append(list, beside(compared(fmt.Sprint("E", i), ms, 90, 4, 97, gate.None), 0, 8, gate.RoundsUndecided))
		}
		return roundsSection(Input{Verdict: gate.Verdict{Runs: []gate.RunVerdict{runVerdict("U1", gate.Regression, upgraded[0], list...)}}}, nil).Body.(*document.Gallery)
	}
	for n, rest := range map[int]string{
		12: "", 13: "And 1 more comparison of rounds; the JSON report has everything.", 14: "And 2 more comparisons of rounds; the JSON report has everything.",
	} {
		g := of(n)
		if len(g.Figures) != 12 || g.Rest != rest {
			t.Errorf("of %d comparisons %d are drawn, and it says %q, want 12 and %q", n, len(g.Figures), g.Rest, rest)
		}
		for i, want := range []string{"whole run: ", "tap: ", "back: "} {
			if !strings.HasPrefix(g.Figures[i].Caption, want) {
				t.Errorf("picture %d is %q, want that of %s", i, g.Figures[i].Caption, want)
			}
		}
	}
}

// A round's difference is a share of the base build's value in it, or the difference itself where
// that value is zero, and the interval is drawn where it has both ends: 5 of 4 is a quarter more,
// and 3 of 0 are 3.
func TestRoundFiguresShowShares(t *testing.T) {
	c := compared("", ms, 4, 1, 5, gate.None)
	for _, one := range []struct {
		metric    string
		base      float64
		low, high *float64
		want      []float64
		interval  bool
	}{
		{ms, 4, new(0.1), new(0.3), []float64{0.25, 3}, true},
		{ms, 4, nil, new(0.3), []float64{0.25, 3}, false},
		{ms, 4, new(0.1), nil, []float64{0.25, 3}, false},
		{ms, 0, nil, nil, []float64{1, 3}, false},
		{"frames.smooth_ratio", 0.9, nil, nil, []float64{1, 3}, false},
		{"frames.overrun_ms", 4, nil, nil, []float64{1, 3}, false},
	} {
		c.Metric, c.Rounds = one.metric, &gate.RoundsComparison{Rounds: 2, Base: one.base, ChangeLow: one.low, ChangeHigh: one.high, Values: [][2]float64{{4, 5}, {0, 3}}}
		got := (Input{}).rounds(gate.RunVerdict{}, c)
		if !slices.Equal(got.Differences, one.want) || (got.Interval != nil) != one.interval {
			t.Errorf("%s of %g: differences %v, want %v; interval %v", one.metric, one.base, got.Differences, one.want, got.Interval)
		}
	}
}

// With a single run there is no column for the number of runs.
func TestUndecidedCountsRuns(t *testing.T) {
	in := inconclusive()
	if table := openSection(in).Body.(*document.Table); !table.Columns[5].Idle || table.Columns[5].Title != "Runs" {
		t.Errorf("of one run the column is %+v, want that of runs, idle", table.Columns[5])
	}
	in.Verdict.Runs = append(in.Verdict.Runs, in.Verdict.Runs[0])
	if table := openSection(in).Body.(*document.Table); table.Columns[5].Idle {
		t.Error("of two runs the column of runs is idle")
	}
}
