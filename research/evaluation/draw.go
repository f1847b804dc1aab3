package evaluation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/research/evaluation/series"
)

// source is the data of one cell of one phone in a draw.
type source struct {
	of      series.Series
	metric  metric.Metric
	history [][]float64 // the repetitions of each accepted run, in the order of time
	fresh   []float64   // those of the new run
	session []float64   // all of the new run's session, which rounds are drawn from
}

// fits reports whether a design can be drawn from the series: any that can vary where repetitions
// are drawn one by one, one that is long enough where they are consecutive, and across sessions one
// with two that are long enough for the history's runs and the new one.
func (q Question) fits(s series.Series) bool {
	if !q.AcrossSessions {
		return len(s.Values) >= q.least()
	}
	old, fresh, both := 0, 0, 0
	for _, x := range s.Sessions() {
		forOld, forNew := len(x.Values) >= q.Design.Repetitions, len(x.Values) >= q.Design.New
		old, fresh = old+count(forOld), fresh+count(forNew)
		both += count(forOld && forNew)
	}
	if q.World == InOrder {
		return old > q.Design.History && fresh > q.Design.History
	}
	return fresh > 0 && (q.Design.History == 0 || old > 1 || old == 1 && fresh > both)
}

// least returns how many values a series needs where sessions don't matter.
func (q Question) least() int {
	if q.World == InOrder {
		return max(2, q.Design.values())
	}
	return 2
}

// values returns how many a draw has.
func (d Design) values() int { return d.History*d.Repetitions + d.New }

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// exchangeable draws each repetition independently, with replacement.
func (d Design) exchangeable(rng *rand.Rand, all []series.Series) []source {
	out := make([]source, len(all))
	for k, s := range all {
		some := func(n int) []float64 {
			values := make([]float64, n)
			for i := range values {
				values[i] = s.Values[rng.IntN(len(s.Values))]
			}
			return values
		}
		out[k] = source{of: s, metric: metricOf(s), session: s.Values}
		for range d.History {
			out[k].history = append(out[k].history, some(d.Repetitions))
		}
		out[k].fresh = some(d.New)
	}
	return out
}

// window draws consecutive repetitions, the same of each series: those of the history, then those
// of the new run. The draw is one session.
func (d Design) window(rng *rand.Rand, all []series.Series) []source {
	shortest := math.MaxInt
	for _, s := range all {
		shortest = min(shortest, len(s.Values))
	}
	from := rng.IntN(shortest - d.values() + 1)
	out := make([]source, len(all))
	for k, s := range all {
		values := slices.Clone(s.Values[from : from+d.values()])
		out[k] = source{of: s, metric: metricOf(s), session: slices.Clone(values), fresh: values[d.History*d.Repetitions:]}
		for run := range slices.Chunk(values[:d.History*d.Repetitions], d.Repetitions) {
			out[k].history = append(out[k].history, run)
		}
	}
	return out
}

// across draws whole sessions, the same for every series of the draw: consecutively measured
// repetitions stay together, and the new run is of a session that is not in the history. Where the
// history has more runs than there are sessions, sessions are reused. With inOrder, the history's
// are those right before the new one.
func (d Design) across(rng *rand.Rand, all []series.Series, inOrder bool) ([]source, error) {
	byName := make([]map[string][]float64, len(all))
	for k, s := range all {
		byName[k] = map[string][]float64{}
		for _, x := range s.Sessions() {
			byName[k][x.Name] = x.Values
		}
	}
	var old, fresh []string // sessions that all series have, in the order of time
	for _, x := range all[0].Sessions() {
		least := math.MaxInt
		for _, named := range byName {
			least = min(least, len(named[x.Name]))
		}
		if least >= d.Repetitions {
			old = append(old, x.Name)
		}
		if least >= d.New {
			fresh = append(fresh, x.Name)
		}
	}
	if len(fresh) == 0 {
		return nil, fmt.Errorf("no session has %d repetitions", d.New)
	}
	if inOrder { // the first ones have too few before them
		fresh = fresh[min(d.History, len(fresh)-1):]
	}
	now := fresh[rng.IntN(len(fresh))]
	if at := slices.Index(old, now); at >= 0 {
		old = slices.Delete(old, at, at+1)
		if inOrder {
			old = old[max(0, at-d.History):at]
		}
	}
	if len(old) == 0 && d.History > 0 {
		return nil, fmt.Errorf("no other session has %d repetitions", d.Repetitions)
	}
	var chosen []int // places in old
	for len(chosen) < d.History {
		chosen = append(chosen, rng.Perm(len(old))[:min(len(old), d.History-len(chosen))]...)
	}
	slices.Sort(chosen)
	out := make([]source, len(all))
	for k, s := range all {
		out[k] = source{of: s, metric: metricOf(s), session: byName[k][now]}
	}
	for _, place := range chosen {
		drawTogether(rng, byName, old[place], d.Repetitions, func(k int, values []float64) {
			out[k].history = append(out[k].history, values)
		})
	}
	drawTogether(rng, byName, now, d.New, func(k int, values []float64) { out[k].fresh = values })
	return out, nil
}

// drawTogether passes on n consecutively measured repetitions of a session, the same of each
// series.
func drawTogether(rng *rand.Rand, byName []map[string][]float64, session string, n int, take func(k int, values []float64)) {
	shortest := math.MaxInt
	for _, named := range byName {
		shortest = min(shortest, len(named[session]))
	}
	from := rng.IntN(shortest - n + 1)
	for k, named := range byName {
		take(k, slices.Clone(named[session][from:from+n]))
	}
}

// widened returns the session's repetitions with their logarithms (themselves where one is not
// positive) spread by √(n/(n-1)), so that draws from them vary as much as the noise that so few are
// a sample of (Davison and Hinkley 1997, section 2.3.2).
func (s source) widened() []float64 {
	n := float64(len(s.session))
	to, from := math.Log, math.Exp
	if slices.Min(s.session) <= 0 {
		to, from = func(v float64) float64 { return v }, func(v float64) float64 { return v }
	}
	mean := 0.0
	for _, v := range s.session {
		mean += to(v) / n
	}
	out := make([]float64, len(s.session))
	for i, v := range s.session {
		out[i] = from(mean + (to(v)-mean)*math.Sqrt(n/(n-1)))
	}
	return out
}

// worsened returns a value of a build that is worse by the share: more where lower is better, less
// where higher is, points where the metric is a ratio, and shares of the series' spread around zero
// where values lie on both sides of it.
func (s source) worsened(v, shift float64) float64 {
	sign := 1.0
	if s.metric.Direction == metric.HigherIsBetter {
		sign = -1
	}
	switch {
	case s.metric.Ratio || s.metric.Unit == "ratio":
		return max(0, v+sign*shift)
	case s.metric.Signed:
		return v + sign*shift*meanSize(s.of.Values)
	}
	return v * (1 + sign*shift)
}

func meanSize(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Abs(v) / float64(len(values))
	}
	return sum
}

// metricOf returns the series' metric: the catalogue's, or one of which lower is better and whose
// noise is multiplicative where all values are positive.
func metricOf(s series.Series) metric.Metric {
	m, known := metric.Default().Lookup(s.Metric)
	if s.Metric != "" && known && m.Direction != metric.Neutral {
		return m
	}
	negative := slices.Min(s.Values) < 0
	return metric.Metric{Name: declared, Direction: metric.LowerIsBetter, Log: s.Positive(), Signed: negative}
}

// declared is the name of a metric that the catalogue lacks.
const declared = "series.value"
