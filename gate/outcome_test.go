package gate

import "testing"

// A regression and an invalid run fail unless fail-on is never. An inconclusive run fails where
// that is configured. The zero policy fails on regressions.
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
