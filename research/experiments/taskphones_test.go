package experiments

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/diagnose/queueing"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/tasks"
	"github.com/apkgate/apkgate/trace/tasks/arttasks"
	"github.com/apkgate/apkgate/trace/tasks/grouping"
	"github.com/apkgate/apkgate/trace/tasks/tracedtasks"
)

// phoned is an app of Figures 5 to 9 as a simulated phone runs it.
type phoned struct {
	name, pkg, lines, scenario, kind string
	closes                           bool // each event ends the screen of the one before
	messages                         bool // recorded by Android 16's message queue
	capacity                         int
	length, maxMS, aheadMS           float64
}

// phonedFigures are recorded by the phone's am profile, which has the methods that DiagDroid hooks.
// What a method trace does not tell, capacities of pools and removed tasks, is in no report of them.
// Nor does it tell which of two loopers a message of Filter is for, whose stack has no frame of the
// app: that is recorded by the message queue, which has no stacks.
var phonedFigures = []phoned{
	{
		name: "Figure 5, OpenLaw", pkg: "de.jdsoft.law", kind: queueing.SequentialKind, capacity: 1, length: 1, maxMS: 1650, aheadMS: 1666,
		lines: `unit AsyncTask async-task
task LawSectionList on AsyncTask after open network 1666ms of de.jdsoft.law.data.LawSectionList from de.jdsoft.law.LawListFragment.loadSections(LawListFragment.java:87),de.jdsoft.law.LawListFragment.onCreate
task UpdateLawList on AsyncTask after open at 16ms network 300ms of de.jdsoft.law.data.UpdateLawList shows 10 from de.jdsoft.law.LawListFragment.update(LawListFragment.java:91),de.jdsoft.law.LawListFragment.onCreate
`, scenario: "2s open 20",
	},
	{
		name: "Figure 7, FBReader", pkg: "org.geometerplus.zlibrary", kind: queueing.QueueKind, length: 1.5, maxMS: 514, aheadMS: 659.29,
		lines: `unit myPool thread-pool size 3
task First on myPool after open count 3 every 1ms network 659ms of org.geometerplus.zlibrary.ui.ZLAndroidImageLoader from org.geometerplus.zlibrary.ui.ZLAndroidImageLoader.startImageLoading(ZLAndroidImageLoader.java:67)
task Later on myPool after open at 146ms count 2 every 4ms network 659ms of org.geometerplus.zlibrary.ui.ZLAndroidImageLoader from org.geometerplus.zlibrary.ui.ZLAndroidImageLoader.startImageLoading(ZLAndroidImageLoader.java:67)
`, scenario: "2s open 20",
	},
	{
		name: "Figure 8, Transportr", pkg: "de.grobox.liberario", kind: queueing.HandlerKind, capacity: 1, length: 1.5, maxMS: 1800, aheadMS: 1200,
		messages: true,
		lines: `registers-perfetto
unit Filter handler-thread
task filter on Filter after type network 1200ms code 1 of android.widget.Filter from android.widget.Filter.filter(Filter.java:121),android.widget.AutoCompleteTextView.performFiltering
`, scenario: "2s type 5\n  2300ms type 5\n  2600ms type 5",
	},
	{
		name: "Figure 9, Lucid Browser", pkg: "com.powerpoint45.lucidbrowser", kind: queueing.LibraryKind, capacity: 1, length: 3, maxMS: 664, aheadMS: 323,
		// The phone has Android 16, whose WebView does not block: this one is a library of the app's.
		lines: `unit WebViewCoreThread handler-thread
task findAll on WebViewCoreThread after find count 4 every 101700us network 323ms code 5 of org.webcore.WebViewCore$EventHub from org.webcore.WebViewCore.sendMessage(WebViewCore.java:4190),org.webcore.WebView.findAll(WebView.java:1549),com.powerpoint45.lucidbrowser.MainActivity.onTextChanged(MainActivity.java:830)
`, scenario: "2s find 5",
	},
	bartOnPhone(),
}

// bartOnPhone is case 2 (Figure 6): see bart. What was cancelled is not in a trace of methods; that
// a task ended after its screen had gone is known from its end.
func bartOnPhone() (out phoned) {
	out.name, out.pkg, out.kind, out.closes = "Figure 6, BartRunnerAndroid", "com.dougkeen.bart", queueing.ObsoleteKind, true
	out.capacity, out.length, out.maxMS, out.aheadMS = 1, 19.5, 31885, 1240.6
	const from = "from com.dougkeen.bart.RoutesListActivity.load(RoutesListActivity.java:310)"
	out.lines = "unit AsyncTask async-task\ntask fare on AsyncTask after fares network 1420ms of com.dougkeen.bart.GetRouteFareTask " + from + "\ntask departure on AsyncTask after departures network 787ms of com.dougkeen.bart.GetDeparturesTask " + from + "\n"
	var events []string
	at := 2_000
	for i := range 65 {
		screen := "fares"
		if i%7 == 2 || i%7 == 5 {
			screen = "departures"
		}
		events = append(events, fmt.Sprintf("%dms %s 1", at, screen))
		if at += 250; i >= 32 {
			at += 989
		}
	}
	out.scenario = strings.Join(events, "\n  ")
	return out
}

// TestReportsOfDiagDroidOnPhones runs the apps of Figures 5 to 9 on a simulated phone, and compares
// what comes out of its method trace with the paper's numbers, within 5 %.
func TestReportsOfDiagDroidOnPhones(t *testing.T) {
	for i, c := range phonedFigures {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			end := 12 * time.Second
			if c.closes {
				end = 85 * time.Second
			}
			app := fmt.Sprintf("apkgate-simulated-app/1\npackage %s\ncost 5ms\nnoise session 0%% repetition 0%% frame 0.5%%\n%sscenario use %v\n  start 5\n  %s\ntest %s.UseTest#uses use\n", c.pkg, c.lines, end, c.scenario, c.pkg)
			r := recordedTasks(t, app, uint64(i), end, c)
			causes := queueing.Explain(r, nil, nil)
			if len(causes) == 0 || causes[0].Kind != c.kind {
				t.Errorf("%+v, want %s", causes, c.kind)
			}
			figure{name: c.name, capacity: c.capacity, length: c.length, maxMS: c.maxMS, aheadMS: c.aheadMS}.check(t, r)
		})
	}
}

// messagesConfig records the messages of loopers.
const messagesConfig = `buffers { size_kb: 65536 fill_policy: RING_BUFFER }
data_sources { config { name: "linux.process_stats" process_stats_config { scan_all_processes_on_start: true } } }
data_sources { config { name: "track_event" track_event_config { disabled_categories: "*" enabled_categories: "mq" } } }`

// recordedTasks plays an app's scenario once, recorded, and returns the record of its tasks.
func recordedTasks(t *testing.T, app string, session uint64, takes time.Duration, of phoned) run.Run {
	t.Helper()
	pr, err := profile.Find("pixel-7-android-16")
	if err != nil {
		t.Fatal(err)
	}
	p := slowPhone{T: t, Phone: simulator.NewPhone(pr, session, simulator.Options{Production: true, Chatter: -1}), pkg: of.pkg, class: of.pkg + ".UseTest"}
	defer p.Close()
	if err := p.Install([]byte(app)); err != nil {
		t.Fatal(err)
	}
	from := p.Clock().Now()
	one := grouping.Repetition{Number: 1}
	if of.messages {
		one.List = p.messages(takes)
	} else {
		one.List = p.profiled(takes)
	}
	one.Events = p.events(from)
	for i, e := range one.Events {
		if of.closes {
			if i > 0 {
				one.Screens[i-1].To = e.At
			}
			one.Screens = append(one.Screens, trace.Screen{From: e.At, To: tasks.Unknown})
		}
	}
	c := grouping.NewCollector(p.pkg, grouping.Late)
	c.Add(one)
	return run.Run{ID: "phone", App: run.App{Package: p.pkg}, Scenario: "use", Status: run.Complete, Tasks: c.Tasks()}
}

// instrumented is the command that plays the scenario.
func (p slowPhone) instrumented() string {
	return "am instrument -w -e class " + p.class + " " + p.pkg + "/androidx.test.runner.AndroidJUnitRunner"
}

// messages plays the scenario and returns the tasks in the messages of its loopers.
func (p slowPhone) messages(takes time.Duration) tasks.List {
	p.Helper()
	pid := strings.TrimSpace(p.tell("echo '"+messagesConfig+"' | perfetto --txt -c - -o "+slowTrace+" --background", 0))
	p.tell(p.instrumented(), takes+5*time.Second)
	p.tell("kill "+pid, time.Second)
	list, err := tracedtasks.ReadMessages(packets.Packets(strings.NewReader(p.tell("cat "+slowTrace, 0))), nil)
	if err != nil {
		p.Fatal(err)
	}
	return list
}

// profiled plays the scenario, from 1.5 s on under am profile, and returns the tasks in its trace.
func (p slowPhone) profiled(takes time.Duration) tasks.List {
	p.Helper()
	const file = "/data/local/tmp/tasks.trace"
	var out bytes.Buffer
	wait, ended := p.Start(context.Background(), p.instrumented(), strings.NewReader(""), &out, &out), make(chan int, 1)
	go func() { ended <- wait() }()
	p.pass(1500 * time.Millisecond)
	p.tell("am profile start --streaming "+p.pkg+" "+file, 200*time.Millisecond)
	p.pass(takes - 2500*time.Millisecond)
	p.tell("am profile stop "+p.pkg, 500*time.Millisecond)
	p.pass(5 * time.Second)
	if code := <-ended; code != 0 {
		p.Fatalf("exit code %d: %s", code, out.String())
	}
	list, err := arttasks.Read(strings.NewReader(p.tell("cat "+file, 0)), nil)
	if err != nil {
		p.Fatal(err)
	}
	return list
}
