package interleaved

import (
	"cmp"
	"fmt"
	"math"

	"github.com/apkgate/apkgate/collect"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// agenda is the order in which places are measured, and how.
type agenda struct {
	places []int // of the verdict's runs, the most suspect first
	turns  []int // repetitions of each build in a round, in the order of places
	lasts  []gate.RoundDurations
}

// agendaOf returns the agenda of a trial.
func (s Settler) agendaOf(trial *rounds.Trial, v gate.Verdict) agenda {
	a := agenda{places: trial.Order()}
	for _, place := range a.places {
		lasts := s.lastsOf(v.Runs[place].Scenario)
		a.lasts = append(a.lasts, lasts)
		if s.Flags.Farm != nil { // each round is one observation of each build
			a.turns = append(a.turns, 1)
			continue
		}
		a.turns = append(a.turns, trial.Turn(place, lasts))
	}
	return a
}

// lastsOf returns how long the parts of a round of a scenario take.
func (s Settler) lastsOf(scenario string) gate.RoundDurations {
	return cmp.Or(s.Set.Policy.Budget.DurationsOf(scenario), assumed)
}

// mostRounds returns the maximum of rounds of each place, and what limits it, for people: on a farm
// also the money.
func (s Settler) mostRounds(m measurement.Measured, places []int) (most int, bound string) {
	if s.Flags.Farm == nil {
		return s.Config.Rounds.Max, "rounds.max"
	}
	all := measurement.Units(s.Config)
	var units []measurement.Unit
	for _, place := range places {
		units = append(units, all[m.Places[place]])
	}
	return min(s.Config.Rounds.Max, s.Flags.Farm.Affords(units)), "rounds.max, and what may be spent on the farm"
}

// fitting returns for how many rounds there is time where they are shortest: on a farm, which is
// paid and not waited for, as many as allowed.
func (s Settler) fitting(v gate.Verdict, questions []rounds.Question) int {
	if s.Flags.Farm != nil {
		return s.Config.Rounds.Max
	}
	most := 0.0
	for _, q := range questions {
		most = max(most, s.Config.Rounds.Within().Minutes()/s.lastsOf(v.Runs[q.Place].Scenario).Round(1))
	}
	return int(most)
}

// round returns how long a round takes in minutes: by the rounds so far, or as expected from the
// new run.
func (a agenda) round(job int, so collect.Progress) float64 {
	if so.Round > 0 {
		return so.Round.Minutes()
	}
	return a.lasts[job].Round(a.turns[job])
}

// until returns up to how many rounds are to be measured at a place now.
func (s Settler) until(trial *rounds.Trial, place int, round float64, so collect.Progress) int {
	left := so.Left.Minutes()
	if so.Left < 0 {
		left = math.Inf(1)
	}
	n, _ := trial.Within(place, left, round)
	return n - trial.Before(place)
}

// printAgenda prints what is about to be measured, and what the budget is not likely to settle,
// before any of it is spent.
func (s Settler) printAgenda(trial *rounds.Trial, a agenda, v gate.Verdict, most, questions, resumed int) {
	within := s.Config.Rounds.Within()
	where, bound := s.where(v, a.places), prose.Duration(within)
	if s.Flags.Farm != nil {
		where, bound = where+" of "+s.Flags.Farm.Title(), prose.Count(most, "round", "rounds")+" of each"
	}
	text := fmt.Sprintf("%s undecided: measuring base and head alternately on %s, %s at most, the most suspect first; base: %s",
		prose.Count(questions, "comparison is", "comparisons are"), where, bound, terminal.Plain(s.Base.name()))
	if resumed > 0 {
		text += "; rounds of these two commits that the history keeps count too"
	}
	fmt.Fprintln(s.Stderr, text)
	if line := a.unsettled(trial, v, within.Minutes()); line != "" && s.Flags.Farm == nil {
		fmt.Fprintln(s.Stderr, line)
	}
}

// unsettled returns one line on the scenarios that the minutes are not likely to settle, and what
// would; "" if there are none.
func (a agenda) unsettled(trial *rounds.Trial, v gate.Verdict, minutes float64) string {
	var names []string
	missing, never := 0.0, false
	spent, wanted := map[string]float64{}, map[string]float64{} // of each device, which has the minutes for itself
	for i, place := range a.places {
		takes := trial.Forecast(place) * a.lasts[i].Round(a.turns[i])
		device := devctx.Key(v.Runs[place].Context)
		wanted[device] += takes
		if spent[device]+takes <= minutes {
			spent[device] += takes
			continue
		}
		names = append(names, v.Runs[place].Scenario)
		never = never || math.IsInf(takes, 1)
		missing = max(missing, wanted[device]-minutes)
	}
	if len(names) == 0 {
		return ""
	}
	would := fmt.Sprintf("about %.0f more minutes would (rounds.minutes), or fewer scenarios, or a calmer device", math.Ceil(missing))
	if never {
		would = "a calmer device would"
	}
	return fmt.Sprintf("that time is unlikely to settle %s: %s", terminal.Plain(prose.Few(names, 3)), would)
}

// resume starts a place with earlier measurements.
func resume(trial *rounds.Trial, place int, parts []part) {
	var bases, heads []run.Run
	for _, p := range parts {
		bases, heads = append(bases, p.base), append(heads, p.head)
	}
	trial.Resume(place, bases, heads)
}

// mostOf returns the maximum of parts, and of rounds, that any place had before.
func mostOf(earlier map[int][]part) (parts, before int) {
	for _, of := range earlier {
		n := 0
		for _, p := range of {
			n += min(len(p.base.Iterations), len(p.head.Iterations)) / max(1, p.base.Turn)
		}
		parts, before = max(parts, len(of)), max(before, n)
	}
	return parts, before
}
