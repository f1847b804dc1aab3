package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/stat"
)

// Course is a metric over the nights of a history, evenly spaced: a row for the fleet, or one for each
// device on a scale of its own.
type Course struct {
	Title  string
	Metric metric.Metric
	Nights []time.Time // oldest first
	Rows   []CourseRow
	Each   document.Noun // what a dot is; zero: a night
}

// CourseRow is one series: a dot for each night, a line for each level, a sign for each step.
type CourseRow struct {
	Label  string // "" for the only one
	Points []CoursePoint
	Levels []CourseLevel
	Steps  []CourseStep
	Marks  []CourseMark // values of other runs than accepted ones
	Rings  []CourseRing // values of builds that are no part of the series
}

// CourseRing is a build that was measured after the night At.
type CourseRing struct {
	At    int
	Value float64
	Tone  document.Tone
}

// CoursePoint is a night's value; At is the night's place.
type CoursePoint struct {
	At    int
	Value float64
}

// CourseLevel is a line from one night to another.
type CourseLevel struct {
	From, To   int
	Start, End float64
}

// CourseStep is a change of level between the night At and the one before.
type CourseStep struct {
	At       int
	Tone     document.Tone
	Text     string // "+12 %"
	Accepted bool   // someone decided that it is intended
	Link     string // the address of the night's page, "" for none
}

// CourseMark is a run of its own.
type CourseMark struct {
	At    int
	Value float64
	Tone  document.Tone
	Label string
}

const (
	courseTall  = 150.0 // the plot of an only row, and courseFlat that of several
	courseFlat  = 46.0
	courseLeft  = 64.0 // room for the numbers of the axis
	courseAbove = 34.0 // room for labels above a plot
	mostRows    = 12
	// perPoint is the least width of a dot: of more nights than fit, each dot is the median of
	// consecutive ones.
	perPoint = 2.0
)

// Draw returns the figure as SVG.
func (f Course) Draw(id, class string, width float64) string {
	rows := f.Rows[:min(len(f.Rows), mostRows)]
	tall := courseTall
	if len(rows) > 1 {
		tall = courseFlat
	}
	c := &canvas{width: width, height: float64(len(rows))*(tall+courseAbove) + 28}
	x := scale{low: -0.5, high: max(float64(len(f.Nights)), 1) - 0.5, from: courseLeft, to: width - sideRoom}
	y := 0.0
	for _, r := range rows {
		f.drawRow(c, x, r, y+courseAbove, tall)
		y += tall + courseAbove
	}
	f.drawDates(c, x, y+16)
	return c.svg(id, class, f.Title, f.Description())
}

func (f Course) drawRow(c *canvas, x scale, r CourseRow, top, tall float64) {
	y := r.scale(top+tall, top, f.Metric)
	ticks := y.ticks(max(2, int(tall/40)))
	for _, t := range ticks {
		c.line("grid", x.from, y.at(t), x.to, y.at(t))
		c.text("small muted", x.from-8, y.at(t)+4, endAt, fitText(tickText(f.Metric, t, ticks), courseLeft-10))
	}
	c.line("axis", x.from, top+tall, x.to, top+tall)
	label := r.Label
	if label == "" {
		label = axisTitle(f.Metric, y)
	}
	c.text("small muted", 0, top-20, startAt, fitText(label, x.to))
	var dots strings.Builder
	for _, p := range thinned(r.Points, int((x.to-x.from)/perPoint)) {
		fmt.Fprintf(&dots, "M%s %sh0", px(x.at(float64(p.At))), px(y.at(p.Value)))
	}
	c.path("dots", dots.String())
	for _, l := range r.Levels {
		c.line("level", x.at(float64(l.From)-0.4), y.at(l.Start), x.at(float64(l.To)+0.4), y.at(l.End))
	}
	for _, b := range r.Rings {
		c.circle("ring "+classOf(b.Tone), x.at(float64(b.At)+0.5), y.at(b.Value), 3.5)
	}
	drawSteps(c, x, r.Steps, top, tall)
	for _, m := range r.Marks {
		at, height := x.at(float64(m.At)), y.at(m.Value)
		c.path("mark "+classOf(m.Tone), diamond(at, height))
		c.text("small strong halo", at-10, height+4, endAt, fitText(m.Label, at-x.from-10))
	}
}

// drawSteps draws the newest steps last, each with its text where there is room for it.
func drawSteps(c *canvas, x scale, steps []CourseStep, top, tall float64) {
	free := x.to
	for _, s := range slices.Backward(steps) {
		at := x.at(float64(s.At) - 0.5)
		c.line("step-line "+classOf(s.Tone), at, top-4, at, top+tall)
		sign := "▲"
		if strings.HasPrefix(s.Text, "−") {
			sign = "▼"
		}
		text := sign + " " + s.Text
		if s.Accepted {
			text += " ✓"
		}
		if room := textWidth(text); at+room <= free+sideRoom {
			c.link(s.Link, func() { c.text("small halo tone "+classOf(s.Tone), at, top-7, startAt, text) })
			free = at - 6
		} else if at-room >= x.from && at <= free {
			c.link(s.Link, func() { c.text("small halo tone "+classOf(s.Tone), at, top-7, endAt, text) })
			free = at - room - 6
		}
	}
}

// drawDates writes the dates of some nights below the plots.
func (f Course) drawDates(c *canvas, x scale, y float64) {
	n := len(f.Nights)
	if n == 0 {
		return
	}
	places := max(1, min(n, int((x.to-x.from)/110)))
	for k := range places {
		i, anchor := 0, startAt
		if k > 0 {
			i, anchor = k*(n-1)/(places-1), middleAt
		}
		if k == places-1 && k > 0 {
			anchor = endAt
		}
		c.text("small muted", x.at(float64(i)), y, anchor, f.Nights[i].UTC().Format("2 Jan 2006"))
	}
}

// scale covers everything that is drawn, and at least a tenth of the values.
func (r CourseRow) scale(from, to float64, m metric.Metric) scale {
	var all []float64
	for _, p := range r.Points {
		all = append(all, p.Value)
	}
	for _, l := range r.Levels {
		all = append(all, l.Start, l.End)
	}
	for _, x := range r.Marks {
		all = append(all, x.Value)
	}
	for _, x := range r.Rings {
		all = append(all, x.Value)
	}
	low, high := around(all)
	return newScale(low, high, from, to, m.Log)
}

// around returns the range of values, widened to at least a tenth of their middle, so that noise
// does not look like much.
func around(all []float64) (low, high float64) {
	all = slices.DeleteFunc(all, func(v float64) bool { return !finite(v) })
	if len(all) == 0 {
		return 0, 1
	}
	low, high = slices.Min(all), slices.Max(all)
	if middle := (low + high) / 2; high-low < middle/10 {
		low, high = middle*0.95, middle*1.05
	}
	return low, high
}

// thinned returns the points that can be drawn, at most so many: each is then the median of
// consecutive ones.
func thinned(points []CoursePoint, most int) []CoursePoint {
	points = slices.DeleteFunc(slices.Clone(points), func(p CoursePoint) bool { return !finite(p.Value) })
	if len(points) <= most {
		return points
	}
	out := make([]CoursePoint, most)
	for k := range out {
		part := points[k*len(points)/most : (k+1)*len(points)/most]
		values := make([]float64, len(part))
		for i, p := range part {
			values[i] = p.Value
		}
		out[k] = CoursePoint{part[len(part)/2].At, stat.Median(values)}
	}
	return out
}

// Description describes the figure in words.
func (f Course) Description() string {
	var parts []string
	for _, r := range f.Rows[:min(len(f.Rows), mostRows)] {
		text := cmp.Or(f.Each, document.Noun{One: "night", Many: "nights"}).Count(len(r.Points))
		if r.Label != "" {
			text = r.Label + ": " + text
		}
		for i, l := range r.Levels[max(0, len(r.Levels)-mostLevels):] {
			text += []string{"; ", ", then "}[min(i, 1)] + f.level(l)
		}
		if k := len(r.Rings); k > 0 {
			text += fmt.Sprintf("; %s not accepted, the newest %s", prose.Count(k, "build", "builds"), wording.Value(f.Metric, r.Rings[k-1].Value))
		}
		for _, m := range r.Marks {
			text += "; " + m.Label + " " + wording.Value(f.Metric, m.Value)
		}
		parts = append(parts, text+".")
	}
	if n := len(f.Rows) - mostRows; n > 0 {
		parts = append(parts, prose.Count(n, "more device is", "more devices are")+" not drawn.")
	}
	return strings.Join(parts, " ")
}

// mostLevels limits the levels that are described in words.
const mostLevels = 8

func (f Course) level(l CourseLevel) string {
	text := wording.Value(f.Metric, l.Start)
	if l.Start != l.End {
		text += " drifting to " + wording.Value(f.Metric, l.End)
	}
	if l.From < len(f.Nights) && !f.Nights[l.From].IsZero() {
		text += " from " + f.Nights[l.From].UTC().Format("2 Jan 2006") + " on"
	}
	return text
}

// Spark returns the values of a row as a line of characters of that width, the lowest value at the
// bottom.
func (r CourseRow) Spark(width int) string {
	const bars = "▁▂▃▄▅▆▇█"
	points := thinned(r.Points, width)
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = p.Value
	}
	low, high := around(slices.Clone(values))
	heights := []rune(bars)
	var out strings.Builder
	for _, v := range values {
		share := (v/2 - low/2) / (high/2 - low/2)
		if !finite(share) {
			share = 0
		}
		out.WriteRune(heights[min(max(int(share*float64(len(heights))), 0), len(heights)-1)])
	}
	return out.String()
}
