package past

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history/contexts"
	"github.com/apkgate/apkgate/gate/history/level"
	"github.com/apkgate/apkgate/gate/screening"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// Number is one run's value of a cell, on the judged scale: the centre of its repetitions, the
// spread of one of them (0 where unknown), and their number.
type Number struct {
	Centre, SD float64
	N          int
}

// Evidence is what the history shows of one number, on the judged scale.
type Evidence struct {
	// N counts the values behind Expected and Fences: the sessions of the own context, or if it has
	// none, the runs of every context.
	N int
	// Own counts the comparable sessions of the own context, since its present level began.
	Own int
	// Since is the first run of the present level, where there was another before; ""
	// where there was none.
	Since string
	// Lent reports that other contexts contribute to the estimates of level and spread, so that
	// fewer own sessions can clear a build.
	Lent bool
	// Aside counts own sessions that are left out as far worse than the others.
	Aside    int
	Expected float64
	Fences   stat.Fences
	// Outlook is the prediction for the new run from its own context; unknown where that has too
	// few sessions.
	Outlook screening.Outlook
	// Counts is the same for a metric that counts rare events.
	Counts screening.Counts
	// Sessions are those behind Outlook, in the order of time, and Within is how their repetitions
	// and those of the new run differ.
	Sessions []Session
	Within   screening.Within
	prior    screening.Prior
	// Predicted is the prediction from other contexts where the own one was never measured; nil
	// where it was, or where they predict nothing.
	Predicted *contexts.Predicted
}

// Session is one accepted session's value of a number, on the judged scale.
type Session struct {
	Name string // "" where its runs name none
	Number
}

// Less returns the evidence with what all scenarios of a session share subtracted from each session
// that common names, and without the other sessions; false where fewer than least sessions are
// left. x is the new run's number, less what its own session shares.
func (e Evidence) Less(common map[string]float64, x Number, least int) (Evidence, bool) {
	var kept []Session
	for _, s := range e.Sessions {
		if shared, known := common[s.Name]; known && s.Name != "" {
			s.Centre -= shared
			kept = append(kept, s)
		}
	}
	if len(kept) < least {
		return e, false
	}
	e.Sessions = kept
	e.Outlook, e.Within = outlookOf(kept, x, e.prior)
	if !e.Outlook.Known() {
		return e, false
	}
	e.Expected = e.Outlook.Level()
	return e, true
}

// enoughOfOwn is the number of own sessions from which on a context's spread is estimated from
// these alone: a noisy phone among the others must not blind the gate.
const enoughOfOwn = 5

// leastLent is the number of degrees of freedom from which on the sessions of an earlier level show
// how those of the present one vary.
const leastLent = 3

// EvidenceOf returns what the history shows of a cell whose value is x in the new run.
func (p Runs) EvidenceOf(policy gate.Policy, c run.Cell, m metric.Metric, v Values, x Number) Evidence {
	at := policy.ForCell(c)
	sessions := v.sessions(policy, c, m)
	if len(sessions) == 0 {
		e := v.predictedEvidence(policy, c, m, at)
		if !m.Mean {
			e.Within.Add(x.SD, x.N)
		}
		return e
	}
	if m.Mean {
		e := Evidence{Own: len(sessions), Counts: countsOf(sessions)}
		e.show(sessions, at.OutlierFactor)
		e.Expected = e.Counts.Rate()
		return e
	}
	all := sessions
	sessions, since := v.present(all, m, at.MinChange)
	before := all[:len(all)-len(sessions)]
	e := Evidence{Own: len(sessions), Since: since}
	sessions, e.Aside = withoutBad(sessions, m, v.Scale)
	centres := e.show(sessions, at.OutlierFactor)
	prior := PriorOf(m, v.Scale, e.Expected)
	if e.Own < enoughOfOwn {
		others := v.elsewhereBySession(policy, c, m)
		prior.Spread, prior.DF = spreadOf(others, prior.Floor)
		prior.Level = v.levelFromOthers(others, centres, m, at.MinChange, prior.Floor)
		e.Lent = prior.DF > 0 && prior.Level.SD > 0
		if df := float64(len(before) - 1); since != "" && df >= leastLent && df > prior.DF {
			// the level is another, and sessions vary as they did
			prior.Spread, prior.DF, e.Lent = max(stat.SD(centresOf(before)), prior.Floor), df, true
		}
	}
	e.prior = prior
	for _, s := range sessions {
		e.Sessions = append(e.Sessions, Session{s.first.Session, s.Number})
	}
	if e.Outlook, e.Within = outlookOf(e.Sessions, x, prior); e.Outlook.Known() {
		e.Expected = e.Outlook.Level()
	}
	return e
}

// show sets the numbers that a reader sees from the sessions, and returns their centres.
func (e *Evidence) show(sessions []session, factor float64) []float64 {
	centres := centresOf(sessions)
	e.N, e.Expected = len(centres), stat.Median(centres)
	e.Fences = stat.FencesOf(stat.Sample{Values: centres}, factor)
	return centres
}

// outlookOf returns the prediction of the sessions for one like the new run, and how repetitions of
// one session differ.
func outlookOf(sessions []Session, x Number, prior screening.Prior) (screening.Outlook, screening.Within) {
	var within screening.Within
	within.Add(x.SD, x.N)
	past := make([]screening.Session, len(sessions))
	for i, s := range sessions {
		past[i] = screening.Session{Centre: s.Centre, N: s.N}
		within.Add(s.SD, s.N)
	}
	return screening.NewOutlook(past, x.N, within, prior), within
}

func centresOf(sessions []session) []float64 {
	out := make([]float64, len(sessions))
	for i, s := range sessions {
		out[i] = s.Centre
	}
	return out
}

// elsewhere returns what all other contexts show, for a reader.
func (v Values) elsewhere(factor float64) Evidence {
	e := Evidence{N: len(v.Numbers)}
	if e.N == 0 {
		return e
	}
	s := stat.Sample{Values: v.Numbers, Weights: v.weights}
	e.Fences = stat.FencesOf(s, factor)
	e.Expected = s.Quantiles(0.5)[0]
	return e
}

// spreadOf returns the spread of one session in other contexts, and its degrees of freedom.
func spreadOf(others [][]session, floor float64) (sd, df float64) {
	var variances, dfs []float64
	for _, sessions := range others {
		if len(sessions) < 2 {
			continue
		}
		variances = append(variances, max(stat.Variance(centresOf(sessions)), floor*floor))
		dfs = append(dfs, float64(len(sessions)-1))
	}
	return stat.PriorVariance(variances, dfs)
}

// levelFromOthers estimates the level from the present levels of other contexts. centres are those
// of the own sessions.
func (v Values) levelFromOthers(others [][]session, centres []float64, m metric.Metric, minChange, floor float64) screening.LevelPrior {
	groups := make([][]float64, len(others))
	for g, sessions := range others {
		if len(sessions) > 0 {
			now, _ := v.present(sessions, m, minChange)
			groups[g] = centresOf(now)
		}
	}
	groups[v.past.Own] = centres
	estimate, known := v.past.contexts().Estimate(v.past.Own, groups)
	if !known {
		return screening.LevelPrior{}
	}
	return screening.LevelPrior{Centre: estimate.Centre, SD: math.Hypot(estimate.SD, floor)}
}

// present returns the sessions since the present level of the number began, shifted along the drift
// of a level that keeps moving, and the first run of these, "" where there was no level before.
func (v Values) present(sessions []session, m metric.Metric, minChange float64) (now []session, since string) {
	centres := centresOf(sessions)
	worse := 1.0
	if m.Direction == metric.HigherIsBetter {
		worse = -1
	}
	found := level.Present(centres, worse, math.Abs(Effect(m, v.Scale, stat.Median(centres), minChange)))
	now = slices.Clone(sessions[found.From:])
	for i, by := range found.Moved {
		now[i].Centre += by
	}
	if found.Why != "" {
		since = now[0].first.ID
	}
	return now, since
}

func countsOf(sessions []session) screening.Counts {
	counts := make([]screening.Count, len(sessions))
	for i, s := range sessions {
		counts[i] = screening.Count{Events: s.Centre * float64(s.N), Repetitions: float64(s.N)}
	}
	return screening.NewCounts(counts)
}

// leastUnit is one per cent of zero, for a metric that states no resolution.
const leastUnit = 1e-9

// Unit returns one per cent of the level on the judged scale: for a ratio one point. Where there
// are no shares, it is a fifth of the metric's resolution, five of which are the least change that
// matters.
func Unit(m metric.Metric, s Scale, level float64) float64 {
	switch {
	case s.Multiplies():
		return m.Step(0.01)
	case m.Signed:
		return m.Resolution / 5
	case m.Ratio:
		return 0.01
	}
	if unit := max(0.01*math.Abs(level), m.Resolution/10); unit > 0 {
		return unit
	}
	return leastUnit
}

// PriorOf returns the prior of a number: sessions differ by two per cent and repetitions by five,
// and by no less than the metric's resolution and known variation.
func PriorOf(m metric.Metric, s Scale, level float64) screening.Prior {
	unit := Unit(m, s, level)
	quantum := m.Resolution / math.Sqrt(12) // the standard deviation of rounding
	waver := m.Restless * math.Abs(level)
	switch {
	case s.Kind == metric.Odds:
		quantum, waver = quantum*m.Slope(s.Kind, s.Back(level)), m.Step(m.Restless)
	case s.Kind == metric.Log:
		quantum, waver = quantum/s.Back(level), m.Restless
	case m.Signed:
		waver = 0
	}
	return screening.Prior{Between: 2 * unit, Repetition: 5 * unit, Floor: max(math.Hypot(quantum, waver), unit/1000)}
}

// Effect returns how far a worsening by a share moves the centre on the judged scale, from a level
// of the metric, at least by the metric's resolution. It is above 0 where the worsening is a higher
// value.
func Effect(m metric.Metric, s Scale, level, share float64) float64 {
	by := share
	switch {
	case s.Kind == metric.Odds:
		by = m.Step(share)
	case m.Ratio:
	case m.Signed:
		by = 100 * share * Unit(m, s, level)
	case s.Kind == metric.Log:
		if m.Direction == metric.HigherIsBetter {
			return math.Log1p(-min(max(share, m.Resolution/s.Back(level)), 0.99))
		}
		return max(m.Step(share), math.Log1p(m.Resolution/s.Back(level)))
	default:
		if by = max(share*math.Abs(level), m.Resolution); by == 0 {
			by = 100 * share * leastUnit
		}
	}
	if m.Direction == metric.HigherIsBetter {
		return -by
	}
	return by
}

// withoutBad leaves out the sessions that are far worse than most: builds that should not have been
// accepted, or a phone that was busy with something else. They don't show how good a worse build
// may look. Sessions that are far better stay, as they do.
func withoutBad(all []session, m metric.Metric, s Scale) (kept []session, aside int) {
	const (
		fewest  = 4  // sessions needed
		spreads = 6  // robust standard deviations that count as far
		shares  = 25 // per cent that count as far
	)
	if len(all) < fewest {
		return all, 0
	}
	distances := centresOf(all)
	middle := stat.Median(distances)
	for i, x := range distances {
		distances[i] = math.Abs(x - middle)
	}
	const toSD = 1.4826 // for a normal distribution's median absolute deviation
	far := max(spreads*toSD*stat.Median(distances), shares*Unit(m, s, s.Back(middle)))
	kept = slices.DeleteFunc(slices.Clone(all), func(o session) bool {
		worse := o.Centre - middle
		if m.Direction == metric.HigherIsBetter {
			worse = -worse
		}
		return worse > far
	})
	return kept, len(all) - len(kept)
}

// Newest returns the evidence of an exact number: the one that was accepted last, of the own
// context if there is one.
func (v Values) Newest() Evidence {
	at := -1
	for i := range v.Numbers {
		if at < 0 || v.newer(i, at) {
			at = i
		}
	}
	if at < 0 {
		return Evidence{}
	}
	x := v.Numbers[at]
	return Evidence{N: 1, Own: 1, Expected: x, Fences: stat.Fences{Q1: x, Q3: x, Lower: x, Upper: x}}
}

// newer reports whether the i-th value is preferred to the k-th.
func (v Values) newer(i, k int) bool {
	ownI, ownK := v.groups[i] == v.past.Own, v.groups[k] == v.past.Own
	if ownI != ownK {
		return ownI
	}
	return v.past.Refs[v.ref(i)].Started.After(v.past.Refs[v.ref(k)].Started)
}
