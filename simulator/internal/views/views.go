// Package views formats the views of a simulated app's window as in Android's dumps: the
// output of uiautomator (AccessibilityNodeInfoDumper.java), and of dumpsys activity top for an
// activity (Activity.java, View.java). The app's file defines the views, within those that
// every window has.
//
// It does not decide how long a dump takes nor whether it succeeds. Views do not affect the
// cost of frames on a simulated phone.
package views

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// Window is the front window of an app.
type Window struct {
	API           int
	App           *simapp.App
	PID           int
	Hash          uint32 // in dumps
	Width, Height int    // of the screen, in pixels
}

// view is one view; its position is relative to its parent, as in View.toString.
type view struct {
	class, id                string // "android:id/content", "app:id/title"
	seen                     byte
	bare                     bool
	left, top, right, bottom int
	inside                   []*view
}

// bar is the ratio of the screen's height to that of the navigation bar.
const bar = 18

// root returns the window's view tree.
func (w Window) root() *view {
	content := &view{class: "android.widget.FrameLayout", id: "android:id/content", seen: 'V', bare: true, right: w.Width, bottom: w.Height - w.Height/bar}
	column := &view{class: "android.widget.LinearLayout", seen: 'V', bare: true, right: content.right, bottom: content.bottom, inside: []*view{
		{class: "android.view.ViewStub", id: "android:id/action_mode_bar_stub", seen: 'G', bare: true}, content,
	}}
	decor := &view{class: "com.android.internal.policy.impl.PhoneWindow$DecorView", seen: 'V', bare: true, right: w.Width, bottom: w.Height, inside: []*view{column}}
	if w.API >= 21 {
		decor.inside = append(decor.inside, &view{class: "android.view.View", id: "android:id/navigationBarBackground", seen: 'V', top: content.bottom, right: w.Width, bottom: w.Height})
	}
	if w.API == 23 {
		decor.class = "com.android.internal.policy.PhoneWindow$DecorView"
	}
	all := make([]*view, 0, len(w.App.Layers))
	for _, l := range w.App.Layers {
		parent := content
		if l.Below >= 0 {
			parent = all[l.Below]
		}
		width, height := parent.right-parent.left, parent.bottom-parent.top
		v := &view{class: l.Class, seen: l.Seen, bare: l.Bare, left: width * l.At[0] / 100, top: height * l.At[1] / 100, right: width * l.At[2] / 100, bottom: height * l.At[3] / 100}
		if l.ID != "" {
			v.id = "app:id/" + l.ID
		}
		parent.inside = append(parent.inside, v)
		all = append(all, v)
	}
	return decor
}

// XML returns the output of uiautomator: the visible views, with their bounds on the screen.
func (w Window) XML() string {
	var b strings.Builder
	b.WriteString(`<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0">`)
	w.node(&b, w.root(), 0, 0, 0)
	b.WriteString("</hierarchy>")
	return b.String()
}

// node writes a view and its children; left and top are its parent's position on the screen.
func (w Window) node(b *strings.Builder, v *view, index, left, top int) {
	if v.seen != 'V' {
		return
	}
	class, id := v.class, strings.Replace(v.id, "app:", w.App.Package+":", 1)
	if strings.HasSuffix(class, "DecorView") { // its accessibility class
		class = "android.widget.FrameLayout"
	}
	fmt.Fprintf(b, `<node index="%d" text="" resource-id="%s" class="%s" package="%s" content-desc="" checkable="false" checked="false" clickable="false" enabled="true" focusable="false" focused="false" scrollable="false" long-clickable="false" password="false" selected="false" bounds="[%d,%d][%d,%d]"`,
		index, id, class, w.App.Package, left+v.left, top+v.top, left+v.right, top+v.bottom)
	if len(v.inside) == 0 {
		b.WriteString(" />")
		return
	}
	b.WriteString(">")
	for i, in := range v.inside {
		w.node(b, in, i, left+v.left, top+v.top)
	}
	b.WriteString("</node>")
}

// Top returns the output of dumpsys activity top for the activity; with late set, without the
// part that its UI thread would print.
func (w Window) Top(late bool) string {
	var b strings.Builder
	task := "TASK " + w.App.Package + " id=12"
	if w.API >= 30 {
		task = "TASK 10120:" + w.App.Package + " id=12 userId=0 displayId=0(type=INTERNAL)"
	} else if w.API >= 24 {
		task += " userId=0"
	}
	fmt.Fprintf(&b, "%s\n  ACTIVITY %s %x pid=%d\n", task, w.App.Component(), w.Hash, w.PID)
	if late { // ActivityManagerService.dumpActivity
		b.WriteString("    Failure while dumping the activity: java.io.IOException: Timeout\n")
		return b.String()
	}
	fmt.Fprintf(&b, "    Local Activity %x State:\n      mResumed=true mStopped=false mFinished=false\n      mChangingConfigurations=false\n    ViewRoot:\n      mAdded=true mRemoved=false\n    View Hierarchy:\n", w.Hash+1)
	w.line(&b, w.root(), "      ", 0)
	b.WriteString("\n")
	return b.String()
}

// line writes a view and its children (Activity.dumpViewHierarchy); n counts the views before
// it.
func (w Window) line(b *strings.Builder, v *view, indent string, n int) int {
	b.WriteString(indent + w.text(v, n) + "\n")
	n++
	for _, in := range v.inside {
		n = w.line(b, in, indent+"  ", n)
	}
	return n
}

// text is View.toString: with flags since Android 4.2, one more since 6, and the autofill id
// since 10. The first view of a window has its own format since 7.
func (w Window) text(v *view, n int) string {
	hash := (w.Hash*31 + uint32(n)*7919) & 0xfffffff
	first := strings.HasSuffix(v.class, "DecorView")
	switch {
	case w.API < 17:
		return fmt.Sprintf("%s@%x", v.class, hash)
	case first && w.API >= 24:
		return fmt.Sprintf("DecorView@%x[%s]", hash, w.App.ActivityClass()[strings.LastIndexByte(w.App.ActivityClass(), '.')+1:])
	}
	draws, context, state := 'D', "", "........"
	if v.bare {
		draws = '.'
	}
	if w.API >= 23 {
		context = "."
	}
	if first {
		state = "R......."
	}
	id := ""
	switch name, own := strings.CutPrefix(v.id, "app:"); {
	case own:
		id = fmt.Sprintf(" #7f0a%04x app:%s", n, name)
	case v.id != "":
		id = fmt.Sprintf(" #1020%03x %s", n, v.id)
	}
	if id != "" && w.API >= 29 {
		id += fmt.Sprintf(" aid=%d", 1073741824+n)
	}
	return fmt.Sprintf("%s{%x %c.E%c....%s %s %d,%d-%d,%d%s}", v.class, hash, v.seen, draws, context, state, v.left, v.top, v.right, v.bottom, id)
}
