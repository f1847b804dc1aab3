package evaluation_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// The sizes of change in the table, those of the paper among them: 12.6 % and 94 %
// are what it measured for one code smell on two devices (EDATA, section 5.1.1).
var changes = []float64{0, 0.01, 0.02, 0.05, 0.126, 0.94}

// found counts the results of comparisons of two versions.
type found struct {
	detected int // the rank test says that the head takes more, p at most 0.05
	failed   int // and the gate fails it
	passed   int // the gate passes it: a worsening by a tenth is excluded
	trials   int
}

func (f found) String() string {
	return share(f.detected, f.trials) + " / " + share(f.failed, f.trials)
}

// pairOf makes two versions' runs, the head taking change more.
type pairOf func(rng *rand.Rand, n int, change float64) (base, head run.Run)

// paperLevel is the chance at which the paper calls two versions different.
const paperLevel = 0.05

// compared compares versions that differ by change, again and again.
func compared(t *testing.T, experiment string, pair pairOf, rounds int, change float64, times int) found {
	t.Helper()
	p, _ := gate.PolicyOf(gate.PresetDefault)
	p.Alpha = paperLevel
	f := found{trials: times}
	for trial := range times {
		base, head := pair(chance(experiment, trial), rounds, change)
		v := sidebyside.Compare(p, metric.Default(), []run.Run{base}, []run.Run{head})
		d := v.Scenarios[0].Comparisons[0]
		if d.P <= p.Alpha && d.Change > 0 {
			f.detected++
		}
		switch v.Verdict {
		case gate.Regression:
			f.failed++
		case gate.Pass, gate.Improvement:
			f.passed++
		}
	}
	return f
}

// The paper's first research question, simulated: is the version found that takes more energy, and
// are equal versions left alone?
func TestEnergyOfTwoVersions(t *testing.T) {
	times := trials(100, 2000)
	t.Logf("found, p at most 0.05 / fails, in %d trials", times)
	for _, rounds := range []int{20, 30} {
		t.Logf("| %d rounds | %s |", rounds, heads(changes))
		for _, p := range phones {
			row, equal := []string{p.name}, ""
			for _, change := range changes {
				f := compared(t, p.name, p.rounds, rounds, change, times)
				row = append(row, f.String())
				if change == 0 {
					equal = share(f.passed, f.trials)
				}
				p.holds(t, f, rounds, change)
			}
			t.Logf("| %s | equal ones that pass: %s |", strings.Join(row, " | "), equal)
		}
	}
}

// holds asserts what a user may rely on, and on phones with even noise what theory gives for a rank
// test: the power of the t-test at most, and no less than that with an efficiency of 3/π.
func (p phone) holds(t *testing.T, f found, rounds int, change float64) {
	t.Helper()
	where := fmt.Sprintf("%s, %d rounds, %+.1f %%", p.name, rounds, 100*change)
	even := p.heat == 0 && p.little == 0 && p.burst == 0
	switch {
	case change == 0:
		if most := mostOf(f.trials, 0.05); f.detected > most || f.failed > most {
			t.Errorf("%s: %v of equal versions, want at most %d of %d", where, f, most, f.trials)
		}
	case change >= 0.94:
		if f.failed < f.trials {
			t.Errorf("%s: %v, want all to fail", where, f)
		}
	case change < 0.05:
		if most := mostOf(f.trials, 0.05); even && f.failed > most {
			t.Errorf("%s: %v fail below the least change that matters, want at most %d of %d", where, f, most, f.trials)
		}
	}
	if even && change == 0 && f.passed < f.trials-mostOf(f.trials, 0.02) {
		t.Errorf("%s: %d of %d equal versions pass, want nearly all", where, f.passed, f.trials)
	}
	if !even || change == 0 {
		return
	}
	effect := math.Log1p(change) / (p.noise * math.Sqrt2) * math.Sqrt(float64(rounds))
	power := func(efficiency float64) float64 {
		return distuv.UnitNormal.CDF(math.Sqrt(efficiency)*effect - distuv.UnitNormal.Quantile(0.95))
	}
	low, high := float64(f.trials)*power(3/math.Pi), float64(f.trials)*power(1)
	reach := func(mean float64) float64 {
		return 3.3*math.Sqrt(mean*(1-mean/float64(f.trials))) + 1 + 0.02*float64(f.trials)
	}
	if x := float64(f.detected); x < low-reach(low) || x > high+reach(high) {
		t.Errorf("%s: %v found, theory says %.0f to %.0f of %d", where, f, low, high, f.trials)
	}
}

func heads(changes []float64) string {
	var out []string
	for _, c := range changes {
		out = append(out, fmt.Sprintf("%+.1f %%", 100*c))
	}
	return strings.Join(out, " | ")
}

// The paper measured all of one version and then all of the other. A rank test of the repetitions
// then calls equal versions different, since it mistakes a session for a version; the gate reports
// that, and fails nothing for it.
func TestEnergyOfTwoSessions(t *testing.T) {
	times := trials(40, 500)
	all := found{}
	for _, p := range phones {
		same, large := compared(t, p.name, p.sessions, 20, 0, times), compared(t, p.name, p.sessions, 20, 0.94, times)
		t.Logf("| %s | %v | %v |", p.name, same, large)
		if most := mostOf(times, 0.05); same.failed > most {
			t.Errorf("%s: %v of equal versions fail, want at most %d of %d", p.name, same, most, times)
		}
		if large.failed < times {
			t.Errorf("%s: %v of versions that take twice as much, want all to fail", p.name, large)
		}
		all.detected, all.trials = all.detected+same.detected, all.trials+times
	}
	if most := mostOf(all.trials, 0.05); all.detected <= most {
		t.Errorf("%v of equal versions differ: sessions don't matter, and the warning of them is wrong", all)
	}
}
