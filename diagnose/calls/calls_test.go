package calls

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// call is a method with the time of its own code in one repetition, in ms, and what it calls.
type call struct {
	name  string
	n     int
	own   float64
	calls []call
	// event and thread are those of an outermost call, "" after the tap on the main thread.
	event, thread string
}

// of is a call in another event, or on another thread.
func (c call) of(event, thread string) call {
	c.event, c.thread = event, thread
	return c
}

func once(name string, own float64, calls ...call) call {
	return call{name: name, n: 1, own: own, calls: calls}
}

func (c call) total() float64 {
	sum := c.own
	for _, inner := range c.calls {
		sum += inner.total()
	}
	return sum
}

// model is what the main thread does after a tap, in each repetition.
type model struct {
	usual func(repetition int) []call
	why   func(repetition int) string
	// noise is that of a time, from repetition to repetition: by chance, or without a seed evenly
	// above and below.
	noise float64
	seed  uint64
	// events are traced besides the tap.
	events []string
}

// recorded is a run of so many repetitions of the model, each a window.
func (m model) recorded(id string, repetitions int) run.Run {
	random := rand.New(rand.NewPCG(m.seed, 24))
	out := run.Run{
		ID: id, Started: time.Unix(0, 0), App: run.App{Package: "com.example.chat"}, Scenario: "back", Status: run.Complete,
		Context:      map[string]string{"manufacturer": "Google", "model": "Pixel 7", "sdk": "14"},
		MethodTraces: &run.MethodTraces{Source: "art", Clock: run.WallClock},
	}
	t := out.MethodTraces
	places := map[string]int{}
	for rep := range repetitions {
		out.Iterations = append(out.Iterations, run.Iteration{})
		w := run.TraceWindow{Repetition: rep + 1, Event: "tap", FromMS: 1000, ToMS: 4000, Evidence: fmt.Sprintf("%064x", rep+1)}
		if m.why != nil {
			w.Why = m.why(rep)
		}
		t.Windows = append(t.Windows, w)
		for _, event := range m.events {
			t.Windows = append(t.Windows, run.TraceWindow{Repetition: rep + 1, Event: event, FromMS: 5000, ToMS: 8000, Evidence: fmt.Sprintf("%064x", 100+rep)})
		}
		var add func(c call, parent int, path string) float64
		add = func(c call, parent int, path string) float64 {
			path += "/" + c.name
			at, known := places[path]
			if !known {
				at = len(t.Tree)
				places[path] = at
				entry := run.TracedCall{Parent: parent, Name: c.name, Repetitions: make([]int, min(repetitions, run.MaxApart)), RepetitionsMS: make([]float64, min(repetitions, run.MaxApart))}
				if parent < 0 {
					entry.Thread, entry.Event = cmp.Or(c.thread, "main"), cmp.Or(c.event, "tap")
				}
				t.Tree = append(t.Tree, entry)
			}
			off := 2*random.Float64() - 1
			if m.seed == 0 {
				off = []float64{0, 1, -1, 0.5, -0.5}[rep%5]
			}
			sum := c.own * (1 + m.noise*off)
			for _, inner := range c.calls {
				sum += add(inner, at, path)
			}
			t.Tree[at].Repetitions[rep%run.MaxApart] += c.n
			t.Tree[at].RepetitionsMS[rep%run.MaxApart] += sum
			return sum
		}
		for _, c := range m.usual(rep) {
			took := add(c, -1, c.event+c.thread)
			chain := run.CallChain{Repetition: rep + 1, Event: cmp.Or(c.event, "tap"), Thread: cmp.Or(c.thread, "main"), AtMS: 1200}
			calls := 1.0 // that the entry's time is of: the chain has the longest
			for at := &c; at != nil; {
				calls = max(calls, float64(at.n))
				chain.Methods, chain.MS = append(chain.Methods, at.name), append(chain.MS, took*at.total()/c.total()/calls)
				var longest *call
				for i := range at.calls {
					if longest == nil || at.calls[i].total() > longest.total() {
						longest = &at.calls[i]
					}
				}
				at = longest
			}
			t.Chains = append(t.Chains, chain)
		}
	}
	return out
}

// screen is a tap of the app: its listener, and a frame.
func screen(handler, frame []call) func(int) []call {
	return func(int) []call {
		return []call{
			once("android.os.Handler.dispatchMessage", 0.2, once("android.view.View.performClick", 0.1, once("com.example.chat.Chat.onClick", 4, handler...))),
			once("android.view.Choreographer.doFrame", 1, once("android.view.ViewRootImpl.performTraversals", 3, frame...)),
		}
	}
}

var slow = []diagnose.Finding{{Event: "tap", Metric: "frames.duration_ms", Direction: gate.ToRegression}}

// text is a phrase in plain text, its numbers to three digits.
func text(p diagnose.Phrase) string {
	var b strings.Builder
	for _, part := range p {
		b.WriteString(part.Text + part.Name)
		if a := part.Amount; a != nil {
			b.WriteString(amount(a.Value, a.Unit))
		}
		if r := part.Range; r != nil {
			b.WriteString(amount(r.Low, r.Unit) + "–" + amount(r.High, r.Unit))
		}
	}
	return b.String()
}

func amount(v float64, unit string) string {
	if unit == "ratio" {
		return fmt.Sprintf("%.0f %%", 100*v)
	}
	return strings.TrimSpace(fmt.Sprintf("%.4g %s", v, unit))
}

func doubts(c diagnose.Cause) string {
	var out []string
	for _, d := range c.Doubts {
		out = append(out, text(d))
	}
	return strings.Join(out, " ")
}

// only fails unless there is exactly one cause, of that kind and method.
func only(t *testing.T, got []diagnose.Cause, kind, method string) diagnose.Cause {
	t.Helper()
	if len(got) != 1 || got[0].Kind != kind || got[0].Subject.Name != method {
		for _, c := range got {
			t.Logf("%s: %s", c.Kind, text(c.Sentence))
		}
		t.Fatalf("%d causes, want one of %s, %s", len(got), method, kind)
	}
	if err := got[0].Validate(); err != nil {
		t.Error(err)
	}
	return got[0]
}

// A method that is new, one that is called more often and one that takes longer are three sentences.
func TestThreeWaysToTakeLonger(t *testing.T) {
	before := model{noise: 0.05, usual: screen(
		[]call{once("com.example.chat.Store.load", 20, once("com.example.chat.Json.parse", 10))},
		[]call{{name: "com.example.chat.Row.bind", n: 3, own: 6}})}
	for name, c := range map[string]struct {
		handler, frame []call
		kind, method   string
		says           string
	}{
		"new": {
			[]call{once("com.example.chat.Store.load", 20, once("com.example.chat.Json.parse", 10)), once("com.example.chat.Ads.show", 20, once("android.graphics.BitmapFactory.decodeFile", 130))},
			[]call{{name: "com.example.chat.Row.bind", n: 3, own: 6}},
			NewKind, "com.example.chat.Ads.show", "com.example.chat.Ads.show is new here: called once, it takes 150 ms per repetition, 130 ms of that in android.graphics.BitmapFactory.decodeFile: 100 % of what the main thread takes longer",
		},
		"more often": {
			[]call{once("com.example.chat.Store.load", 20, once("com.example.chat.Json.parse", 10))},
			[]call{{name: "com.example.chat.Row.bind", n: 60, own: 120}},
			MoreKind, "com.example.chat.Row.bind", "com.example.chat.Row.bind is called 60 times per repetition (before: 3), which takes 114 ms more: 100 % of",
		},
		"longer": {
			[]call{once("com.example.chat.Store.load", 20, once("com.example.chat.Json.parse", 110))},
			[]call{{name: "com.example.chat.Row.bind", n: 3, own: 6}},
			LongerKind, "com.example.chat.Json.parse", "com.example.chat.Json.parse takes 100 ms longer per repetition: 100 % of",
		},
		"longer in the platform": {
			[]call{once("com.example.chat.Store.load", 20, once("com.example.chat.Json.parse", 10), once("java.lang.Thread.sleep", 300))},
			[]call{{name: "com.example.chat.Row.bind", n: 3, own: 6}},
			LongerKind, "com.example.chat.Store.load", "com.example.chat.Store.load takes 300 ms longer per repetition, 300 ms of that in java.lang.Thread.sleep: 100 % of",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head := model{noise: 0.05, usual: screen(c.handler, c.frame)}
			got := only(t, Explain(head.recorded("H", 5), []run.Run{before.recorded("B", 5)}, slow), c.kind, c.method)
			if got.Explains.Sure != diagnose.Clear || *got.Explains.Share < 0.9 || got.Run != "H" || got.Event != "tap" || got.Metric != "frames.duration_ms" {
				t.Errorf("it explains %v of %s, %s of run %s, %s", *got.Explains.Share, got.Event, got.Metric, got.Run, got.Explains.Sure)
			}
			said := text(got.Sentence)
			if !strings.HasPrefix(said, c.says) {
				t.Errorf("it says\n%s, want\n%s …", said, c.says)
			}
			if basis := text(got.Basis); basis != "based on 5 traced repetitions, compared with 5 of earlier runs" {
				t.Errorf("the basis is %q", basis)
			}
		})
	}
}

// Unchanged builds have no cause, however much repetitions vary, and neither has one that only calls
// the same code from another place.
func TestNothingIsNamedWithoutAChange(t *testing.T) {
	usual := screen([]call{once("com.example.chat.Store.load", 20, once("com.example.chat.Json.parse", 100))}, []call{{name: "com.example.chat.Row.bind", n: 30, own: 60}})
	for seed := range uint64(100) {
		before, head := model{noise: 0.5, seed: seed, usual: usual}, model{noise: 0.5, seed: 1000 + seed, usual: usual}
		for repetitions := 1; repetitions < 6; repetitions++ {
			if got := Explain(head.recorded("H", repetitions), []run.Run{before.recorded("B", repetitions)}, slow); len(got) > 0 {
				t.Errorf("%d repetitions, seed %d: %s", repetitions, seed, text(got[0].Sentence))
			}
		}
	}
	before := model{noise: 0.05, seed: 1, usual: usual}
	moved := model{noise: 0.05, seed: 2, usual: screen([]call{once("com.example.chat.Repository.get", 0.5, once("com.example.chat.Store.load", 20, once("com.example.chat.Json.parse", 100)))}, []call{{name: "com.example.chat.Row.bind", n: 30, own: 60}})}
	if got := Explain(moved.recorded("H", 5), []run.Run{before.recorded("B", 5)}, slow); len(got) > 0 {
		t.Errorf("moved code: %s", text(got[0].Sentence))
	}
	if got := Explain(before.recorded("H", 5), []run.Run{before.recorded("B", 5)}, []diagnose.Finding{{Event: "tap", Metric: "energy.total_j", Direction: gate.ToRegression}}); len(got) > 0 {
		t.Errorf("joules are explained: %s", text(got[0].Sentence))
	}
}

// Two causes are told apart, the larger first.
func TestTwoMethodsAtOnce(t *testing.T) {
	before := model{noise: 0.05, seed: 1, usual: screen([]call{once("com.example.chat.Store.load", 20)}, []call{{name: "com.example.chat.Row.bind", n: 3, own: 6}})}
	head := model{noise: 0.05, seed: 2, usual: screen([]call{once("com.example.chat.Store.load", 70)}, []call{{name: "com.example.chat.Row.bind", n: 90, own: 180}})}
	got := Explain(head.recorded("H", 5), []run.Run{before.recorded("B", 5)}, slow)
	var names []string
	for _, c := range got {
		names = append(names, fmt.Sprintf("%s %s %.1f", c.Kind, c.Subject.Name, *c.Explains.Share))
	}
	if want := []string{"calls.more com.example.chat.Row.bind 0.8", "calls.longer com.example.chat.Store.load 0.2"}; !slices.Equal(names, want) {
		t.Errorf("the causes are %q, want %q", names, want)
	}
}

// The first case of the paper (section 3): the inset of a keyboard makes a list lay out all of its
// items, in calls that are short each. The list's adapter is to blame, not the layout around it.
func TestEveryItemIsBound(t *testing.T) {
	list := func(rows int) func(int) []call {
		bind := call{name: "com.example.chat.Adapter.getView", n: rows, own: 2 * float64(rows), calls: []call{
			{name: "com.example.chat.Item.text", n: rows, own: 12 * float64(rows)}, {name: "com.example.chat.Item.avatar", n: rows, own: 10 * float64(rows)}, {name: "com.example.chat.Item.time", n: rows, own: 9 * float64(rows)},
		}}
		return screen(nil, []call{once("com.example.chat.KeyboardLayout.onLayout", 2, once("android.widget.AbsListView.onLayout", 1, call{name: "android.widget.AbsListView.obtainView", n: rows, own: float64(rows), calls: []call{bind}}))})
	}
	before, head := model{noise: 0.05, usual: list(1)}, model{noise: 0.05, usual: list(60)}
	head.why = func(int) string { return "a frame took 2050 ms" }
	got := only(t, Explain(head.recorded("H", 5), []run.Run{before.recorded("B", 5)}, slow), MoreKind, "com.example.chat.Adapter.getView")
	said := text(got.Sentence)
	for _, want := range []string{"com.example.chat.Adapter.getView is called 60 times per repetition (before: 1), which takes 1947 ms more", "it keeps the main thread for", "seen in 5 of 5 repetitions"} {
		if !strings.Contains(said, want) {
			t.Errorf("there is no %q in\n%s", want, said)
		}
	}
	if got.Explains.Sure != diagnose.Seen || len(got.Evidence) == 0 || got.Picture == nil || got.Picture.Flame == nil || !got.Picture.Flame.Beside {
		t.Errorf("it is %s, with the evidence %v and the picture %v", got.Explains.Sure, got.Evidence, got.Picture)
	}
	// Without a base the freeze alone shows it.
	got = only(t, Explain(head.recorded("H", 5), nil, slow), HeldKind, "com.example.chat.Adapter.getView")
	if said := text(got.Sentence); !strings.Contains(said, "com.example.chat.Adapter.getView keeps the main thread for 2079 ms of 2149 ms at a time, in 60 calls, seen in 5 of 5 repetitions") {
		t.Errorf("it says %s", said)
	}
	if text(got.Basis) != "based on 5 traced repetitions" || len(got.Doubts) > 0 {
		t.Errorf("the basis is %q, the doubts %q", text(got.Basis), doubts(got))
	}
	// The base build froze as well: it explains nothing.
	if got := Explain(head.recorded("H", 5), []run.Run{head.recorded("B", 5)}, slow); len(got) > 0 {
		t.Errorf("what froze before is named: %s", text(got[0].Sentence))
	}
}

// The second case of the paper: the main thread sleeps after a binder call that only some contexts
// answer. The app's method that sleeps is to blame, not the platform's.
func TestSleepOnTheMainThread(t *testing.T) {
	ends := func(sleeps float64) func(int) []call {
		route := []call{once("android.media.AudioManager.isBluetoothScoOn", 0.1, once("android.os.BinderProxy.transact", 4))}
		if sleeps > 0 {
			route = append(route, once("java.lang.Thread.sleep", sleeps))
		}
		return screen([]call{once("com.example.chat.Call.hangUp", 1, once("com.example.chat.AudioRoute.restore", 0.5, route...))}, nil)
	}
	slept := func(repetition int) []call {
		if repetition%2 == 0 { // in three of five
			return ends(1000)(repetition)
		}
		return ends(0)(repetition)
	}
	frozen := []diagnose.Finding{{Event: "tap", Metric: "frames.frozen", Direction: gate.ToRegression}, {Event: "tap#2", Metric: "frames.slow", Direction: gate.ToRegression}}
	head := model{noise: 0.05, usual: slept}.recorded("H", 5)
	got := Explain(head, []run.Run{model{noise: 0.05, usual: ends(0)}.recorded("B", 5)}, frozen)
	if len(got) != 2 || got[0].Subject.Name != "com.example.chat.AudioRoute.restore" || got[0].Explains.Sure != diagnose.Seen {
		t.Fatalf("the causes are %v", got)
	}
	if said := text(got[0].Sentence); !strings.Contains(said, "java.lang.Thread.sleep") || !strings.Contains(said, "seen in 3 of 5 repetitions") {
		t.Errorf("it says %s", said)
	}
	if got[1].Event != "tap#2" || got[1].Tables != nil || got[1].Picture != nil {
		t.Errorf("the second finding has a table or a picture")
	}
	// With only its own other repetitions to compare with, it is seen as well.
	own := model{noise: 0.05, usual: slept, why: func(rep int) string {
		if rep%2 == 0 {
			return "a frame took 1005 ms"
		}
		return ""
	}}.recorded("H", 5)
	alone := only(t, Explain(own, nil, frozen[:1]), LongerKind, "com.example.chat.AudioRoute.restore")
	if !strings.Contains(doubts(alone), "No earlier run was traced") || text(alone.Basis) != "based on 3 traced repetitions in which something went wrong, compared with 2 others" {
		t.Errorf("the basis is %q, the doubts are %q", text(alone.Basis), doubts(alone))
	}
}

func TestDoubts(t *testing.T) {
	before, head := model{noise: 0.05, usual: screen(nil, nil)}, model{noise: 0.05, usual: screen([]call{once("com.example.chat.Ads.show", 200)}, nil)}
	for name, c := range map[string]struct {
		repetitions int
		change      func(h, b *run.Run)
		want        string
		sure        diagnose.Sure
	}{
		"enough":          {4, func(h, b *run.Run) {}, "", diagnose.Clear},
		"too few":         {3, func(h, b *run.Run) {}, "3 traced repetitions compared with 3 are too few", diagnose.Likely},
		"one of each":     {1, func(h, b *run.Run) {}, "1 traced repetition compared with 1 are too few", diagnose.Likely},
		"processor time":  {4, func(h, b *run.Run) { h.MethodTraces.Clock, b.MethodTraces.Clock = run.CPUClock, run.CPUClock }, "Times are processor time", diagnose.Clear},
		"shorter windows": {4, func(h, b *run.Run) { shorten(b) }, "Less was traced in the runs compared with", diagnose.Likely},
	} {
		h, b := head.recorded("H", c.repetitions), before.recorded("B", c.repetitions)
		c.change(&h, &b)
		got := only(t, Explain(h, []run.Run{b}, slow), NewKind, "com.example.chat.Ads.show")
		if said := doubts(got); !strings.HasPrefix(said, c.want) || (said == "") != (c.want == "") || got.Explains.Sure != c.sure {
			t.Errorf("%s: it is %s, and the doubts are %q, want %s and %q", name, got.Explains.Sure, said, c.sure, c.want)
		}
	}
}

func shorten(r *run.Run) {
	for i := range r.MethodTraces.Windows {
		r.MethodTraces.Windows[i].ToMS = r.MethodTraces.Windows[i].FromMS + 100
	}
}

// Where a tree was cut, a method that takes no more than what was left out is not called new.
func TestLeftOutIsNotNew(t *testing.T) {
	before, head := model{noise: 0.05, usual: screen(nil, nil)}, model{noise: 0.05, usual: screen([]call{once("com.example.chat.Ads.show", 200)}, nil)}
	for missed, kind := range map[float64]string{20: NewKind, 21: LongerKind} {
		b := before.recorded("B", 4)
		b.MethodTraces.TreeLeftOutMS = missed
		only(t, Explain(head.recorded("H", 4), []run.Run{b}, slow), kind, "com.example.chat.Ads.show")
	}
}

// Runs of another device, Android, app, scenario, clock or tracer are not compared with.
func TestUnlikeRunsAreNotCompared(t *testing.T) {
	usual := screen(nil, nil)
	before, head := model{noise: 0.05, usual: usual}, model{noise: 0.05, usual: screen([]call{once("com.example.chat.Ads.show", 200)}, nil)}
	for name, change := range map[string]func(*run.Run){
		"model": func(r *run.Run) { r.Context["model"] = "Pixel 6" }, "sdk": func(r *run.Run) { r.Context["sdk"] = "13" },
		"app": func(r *run.Run) { r.App.Package = "com.example.mail" }, "scenario": func(r *run.Run) { r.Scenario = "forth" },
		"clock": func(r *run.Run) { r.MethodTraces.Clock = run.CPUClock }, "source": func(r *run.Run) { r.MethodTraces.Source = "samples" },
		"failed": func(r *run.Run) { r.Status = run.Failed }, "itself": func(r *run.Run) { r.ID = "H" }, "untraced": func(r *run.Run) { r.MethodTraces = nil },
	} {
		b := before.recorded("B", 4)
		change(&b)
		if got := Explain(head.recorded("H", 4), []run.Run{b}, slow); len(got) > 0 {
			t.Errorf("%s: %s", name, text(got[0].Sentence))
		}
	}
	untraced := head.recorded("H", 4)
	untraced.MethodTraces = nil
	if got := Explain(untraced, []run.Run{before.recorded("B", 4)}, slow); len(got) > 0 {
		t.Errorf("without traces: %s", text(got[0].Sentence))
	}
}

// Builds that R8 renamed differently have no method in common: that is doubted, and never clear.
func TestRenamedMethodsAreDoubted(t *testing.T) {
	many := func(letter string) []call {
		var out []call
		for i := range 12 {
			out = append(out, once(fmt.Sprintf("%s.%c.a", letter, 'a'+i), 3))
		}
		return out
	}
	before := model{noise: 0.05, usual: screen(many("a"), nil)}
	head := model{noise: 0.05, usual: screen(append(many("b"), once("b.z.a", 200)), nil)}
	few := model{noise: 0.05, usual: screen([]call{once("com.example.chat.Old.act", 3)}, nil)}
	if got := only(t, Explain(model{noise: 0.05, usual: screen([]call{once("com.example.chat.New.act", 200)}, nil)}.recorded("H", 5), []run.Run{few.recorded("B", 5)}, slow), NewKind, "com.example.chat.New.act"); got.Explains.Sure != diagnose.Clear {
		t.Errorf("where one of few methods is gone, the new one is %s: %s", got.Explains.Sure, doubts(got))
	}
	for _, c := range Explain(head.recorded("H", 5), []run.Run{before.recorded("B", 5)}, slow) {
		if c.Explains.Sure == diagnose.Clear || !strings.Contains(doubts(c), "Most methods of the app have other names than before") {
			t.Errorf("%s is %s; %s", text(c.Sentence), c.Explains.Sure, doubts(c))
		}
	}
}

// A problem of the team's is found by its signature, in the order of calls and over its threshold.
func TestKnownProblems(t *testing.T) {
	usual := screen([]call{once("com.example.chat.Call.hangUp", 1, once("com.example.chat.AudioRoute.restore", 0.5, once("java.lang.Thread.sleep", 1000)))}, nil)
	r := model{usual: usual}.recorded("H", 5)
	problem := Problem{Name: "sco", Calls: []string{"com.example.chat.Call.*", "java.lang.Thread.sleep"}, OverMS: 500, Text: "Wait for the broadcast instead.", Link: "https://example.com/42"}
	for name, c := range map[string]struct {
		change func(p *Problem, r *run.Run)
		found  []diagnose.Finding
		want   int
	}{
		"a finding":                  {func(p *Problem, r *run.Run) {}, slow, 1},
		"two findings":               {func(p *Problem, r *run.Run) {}, append(slow, diagnose.Finding{Metric: "frames.slow", Direction: gate.ToRegression}), 2},
		"of another event":           {func(p *Problem, r *run.Run) {}, []diagnose.Finding{{Event: "swipe", Metric: "frames.slow", Direction: gate.ToRegression}}, 0},
		"that got better":            {func(p *Problem, r *run.Run) {}, []diagnose.Finding{{Event: "tap", Metric: "frames.slow", Direction: gate.ToImprovement}}, 0},
		"no finding":                 {func(p *Problem, r *run.Run) {}, nil, 0},
		"no finding, and an anomaly": {func(p *Problem, r *run.Run) { r.MethodTraces.Windows[2].Why = "a frame took 1005 ms" }, nil, 1},
		"another order":              {func(p *Problem, r *run.Run) { slices.Reverse(p.Calls) }, slow, 0},
		"a longer time":              {func(p *Problem, r *run.Run) { p.OverMS = 1000.5 }, slow, 0},
		"just that time":             {func(p *Problem, r *run.Run) { p.OverMS = 1000 }, slow, 1},
		"one method":                 {func(p *Problem, r *run.Run) { p.Calls = p.Calls[1:] }, slow, 1},
		"a part of a name":           {func(p *Problem, r *run.Run) { p.Calls = []string{"com.example.chat.Call"} }, slow, 0},
		"of another thread":          {func(p *Problem, r *run.Run) { rename(r, "worker") }, slow, 0},
		"of any thread":              {func(p *Problem, r *run.Run) { rename(r, "worker"); p.AnyThread = true }, slow, 1},
	} {
		p, one := problem, r
		p.Calls = slices.Clone(problem.Calls)
		traces := *r.MethodTraces
		traces.Tree, traces.Windows = slices.Clone(traces.Tree), slices.Clone(traces.Windows)
		one.MethodTraces = &traces
		c.change(&p, &one)
		got := Match(one, []Problem{p}, c.found)
		if len(got) != c.want {
			t.Errorf("%s: %d causes, want %d", name, len(got), c.want)
			continue
		}
		for _, cause := range got {
			if err := cause.Validate(); err != nil || cause.Kind != KnownKind || cause.Subject.Name != "sco" {
				t.Errorf("%s: the cause is %s of %s, %v", name, cause.Kind, cause.Subject.Name, err)
			}
		}
	}
	got := Match(r, []Problem{problem}, slow)
	want := "the known problem sco: java.lang.Thread.sleep takes 1000 ms, called by com.example.chat.Call.*, seen in 5 of 5 repetitions; the team's note: Wait for the broadcast instead"
	if said := text(got[0].Sentence); said != want {
		t.Errorf("it says\n%s, want\n%s", said, want)
	}
	if got[0].See != "https://example.com/42" {
		t.Errorf("more is at %q", got[0].See)
	}
	if len(got[0].Evidence) != 5 || got[0].Evidence[0].Digest != fmt.Sprintf("%064x", 1) {
		t.Errorf("the evidence is %v", got[0].Evidence)
	}
}

func rename(r *run.Run, thread string) {
	for i := range r.MethodTraces.Tree {
		if r.MethodTraces.Tree[i].Parent < 0 {
			r.MethodTraces.Tree[i].Thread = thread
		}
	}
}

func TestNamesAreLikePatterns(t *testing.T) {
	for pattern, names := range map[string]map[string]bool{
		"a.B.c":   {"a.B.c": true, "a.B.cd": false, "xa.B.c": false},
		"a.B.*":   {"a.B.c": true, "a.B.": true, "a.C.c": false},
		"*.sleep": {"java.lang.Thread.sleep": true, "a.sleeps": false},
		"a.*.c*e": {"a.B.cde": true, "a.cde": false, "a.B.ce": true, "a.B.cd": false},
		"aa*a":    {"aa": false, "aaa": true},
	} {
		for name, want := range names {
			if got := like(pattern, name); got != want {
				t.Errorf("%q is like %q: %v, want %v", name, pattern, got, want)
			}
		}
	}
}

// Any two records can be compared, and what comes of it is valid.
func FuzzExplain(f *testing.F) {
	add := func(r run.Run) []byte {
		r.Format = run.Format
		data, err := run.Encode(r)
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	head := model{usual: screen([]call{once("com.example.chat.Ads.show", 900)}, nil), why: func(int) string { return "frozen" }}
	f.Add(add(head.recorded("H", 2)), add(model{usual: screen(nil, nil)}.recorded("B", 3)))
	f.Add(add(model{usual: func(int) []call { return []call{once("a.b", 700)} }}.recorded("H", 17)), add(model{usual: func(int) []call { return []call{once("a.b", 1)} }}.recorded("B", 1)))
	f.Fuzz(func(t *testing.T, headJSON, baseJSON []byte) {
		head, errHead := run.Decode(headJSON)
		base, errBase := run.Decode(baseJSON)
		if errHead != nil || errBase != nil {
			return
		}
		found := append(slow, diagnose.Finding{Metric: "startup.ttid_ms", Direction: gate.ToRegression})
		got := append(Explain(head, []run.Run{base}, found), Match(head, []Problem{{Name: "p", Calls: []string{"*a*"}}}, found)...)
		for _, c := range got {
			if err := c.Cut().Validate(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
