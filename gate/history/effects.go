package history

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/rounds"
)

// ladder are the worsenings that a pass may exclude, as multiples of the policy's MinEffect: the
// least that the budget allows is chosen.
var ladder = []float64{1, 1.25, 1.5, 2, 2.5, 3, 3.5}

const (
	// planned is the share of the budget that an unchanged build may be expected to use.
	planned = 0.3
	// eventEffect is the worsening to exclude for UI events: there are dozens of them, and they
	// vary more than a whole run.
	eventEffect = 0.25
	// mostlyCleared is how often the history has to clear an unchanged build's event for the event
	// to decide.
	mostlyCleared = 0.99
)

// chooseEffects finds, for each deciding number, the least worsening that can be excluded within
// the budget according to the history, whatever the new run shows; and which UI events can decide
// with theirs. Without a budget the policy's MinEffect is used.
func chooseEffects(p gate.Policy, checks []*check) {
	for _, c := range checks {
		for _, j := range c.judged {
			if j.Event != "" && !p.Named(j.Event, j.Metric) && c.wholeDecides() {
				j.screen(max(eventEffect, j.share))
				j.Shown = !j.mostlyCleared()
			}
		}
	}
	if p.Budget.Alone {
		for _, c := range checks {
			clearable(p, c)
		}
	}
	if p.Budget.Minutes <= 0 || p.Budget.Rounds <= 0 {
		return
	}
	byDevice := map[string][]*check{}
	for _, c := range checks {
		byDevice[c.context] = append(byDevice[c.context], c)
	}
	for _, chance := range byDevice {
		var known []*effort
		var unknown [][]*effort // of each scenario that is new there
		for _, c := range chance {
			k, u := effortsOf(p, c)
			if known = append(known, k...); len(u) > 0 {
				unknown = append(unknown, u)
			}
		}
		fit(known, planned*p.Budget.Minutes)
		for _, scenario := range unknown {
			fitEach(scenario, planned*p.Budget.Minutes/float64(len(unknown)))
		}
	}
}

// wholeDecides reports whether a number of the whole run decides. Where none does, only the UI
// events are left.
func (c *check) wholeDecides() bool {
	return slices.ContainsFunc(c.judged, func(j *judgement) bool { return j.Event == "" && !j.metric.Exact && j.decides() })
}

// letAllDecide makes every number of the whole run decide where none of the usual ones was
// measured: else the run would pass whatever it shows.
func (c *check) letAllDecide() {
	if c.wholeDecides() {
		return
	}
	for _, j := range c.judged {
		if j.Event == "" {
			j.Shown = false
		}
	}
}

// oftenCleared is how often the history alone has to clear an unchanged build's number, where
// rounds are impossible.
const oftenCleared = 0.95

// clearable finds for each deciding number the least worsening that the history alone excludes for
// nearly every unchanged build. If there is none, the number would leave every build undecided, so
// it is only shown if others decide; unless it is judged on behalf of a whole session, where a
// build that is slower everywhere would stay hidden.
func clearable(p gate.Policy, c *check) {
	var never []*judgement
	some := false
	for _, j := range c.judged {
		if !j.decides() || j.Event != "" || !j.evidence.Outlook.Known() || !j.scale.Multiplies() {
			continue
		}
		clearing := j.clearing()
		at := slices.IndexFunc(ladder, func(step float64) bool { return clearing.chance(j.share*step) >= oftenCleared })
		switch {
		case at < 0:
			never = append(never, j)
			continue
		case at > 0:
			j.screen(j.share * ladder[at])
		}
		some = true
	}
	if !some {
		return
	}
	for _, j := range never {
		j.Shown = j.Common == 0 && !p.Named(j.Event, j.Metric)
	}
}

// decides reports whether the comparison decides the verdict.
func (j *judgement) decides() bool { return !j.Shown }

// mostlyCleared reports whether the history nearly always clears an unchanged build's number.
func (j *judgement) mostlyCleared() bool { return j.clearing().chance(j.share) >= mostlyCleared }

// clearing is how often the history clears the number of an unchanged build.
type clearing struct {
	*judgement
	lucky float64 // the quantile on the better side that a session exceeds with the chance that may be missed
}

func (j *judgement) clearing() clearing {
	c := clearing{judgement: j}
	switch o := j.evidence.Outlook; {
	case !o.Known():
	case j.effectOf(j.share) > 0:
		c.lucky = o.Quantile(gate.MostMissed)
	default:
		c.lucky = o.Quantile(1 - gate.MostMissed)
	}
	return c
}

// chance returns the chance that such a worsening is excluded.
func (c clearing) chance(share float64) float64 {
	o := c.evidence.Outlook
	if !o.Known() {
		return 0
	}
	effect := c.effectOf(share)
	if effect > 0 {
		return o.Below(c.lucky + effect)
	}
	return o.Above(c.lucky + effect)
}

// effort is the time needed to settle one deciding number of a scenario.
type effort struct {
	clearing
	lasts   gate.RoundDurations
	step    int // of the ladder
	minutes float64
	least   float64 // minutes, at the top of the ladder
}

// effortsOf returns those of a scenario's numbers, separately for numbers whose context has no
// history.
func effortsOf(p gate.Policy, c *check) (known, unknown []*effort) {
	for _, j := range c.judged {
		if !j.decides() || j.Event != "" || !j.scale.Multiplies() {
			continue
		}
		e := &effort{clearing: j.clearing(), lasts: p.Budget.DurationsOf(c.run.Scenario)}
		switch {
		case j.evidence.Outlook.Known():
			e.minutes, e.least = e.expected(0), e.expected(len(ladder)-1)
			known = append(known, e)
		case j.evidence.Within.SD() > 0:
			unknown = append(unknown, e)
		}
	}
	return known, unknown
}

// fit raises the excluded worsening of the number that is expected to take longest, until all
// numbers of the device are expected to take no more than these minutes together.
func fit(all []*effort, minutes float64) {
	top := len(ladder) - 1
	for {
		sum := 0.0
		var longest *effort
		for _, e := range all {
			if e.least > minutes { // no budget settles it, and the others should not pay for that
				e.step = top
				continue
			}
			sum += e.minutes
			if e.step+1 < len(ladder) && (longest == nil || e.minutes > longest.minutes) {
				longest = e
			}
		}
		if sum <= minutes || longest == nil {
			break
		}
		longest.step++
		longest.minutes = longest.expected(longest.step)
	}
	for _, e := range all {
		if e.step > 0 {
			e.screen(e.share * ladder[e.step])
		}
	}
}

// fitEach raises the excluded worsening of each number until rounds of the scenario, which serve
// all of them, are likely to settle it within these minutes.
func fitEach(all []*effort, minutes float64) {
	for _, e := range all {
		for e.step+1 < len(ladder) && e.expected(e.step) > minutes {
			e.step++
		}
		if e.step > 0 {
			e.screen(e.share * ladder[e.step])
		}
	}
}

// expected returns the minutes of rounds that an unchanged build is expected to take to exclude
// that step of the ladder.
func (e *effort) expected(step int) float64 {
	share := e.share * ladder[step]
	minutes := rounds.Settling(e.evidence.Within, math.Abs(e.effectOf(share)), e.lasts)
	return (1 - e.chance(share)) * minutes
}
