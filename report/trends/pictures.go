package trends

import (
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/trend"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/wording"
)

const (
	mostPictures = 6  // of what is new
	mostDrawn    = 24 // numbers with all their devices
)

// guide says how to read a picture.
const guide = "Each dot is a night of accepted runs, each line a level. At a dashed line the level changed, by the share above it; ✓ marks a change that was accepted on purpose. Where more nights than fit are drawn, a dot is the median of consecutive ones."

// judgedGuide says what else is in one.
const judgedGuide = "A ring is a build that was judged and not accepted, as of a pull request: it is no part of a level."

// picturesSection draws what is new, or else the first numbers.
func picturesSection(all []number, several bool) document.Section {
	g := &document.Gallery{Noun: document.Noun{One: "picture", Many: "pictures"}, Rooms: document.Rooms{Page: document.Room{Open: 3}}}
	for i, n := range all[:min(len(all), mostPictures)] {
		f := n.course(several)
		g.Figures = append(g.Figures, document.Figure{ID: fmt.Sprintf("p%d", i), Caption: n.caption(several), Detail: n.detail(), Of: n.name(), Picture: f})
	}
	text := guide
	if slices.ContainsFunc(all[:min(len(all), mostPictures)], func(n number) bool { return len(n.shown().Judged) > 0 }) {
		text += " " + judgedGuide
	}
	return document.Section{ID: "pictures", Title: document.Everywhere("Over time"), Guide: text, Body: g}
}

func (n number) caption(several bool) string {
	text := wording.UpperFirst(n.what(several))
	switch {
	case n.device >= 0:
		text += " on " + prose.Clip(wording.Context(n.scenario.Devices[n.device].Context), 60)
	case len(n.scenario.Devices) > 1:
		text += ", all devices"
	}
	return text
}

// detail says what is new below the caption.
func (n number) detail() string {
	switch {
	case n.state == steady && n.change == nil:
		return ""
	case n.state == steady || n.state == accepted:
		return wording.UpperFirst(n.stepText(*n.change, n.device))
	}
	return wording.UpperFirst(n.news())
}

// everyNumber draws each number for the fleet and by device.
func everyNumber(all []number, several bool) document.Section {
	g := &document.Groups{Noun: rowNoun, Rooms: document.Rooms{Page: document.Room{Most: mostDrawn}, Terminal: document.Room{Most: mostDrawn}}}
	for i, n := range all {
		group := document.Group{Title: n.what(several), Fact: n.fact()}
		for _, c := range slices.Backward(n.Fleet.Changes) {
			text := wording.UpperFirst(n.stepText(c, -1))
			if c.Decision != nil {
				text += ": " + decided(*c.Decision)
			}
			group.Lines = append(group.Lines, text+".")
		}
		if i < mostDrawn {
			group.Figures = []document.Figure{{ID: fmt.Sprintf("n%d", i), Caption: n.caption(several), Of: n.name(), Picture: n.course(several)}}
			if len(n.Devices) > 1 {
				f := n.byDevice(several)
				group.Figures = append(group.Figures, document.Figure{ID: fmt.Sprintf("d%d", i), Caption: "By device", Detail: "Each on a scale of its own.", Picture: f})
			}
		}
		g.Groups = append(g.Groups, group)
	}
	return document.Section{ID: "each", Title: document.Titles{Terminal: "Each number", Comment: "Each number", Page: "Each number, by device"}, Detail: true, Body: g}
}

// fact sums a number up.
func (n number) fact() string {
	text := n.level() + ", " + n.status()
	if n.change != nil {
		text += ", " + n.lastChange() + " since " + n.since()
	}
	return text + ", " + prose.Count(len(n.Fleet.Changes), "change of level", "changes of level")
}

func (n number) course(several bool) figure.Course {
	return figure.Course{Title: n.what(several), Metric: n.Metric, Nights: startsOf(n.scenario), Rows: []figure.CourseRow{n.row(n.shown())}}
}

// shown is the series of the device that alone shows the news, or else the fleet's.
func (n number) shown() trend.Series {
	for _, d := range n.Devices {
		if d.Device == n.device {
			return d
		}
	}
	return n.Fleet
}

func (n number) byDevice(several bool) figure.Course {
	f := figure.Course{Title: n.what(several) + ", by device", Metric: n.Metric, Nights: startsOf(n.scenario)}
	for _, d := range n.Devices {
		row := n.row(d)
		row.Label = wording.Context(n.scenario.Devices[d.Device].Context)
		f.Rows = append(f.Rows, row)
	}
	return f
}

func startsOf(s trend.Scenario) []time.Time {
	out := make([]time.Time, len(s.Nights))
	for i, n := range s.Nights {
		out[i] = n.Started
	}
	return out
}

// rowOf returns a series as it is drawn.
func rowOf(s trend.Series) figure.CourseRow {
	var r figure.CourseRow
	for _, p := range s.Points {
		r.Points = append(r.Points, figure.CoursePoint{At: p.Night, Value: p.Value})
	}
	for _, l := range s.Levels {
		r.Levels = append(r.Levels, figure.CourseLevel{From: l.From, To: l.To, Start: l.Start, End: l.End})
	}
	return r
}

// row returns a series with its changes.
func (n number) row(s trend.Series) figure.CourseRow {
	out := rowOf(s)
	for _, j := range s.Judged {
		build := n.scenario.Judged[j.Judged]
		out.Rings = append(out.Rings, figure.CourseRing{At: build.Night, Value: j.Value, Tone: toneOf(build.Outcome)})
	}
	for _, c := range s.Changes {
		tone := document.Better
		if c.Direction == gate.ToRegression {
			tone = document.Worse
		}
		step := figure.CourseStep{At: c.First, Tone: tone, Text: wording.Shift(n.Metric, c.Shift, c.Change), Accepted: c.Decision != nil}
		if n.page != nil {
			step.Link = n.page(n.scenario.Nights[c.First].Runs)
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}
