package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// Delays shows how many tasks were delayed for how long, the base's above the head's, each as a
// histogram of shares on one scale.
type Delays struct {
	list      []Delay
	label, of string
	over      float64
	most      float64 // ms
}

// Delay is the delays of one group of tasks.
type Delay struct {
	Name       string
	Base, Head Delayed
	Tone       document.Tone // the direction of a clear change
}

// Delayed is a distribution of delays.
type Delayed struct {
	Tasks int
	MS    []float64 // quantiles at even steps, from the shortest delay to the longest
}

const (
	delayText  = 18.0
	delayPlot  = 44.0
	delayGap   = 12.0
	mostDelays = 4
	barWidth   = 24.0 // of a histogram, about
)

// NewDelays returns a figure of delays, late from a limit on unless that is 0. of is what delayed
// the tasks. It returns false where there is nothing to draw.
func NewDelays(label, of string, overMS float64, list []Delay) (Delays, bool) {
	f := Delays{label: label, of: of, over: overMS}
	for _, d := range list {
		d.Base, d.Head = d.Base.drawable(), d.Head.drawable()
		if len(f.list) == mostDelays || len(d.Base.MS)+len(d.Head.MS) == 0 {
			continue
		}
		f.list = append(f.list, d)
		for _, ms := range slices.Concat(d.Base.MS, d.Head.MS) {
			f.most = max(f.most, ms)
		}
	}
	return f, len(f.list) > 0
}

// drawable returns the delays without those that can't be drawn.
func (d Delayed) drawable() Delayed {
	d.MS = slices.DeleteFunc(slices.Clone(d.MS), func(ms float64) bool { return !finite(ms) || ms < 0 })
	slices.Sort(d.MS)
	return d
}

// Draw returns the figure as SVG.
func (f Delays) Draw(id, class string, width float64) string {
	tall := 0.0
	for _, d := range f.list {
		tall += delayText + delayGap + float64(len(d.rows()))*(delayText+delayPlot)
	}
	c := &canvas{width: width, height: tall + 36}
	step := roundStep(max(f.most, 1) / max(math.Floor((width-2*sideRoom)/barWidth), 1))
	high := step * (math.Floor(max(f.most, f.over)/step) + 1)
	x := scale{high: high, from: sideRoom, to: width - sideRoom}
	ticks := x.ticks(max(2, int(width/110)))
	for _, t := range ticks {
		c.line("grid", x.at(t), delayText, x.at(t), tall-delayGap)
		c.text("small muted", x.at(t), tall+4, middleAt, wording.Digits(t, stepOf(ticks)))
	}
	c.text("small muted", (x.from+x.to)/2, tall+24, middleAt, wording.Name(f.of)+" (ms)")
	if f.over > 0 {
		c.line("limit", x.at(f.over), delayText, x.at(f.over), tall-delayGap)
	}
	y := 0.0
	for _, d := range f.list {
		y = f.drawDelay(c, x, step, d, y)
	}
	return c.svg(id, class, wording.Name(f.label), f.Description())
}

// delayRow is one histogram.
type delayRow struct {
	Delayed
	title, class string
}

// rows returns the histograms of a group, the base's first.
func (d Delay) rows() (out []delayRow) {
	if len(d.Base.MS) > 0 {
		out = append(out, delayRow{d.Base, "before", "box"})
	}
	if len(d.Head.MS) > 0 {
		out = append(out, delayRow{d.Head, "now", strings.TrimSpace("energy " + classOf(d.Tone))})
	}
	return out
}

// drawDelay draws a group below y, and returns where it ends.
func (f Delays) drawDelay(c *canvas, x scale, step float64, d Delay, y float64) float64 {
	c.text("small strong halo", x.from, y+13, startAt, fitText(wording.Name(d.Name), x.to-x.from))
	y += delayText
	for _, row := range d.rows() {
		shares := row.shares(step)
		most := slices.Max(shares)
		c.text("small halo", x.from, y+13, startAt, fitText(row.title+": "+row.text(), x.to-x.from))
		y += delayText + delayPlot
		for i, share := range shares {
			if share > 0 {
				tall := max(share/most*(delayPlot-4), 2)
				from := x.at(float64(i) * step)
				c.rect(row.class, from+0.5, y-tall, x.at(float64(i+1)*step)-from-1, tall, 1)
			}
		}
		c.line("axis", x.from, y, x.to, y)
	}
	return y + delayGap
}

// shares returns which share of the tasks has a delay in each step.
func (d Delayed) shares(step float64) []float64 {
	out := make([]float64, int(d.MS[len(d.MS)-1]/step)+1)
	for _, ms := range d.MS {
		out[int(ms/step)] += 1 / float64(len(d.MS))
	}
	return out
}

// text describes the delays in words.
func (d Delayed) text() string {
	n := prose.Count(d.Tasks, "task", "tasks")
	last := d.MS[len(d.MS)-1]
	if len(d.MS) == 1 {
		return n + ", " + delayOf(last)
	}
	return fmt.Sprintf("%s, half in %s, all in %s", n, delayOf(d.MS[(len(d.MS)-1)/2]), delayOf(last))
}

// delayOf formats a delay.
func delayOf(ms float64) string {
	if ms >= 10_000 {
		return wording.Quantity(ms/1000, "s", false)
	}
	return wording.Quantity(ms, "ms", false)
}

// Note says how to read the figure.
func (f Delays) Note() string {
	text := "A bar's height is the share of the tasks with this delay; the tallest bar of each build is drawn at the same height."
	if f.over > 0 {
		text += " The dashed line is at " + delayOf(f.over) + ", from which a task is late."
	}
	return text
}

// Text returns the figure in words, as lines of a terminal.
func (f Delays) Text(width int) (lines []string) {
	for _, d := range f.list {
		lines = append(lines, inColumns(wording.Brief(d.Name), width))
		for _, row := range d.rows() {
			lines = append(lines, inColumns("  "+row.title+": "+row.text(), width))
		}
	}
	return lines
}

// Description describes the figure in words.
func (f Delays) Description() string {
	var parts []string
	for _, d := range f.list {
		var rows []string
		for _, row := range d.rows() {
			rows = append(rows, row.title+" "+row.text())
		}
		parts = append(parts, wording.Name(d.Name)+": "+strings.Join(rows, "; "))
	}
	return strings.Join(parts, ". ") + "."
}
