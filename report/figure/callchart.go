package figure

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/wording"
)

// CallChart shows the calls of a piece of work over time: each box is a call, below its caller, from
// when it began until it was done.
type CallChart struct {
	calls  []ChartedCall
	tookMS float64
	label  string
	trunk  int // outermost calls that are left out, each of which lasts about as long as the next
	left   int // calls that the data leaves out
}

// ChartedCall is a call. Callers are before what they call.
type ChartedCall struct {
	Name           string
	Depth          int // 0 of the outermost
	FromMS, TookMS float64
	Blamed         bool // the work's time is blamed on it
}

// NewCallChart returns the figure of calls of a piece of work that took that long, of which left are
// not among them; false where there is nothing to draw. label describes it to those who can't see it.
func NewCallChart(label string, tookMS float64, calls []ChartedCall, left int) (CallChart, bool) {
	f := CallChart{tookMS: tookMS, label: label, left: left}
	at := map[int][]ChartedCall{}
	for _, c := range calls {
		if c.Depth >= 0 && finite(c.FromMS) && finite(c.TookMS) && c.TookMS > 0 && c.FromMS < tookMS {
			f.calls = append(f.calls, c)
			at[c.Depth] = append(at[c.Depth], c)
		}
	}
	for len(at[f.trunk]) == 1 && len(at[f.trunk+1]) == 1 && !at[f.trunk][0].Blamed && at[f.trunk+1][0].TookMS >= trunkPart*tookMS {
		f.trunk++
	}
	return f, finite(tookMS) && tookMS > 0 && len(f.calls) > 0
}

// chartedBox is a call with its place in the figure.
type chartedBox struct {
	ChartedCall
	x, w float64
	row  int
}

// layOut places the calls, and counts those that are too short or too deep.
func (f CallChart) layOut(width float64) (boxes []chartedBox, left int) {
	x := f.scale(width)
	for _, c := range f.calls {
		box := chartedBox{ChartedCall: c, x: x.at(c.FromMS), row: c.Depth - f.trunk}
		box.w = x.at(c.FromMS+c.TookMS) - box.x
		switch {
		case box.row < 0:
		case box.w < flameLeast || box.row >= flameDepth:
			left++
		default:
			boxes = append(boxes, box)
		}
	}
	return boxes, left
}

func (f CallChart) scale(width float64) scale {
	return scale{low: 0, high: f.tookMS, from: threadLeft, to: width - 14}
}

// Draw returns the figure as SVG.
func (f CallChart) Draw(id, class string, width float64) string {
	boxes, _ := f.layOut(width)
	rows := 0
	for _, b := range boxes {
		rows = max(rows, b.row+1)
	}
	c := &canvas{width: width, height: float64(rows)*flameRow + threadAxis}
	for _, b := range boxes {
		b.draw(c)
	}
	drawTime(c, f.scale(width), float64(rows)*flameRow+4)
	return c.svg(id, class, wording.Name(f.label), f.description())
}

func (b chartedBox) draw(c *canvas) {
	class, mark := "same", ""
	if b.Blamed {
		class, mark = "more much", blamedMark
	}
	y := float64(b.row) * flameRow
	fmt.Fprintf(&c.b, `<g><title>%s</title>`, xmlText(b.told()))
	c.rect("flame "+class, b.x+0.5, y+0.5, max(b.w-1, 0.5), flameRow-2, 2)
	label := mark + wording.ShortMethod(b.Name)
	if text := fitText(label, b.w-8); text != "" && (text == label || len([]rune(text)) > 5) {
		c.text("small", b.x+4, y+14, startAt, text)
	}
	c.b.WriteString("</g>")
}

// blamedMark is before the name of a call that is blamed.
const blamedMark = "◆ "

// told says what a call is, in words.
func (c ChartedCall) told() string {
	return wording.Method(c.Name, wording.MaxName) + ": " + wording.Quantity(c.TookMS, "ms", false) + ", from " + wording.Quantity(c.FromMS, "ms", false) + " on"
}

// Note says how to read the figure, and what it leaves out.
func (f CallChart) Note(width float64) string {
	text := "Each box is a call, below its caller, from when it began until it was done."
	for _, c := range f.calls {
		if c.Blamed {
			text += " " + strings.TrimSpace(blamedMark) + " marks what the time is blamed on."
			break
		}
	}
	_, small := f.layOut(width)
	var out []string
	if f.trunk > 0 {
		out = append(out, prose.Count(f.trunk, "outermost call", "outermost calls"))
	}
	if n := small + f.left; n > 0 {
		out = append(out, prose.Count(n, "call", "calls")+" too short or too deep")
	}
	if len(out) > 0 {
		text += " Not drawn: " + prose.List(out) + "."
	}
	return text
}

// description names the calls that took longest in each row, for those who can't see them.
func (f CallChart) description() string {
	const most = 12
	longest := map[int]ChartedCall{}
	boxes, _ := f.layOut(Wide)
	for _, b := range boxes {
		if b.TookMS > longest[b.row].TookMS {
			longest[b.row] = b.ChartedCall
		}
	}
	var parts []string
	for row := 0; row < most && longest[row].TookMS > 0; row++ {
		parts = append(parts, longest[row].told())
	}
	return "The longest call of each row, the outermost first: " + strings.Join(parts, "; ") + "."
}
