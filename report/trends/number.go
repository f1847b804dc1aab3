package trends

import (
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/trend"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/wording"
)

// state is what the newest nights show of a number, the most urgent first.
type state int

const (
	worse state = iota
	drifts
	better
	accepted
	steady
)

// number is a number with its scenario, and what is new.
type number struct {
	trend.Number
	scenario trend.Scenario
	state    state
	change   *trend.Change // the last one, nil for none
	device   int           // the only device that shows it, -1 for the fleet
	weight   float64
	page     func(runs []string) string // the address of the page of a night's runs; nil for none
}

// ranked returns all numbers, news first, whose steps lead to the pages of their nights.
func (in Input) ranked(scenarios []trend.Scenario) []number {
	all := ranked(scenarios)
	for i := range all {
		all[i].page = in.pageOf
	}
	return all
}

// ranked returns all numbers, news first.
func ranked(scenarios []trend.Scenario) []number {
	var out []number
	for _, s := range scenarios {
		for _, n := range s.Numbers {
			out = append(out, newNumber(s, n))
		}
	}
	slices.SortStableFunc(out, func(a, b number) int {
		if a.state != b.state {
			return int(a.state - b.state)
		}
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	return out
}

func newNumber(s trend.Scenario, n trend.Number) number {
	out := number{Number: n, scenario: s, state: steady, device: -1}
	series := []trend.Series{n.Fleet}
	if len(n.Fleet.Changes) == 0 || !out.recent(n.Fleet.Changes[len(n.Fleet.Changes)-1]) {
		series = append(series, n.Devices...)
	}
	for _, one := range series {
		if len(one.Changes) == 0 || out.change != nil && one.Device >= 0 && !out.recent(one.Changes[len(one.Changes)-1]) {
			continue
		}
		last := one.Changes[len(one.Changes)-1]
		if one.Device >= 0 && !out.recent(last) {
			continue
		}
		out.change, out.device = &last, one.Device
		if out.recent(last) {
			break
		}
	}
	if c := out.change; c != nil && out.recent(*c) {
		out.weight = gate.Worsening(n.Metric, c.Before, c.Shift, c.Change)
		switch {
		case c.Decision != nil:
			out.state = accepted
		case c.Direction == gate.ToRegression:
			out.state = worse
		default:
			out.state, out.weight = better, -out.weight
		}
	}
	if by, creeping := out.creep(); out.state > drifts && creeping {
		out.state, out.weight = drifts, by
	}
	return out
}

// creep returns how much worse the number got without a step, and whether it did: by the trend
// within the quarter, or within the present level.
func (n number) creep() (worsening float64, creeping bool) {
	if n.Drift != nil && n.Drift.Creeps() {
		return gate.Worsening(n.Metric, n.Drift.Creep.From, n.Drift.Creep.Shift, n.Drift.Creep.Change), true
	}
	l, moves := n.moving()
	if !moves {
		return 0, false
	}
	worsening = gate.Worsening(n.Metric, l.Start, l.End-l.Start, shareOf(n.Metric, l))
	return worsening, worsening > 0
}

// moving returns the present level if it moves.
func (n number) moving() (trend.Level, bool) {
	k := len(n.Fleet.Levels)
	if k == 0 || !n.Fleet.Levels[k-1].Moves() {
		return trend.Level{}, false
	}
	return n.Fleet.Levels[k-1], true
}

// shareOf returns how far a level moved as a share of its start, 0 where that is 0 or may be below
// it.
func shareOf(m metric.Metric, l trend.Level) float64 {
	if l.Start == 0 || m.Signed {
		return 0
	}
	return (l.End - l.Start) / l.Start
}

func (n number) recent(c trend.Change) bool { return c.First >= len(n.scenario.Nights)-recentNights }

// of returns the numbers of a scenario.
func of(all []number, s trend.Scenario) (out []number) {
	for _, n := range all {
		if n.scenario.Package == s.Package && n.scenario.Scenario == s.Scenario {
			out = append(out, n)
		}
	}
	return out
}

// what names the number, where several scenarios are shown with its scenario.
func (n number) what(several bool) string {
	text := wording.Brief(n.Metric.Title)
	if n.Event != "" {
		text += " after " + wording.Brief(n.Event)
	}
	if several {
		text = titleOf(n.scenario) + ": " + text
	}
	return text
}

// news says what is new, after the name of the number.
func (n number) news() string {
	if n.state == drifts && (n.Drift == nil || !n.Drift.Creeps()) {
		l, _ := n.moving()
		return fmt.Sprintf("moved by %s since %s, which no single step shows", wording.Shift(n.Metric, l.End-l.Start, shareOf(n.Metric, l)), dateOf(n.scenario.Nights[l.From].Started))
	}
	if n.state == drifts {
		c := n.Drift.Creep
		return fmt.Sprintf("moved by %s within the quarter, which no single step shows (%s)", wording.Shift(n.Metric, c.Shift, c.Change), "p "+wording.P(n.Drift.P))
	}
	return n.stepText(*n.change, n.device)
}

// stepText describes a change.
func (n number) stepText(c trend.Change, device int) string {
	before, after := wording.Beside(n.Metric, c.Before, c.After)
	text := wording.Shift(n.Metric, c.Shift, c.Change) + " (" + before + " to " + after + ") since " + dateOf(n.scenario.Nights[c.First].Started)
	if device >= 0 {
		text += " on " + prose.Clip(wording.Context(n.scenario.Devices[device].Context), 40)
	}
	if commits := n.commits(c); commits != "" {
		text += ", commit " + commits
	}
	return text
}

// commits are the last commit before a change and the first one with it.
func (n number) commits(c trend.Change) string {
	last, first := n.scenario.Nights[c.Last].Commit, n.scenario.Nights[c.First].Commit
	if first == "" {
		return ""
	}
	if last == "" || last == first {
		return short(first)
	}
	return short(last) + ".." + short(first)
}
