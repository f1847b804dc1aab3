// Package hierarchy reads the views of an app's windows: what `uiautomator dump` writes (XML,
// AccessibilityNodeInfoDumper.java) and the "View Hierarchy" of `dumpsys activity top`
// (Activity.java, dumpViewHierarchy, with View.java's toString of Android 4.2 and later).
// It tells how often a pixel is drawn in the mean, and which views are drawn although later
// ones cover them whole ("Aging or Glitching?", section 4.1).
//
// It does not judge what any of that costs. It takes a stand: neither dump tells whether a
// view is opaque, whether a layout has a background, nor how a view is moved, turned or
// raised, so what is believed of these is written down here and said in a warning, and the
// views named are those to look at, not those to remove.
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
	MaxBytes = 8 << 20 // that are read
	MaxViews = 2_000   // that are kept, of all windows
	MaxDepth = 200     // of nesting
	farthest = 1 << 20 // pixels from a window's corner
)

// Rect is a rectangle of a window, in pixels; Right and Bottom are outside.
type Rect struct{ Left, Top, Right, Bottom int }

// View is one view.
type View struct {
	Class  string
	ID     string // "title", of Android's own "android:id/content"; "" for none
	Depth  int    // 0 of a window's first
	Parent int    // its place in Window.Views, -1 of the first
	Bounds Rect   // in its window
	// Clipped is what of Bounds its parents let through.
	Clipped Rect
	// Visible says that it and its parents are.
	Visible bool
	// Draws says that it draws itself, as far as the dump tells: of dumpsys the view's own
	// word, which knows nothing of a layout's background; of uiautomator by its class.
	Draws bool
}

// Window is the views of one window, in the order in which they are drawn: a parent before
// its children, a later child over those before it.
type Window struct {
	Package  string
	Activity string // "com.example/.MainActivity", "" where it isn't told
	Resumed  bool
	Views    []View
}

// Tree is what is in a file.
type Tree struct {
	Source   string // "uiautomator" or "dumpsys"
	Windows  []Window
	Warnings []run.Warning
}

// Read reads a dump of either kind. Its error is the reader's own; what can't be understood
// is a warning.
func Read(r io.Reader) (Tree, error) {
	limited := &io.LimitedReader{R: r, N: MaxBytes + 1}
	head := bufio.NewReaderSize(limited, 64<<10)
	const looksFor = 4 << 10 // what a shell may print before the file
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

// Of is the window of a package that is in front: the one that is resumed, or the last.
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

// builder puts a tree together.
type builder struct {
	tree     Tree
	warnings trace.Warnings
	count    int
	tooMany  int // views that are left out
	tooDeep  int
	strange  int // views that tell nothing but their class
}

// open begins a window.
func (b *builder) open(w Window) { b.tree.Windows = append(b.tree.Windows, w) }

// add adds a view to the last window, below a parent by its place there; its place, or -1
// where there is no room.
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

// done is the tree, with what was left out.
func (b *builder) done() Tree {
	b.warnings.Counted(0, b.tooMany, "%d view is left out: at most %d are read", "%d views are left out: at most %d are read", MaxViews)
	b.warnings.Counted(0, b.tooDeep, "%d view is left out that is nested deeper than %d", "%d views are left out that are nested deeper than %d", MaxDepth)
	b.warnings.Counted(0, b.strange, "%d view tells neither where it is nor whether it draws: it is taken for a layout as large as its parent",
		"%d views tell neither where they are nor whether they draw: they are taken for layouts as large as their parents")
	b.tree.Warnings = b.warnings.List()
	return b.tree
}

// within is the part of a rectangle that another one lets through.
func (r Rect) within(o Rect) Rect {
	out := Rect{max(r.Left, o.Left), max(r.Top, o.Top), min(r.Right, o.Right), min(r.Bottom, o.Bottom)}
	if out.Empty() {
		return Rect{}
	}
	return out
}

// Empty reports whether nothing is in it.
func (r Rect) Empty() bool { return r.Left >= r.Right || r.Top >= r.Bottom }

// Area is how many pixels it has.
func (r Rect) Area() float64 {
	if r.Empty() {
		return 0
	}
	return float64(r.Right-r.Left) * float64(r.Bottom-r.Top)
}

// name is a resource's id without what all of an app's have in common.
func name(resource string) string {
	pkg, id, ok := strings.Cut(resource, ":id/")
	if !ok || pkg == "android" {
		return resource
	}
	return id
}
