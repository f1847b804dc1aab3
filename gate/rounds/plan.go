package rounds

import (
	"fmt"
	"math"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/words"
)

// Plan is when to look at the rounds, and what settles a question at each look.
type Plan struct {
	Most  int // rounds
	Looks []Look
}

// Look is one look at the rounds so far.
type Look struct {
	Rounds int
	// Fail is the one-sided chance at which one question fails, before the correction
	// for their number; 0 at a look at which none does. Over all looks it sums up to the
	// policy's false alarms.
	Fail float64
	// Pass is the chance at which a worsening by the policy's MinEffect is excluded; 0 at a
	// look at which none is.
	Pass float64
}

// share is the share of the false alarms that a look may spend.
type share struct {
	rounds int
	of     float64
}

var (
	ofOne     = []share{{10, 0.2}, {16, 0.2}, {24, 0.3}, {40, 0.3}}
	ofSeveral = []share{{12, 0.2}, {18, 0.2}, {26, 0.3}, {40, 0.3}}
)

const (
	firstPass = 8    // rounds
	passLevel = 0.01 // at each look
)

// PlanOf is the plan for that many rounds at most and that many questions, over all
// devices and scenarios together. It is an error where so few rounds can't prove
// anything at the policy's false alarms.
func PlanOf(p gate.Policy, most, questions int) (Plan, error) {
	p = withDefaults(p)
	questions = max(1, questions)
	spending := ofOne
	if questions > 1 {
		spending = ofSeveral
	}
	var shares []share
	for _, s := range spending {
		if s.rounds < most {
			shares = append(shares, s)
		}
	}
	shares = append(shares, share{most, spending[len(spending)-1].of})
	sum := 0.0
	for _, s := range shares {
		sum += s.of
	}
	fail := map[int]float64{}
	provable := false
	for _, s := range shares {
		fail[s.rounds] = p.Alpha * s.of / sum
		provable = provable || math.Exp2(-float64(s.rounds)) <= fail[s.rounds]/float64(questions)
	}
	if !provable {
		least := int(math.Ceil(math.Log2(float64(questions) / p.Alpha)))
		return Plan{}, fmt.Errorf("%d %s at most can't keep false alarms at %g %% for %d %s: want at least %d",
			most, words.Plural(most, "round", "rounds"), 100*p.Alpha, questions, words.Plural(questions, "comparison", "comparisons"), max(least, firstPass))
	}
	plan := Plan{Most: most}
	for n := min(firstPass, most); n <= most; n += 2 {
		plan.Looks = append(plan.Looks, Look{Rounds: n, Fail: fail[n], Pass: passLevel})
		if n < most && n+2 > most {
			n = most - 2
		}
	}
	return plan, nil
}

// until are the looks at what was measured. Where no more will be, whatever it showed,
// there is one at the end that may spend what later looks would have.
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
	if ended && unspent > 0 && measured > 0 {
		out = append(out, Look{Rounds: measured, Fail: unspent})
	}
	return out
}

// ends are the one-sided levels of an interval's ends after so many rounds: those of
// the two decisions, so that it accounts for the looks. The lower end is above zero
// where one question by itself fails, the upper one below what is excluded.
func (p Plan) ends(rounds int) (low, high float64) {
	low, high = 0, passLevel
	for _, look := range p.Looks {
		if look.Fail > 0 && (low == 0 || look.Rounds <= rounds) {
			low = look.Fail
		}
	}
	return low, high
}
