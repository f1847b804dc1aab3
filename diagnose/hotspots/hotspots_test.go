package hotspots

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
)

// The runs are made by hand; nothing in them was measured. Each build's samples
// take about ten joules, a hundred samples to the joule.

func method(name string, j, low, high float64) run.Method {
	return run.Method{Name: name, File: "base.apk", Kind: "aot", Local: run.Cost{Samples: int(100 * j), EnergyJ: j, LowJ: low, HighJ: high}}
}

func mailRun(id string, energyJ float64, list ...run.Method) run.Run {
	return run.Run{
		ID: id, App: run.App{Package: "com.example.mail", Build: "release"}, Scenario: "open", Status: run.Complete,
		Context:    map[string]string{"manufacturer": "Maker", "model": "One", "energy_from": "battery"},
		Iterations: []run.Iteration{{Metrics: map[string]float64{"energy.total_j": 2 * energyJ}}},
		Energy: &run.Energy{Source: "battery", BatteryJ: 60_000, Methods: &run.Methods{
			Event: "task-clock", Samples: int(100 * energyJ), EnergyJ: energyJ, Level: 0.95, List: list,
		}},
	}
}

const (
	decode = "com.example.mail.MessageView.decode"
	put    = "com.example.mail.Cache.put"
	bind   = "com.example.mail.Inbox.bind"
	gone   = "com.example.mail.Old.gone"
	fresh  = "com.example.mail.Fresh.parse"
)

func base() run.Run {
	return mailRun("B1", 10, method(bind, 2, 1.8, 2.2), method(put, 1, 0.9, 1.1), method(decode, 0.6, 0.5, 0.7), method(gone, 0.3, 0.2, 0.4))
}

// head takes 3 J more: decode +2.1 J (70 %), fresh +0.66 J (22 %), put +0.5 J, gone −0.3 J.
func head() run.Run {
	return mailRun("H", 13, method(decode, 2.7, 2.4, 3), method(bind, 2.1, 1.9, 2.3), method(put, 1.5, 1.3, 1.7), method(fresh, 0.66, 0.5, 0.8))
}

func explained(t *testing.T, head run.Run, candidates ...run.Run) Change {
	t.Helper()
	c, ok := Explain(head, candidates)
	if !ok {
		t.Fatal("the head has no energy")
	}
	if err := c.Validate(); err != nil {
		t.Fatalf("what Explain made is not valid: %v", err)
	}
	return c
}

func (c Change) method(t *testing.T, name string) Method {
	t.Helper()
	for _, m := range c.Methods.List {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("%s is not in the list", name)
	return Method{}
}

func namesOf(list []Method) (out []string) {
	for _, m := range list {
		out = append(out, m.Name)
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestFewMethodsExplainMost(t *testing.T) {
	c := explained(t, head(), base())
	// decode and fresh make 2.76 of 3 J, over four fifths: put is not needed.
	if got, want := namesOf(c.Explaining()), []string{decode, fresh}; !slices.Equal(got, want) {
		t.Fatalf("%q explain the change, want %q", got, want)
	}
	d := c.Explaining()[0]
	if !near(d.Local.ChangeJ(), 2.1) || !near(d.Share, 0.7) {
		t.Errorf("decode takes %+.3f J, %.3f of the change; want +2.1 and 0.7", d.Local.ChangeJ(), d.Share)
	}
	if p := c.method(t, put); !p.Local.Clear || p.Explains {
		t.Errorf("put, which rose clearly but little: %+v", p)
	}
	if b := c.method(t, bind); b.Local.Clear {
		t.Error("bind's intervals overlap, and still its change is called clear")
	}
	if g := c.method(t, gone); !g.Local.Clear || g.Local.Head.J != 0 || g.Explains {
		t.Errorf("gone, which the head no longer calls: %+v", g)
	}
	if f := c.method(t, fresh); !f.Local.Clear || f.Local.Base.J != 0 {
		t.Errorf("fresh, which the base didn't call: %+v", f)
	}
	if !near(c.Total.BaseJ, 20) || !near(c.Total.HeadJ, 26) || c.BatteryJ != 60_000 {
		t.Errorf("in total %+v, of a battery of %g J; want 20 and 26 of 60000", c.Total, c.BatteryJ)
	}
}

// A change that is spread over many methods is in the innermost one that contains half of it.
func TestChangesThatAreSpreadThin(t *testing.T) {
	whole := func(j, low, high float64, name string) run.Method {
		m := method(name, 0.1, 0.05, 0.15)
		m.NonLocal = run.Cost{Samples: int(100 * j), EnergyJ: j, LowJ: low, HighJ: high}
		return m
	}
	var thin []run.Method
	for i := range 30 { // 0.1 J each, of 0 to 0.2 J
		thin = append(thin, method(fmt.Sprintf("libc.part%c", 'a'+i), 0.1, 0, 0.2))
	}
	b := mailRun("B", 10, whole(9.8, 9.5, 10.1, "android.os.Looper.loop"), whole(5, 4.8, 5.2, "com.example.mail.Inbox.open"), whole(1, 0.9, 1.1, decode), whole(2, 1.8, 2.2, bind))
	h := mailRun("H", 13, append(thin, whole(12.8, 12.5, 13.1, "android.os.Looper.loop"), whole(7.9, 7.7, 8.1, "com.example.mail.Inbox.open"), whole(3, 2.9, 3.1, decode), whole(2.1, 1.9, 2.3, bind))...)
	c := explained(t, h, b)
	if len(c.Explaining()) != 0 {
		t.Fatalf("%q explain the change by their own code", namesOf(c.Explaining()))
	}
	// Of the 3 J, loop takes 3, open 2.9 and decode 2; bind's change is not clear.
	if m, ok := c.Enclosing(); !ok || m.Name != decode || !near(m.Total.ChangeJ(), 2) {
		t.Errorf("the change lies in %q (%+.2f J), want decode with +2.00 J", m.Name, m.Total.ChangeJ())
	}
	if got := keys(told(t, worse("", "energy.total_j"), c)[0].Causes); !slices.Contains(got, "/energy.total_j "+CallsKind+" "+decode) {
		t.Errorf("the causes are %q, want decode with all that it calls", got)
	}
	if _, ok := explained(t, head(), base()).Enclosing(); ok {
		t.Error("a method is said to enclose a change that is explained")
	}
}

// A method that did not run for longer is distinguished from one that did.
func TestHowLongMethodsRan(t *testing.T) {
	ran := func(r run.Run, ms ...float64) run.Run {
		for i := range ms {
			r.Energy.Methods.List[i].Local.CPUMS = ms[i]
		}
		return r
	}
	// Of the base's two runs one has put for 200 ms, one for 400 ms.
	other := base()
	other.ID = "B2"
	c := explained(t, ran(head(), 900, 800), ran(base(), 700, 200, 300), ran(other, 700, 400, 300))
	for name, want := range map[string]Times{decode: {300, 900}, bind: {700, 800}, put: {300, 0}, fresh: {}} {
		if got := c.method(t, name).CPU; got != want {
			t.Errorf("%s ran for %+v ms, want %+v", name, got, want)
		}
	}
}

// A caller of which another callee decreased changes less than the method that contains the change,
// and all of a chain of callers change alike: neither makes an outer frame the innermost one.
func TestTheInnermostIsNotItsCaller(t *testing.T) {
	const outer, inner, other = "com.example.mail.App.main", "com.example.mail.Inbox.open", "com.example.mail.Inbox.close"
	build := func(id string, energyJ, outerJ, innerJ, otherJ float64) run.Run {
		with := func(name string, j float64) run.Method {
			m := method(name, 0, 0, 0)
			m.NonLocal = run.Cost{Samples: int(100 * j), EnergyJ: j, LowJ: 0.98 * j, HighJ: 1.02 * j}
			return m
		}
		r := mailRun(id, energyJ, with("main", outerJ), with(outer, outerJ), with(inner, innerJ), with(other, otherJ))
		r.Energy.Methods.Calls = []run.Call{
			{Parent: -1, Name: "main", EnergyJ: outerJ}, {Parent: 0, Name: outer, EnergyJ: outerJ},
			{Parent: 1, Name: inner, EnergyJ: innerJ}, {Parent: 1, Name: other, EnergyJ: otherJ},
		}
		return r
	}
	for what, c := range map[string]Change{
		"another call went down": explained(t, build("H", 13, 12, 8.2, 3.8), build("B", 10, 9, 5, 4)),
		"all changed alike":      explained(t, build("H", 13, 12, 8, 4), build("B", 10, 9, 5, 4)),
	} {
		if m, _ := c.Enclosing(); m.Name != inner {
			t.Errorf("%s: the change lies in %q, want %q", what, m.Name, inner)
		}
	}
}

// A method with few samples is not called new: the base may have missed it by chance.
func TestRareMethodsAreNotNew(t *testing.T) {
	h := mailRun("H", 10, method(bind, 2, 1.8, 2.2), run.Method{Name: fresh, Kind: "aot", Local: run.Cost{Samples: 3, EnergyJ: 0.03, LowJ: 0.01, HighJ: 0.05}})
	f := explained(t, h, base()).method(t, fresh)
	// None of 1,000 samples goes with up to 3.84 of them at 95 %: 0.0384 J.
	if math.Abs(f.Local.Base.HighJ-0.0384) > 1e-4 || f.Local.Clear {
		t.Errorf("a method of three samples: base up to %.5f J, clear %v; want 0.0384 and not clear", f.Local.Base.HighJ, f.Local.Clear)
	}
}

// Methods of which each call is hit twenty times in a row have intervals as of a
// twentieth of their samples: 400 samples (4 J) those of 20, whose relative
// variance is 0.05, so that with z = 1.96 they reach from 2.59 J to 6.18 J. What
// was hit by two such calls may as well not have been hit at all; what was hit by
// twenty may not.
func TestCallsThatAreHitManyTimesAreNotNew(t *testing.T) {
	b := mailRun("B", 10, method(bind, 4, 2.59, 6.18))
	h := mailRun("H", 10, method(bind, 4, 2.59, 6.18), method(put, 0.4, 0.11, 1.46), method(fresh, 4, 2.59, 6.18))
	c := explained(t, h, b)
	// None of 1,000 samples that come in twenties goes with up to 20 · 3.84: 0.768 J.
	rare := c.method(t, put)
	if math.Abs(rare.Local.Base.HighJ-0.768) > 0.01 || rare.Local.Clear {
		t.Errorf("two calls: base up to %.3f J, clear %v; want 0.768 and not clear", rare.Local.Base.HighJ, rare.Local.Clear)
	}
	if often := c.method(t, fresh); !often.Local.Clear {
		t.Errorf("twenty calls are not new beside a base of up to %.3f J", often.Local.Base.HighJ)
	}
}

// A list that is cut says little of what is not on it.
func TestCutListsProveNothing(t *testing.T) {
	b := base()
	for i := len(b.Energy.Methods.List); i < run.MaxMethods; i++ {
		m := method(fmt.Sprintf("com.example.mail.M.m%d", i), 0.1, 0.01, 0.15)
		m.NonLocal = run.Cost{Samples: 80, EnergyJ: 0.8, LowJ: 0.7, HighJ: 0.9}
		b.Energy.Methods.List = append(b.Energy.Methods.List, m)
	}
	if f := explained(t, head(), b).method(t, fresh); f.Local.Clear {
		t.Error("a method of 0.66 J is called new beside a list whose last takes 0.9 J")
	}
}

// Two like runs that differ more than sampling does hide a change between them.
func TestRunsOfTheBaseDiffer(t *testing.T) {
	other := mailRun("B2", 12, method(decode, 2.4, 2.2, 2.6))
	c := explained(t, head(), base(), other)
	d := c.method(t, decode)
	if !near(d.Local.Base.J, 1.5) || d.Local.Base.LowJ != 0.5 || d.Local.Base.HighJ != 2.6 || d.Local.Clear {
		t.Errorf("beside runs of 0.6 and 2.4 J: %+v; want 1.5 J from 0.5 to 2.6, not clear", d.Local)
	}
}

func TestCompilersNumbersDoNotMakeMethods(t *testing.T) {
	for _, c := range []struct{ base, head string }{
		{"com.example.mail.A$$ExternalSyntheticLambda3.run", "com.example.mail.A$$ExternalSyntheticLambda12.run"},
		{"com.example.mail.-$$Lambda$A$x1Y_z.run", "com.example.mail.-$$Lambda$A$Q9w-8.run"},
		{"com.example.mail.A.lambda$open$0", "com.example.mail.A.lambda$open$4"},
		{"com.example.mail.A.$r8$lambda$abcDEF", "com.example.mail.A.$r8$lambda$ghiJKL"},
		{"com.example.mail.A$open$1.invoke", "com.example.mail.A$open$2.invoke"},
		{"com.example.mail.A$1.run", "com.example.mail.A$2.run"},
		{"com.example.mail.ComposableSingletons$AKt$lambda-1$1.invoke", "com.example.mail.ComposableSingletons$AKt$lambda-12$1.invoke"},
		{"com.example.mail.ComposableSingletons$AKt.getLambda$-655173438$app", "com.example.mail.ComposableSingletons$AKt.getLambda$1404781364$app"},
		{"com.example.mail.ComposableSingletons$AKt.lambda__116046041$lambda$0", "com.example.mail.ComposableSingletons$AKt.lambda_936748137$lambda$0"},
		{"com.example.mail.AKt.Screen$lambda$3", "com.example.mail.AKt.Screen$lambda$4"},
	} {
		h := mailRun("H", 10, method(c.head, 1, 0.9, 1.1))
		h.Energy.Methods.List[0].Kind, h.Energy.Methods.List[0].File = "jit", "[JIT app cache]"
		got := explained(t, h, mailRun("B", 10, method(c.base, 1, 0.9, 1.1)))
		if len(got.Methods.List) != 1 || got.Methods.List[0].Name != c.head || got.Methods.List[0].Local.Base.J != 1 {
			t.Errorf("%s is not %s: %+v", c.head, c.base, got.Methods.List)
		}
	}
}

// What is folded bears the name that all of it has, and what is only alike stays apart.
func TestFoldedAndUnlikeNames(t *testing.T) {
	h := mailRun("H", 10, method("com.example.mail.A$1.run", 1, 0.9, 1.1), method("com.example.mail.A$2.run", 2, 1.9, 2.1),
		run.Method{Name: "decode", Kind: "native", File: "/data/app/~~a==/x/lib/arm64/libone.so", Local: run.Cost{Samples: 9, EnergyJ: 0.5, LowJ: 0.4, HighJ: 0.6}},
		run.Method{Name: "decode", Kind: "native", File: "/data/app/~~a==/x/base.apk!/lib/arm64/libtwo.so", Local: run.Cost{Samples: 9, EnergyJ: 0.7, LowJ: 0.6, HighJ: 0.8}})
	b := mailRun("B", 10, run.Method{Name: "decode", Kind: "native", File: "/data/app/~~b==/y/lib/arm64/libone.so", Local: run.Cost{Samples: 9, EnergyJ: 0.5, LowJ: 0.4, HighJ: 0.6}})
	c := explained(t, h, b)
	if m := c.method(t, "com.example.mail.A$*.run"); !near(m.Local.Head.J, 3) || !near(m.Local.Head.LowJ, 2.8) {
		t.Errorf("A$1 and A$2 together: %+v, want 3 J from 2.8", m.Local.Head)
	}
	for _, m := range c.Methods.List {
		if m.Name == "decode" && (m.Local.Base.J != 0) != strings.HasSuffix(m.File, "libone.so") {
			t.Errorf("decode of %s has %g J in the base, where only libone.so had it", m.File, m.Local.Base.J)
		}
	}
}

func TestCallersAreNamed(t *testing.T) {
	calls := func(throughOpen, throughSync float64) []run.Call {
		return []run.Call{
			{Parent: -1, Name: "android.os.Looper.loop", EnergyJ: throughOpen + throughSync},
			{Parent: 0, Name: "com.example.mail.Inbox.open", EnergyJ: throughOpen},
			{Parent: 1, Name: "java.util.ArrayList.forEach", EnergyJ: throughOpen},
			{Parent: 2, Name: decode, EnergyJ: throughOpen},
			{Parent: 3, Name: decode, EnergyJ: throughOpen / 2},
			{Parent: 0, Name: "com.example.mail.Sync.run", EnergyJ: throughSync},
			{Parent: 5, Name: decode, EnergyJ: throughSync},
		}
	}
	b, h := base(), head()
	// Through Sync it takes more, through open it rose.
	b.Energy.Methods.Calls, h.Energy.Methods.Calls = calls(0.2, 5), calls(2.3, 5)
	d := explained(t, h, b).method(t, decode)
	if want := []string{"java.util.ArrayList.forEach", "com.example.mail.Inbox.open", "android.os.Looper.loop"}; !slices.Equal(d.Callers, want) {
		t.Errorf("callers %q, want %q", d.Callers, want)
	}
	if d.From != "com.example.mail.Inbox.open" {
		t.Errorf("called from %q, want the app's own Inbox.open", d.From)
	}
}

func TestTreesOfCallsAreMerged(t *testing.T) {
	b, h := base(), head()
	b.Energy.Methods.Calls = []run.Call{{Parent: -1, Name: "main", EnergyJ: 10}, {Parent: 0, Name: "old", EnergyJ: 4}, {Parent: 0, Name: "a$1", EnergyJ: 3}}
	h.Energy.Methods.Calls = []run.Call{{Parent: -1, Name: "main", EnergyJ: 13}, {Parent: 0, Name: "a$2", EnergyJ: 5}, {Parent: 1, Name: "leaf", EnergyJ: 1}}
	var got []string
	for _, c := range explained(t, h, b).Methods.Calls {
		got = append(got, fmt.Sprintf("%d %s %g %g", c.Parent, c.Name, c.BaseJ, c.HeadJ))
	}
	if want := []string{"-1 main 10 13", "0 a$* 3 5", "1 leaf 0 1", "0 old 4 0"}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Two trees of the largest size that share nothing keep the heavier half.
func TestMergedTreesAreBounded(t *testing.T) {
	b, h := base(), head()
	for i := range run.MaxCalls {
		b.Energy.Methods.Calls = append(b.Energy.Methods.Calls, run.Call{Parent: i - 1, Name: fmt.Sprintf("b%c", 'A'+i), EnergyJ: 1})
		h.Energy.Methods.Calls = append(h.Energy.Methods.Calls, run.Call{Parent: i - 1, Name: fmt.Sprintf("h%c", 'A'+i), EnergyJ: 2})
	}
	calls := explained(t, h, b).Methods.Calls
	if len(calls) != run.MaxCalls || slices.ContainsFunc(calls, func(c Call) bool { return c.HeadJ != 2 }) {
		t.Errorf("%d calls are kept, want %d, all of the heavier build", len(calls), run.MaxCalls)
	}
}

// The case study of the paper: the methods explain nothing, a wakelock does.
func TestWakelocksWithTheScreenOff(t *testing.T) {
	b, h := base(), base()
	h.ID = "H"
	h.Iterations[0].Metrics["energy.total_j"] = 120
	h.Energy.Wakelocks = []run.Wakelock{{Name: "Player", HeldMS: 700_000}, {Name: "SyncService", HeldMS: 600_000, ScreenOffMS: 598_000}}
	b.Energy.Wakelocks = []run.Wakelock{{Name: "Player", HeldMS: 700_000}}
	c := explained(t, h, b)
	if len(c.Explaining()) != 0 {
		t.Errorf("%q explain a change of none", namesOf(c.Explaining()))
	}
	if w := c.Wakelocks[0]; w.Name != "SyncService" || !w.Worse || w.HeadScreenOffMS != 598_000 {
		t.Errorf("the first wakelock is %+v, want SyncService, worse", w)
	}
	if w := c.Wakelocks[1]; w.Worse {
		t.Errorf("a wakelock with the screen on is called worse: %+v", w)
	}
	h.Energy.Wakelocks[1].ScreenOffMS, b.Energy.Wakelocks = 598_000, []run.Wakelock{{Name: "SyncService", HeldMS: 590_000, ScreenOffMS: 590_000}}
	if w := explained(t, h, b).Wakelocks[0]; w.Worse {
		t.Errorf("1.4 %% longer than before is called worse: %+v", w)
	}
}

// A rise of the methods explains no fall of the whole.
func TestMethodsThatWentTheOtherWay(t *testing.T) {
	h := head()
	h.Iterations[0].Metrics["energy.total_j"] = 15
	if got := namesOf(explained(t, h, base()).Explaining()); len(got) != 0 {
		t.Errorf("%q, which rose, explain that the device took 5 J less", got)
	}
}

func TestComponents(t *testing.T) {
	b, h := base(), head()
	b.Energy.Components = []run.Component{{Name: "screen", EnergyJ: 9}, {Name: "cpu", EnergyJ: 4}, {Name: "gps", EnergyJ: 1}}
	h.Energy.Components = []run.Component{{Name: "screen", EnergyJ: 9.1}, {Name: "cpu", EnergyJ: 6.4}}
	var got []string
	for _, c := range explained(t, h, b).Components {
		got = append(got, fmt.Sprintf("%s %+.1f", c.Name, c.ChangeJ()))
	}
	if want := []string{"cpu +2.4", "gps -1.0", "screen +0.1"}; !slices.Equal(got, want) {
		t.Errorf("components %q, want %q", got, want)
	}
}

func TestOnlyLikeRunsStandBeside(t *testing.T) {
	like := func(id string, change func(*run.Run)) run.Run {
		r := base()
		r.ID = id
		change(&r)
		return r
	}
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	candidates := []run.Run{
		like("other source", func(r *run.Run) { r.Energy.Source = "rails" }),
		like("other scenario", func(r *run.Run) { r.Scenario = "close" }),
		like("other app", func(r *run.Run) { r.App.Package = "com.example.chat" }),
		like("other phone", func(r *run.Run) { r.Context["model"] = "Two" }),
		like("failed", func(r *run.Run) { r.Status = run.Failed }),
		like("no energy", func(r *run.Run) { r.Energy = nil }),
		like("no methods", func(r *run.Run) { r.Energy.Methods = nil }),
		like("H", func(*run.Run) {}),
		like("old", func(r *run.Run) { r.Started = at }),
		like("new", func(r *run.Run) { r.Started = at.Add(time.Hour) }),
		like("same network", func(r *run.Run) { r.Context["network"] = "wifi" }),
	}
	h := head()
	h.Context["network"] = "wifi"
	if got, want := explained(t, h, candidates...).Base, []string{"same network", "new", "old"}; !slices.Equal(got, want) {
		t.Errorf("beside the head stand %q, want %q", got, want)
	}
}

func TestModelledJoulesHangOnTheProfileAlone(t *testing.T) {
	b, h := base(), head()
	b.Energy.Source, h.Energy.Source, b.Context["model"] = "model reference-phone", "model reference-phone", "Two"
	if c := explained(t, h, b); !c.HasBase() {
		t.Error("runs of one power profile are not set side by side, since their emulators differ")
	}
	same := base()
	same.ID, same.Energy.Source = "B2", "model reference-phone"
	if c := explained(t, h, b, same); !slices.Equal(c.Base, []string{"B2"}) {
		t.Errorf("beside stand %q, want the run of the same emulator alone", c.Base)
	}
}

func TestDebugBuildsAreTold(t *testing.T) {
	for want, builds := range map[bool][]string{true: {"debug", "debug head", "freeDebug"}, false: {"release", ""}} {
		for _, build := range builds {
			h := head()
			h.App.Build = build
			if c := explained(t, h); c.DebugBuild != want {
				t.Errorf("build %q: debug is %v, want %v", build, c.DebugBuild, want)
			}
		}
	}
	h := head()
	h.Context["debuggable"] = "true"
	if !explained(t, h).DebugBuild {
		t.Error("the device says that the app is debuggable, the change doesn't")
	}
}

func TestWithoutABaseTheHeadStandsAlone(t *testing.T) {
	c := explained(t, head())
	if c.HasBase() || len(c.Explaining()) != 0 || c.Methods.List[0].Name != decode {
		t.Errorf("beside nothing: %d explaining, the first %s; want none, and decode, which takes most", len(c.Explaining()), c.Methods.List[0].Name)
	}
	if _, ok := Explain(run.Run{}, nil); ok {
		t.Error("a run without energy is explained")
	}
}

func TestValidateRejectsInvalidCauses(t *testing.T) {
	for want, spoil := range map[string]func(*Change){
		"base has 6 entries":         func(c *Change) { c.Base = make([]string, 6) },
		"has the amount -1":          func(c *Change) { c.Total.HeadJ = -1 },
		"list has 501 entries":       func(c *Change) { c.Methods.List = make([]Method, 501) },
		"calls[0].parent is 0":       func(c *Change) { c.Methods.Calls = []Call{{Parent: 0}} },
		"a share of 2":               func(c *Change) { c.Methods.List[0].Share = 2 },
		"has the amount NaN":         func(c *Change) { c.Methods.List[0].Local.Head.J = math.NaN() },
		"wakelocks[0] has the":       func(c *Change) { c.Wakelocks = []Wakelock{{HeadHeldMS: -2}} },
		"components has 201 entries": func(c *Change) { c.Components = make([]Component, 201) },
	} {
		c := explained(t, head(), base())
		spoil(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestOneRunBesideAnotherIsDoubted widens intervals that know nothing of what
// differs from run to run: a fifth more may be chance there, four times as much
// is not. From five runs beside on, and where intervals come from iterations, it
// is as clear as the intervals say.
func TestOneRunBesideAnotherIsDoubted(t *testing.T) {
	method := func(name string, j float64) run.Method {
		return run.Method{Name: name, Local: run.Cost{Samples: 10_000, EnergyJ: j, LowJ: 0.98 * j, HighJ: 1.02 * j}}
	}
	of := func(id, basis string, decode, bind float64) run.Run {
		return run.Run{ID: id, Status: run.Complete, Energy: &run.Energy{Source: "rails", Methods: &run.Methods{
			Samples: 20_000, EnergyJ: decode + bind, Level: 0.95, Basis: basis, List: []run.Method{method("decode", decode), method("bind", bind)}}}}
	}
	clear := func(basis string, bases int) string {
		var candidates []run.Run
		for i := range bases {
			candidates = append(candidates, of(string(rune('a'+i)), basis, 1, 1))
		}
		change, ok := Explain(of("head", basis, 4, 1.2), candidates)
		if !ok {
			t.Fatal("no change")
		}
		out := ""
		for _, m := range change.Methods.List {
			if m.Local.Clear {
				out += m.Name + " "
			}
		}
		return out
	}
	for _, c := range []struct {
		basis string
		bases int
		want  string
	}{
		{run.Blocks, 1, "decode "}, {run.Blocks, 4, "decode "}, {run.Blocks, 5, "decode bind "}, {run.Iterations, 1, "decode bind "},
	} {
		if got := clear(c.basis, c.bases); got != c.want {
			t.Errorf("%s, %d runs beside: clear are %q, want %q", c.basis, c.bases, got, c.want)
		}
	}
}

// apart returns a run whose methods' joules were separated from the base power: a third more than
// was read.
func apart(r run.Run, blurred bool) run.Run {
	m := r.Energy.Methods
	m.Power, m.ReadJ, m.EnergyJ = run.PowerSplit, m.EnergyJ, 1.5*m.EnergyJ
	r.Energy.UpdateMS = 1000
	for i := range m.List {
		c := &m.List[i].Local
		c.ReadJ, c.ReadLowJ, c.ReadHighJ = c.EnergyJ, c.LowJ, c.HighJ
		c.EnergyJ, c.LowJ, c.HighJ, c.Blurred = 1.5*c.EnergyJ, 0, 3*c.HighJ, blurred
	}
	m.Calls = []run.Call{{Parent: -1, Name: "main", EnergyJ: m.EnergyJ, ReadJ: m.ReadJ}}
	return r
}

// Compared with other runs joules are as they were read: in both builds a slow sensor is wrong in
// the same way, and an older run has no others. Alone they are the separated ones. The mark is
// explained with the number.
func TestASlowSensorsJoulesAreComparedAsRead(t *testing.T) {
	for name, before := range map[string]run.Run{"told apart too": apart(base(), true), "an older run": base()} {
		c := explained(t, apart(head(), true), before)
		m := c.method(t, decode)
		if !near(m.Local.Head.J, 2.7) || !near(m.Local.Base.J, 0.6) || !m.Local.Clear || !m.Blurred || c.Methods.Power != "" || !near(c.Methods.ApartJ, 19.5) || !near(c.Methods.Energy.HeadJ, 13) || !near(c.Methods.Calls[0].HeadJ, 13) {
			t.Errorf("%s: %+v of %+v", name, m, c.Methods)
		}
		e := told(t, worse("", "energy.total_j"), c)[0]
		note, row := fmt.Sprint(e.Tables[0].Note), fmt.Sprint(e.Tables[0].Rows[0])
		if !strings.Contains(note, "alike in both builds") || !strings.Contains(row, "≈") || !strings.Contains(fmt.Sprint(e.Lines[0]), "≈") || len(e.Causes[0].Doubts) == 0 || !strings.Contains(fmt.Sprint(e.Causes[0].Doubts), "longer than this method runs at a time") {
			t.Errorf("%s: the table says %s of %s, the cause doubts %v", name, note, row, e.Causes[0].Doubts)
		}
	}
	alone := explained(t, apart(head(), true))
	if m := alone.method(t, decode); !near(m.Local.Head.J, 4.05) || alone.Methods.Power != run.PowerSplit || alone.Methods.ApartJ != 0 {
		t.Errorf("alone %+v of %+v", m, alone.Methods)
	}
	if note := fmt.Sprint(told(t, nil, alone)[0].Tables[0].Note); !strings.Contains(note, "separated from that of sleep and neighbours") {
		t.Errorf("alone the table says %s", note)
	}
	slow := head()
	slow.Energy.Methods.List[0].Local.Blurred = true
	if note := fmt.Sprint(told(t, nil, explained(t, slow))[0].Tables[0].Note); !strings.Contains(note, "which no interval includes") {
		t.Errorf("as read the table says %s", note)
	}
	fast := explained(t, apart(head(), false), base())
	if e := told(t, worse("", "energy.total_j"), fast)[0]; strings.Contains(fmt.Sprint(e), "≈") || len(e.Causes[0].Doubts) != len(told(t, worse("", "energy.total_j"), explained(t, head(), base()))[0].Causes[0].Doubts) {
		t.Errorf("a fast sensor's joules bear a mark: %v", e.Tables[0])
	}
}
