package rounds

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
)

// Order returns the places with questions, most suspect first: the time is spent depth first on
// what the history finds most suspect.
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

// suspicion returns how many standard errors worse than expected the place's most suspect number
// is; 0 where nothing is known.
func (p *place) suspicion() float64 {
	most := math.Inf(-1)
	for _, q := range p.questions {
		most = max(most, q.suspicion())
	}
	return most
}

func (q *question) suspicion() float64 {
	const news = 10 // a rare event that never occurred before
	switch {
	case q.known.Counts.Known() && q.known.Events > 0:
		return news
	case q.known.SD > 0:
		return q.worse(q.known.Beyond) / q.known.SD
	}
	return 0
}

// worse returns a distance on the judged scale, above 0 where it is for the worse.
func (q *question) worse(distance float64) float64 {
	if q.metric.Direction == metric.HigherIsBetter {
		return -distance
	}
	return distance
}

// Turn returns how many repetitions of each build a round at the place should have: the number that
// is likely to settle it in the least time. Later measurements at the place are assumed to have it.
func (t *Trial) Turn(at int, lasts gate.RoundDurations) int {
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

// roundsToFail returns how many rounds show with that chance that a number is worse by the shift,
// if differences have this noise.
func (t *Trial) roundsToFail(level, chance, noise, shift float64) int {
	z := (score(level*spending[len(spending)-1]) + score(1-chance)) * noise / shift
	return max(t.plan.firstFail(), even(int(math.Ceil(min(z*z, mostAdvised)))))
}

// size returns the worsening to exclude, on the judged scale.
func (q *question) size() float64 {
	if q.metric.Log || q.metric.Odds {
		return q.metric.Step(q.effect)
	}
	return 0
}

// Within is Next with only so many minutes left and rounds of this duration: a place that they are
// unlikely to settle is not begun, or is ended.
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

// Forecast returns how many more rounds are likely to settle a place; +Inf where no reasonable
// number is.
func (t *Trial) Forecast(at int) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.places[at]
	if p == nil {
		return 0
	}
	return asMany(t.forecast(p, likely))
}

// asMany returns a forecast as a number that may be infinite.
func asMany(rounds int) float64 {
	if rounds > mostAdvised {
		return math.Inf(1)
	}
	return float64(rounds)
}

// forecast returns how many more rounds settle a place with a chance: by failing the worst
// question, or by answering all.
func (t *Trial) forecast(p *place, chance float64) int {
	all, fail := 0, math.MaxInt
	level := t.level()
	for _, q := range p.questions {
		if q.at(level).says != gate.RoundsUndecided {
			continue
		}
		pass, worse := t.forecastOf(q, p, level, chance)
		all, fail = max(all, min(pass, worse)), min(fail, worse)
	}
	return max(passEvery, min(all, fail)-p.measured)
}

// forecastOf returns after how many rounds a question is likely to pass, and to fail; math.MaxInt
// where that is not to be expected.
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
	unsure, least := 0.0, leastRounds // the standard error of the shift, and the least number of rounds
	if p.measured >= leastRounds {
		x := q.paired(p.measured)
		far, se, _ := x.estimated()
		shift, unsure = q.worse(far), se
		if noise, _ = x.noise(); x.known == nil {
			least, history = firstByOrder, 0
		}
	}
	if shift >= q.metric.Step(q.minChange) {
		fail = t.roundsToFail(level*q.weight, chance, noise, shift)
	}
	hoped := max(shift-unsure, min(shift, 0))
	if p.measured < leastRounds && q.suspicion() < surelyWorse {
		hoped = 0 // no change is expected, whatever one session shows
	}
	if room := q.size() - hoped; hoped < q.size()/2 {
		if n := roundsToPass(passing{noise: noise, df: q.known.DF, room: room, history: history, chance: chance}); n <= mostAdvised {
			pass = max(n, least)
		}
	}
	return pass, fail
}

const (
	// likely is the chance with which a forecast should come true for a place to be begun.
	likely = 0.8
	// hopeful is the same for a place that was begun: the forecast from its first rounds is
	// uncertain, and their cost is spent.
	hopeful = 0.3
	// surelyWorse is the suspicion from which on rounds are expected to confirm what the new run
	// shows.
	surelyWorse = 4
)

// firstByOrder is the number of rounds that exclude by their order alone.
const firstByOrder = 8

// forecastUnknown is the same for a number whose noise is unknown, or which has no scale.
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

// forecastRare is the same for rare events: until the number expected of an unchanged build is low
// enough to exclude that they are frequent.
func (t *Trial) forecastRare(q *question, p *place, level float64) (pass, fail int) {
	x := rareOf(q.known, p.turn, q.paired(p.measured))
	pass, fail = math.MaxInt, math.MaxInt
	rate := (x.events + 1) / x.repetitions // as if the next one were just about to occur
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
