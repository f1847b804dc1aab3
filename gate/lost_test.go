package gate

import "testing"

// After a loss only a regression stands, as the lost part can't take it back.
func TestLossIsNoSuccess(t *testing.T) {
	for rest, want := range map[Outcome]Outcome{Pass: Invalid, Improvement: Invalid, Inconclusive: Invalid, Invalid: Invalid, Regression: Regression} {
		whole := Verdict{Verdict: rest}
		if v := whole.WithLoss(""); v.Verdict != rest || v.Lost != "" || v.Rest != "" || v.OutcomeOfRuns() != rest {
			t.Errorf("%s, and nothing lost: %+v", rest, v)
		}
		if v := whole.WithLoss("a phone is gone"); v.Verdict != want || v.Lost != "a phone is gone" || v.OutcomeOfRuns() != rest {
			t.Errorf("%s, and a phone lost: %s of %s, lost %q; want %s", rest, v.Verdict, v.OutcomeOfRuns(), v.Lost, want)
		}
	}
}
