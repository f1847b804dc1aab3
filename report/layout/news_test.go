package layout

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// frozenRun returns a verdict on a run of ten repetitions, of which the first n have a frozen
// frame, where the history has none, with these other comparisons.
func frozenRun(n int, outcome gate.Outcome, others ...gate.Comparison) Input {
	frozen := gate.Comparison{Metric: "frames.frozen", Direction: gate.None, N: 40, Value: float64(n) / 10, P: 1}
	r := runVerdict("U1", outcome, upgraded[0], append(others, frozen)...)
	r.Reason = "Nothing deviates."
	measured := run.Run{ID: "U1", Scenario: "open-message", Context: upgraded[0]}
	for i := range 10 {
		metrics := map[string]float64{"frames.frozen": 0, "snr.count": 0}
		if i < n {
			metrics["frames.frozen"] = 1
		}
		measured.Iterations = append(measured.Iterations, run.Iteration{Metrics: metrics})
	}
	return Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: outcome, Level: 0.95, Runs: []gate.RunVerdict{r}}, Runs: []run.Run{measured}}
}

// Frozen frames that no accepted run had are in the headline, with the number of repetitions that
// have one, whatever the verdict, and not a second time where the headline is about them.
func TestFirstFrozenFramesAreNews(t *testing.T) {
	const want = "; new: frozen frames in open-message (10 of 10 repetitions)"
	for outcome, in := range map[gate.Outcome]Input{
		gate.Pass:         frozenRun(10, gate.Pass),
		gate.Inconclusive: frozenRun(10, gate.Inconclusive),
		gate.Regression:   frozenRun(10, gate.Regression, compared("tap", "frames.duration_ms", 9, 1.5, 40, gate.ToRegression)),
		gate.Improvement:  frozenRun(10, gate.Improvement, compared("tap", "frames.duration_ms", 9, 1.5, 5, gate.ToImprovement)),
	} {
		if s := newStory(in); !strings.HasSuffix(s.Lead, want) {
			t.Errorf("%s: the headline is %q, want it to end with %q", outcome, s.Lead, want)
		}
	}
	itself := frozenRun(10, gate.Regression)
	c := &itself.Verdict.Runs[0].Comparisons[0]
	c.Direction = gate.ToRegression
	itself.Verdict.Runs[0].Deviations = []gate.Comparison{*c}
	if s := newStory(itself); strings.Count(s.Lead, "frozen") != 1 {
		t.Errorf("a headline on frozen frames tells them twice: %q", s.Lead)
	}
	if s := newStory(frozenRun(0, gate.Pass)); strings.Contains(s.Lead, "new") {
		t.Errorf("nothing is new: %q", s.Lead)
	}
	known := frozenRun(10, gate.Pass)
	known.Verdict.Runs[0].Comparisons[0].Expected = 0.2
	if s := newStory(known); strings.Contains(s.Lead, "new") {
		t.Errorf("the history has frozen frames too: %q", s.Lead)
	}
}

// Where every frame of every accepted run was smooth, the first slow ones are new; where the
// history varies they are not.
func TestFirstSlowFramesAreNews(t *testing.T) {
	c := gate.Comparison{Metric: "frames.smooth_ratio", Direction: gate.None, N: 40, Expected: 1, Lower: 1, Value: 0.98, P: 1}
	in := frozenRun(0, gate.Pass, c)
	for i := range 4 {
		in.Runs[0].Iterations[i].Metrics["frames.slow"] = 2
	}
	if s := newStory(in); !strings.HasSuffix(s.Lead, "; new: slow frames in open-message (4 of 10 repetitions)") {
		t.Errorf("the headline is %q", s.Lead)
	}
	in.Verdict.Runs[0].Comparisons[0].Lower = 0.97
	if s := newStory(in); strings.Contains(s.Lead, "new") {
		t.Errorf("the history has slow frames too: %q", s.Lead)
	}
}

// An SNR is new, though it is not compared by default.
func TestSNRIsNews(t *testing.T) {
	in := frozenRun(0, gate.Pass)
	in.Runs[0].Iterations[3].Metrics["snr.count"] = 1
	if s := newStory(in); !strings.HasSuffix(s.Lead, "; new: times that Android did not respond in open-message (1 of 10 repetitions)") {
		t.Errorf("the headline is %q", s.Lead)
	}
}

// Fewer frames are a symptom where frames froze, and are listed with the causes; otherwise they are
// a doubt about the run and nothing more.
func TestFramesTakenByAFreeze(t *testing.T) {
	fact := func(in Input) string {
		for _, f := range newStory(in).Facts {
			if f.Label == "Fewer frames" {
				return f.Text
			}
		}
		return ""
	}
	in := frozenRun(10, gate.Regression, compared("tap", "frames.duration_ms", 9, 1.5, 40, gate.ToRegression))
	in.Verdict.Runs[0].Missing = gate.FewerThanHalf + " frames that each accepted run of this context has: 5 where the fewest were 72 (after tap)"
	if got := fact(in); got != "5 where the fewest were 72 (after tap); a frozen frame takes the time in which they would have been drawn" {
		t.Errorf("the fact is %q", got)
	}
	calm := frozenRun(0, gate.Inconclusive)
	calm.Verdict.Runs[0].Missing = in.Verdict.Runs[0].Missing
	if got := fact(calm); got != "" {
		t.Errorf("without a freeze the fact is %q", got)
	}
	other := frozenRun(10, gate.Inconclusive)
	other.Verdict.Runs[0].Missing = "the run has no energy.total_j"
	if got := fact(other); got != "" {
		t.Errorf("of a metric that is missing the fact is %q", got)
	}
}

// A rare event is new where neither accepted runs nor the base build of the rounds had one, and
// slow frames where all of theirs were smooth. Rounds that were not measured leave the decision to
// the history.
func TestIsNew(t *testing.T) {
	rounds := func(n int, base, head float64) *gate.RoundsComparison {
		return &gate.RoundsComparison{Rounds: n, Base: base, Head: head}
	}
	rare := gate.Comparison{N: 40, Value: 0.1}
	smooth := gate.Comparison{N: 40, Expected: 1, Lower: 1, Value: 0.98}
	wavers, alone, all := smooth, smooth, smooth
	wavers.Expected, alone.N, all.Value = 0.99, 0, 1
	with := func(c gate.Comparison, x *gate.RoundsComparison) gate.Comparison { c.Rounds = x; return c }
	for name, c := range map[string]struct{ got, want bool }{
		"an event":                        {isNew(rare), true},
		"an event that rounds have not":   {isNew(with(rare, rounds(8, 0, 0))), false},
		"an event without rounds":         {isNew(with(rare, rounds(0, 0, 0))), true},
		"slow frames":                     {isFirstSlow(smooth), true},
		"slow frames where some were":     {isFirstSlow(wavers), false},
		"slow frames, and no history":     {isFirstSlow(alone), false},
		"none":                            {isFirstSlow(all), false},
		"slow frames that rounds have":    {isFirstSlow(with(wavers, rounds(8, 1, 0.9))), true},
		"slow frames of both builds":      {isFirstSlow(with(smooth, rounds(8, 0.99, 0.9))), false},
		"none in rounds":                  {isFirstSlow(with(smooth, rounds(8, 1, 1))), false},
		"slow frames, and rounds of none": {isFirstSlow(with(smooth, rounds(0, 0.5, 0.5))), true},
	} {
		if c.got != c.want {
			t.Errorf("%s: new is %t", name, c.got)
		}
	}
}

// An SNR that is compared is new in the same way as other rare events.
func TestComparedSNRIsNews(t *testing.T) {
	for expected, news := range map[float64]bool{0: true, 0.5: false} {
		in := frozenRun(0, gate.Pass, gate.Comparison{Metric: "snr.count", Direction: gate.None, N: 40, Expected: expected, Value: 0.1, P: 1})
		in.Runs[0].Iterations[3].Metrics["snr.count"] = 1
		if s := newStory(in); strings.Contains(s.Lead, "new: ") != news {
			t.Errorf("where %g are expected: %q", expected, s.Lead)
		}
	}
}

// While the app or the system does not respond no frame is drawn; other new events don't explain
// missing frames.
func TestFramesTakenByANR(t *testing.T) {
	leaks, err := metric.Default().With(metric.Metric{Name: "user.leaks", Title: "leaks", Direction: metric.LowerIsBetter, Mean: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, by := range map[string]string{
		"anr.count": "none is drawn while the app does not respond", "snr.count": "none is drawn while the app does not respond", "user.leaks": "",
	} {
		in := frozenRun(0, gate.Inconclusive, gate.Comparison{Metric: name, Direction: gate.None, N: 40, Value: 0.1, P: 1})
		in.Catalogue = leaks
		in.Verdict.Runs[0].Missing = gate.FewerThanHalf + " frames that each accepted run of this context has: 5 where the fewest were 72"
		want := ""
		if by != "" {
			want = "5 where the fewest were 72; " + by
		}
		if got := takenByFreeze(in); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
