package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/queueing"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/tasks"
)

// figure is a report of DiagDroid (FSE 2016, Figures 5 to 9): an app whose pool, tasks and load are
// stated, and the numbers that have to come out of its queues.
type figure struct {
	name, app              string
	kind                   string
	capacity               int
	length, maxMS, aheadMS float64 // 0 where the paper has no number
	dependency             []string
	ran                    map[string]float64 // mean execution by group
}

// quietPhone is a phone without chance, whose tasks take twice as long under load cpu 2.
var quietPhone = queuePhone{"Samsung GT-I9105P", 1, 0, 0, tasks.Tells{Contexts: true, Capacity: true, Cancellation: true}}

// The five cases of section 6.1. Times of tasks are without load, which is stated: what a report
// says has to come out of who waits for whom.
var figures = []figure{
	{
		name: "Figure 5, OpenLaw", kind: queueing.SequentialKind, capacity: 1, length: 1, maxMS: 1650, aheadMS: 1666, dependency: []string{"de.jdsoft.law.data.LawSectionList"},
		app: `
app de.jdsoft.law
unit AsyncTask async-task 1
unit pool thread-pool 5
load cpu 2
event open at 1s
task de.jdsoft.law.data.LawSectionList on AsyncTask after open at 0ms takes 833ms from android.os.AsyncTask.executeOnExecutor(Native Method), android.os.AsyncTask.execute(AsyncTask.java:535), de.jdsoft.law.LawListFragment.onCreate(LawListFragment.java:87)
task de.jdsoft.law.data.UpdateLawList on AsyncTask after open at 16ms takes 150ms shows from android.os.AsyncTask.executeOnExecutor(Native Method), android.os.AsyncTask.execute(AsyncTask.java:535), de.jdsoft.law.LawListFragment.onCreate(LawListFragment.java:91)  # cause
task de.jdsoft.law.data.UpdateLawList on pool after open at 16ms takes 150ms shows from android.os.AsyncTask.executeOnExecutor(AsyncTask.java:590), de.jdsoft.law.LawListFragment.onCreate(LawListFragment.java:91)  # before
`,
	},
	{
		name: "Figure 6, BartRunnerAndroid", kind: queueing.ObsoleteKind, capacity: 1, length: 19.5, maxMS: 31885, aheadMS: 1240.6,
		dependency: []string{"GetRouteFareTask", "GetDeparturesTask"}, ran: map[string]float64{"GetRouteFareTask": 1419.95, "GetDeparturesTask": 786.69},
		app: bart(),
	},
	{
		name: "Figure 7, FBReader", kind: queueing.PoolKind, capacity: 3, length: 1.5, maxMS: 514, aheadMS: 659.29, dependency: []string{"ZLAndroidImageLoader"},
		app: `
app org.geometerplus.zlibrary.ui.android
unit myPool thread-pool 3  # cause
unit myPool thread-pool 5  # before
load cpu 2
event open at 1s
task ZLAndroidImageLoader on myPool after open at 0ms every 1ms times 3 takes 329.6ms shows from java.util.concurrent.ThreadPoolExecutor.execute(ThreadPoolExecutor.java:1322), org.geometerplus.zlibrary.ui.android.image.ZLAndroidImageLoader.startImageLoading(ZLAndroidImageLoader.java:67)
task ZLAndroidImageLoader on myPool after open at 146ms every 4ms times 2 takes 329.6ms shows from java.util.concurrent.ThreadPoolExecutor.execute(ThreadPoolExecutor.java:1322), org.geometerplus.zlibrary.ui.android.image.ZLAndroidImageLoader.startImageLoading(ZLAndroidImageLoader.java:67)
`,
	},
	{
		name: "Figure 8, Transportr", kind: queueing.HandlerKind, capacity: 1, dependency: []string{"Filter"},
		app: `
app de.grobox.liberario
unit Filter handler-thread 1
load net 2
event type at 1s
event type at 1300ms
event type at 1600ms
task Filter on Filter after type at 5ms takes 600ms net shows from android.os.Handler.sendMessageDelayed(Handler.java:620), android.widget.Filter.filter(Filter.java:121), android.widget.AutoCompleteTextView.performFiltering(AutoCompleteTextView.java:974), android.os.Looper.loop(Looper.java:193)  # cause
task Filter on Filter after type at 5ms takes 600ms net until type shows from android.os.Handler.sendMessageDelayed(Handler.java:620), android.widget.Filter.filter(Filter.java:121), android.widget.AutoCompleteTextView.performFiltering(AutoCompleteTextView.java:974), android.os.Looper.loop(Looper.java:193)  # before
`,
	},
	{
		name: "Figure 9, Lucid Browser", kind: queueing.LibraryKind, capacity: 1, length: 3, maxMS: 664, aheadMS: 323, dependency: []string{"WebView"},
		app: `
app com.powerpoint45.lucidbrowser
unit WebViewCoreThread handler-thread 1
unit finder thread-pool 4
load cpu 1.9
event find at 1s
task WebView on WebViewCoreThread after find at 0ms every 101.7ms times 4 takes 170ms shows from android.os.Handler.sendMessage(Handler.java:473), android.webkit.WebViewClassic.findAll(WebViewClassic.java:4190), android.webkit.WebView.findAll(WebView.java:1549), com.powerpoint45.lucidbrowser.MainActivity.onTextChanged(MainActivity.java:830)  # cause
task WebView on finder after find at 0ms every 101.7ms times 4 takes 170ms shows from android.os.Handler.sendMessage(Handler.java:473), com.powerpoint45.lucidbrowser.MainActivity.findAllAsync(MainActivity.java:830)  # before
`,
	},
}

// bart is case 2: each swipe opens a screen whose task outlives it. 32 of them come four times a
// second, and as many as fast as one thread works them off. The fix cancels what its screen has left
// behind.
func bart() string {
	var b strings.Builder
	b.WriteString("app com.dougkeen.bart\nunit AsyncTask async-task 1\nload net 2\n")
	at := 1000
	for i := range 65 {
		screen := "fares"
		if i%7 == 2 || i%7 == 5 {
			screen = "departures"
		}
		fmt.Fprintf(&b, "event %s at %dms closes all\n", screen, at)
		if at += 250; i >= 32 {
			at += 989
		}
	}
	for _, task := range []string{"GetRouteFareTask on AsyncTask after fares at 0ms takes 710ms net shows", "GetDeparturesTask on AsyncTask after departures at 0ms takes 393ms net shows"} {
		const from = "from android.os.AsyncTask.executeOnExecutor(AsyncTask.java:590), android.os.AsyncTask.execute(AsyncTask.java:535), com.dougkeen.bart.RoutesListActivity.load(RoutesListActivity.java:310)"
		fmt.Fprintf(&b, "task %s %s  # cause\ntask %s until all %s  # before\n", task, from, task, from)
	}
	return b.String()
}

// TestReportsOfDiagDroid compares the numbers of a report with the paper's, within 5 %.
func TestReportsOfDiagDroid(t *testing.T) {
	for _, f := range figures {
		t.Run(f.name, func(t *testing.T) {
			head, err := queueBuild(f.app, true)
			if err != nil {
				t.Fatal(err)
			}
			fixed, err := queueBuild(f.app, false)
			if err != nil {
				t.Fatal(err)
			}
			now, after := head.measured("head", quietPhone, 5, 1), fixed.measured("fixed", quietPhone, 5, 2)
			for name, causes := range map[string][]diagnose.Cause{"alone": queueing.Explain(now, nil, nil), "compared": explained(head, fixed, head.events[0].name, quietPhone, 3)} {
				if len(causes) == 0 || causes[0].Kind != f.kind {
					t.Errorf("%s: %+v, want %s first", name, causes, f.kind)
				}
			}
			for name, causes := range map[string][]diagnose.Cause{"alone": queueing.Explain(after, nil, nil), "compared": explained(fixed, head, head.events[0].name, quietPhone, 3)} {
				if len(causes) > 0 {
					t.Errorf("after the fix, %s, %s is named", name, causes[0].Kind)
				}
			}
			f.check(t, now)
		})
	}
}

func near(got, want float64) bool { return want == 0 || math.Abs(got-want) <= 0.05*want }

// check compares the group whose tasks waited longest with the report.
func (f figure) check(t *testing.T, r run.Run) {
	t.Helper()
	if r.Tasks == nil || !slices.ContainsFunc(r.Tasks.Groups, func(g run.TaskGroup) bool { return g.Late != nil }) {
		t.Fatal("no task was late")
	}
	g := r.Tasks.Groups[0]
	for _, o := range r.Tasks.Groups {
		if o.Late != nil && (g.Late == nil || o.Queued.QuantilesMS[len(o.Queued.QuantilesMS)-1] > g.Queued.QuantilesMS[len(g.Queued.QuantilesMS)-1]) {
			g = o
		}
	}
	most := g.Queued.QuantilesMS[len(g.Queued.QuantilesMS)-1]
	t.Logf("| %s | %d | %.2f | %.0f | %.2f |", f.name, r.Tasks.Units[g.Unit].Capacity, g.Late.QueueMean, most, g.Late.AheadRanMS)
	if capacity := r.Tasks.Units[g.Unit].Capacity; capacity != f.capacity || !near(most, f.maxMS) || !near(g.Late.QueueMean, f.length) || !near(g.Late.AheadRanMS, f.aheadMS) {
		t.Errorf("%s: capacity %d, longest wait %.0f ms, length %.2f, mean execution in the queue %.1f ms; want %d, %.0f, %.2f and %.1f", g.Name, capacity, most, g.Late.QueueMean, g.Late.AheadRanMS, f.capacity, f.maxMS, f.length, f.aheadMS)
	}
	for _, name := range f.dependency {
		found := false
		for _, a := range g.Late.WaitedFor {
			found = found || r.Tasks.Groups[a.Group].Name == name
		}
		if !found {
			t.Errorf("%s waits for %+v, want %s among them", g.Name, g.Late.WaitedFor, name)
		}
	}
	for _, o := range r.Tasks.Groups {
		if !near(o.Ran.MeanMS, f.ran[o.Name]) {
			t.Errorf("%s takes %.1f ms, want %.1f", o.Name, o.Ran.MeanMS, f.ran[o.Name])
		}
	}
}
