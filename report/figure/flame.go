package figure

import (
	"fmt"
	"math"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/wording"
)

// Flame is the tree of calls as an icicle: each box is a call including its callees, below its
// caller and as wide as its amount in the head. Where there is a base, its colour and outline show
// the change.
type Flame struct {
	calls    []Call
	children [][]int // of each call
	roots    []int
	trunk    int     // outermost calls that are left out
	base     float64 // of the outermost calls
	head     float64
	beside   bool
	gone     int // calls of only the base, which have no width
	Measure
}

const (
	flameRow    = 20.0
	flameDepth  = 32
	flameLeast  = 1.5 // pixels
	flameLegend = 26.0
	trunkPart   = 0.95
)

// Call is a call of a method including its callees.
type Call struct {
	Parent     int // its caller's index among the calls, which is before its own; -1 for none
	Name, Kind string
	Base, Head float64
}

// NewFlame returns the figure of calls; beside is set where there is a base. It returns false where
// there is nothing to draw.
func NewFlame(calls []Call, beside bool, of Measure) (Flame, bool) {
	f := Flame{calls: calls, children: make([][]int, len(calls)), beside: beside, Measure: of}
	for i, c := range calls {
		switch {
		case c.Head <= 0:
			f.gone++
		case c.Parent < 0:
			f.roots = append(f.roots, i)
			f.head += c.Head
		default:
			f.children[c.Parent] = append(f.children[c.Parent], i)
		}
		if c.Parent < 0 {
			f.base += c.Base
		}
	}
	f.cutTrunk()
	return f, f.head > 0
}

// cutTrunk leaves out the outermost calls that only make one other call: Android has a dozen of
// them in every stack.
func (f *Flame) cutTrunk() {
	for i, at := range f.roots {
		n := 0
		for len(f.children[at]) == 1 && f.calls[f.children[at][0]].Head >= trunkPart*f.calls[at].Head {
			at = f.children[at][0]
			n++
		}
		if len(f.children[at]) > 0 { // otherwise only the last would be left
			f.roots[i] = at
			f.trunk += n
		}
	}
}

// drawnCall is a call with its place in the figure.
type drawnCall struct {
	call  int
	x, w  float64
	depth int
}

// layOut places the calls from the outermost inwards and counts those that are too small or too
// deep.
func (f Flame) layOut(width float64) (boxes []drawnCall, left int) {
	var place func(calls []int, x, w, of float64, depth int)
	place = func(calls []int, x, w, of float64, depth int) {
		sum := 0.0
		for _, i := range calls {
			sum += f.calls[i].Head
		}
		perUnit := w / max(of, sum)
		for _, i := range calls {
			box := drawnCall{i, x, f.calls[i].Head * perUnit, depth}
			x += box.w
			if box.w < flameLeast || depth == flameDepth {
				left++
				continue
			}
			boxes = append(boxes, box)
			place(f.children[i], box.x, box.w, f.calls[i].Head, depth+1)
		}
	}
	place(f.roots, 0, width, 0, 0)
	return boxes, left
}

// Draw returns the figure as SVG.
func (f Flame) Draw(id, class string, width float64) string {
	boxes, _ := f.layOut(width)
	rows := 0
	for _, b := range boxes {
		rows = max(rows, b.depth+1)
	}
	bottom := float64(rows) * flameRow
	c := &canvas{width: width, height: bottom}
	for _, b := range boxes {
		f.drawCall(c, b)
	}
	if f.beside {
		drawFlameKeys(c, bottom)
		c.height += flameLegend
	}
	return c.svg(id, class, wording.Name(f.Label), f.description())
}

func (f Flame) drawCall(c *canvas, b drawnCall) {
	call := f.calls[b.call]
	class, mark := f.classOf(call)
	y := float64(b.depth) * flameRow
	fmt.Fprintf(&c.b, `<g><title>%s</title>`, xmlText(f.callText(call)))
	c.rect("flame "+class, b.x+0.5, y+0.5, max(b.w-1, 0.5), flameRow-2, 2)
	label := mark + wording.ShortMethod(call.Name)
	if text := fitText(label, b.w-8); text != "" && (text == label || len([]rune(text)) > 5) {
		c.text("small", b.x+4, y+14, startAt, text)
	}
	c.b.WriteString("</g>")
}

// The shares of the total from which on a change of a call is coloured, and coloured strongly.
const (
	flameSome = 0.01
	flameMuch = 0.05
)

// classOf returns how a call changed, as a share of the total: in colour, in outline and by a mark.
func (f Flame) classOf(c Call) (class, mark string) {
	if !f.beside {
		return "same", ""
	}
	part := (c.Head - c.Base) / max(f.head, f.base)
	much := ""
	if math.Abs(part) >= flameMuch {
		much = " much"
	}
	switch {
	case part >= flameSome:
		return "more" + much, "+ "
	case part <= -flameSome:
		return "less" + much, "− "
	}
	return "same", ""
}

// callText returns the tooltip of a call.
func (f Flame) callText(c Call) string {
	text := wording.Method(c.Name, wording.MaxName) + ": " + f.text(c.Head) + " (" + wording.Percent(c.Head/f.head) + ")"
	switch {
	case !f.beside:
	case c.Base == 0:
		text += ", not among the calls before"
	default:
		text += ", before " + f.text(c.Base) + ": " + f.change(c.Head-c.Base)
	}
	if kind := wording.Brief(c.Kind); kind != "" {
		text += ", " + kind
	}
	return text
}

var flameKeys = []struct{ class, text string }{{"more much", "+ takes more"}, {"less much", "− takes less"}, {"same", "about as before"}}

func drawFlameKeys(c *canvas, y float64) {
	x := 2.0
	for _, key := range flameKeys {
		c.rect("flame "+key.class, x, y+9, 14, 12, 2)
		c.text("small", x+19, y+19, startAt, key.text)
		x += 19 + textWidth(key.text) + 10
	}
}

// Note says how to read the figure, and what it leaves out.
func (f Flame) Note(width float64) string {
	text := "Each box is a call with all that it calls, below its caller; its width is its " + wording.Brief(f.Of)
	if f.beside {
		text += " in this build. Calls that changed by 1 % or more of the whole are coloured, strongly from 5 %; a colour does not mean that the change is clear"
	}
	text += "."
	_, small := f.layOut(width)
	var out []string
	if f.trunk > 0 {
		out = append(out, prose.Count(f.trunk, "outermost call that makes", "outermost calls that make")+" but one call")
	}
	if small > 0 {
		out = append(out, prose.Count(small, "call", "calls")+" too small or too deep")
	}
	if f.gone > 0 {
		out = append(out, prose.Count(f.gone, "call", "calls")+" of the build before alone")
	}
	if len(out) > 0 {
		text += " Not drawn: " + prose.List(out) + "."
	}
	return text
}

// description names the widest calls, for those who can't see them.
func (f Flame) description() string {
	var parts []string
	boxes, _ := f.layOut(Wide)
	for _, b := range boxes[:min(len(boxes), 10)] {
		parts = append(parts, f.callText(f.calls[b.call]))
	}
	return strings.Join(parts, "; ") + "."
}
