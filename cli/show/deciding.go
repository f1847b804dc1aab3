package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// How much is listed of what decides.
const (
	listedDeciding = 36
	listedEvents   = 6 // of a number
)

// deciding is one number of a scenario with where it decides: in the whole run, and in UI events.
type deciding struct {
	scenario, metric string
	whole            *Loudness // nil if it is not compared
	say, none        []Loudness
}

// deciding returns the numbers that decide anywhere and have a percentage, by scenario and in the
// order of the catalogue. Their events are sorted by name.
func (a AppNoise) deciding() []deciding {
	var all []deciding
	for _, m := range a.Metrics {
		if of, _ := a.catalogue.Lookup(m.Metric); of.Mean {
			continue
		}
		at := slices.IndexFunc(all, func(d deciding) bool { return d.scenario == m.Scenario && d.metric == m.Metric })
		if at < 0 {
			at = len(all)
			all = append(all, deciding{scenario: m.Scenario, metric: m.Metric})
		}
		switch d := &all[at]; {
		case m.Event == "":
			d.whole = &m
		case m.HasSay():
			d.say = append(d.say, m)
		default:
			d.none = append(d.none, m)
		}
	}
	all = slices.DeleteFunc(all, func(d deciding) bool { return len(d.say) == 0 && (d.whole == nil || !d.whole.HasSay()) })
	slices.SortFunc(all, func(x, y deciding) int {
		return cmp.Or(cmp.Compare(x.scenario, y.scenario), a.catalogue.Compare(x.metric, y.metric))
	})
	for _, d := range all {
		for _, events := range [][]Loudness{d.say, d.none} {
			slices.SortFunc(events, func(x, y Loudness) int { return cmp.Compare(x.Event, y.Event) })
		}
	}
	return all
}

// showDeciding prints which numbers decide the verdict, in the whole run and in UI events, and the
// least worsening that each would have shown.
func (a AppNoise) showDeciding(c terminal.Console) error {
	all := a.deciding()
	if len(all) == 0 {
		return nil
	}
	table := terminal.NewTable(c, "scenario", "decides", "whole run", "UI events with a say", "without")
	for _, d := range all[:min(len(all), listedDeciding)] {
		whole := "no say"
		if d.whole != nil && d.whole.HasSay() {
			whole = a.shows(*d.whole)
		}
		say := few(d.say, func(m Loudness) string { return terminal.Plain(m.Event) + " " + a.shows(m) })
		none := few(d.none, func(m Loudness) string { return terminal.Plain(m.Event) })
		if err := table.Append(terminal.Plain(d.scenario), terminal.Plain(a.title(d.metric)), whole, say, none); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	if n := len(all) - listedDeciding; n > 0 {
		c.Paragraph("… and %d more of them", n)
	}
	c.Paragraph("Each percentage is a worsening that the history alone would have shown in nine of ten builds; – means that it is not known. Rare events, such as ANRs, decide too, and have no percentage.")
	if slices.ContainsFunc(all, func(d deciding) bool { return len(d.none) > 0 }) {
		c.Paragraph("A UI event without a say fails a run only beyond doubt: the history would not clear 99 of 100 unchanged builds of its worsening by 25 %%.")
	}
	return nil
}

// few lists the first of them, and how many more there are; – for none.
func few(all []Loudness, text func(Loudness) string) string {
	var out []string
	for _, m := range all[:min(len(all), listedEvents)] {
		out = append(out, text(m))
	}
	if n := len(all) - listedEvents; n > 0 {
		out = append(out, fmt.Sprintf("%d more", n))
	}
	return cmp.Or(strings.Join(out, ", "), "–")
}

// shows returns the worsening that would have shown: less, if more is better.
func (a AppNoise) shows(m Loudness) string {
	if m.Detectable <= 0 {
		return "–"
	}
	if of, _ := a.catalogue.Lookup(m.Metric); of.Direction == metric.HigherIsBetter {
		return terminal.Plain(wording.Signed(-m.Detectable))
	}
	return terminal.Plain(wording.Signed(m.Detectable))
}
