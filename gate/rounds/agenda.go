package rounds

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
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

// Turn is how many repetitions of each build a round at the place is to have: as many as
// settle its questions in the least time.
func (t *Trial) Turn(at int, lasts gate.Lasts) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn, most := 1, 0.0
	p := t.places[at]
	switch {
	case p == nil:
		return turn
	case p.before != nil:
		return p.before.turn
	}
	for _, q := range p.questions {
		if q.known.DF <= 0 {
			continue
		}
		if k, minutes := Settling(q.known.Repetition, q.size(), lasts); minutes > most {
			turn, most = k, minutes
		}
	}
	return turn
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
	if takes := asMany(t.forecast(p)) * round; takes > left {
		p.short = takes
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
	return asMany(t.forecast(p))
}

// asMany is a forecast as a number that may be infinite.
func asMany(rounds int) float64 {
	if rounds > mostAdvised {
		return math.Inf(1)
	}
	return float64(rounds)
}

// forecast is how many more rounds are likely to settle a place: to fail by what looks worst,
// or to answer every question.
func (t *Trial) forecast(p *place) int {
	all, fail := 0, math.MaxInt
	level := t.level()
	for _, q := range p.questions {
		if q.at(level).says != gate.SaysOpen {
			continue
		}
		pass, worse := t.forecastOf(q, p, level)
		all, fail = max(all, min(pass, worse)), min(fail, worse)
	}
	return max(passEvery, min(all, fail)-p.measured)
}

// forecastOf is at how many rounds a question is likely to pass, and to fail, as far as is
// known; math.MaxInt where that is not to be expected.
func (t *Trial) forecastOf(q *question, p *place, level float64) (pass, fail int) {
	switch {
	case q.known.Counts.Known():
		return t.forecastRare(q, p, level)
	case q.known.DF <= 0 || q.size() == 0:
		return t.forecastUnknown(q, p, level)
	}
	noise := math.Sqrt2 * q.known.Repetition / math.Sqrt(float64(max(p.turn, 1)))
	shift, history := 0.0, 0.0
	if q.known.SD > 0 {
		shift, history = q.worse(q.known.Beyond), 1/(q.known.SD*q.known.SD)
	}
	pass, fail = math.MaxInt, math.MaxInt
	unsure := 0.0 // how far off the shift may be
	if p.measured >= leastRounds {
		x := q.paired(p.measured)
		if x.known != nil {
			far, se, _ := x.estimated()
			shift, unsure = q.worse(far), se
		}
		noise = max(noise, stat.SD(x.differences))
	}
	if least := q.metric.Step(q.minChange); shift >= least {
		z := (score(level*spending[len(spending)-1]) + score(1-likely)) * noise / shift
		fail = max(t.firstFail(), even(int(math.Ceil(min(z*z, mostAdvised)))))
	}
	hoped := max(shift-unsure, min(shift, 0))
	if p.measured < leastRounds {
		hoped = 0 // that it is as it was is to be expected, whatever one session says
	}
	if room := q.size() - hoped; hoped < q.size()/2 {
		z := (score(PassLevel) + score(1-likely)) / room
		if n := noise * noise / efficiency * (z*z - history); n <= mostAdvised {
			pass = max(leastRounds, even(int(math.Ceil(n))))
		}
	}
	return pass, fail
}

// firstFail is the first look at which a question can fail.
func (t *Trial) firstFail() int {
	for _, look := range t.plan.Looks {
		if look.Fail > 0 {
			return look.Rounds
		}
	}
	return t.plan.Most
}

// likely is the chance with which a forecast is to hold.
const likely = 0.8

// forecastUnknown is the same of a number whose noise nobody knows yet.
func (t *Trial) forecastUnknown(q *question, p *place, level float64) (pass, fail int) {
	const first = 8 // rounds that exclude by their order alone
	if p.measured < first {
		return first, math.MaxInt
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
	x := rareOf(q.known, max(p.turn, 1), q.paired(p.measured))
	pass, fail = math.MaxInt, math.MaxInt
	rate := (x.events + 1) / x.repetitions // as if the next one were as near
	for n := leastRounds; n <= mostAdvised; n += passEvery {
		more := float64(max(p.turn, 1) * max(0, n-p.measured))
		as, worse := *x, *x
		as.repetitions += more
		worse.repetitions += more
		worse.events += rate * more
		if as.excludes() <= PassLevel {
			pass = min(pass, n)
		}
		if worse.worse() <= level*spending[len(spending)-1] {
			fail = min(fail, max(n, t.firstFail()))
		}
	}
	return pass, fail
}
