package gate

import "testing"

// TestOutcomeFails: a regression and what is invalid fail unless nothing does, and what is
// inconclusive where that was asked for. A policy that says nothing is that of regressions.
func TestOutcomeFails(t *testing.T) {
	for outcome, from := range map[Outcome][]FailOn{
		Pass: nil, Improvement: nil, Inconclusive: {FailInconclusive},
		Regression: {"", FailRegression, FailInconclusive, FailDrift}, Invalid: {"", FailRegression, FailInconclusive, FailDrift},
	} {
		want := map[FailOn]bool{}
		for _, one := range from {
			want[one] = true
		}
		for _, one := range append(FailOns(), "") {
			if got := outcome.Fails(one); got != want[one] {
				t.Errorf("%s fails from %q on: %t", outcome, one, got)
			}
		}
	}
}
