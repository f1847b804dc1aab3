package device

import (
	"encoding/xml"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// FocusQuery is the command line whose output ReadDialog parses. Up to Android 9 the focus is
// printed with the windows, later with the displays; dumpsys window without arguments prints
// both.
const FocusQuery = "dumpsys window | grep mCurrentFocus="

// Dialog is one of Android's dialogs about a failing process. It has the focus, so that no app
// receives a touch or a key until one of its buttons is pressed.
type Dialog struct {
	Process string // "com.android.systemui"
	Crashed bool   // the process crashed; otherwise it does not respond
}

// String is what the dialog reports: "com.android.systemui does not respond".
func (d Dialog) String() string {
	if d.Crashed {
		return d.Process + " has crashed"
	}
	return d.Process + " does not respond"
}

// The window titles of AppNotRespondingDialog and AppErrorDialog (com.android.server.am). They
// are in English in every language.
var dialogTitle = regexp.MustCompile(`mCurrentFocus=Window\{[^}\n]* (Application Not Responding|Application Error): ([^}\s]{1,255})\}`)

// ReadDialog parses the output of FocusQuery; shown is false where no such dialog has the
// focus.
func ReadDialog(output string) (d Dialog, shown bool) {
	m := dialogTitle.FindStringSubmatch(output)
	if m == nil {
		return Dialog{}, false
	}
	return Dialog{Process: m[2], Crashed: m[1] == "Application Error"}, true
}

// Buttons returns the names of the buttons that change as little as possible: Wait for an app
// that does not respond, Close for one that crashed. Since Android 7 they have names of their
// own (app_anr_dialog.xml, app_error_dialog.xml). In earlier versions the second button of the
// dialog waits, and the first closes.
func (d Dialog) Buttons() []string {
	if d.Crashed {
		return []string{"android:id/aerr_close", "android:id/button1"}
	}
	return []string{"android:id/aerr_wait", "android:id/button2"}
}

var bounds = regexp.MustCompile(`^\[(\d{1,5}),(\d{1,5})\]\[(\d{1,5}),(\d{1,5})\]$`)

// FindButton returns the middle of a button, in pixels, in the output of `uiautomator dump`
// for a window of the system itself. found is false where no button has one of the names.
func FindButton(hierarchy string, names []string) (x, y int, found bool) {
	_, hierarchy, _ = strings.Cut(hierarchy, "<hierarchy")
	reader := xml.NewDecoder(strings.NewReader("<hierarchy" + hierarchy))
	for {
		token, err := reader.Token()
		if err == io.EOF || err != nil {
			return 0, 0, false
		}
		node, is := token.(xml.StartElement)
		if !is {
			continue
		}
		of := map[string]string{}
		for _, a := range node.Attr {
			of[a.Name.Local] = a.Value
		}
		m := bounds.FindStringSubmatch(of["bounds"])
		if of["package"] != "android" || !slices.Contains(names, of["resource-id"]) || m == nil {
			continue
		}
		var at [4]int
		for i := range at {
			at[i], _ = strconv.Atoi(m[i+1])
		}
		return (at[0] + at[2]) / 2, (at[1] + at[3]) / 2, true
	}
}
