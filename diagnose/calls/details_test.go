package calls

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// doing is a main thread that does the same in each repetition.
func doing(all ...call) model { return model{usual: func(int) []call { return all }} }

func dispatch(calls ...call) call { return once("android.os.Handler.dispatchMessage", 1, calls...) }

func worse(event, metric string) []diagnose.Finding {
	return []diagnose.Finding{{Event: event, Metric: metric, Direction: gate.ToRegression}}
}

// subjects are the causes' methods with their amounts.
func subjects(all []diagnose.Cause) (out []string) {
	for _, c := range all {
		out = append(out, fmt.Sprintf("%s %s %.0f ms", strings.TrimPrefix(c.Kind, "calls."), strings.TrimPrefix(c.Subject.Name, "com.example.chat."), *c.Explains.Value))
	}
	return out
}

func expect(t *testing.T, what string, got []diagnose.Cause, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, subjects(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// A finding is explained by the calls of its event on the main thread, one of the whole run by those
// of all events, one of a start by those of the start.
func TestCallsOfTheEventCount(t *testing.T) {
	before := doing(dispatch(), dispatch().of("swipe", ""), dispatch().of("start", ""), dispatch().of("tap", "pool"))
	head := doing(
		dispatch(once("com.example.chat.Tap.act", 100)), dispatch(once("com.example.chat.Swipe.act", 900)).of("swipe", ""),
		dispatch(once("com.example.chat.Start.act", 800)).of("start", ""), dispatch(once("com.example.chat.Pool.act", 2000)).of("tap", "pool"),
	)
	before.events, head.events = []string{"swipe", "start"}, []string{"swipe", "start"}
	h, b := head.recorded("H", 4), []run.Run{before.recorded("B", 4)}
	for what, c := range map[string]struct {
		found []diagnose.Finding
		want  []string
	}{
		"tap":               {worse("tap", "frames.slow"), []string{"new Tap.act 100 ms"}},
		"its second":        {worse("tap#2", "frames.slow"), []string{"new Tap.act 100 ms"}},
		"swipe":             {worse("swipe", "frames.slow"), []string{"new Swipe.act 900 ms"}},
		"another":           {worse("pinch", "frames.slow"), nil},
		"the run":           {worse("", "frames.slow"), []string{"new Swipe.act 900 ms", "new Start.act 800 ms"}}, // the tap's is less than a tenth
		"an ANR":            {worse("tap", "anr.count"), []string{"new Tap.act 100 ms"}},
		"a start":           {worse("", "startup.ttid_ms"), []string{"new Start.act 800 ms"}},
		"memory":            {worse("tap", "memory.pss_kb"), nil},
		"what got better":   {[]diagnose.Finding{{Event: "tap", Metric: "frames.slow", Direction: gate.ToImprovement}}, nil},
		"tap and its times": {append(worse("tap", "frames.slow"), worse("tap", "frames.duration_ms")...), []string{"new Tap.act 100 ms", "new Tap.act 100 ms"}},
	} {
		got := Explain(h, b, c.found)
		expect(t, what, got, c.want...)
		for i, one := range got {
			if i < len(got)-len(c.found)+1 && one.Picture == nil || len(one.Tables) > 0 != (i == 0) || one.Evidence == nil {
				t.Errorf("%s: cause %d has the picture %v and %d tables", what, i, one.Picture, len(one.Tables))
			}
		}
	}
	// Without a window of the start, all events' calls count.
	h.MethodTraces.Windows = slices.DeleteFunc(h.MethodTraces.Windows, func(w run.TraceWindow) bool { return w.Event == "start" })
	expect(t, "a start that was not traced", Explain(h, b, worse("", "startup.ttid_ms"))[:1], "new Swipe.act 900 ms")
	if got := Explain(h, b, worse("tap", "frames.slow"))[0]; len(got.Evidence) != 4 || got.Evidence[3].FromMS != 1000 || got.Evidence[3].ToMS != 4000 {
		t.Errorf("the evidence is %v", got.Evidence)
	}
}

// Many findings are explained up to a limit of events.
func TestEventsAreLimited(t *testing.T) {
	var calls, none []call
	var found []diagnose.Finding
	head, before := model{}, model{}
	for i := range 15 {
		event := fmt.Sprint("e", i)
		calls, none = append(calls, dispatch(once("com.example.chat.A.act", 100)).of(event, "")), append(none, dispatch().of(event, ""))
		head.events, before.events = append(head.events, event), append(before.events, event)
		found = append(found, worse(event, "frames.slow")...)
	}
	head.usual, before.usual = func(int) []call { return calls }, func(int) []call { return none }
	if got := Explain(head.recorded("H", 4), []run.Run{before.recorded("B", 4)}, append(found, worse("e3", "frames.duration_ms")...)); len(got) != contrast.MaxFindings+1 || got[contrast.MaxFindings].Event != "e3" {
		t.Errorf("%d causes, want those of %d events, and the second of one of them", len(got), contrast.MaxFindings)
	}
}

// A cause with all that is said of it.
func TestACauseInFull(t *testing.T) {
	before := doing(dispatch(once("com.example.chat.Feed.show", 10, call{name: "com.example.chat.Row.bind", n: 2, own: 8}), once("com.example.chat.Old.act", 30), once("com.example.chat.Gone.act", 2)))
	head := doing(dispatch(once("com.example.chat.Feed.show", 10, call{name: "com.example.chat.Row.bind", n: 12, own: 38, calls: []call{once("org.json.Json.read", 40)}}), once("com.example.chat.Old.act", 90)))
	h, b := head.recorded("H", 4), before.recorded("B", 4)
	h.Session, b.Session = "S", "S"
	h.MethodTraces.List = []run.TracedMethod{{Name: "com.example.chat.Feed.show", File: "Feed.kt"}, {Name: "com.example.chat.Row.bind", File: "Row.kt"}}
	h.MethodTraces.Windows[2].Why, h.MethodTraces.Windows[0].Evidence = "a frame took 900 ms", ""
	got := Explain(h, []run.Run{b}, slow)
	expect(t, "causes", got, "more Row.bind 70 ms", "longer Old.act 60 ms")
	c := got[0]
	if c.Subject.File != "Row.kt" || got[1].Subject.File != "" || text(c.Title) != "com.example.chat.Row.bind is called more often" || text(got[1].Title) != "com.example.chat.Old.act takes longer" {
		t.Errorf("%v is titled %q, the other %q", c.Subject, text(c.Title), text(got[1].Title))
	}
	// 5 % of sqrt(78² + 8²) ms is its error, of which 1.96 are 7.7 ms: 62.3 of 122.3 to 77.7 of 137.7.
	if said, want := text(c.Sentence), "com.example.chat.Row.bind is called 12 times per repetition (before: 2), which takes 70 ms more, 40 ms of that in org.json.Json.read: 54 % of what the main thread takes longer (51 %–56 %)"; said != want {
		t.Errorf("it says\n%s, want\n%s", said, want)
	}
	if text(c.Basis) != "based on 4 traced repetitions, compared with 4 of the base build" {
		t.Errorf("the basis is %q", text(c.Basis))
	}
	if fmt.Sprintf("%.3f %.3f %.3f %v %s", *c.Explains.Share, *c.Explains.ShareLow, *c.Explains.ShareHigh, c.Explains.Level, c.Explains.Sure) != "0.538 0.509 0.564 0.95 clear" {
		t.Errorf("it explains %.3f, %.3f to %.3f at %v, %s", *c.Explains.Share, *c.Explains.ShareLow, *c.Explains.ShareHigh, c.Explains.Level, c.Explains.Sure)
	}
	if len(c.Evidence) != 3 || c.Evidence[0].Digest != h.MethodTraces.Windows[2].Evidence || c.Evidence[1].Digest != h.MethodTraces.Windows[1].Evidence {
		t.Errorf("the evidence is %v, want the window in which something went wrong first", c.Evidence)
	}
	var rows []string
	for _, r := range c.Tables[0].Rows {
		var cells []string
		for _, cell := range r.Cells {
			cells = append(cells, text(cell))
		}
		rows = append(rows, fmt.Sprint(strings.Join(cells, " | "), " ", r.Direction))
	}
	if diff := cmp.Diff([]string{
		"com.example.chat.Old.act | 1 | 1 | 90 ms | 30 ms | longer regression",
		"org.json.Json.read | 1 | 0 | 40 ms | 0 ms |  none",
		"com.example.chat.Row.bind | 12 | 2 | 38 ms | 8 ms | more often regression",
		"com.example.chat.Gone.act | 0 | 1 | 0 ms | 2 ms |  none",
		"android.os.Handler.dispatchMessage | 1 | 1 | 1 ms | 1 ms |  none",
		"com.example.chat.Feed.show | 1 | 1 | 10 ms | 10 ms |  none",
	}, rows); diff != "" {
		t.Errorf("the table %q (-want +got):\n%s", c.Tables[0].Title, diff)
	}
	var drawn []string
	for i, call := range c.Picture.Flame.Calls {
		drawn = append(drawn, fmt.Sprintf("%d %d %s %.0f %.0f", i, call.Parent, call.Name, call.Base, call.Head))
	}
	if diff := cmp.Diff([]string{
		"0 -1 android.os.Handler.dispatchMessage 51 179", "1 0 com.example.chat.Feed.show 18 88", "2 1 com.example.chat.Row.bind 8 78", "3 2 org.json.Json.read 0 40", "4 0 com.example.chat.Old.act 30 90", "5 0 com.example.chat.Gone.act 2 0",
	}, drawn); diff != "" || c.Picture.Title != "What the main thread does after tap, by call" {
		t.Errorf("the picture %q (-want +got):\n%s", c.Picture.Title, diff)
	}
	again := Explain(h, []run.Run{b}, append(slow, worse("", "frames.frozen")...))
	expect(t, "another finding", again, "more Row.bind 70 ms", "longer Old.act 60 ms", "more Row.bind 70 ms")
	if again[0].Tables[0].Title != "Methods of the main thread after tap, by the time of their own" || again[2].Tables != nil || again[2].Picture != nil {
		t.Errorf("the table is %q, and the second finding's %v", again[0].Tables[0].Title, again[2].Tables)
	}
	b.Session, b.Explains = "T", true
	if basis := text(Explain(h, []run.Run{b}, slow)[0].Basis); basis != "based on 4 traced repetitions, compared with 4 of the base build, recorded after the verdict" {
		t.Errorf("the basis is %q", basis)
	}
	h.Session, b.Session, b.Explains = "", "", false
	if basis := text(Explain(h, []run.Run{b}, slow)[0].Basis); basis != "based on 4 traced repetitions, compared with 4 of earlier runs" {
		t.Errorf("the basis is %q", basis)
	}
}

// What a freeze shows by itself, with what nothing else is compared.
func TestAFreezeInFull(t *testing.T) {
	busy := doing(dispatch(once("com.example.chat.Sync.run", 100, once("java.lang.Thread.sleep", 800)), once("com.example.chat.Feed.show", 40)), dispatch(once("com.example.chat.Feed.show", 200)))
	h := busy.recorded("H", 2)
	h.MethodTraces.Windows[1].Evidence = ""
	c := only(t, Explain(h, nil, slow), HeldKind, "com.example.chat.Sync.run")
	if said, want := text(c.Sentence), "com.example.chat.Sync.run keeps the main thread for 900 ms of 941 ms at a time, 800 ms of that in java.lang.Thread.sleep, seen in 2 of 2 repetitions"; said != want {
		t.Errorf("it says\n%s, want\n%s", said, want)
	}
	if fmt.Sprintf("%.3f %v %v", *c.Explains.Share, c.Explains.ShareLow, *c.Explains.Value) != "0.956 <nil> 900" || text(c.Title) != "com.example.chat.Sync.run keeps the main thread" || text(c.Basis) != "based on 2 traced repetitions" {
		t.Errorf("%q explains %v of %v, %v; %q", text(c.Title), *c.Explains.Share, *c.Explains.Value, c.Explains.ShareLow, text(c.Basis))
	}
	if title := c.Tables[0].Columns[2].Title; len(c.Tables[0].Columns) != 3 || title != "Own time" || text(c.Tables[0].Rows[0].Cells[0]) != "java.lang.Thread.sleep" || text(c.Tables[0].Rows[1].Cells[2]) != "240 ms" {
		t.Errorf("the table's rows are %v", c.Tables[0].Rows[:2])
	}
	if f := c.Picture.Flame; f.Beside || c.Picture.Title != "What the main thread did after tap when it was kept, by call" || f.Calls[0].Head != 1142 || f.Calls[0].Base != 0 {
		t.Errorf("the picture %q has %v", c.Picture.Title, f.Calls[0])
	}
	if len(c.Evidence) != 1 {
		t.Errorf("the evidence is %v", c.Evidence)
	}

	for name, change := range map[string]func(r *run.Run){
		"shorter":           func(r *run.Run) { eachChain(r, func(c *run.CallChain) { c.MS[0] = 699.9 }) },
		"of another thread": func(r *run.Run) { eachChain(r, func(c *run.CallChain) { c.Thread = "pool" }) },
		"of another event":  func(r *run.Run) { eachChain(r, func(c *run.CallChain) { c.Event = "swipe" }) },
		"empty":             func(r *run.Run) { eachChain(r, func(c *run.CallChain) { c.MS, c.Methods = nil, nil }) },
	} {
		r := busy.recorded("H", 2)
		change(&r)
		expect(t, name, Explain(r, nil, slow))
	}
	untold := busy.recorded("H", 2)
	untold.MethodTraces.Windows = nil
	expect(t, "no window", Explain(untold, nil, worse("", "frames.frozen")), "held Sync.run 900 ms")
	// Without a tree the chain alone shows it; calls of another thread or event are not its.
	for name, change := range map[string]func(r *run.Run){
		"no tree":                   func(r *run.Run) { r.MethodTraces.Tree = nil },
		"a tree of a pool":          func(r *run.Run) { rename(r, "pool") },
		"a tree of another event":   func(r *run.Run) { r.MethodTraces.Tree[0].Event = "swipe" },
		"a tree of another message": func(r *run.Run) { r.MethodTraces.Tree[0].Name = "android.view.Choreographer.doFrame" },
	} {
		r := busy.recorded("H", 2)
		change(&r)
		got := Explain(r, nil, slow)
		expect(t, name, got, "held Sync.run 900 ms")
		if said := text(got[0].Sentence); !strings.Contains(said, "800 ms of that in java.lang.Thread.sleep") {
			t.Errorf("%s: %s", name, said)
		}
	}
	// Nobody of the app is on the stack: the platform's method is named, and that it is.
	foreign := only(t, Explain(doing(dispatch(once("java.lang.Thread.sleep", 900)), once("com.example.chat.Feed.show", 1)).recorded("H", 2), nil, slow), HeldKind, "java.lang.Thread.sleep")
	if doubts(foreign) != "No method of the app called it." {
		t.Errorf("the doubts are %q", doubts(foreign))
	}
}

// Below its single calls, a piece of work goes on with many short ones, unless the repetition has as
// many outside it.
func TestManyShortCallsOfAFreeze(t *testing.T) {
	freeze := dispatch(once("com.example.chat.List.onLayout", 10, call{name: "com.example.chat.Row.bind", n: 60, own: 900}))
	for others, want := range map[float64]string{200: "held Row.bind 900 ms", 240: "held List.onLayout 910 ms"} {
		h := doing(freeze, dispatch(once("com.example.chat.List.onLayout", others))).recorded("H", 2)
		got := Explain(h, nil, slow)
		expect(t, fmt.Sprint(others), got, want)
		if counted := strings.Contains(text(got[0].Sentence), ", in 60 calls"); counted != (others == 200) {
			t.Errorf("%g ms outside: %s", others, text(got[0].Sentence))
		}
	}
}

func eachChain(r *run.Run, change func(*run.CallChain)) {
	for i := range r.MethodTraces.Chains {
		change(&r.MethodTraces.Chains[i])
	}
}

// Several freezes: each guilty method once, the longest first, unless it froze before as well.
func TestSeveralFreezes(t *testing.T) {
	act := func(name string, ms float64) call { return dispatch(once("com.example.chat."+name, ms)) }
	h := model{usual: func(rep int) []call {
		return [][]call{{act("A.act", 800)}, {act("B.act", 900)}, {act("A.act", 1000)}, {act("C.act", 2000)}}[rep]
	}}.recorded("H", 4)
	before := doing(act("C.act", 1500)).recorded("B", 1)
	got := Explain(h, []run.Run{before}, slow)
	expect(t, "compared with what froze before", got, "new A.act 450 ms", "new B.act 225 ms")
	if said := text(got[0].Sentence); !strings.HasSuffix(said, ": 67 % of what the main thread takes longer; it keeps the main thread for 1000 ms of 1001 ms at a time, seen in 2 of 4 repetitions") {
		t.Errorf("it says %s", said)
	}
	expect(t, "alone", Explain(h, nil, slow), "held C.act 2000 ms", "held A.act 1000 ms", "held B.act 900 ms")
}

// A suspect that a freeze shows is one cause, seen; one of the platform is not the freeze's.
func TestAFreezeShowsASuspect(t *testing.T) {
	before := doing(dispatch(once("com.example.chat.A.act", 10)))
	got := Explain(doing(dispatch(once("com.example.chat.A.act", 10, once("com.example.chat.B.act", 100, once("com.example.chat.C.act", 900))))).recorded("H", 4), []run.Run{before.recorded("B", 4)}, slow)
	expect(t, "nested", got, "new B.act 1000 ms")
	if said := text(got[0].Sentence); !strings.Contains(said, ", 900 ms of that in com.example.chat.C.act: 100 % of what the main thread takes longer; it keeps the main thread for 1000 ms of 1011 ms at a time, seen in 4 of 4 repetitions") {
		t.Errorf("it says %s", said)
	}
	if p := got[0].Picture; !p.Flame.Beside || p.Title != "What the main thread does after tap, by call" {
		t.Errorf("the picture is %q", p.Title)
	}
	if got[0].Explains.ShareLow != nil || got[0].Explains.Level != 0 {
		t.Error("what is seen has an interval")
	}
}

// A method that calls itself counts once; one that is called before too is blamed where it grew.
func TestRecursionCountsOnce(t *testing.T) {
	walk := func(own float64) call {
		return once("com.example.chat.Tree.walk", own, once("com.example.chat.Tree.walk", own, once("com.example.chat.Tree.walk", own)))
	}
	got := Explain(doing(dispatch(walk(40))).recorded("H", 4), []run.Run{doing(dispatch(walk(10))).recorded("B", 4)}, slow)
	expect(t, "longer", got, "longer Tree.walk 90 ms")
	deep := func(levels int) call {
		c := once("com.example.chat.Tree.walk", 10)
		for range levels - 1 {
			c = once("com.example.chat.Tree.walk", 10, c)
		}
		return c
	}
	expect(t, "deeper", Explain(doing(dispatch(deep(9))).recorded("H", 4), []run.Run{doing(dispatch(deep(3))).recorded("B", 4)}, slow), "more Tree.walk 60 ms")
	got = Explain(doing(dispatch(walk(40))).recorded("H", 4), []run.Run{doing(dispatch(once("com.example.chat.Other.act", 5))).recorded("B", 4)}, slow)
	expect(t, "new", got, "new Tree.walk 120 ms")
	if said := text(got[0].Sentence); !strings.Contains(said, "called 3 times, it takes 120 ms per repetition:") {
		t.Errorf("it says %s", said)
	}
}

// Several callers of one method are one cause, and numbered lambdas are the same under any number.
func TestOneMethodOfSeveralCallers(t *testing.T) {
	tap := func(number int, own float64) call {
		return dispatch(once(fmt.Sprintf("com.example.chat.Feed$$ExternalSyntheticLambda%d.run", number), 2, once("com.example.chat.Db.query", own)), once("com.example.chat.Other.act", 2, once("com.example.chat.Db.query", own)))
	}
	expect(t, "two callers", Explain(doing(tap(3, 60)).recorded("H", 4), []run.Run{doing(tap(7, 10)).recorded("B", 4)}, slow), "longer Db.query 100 ms")
}

// Of three equal parts of a change none is much; below a tenth nothing is named.
func TestSmallPartsAreNotNamed(t *testing.T) {
	parts := func(all ...float64) model {
		var out []call
		for i, ms := range all {
			out = append(out, once(fmt.Sprintf("com.example.chat.P%c.act", 'a'+i), ms))
		}
		return doing(dispatch(out...))
	}
	before := parts(10, 10, 10, 10, 10, 10).recorded("B", 4)
	expect(t, "limits", Explain(parts(110, 90, 70, 60, 50, 19).recorded("H", 4), []run.Run{before}, slow), "longer Pa.act 100 ms", "longer Pb.act 80 ms", "longer Pc.act 60 ms", "longer Pd.act 50 ms")
	expect(t, "a tenth", Explain(parts(110, 10, 10, 10, 10, 20).recorded("H", 4), []run.Run{before}, slow), "longer Pa.act 100 ms")
	expect(t, "less than a millisecond", Explain(parts(10.9).recorded("H", 4), []run.Run{parts(10).recorded("B", 4)}, slow))
	// As a whole the main thread takes no longer: a tenth of all its time would explain something.
	expect(t, "saved elsewhere", Explain(parts(10, 10, 10, 10, 10, 14).recorded("H", 4), []run.Run{parts(20, 10, 10, 10, 10, 10).recorded("B", 4)}, slow))
	expect(t, "much, and saved elsewhere", Explain(parts(10, 10, 10, 10, 10, 40).recorded("H", 4), []run.Run{parts(50, 10, 10, 10, 10, 10).recorded("B", 4)}, slow), "longer Pf.act 30 ms")
}

// What many callees have a little of is their caller's, and what many messages have is nobody's.
func TestManySmallParts(t *testing.T) {
	var little []call
	for i := range 20 {
		little = append(little, once(fmt.Sprintf("com.example.chat.P%c.act", 'a'+i), 13))
	}
	before := doing(dispatch(once("com.example.chat.All.act", 10)), dispatch(once("com.example.chat.Other.act", 10))).recorded("B", 4)
	expect(t, "callees", Explain(doing(dispatch(once("com.example.chat.All.act", 10, little...)), dispatch(once("com.example.chat.Other.act", 210))).recorded("H", 4), []run.Run{before}, slow), "longer All.act 260 ms", "longer Other.act 200 ms")
	var messages []call
	for i := range 20 {
		messages = append(messages, once(fmt.Sprintf("com.example.chat.P%c.act", 'a'+i), 13))
	}
	expect(t, "messages", Explain(doing(messages...).recorded("H", 4), []run.Run{before}, slow))
}

// Which of the app's methods are its own: by its package, or without any such name all but the
// platform's and its libraries'.
func TestWhoseMethodsAreBlamed(t *testing.T) {
	build := func(ms float64) run.Run {
		return doing(dispatch(once("org.other.Main.act", 2, once("androidx.room.Room.query", 3, once("java.io.File.read", ms))))).recorded(fmt.Sprint(ms), 4)
	}
	expect(t, "another package", Explain(build(200), []run.Run{build(2)}, slow), "longer org.other.Main.act 198 ms")
	h, b := build(200), build(2)
	h.App.Package, b.App.Package = "org", "org"
	expect(t, "no name of a package", Explain(h, []run.Run{b}, slow), "longer org.other.Main.act 198 ms")
	own := func(ms float64) run.Run {
		return doing(dispatch(once("org.other.Main.act", 2, once("java.io.File.read", ms))), once("com.example.chat.A.act", 1)).recorded(fmt.Sprint(ms), 4)
	}
	expect(t, "a library", Explain(own(200), []run.Run{own(2)}, slow), "longer java.io.File.read 198 ms")
}

// Calls that are not counted are not said to be.
func TestUncountedCalls(t *testing.T) {
	h, b := doing(dispatch(once("com.example.chat.A.act", 200))).recorded("H", 4), doing(dispatch()).recorded("B", 4)
	for _, r := range []run.Run{h, b} {
		for i := range r.MethodTraces.Tree {
			r.MethodTraces.Tree[i].Repetitions = nil
		}
	}
	got := Explain(h, []run.Run{b}, slow)
	expect(t, "uncounted", got, "new A.act 200 ms")
	if said := text(got[0].Sentence); !strings.HasPrefix(said, "com.example.chat.A.act is new here: it takes 200 ms") {
		t.Errorf("it says %s", said)
	}
	counted := doing(dispatch(call{name: "com.example.chat.A.act", n: 9, own: 20})).recorded("B", 4)
	for i := range counted.MethodTraces.Tree {
		counted.MethodTraces.Tree[i].Repetitions = nil
	}
	expect(t, "uncounted before", Explain(doing(dispatch(call{name: "com.example.chat.A.act", n: 9, own: 200})).recorded("H", 4), []run.Run{counted}, slow), "longer A.act 180 ms")
	// A call without any time was one.
	none := doing(dispatch(call{name: "com.example.chat.A.act", n: 1})).recorded("B", 4)
	expect(t, "a call of no time", Explain(doing(dispatch(once("com.example.chat.A.act", 200))).recorded("H", 4), []run.Run{none}, slow), "longer A.act 200 ms")
}

// Many short calls are doubted: tracing them takes time.
func TestShortCallsAreDoubted(t *testing.T) {
	for n, want := range map[int]bool{10_000: true, 1000: false} {
		h := doing(dispatch(call{name: "com.example.chat.A.act", n: n, own: 100})).recorded("H", 4)
		got := only(t, Explain(h, []run.Run{doing(dispatch()).recorded("B", 4)}, slow), NewKind, "com.example.chat.A.act")
		if said := fmt.Sprintf("Tracing makes short calls longer: a part of the time of %s more calls is the tracer's.", amount(float64(n), "")); strings.Contains(doubts(got), said) != want {
			t.Errorf("%d calls: %q", n, doubts(got))
		}
	}
}

// A record that was made up can have a callee that takes longer than its caller.
func TestPicturesOfAnyTree(t *testing.T) {
	var many []call
	for i := range maxDrawn + 50 {
		many = append(many, once(fmt.Sprintf("com.example.chat.A%d.act", i), float64(i)))
	}
	h := doing(dispatch(many...)).recorded("H", 4)
	h.MethodTraces.Tree = append(h.MethodTraces.Tree, run.TracedCall{Parent: 5, Name: "a.b", RepetitionsMS: []float64{1e6, 1e6, 1e6, 1e6}})
	for _, c := range Explain(h, []run.Run{doing(dispatch()).recorded("B", 4)}, slow) {
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		f := c.Picture.Flame
		if len(f.Calls) != maxDrawn || slices.ContainsFunc(f.Calls, func(c diagnose.Call) bool { return c.Head == 0 || c.Name == "a.b" }) {
			t.Errorf("%d calls are drawn, want %d", len(f.Calls), maxDrawn)
		}
		if len(c.Tables) > 0 && (len(c.Tables[0].Rows) != maxRows || c.Tables[0].Total < maxDrawn) {
			t.Errorf("%d of %d methods are listed", len(c.Tables[0].Rows), c.Tables[0].Total)
		}
	}
}

// More repetitions than are kept apart are counted together, each as much as before.
func TestManyRepetitions(t *testing.T) {
	h := doing(dispatch(once("com.example.chat.A.act", 200))).recorded("H", 40)
	expect(t, "40 repetitions", Explain(h, []run.Run{doing(dispatch()).recorded("B", 20)}, slow), "new A.act 200 ms")
	got := Match(h, []Problem{{Name: "p", Calls: []string{"com.example.chat.A.act"}, OverMS: 199}}, slow)
	if len(got) != 1 || *got[0].Explains.Value != 200 {
		t.Errorf("the problem takes %v", got)
	}
	if got := Match(h, []Problem{{Name: "p", Calls: []string{"com.example.chat.A.act"}, OverMS: 201}, {Name: "none"}}, slow); len(got) != 0 {
		t.Errorf("%v", subjects(got))
	}
}

// A problem is counted by event, and its two findings have one table.
func TestAProblemInTwoEvents(t *testing.T) {
	m := doing(dispatch(once("com.example.chat.A.act", 200)), dispatch(once("com.example.chat.A.act", 500)).of("swipe", ""))
	m.events = []string{"swipe"}
	h := m.recorded("H", 20)
	got := Match(h, []Problem{{Name: "p", Calls: []string{"com.example.chat.A.act"}}}, append(worse("tap", "frames.slow"), worse("", "frames.slow")...))
	var said []string
	for _, c := range got {
		said = append(said, fmt.Sprintf("%q %.0f %v", c.Event, *c.Explains.Value, c.Evidence[0].FromMS))
	}
	if want := []string{`"" 500 5000`, `"tap" 200 1000`, `"" 200 1000`}; !slices.Equal(said, want) {
		t.Errorf("the causes are %q, want %q", said, want)
	}
}
