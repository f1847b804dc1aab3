package figure

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// Measure is what a figure of amounts shows.
type Measure struct {
	Unit  string // as for wording.Quantity: "J"
	Label string // the figure's description for those who can't see it: wording.Name(f.Label)
	// Of is what is measured: for bars the title of their axis, for calls a word, "energy".
	Of string
}

// text formats an amount, and change an increase or decrease.
func (m Measure) text(v float64) string   { return wording.Quantity(v, m.Unit, false) }
func (m Measure) change(v float64) string { return wording.Quantity(v, m.Unit, true) }

// Bars are amounts with their intervals as bars, the base's above the head's.
type Bars struct {
	bars   []Bar
	beside bool
	most   float64
	Measure
}

// Bar is the amount of one thing, such as a method.
type Bar struct {
	Name       string
	Base, Head Span
	Tone       document.Tone // the direction of a clear change
	Status     string        // its status, in a word
}

// Span is an amount with its interval, whose ends are 0 where there is none.
type Span struct{ Value, Low, High float64 }

const (
	mostBars  = 12
	barGap    = 14.0
	barHeight = 9.0
	boldWidth = 7.6 // of a character, at most, on average
)

// NewBars returns the first of the bars that are not empty; beside is set where there is a base. It
// returns false where there is nothing to draw.
func NewBars(bars []Bar, beside bool, of Measure) (Bars, bool) {
	f := Bars{beside: beside, Measure: of}
	for _, b := range bars {
		if len(f.bars) == mostBars {
			break
		}
		if most := max(b.Head.Value, b.Base.Value); most > 0 {
			f.bars = append(f.bars, b)
			f.most = max(f.most, most, b.Head.High, b.Base.High)
		}
	}
	return f, f.most > 0
}

// Draw returns the figure as SVG.
func (f Bars) Draw(id, class string, width float64) string {
	bars := 1.0
	if f.beside {
		bars = 2
	}
	row := 18 + bars*(barHeight+2) + barGap
	plot := row * float64(len(f.bars))
	c := &canvas{width: width, height: plot + 40}
	x := newScale(0, f.most, 4, width-16, false)
	ticks := x.ticks(max(2, int(width/110)))
	for _, t := range ticks {
		c.line("grid", x.at(t), 0, x.at(t), plot)
		c.text("small muted", x.at(t), plot+16, middleAt, wording.Digits(t, stepOf(ticks)))
	}
	c.text("small muted", (x.from+x.to)/2, plot+34, middleAt, wording.Name(f.Of))
	for i, m := range f.bars {
		f.drawBar(c, x, m, row*float64(i))
	}
	return c.svg(id, class, wording.Name(f.Label), f.description())
}

func (f Bars) drawBar(c *canvas, x scale, m Bar, top float64) {
	text := f.text(m.Head.Value)
	class := "small"
	if m.Tone != document.Neutral && f.beside {
		text += ", " + f.change(m.Head.Value-m.Base.Value)
		class = "small strong"
	}
	room := x.to - x.from - textWidth(text) - 16
	label := wording.Method(m.Name, max(int(room/boldWidth), 8))
	c.text(class+" halo", x.from, top+13, startAt, fitText(label, room*charWidth/boldWidth))
	c.text("small muted halo", x.to, top+13, endAt, text)
	y := top + 19
	if f.beside {
		drawSpan(c, x, "box", m.Base, y)
		y += barHeight + 2
	}
	drawSpan(c, x, strings.TrimSpace("energy "+classOf(m.Tone)), m.Head, y)
}

// drawSpan draws a bar from zero to the amount, and a whisker for its interval.
func drawSpan(c *canvas, x scale, class string, j Span, y float64) {
	c.rect(class, x.at(0), y, x.at(j.Value)-x.at(0), barHeight, 1)
	if j.High <= 0 {
		return
	}
	from, to, middle := x.at(j.Low), x.at(j.High), y+barHeight/2
	whisker := fmt.Sprintf("M%s %sH%sM%s %sv6M%s %sv6", px(from), px(middle), px(to), px(from), px(middle-3), px(to), px(middle-3))
	c.path("whisker under", whisker)
	c.path("whisker over", whisker)
}

// Note says how to read the figure.
func (f Bars) Note() string {
	if f.beside {
		return "The upper bar is the build before, the lower one this build; whiskers are the intervals."
	}
	return "Whiskers are the intervals."
}

func (f Bars) description() string {
	parts := make([]string, len(f.bars))
	for i, m := range f.bars {
		parts[i] = wording.Method(m.Name, 60) + ": " + f.text(m.Head.Value)
		if f.beside {
			parts[i] += ", before " + f.text(m.Base.Value) + ", " + wording.Brief(m.Status)
		}
	}
	return strings.Join(parts, "; ") + "."
}
