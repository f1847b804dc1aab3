package rounds

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
)

// Order are the places with questions, the most suspect first: the hour goes to what the
// history finds most suspect, depth first.
func (t *Trial) Order() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []int
	for at := range t.places {
		out = append(out, at)
	}
	slices.SortFunc(out, func(a, b int) int {
		return cmp.Or(cmp.Compare(t.places[b].suspicion(), t.places[a].suspicion()), cmp.Compare(a, b))
	})
	return out
}

// suspicion is how many standard errors worse than expected the place's most suspect number
// is; of what nothing is known 0.
func (p *place) suspicion() float64 {
	most := math.Inf(-1)
	for _, q := range p.questions {
		most = max(most, q.suspicion())
	}
	return most
}

func (q *question) suspicion() float64 {
	const news = 10 // a rare event that was never seen
	switch {
	case q.known.Counts.Known() && q.known.Events > 0:
		return news
	case q.known.SD > 0:
		return q.worse(q.known.Beyond) / q.known.SD
	}
	return 0
}

// worse is a distance on the judged scale, above 0 where it is for the worse.
func (q *question) worse(distance float64) float64 {
	if q.metric.Direction == metric.HigherIsBetter {
		return -distance
	}
	return distance
}

// Turn is how many repetitions of each build a round at the place is to have: as many as are
// likely to settle it in the least time. What is measured there is taken to have them from now
// on.
func (t *Trial) Turn(at int, lasts gate.Lasts) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.places[at]
	switch {
	case p == nil:
		return 1
	case p.before != nil:
		return p.before.turn
	}
	turn, least := 1, math.Inf(1)
	for k := 1; k <= mostRepetitions; k++ {
		p.turn = k
		if takes := asMany(t.forecast(p, likely)) * lasts.Round(k); takes < least {
			turn, least = k, takes
		}
	}
	p.turn = turn
	return turn
}

// roundsToFail is how many rounds show with that chance that a number is worse by the shift, if
// differences vary so far.
func (t *Trial) roundsToFail(level, chance, noise, shift float64) int {
	z := (score(level*spending[len(spending)-1]) + score(1-chance)) * noise / shift
	return max(t.plan.firstFail(), even(int(math.Ceil(min(z*z, mostAdvised)))))
}

// size is the worsening to exclude, on the judged scale.
func (q *question) size() float64 {
	if q.metric.Log || q.metric.Odds {
		return q.metric.Step(q.effect)
	}
	return 0
}

// Within is Next, where so many minutes are left and a round takes this long: a place that
// they are not likely to settle is not begun, or ended.
func (t *Trial) Within(at int, left, round float64) (rounds int, more bool) {
	if rounds, more = t.Next(at); !more {
		return rounds, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.places[at]
	chance := likely
	if p.measured > p.before.rounds() {
		chance = hopeful
	}
	if asMany(t.forecast(p, chance))*round > left {
		p.short = asMany(t.forecast(p, likely)) * round
		return p.measured, false
	}
	p.short = 0
	return rounds, true
}

// Forecast is how many rounds are likely to settle a place, beside those that it had before;
// +Inf where no number that anybody would wait for is.
func (t *Trial) Forecast(at int) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.places[at]
	if p == nil {
		return 0
	}
	return asMany(t.forecast(p, likely))
}

// asMany is a forecast as a number that may be infinite.
func asMany(rounds int) float64 {
	if rounds > mostAdvised {
		return math.Inf(1)
	}
	return float64(rounds)
}

// forecast is how many more rounds settle a place with a chance: fail by what looks worst, or
// answer every question.
func (t *Trial) forecast(p *place, chance float64) int {
	all, fail := 0, math.MaxInt
	level := t.level()
	for _, q := range p.questions {
		if q.at(level).says != gate.SaysOpen {
			continue
		}
		pass, worse := t.forecastOf(q, p, level, chance)
		all, fail = max(all, min(pass, worse)), min(fail, worse)
	}
	return max(passEvery, min(all, fail)-p.measured)
}

// forecastOf is at how many rounds a question is likely to pass, and to fail, as far as is
// known; math.MaxInt where that is not to be expected.
func (t *Trial) forecastOf(q *question, p *place, level, chance float64) (pass, fail int) {
	switch {
	case q.metric.Mean && (q.known.Counts.Known() || q.known.Repetitions > 0):
		return t.forecastRare(q, p, level)
	case q.size() == 0, q.known.DF <= 0 && p.measured < firstByOrder:
		return t.forecastUnknown(q, p, level)
	}
	noise := noiseOf(q.known, p.turn)
	shift, history := 0.0, 0.0
	if q.known.SD > 0 {
		shift, history = q.worse(q.known.Beyond), 1/(q.known.SD*q.known.SD)
	}
	pass, fail = math.MaxInt, math.MaxInt
	unsure, least := 0.0, leastRounds // how far off the shift may be, and the rounds it takes at least
	if p.measured >= leastRounds {
		x := q.paired(p.measured)
		far, se, _ := x.estimated()
		shift, unsure = q.worse(far), se
		if noise, _ = x.waver(); x.known == nil {
			least, history = firstByOrder, 0
		}
	}
	if shift >= q.metric.Step(q.minChange) {
		fail = t.roundsToFail(level*q.weight, chance, noise, shift)
	}
	hoped := max(shift-unsure, min(shift, 0))
	if p.measured < leastRounds && q.suspicion() < surelyWorse {
		hoped = 0 // that it is as it was is to be expected, whatever one session says
	}
	if room := q.size() - hoped; hoped < q.size()/2 {
		if n := roundsToPass(passing{noise: noise, df: q.known.DF, room: room, history: history, chance: chance}); n <= mostAdvised {
			pass = max(n, least)
		}
	}
	return pass, fail
}

const (
	// likely is the chance with which a forecast is to hold, and a place is begun.
	likely = 0.8
	// hopeful is the same of a place that was begun: what its first rounds say of the rest
	// wavers, and what they cost is spent.
	hopeful = 0.3
	// surelyWorse is the suspicion from which rounds are expected to find what the new run shows.
	surelyWorse = 4
)

// firstByOrder are the rounds that exclude by their order alone.
const firstByOrder = 8

// forecastUnknown is the same of a number whose noise nobody knows yet, or which has no
// scale.
func (t *Trial) forecastUnknown(q *question, p *place, level float64) (pass, fail int) {
	if p.measured < firstByOrder {
		return firstByOrder, math.MaxInt
	}
	n := t.enough(q, q.paired(p.measured), level)
	if n == 0 {
		return math.MaxInt, math.MaxInt
	}
	return n, n
}

// forecastRare is the same of rare events: until so few more as there are to be expected of
// an unchanged build exclude that they are frequent.
func (t *Trial) forecastRare(q *question, p *place, level float64) (pass, fail int) {
	x := rareOf(q.known, p.turn, q.paired(p.measured))
	pass, fail = math.MaxInt, math.MaxInt
	rate := (x.events + 1) / x.repetitions // as if the next one were as near
	for n := leastRounds; n <= mostAdvised; n += passEvery {
		more := float64(p.turn * max(0, n-p.measured))
		if x.after(more, 0).excludes() <= PassLevel {
			pass = min(pass, n)
		}
		if !x.alone && x.after(more, rate*more).worse() <= level*q.weight*spending[len(spending)-1] {
			fail = min(fail, max(n, t.plan.firstFail()))
		}
	}
	if x.alone && p.measured >= firstByOrder {
		if n := t.enough(q, q.paired(p.measured), level); n > 0 {
			fail = n
		}
	}
	return pass, fail
}
