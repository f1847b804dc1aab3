package figure

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/words"
)

// Bars is the energy of methods' own code as bars with their intervals, the
// base's above the head's.
type Bars struct {
	bars   []Bar
	beside bool
	most   float64
}

// Bar is one method.
type Bar struct {
	Name       string
	Base, Head Span
	Tone       document.Tone // which way a change is clear
	Status     string        // what became of it, in a word
}

// Span is an energy in joules with its interval, whose ends are 0 where there is none.
type Span struct{ J, LowJ, HighJ float64 }

const (
	figureMethods = 12
	methodGap     = 14.0
	methodBar     = 9.0
	boldWidth     = 7.6 // of a character, at most, on average
)

// NewBars draws the first of the bars that are not empty; beside says that there
// is a base. It reports false where there is nothing to draw.
func NewBars(bars []Bar, beside bool) (Bars, bool) {
	f := Bars{beside: beside}
	for _, b := range bars {
		if len(f.bars) == figureMethods {
			break
		}
		if most := max(b.Head.J, b.Base.J); most > 0 {
			f.bars = append(f.bars, b)
			f.most = max(f.most, most, b.Head.HighJ, b.Base.HighJ)
		}
	}
	return f, f.most > 0
}

// Draw is the picture as SVG.
func (f Bars) Draw(id, class string, width float64) string {
	bars := 1.0
	if f.beside {
		bars = 2
	}
	row := 18 + bars*(methodBar+2) + methodGap
	plot := row * float64(len(f.bars))
	c := &canvas{width: width, height: plot + 40}
	x := newScale(0, f.most, 4, width-16, false)
	ticks := x.ticks(max(2, int(width/110)))
	for _, t := range ticks {
		c.line("grid", x.at(t), 0, x.at(t), plot)
		c.text("small muted", x.at(t), plot+16, middleAt, words.Digits(t, stepOf(ticks)))
	}
	c.text("small muted", (x.from+x.to)/2, plot+34, middleAt, "joules of the method's own code, per repetition")
	for i, m := range f.bars {
		f.drawMethod(c, x, m, row*float64(i))
	}
	return c.svg(id, class, "Energy of methods", f.description())
}

func (f Bars) drawMethod(c *canvas, x scale, m Bar, top float64) {
	text := words.Joules(m.Head.J)
	class := "small"
	if m.Tone != document.Neutral && f.beside {
		text += ", " + words.SignedJoules(m.Head.J-m.Base.J)
		class = "small strong"
	}
	room := x.to - x.from - textWidth(text) - 16
	label := words.Method(m.Name, max(int(room/boldWidth), 8))
	c.text(class+" halo", x.from, top+13, startAt, fitText(label, room*charWidth/boldWidth))
	c.text("small muted halo", x.to, top+13, endAt, text)
	y := top + 19
	if f.beside {
		drawJoules(c, x, "box", m.Base, y)
		y += methodBar + 2
	}
	drawJoules(c, x, strings.TrimSpace("energy "+classOf(m.Tone)), m.Head, y)
}

// drawJoules is a bar from nothing to the energy, and a whisker for its interval.
func drawJoules(c *canvas, x scale, class string, j Span, y float64) {
	c.rect(class, x.at(0), y, x.at(j.J)-x.at(0), methodBar, 1)
	if j.HighJ <= 0 {
		return
	}
	from, to, middle := x.at(j.LowJ), x.at(j.HighJ), y+methodBar/2
	whisker := fmt.Sprintf("M%s %sH%sM%s %sv6M%s %sv6", px(from), px(middle), px(to), px(from), px(middle-3), px(to), px(middle-3))
	c.path("whisker under", whisker)
	c.path("whisker over", whisker)
}

func (f Bars) description() string {
	parts := make([]string, len(f.bars))
	for i, m := range f.bars {
		parts[i] = words.Method(m.Name, 60) + ": " + words.Joules(m.Head.J)
		if f.beside {
			parts[i] += ", before " + words.Joules(m.Base.J) + ", " + m.Status
		}
	}
	return strings.Join(parts, "; ") + "."
}
