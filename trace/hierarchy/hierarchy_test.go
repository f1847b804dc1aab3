package hierarchy

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apkgate/apkgate/run"
)

func read(t *testing.T, text string) Tree {
	t.Helper()
	tree, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// warned fails unless a warning contains want.
func warned(t *testing.T, tree Tree, want string) {
	t.Helper()
	for _, w := range tree.Warnings {
		if strings.Contains(w.Text, want) {
			return
		}
	}
	t.Errorf("no warning says %q: %v", want, tree.Warnings)
}

// top is the output of dumpsys activity top for an activity whose views are these lines.
func top(activity, resumed string, views ...string) string {
	return "TASK com.example id=12 userId=0\n  ACTIVITY " + activity + " 1f2e3d pid=4217\n    Local Activity 5b2c3 State:\n      mResumed=" + resumed +
		" mStopped=false mFinished=false\n    ViewRoot:\n      mAdded=true\n    View Hierarchy:\n      " + strings.Join(views, "\n      ") + "\n    Looper (main, tid 1) {8b7c}\n      Message 0: { }\n"
}

func TestReadDumpsysActivityTop(t *testing.T) {
	tree := read(t, top("com.example/.Main", "true",
		"DecorView@2f1c5e6[Main]",
		"  android.widget.LinearLayout{65440cf V.E...... ........ 0,0-1080,2200}",
		"    android.view.ViewStub{438bea6 G.E...... ......I. 0,0-0,0 #102040b android:id/action_mode_bar_stub}",
		"    android.widget.FrameLayout{a3f0e7 V.E...... ........ 0,63-1080,2200 #1020002 android:id/content}",
		"      com.example.Feed{abc VFED.V... .F...... 10,20-1070,3000 #7f0a0001 app:id/feed aid=1073741824}",
		"      com.example.Old{abc V.ED..C. .......D 0,0-10,10}, and what it adds",
		"      com.example.Gone{abc I.ED..... ......ID 0,0-10,10 #7f0a0002 app:id/gone}",
		"        com.example.Below{abc V.ED..... ........ 1,1-3,3}",
		"  android.view.View{1 V.ED..... ........ 0,2200-1080,2340 #1020030 android:id/navigationBarBackground}",
	))
	if tree.Source != "dumpsys" || len(tree.Warnings) > 0 || len(tree.Windows) != 1 {
		t.Fatalf("it is %+v", tree)
	}
	w := tree.Windows[0]
	if w.Package != "com.example" || w.Activity != "com.example/.Main" || !w.Resumed {
		t.Errorf("the window is %+v", w)
	}
	for i, want := range []View{
		{"DecorView", "", 0, -1, Rect{0, 0, 1080, 2340}, Rect{0, 0, 1080, 2340}, true, false},
		{"android.widget.LinearLayout", "", 1, 0, Rect{0, 0, 1080, 2200}, Rect{0, 0, 1080, 2200}, true, false},
		{"android.view.ViewStub", "android:id/action_mode_bar_stub", 2, 1, Rect{}, Rect{}, false, false},
		{"android.widget.FrameLayout", "android:id/content", 2, 1, Rect{0, 63, 1080, 2200}, Rect{0, 63, 1080, 2200}, true, false},
		{"com.example.Feed", "feed", 3, 3, Rect{10, 83, 1070, 3063}, Rect{10, 83, 1070, 2200}, true, true},
		{"com.example.Old", "", 3, 3, Rect{0, 63, 10, 73}, Rect{0, 63, 10, 73}, true, true},
		{"com.example.Gone", "gone", 3, 3, Rect{0, 63, 10, 73}, Rect{0, 63, 10, 73}, false, true},
		{"com.example.Below", "", 4, 6, Rect{1, 64, 3, 66}, Rect{1, 64, 3, 66}, false, true},
		{"android.view.View", "android:id/navigationBarBackground", 1, 0, Rect{0, 2200, 1080, 2340}, Rect{0, 2200, 1080, 2340}, true, true},
	} {
		if i >= len(w.Views) || w.Views[i] != want {
			t.Errorf("view %d of %d is %+v, want %+v", i, len(w.Views), w.Views[min(i, len(w.Views)-1)], want)
		}
	}
}

// Before Android 7 the first view prints its bounds like any other; a view's class may override
// toString.
func TestReadViewsThatOverrideToString(t *testing.T) {
	tree := read(t, top("com.example/.Main", "true",
		"com.android.internal.policy.PhoneWindow$DecorView{2f1c5e6 V.E..... R....... 0,0-768,1280}",
		"  com.example.Own[what it likes]",
		"    com.example.Part{1 V.ED.... ........ 8,8-100,100}",
		"  com.example.Default@1a2b3c",
		"  ???",
	))
	w := tree.Windows[0]
	if len(w.Views) != 4 || w.Views[0].Bounds != (Rect{0, 0, 768, 1280}) || w.Views[1] != (View{"com.example.Own", "", 1, 0, w.Views[0].Bounds, w.Views[0].Bounds, true, false}) ||
		w.Views[2].Bounds != (Rect{8, 8, 100, 100}) || w.Views[3].Class != "com.example.Default" {
		t.Errorf("the views are %+v", w.Views)
	}
	warned(t, tree, "2 views state neither their bounds")
}

// A view larger than the window enlarges the window only where the window's own size is unknown.
func TestViewsLargerThanTheWindow(t *testing.T) {
	const large = "  a.List{1 V.ED.... ........ 0,0-100,3000}"
	for first, want := range map[string]int{"a.Root{1 V.E..... ........ 0,0-100,900}": 900, "DecorView@1[x]": 3000} {
		if w := read(t, top("a.b/.C", "true", first, large)).Windows[0]; w.Views[0].Bounds.Bottom != want || w.Views[1].Clipped.Bottom != want {
			t.Errorf("%s: the views are %+v", first, w.Views)
		}
	}
}

// The descendants of a view that is left out are left out with it, but not its later siblings.
func TestReadLeavesOutDescendants(t *testing.T) {
	open := `<node class="A" bounds="[0,0][9,9]">`
	leaf := open + "</node>"
	text := xmlHead + strings.Repeat(open, MaxDepth) + open + leaf + leaf + "</node>" + strings.Repeat("</node>", MaxDepth) + leaf + "</hierarchy>"
	tree := read(t, text)
	if len(tree.Windows) != 2 || len(tree.Windows[0].Views) != MaxDepth || len(tree.Windows[1].Views) != 1 {
		t.Errorf("there are %d windows, the first with %d views", len(tree.Windows), len(tree.Windows[0].Views))
	}
	warned(t, tree, "1 view is left out that is nested deeper than 200")
}

// Elements that are not views change nothing.
func TestReadElementsThatAreNotViews(t *testing.T) {
	views := read(t, xmlHead+`<node class="A" bounds="[0,0][9,9]"><b><c/></b><node class="B" bounds="[0,0][9,9]"/></node></hierarchy>`).Windows[0].Views
	if len(views) != 2 || views[1].Parent != 0 {
		t.Errorf("the views are %+v", views)
	}
}

func TestReadInvisibleViews(t *testing.T) {
	views := read(t, xmlHead+`<node class="A" bounds="[0,0][9,9]" visible-to-user="true"><node class="B" bounds="[0,0][9,9]" visible-to-user="false"><node class="C" bounds="[0,0][9,9]"/></node></node></hierarchy>`).Windows[0].Views
	if !views[0].Visible || views[1].Visible || views[2].Visible {
		t.Errorf("the views are %+v", views)
	}
}

func TestTreeOfPackage(t *testing.T) {
	view := "com.example.A{1 V.ED.... ........ 0,0-768,1280}"
	tree := read(t, top("com.example/.First", "true", view)+top("com.example/.Second", "false", view)+top("com.other/.Main", "true", view)+top("com.example/.Empty", "true"))
	if w, ok := tree.Of("com.example"); !ok || w.Activity != "com.example/.First" {
		t.Errorf("in front is %+v", w)
	}
	if _, ok := tree.Of("com.none"); ok {
		t.Error("a package has a window that is not there")
	}
	tree = read(t, top("com.example/.First", "false", view)+top("com.example/.Second", "false", view))
	if w, _ := tree.Of("com.example"); w.Activity != "com.example/.Second" {
		t.Errorf("in front is %+v", w)
	}
}

const xmlHead = `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0">`

// node is one of uiautomator's nodes, with its children inside.
func node(class, id, text, bounds, inside string) string {
	return fmt.Sprintf(`<node index="0" text="%s" resource-id="%s" class="%s" package="com.example" content-desc="" clickable="false" bounds="%s">%s</node>`, text, id, class, bounds, inside)
}

func TestReadUIAutomator(t *testing.T) {
	text := xmlHead + node("android.widget.FrameLayout", "", "", "[0,0][1080,2340]",
		node("android.view.ViewGroup", "com.example:id/list", "a &amp; b", "[0,100][1080,3000]", "")+
			node("android.widget.ImageView", "android:id/icon", "", "[-8,0][100,100]", "")) + "</hierarchy>"
	for _, text := range []string{text, "UI hierchary dumped to: /sdcard/window_dump.xml\n" + text, "a shell's word\n" + strings.TrimPrefix(text, xmlHead[:strings.Index(xmlHead, "<hierarchy")])} {
		tree := read(t, text)
		if tree.Source != "uiautomator" || len(tree.Windows) != 1 || tree.Windows[0].Package != "com.example" {
			t.Fatalf("it is %+v", tree)
		}
		want := []View{
			{"android.widget.FrameLayout", "", 0, -1, Rect{0, 0, 1080, 2340}, Rect{0, 0, 1080, 2340}, true, false},
			{"android.view.ViewGroup", "list", 1, 0, Rect{0, 100, 1080, 3000}, Rect{0, 100, 1080, 2340}, true, true},
			{"android.widget.ImageView", "android:id/icon", 1, 0, Rect{-8, 0, 100, 100}, Rect{0, 0, 100, 100}, true, true},
		}
		if got := tree.Windows[0].Views; !reflect.DeepEqual(got, want) {
			t.Errorf("the views are %+v", got)
		}
		warned(t, tree, "uiautomator does not report which views draw themselves")
	}
}

// Of a truncated, foreign or hostile file, what precedes the fault is read, and the fault is a
// warning.
func TestReadIncompleteDumps(t *testing.T) {
	leaf := node("A", "", "", "[0,0][9,9]", "")
	for name, c := range map[string]struct {
		text  string
		views int
		want  string
	}{
		"nothing":               {"", 0, "no view hierarchy is in the file"},
		"an error":              {"ERROR: could not get idle state.\n", 0, "no view hierarchy is in the file"},
		"XML of something else": {"<?xml version='1.0'?><a><b/></a>", 0, "no view is in the file"},
		"XML cut short":         {xmlHead + strings.Replace(node("A", "", "", "[0,0][9,9]", leaf+leaf), "</node></node></node>", "", 1), 3, "the XML breaks off"},
		"an unknown entity":     {xmlHead + node("A", "", "&lol;", "[0,0][9,9]", ""), 0, "the XML breaks off"},
		"no bounds":             {xmlHead + node("A", "", "", "[0,0][9]", "") + "</hierarchy>", 1, "1 view states neither its bounds"},
		"bounds beyond all":     {xmlHead + node("A", "", "", "[0,0][99999999999,9]", "") + "</hierarchy>", 1, "1 view states neither its bounds"},
		"too many":              {xmlHead + node("A", "", "", "[0,0][9,9]", strings.Repeat(leaf, MaxViews+9)) + "</hierarchy>", MaxViews, "10 views are left out: at most 2000"},
		"too deep":              {xmlHead + strings.Repeat(`<node class="A" bounds="[0,0][9,9]">`, MaxDepth+3) + strings.Repeat("</node>", MaxDepth+3) + leaf + "</hierarchy>", MaxDepth + 1, "1 view is left out that is nested deeper than 200"},
		"far too deep":          {xmlHead + strings.Repeat("<a>", 100_000), 0, "the XML is nested deeper than 1000"},
		"text too deep":         {top("a.b/.C", "true", deep(MaxDepth+3)...), MaxDepth, "nested deeper than 200"},
		"too long":              {top("a.b/.C", "true", "a.B{1 V.ED.... ........ 0,0-9,9}") + strings.Repeat(" ", MaxBytes), 1, "longer than 8 MiB"},
	} {
		tree := read(t, c.text)
		views := 0
		for _, w := range tree.Windows {
			views += len(w.Views)
		}
		if views != c.views {
			t.Errorf("%s: %d views, want %d", name, views, c.views)
		}
		warned(t, tree, c.want)
	}
}

// deep returns n views, each the child of the one before.
func deep(n int) (out []string) {
	for i := range n {
		out = append(out, strings.Repeat("  ", i)+"a.B{1 V.ED.... ........ 0,0-9,9}")
	}
	return out
}

func TestReadReportsInputErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, head := range []string{"", xmlHead + "<node>", "ACTIVITY a.b/.C\n"} {
		if _, err := Read(io.MultiReader(strings.NewReader(head+strings.Repeat(" ", 9000)), iotest.ErrReader(broken))); !errors.Is(err, broken) {
			t.Errorf("after %q: %v", head, err)
		}
	}
}

// window is a window of 100 by 100 pixels with these views.
func window(views ...View) Window {
	w := Window{Views: []View{{Class: "Root", Parent: -1, Bounds: Rect{0, 0, 100, 100}, Clipped: Rect{0, 0, 100, 100}, Visible: true}}}
	for _, v := range views {
		v.Visible, v.Draws, v.Depth, v.Clipped = true, true, 1, v.Bounds.within(w.Views[0].Clipped)
		w.Views = append(w.Views, v)
	}
	return w
}

func TestHiddenViews(t *testing.T) {
	is := func(class string, left, top, right, bottom int) View {
		return View{Class: class, Bounds: Rect{left, top, right, bottom}}
	}
	hid := func(class, by string, share float64) run.HiddenView {
		return run.HiddenView{Class: class, CoveredBy: by, AreaShare: share}
	}
	for name, c := range map[string]struct {
		views    []View
		overdraw float64
		hidden   []run.HiddenView
	}{
		"one below another":      {[]View{is("A", 0, 0, 100, 100), is("B", 0, 0, 100, 100)}, 2, []run.HiddenView{hid("A", "B", 1)}},
		"the larger one on top":  {[]View{is("A", 10, 10, 60, 60), is("B", 0, 0, 100, 100)}, 1.25, []run.HiddenView{hid("A", "B", 0.25)}},
		"the smaller one on top": {[]View{is("A", 0, 0, 100, 100), is("B", 10, 10, 60, 60)}, 1.25, nil},
		"a column is left":       {[]View{is("A", 0, 0, 100, 100), is("B", 0, 0, 99, 100)}, 1.99, nil},
		"two together":           {[]View{is("A", 0, 0, 100, 100), is("B", 0, 0, 100, 70), is("C", 0, 50, 100, 100)}, 2.2, []run.HiddenView{hid("A", "B", 1)}},
		"a hole in the middle":   {[]View{is("A", 20, 20, 80, 80), is("B", 0, 0, 100, 40), is("C", 0, 60, 100, 100), is("D", 0, 0, 40, 100)}, 1.56, nil},
		"text on top":            {[]View{is("A", 0, 0, 100, 100), is("android.widget.TextView", 0, 0, 100, 100)}, 2, nil},
		"text below":             {[]View{is("android.widget.TextView", 0, 0, 100, 100), is("B", 0, 0, 100, 100)}, 2, []run.HiddenView{hid("android.widget.TextView", "B", 1)}},
		"out of the window":      {[]View{is("A", 200, 0, 300, 100), is("B", 0, 0, 100, 100)}, 1, nil},
		"clipped by the window":  {[]View{is("A", 0, 50, 100, 900), is("B", 0, 50, 100, 100)}, 1, []run.HiddenView{hid("A", "B", 0.5)}},
		"the largest first":      {[]View{is("A", 0, 0, 10, 10), is("B", 0, 0, 50, 50), is("C", 0, 0, 100, 100)}, 1.26, []run.HiddenView{hid("B", "C", 0.25), hid("A", "B", 0.01)}},
	} {
		got := window(c.views...).Count("scroll")
		if got.Event != "scroll" || got.Count != 1+len(c.views) || got.Depth != 2 || got.Overdraw < c.overdraw-1e-9 || got.Overdraw > c.overdraw+1e-9 || !reflect.DeepEqual(got.Hidden, c.hidden) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A view off the screen is neither drawn nor covers another.
func TestCountOffScreenViews(t *testing.T) {
	w := window(View{Class: "A", Bounds: Rect{0, 0, 100, 100}}, View{Class: "B", Bounds: Rect{0, 0, 100, 100}}, View{Class: "C", Bounds: Rect{0, 0, 100, 100}})
	w.Views[2].Visible, w.Views[3].Draws = false, false
	if got := w.Count(""); got.Count != 3 || got.Overdraw != 1 || len(got.Hidden) > 0 {
		t.Errorf("it is %+v", got)
	}
	if got := (Window{}).Count(""); !reflect.DeepEqual(got, run.Views{}) {
		t.Errorf("no window is %+v", got)
	}
}

func TestManyHiddenViewsAreCounted(t *testing.T) {
	var views []View
	for range run.MaxHiddenViews + 3 {
		views = append(views, View{Class: "A", Bounds: Rect{0, 0, 50, 50}})
	}
	if got := window(append(views, View{Class: "B", Bounds: Rect{0, 0, 100, 100}})...).Count(""); len(got.Hidden) != run.MaxHiddenViews || got.LeftOut != 3 {
		t.Errorf("%d hidden, %d left out", len(got.Hidden), got.LeftOut)
	}
}

// A view cut into very many pieces is taken to be visible, in bounded time and memory.
func TestViewsInVeryManyPieces(t *testing.T) {
	views := []View{{Class: "A", Bounds: Rect{0, 0, 100, 100}}}
	for i := range 40 {
		views = append(views, View{Class: "B", Bounds: Rect{2 * i, 0, 2*i + 1, 100}}, View{Class: "B", Bounds: Rect{0, 2 * i, 100, 2*i + 1}})
	}
	if got := window(views...).Count(""); len(got.Hidden) > 0 && got.Hidden[0].Class == "A" {
		t.Errorf("hidden are %+v", got.Hidden[:1])
	}
}

func TestInspection(t *testing.T) {
	i, err := Inspect(strings.NewReader(top("com.example/.Main", "true", "a.Root{1 V.E..... ........ 0,0-100,100}",
		"  a.Back{1 V.ED.... ........ 0,0-100,100 #7f0a0001 app:id/back}", "  a.Front{1 V.ED.... ........ 0,0-100,100}")))
	if err != nil || i.Nothing || len(i.Metrics) > 0 || len(i.Warnings) != 1 || i.Warnings[0].Text != Assumptions {
		t.Fatalf("%+v, %v", i, err)
	}
	want := []string{"com.example/.Main: 3 views, 2 deep, a pixel is drawn 2.0 times on average", "  a.Back (back) is drawn and covered by a.Front: 100 % of the window"}
	if got := i.Details.(Details).Summary(); !reflect.DeepEqual(got, want) {
		t.Errorf("the summary is %q", got)
	}
	if i, err := Inspect(strings.NewReader("nothing")); err != nil || !i.Nothing {
		t.Errorf("of nothing: %+v, %v", i, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(top("com.example/.Main", "true", "DecorView@1[x]", "  a.B{1 VFED..... ........ 0,0-9,9 #7f0a0001 app:id/x}", "    a.C{1 V.ED.... ........ -1,2-3,4}"))
	f.Add(xmlHead + node("A", "b:id/c", "t", "[0,0][9,9]", node("B", "", "", "[1,1][2,2]", "")) + "</hierarchy>")
	f.Add(xmlHead + "<node bounds='[0,0][9,9]'><node/></a></node>")
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		views := 0
		for _, w := range tree.Windows {
			views += len(w.Views)
			c := w.Count("")
			for _, h := range c.Hidden {
				if h.AreaShare < 0 || h.AreaShare > 1 {
					t.Fatalf("%+v fills %v of the window", h, h.AreaShare)
				}
			}
			for i, v := range w.Views {
				if v.Parent >= i || (v.Parent < 0) != (i == 0) {
					t.Fatalf("view %d has the parent %d", i, v.Parent)
				}
			}
		}
		if views > MaxViews {
			t.Fatalf("%d views", views)
		}
	})
}

// A flood of attributes takes bounded memory.
func TestReadOfHostileDumpsIsBounded(t *testing.T) {
	text := xmlHead + "<node " + strings.Repeat("a='' ", MaxBytes/5)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tree := read(t, text)
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 800 || len(tree.Windows) > 0 {
		t.Errorf("it takes %d MiB for %d windows", took, len(tree.Windows))
	}
}
