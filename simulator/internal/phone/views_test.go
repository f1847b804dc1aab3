package phone

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/trace/hierarchy"
)

// layered is an app with a backdrop that a page hides, and a page that is partly visible.
const layered = still + `
layers com.example.still.Backdrop id backdrop
layers android.widget.FrameLayout id page bare
layers com.example.still.Photo id photo in page at 0,0-100,60
layers com.example.still.Feed id feed in page at 0,60-100,100
layers com.example.still.Title id title in page at 0,0-50,10
layers com.example.still.Menu id menu gone
`

// viewsOf parses a dump of the app's views.
func viewsOf(t *testing.T, text string) (w hierarchy.Window, warnings int) {
	t.Helper()
	tree, err := hierarchy.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	ok := false
	if w, ok = tree.Of("com.example.still"); !ok {
		t.Fatalf("no window of the app is in %s", text)
	}
	return w, len(tree.Warnings)
}

// Both dumps of the same window contain the same views, as far as each can: the backdrop is
// drawn and hidden by two others together.
func TestDumpsOfViews(t *testing.T) {
	t.Parallel()
	for _, phone := range []string{"galaxy-nexus-android-4.2.2", "nexus-9-android-5.0.0", "nexus-5x-android-6.0.0", "moto-g5-android-7.0", "pixel-7-android-14"} {
		p := newPhone(t, phone, layered)
		output(t, p, "am start -n com.example.still/.MainActivity")
		pass(t, p, 5*time.Second)
		top, warnings := viewsOf(t, output(t, p, "dumpsys activity top"))
		if warnings > 0 || !top.Resumed || top.Activity != "com.example.still/.MainActivity" {
			t.Errorf("%s: %+v, %v", phone, top, warnings)
		}
		has(t, output(t, p, "uiautomator dump"), "UI hierchary dumped to: /sdcard/window_dump.xml")
		xml, _ := viewsOf(t, output(t, p, "cat /sdcard/window_dump.xml"))
		for from, w := range map[string]hierarchy.Window{"dumpsys": top, "uiautomator": xml} {
			got := w.Count("")
			if len(got.Hidden) != 1 || got.Hidden[0].Class != "com.example.still.Backdrop" || got.Hidden[0].ID != "backdrop" || got.Hidden[0].CoveredBy != "com.example.still.Photo" ||
				got.Hidden[0].AreaShare < 0.9 || got.Overdraw < 1.9 || got.Overdraw > 2.1 || got.Depth != 5 {
				t.Errorf("%s, %s: %+v", phone, from, got)
			}
		}
		if found := at(xml, "title").Bounds; found != at(top, "title").Bounds || found.Empty() {
			t.Errorf("%s: the title is at %v and at %v", phone, found, at(top, "title").Bounds)
		}
		if at(top, "menu").Visible || at(xml, "menu").Class != "" {
			t.Errorf("%s: what is gone is there", phone)
		}
	}
}

// at returns the view with an id.
func at(w hierarchy.Window, id string) hierarchy.View {
	for _, v := range w.Views {
		if v.ID == id {
			return v
		}
	}
	return hierarchy.View{}
}

// Android 4.1 prints only a view's class.
func TestViewsBeforeAndroid42(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "galaxy-s3-android-4.1.1", layered)
	output(t, p, "am start -n com.example.still/.MainActivity")
	pass(t, p, 5*time.Second)
	w, warnings := viewsOf(t, output(t, p, "dumpsys activity top"))
	if got := w.Count(""); got.Overdraw != 0 || len(got.Hidden) > 0 || warnings != 1 {
		t.Errorf("%+v, %v", got, warnings)
	}
}

// An activity dumps itself on its UI thread: if that is blocked, the activity manager gives up
// after five seconds.
func TestDumpsOfViewsOfABlockedApp(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-7-android-14", layered)
	output(t, p, "am start -n com.example.still/.MainActivity")
	pass(t, p, 5*time.Second)
	p.Break(simapp.Fault{Kind: simapp.ANR, Timeout: simapp.InputTimeout, For: 20 * time.Second, Because: simapp.Standstill{Why: simapp.SlowDisk}})
	began := p.Clock().Now()
	out := output(t, p, "dumpsys activity top")
	if took := p.Clock().Now() - began; took < 5*time.Second || took > 7*time.Second || strings.Contains(out, "View Hierarchy") {
		t.Errorf("after %v it says %s", took, out)
	}
	has(t, out, "Failure while dumping the activity: java.io.IOException: Timeout")
	if out, errs, _ := run(t, p, "uiautomator dump"); out != "" || errs != "ERROR: null root node returned by UiTestAutomationBridge.\n" {
		t.Errorf("uiautomator says %s%s", out, errs)
	}
	pass(t, p, 20*time.Second)
	has(t, output(t, p, "dumpsys activity top"), "View Hierarchy:")
	has(t, output(t, p, "uiautomator dump"), "UI hierchary dumped to: ")
}
