package rounds

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
)

// mostAdvised limits the advice to measure more rounds.
const mostAdvised = 200

// enough estimates how many rounds would settle an open question, if they continued as so far: by
// failing or by passing, whichever comes first; 0 where mostAdvised would not. The score of a rank
// test grows with the root of the number.
func (t *Trial) enough(q *question, x Paired, level float64) int {
	n := float64(len(x.differences))
	need := func(p, level float64) float64 {
		have := score(p)
		if !(have > 0) {
			return math.Inf(1)
		}
		return n * math.Pow(score(level)/have, 2)
	}
	rounds := math.Inf(1)
	switch {
	case n == 0:
	case x.Worsening() >= q.minChange:
		rounds = need(x.Worse(), level*q.weight*spending[len(spending)-1])
	case x.Below(q.effect, q.minChange):
		rounds = need(x.Excludes(q.effect), PassLevel)
	}
	if rounds > mostAdvised {
		return 0
	}
	return even(max(int(math.Ceil(rounds)), len(x.differences)+1))
}

// score returns a one-sided chance as a normal score.
func score(p float64) float64 {
	const least = 1e-12
	return distuv.UnitNormal.Quantile(1 - max(least, p))
}

// settle returns a hint on what would settle the open questions of a place.
func (t *Trial) settle(p *place, level float64) string {
	const calmer = "measure on a calmer device"
	switch {
	case p.lost != "":
		return "fix what ended the rounds, and measure again"
	case p.short > 0 && !math.IsInf(p.short, 1):
		return fmt.Sprintf("allow about %.0f more minutes (rounds.minutes in apkgate.yml), or measure this commit again: it continues with the rounds kept", math.Ceil(p.short))
	case len(t.plan.Looks) > 0 && p.measured < t.plan.Looks[0].Rounds:
		return "allow more time (rounds.minutes in apkgate.yml)"
	}
	most, waver, calm := 0, 0.0, 0.0
	for _, q := range p.questions {
		s := q.at(level)
		if s.says != gate.RoundsUndecided {
			continue
		}
		x := q.paired(s.Rounds)
		n := t.enough(q, x, level)
		if n == 0 || most < 0 {
			most = -1
		} else {
			most = max(most, n)
		}
		if x.scale == metric.Log {
			if w := stat.RobustSD(x.differences) / math.Sqrt2; w > waver {
				waver, calm = w, t.calm(q)
			}
		}
	}
	switch {
	case most > t.plan.Most:
		return fmt.Sprintf("about %d rounds would settle it (rounds.max in apkgate.yml), or a calmer device", most)
	case most > 0:
		return fmt.Sprintf("about %d rounds would settle it: allow more time (rounds.minutes in apkgate.yml)", most)
	case waver > 0:
		return fmt.Sprintf("%s: repetitions vary by %.0f %% here, and %d rounds settle it where they vary by less than %.0f %%",
			calmer, 100*waver, t.plan.Most, 100*calm)
	}
	return calmer
}

// calm returns how much a turn's repetitions may vary, as a share, for all rounds of the plan to
// exclude the required worsening of a time in nine of ten cases where nothing changed.
func (t *Trial) calm(q *question) float64 {
	return q.size() * math.Sqrt(float64(t.plan.Most)) / ((score(PassLevel) + score(0.1)) * math.Sqrt2)
}
