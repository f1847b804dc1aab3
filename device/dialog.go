package device

import (
	"encoding/xml"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// FocusQuestion is the command line whose output ReadDialog reads: up to Android 9 the focus is
// told with the windows, later with the displays, and without a part's name with both.
const FocusQuestion = "dumpsys window | grep mCurrentFocus="

// Dialog is one by which Android says what is wrong with a process. It has the focus, so that
// no app gets a touch or a key until one of its buttons is pressed.
type Dialog struct {
	Process string // "com.android.systemui"
	Crashed bool   // it ended; else it does not respond
}

// String is what the dialog says: "com.android.systemui does not respond".
func (d Dialog) String() string {
	if d.Crashed {
		return d.Process + " has crashed"
	}
	return d.Process + " does not respond"
}

// The titles of the windows of AppNotRespondingDialog and AppErrorDialog
// (com.android.server.am), which are in English in every language.
var dialogTitle = regexp.MustCompile(`mCurrentFocus=Window\{[^}\n]* (Application Not Responding|Application Error): ([^}\s]{1,255})\}`)

// ReadDialog reads whether such a dialog has the focus.
func ReadDialog(output string) (d Dialog, shown bool) {
	m := dialogTitle.FindStringSubmatch(output)
	if m == nil {
		return Dialog{}, false
	}
	return Dialog{Process: m[2], Crashed: m[1] == "Application Error"}, true
}

// Buttons are the names of the buttons that leave as much as possible as it is: an app that
// does not respond is waited for, of one that crashed nothing is left but to close it. Since
// Android 7 they have names of their own (app_anr_dialog.xml, app_error_dialog.xml); before, the
// second button of the dialog waits, and the first closes.
func (d Dialog) Buttons() []string {
	if d.Crashed {
		return []string{"android:id/aerr_close", "android:id/button1"}
	}
	return []string{"android:id/aerr_wait", "android:id/button2"}
}

var bounds = regexp.MustCompile(`^\[(\d{1,5}),(\d{1,5})\]\[(\d{1,5}),(\d{1,5})\]$`)

// FindButton is the middle of a button, in pixels, in what `uiautomator dump` wrote of a window
// of the system itself; false where there is none of those names.
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
