package history

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history/past"
	"github.com/apkgate/apkgate/gate/screening"
	"github.com/apkgate/apkgate/stat"
)

// leastScenarios is the least number of scenarios of one session that shows what all of them share:
// with fewer there is no middle of the others.
const leastScenarios = 3

// shareCommon subtracts from each comparison what all scenarios of its session share: a phone that
// is 4 % slower today is slower in each of them. The shared part is judged once, by the history of
// the sessions' shared parts. Where that does not clear it, one scenario keeps it on behalf of all,
// so that it comes first in rounds: a build that is slower everywhere is not excused as a bad day
// of the phone.
func shareCommon(p gate.Policy, checks []*check) {
	for _, of := range sessionsOf(checks) {
		var unsettled []*shared
		for _, s := range sharedBy(p, of) {
			s.settle(p)
			if !s.cleared {
				unsettled = append(unsettled, s)
			}
		}
		representative := representativeOf(unsettled)
		for _, s := range unsettled {
			s.judgeRepresentative(representative)
		}
	}
}

// sessionsOf returns the groups of checks of one session on one device, with at least
// leastScenarios different scenarios each.
func sessionsOf(checks []*check) [][]*check {
	type key struct{ context, session string }
	groups := map[key][]*check{}
	var order []key
	for _, c := range checks {
		if c.run.Session == "" || len(c.judged) == 0 {
			continue
		}
		k := key{c.context, c.run.Session}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], c)
	}
	var out [][]*check
	for _, k := range order {
		scenarios := map[string]bool{}
		for _, c := range groups[k] {
			scenarios[c.run.Scenario] = true
		}
		if len(scenarios) >= leastScenarios && len(scenarios) == len(groups[k]) {
			out = append(out, groups[k])
		}
	}
	return out
}

// shared is one metric of the whole runs of a session, in several scenarios.
type shared struct {
	of      []*judgement // one per scenario
	checks  []*check     // theirs
	with    []*judgement // the same comparisons including the shared part
	cleared bool         // the history of sessions clears the shared part
	suspect bool         // it looks worse
}

// sharedBy returns the metrics for which enough scenarios of a session have a history.
func sharedBy(p gate.Policy, checks []*check) []*shared {
	of := map[string]*shared{}
	var order []string
	for _, c := range checks {
		for _, j := range c.judged {
			if j.Event != "" || !j.scale.Multiplies() || !j.evidence.Outlook.Known() || !j.enough(p) {
				continue
			}
			if of[j.Metric] == nil {
				of[j.Metric], order = &shared{}, append(order, j.Metric)
			}
			s := of[j.Metric]
			s.of, s.checks = append(s.of, j), append(s.checks, c)
		}
	}
	var out []*shared
	for _, name := range order {
		if len(of[name].of) >= leastScenarios {
			out = append(out, of[name])
		}
	}
	return out
}

// deviations returns how far each session of a judgement's history lies from its level, by the
// session's name, and how far the new run does.
func (j *judgement) deviations() (before map[string]float64, now float64) {
	centres := make([]float64, len(j.evidence.Sessions))
	for i, s := range j.evidence.Sessions {
		centres[i] = s.Centre
	}
	level := stat.Median(centres)
	before = map[string]float64{}
	for _, s := range j.evidence.Sessions {
		if s.Name != "" {
			before[s.Name] = s.Centre - level
		}
	}
	return before, j.x.Centre - level
}

// settle subtracts what the other scenarios share from each comparison, and tests whether the
// history clears what all of them share.
func (s *shared) settle(p gate.Policy) {
	before, now := make([]map[string]float64, len(s.of)), make([]float64, len(s.of))
	for i, j := range s.of {
		before[i], now[i] = j.deviations()
	}
	s.judgeCommon(p, before, now)
	s.with = make([]*judgement, len(s.of))
	adjusted := make([]judgement, len(s.of))
	for i, j := range s.of {
		kept := *j
		s.with[i], adjusted[i] = &kept, *j
		if !adjusted[i].subtract(p, middles(before, i), middleBut(now, i)) {
			s.cleared = true // too few sessions have names: each is judged by itself
			return
		}
	}
	for i, j := range s.of {
		*j = adjusted[i]
		s.checks[i].subtractFromEvents(p, j.Metric, middles(before, i), middleBut(now, i))
	}
}

// subtract judges a comparison without what its session shares with others.
func (j *judgement) subtract(p gate.Policy, common map[string]float64, now float64) bool {
	x := j.x
	x.Centre -= now
	less, ok := j.evidence.Less(common, x, p.LeastRuns())
	if !ok {
		return false
	}
	j.evidence, j.x, j.off = less, x, now
	j.screen(j.share)
	return true
}

// subtractFromEvents does so for the metric's UI events.
func (c *check) subtractFromEvents(p gate.Policy, metric string, common map[string]float64, now float64) {
	for _, j := range c.judged {
		if j.Event != "" && j.Metric == metric && j.scale.Multiplies() && j.evidence.Outlook.Known() && j.enough(p) {
			j.subtract(p, common, now)
		}
	}
}

// middles returns what all scenarios except one share in each session that enough of them have.
func middles(before []map[string]float64, but int) map[string]float64 {
	values := map[string][]float64{}
	for i, of := range before {
		if i == but {
			continue
		}
		for name, d := range of {
			values[name] = append(values[name], d)
		}
	}
	out := map[string]float64{}
	for name, ds := range values {
		if len(ds) >= leastScenarios-1 {
			out[name] = stat.Median(ds)
		}
	}
	return out
}

// middleBut returns the middle of all values except one.
func middleBut(values []float64, but int) float64 {
	return stat.Median(slices.Delete(slices.Clone(values), but, but+1))
}

// judgeCommon tests whether the history of the sessions' shared parts clears the shared part of the
// new one.
func (s *shared) judgeCommon(p gate.Policy, before []map[string]float64, now []float64) {
	const none = -1
	common := middles(before, none)
	var sessions []screening.Session
	for _, of := range s.of[0].evidence.Sessions {
		if c, known := common[of.Name]; known {
			sessions = append(sessions, screening.Session{Centre: c, N: of.N})
		}
	}
	j := s.of[0]
	unit := past.Unit(j.metric, j.scale, j.scale.Back(j.evidence.Expected))
	outlook := screening.NewOutlook(sessions, j.x.N, j.evidence.Within, screening.Prior{Between: 2 * unit, Repetition: 5 * unit, Floor: unit / 10})
	if !outlook.Known() || len(sessions) < p.LeastRuns() {
		return
	}
	x := stat.Median(now)
	worse := outlook.Below(x - j.effect)
	tail := outlook.TailChance(x, true)
	if j.effect < 0 {
		worse, tail = outlook.Above(x-j.effect), outlook.TailChance(x, false)
	}
	s.cleared, s.suspect = worse <= gate.MostMissed, tail <= suspectLevel
}

// representativeOf returns the scenario that keeps what all share: the one with the most undecided
// numbers, among equals the one whose repetitions vary least.
func representativeOf(unsettled []*shared) *check {
	type candidate struct {
		c     *check
		open  int
		waver float64
	}
	var all []candidate
	for _, s := range unsettled {
		for i, c := range s.checks {
			at := slices.IndexFunc(all, func(k candidate) bool { return k.c == c })
			if at < 0 {
				at = len(all)
				all = append(all, candidate{c: c})
			}
			if j := s.of[i]; j.Missed != nil && *j.Missed > gate.MostMissed {
				all[at].open++
			}
			all[at].waver = max(all[at].waver, s.of[i].evidence.Within.SD())
		}
	}
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.open, a.open), cmp.Compare(a.waver, b.waver))
	}).c
}

// judgeRepresentative judges the representative's comparison including what all share, and never
// clears it where the shared part is not cleared.
func (s *shared) judgeRepresentative(representative *check) {
	for i, c := range s.checks {
		if c != representative {
			continue
		}
		j := s.of[i]
		*j = *s.with[i]
		j.Common = len(s.of)
		if s.suspect || j.Missed == nil {
			return
		}
		*j.Missed = math.Max(*j.Missed, math.Nextafter(gate.MostMissed, 1))
	}
}
