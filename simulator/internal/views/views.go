// Package views writes the views of a simulated app's window as Android's dumps show them:
// what uiautomator writes (AccessibilityNodeInfoDumper.java), and what dumpsys activity top
// prints of an activity (Activity.java, View.java). Which views there are says the app's
// file; around them stand those that every window has.
//
// It owns neither how long a dump takes nor whether one can be had. Of what an app draws
// it knows nothing: views cost nothing on a simulated phone.
package views

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// Window is the window of an app that is in front.
type Window struct {
	API           int
	App           *simapp.App
	PID           int
	Hash          uint32 // by which dumps name it
	Width, Height int    // of the screen, in pixels
}

// view is one view: its place is in its parent, as View.toString has it.
type view struct {
	class, id                string // "android:id/content", "app:id/title"
	seen                     byte
	bare                     bool
	left, top, right, bottom int
	inside                   []*view
}

// bar is how high the bar of the system's buttons is, as a part of the screen.
const bar = 18

// root is the window's first view with all others.
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

// XML is what uiautomator writes: of the views that can be seen, with their bounds on the
// screen.
func (w Window) XML() string {
	var b strings.Builder
	b.WriteString(`<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0">`)
	w.node(&b, w.root(), 0, 0, 0)
	b.WriteString("</hierarchy>")
	return b.String()
}

// node writes a view, and what is in it, which is left, top away from the screen's corner.
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

// Top is what dumpsys activity top prints of the activity; with late instead of its own part
// where its UI thread does not answer.
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

// line writes a view and what is in it (Activity.dumpViewHierarchy); n counts the views
// before it.
func (w Window) line(b *strings.Builder, v *view, indent string, n int) int {
	b.WriteString(indent + w.text(v, n) + "\n")
	n++
	for _, in := range v.inside {
		n = w.line(b, in, indent+"  ", n)
	}
	return n
}

// text is View.toString: with flags since Android 4.2, one more since 6, and the number for
// autofill since 10. The first view of a window has words of its own since 7.
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
