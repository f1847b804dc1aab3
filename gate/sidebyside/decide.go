package sidebyside

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/familywise"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
)

// worsening returns how much worse the shift makes the head build: see Worsening.
func (t *test) worsening() float64 { return t.asWorsening(t.Shift, t.Change) }

func (t *test) asWorsening(shift, change float64) float64 {
	return gate.Worsening(t.metric, t.Base, shift, change)
}

// worstCase returns the worse end of the interval, as a worsening. The test must have an interval.
func (t *test) worstCase() float64 {
	return max(t.asWorsening(*t.ShiftLow, *t.ChangeLow), t.asWorsening(*t.ShiftHigh, *t.ChangeHigh))
}

// sides returns the one-sided chances of the test.
func (t *test) sides() familywise.Tails {
	if t.metric.Direction == metric.HigherIsBetter {
		return familywise.Tails{Worse: t.ranks.Less, Better: t.ranks.Greater}
	}
	return familywise.Tails{Worse: t.ranks.Greater, Better: t.ranks.Less}
}

// correct corrects for the number of tests over all scenarios: whole runs and events have half of
// the false alarms each, and of that each context alone and all together half again.
func (c *comparing) correct() {
	families := map[[2]bool][]*test{} // by whether it is an event's, and of one context
	var events, wholes, several bool
	for _, s := range c.scenarios {
		for _, t := range s.tests {
			fine := t.cell.Event != ""
			families[[2]bool{fine, t.alone}] = append(families[[2]bool{fine, t.alone}], t)
			events, wholes, several = events || fine, wholes || !fine, several || t.alone
		}
	}
	share := familywise.Share(events && wholes, several)
	for _, tests := range families {
		correctTests(tests, share, c.policy.Alpha)
		for _, t := range tests {
			decide(c.policy, t)
		}
	}
}

// correctTests corrects tests that may use a share of the false alarms, separately for the worse
// and the better side. Tests that could not have been significant whatever the builds did, such as
// of ANRs where there was none, are not counted (Tarone 1990).
func correctTests(all []*test, share float64, alpha float64) {
	var tests []*test
	for _, t := range all {
		t.number = 1 / share
		if t.ranks.Least <= alpha*share {
			tests = append(tests, t)
		}
	}
	sides := make([]familywise.Tails, len(tests))
	for i, t := range tests {
		t.number = float64(len(tests)) / share
		sides[i] = t.sides()
	}
	for i, corrected := range familywise.Correct(sides, share) {
		tests[i].P = corrected.On(tests[i].worse())
	}
}

// worse reports whether the test lies on the worse side.
func (t *test) worse() bool {
	s := t.sides()
	return s.Worse < s.Better
}

// suspectLevels times Alpha is the largest p of a doubt. It is smaller than for Check: more rounds
// settle a doubt here, and they cost more than comparing with a history.
const suspectLevels = 2

// decide sets the direction of the test.
func decide(p gate.Policy, t *test) {
	size := math.Abs(t.worsening())
	matters := size >= t.minChange && (t.worsening() > 0) == t.worse() && math.Abs(t.Shift) >= (1-1e-9)*t.metric.Resolution
	sure := matters && size >= t.surely && t.P <= p.Alpha
	switch {
	case t.Limit != nil:
		t.Direction = gate.ToRegression
	case sure && t.worse():
		t.Direction = gate.ToRegression
	case sure:
		t.Direction = gate.ToImprovement
	case matters && t.worse() && t.P <= suspectLevels*p.Alpha,
		matters && t.worse() && t.worsening() >= gate.SuspectChange && t.powerless(p) && t.PRaw <= t.ranks.Least:
		t.Direction = gate.Suspect
		if t.P > p.Alpha { // otherwise the number of tests is irrelevant
			t.enough = enough(p, t)
		}
	}
}

// powerless reports that the test could not have proven anything with these values, as many of them
// are equal or there are too few.
func (t *test) powerless(p gate.Policy) bool { return t.ranks.Least*t.number > p.Alpha }

// tooFew reports that so few values could not have proven anything, however far apart the builds
// were. Twelve rounds that are all equal could have.
func (t *test) tooFew(p gate.Policy) bool { return t.leastApart*t.number > p.Alpha }

// mostUnits limits the advice to measure more.
const mostUnits = 200

// enough estimates how many units of each build in each context would settle a deviation of this
// size; 0 where mostUnits would not. The score of a rank test grows with the root of the number.
func enough(p gate.Policy, t *test) int {
	return t.unitsFor(t.PRaw, p.Alpha/t.number)
}

// unitsFor estimates how many units of each build in each context would bring a chance p to the
// level.
func (t *test) unitsFor(p, level float64) int {
	need := distuv.UnitNormal.Quantile(1 - level)
	have := distuv.UnitNormal.Quantile(1 - math.Max(p, 1e-12))
	if !(have > 0) {
		return 0
	}
	for n := t.perBuild; n <= mostUnits; n++ {
		if leastOf(n*t.contexts, t.paired) <= level && have*math.Sqrt(float64(n)/float64(t.perBuild)) >= need {
			return n
		}
	}
	return 0
}

// leastOf returns the smallest chance that a test of n units of each build can reach.
func leastOf(n int, paired bool) float64 {
	if paired {
		return math.Exp2(-float64(n))
	}
	return oneChoice(n, n)
}

// oneChoice returns the chance of one way to choose n of m + n.
func oneChoice(m, n int) float64 {
	a, _ := math.Lgamma(float64(m + 1))
	b, _ := math.Lgamma(float64(n + 1))
	all, _ := math.Lgamma(float64(m + n + 1))
	return math.Exp(a + b - all)
}

// leastApart returns the smallest chance that the rank test of so many values can reach where no
// two of them are equal.
func leastApart(strata []stat.Pair, paired bool) float64 {
	least := 1.0
	for _, p := range strata {
		if paired {
			least *= math.Exp2(-float64(len(p.X)))
		} else {
			least *= oneChoice(len(p.X), len(p.Y))
		}
	}
	return least
}
