package experiments

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/calls"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/trace/art"
)

// chatting is the app of the first case of "Hubble" (section 3): the user swipes back, the keyboard
// comes up, and its inset makes the chat lay out so many of its items.
func chatting(items int) string {
	return fmt.Sprintf(`apkgate-simulated-app/1
package com.example.chat
cost 6ms
calls com.example.chat.KeyboardLayout.onApplyWindowInsets 1ms after back
calls com.example.chat.ChatView.onLayout 6ms after back from com.example.chat.KeyboardLayout.onApplyWindowInsets
calls android.widget.AbsListView.obtainView 400us after back times %d from com.example.chat.ChatView.onLayout
calls com.example.chat.ChatAdapter.getView 2ms after back from android.widget.AbsListView.obtainView
calls com.example.chat.Item.text 13ms after back from com.example.chat.ChatAdapter.getView
calls com.example.chat.Item.avatar 4ms after back from com.example.chat.ChatAdapter.getView
calls android.graphics.BitmapFactory.decodeStream 9ms after back from com.example.chat.Item.avatar
calls com.example.chat.Item.time 3ms after back from com.example.chat.ChatAdapter.getView
scenario chat 6s
  start 20
  800ms list 45
  2s back 45
test com.example.chat.BackTest#goesBack chat
`, items)
}

// meeting is the app of the second case: after a call it routes the sound anew, and on one kind of
// network sleeps until the link is there.
func meeting(sleeps string) string {
	return `apkgate-simulated-app/1
package com.example.meeting
cost 6ms
calls com.example.meeting.Call.onEnded 2ms after hang-up
calls com.example.meeting.AudioRoute.restore 1ms after hang-up from com.example.meeting.Call.onEnded
calls android.media.AudioManager.startBluetoothSco 1ms after hang-up from com.example.meeting.AudioRoute.restore
calls android.os.BinderProxy.transact 9ms after hang-up from android.media.AudioManager.startBluetoothSco waits
` + sleeps + `scenario meet 6s
  start 20
  800ms talk 45
  2s hang-up 45
test com.example.meeting.MeetTest#meets meet
`
}

const sleeping = "calls java.lang.Thread.sleep 1s after hang-up from com.example.meeting.AudioRoute.restore when network=4g waits\n"

// tracedCalls records the calls of a build's main thread in so many repetitions on a phone, each as
// am profile streams them.
func tracedCalls(t *testing.T, app, on, network string, session uint64, repetitions int) run.Run {
	t.Helper()
	pr, err := profile.Find(on)
	if err != nil {
		t.Fatal(err)
	}
	p := slowPhone{T: t, Phone: simulator.NewPhone(pr, session, simulator.Options{Chatter: -1}), pkg: wordAfter(app, "package"), class: strings.Split(wordAfter(app, "test"), "#")[0]}
	defer p.Close()
	p.SetNetwork(network)
	if err := p.Install([]byte(app)); err != nil {
		t.Fatal(err)
	}
	const file = "/data/local/tmp/calls.trace"
	var all art.Collector
	for n := range repetitions {
		from := p.Clock().Now()
		var said bytes.Buffer
		wait, ended := p.Start(context.Background(), "am instrument -w -e class "+p.class+" "+p.pkg+"/androidx.test.runner.AndroidJUnitRunner", strings.NewReader(""), &said, &said), make(chan int, 1)
		go func() { ended <- wait() }()
		p.pass(400 * time.Millisecond)
		p.tell("am profile start --streaming "+p.pkg+" "+file, 100*time.Millisecond)
		p.pass(5 * time.Second)
		p.tell("am profile stop "+p.pkg, time.Second)
		p.pass(10 * time.Second)
		if code := <-ended; code != 0 || !strings.Contains(said.String(), "OK (1 test)") {
			t.Fatalf("exit code %d: %s", code, said.String())
		}
		raw := []byte(p.tell("cat "+file, 0))
		seen, err := art.Read(bytes.NewReader(raw), nil)
		if err == nil {
			_, err = all.Add(bytes.NewReader(raw), nil, art.Repetition{Number: n + 1, Began: seen.Begin, Events: p.events(from)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return run.Run{
		ID: fmt.Sprint(app[:1], session), Status: run.Complete, App: run.App{Package: p.pkg}, Scenario: "use", Iterations: make([]run.Iteration, repetitions),
		Context: map[string]string{"model": pr.Model, "sdk": pr.SDK, "network": network}, MethodTraces: all.MethodTraces(),
	}
}

// pass lets time pass on the phone.
func (p slowPhone) pass(d time.Duration) {
	p.Helper()
	if err := p.Clock().Sleep(context.Background(), d); err != nil {
		p.Fatal(err)
	}
}

// The first case: the inset change binds every item of the list, and takes two seconds. The adapter
// is on top, in the frozen frame alone and compared with the build before.
func TestHubblesFirstCase(t *testing.T) {
	t.Parallel()
	phones := []string{"pixel-7-android-14"}
	if nightly() {
		phones = append(phones, "c1-go-android-11", "galaxy-s21-android-13", "nord-android-10")
	}
	found := []diagnose.Finding{{Event: "back", Metric: "frames.frozen", Direction: gate.ToRegression}}
	for i, on := range phones {
		head, base := tracedCalls(t, chatting(66), on, "wifi", uint64(10*i+1), 4), tracedCalls(t, chatting(1), on, "wifi", uint64(10*i+2), 4)
		for name, c := range map[string]struct {
			base []run.Run
			kind string
		}{"alone": {nil, calls.HeldKind}, "compared": {[]run.Run{base}, calls.MoreKind}} {
			got := calls.Explain(head, c.base, found)
			if len(got) == 0 || got[0].Kind != c.kind || got[0].Subject.Name != "com.example.chat.ChatAdapter.getView" || got[0].Explains.Sure != diagnose.Seen {
				t.Errorf("%s, %s: the causes are %s, want %s of ChatAdapter.getView first, seen", on, name, kindsOf(got), c.kind)
			}
			if len(got) != 1 {
				t.Errorf("%s, %s: %d causes, want one", on, name, len(got))
			}
		}
		if same := calls.Explain(tracedCalls(t, chatting(1), on, "wifi", uint64(10*i+3), 4), []run.Run{base}, found); len(same) > 0 {
			t.Errorf("%s: the unchanged build has %s", on, kindsOf(same))
		}
	}
}

// The second case: the app sleeps on its main thread behind a call that only one kind of network
// answers late. The gate's rule names the network, the trace the app's method that sleeps.
func TestHubblesSecondCase(t *testing.T) {
	t.Parallel()
	phones := lab(t, "modern")[1:4] // Android 11, 13 and 14
	s := subject{"meeting", "com.example.meeting", "meet", "com.example.meeting.MeetTest"}
	var before []run.Run
	for session := range uint64(5) {
		for _, r := range measureBuild(t, s, meeting(""), phones, 2, 100*(session+1), "wifi", "4g") {
			r.ID, r.Session = fmt.Sprint(r.ID, session), fmt.Sprint("session ", session)
			before = append(before, r)
		}
	}
	after := measureBuild(t, s, meeting(sleeping), phones, 2, 900, "wifi", "4g")
	v := check(t, readings[0], after, before)
	if got := rulesOf(v); !slices.ContainsFunc(got, func(r string) bool { return strings.HasPrefix(r, "network=4g => ") }) {
		t.Errorf("the rules are %q, want one on the network alone", got)
	}
	for i, r := range after {
		worse := slices.IndexFunc(v.Runs[i].Deviations, func(d gate.Comparison) bool {
			return d.Event == "hang-up" && d.Metric == "frames.duration_ms" && d.Value > 3*d.Expected
		})
		if slow := r.Context["network"] == "4g"; slow != (worse >= 0) {
			t.Errorf("%s on %s: %v", r.Context["model"], r.Context["network"], v.Runs[i].Deviations)
		}
		if worse < 0 || i < len(after)-1 && !nightly() {
			continue
		}
		d := v.Runs[i].Deviations[worse]
		name := strings.ReplaceAll(strings.ToLower(r.Context["model"]), " ", "-") + "-android-" + r.Context["sdk"]
		r.MethodTraces = tracedCalls(t, meeting(sleeping), name, "4g", 7, 3).MethodTraces
		got := calls.Explain(r, nil, []diagnose.Finding{{Event: d.Event, Metric: d.Metric, Direction: gate.ToRegression}})
		if len(got) != 1 || got[0].Subject.Name != "com.example.meeting.AudioRoute.restore" || got[0].Explains.Sure != diagnose.Seen || !names(got[0], "java.lang.Thread.sleep") {
			t.Errorf("%s: the causes are %s, want AudioRoute.restore, seen, with Thread.sleep", name, kindsOf(got))
		}
	}
}

// names reports whether a cause's sentence has a name.
func names(c diagnose.Cause, name string) bool {
	return slices.ContainsFunc(c.Sentence, func(p diagnose.Part) bool { return p.Name == name })
}

// feed is an app that after a tap loads and shows a list; lines are the calls of a build.
func feed(lines string) string {
	return `apkgate-simulated-app/1
package com.example.feed
cost 6ms
calls com.example.feed.Feed.onTap 4ms after tap
calls com.example.feed.Store.load 15ms after tap from com.example.feed.Feed.onTap
calls org.json.JSONTokener.nextValue 300us after tap times 60 from com.example.feed.Store.load
calls com.example.feed.Feed.show 8ms after tap from com.example.feed.Feed.onTap
calls com.example.feed.Row.bind 3ms after tap times ROWS from com.example.feed.Feed.show
calls com.example.feed.Image.decode IMAGE after tap from com.example.feed.Row.bind
` + lines + `scenario feed 5s
  start 20
  800ms open 45
  2s tap 45
test com.example.feed.FeedTest#taps feed
`
}

// feedBuild fills in a build of feed.
func feedBuild(rows int, image, lines string) string {
	return strings.NewReplacer("ROWS", fmt.Sprint(rows), "IMAGE", image).Replace(feed(lines))
}

// tracedBuilds are builds of feed, whose tap takes about 230 ms before: how much longer it takes in
// each, and what is right to name, "" for nothing.
var tracedBuilds = []struct {
	row, name, app, kind, method string
}{
	{"nothing", "the same", feedBuild(20, "4ms", ""), "", ""},
	{"nothing", "a method between", strings.ReplaceAll(feedBuild(20, "4ms", "calls com.example.feed.Repository.get 100us after tap from com.example.feed.Feed.onTap\n"), "15ms after tap from com.example.feed.Feed.onTap", "15ms after tap from com.example.feed.Repository.get"), "", ""},
	{"half as long again", "new", feedBuild(20, "4ms", "calls com.example.feed.Ads.show 100ms after tap from com.example.feed.Feed.onTap\n"), calls.NewKind, "com.example.feed.Ads.show"},
	{"half as long again", "new in the platform", feedBuild(20, "4ms", "calls com.example.feed.Ads.show 2ms after tap from com.example.feed.Feed.show\ncalls android.webkit.WebView.loadUrl 100ms after tap from com.example.feed.Ads.show\n"), calls.NewKind, "com.example.feed.Ads.show"},
	{"half as long again", "more often", feedBuild(36, "4ms", ""), calls.MoreKind, "com.example.feed.Row.bind"},
	{"half as long again", "longer", feedBuild(20, "9500us", ""), calls.LongerKind, "com.example.feed.Image.decode"},
	{"half as long again", "a wait", feedBuild(20, "4ms", "calls java.lang.Object.wait 110ms after tap from com.example.feed.Store.load waits\n"), calls.LongerKind, "com.example.feed.Store.load"},
	{"a fifth longer", "new", feedBuild(20, "4ms", "calls com.example.feed.Ads.show 45ms after tap from com.example.feed.Feed.onTap\n"), calls.NewKind, "com.example.feed.Ads.show"},
	{"a fifth longer", "more often", feedBuild(27, "4ms", ""), calls.MoreKind, "com.example.feed.Row.bind"},
	{"a fifth longer", "longer", feedBuild(20, "6200us", ""), calls.LongerKind, "com.example.feed.Image.decode"},
	{"a fifth longer", "a wait", feedBuild(20, "4ms", "calls java.lang.Object.wait 45ms after tap from com.example.feed.Store.load waits\n"), calls.LongerKind, "com.example.feed.Store.load"},
}

// TestCausesInTracedCalls makes the table of traced methods of docs/evaluation/causes.md with
//
//	APKGATE_EVALUATION=full go test ./research/experiments -run TestCausesInTracedCalls -v
//
// Without it, one phone is tried in one session.
func TestCausesInTracedCalls(t *testing.T) {
	t.Parallel()
	phones, sessions := slowPhones[3:], 1
	if everything() {
		phones, sessions = slowPhones, 5
	}
	found := []diagnose.Finding{{Event: "tap", Metric: "frames.duration_ms", Direction: gate.ToRegression}}
	type counted struct{ builds, right, clear int }
	rows := map[string]*counted{}
	for i, on := range phones {
		for n := range sessions {
			seed := uint64(1000*i + 20*n)
			base := tracedCalls(t, feedBuild(20, "4ms", ""), on, "wifi", seed, 5)
			for k, b := range tracedBuilds {
				got := calls.Explain(tracedCalls(t, b.app, on, "wifi", seed+uint64(k)+1, 5), []run.Run{base}, found)
				if rows[b.row] == nil {
					rows[b.row] = &counted{}
				}
				r := rows[b.row]
				r.builds++
				switch {
				case b.kind == "" && len(got) == 0:
					r.right++
				case b.kind != "" && len(got) > 0 && got[0].Kind == b.kind && got[0].Subject.Name == b.method:
					r.right++
					if got[0].Explains.Sure == diagnose.Clear {
						r.clear++
					}
				default:
					t.Logf("%s, session %d: %s, %s: %s", on, n, b.row, b.name, kindsOf(got))
					if len(got) > 0 && got[0].Explains.Sure != diagnose.Likely {
						t.Errorf("%s, session %d: %s, %s: %s is %s", on, n, b.row, b.name, got[0].Subject.Name, got[0].Explains.Sure)
					}
				}
			}
		}
	}
	for row, c := range rows {
		named := fmt.Sprint(c.clear)
		if row == "nothing" {
			named = "–"
		}
		line := fmt.Sprintf("| main thread: %s | %d | %d | %s |", row, c.builds, c.right, named)
		t.Log(line)
		if everything() {
			documented(t, line, 0)
		} else if c.right < c.builds {
			t.Errorf("%s: %d of %d are right", row, c.right, c.builds)
		}
	}
}

func kindsOf(all []diagnose.Cause) (out []string) {
	for _, c := range all {
		out = append(out, fmt.Sprintf("%s %s (%s)", c.Kind, c.Subject.Name, c.Explains.Sure))
	}
	return out
}
