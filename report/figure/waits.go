package figure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/report/wording"
)

// Waits shows who waited for whom: threads as boxes in the boxes of their processes, each above the
// one that it waits for, and for a deadlock an arrow back.
type Waits struct {
	threads []Waiting
	label   string
}

// Waiting is one thread.
type Waiting struct {
	Name, Process, State, WaitsFor, At string

	Next     int  // the index of the thread that it waits for, -1 for none
	Critical bool // it blocks the others
}

const (
	waitsMost   = 620.0 // pixels of a process's box
	waitsHead   = 22.0
	waitsBox    = 46.0
	waitsArrow  = 44.0
	waitsInset  = 10.0
	waitsReturn = 34.0 // room for the arrow back
)

// NewWaits returns the figure of threads, and false where there is nothing to draw.
func NewWaits(label string, threads []Waiting) (Waits, bool) {
	return Waits{threads, label}, len(threads) > 0
}

// Draw returns the figure as SVG.
func (w Waits) Draw(id, class string, width float64) string {
	c := &canvas{width: width}
	right := min(width-2, waitsMost)
	if w.bends() {
		right = min(width-waitsReturn, waitsMost)
	}
	tops := w.place()
	for i := range w.threads {
		if w.begins(i) {
			w.drawProcess(c, i, tops, right)
		}
	}
	for i := range w.threads {
		w.drawThread(c, i, tops[i], right)
		w.drawArrow(c, i, tops, right)
	}
	c.height = tops[len(tops)-1] + waitsBox + waitsInset + 2
	if w.threads[len(tops)-1].WaitsFor != "" {
		c.height += waitsArrow / 2
	}
	return c.svg(id, class, wording.Name(w.label), w.description())
}

// next returns the index of the thread that another waits for, -1 for none.
func (w Waits) next(of int) int {
	if n := w.threads[of].Next; n >= 0 && n < len(w.threads) && n != of {
		return n
	}
	return -1
}

// bends reports whether a thread waits for one that is not below it.
func (w Waits) bends() bool {
	for i := range w.threads {
		if n := w.next(i); n >= 0 && n != i+1 {
			return true
		}
	}
	return false
}

// inCircle reports whether a thread waits, through others, for itself.
func (w Waits) inCircle(of int) bool {
	at := w.next(of)
	for range w.threads {
		if at < 0 || at == of {
			break
		}
		at = w.next(at)
	}
	return at == of
}

// circular reports whether any thread waits for itself.
func (w Waits) circular() bool {
	for i := range w.threads {
		if w.inCircle(i) {
			return true
		}
	}
	return false
}

// begins reports whether a thread is the first of its process's box.
func (w Waits) begins(i int) bool { return i == 0 || w.threads[i].Process != w.threads[i-1].Process }

// place returns where each thread's box begins.
func (w Waits) place() []float64 {
	var out []float64
	y := 1.0
	for i := range w.threads {
		if i > 0 {
			y += waitsBox + waitsArrow
		}
		if w.begins(i) {
			y += waitsHead
			if i > 0 {
				y += waitsInset
			}
		}
		out = append(out, y)
	}
	return out
}

// drawProcess draws the box around consecutive threads of one process.
func (w Waits) drawProcess(c *canvas, first int, tops []float64, right float64) {
	last := first
	for last+1 < len(w.threads) && !w.begins(last+1) {
		last++
	}
	top := tops[first] - waitsHead
	c.rect("group", 1, top, right-1, tops[last]+waitsBox+waitsInset-top, 6)
	name := wording.Name(w.threads[first].Process)
	if name == "" {
		name = "a process without a name"
	}
	from := 1 + waitsInset
	if first > 0 && w.next(first-1) == first {
		from += 28 // next to the arrow
	}
	c.text("small muted", from, top+15, startAt, fitText(name, right-waitsInset-from))
}

func (w Waits) drawThread(c *canvas, i int, top, right float64) {
	t := w.threads[i]
	class := "thread"
	if t.Critical {
		class = "thread worse"
	}
	from, room := 1+waitsInset, right-1-2*waitsInset
	c.rect(class, from, top, room, waitsBox, 5)
	name, state := w.title(i)
	name = fitText(name, (room-16)*charWidth/boldWidth)
	c.text("strong", from+8, top+18, startAt, name)
	if used := float64(len([]rune(name)))*boldWidth + 16; state != "" {
		c.text("small muted", from+8+used, top+18, startAt, fitText(state, room-16-used))
	}
	if at := wording.Name(t.At); at != "" {
		c.text("small", from+8, top+36, startAt, fitText("at "+at, room-16))
	}
}

// title returns the thread's name, and its state with what that means.
func (w Waits) title(i int) (name, state string) {
	t := w.threads[i]
	name, state = wording.Name(t.Name), wording.Brief(t.State)
	if t.Critical && len(w.threads) > 1 {
		state = strings.TrimPrefix(state+", keeps the others waiting", ", ")
	}
	return name, state
}

// drawArrow leads to what a thread waits for: straight to the one below it, at the right edge to
// any other.
func (w Waits) drawArrow(c *canvas, i int, tops []float64, right float64) {
	from, x, to := tops[i]+waitsBox, 1+waitsInset+18, w.next(i)
	label, tone := waitsFor(w.threads[i]), ""
	if w.inCircle(i) {
		tone = " worse"
	}
	switch {
	case to == i+1:
		end := tops[to]
		c.line("way"+tone, x, from, x, end-5)
		c.path("head"+tone, fmt.Sprintf("M%s %sl-4 -7h8z", px(x), px(end)))
		x += 10
	case to >= 0:
		edge := right - waitsInset - 1
		turn := edge + waitsInset + 6 + 3*float64(i%5) // so that two of them can be distinguished
		c.path("way"+tone, fmt.Sprintf("M%s %sH%sV%sH%s", px(edge), px(tops[i]+waitsBox/2+6), px(turn), px(tops[to]+waitsBox/2-6), px(edge+6)))
		c.path("head"+tone, fmt.Sprintf("M%s %sl7 -4v8z", px(edge), px(tops[to]+waitsBox/2-6)))
		label += w.leads(i)
	}
	if label != "" {
		c.text("small halo", x, from+waitsArrow/2+6, startAt, fitText(label, right-x-waitsInset))
	}
}

// leads describes the target of a wait that is not the thread below.
func (w Waits) leads(i int) string {
	to := w.next(i)
	switch {
	case to < 0 || to == i+1:
		return ""
	case w.inCircle(i):
		return ", which leads back to " + wording.Name(w.threads[to].Name)
	}
	return ", which leads to " + wording.Name(w.threads[to].Name)
}

// states are waits for no thread, in words.
var states = map[string]string{"sleep": "sleeps", "idle": "is idle", "stopped": "is stopped", "stopped debugger": "is stopped by a debugger", "stopped crash": "has crashed", "gpu": "waits for the graphics driver", "unknown": ""}

// waitsFor describes what a thread waits for, "" for nothing.
func waitsFor(t Waiting) string {
	what := wording.Name(t.WaitsFor)
	if state, known := states[what]; known || what == "" {
		return state
	}
	if function, stopped := strings.CutPrefix(what, "stopped "); stopped {
		return "is stopped in " + function
	}
	if rest, io := strings.CutPrefix(what, "io"); io && (rest == "" || rest[0] == ' ') {
		what = "I/O" + rest
	}
	return "waits for " + what
}

// Note says how to read the figure.
func (w Waits) Note() string {
	text := "Each box is a thread, in the box of its process; an arrow leads to the one that it waits for."
	if slices.ContainsFunc(w.threads, func(t Waiting) bool { return t.Critical }) {
		text += " Those that keep the others waiting have a red outline."
	}
	if w.circular() {
		text += " Red arrows form a cycle: none of these threads can continue."
	}
	return text
}

// description describes the chain in words, for those who can't see it.
func (w Waits) description() string {
	return strings.Join(w.Text(0), "; ") + "."
}
