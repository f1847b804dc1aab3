// Package hierarchy reads the views of an app's windows: the output of `uiautomator dump` (XML,
// AccessibilityNodeInfoDumper.java) and the "View Hierarchy" of `dumpsys activity top`
// (Activity.java, dumpViewHierarchy, with View.java's toString of Android 4.2 and later). It
// computes how often a pixel is drawn on average, and which views are drawn although later ones
// cover them completely ("Aging or Glitching?", section 4.1).
//
// It does not judge the cost. Neither dump reports whether a view is opaque, whether a layout has a
// background, or how a view is moved, rotated or elevated. The assumptions about these are in this
// package and in a warning: the views named are candidates for a look, not for removal.
package hierarchy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Limits on one file.
const (
	MaxBytes = 8 << 20 // bytes read
	MaxViews = 2_000   // views kept, of all windows
	MaxDepth = 200     // levels of nesting
	farthest = 1 << 20 // pixels from a window's corner
)

// Rect is a rectangle of a window in pixels; Right and Bottom are exclusive.
type Rect struct{ Left, Top, Right, Bottom int }

// View is one view.
type View struct {
	Class  string
	ID     string // "title"; "android:id/content" for one of Android's own; "" for none
	Depth  int    // 0 for the window's first view
	Parent int    // its index in Window.Views, -1 for the first view
	Bounds Rect   // relative to the window
	// Clipped is the part of Bounds within the bounds of its ancestors.
	Clipped Rect
	// Visible is set if the view and its ancestors are.
	Visible bool
	// Draws is set if the view draws itself, as far as the dump reports it: in dumpsys the view's
	// own flag, which leaves out a layout's background; in uiautomator it is derived from the
	// class.
	Draws bool
}

// Window is the views of one window in drawing order: a parent before its children, a child before
// its later siblings.
type Window struct {
	Package  string
	Activity string // "com.example/.MainActivity", "" if unknown
	Resumed  bool
	Views    []View
}

// Tree is the content of a file.
type Tree struct {
	Source   string // "uiautomator" or "dumpsys"
	Windows  []Window
	Warnings []run.Warning
}

// Read reads a dump of either kind. It returns an error only where reading fails; what can't be
// understood is a warning.
func Read(r io.Reader) (Tree, error) {
	limited := &io.LimitedReader{R: r, N: MaxBytes + 1}
	head := bufio.NewReaderSize(limited, 64<<10)
	const looksFor = 4 << 10 // bytes that a shell may print before the file
	start, err := head.Peek(looksFor)
	if err != nil && err != io.EOF {
		return Tree{}, fmt.Errorf("read a view hierarchy: %w", err)
	}
	b := builder{}
	if at := bytes.Index(start, []byte("<?xml")); at >= 0 || bytes.Contains(start, []byte("<hierarchy")) {
		if at < 0 {
			at = bytes.Index(start, []byte("<hierarchy"))
		}
		_, _ = head.Discard(at)
		b.tree.Source = "uiautomator"
		err = b.readXML(head)
	} else {
		b.tree.Source = "dumpsys"
		err = b.readTop(head)
	}
	if err != nil {
		return Tree{}, fmt.Errorf("read a view hierarchy: %w", err)
	}
	if limited.N == 0 {
		b.warnings.Addf(0, "the file is longer than %d MiB: what follows is not read", MaxBytes>>20)
	}
	return b.done(), nil
}

// Of returns the foreground window of a package: the resumed one, or else the last.
func (t Tree) Of(pkg string) (Window, bool) {
	var found Window
	ok := false
	for _, w := range t.Windows {
		if w.Package == pkg && len(w.Views) > 0 && (w.Resumed || !found.Resumed) {
			found, ok = w, true
		}
	}
	return found, ok
}

// builder builds a tree.
type builder struct {
	tree     Tree
	warnings trace.Warnings
	count    int
	tooMany  int // views left out
	tooDeep  int
	strange  int // views that state only their class
}

// open begins a window.
func (b *builder) open(w Window) { b.tree.Windows = append(b.tree.Windows, w) }

// add adds a view below its parent in the last window. It returns the view's index, or -1 if a
// limit is reached.
func (b *builder) add(v View) int {
	if b.count == MaxViews {
		b.tooMany++
		return -1
	}
	w := &b.tree.Windows[len(b.tree.Windows)-1]
	if v.Depth >= MaxDepth {
		b.tooDeep++
		return -1
	}
	v.Class, v.ID = trace.Name(v.Class), trace.Name(v.ID)
	v.Clipped = v.Bounds
	if v.Parent >= 0 {
		parent := w.Views[v.Parent]
		v.Clipped = v.Bounds.within(parent.Clipped)
		v.Visible = v.Visible && parent.Visible
	}
	b.count++
	w.Views = append(w.Views, v)
	return len(w.Views) - 1
}

// done returns the tree, with a warning for what was left out.
func (b *builder) done() Tree {
	b.warnings.Counted(0, b.tooMany, "%d view is left out: at most %d are read", "%d views are left out: at most %d are read", MaxViews)
	b.warnings.Counted(0, b.tooDeep, "%d view is left out that is nested deeper than %d", "%d views are left out that are nested deeper than %d", MaxDepth)
	b.warnings.Counted(0, b.strange, "%d view states neither its bounds nor whether it draws: it is taken for a layout as large as its parent",
		"%d views state neither their bounds nor whether they draw: they are taken for layouts as large as their parents")
	b.tree.Warnings = b.warnings.List()
	return b.tree
}

// within returns the intersection of r and o.
func (r Rect) within(o Rect) Rect {
	out := Rect{max(r.Left, o.Left), max(r.Top, o.Top), min(r.Right, o.Right), min(r.Bottom, o.Bottom)}
	if out.Empty() {
		return Rect{}
	}
	return out
}

// Empty reports whether r contains no pixel.
func (r Rect) Empty() bool { return r.Left >= r.Right || r.Top >= r.Bottom }

// Area returns the number of pixels.
func (r Rect) Area() float64 {
	if r.Empty() {
		return 0
	}
	return float64(r.Right-r.Left) * float64(r.Bottom-r.Top)
}

// name returns a resource's id without the prefix that all ids of an app share.
func name(resource string) string {
	pkg, id, ok := strings.Cut(resource, ":id/")
	if !ok || pkg == "android" {
		return resource
	}
	return id
}
