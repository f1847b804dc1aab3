package history

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/rounds"
)

// ladder are the worsenings that a pass may exclude, as shares of the policy's MinEffect:
// the least that the budget allows is chosen.
var ladder = []float64{1, 1.25, 1.5, 2, 2.5, 3, 3.5}

const (
	// planned is the part of the budget that an unchanged build may be expected to take.
	planned = 0.3
	// eventEffect is the worsening that is asked of UI events: there are dozens of them, and
	// they vary more than a whole run.
	eventEffect = 0.25
	// mostlyCleared is how often an event of an unchanged build has to be cleared by the
	// history for it to have a say.
	mostlyCleared = 0.99
)

// chooseEffects finds, for each number that decides, the least worsening that can be told
// from none within the budget, as the history has it and whatever the new run shows; and
// which UI events can have a say at theirs. Without a budget the policy's MinEffect stays.
func chooseEffects(p gate.Policy, checks []*check) {
	for _, c := range checks {
		for _, j := range c.judged {
			if j.Event != "" && !p.Named(j.Event, j.Metric) && c.wholeDecides() {
				j.ask(max(eventEffect, j.share))
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
	for _, of := range byDevice {
		var known []*effort
		var unknown [][]*effort // of each scenario that is new there
		for _, c := range of {
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

// wholeDecides reports whether a number of the whole run has a say. Where none has, UI events
// are all that there is.
func (c *check) wholeDecides() bool {
	return slices.ContainsFunc(c.judged, func(j *judgement) bool { return j.Event == "" && !j.metric.Exact && j.decides() })
}

// letAllDecide gives every number of the whole run a say where none of those that decide was
// measured: what nothing decides would pass whatever it shows.
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
// nothing else can.
const oftenCleared = 0.95

// clearable finds for each number that decides the least worsening that the history alone
// excludes of nearly every unchanged build. A number of which it excludes none, beside others,
// would leave every build undecided: it is shown, unless it is judged on behalf of a whole
// session, in which a build that is slower all over would hide.
func clearable(p gate.Policy, c *check) {
	var never []*judgement
	some := false
	for _, j := range c.judged {
		if !j.decides() || j.Event != "" || !j.evidence.Outlook.Known() || !j.scale.Multiplies() {
			continue
		}
		clearing := j.clearing()
		at := slices.IndexFunc(ladder, func(step float64) bool { return clearing.of(j.share*step) >= oftenCleared })
		switch {
		case at < 0:
			never = append(never, j)
			continue
		case at > 0:
			j.ask(j.share * ladder[at])
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

// decides reports whether the comparison has a say in the verdict.
func (j *judgement) decides() bool { return !j.Shown }

// mostlyCleared reports whether the history clears an unchanged build's number nearly always.
func (j *judgement) mostlyCleared() bool { return j.clearing().of(j.share) >= mostlyCleared }

// clearing is how often the history clears the number of an unchanged build.
type clearing struct {
	*judgement
	lucky float64 // what a session lies on the better side of with the chance that may be missed
}

func (j *judgement) clearing() clearing {
	c := clearing{judgement: j}
	switch o := j.evidence.Outlook; {
	case !o.Known():
	case j.effectOf(j.share) > 0:
		c.lucky = o.Quantile(mostMissed)
	default:
		c.lucky = o.Quantile(1 - mostMissed)
	}
	return c
}

// of is the chance that such a worsening is excluded.
func (c clearing) of(share float64) float64 {
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

// effort is what it takes to settle one number of a scenario that decides.
type effort struct {
	clearing
	lasts   gate.Lasts
	step    int // of the ladder
	minutes float64
	least   float64 // minutes, at the top of the ladder
}

// effortsOf are those of a scenario's numbers, apart where the history knows nothing of their
// context.
func effortsOf(p gate.Policy, c *check) (known, unknown []*effort) {
	for _, j := range c.judged {
		if !j.decides() || j.Event != "" || !j.scale.Multiplies() {
			continue
		}
		e := &effort{clearing: j.clearing(), lasts: p.Budget.LastsOf(c.run.Scenario)}
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

// fit raises what is excluded of the number that is expected to take longest, until the
// device's are expected to take no more than these minutes together.
func fit(all []*effort, minutes float64) {
	top := len(ladder) - 1
	for {
		sum := 0.0
		var longest *effort
		for _, e := range all {
			if e.least > minutes { // no budget settles it: the others don't pay for that
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
			e.ask(e.share * ladder[e.step])
		}
	}
}

// fitEach raises what is excluded of each number until rounds of the scenario, which serve them
// all, are likely to settle it within these minutes.
func fitEach(all []*effort, minutes float64) {
	for _, e := range all {
		for e.step+1 < len(ladder) && e.expected(e.step) > minutes {
			e.step++
		}
		if e.step > 0 {
			e.ask(e.share * ladder[e.step])
		}
	}
}

// expected are the minutes that rounds for the number are expected to take of an unchanged
// build, where that step of the ladder is to be excluded.
func (e *effort) expected(step int) float64 {
	share := e.share * ladder[step]
	minutes := rounds.Settling(e.evidence.Within, math.Abs(e.effectOf(share)), e.lasts)
	return (1 - e.of(share)) * minutes
}
