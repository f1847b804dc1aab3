package rounds

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/screening"
)

// A pass in nine of ten cases takes n rounds where (t+1.2816)·√2·sd/√(0.955·n) is no more than the
// margin, and t is Student's of 0.5 % with the known degrees of freedom, at most 20, and n-1 more
// (tables). Where a repetition has 0.05 and 10 % are to be excluded, that is 0.0924 after ten
// rounds of one a turn (0.1037 after eight), 0.0850 after six of two (0.1046 after four) and 0.0854
// after four of three (0.1215 after two). With four degrees of freedom it is 0.0883 after twelve
// (0.0983), 0.0947 after six (0.1195) and 0.0773 after six (0.0999).
func TestSettling(t *testing.T) {
	margin := math.Log(1.1)
	long, none := gate.RoundDurations{SetUp: 1, Repetition: 0.1}, gate.RoundDurations{Repetition: 1}
	for name, c := range map[string]struct {
		sd, df, margin float64
		lasts          gate.RoundDurations
		minutes        float64
	}{
		"a set-up that takes long":         {0.05, 20, margin, long, 4 * (1.5 + 0.6)},
		"a set-up of no time":              {0.05, 20, margin, none, 10 * 2},
		"one as long as the other":         {0.05, 20, margin, gate.RoundDurations{SetUp: 1, Repetition: 1}, 4 * (1.5 + 6)},
		"much is worth no more":            {0.05, 500, margin, long, 4 * (1.5 + 0.6)},
		"little is known":                  {0.05, 4, margin, none, 12 * 2},
		"little is known, and long set-up": {0.05, 4, margin, long, 6 * (1.5 + 0.4)},
		"noise of next to nothing":         {0.001, 20, margin, gate.RoundDurations{SetUp: 1, Repetition: 1}, 2 * (1.5 + 2)},
	} {
		within := screening.Within{Squares: c.sd * c.sd * c.df, DF: c.df}
		about(t, name, Settling(within, c.margin, c.lasts), c.minutes)
	}
	for name, c := range map[string]struct{ sd, margin float64 }{"noise of the largest kind": {10, margin}, "nothing to exclude": {0.05, 0}} {
		within := screening.Within{Squares: c.sd * c.sd * 20, DF: 20}
		if got := Settling(within, c.margin, none); got <= mostAdvised*none.Round(1) {
			t.Errorf("%s: settled in %g minutes", name, got)
		}
	}
}
