package rounds

import (
	"fmt"
	"math"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
)

// Plan is when to look at the rounds, and what settles a question at each look.
type Plan struct {
	Most  int // rounds, including earlier ones
	Looks []Look
}

// Look is one look at the rounds so far.
type Look struct {
	Rounds int
	// Fail is the one-sided chance at which one question fails, before the correction for their
	// number; 0 at a look at which none can. Over all looks it sums to the policy's false alarms,
	// which are kept however the looks depend on each other.
	Fail float64
	// Pass is the chance at which a worsening by the policy's MinEffect is excluded. It costs no
	// false alarms, so that there may be more such looks.
	Pass float64
}

// firstShare is the share of the false alarms that the first part of rounds may spend.
const firstShare = 0.9

// shareOf returns what the next part may spend after so many: 0.9, then half of the rest, and so
// on.
func shareOf(parts int) float64 {
	if parts <= 0 {
		return firstShare
	}
	return (1 - firstShare) * math.Pow(0.5, float64(parts))
}

// spending are the shares of the false alarms at the looks at which a question may fail, where
// there are enough rounds for all. Most is kept for the last: that detects small or noisy
// worsenings, at the cost of one or two more rounds for large ones, and of none where nothing
// changed.
var spending = []float64{0.1, 0.1, 0.2, 0.6}

const (
	// PassLevel is the chance at which a worsening is excluded at each of the looks, every
	// passEvery rounds. Over all looks at most 3 % of worsenings by MinEffect are missed
	// (TestRates).
	PassLevel = 0.005
	passEvery = 2
	// leastRounds is the least number of rounds with which a worsening can be excluded using the
	// known noise.
	leastRounds = 2
)

// PlanOf returns the plan for that many rounds at most and that many questions, over all devices
// and scenarios together. Looks at which a question can fail are spaced evenly, by their ratio,
// between the first possible one and the last. It returns an error where so few rounds can't prove
// anything at the policy's false alarms.
func PlanOf(p gate.Policy, most, questions int) (Plan, error) {
	return planOf(p, 1, most, questions)
}

// PlanAfter returns the plan of one part of rounds that later parts may continue, after so many
// earlier parts, with at most so many rounds at a place. Each part spends a share of the false
// alarms that no later one has (see shareOf), so that they are kept however often rounds are
// continued.
func PlanAfter(p gate.Policy, parts, before, most, questions int) (Plan, error) {
	return planOf(p, shareOf(parts), most+before, questions)
}

// PlanWithin is PlanAfter where there is time for only so many rounds at any place. A plan by which
// a question could only fail after them would fail none: it is then made for these rounds alone, if
// so few can prove anything.
func PlanWithin(p gate.Policy, parts, before, most, fit, questions int) (Plan, error) {
	plan, err := PlanAfter(p, parts, before, most, questions)
	if err != nil || plan.firstFail() <= before+fit {
		return plan, err
	}
	if short, tooFew := PlanAfter(p, parts, before, fit, questions); tooFew == nil {
		return short, nil
	}
	return plan, nil
}

// firstFail returns the first look at which a question can fail.
func (p Plan) firstFail() int {
	for _, look := range p.Looks {
		if look.Fail > 0 {
			return look.Rounds
		}
	}
	return p.Most
}

// planOf returns the plan that may spend a share of the policy's false alarms.
func planOf(p gate.Policy, share float64, most, questions int) (Plan, error) {
	alpha := WithDefaults(p).Alpha * share
	questions = max(1, questions)
	level := alpha / float64(questions)
	if least := provable(level); most < least {
		return Plan{}, fmt.Errorf("%d %s at most can't keep false alarms at %g %% for %d %s: want at least %d",
			most, prose.Plural(most, "round", "rounds"), 100*WithDefaults(p).Alpha, questions, prose.Plural(questions, "comparison", "comparisons"), least)
	}
	at := failsAt(level, most)
	plan := Plan{Most: most}
	for n := leastRounds; n < most; n += passEvery {
		plan.Looks = append(plan.Looks, Look{Rounds: n, Pass: PassLevel})
	}
	plan.Looks = append(plan.Looks, Look{Rounds: most, Pass: PassLevel})
	for i := range plan.Looks {
		plan.Looks[i].Fail = alpha * at[plan.Looks[i].Rounds]
	}
	return plan, nil
}

// failsAt returns the looks at which a question may fail, by their rounds, and the share of the
// level that each spends. At the first of several, more than the single most extreme order of signs
// is enough.
func failsAt(level float64, most int) map[int]float64 {
	for shares := spending; len(shares) > 1; shares = shares[1:] {
		whole := 0.0
		for _, s := range shares {
			whole += s
		}
		first := even(1 + provable(level*shares[0]/whole))
		out := map[int]float64{most: shares[len(shares)-1] / whole}
		for k, s := range shares[:len(shares)-1] {
			way := float64(k) / float64(len(shares)-1)
			if n := even(int(math.Round(float64(first) * math.Pow(float64(most)/float64(first), way)))); n < most && out[n] == 0 {
				out[n] = s / whole
			}
		}
		if len(out) == len(shares) {
			return out
		}
	}
	return map[int]float64{most: 1}
}

// provable returns the least number of rounds that can prove anything at a level: with all signs
// equal, whose chance is one in 2ⁿ.
func provable(level float64) int { return int(math.Ceil(-math.Log2(level))) }

// even returns n or the next even number: the builds come first equally often.
func even(n int) int { return n + n%2 }

// until returns the looks at the measured rounds. Where no more will be measured, the last look may
// spend what later looks would have.
func (p Plan) until(measured int, ended bool) []Look {
	var out []Look
	unspent := 0.0
	for _, look := range p.Looks {
		if look.Rounds <= measured {
			out = append(out, look)
			continue
		}
		unspent += look.Fail
	}
	if !ended || unspent == 0 || measured == 0 {
		return out
	}
	if last := len(out) - 1; last >= 0 && out[last].Rounds == measured {
		out[last].Fail += unspent
		return out
	}
	return append(out, Look{Rounds: measured, Fail: unspent, Pass: PassLevel})
}

// ends returns the levels of an interval after so many rounds: those of the two decisions, so that
// it accounts for the looks. looks are those made (see until), of which the last may have spent
// more than planned.
func (p Plan) ends(rounds int, looks []Look) Ends {
	at := Ends{}
	for _, look := range p.Looks {
		due := look.Rounds <= rounds
		if look.Fail > 0 && (at.Better == 0 || due) {
			at.Better = look.Fail
		}
		if at.Worse == 0 || due {
			at.Worse = look.Pass
		}
	}
	for _, look := range looks {
		if look.Rounds == rounds && look.Fail > 0 {
			at.Better = look.Fail
		}
	}
	return at
}
