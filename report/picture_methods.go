package report

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/words"
)

// methodsFigure is the energy of the first methods' own code as bars with their
// intervals, the base's above the head's.
type methodsFigure struct {
	methods []hotspots.Method
	beside  bool
	most    float64
}

const (
	figureMethods = 12
	methodGap     = 14.0
	methodBar     = 9.0
	boldWidth     = 7.6 // of a character, at most, on average
)

// newMethodsFigure reports false where there is nothing to draw.
func newMethodsFigure(m *hotspots.Methods) (methodsFigure, bool) {
	if m == nil {
		return methodsFigure{}, false
	}
	f := methodsFigure{beside: m.HasBase()}
	for _, method := range m.List {
		if len(f.methods) == figureMethods {
			break
		}
		if most := max(method.Local.Head.J, method.Local.Base.J); most > 0 {
			f.methods = append(f.methods, method)
			f.most = max(f.most, most, method.Local.Head.HighJ, method.Local.Base.HighJ)
		}
	}
	return f, f.most > 0
}

func (f methodsFigure) draw(id, class string, width float64) string {
	bars := 1.0
	if f.beside {
		bars = 2
	}
	row := 18 + bars*(methodBar+2) + methodGap
	plot := row * float64(len(f.methods))
	c := &canvas{width: width, height: plot + 40}
	x := newScale(0, f.most, 4, width-16, false)
	ticks := x.ticks(max(2, int(width/110)))
	for _, t := range ticks {
		c.line("grid", x.at(t), 0, x.at(t), plot)
		c.text("small muted", x.at(t), plot+16, middleAt, words.Digits(t, stepOf(ticks)))
	}
	c.text("small muted", (x.from+x.to)/2, plot+34, middleAt, "joules of the method's own code, per repetition")
	for i, m := range f.methods {
		f.drawMethod(c, x, m, row*float64(i))
	}
	return c.svg(id, class, "Energy of methods", f.description())
}

func (f methodsFigure) drawMethod(c *canvas, x scale, m hotspots.Method, top float64) {
	d := direction(m)
	text := words.Joules(m.Local.Head.J)
	class := "small"
	if d != gate.None && f.beside {
		text += ", " + words.SignedJoules(m.Local.ChangeJ())
		class = "small strong"
	}
	room := x.to - x.from - textWidth(text) - 16
	label := words.Method(m.Name, max(int(room/boldWidth), 8))
	c.text(class+" halo", x.from, top+13, startAt, fitText(label, room*charWidth/boldWidth))
	c.text("small muted halo", x.to, top+13, endAt, text)
	y := top + 19
	if f.beside {
		drawJoules(c, x, "box", m.Local.Base, y)
		y += methodBar + 2
	}
	drawJoules(c, x, strings.TrimSpace("energy "+directionClass(d)), m.Local.Head, y)
}

// drawJoules is a bar from nothing to the energy, and a whisker for its interval.
func drawJoules(c *canvas, x scale, class string, j hotspots.Joules, y float64) {
	c.rect(class, x.at(0), y, x.at(j.J)-x.at(0), methodBar, 1)
	if j.HighJ <= 0 {
		return
	}
	from, to, middle := x.at(j.LowJ), x.at(j.HighJ), y+methodBar/2
	whisker := fmt.Sprintf("M%s %sH%sM%s %sv6M%s %sv6", px(from), px(middle), px(to), px(from), px(middle-3), px(to), px(middle-3))
	c.path("whisker under", whisker)
	c.path("whisker over", whisker)
}

func (f methodsFigure) description() string {
	parts := make([]string, len(f.methods))
	for i, m := range f.methods {
		parts[i] = words.Method(m.Name, 60) + ": " + words.Joules(m.Local.Head.J)
		if f.beside {
			parts[i] += ", before " + words.Joules(m.Local.Base.J) + ", " + methodStatus(m)
		}
	}
	return strings.Join(parts, "; ") + "."
}
