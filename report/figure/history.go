package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// History is the paper's Figure 8 for one metric: the history as box plots, and the new runs as
// marks below the box that they were compared with.
type History struct {
	Title  string
	Metric metric.Metric
	Boxes  []Box
}

// Box is one history and the runs that were compared with it.
type Box struct {
	N                              int // number of values behind it
	Q1, Q3, Expected, Lower, Upper float64
	Sample                         []float64
	Marks                          []Mark
}

// Mark is a new run.
type Mark struct {
	Label string
	Value float64
	Tone  document.Tone
}

// The parts of a figure that are drawn; the rest is counted.
const (
	maxBoxes = 4
	maxMarks = 6 // labelled ones per box; the others share one line
	maxDots  = 200
)

const (
	boxLine  = 18.0 // the text above a box
	boxTall  = 30.0
	markLine = 20.0
	axisTall = 40.0
	sideRoom = 14.0
)

func (f History) shown() []Box { return f.Boxes[:min(len(f.Boxes), maxBoxes)] }

func (b Box) tall() float64 {
	lines := min(len(b.Marks), maxMarks)
	if len(b.Marks) > maxMarks {
		lines++
	}
	return boxLine + boxTall + float64(lines)*markLine + 8
}

// Draw returns the figure as SVG.
func (f History) Draw(id, class string, width float64) string {
	c := &canvas{width: width, height: axisTall + 4}
	for _, b := range f.shown() {
		c.height += b.tall()
	}
	if len(f.Boxes) > maxBoxes {
		c.height += boxLine
	}
	x := f.scale(width)
	bottom := c.height - axisTall
	f.drawAxis(c, x, bottom)
	y := 4.0
	for _, b := range f.shown() {
		b.draw(c, x, y, f.Metric)
		y += b.tall()
	}
	if n := len(f.Boxes) - maxBoxes; n > 0 {
		c.text("small muted", x.from, y+12, startAt, fmt.Sprintf("and %s with histories of their own", f.rest()))
	}
	return c.svg(id, class, f.Title, f.description())
}

func (f History) rest() string {
	n := 0
	for _, b := range f.Boxes[maxBoxes:] {
		n += len(b.Marks)
	}
	return prose.Count(n, "more run", "more runs")
}

// scale covers everything that is drawn.
func (f History) scale(width float64) scale {
	var all []float64
	for _, b := range f.shown() {
		all = append(all, b.Sample...)
		if b.N > 0 {
			all = append(all, b.Q1, b.Q3, b.Expected)
		}
		for _, m := range b.Marks {
			all = append(all, m.Value)
		}
	}
	all = slices.DeleteFunc(all, func(v float64) bool { return !finite(v) })
	if len(all) == 0 {
		all = []float64{0}
	}
	return newScale(slices.Min(all), slices.Max(all), sideRoom, width-sideRoom, f.Metric.Log)
}

func (f History) drawAxis(c *canvas, x scale, y float64) {
	ticks := x.ticks(max(3, int((x.to-x.from)/85)))
	for _, t := range ticks {
		c.line("grid", x.at(t), 0, x.at(t), y)
		c.text("small muted", x.at(t), y+15, middleAt, tickText(f.Metric, t, ticks))
	}
	c.line("axis", x.from, y, x.to, y)
	c.text("small muted", (x.from+x.to)/2, y+33, middleAt, axisTitle(f.Metric, x))
}

func (b Box) draw(c *canvas, x scale, y float64, m metric.Metric) {
	title := "history: " + prose.Count(b.N, "value", "values")
	if b.N == 0 {
		title = "no history"
	}
	c.text("small muted halo", b.titleAt(x, title), y+12, startAt, title)
	middle := y + boxLine + boxTall/2
	if b.N > 0 {
		b.drawBox(c, x, middle)
	}
	b.drawMarks(c, x, y+boxLine+boxTall+markLine/2, m)
}

// titleAt puts the text above the box, inside the figure.
func (b Box) titleAt(x scale, title string) float64 {
	return max(x.from, min(x.at(b.Q1), x.to-textWidth(title)))
}

func (b Box) drawBox(c *canvas, x scale, y float64) {
	low, high := b.whiskers()
	for _, fence := range []float64{b.Lower, b.Upper} {
		if x.holds(fence) && b.Lower < b.Upper {
			c.line("fence", x.at(fence), y-boxTall/2, x.at(fence), y+boxTall/2)
		}
	}
	if low < b.Q1 || b.Q3 < high {
		c.line("whisker", x.at(low), y, x.at(b.Q1), y)
		c.line("whisker", x.at(b.Q3), y, x.at(high), y)
		c.line("whisker", x.at(low), y-5, x.at(low), y+5)
		c.line("whisker", x.at(high), y-5, x.at(high), y+5)
	}
	c.rect("box", x.at(b.Q1), y-10, max(x.at(b.Q3)-x.at(b.Q1), 2), 20, 2)
	var dots strings.Builder
	for i, v := range b.Sample[:min(len(b.Sample), maxDots)] {
		if finite(v) {
			fmt.Fprintf(&dots, "M%s %sh0", px(x.at(v)), px(y+float64(i*7%13)-6)) // spread, so that equal values show
		}
	}
	c.path("dots", dots.String())
	c.line("median", x.at(b.Expected), y-10, x.at(b.Expected), y+10)
}

// whiskers end at the furthest values within the fences. They end at the quartiles where the values
// were not kept, and where the quartiles are of fewer of them: those of this context among those of
// many.
func (b Box) whiskers() (low, high float64) {
	low, high = b.Q1, b.Q3
	if b.N < len(b.Sample) {
		return low, high
	}
	for _, v := range b.Sample {
		if v >= b.Lower && v <= b.Upper {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

func (b Box) drawMarks(c *canvas, x scale, y float64, m metric.Metric) {
	for _, mark := range b.Marks[:min(len(b.Marks), maxMarks)] {
		at := x.at(mark.Value)
		c.path("mark "+classOf(mark.Tone), diamond(at, y))
		value := wording.Value(m, mark.Value)
		labelMark(c, x, at, y+4, wording.Brief(mark.Label), value)
		y += markLine
	}
	if rest := b.Marks[min(len(b.Marks), maxMarks):]; len(rest) > 0 {
		b.drawRest(c, x, y, rest)
	}
}

// drawRest puts the marks beyond maxMarks on one line, each place once.
func (b Box) drawRest(c *canvas, x scale, y float64, rest []Mark) {
	var data strings.Builder
	seen := map[string]bool{}
	for _, mark := range rest {
		if d := diamond(x.at(mark.Value), y); !seen[d] && len(seen) < 400 {
			seen[d] = true
			data.WriteString(d)
		}
	}
	c.path("mark "+classOf(rest[0].Tone), data.String())
	slices.SortFunc(rest, func(a, b Mark) int { return cmp.Compare(a.Value, b.Value) })
	right := x.at(rest[len(rest)-1].Value)
	labelMark(c, x, right, y+4, prose.Count(len(rest), "more run", "more runs"), "")
}

func diamond(x, y float64) string { return "M" + px(x) + " " + px(y-6) + "l6 6-6 6-6-6z" }

// labelMark writes a label on the right side of a mark, unless it only fits on the left.
func labelMark(c *canvas, x scale, at, y float64, label, value string) {
	text := label
	if value != "" {
		text += ": " + value
	}
	right, left := x.to-at-10, at-x.from-10
	if textWidth(text) <= right || right >= left {
		c.text("small halo", at+10, y, startAt, fitLabel(label, value, right))
		return
	}
	c.text("small halo", at-10, y, endAt, fitLabel(label, value, left))
}

// fitLabel cuts the label and keeps the value complete.
func fitLabel(label, value string, room float64) string {
	if value == "" {
		return fitText(label, room)
	}
	room -= textWidth(": " + value)
	if short, _, ok := strings.Cut(label, " ("); ok && textWidth(label) > room {
		label = short // the model without its version
	}
	if cut := fitText(label, room); cut != "" {
		return cut + ": " + value
	}
	room += textWidth(": " + value)
	return fitText(value, room)
}

// classOf returns the class of a tone in picture.css.
func classOf(t document.Tone) string {
	if t == document.Neutral {
		return "expected"
	}
	return string(t)
}

// description describes the figure in words.
func (f History) description() string {
	var parts []string
	for _, b := range f.shown() {
		text := "No history. "
		if b.N > 0 {
			text = fmt.Sprintf("History of %s: middle half %s to %s, expected %s. ", prose.Count(b.N, "value", "values"),
				wording.Value(f.Metric, b.Q1), wording.Value(f.Metric, b.Q3), wording.Value(f.Metric, b.Expected))
		}
		var marks []string
		for _, m := range b.Marks[:min(len(b.Marks), maxMarks)] {
			marks = append(marks, m.Label+" "+wording.Value(f.Metric, m.Value))
		}
		parts = append(parts, text+"New: "+strings.Join(marks, "; ")+".")
	}
	return strings.Join(parts, " ")
}
