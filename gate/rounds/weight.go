package rounds

import (
	"maps"
	"math"
	"slices"

	"github.com/apkgate/apkgate/stat"
)

const (
	// leaning is the part of the false alarms that is divided among the questions by how suspect
	// the history finds each; the rest is divided equally, so that each gets at least half of an
	// equal part.
	leaning = 0.5
	// mostOdds limits the weight of one session for or against a worsening.
	mostOdds = 100
)

// weigh divides the false alarms among the questions, which keeps them as an equal division does:
// the weights come from the history and the new run, and the rounds that can fail a question are
// measured after them (Holm 1979 allows for weights; Genovese, Roeder and Wasserman 2006 for such).
// A rare event keeps an equal part, since its test counts the new run's events, and so does a
// number without a prediction. Where the last look could not prove anything at the least part, all
// parts are equal.
func (t *Trial) weigh() {
	var judged []*question
	for _, q := range t.questions() {
		q.weight = 1
		if q.known.SD > 0 && q.size() > 0 {
			judged = append(judged, q)
		}
	}
	if n := len(t.plan.Looks); n == 0 || provable(t.plan.Looks[n-1].Fail*(1-leaning)/float64(t.asked)) > t.plan.Most {
		return
	}
	sum := 0.0
	for _, q := range judged {
		sum += q.odds()
	}
	for _, q := range judged {
		q.weight = 1 - leaning + leaning*float64(len(judged))*q.odds()/sum
	}
}

// odds returns how much likelier the new run's value is for a build that is worse by the effect
// than for an unchanged one.
func (q *question) odds() float64 {
	size, sd := q.size(), q.known.SD
	odds := math.Exp((q.worse(q.known.Beyond) - size/2) * size / (sd * sd))
	return min(max(odds, 1.0/mostOdds), mostOdds)
}

// questions returns those of all places, in their order.
func (t *Trial) questions() (all []*question) {
	for _, at := range slices.Sorted(maps.Keys(t.places)) {
		all = append(all, t.places[at].questions...)
	}
	return all
}

// level returns the level at which a question of weight 1 fails: Holm's step-down over the
// questions of all places, each by its chance up to the look at which it was settled.
func (t *Trial) level() float64 {
	all := t.questions()
	failing := map[*question]bool{}
	for {
		rest := 0.0
		for _, q := range all {
			if !failing[q] {
				rest += q.weight
			}
		}
		if rest == 0 { // all fail, or there is none
			return t.policy.Alpha
		}
		level, before := t.policy.Alpha/rest, len(failing)
		for _, q := range all {
			if q.at(level).spent <= level*q.weight {
				failing[q] = true
			}
		}
		if len(failing) == before {
			return level
		}
	}
}

// corrected returns the questions' chances after Holm's correction.
func (t *Trial) corrected(level float64) map[*question]float64 {
	all := t.questions()
	ps, weights := make([]float64, len(all)), make([]float64, len(all))
	for i, q := range all {
		ps[i], weights[i] = min(1, q.at(level).spent), q.weight
	}
	out := map[*question]float64{}
	for i, p := range stat.WeightedHolm(ps, weights) {
		out[all[i]] = p
	}
	return out
}
