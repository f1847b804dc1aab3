package system

import (
	"fmt"
	"strings"
	"time"
)

// Dialog is the dialog for a process that does not respond, or that crashed
// (com.android.server.am, AppNotRespondingDialog and AppErrorDialog).
type Dialog struct {
	Process string
	Crashed bool
	since   time.Duration
}

// Title returns the title of the dialog's window.
func (d Dialog) Title() string {
	if d.Crashed {
		return "Application Error: " + d.Process
	}
	return "Application Not Responding: " + d.Process
}

// Show shows a dialog in front of everything.
func (s *System) Show(process string, crashed bool) {
	s.dialogs = append(s.dialogs, Dialog{Process: process, Crashed: crashed, since: s.Clock.Now()})
}

// Front returns the dialog that has the focus, nil for none.
func (s *System) Front() *Dialog {
	if len(s.dialogs) == 0 {
		return nil
	}
	return &s.dialogs[len(s.dialogs)-1]
}

// button is a button of a dialog; the two are below each other.
type button struct {
	id, text                 string
	left, top, right, bottom int
}

// buttons returns the dialog's buttons. Since Android 7 they have names of their own
// (app_anr_dialog.xml, app_error_dialog.xml); before, they are those of any dialog, of which
// the first closes the app and the second waits.
func (s *System) buttons(d *Dialog) []button {
	at := func(row int, id, text string) button {
		top := s.Height/2 + row*s.Height/16
		return button{"android:id/" + id, text, s.Width / 10, top, s.Width * 9 / 10, top + s.Height/16}
	}
	closes, waits := "aerr_close", "aerr_wait"
	if s.API < 24 {
		closes, waits = "button1", "button2"
	}
	out := []button{at(0, closes, "Close app")}
	if !d.Crashed {
		out = append(out, at(1, waits, "Wait"))
	}
	return out
}

// deaf is how long a new dialog ignores touches (BaseErrorDialog.onStart).
const deaf = time.Second

// Tap handles a touch; false if no dialog receives it.
func (s *System) Tap(x, y int) bool {
	d := s.Front()
	if d == nil {
		return false
	}
	if s.Clock.Now() < d.since+deaf {
		return true
	}
	for i, b := range s.buttons(d) {
		if x < b.left || x >= b.right || y < b.top || y >= b.bottom {
			continue
		}
		process := d.Process
		s.dialogs = s.dialogs[:len(s.dialogs)-1]
		if i == 0 {
			s.Kill(process)
		}
		return true
	}
	return true
}

// Hierarchy returns the output of `uiautomator dump` for the window with the focus: a dialog,
// or the front component.
func (s *System) Hierarchy(front string) string {
	var b strings.Builder
	b.WriteString(`<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0">`)
	node := func(pkg, class, id, text string, left, top, right, bottom int) {
		fmt.Fprintf(&b, `<node index="0" text="%s" resource-id="%s" class="%s" package="%s" content-desc="" checkable="false" checked="false" clickable="%t" enabled="true" focusable="true" focused="false" scrollable="false" long-clickable="false" password="false" selected="false" bounds="[%d,%d][%d,%d]" />`,
			text, id, class, pkg, strings.HasSuffix(class, "Button"), left, top, right, bottom)
	}
	if d := s.Front(); d != nil {
		title := d.Process + " isn&apos;t responding"
		if d.Crashed {
			title = d.Process + " has stopped"
		}
		node("android", "android.widget.TextView", "android:id/alertTitle", title, s.Width/10, s.Height*7/16, s.Width*9/10, s.Height/2)
		for _, button := range s.buttons(d) {
			node("android", "android.widget.Button", button.id, button.text, button.left, button.top, button.right, button.bottom)
		}
	} else {
		pkg, _, _ := strings.Cut(front, "/")
		node(pkg, "android.widget.FrameLayout", "", "", 0, 0, s.Width, s.Height)
	}
	b.WriteString("</hierarchy>")
	return b.String()
}
