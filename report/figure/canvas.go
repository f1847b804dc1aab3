package figure

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// canvas collects the elements of one SVG figure. Lengths are CSS pixels, with the origin at the
// top left. Colours come from classes in picture.css, so that a figure follows the page from light
// to dark.
type canvas struct {
	b      strings.Builder
	width  float64
	height float64
}

// px formats a length with at most one decimal.
func px(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(strings.Replace(s, "-0.0", "0", 1), ".0")
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&c.b, `<path class="%s" d="M%s %sL%s %s"/>`, class, px(x1), px(y1), px(x2), px(y2))
}

func (c *canvas) rect(class string, x, y, w, h, radius float64) {
	fmt.Fprintf(&c.b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="%s"/>`, class, px(x), px(y), px(max(w, 0)), px(max(h, 0)), px(radius))
}

func (c *canvas) circle(class string, x, y, r float64) {
	fmt.Fprintf(&c.b, `<circle class="%s" cx="%s" cy="%s" r="%s"/>`, class, px(x), px(y), px(r))
}

// curve joins two points with a line that is level at both ends.
func (c *canvas) curve(class string, x1, y1, x2, y2 float64) {
	middle := (x1 + x2) / 2
	fmt.Fprintf(&c.b, `<path class="%s" d="M%s %sC%s %s %s %s %s %s"/>`, class,
		px(x1), px(y1), px(middle), px(y1), px(middle), px(y2), px(x2), px(y2))
}

// path draws a path whose data the caller has made of numbers only.
func (c *canvas) path(class, data string) {
	if data != "" {
		fmt.Fprintf(&c.b, `<path class="%s" d="%s"/>`, class, data)
	}
}

// anchor is the end of a text that is at its position.
type anchor string

const (
	startAt  anchor = "start"
	middleAt anchor = "middle"
	endAt    anchor = "end"
)

func (c *canvas) text(class string, x, y float64, a anchor, s string) {
	fmt.Fprintf(&c.b, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`, class, px(x), px(y), a, xmlText(s))
}

// link makes what is drawn lead to an address, "" for none.
func (c *canvas) link(address string, draw func()) {
	if address == "" {
		draw()
		return
	}
	fmt.Fprintf(&c.b, `<a href="%s">`, xmlText(address))
	draw()
	c.b.WriteString("</a>")
}

// xmlText escapes text for an element or an attribute, and drops what XML forbids.
func xmlText(s string) string { return html.EscapeString(wording.Visible(s)) }

// charWidth is the maximum average width of a character of the 12 px text: text is measured without
// a font, and a little extra space is better than overlap.
const charWidth = 6.7

func textWidth(s string) float64 { return float64(twwidth.Width(s)) * charWidth }

// fitText cuts text to the room in pixels.
func fitText(s string, room float64) string {
	if textWidth(s) <= room {
		return s
	}
	for n := min(len([]rune(s)), int(room/charWidth)); n > 1; n-- {
		if cut := prose.Clip(s, n); textWidth(cut) <= room {
			return cut
		}
	}
	return ""
}

// svg closes the figure: its title and description are read by screen readers. class distinguishes
// variants of one figure.
func (c *canvas) svg(id, class, title, description string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" class="picture %s" role="img" aria-labelledby="%s-t %s-d" viewBox="0 0 %s %s" width="%s" height="%s">`+
		`<title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s</svg>`,
		class, id, id, px(c.width), px(c.height), px(c.width), px(c.height), id, xmlText(title), id, xmlText(description), c.b.String())
}
