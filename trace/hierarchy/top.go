package hierarchy

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// The lines that dumpsys activity top prints of an activity, and of each view (View.toString: the
// visibility, six or seven flags of which the third is D if it draws itself, eight of its state,
// and its bounds relative to its parent).
var (
	activityLine = regexp.MustCompile(`^\s*ACTIVITY (\S+)`)
	resumedLine  = regexp.MustCompile(`^\s+mResumed=true\b`)
	viewLine     = regexp.MustCompile(`^([\w.$]+)\{[0-9a-f]+ ([VIG.])[.F][.E]([.D])[.A-Z]{4,8} [.A-Zp]{8} (-?\d{1,7}),(-?\d{1,7})-(-?\d{1,7}),(-?\d{1,7})(?: #[0-9a-f]+)?(?: ([\w.]+:id/[\w.]+))?`)
	otherLine    = regexp.MustCompile(`^([\w.$]+)(?:[@{\[ ]|$)`)
)

// topReader reads the output of dumpsys activity top.
type topReader struct {
	*builder
	activity string
	resumed  bool
	under    int     // the indent of "View Hierarchy:", -1 outside of one
	path     []place // from the window's first view to the last one read
	bare     bool    // the window's first view does not state its size
}

// place is a view that may be the parent of later ones.
type place struct{ indent, at int }

// readTop reads the text of dumpsys.
func (b *builder) readTop(r io.Reader) error {
	t := topReader{builder: b, under: -1}
	lines := trace.NewLines(r)
	for lines.Next() {
		t.line(lines.Text())
	}
	if len(b.tree.Windows) == 0 {
		b.warnings.Addf(0, "no view hierarchy is in the file")
	}
	return lines.Err()
}

// line reads a line.
func (t *topReader) line(text []byte) {
	trimmed := bytes.TrimLeft(text, " ")
	indent := len(text) - len(trimmed)
	if t.under >= 0 && len(trimmed) > 0 {
		if indent > t.under {
			t.view(indent, string(trimmed))
			return
		}
		t.under = -1
	}
	switch m := activityLine.FindSubmatch(text); {
	case m != nil:
		t.activity, t.resumed = trace.Name(string(m[1])), false
	case resumedLine.Match(text):
		t.resumed = true
	case string(trimmed) == "View Hierarchy:":
		pkg, _, _ := strings.Cut(t.activity, "/")
		t.open(Window{Package: pkg, Activity: t.activity, Resumed: t.resumed})
		t.under, t.path, t.bare = indent, t.path[:0], false
	}
}

// view reads a view; its parent is the last one with a smaller indent.
func (t *topReader) view(indent int, text string) {
	for len(t.path) > 0 && t.path[len(t.path)-1].indent >= indent {
		t.path = t.path[:len(t.path)-1]
	}
	w := &t.tree.Windows[len(t.tree.Windows)-1]
	v := View{Parent: -1, Depth: len(t.path)}
	switch {
	case len(t.path) > 0:
		v.Parent = t.path[len(t.path)-1].at
	case len(w.Views) > 0:
		return // a second root: no window has one
	}
	if v.Parent < 0 && len(t.path) > 0 { // its parent was left out
		t.tooMany++
		t.path = append(t.path, place{indent, -1})
		return
	}
	if !t.describe(&v, w, text) {
		return
	}
	at := t.add(v)
	t.path = append(t.path, place{indent, at})
	if t.bare && at > 0 && v.Parent == 0 { // a view without its own size encloses its children
		root := &w.Views[0]
		root.Bounds.Right, root.Bounds.Bottom = max(root.Bounds.Right, v.Bounds.Right), max(root.Bounds.Bottom, v.Bounds.Bottom)
		root.Clipped = root.Bounds
		w.Views[at].Clipped = v.Bounds.within(root.Clipped)
	}
}

// describe fills in the view's fields from its text, and reports whether the text is a view.
func (t *topReader) describe(v *View, w *Window, text string) bool {
	var parent Rect
	if v.Parent >= 0 {
		parent = w.Views[v.Parent].Bounds
	}
	if m := viewLine.FindStringSubmatch(text); m != nil {
		n := func(i int) int {
			value, _ := strconv.Atoi(m[i])
			return min(max(value, -farthest), farthest)
		}
		v.Class, v.Visible, v.Draws, v.ID = m[1], m[2] == "V", m[3] == "D", name(m[8])
		v.Bounds = Rect{parent.Left + n(4), parent.Top + n(5), parent.Left + n(6), parent.Top + n(7)}
		return true
	}
	m := otherLine.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	v.Class, v.Visible, v.Bounds = m[1], true, parent
	if v.Parent < 0 { // a DecorView, since Android 7
		t.bare = true
	} else {
		t.strange++
	}
	return true
}
