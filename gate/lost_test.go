package gate

import "testing"

// Where something was lost only a regression stands, as the rest can't take it back.
func TestWhatIsLostIsNoSuccess(t *testing.T) {
	for rest, want := range map[Outcome]Outcome{Pass: Invalid, Improvement: Invalid, Inconclusive: Invalid, Invalid: Invalid, Regression: Regression} {
		whole := Verdict{Verdict: rest}
		if v := whole.Lacking(""); v.Verdict != rest || v.Lost != "" || v.Rest != "" || v.OfRuns() != rest {
			t.Errorf("%s, and nothing lost: %+v", rest, v)
		}
		if v := whole.Lacking("a phone is gone"); v.Verdict != want || v.Lost != "a phone is gone" || v.OfRuns() != rest {
			t.Errorf("%s, and a phone lost: %s of %s, lost %q; want %s", rest, v.Verdict, v.OfRuns(), v.Lost, want)
		}
	}
}
