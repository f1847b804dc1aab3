package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/words"
)

// historyFigure is what Figure 8 of the paper shows for one metric: the history
// as box plots, and the new runs as marks below the box they were compared with.
type historyFigure struct {
	Title  string
	Metric metric.Metric
	Boxes  []historyBox
}

// historyBox is one history and the runs that were compared with it.
type historyBox struct {
	Comparison gate.Comparison
	Marks      []historyMark
}

type historyMark struct {
	Label     string
	Value     float64
	Direction gate.Direction
}

// newHistoryFigure draws a finding's runs below one box where their histories
// look the same.
func newHistoryFigure(f finding) historyFigure {
	fig := historyFigure{Metric: f.Metric, Title: f.what()}
	tolerance := 0.02 * f.span()
	for _, h := range f.Hits {
		mark := historyMark{device(*h.Run), h.Comparison.Value, h.Comparison.Direction}
		i := slices.IndexFunc(fig.Boxes, func(b historyBox) bool { return alike(b.Comparison, h.Comparison, tolerance) })
		if i < 0 && len(fig.Boxes) < 64 { // beyond what is drawn, the first box will do
			i = len(fig.Boxes)
			fig.Boxes = append(fig.Boxes, historyBox{Comparison: h.Comparison})
		}
		fig.Boxes[max(i, 0)].Marks = append(fig.Boxes[max(i, 0)].Marks, mark)
	}
	slices.SortStableFunc(fig.Boxes, func(a, b historyBox) int { return cmp.Compare(len(b.Marks), len(a.Marks)) })
	return fig
}

// span is how far the runs and what was expected of them lie apart.
func (f finding) span() float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, h := range f.Hits {
		c := h.Comparison
		low, high = min(low, c.Value, c.Q1, c.Expected), max(high, c.Value, c.Q3, c.Expected)
	}
	return high - low
}

// alike reports whether two histories would look the same on an axis: weights
// move quartiles a little from run to run.
func alike(a, b gate.Comparison, tolerance float64) bool {
	near := func(x, y float64) bool { return x == y || math.Abs(x-y) <= tolerance }
	return a.N == b.N && len(a.Sample) == len(b.Sample) && near(a.Q1, b.Q1) && near(a.Q3, b.Q3) &&
		near(a.Expected, b.Expected) && near(a.Lower, b.Lower) && near(a.Upper, b.Upper)
}

// How much of a figure is drawn; the rest is counted.
const (
	maxBoxes = 4
	maxMarks = 6 // labelled ones a box; the others share one line
)

const (
	boxLine  = 18.0 // the text above a box
	boxTall  = 30.0
	markLine = 20.0
	axisTall = 40.0
	sideRoom = 14.0
)

func (f historyFigure) shown() []historyBox { return f.Boxes[:min(len(f.Boxes), maxBoxes)] }

func (b historyBox) tall() float64 {
	lines := min(len(b.Marks), maxMarks)
	if len(b.Marks) > maxMarks {
		lines++
	}
	return boxLine + boxTall + float64(lines)*markLine + 8
}

func (f historyFigure) draw(id, class string, width float64) string {
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

func (f historyFigure) rest() string {
	n := 0
	for _, b := range f.Boxes[maxBoxes:] {
		n += len(b.Marks)
	}
	return words.Count(n, "more run", "more runs")
}

// scale spans everything that is drawn.
func (f historyFigure) scale(width float64) scale {
	var all []float64
	for _, b := range f.shown() {
		c := b.Comparison
		all = append(all, c.Sample...)
		if c.N > 0 {
			all = append(all, c.Q1, c.Q3, c.Expected)
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

func (f historyFigure) drawAxis(c *canvas, x scale, y float64) {
	ticks := x.ticks(max(3, int((x.to-x.from)/85)))
	for _, t := range ticks {
		c.line("grid", x.at(t), 0, x.at(t), y)
		c.text("small muted", x.at(t), y+15, middleAt, tickText(f.Metric, t, ticks))
	}
	c.line("axis", x.from, y, x.to, y)
	c.text("small muted", (x.from+x.to)/2, y+33, middleAt, axisTitle(f.Metric, x))
}

func (b historyBox) draw(c *canvas, x scale, y float64, m metric.Metric) {
	h := b.Comparison
	title := "history: " + words.Count(h.N, "value", "values")
	if h.N == 0 {
		title = "no history"
	}
	c.text("small muted halo", b.titleAt(x, title), y+12, startAt, title)
	middle := y + boxLine + boxTall/2
	if h.N > 0 {
		b.drawBox(c, x, middle)
	}
	b.drawMarks(c, x, y+boxLine+boxTall+markLine/2, m)
}

// titleAt puts the text above the box, inside the picture.
func (b historyBox) titleAt(x scale, title string) float64 {
	return max(x.from, min(x.at(b.Comparison.Q1), x.to-textWidth(title)))
}

func (b historyBox) drawBox(c *canvas, x scale, y float64) {
	h := b.Comparison
	low, high := b.whiskers()
	for _, fence := range []float64{h.Lower, h.Upper} {
		if x.holds(fence) && h.Lower < h.Upper {
			c.line("fence", x.at(fence), y-boxTall/2, x.at(fence), y+boxTall/2)
		}
	}
	if low < h.Q1 || h.Q3 < high {
		c.line("whisker", x.at(low), y, x.at(h.Q1), y)
		c.line("whisker", x.at(h.Q3), y, x.at(high), y)
		c.line("whisker", x.at(low), y-5, x.at(low), y+5)
		c.line("whisker", x.at(high), y-5, x.at(high), y+5)
	}
	c.rect("box", x.at(h.Q1), y-10, max(x.at(h.Q3)-x.at(h.Q1), 2), 20, 2)
	var dots strings.Builder
	for i, v := range h.Sample[:min(len(h.Sample), gate.MaxListed)] {
		if finite(v) {
			fmt.Fprintf(&dots, "M%s %sh0", px(x.at(v)), px(y+float64(i*7%13)-6)) // spread, so that equal values show
		}
	}
	c.path("dots", dots.String())
	c.line("median", x.at(h.Expected), y-10, x.at(h.Expected), y+10)
}

// whiskers end at the furthest values within the fences. They end at the
// quartiles where the values were not kept, and where the quartiles rest on
// fewer of them: those of this context among those of many.
func (b historyBox) whiskers() (low, high float64) {
	low, high = b.Comparison.Q1, b.Comparison.Q3
	if b.Comparison.N < len(b.Comparison.Sample) {
		return low, high
	}
	for _, v := range b.Comparison.Sample {
		if v >= b.Comparison.Lower && v <= b.Comparison.Upper {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

func (b historyBox) drawMarks(c *canvas, x scale, y float64, m metric.Metric) {
	for _, mark := range b.Marks[:min(len(b.Marks), maxMarks)] {
		at := x.at(mark.Value)
		c.path("mark "+directionClass(mark.Direction), diamond(at, y))
		value := words.Value(m, mark.Value)
		labelMark(c, x, at, y+4, words.Brief(mark.Label), value)
		y += markLine
	}
	if rest := b.Marks[min(len(b.Marks), maxMarks):]; len(rest) > 0 {
		b.drawRest(c, x, y, rest)
	}
}

// drawRest puts the marks beyond maxMarks on one line, each place once.
func (b historyBox) drawRest(c *canvas, x scale, y float64, rest []historyMark) {
	var data strings.Builder
	seen := map[string]bool{}
	for _, mark := range rest {
		if d := diamond(x.at(mark.Value), y); !seen[d] && len(seen) < 400 {
			seen[d] = true
			data.WriteString(d)
		}
	}
	c.path("mark "+directionClass(rest[0].Direction), data.String())
	slices.SortFunc(rest, func(a, b historyMark) int { return cmp.Compare(a.Value, b.Value) })
	right := x.at(rest[len(rest)-1].Value)
	labelMark(c, x, right, y+4, words.Count(len(rest), "more run", "more runs"), "")
}

func diamond(x, y float64) string { return "M" + px(x) + " " + px(y-6) + "l6 6-6 6-6-6z" }

// labelMark writes a label on the side of a mark that has more room: the right
// one, unless the label fits only on the left.
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

// fitLabel cuts the label and keeps the value whole.
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

func directionClass(d gate.Direction) string {
	switch d {
	case gate.ToRegression:
		return "worse"
	case gate.ToImprovement:
		return "better"
	case gate.Suspect:
		return "suspect"
	}
	return "expected"
}

// description says in words what the picture shows.
func (f historyFigure) description() string {
	var parts []string
	for _, b := range f.shown() {
		h := b.Comparison
		text := "No history. "
		if h.N > 0 {
			text = fmt.Sprintf("History of %s: middle half %s to %s, expected %s. ", words.Count(h.N, "value", "values"),
				words.Value(f.Metric, h.Q1), words.Value(f.Metric, h.Q3), words.Value(f.Metric, h.Expected))
		}
		var marks []string
		for _, m := range b.Marks[:min(len(b.Marks), maxMarks)] {
			marks = append(marks, m.Label+" "+words.Value(f.Metric, m.Value))
		}
		parts = append(parts, text+"New: "+strings.Join(marks, "; ")+".")
	}
	return strings.Join(parts, " ")
}
