package causes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

var _ = diagnose.Register(
	diagnose.Kind{Family: diagnose.Family{Name: "tide", Title: "Where the water goes", Label: "Water", Line: "Water cause", Has: "water"}, Name: "tide.high", Alert: true},
	diagnose.Kind{Family: diagnose.Family{Name: "tide", Title: "Where the water goes", Label: "Water", Line: "Water cause", Has: "water"}, Name: "tide.low", Rank: 1},
	diagnose.Kind{Family: diagnose.Family{Name: "moon", Title: "What the moon pulls", Label: "Moon", Line: "Moon cause", Has: "moons"}, Name: "moon.pull", Rank: 2},
)

func high(run, method string, share float64) diagnose.Cause {
	return diagnose.Cause{
		Run: run, Scenario: "open", Event: "E2", Metric: "frames.count", Kind: "tide.high", Direction: gate.ToRegression,
		Subject: diagnose.Subject{Name: method}, Explains: diagnose.Extent{Share: &share},
		Title:    diagnose.Say("water in ", diagnose.Part{Name: method, As: diagnose.Short}),
		Sentence: diagnose.Say(diagnose.Coded(method), " rose by ", diagnose.Amount{Value: share, Unit: "ratio"}),
	}
}

func storyOf(all ...diagnose.Cause) Story {
	return Story{
		Sections: diagnose.Sections(diagnose.Explain(all)),
		Title:    func(e diagnose.Explanation) string { return "phone of " + e.Run },
		Where:    func(c diagnose.Cause) string { return c.Event + ": " + c.Metric },
	}
}

// plain returns text without the non-breaking spaces between a number and its unit.
func plain(s string) string { return strings.ReplaceAll(s, wording.NBSP, " ") }

func TestPhrasesBecomeText(t *testing.T) {
	long := strings.Repeat("com.example.", 5) + "Tide.rise"
	for _, c := range []struct {
		phrase diagnose.Phrase
		want   string
	}{
		{diagnose.Say("took ", diagnose.Amount{Value: 2.1, Unit: "J", Signed: true}, ", ", diagnose.Range{Low: 1.7, High: 2.5, Unit: "J", Signed: true}), "took +2.1 J, +1.7…+2.5 J"},
		{diagnose.Say("in ", diagnose.Part{Name: "com.example.Tide.rise", As: diagnose.Short}), "in Tide.rise"},
		{diagnose.Say(diagnose.Part{Name: long, As: diagnose.Code, Most: 12}), "…e.Tide.rise"},
		{diagnose.Say(diagnose.Part{Name: "abcdef", Most: 4}, "!"), "abc…!"},
		{diagnose.Say("a\x1b[31m\nb ", diagnose.Named("c\u202ed\r\n")), "a\uFFFD[31m b c\uFFFDd"},
		{nil, ""},
	} {
		if got := plain(text(c.phrase)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if n := len([]rune(text(diagnose.Say(strings.Repeat("moon ", 10_000))))); n > mostText {
		t.Errorf("a phrase of %d characters is shown", n)
	}
}

func TestCausesAreToldAtTheirFinding(t *testing.T) {
	doubted := high("A", "com.example.Ebb.fall", 0.2)
	doubted.Basis, doubted.Doubts = diagnose.Say("by the gauge"), []diagnose.Phrase{diagnose.Say("The gauge may be wet.")}
	doubted.Evidence = []diagnose.Link{{Digest: strings.Repeat("0123456789abcdef", 4), FromMS: 100, ToMS: 250}}
	doubted.Tables = []diagnose.Table{{Title: "Gauges", Columns: []diagnose.Column{{Title: "Gauge"}, {Title: "Level"}, {Title: "Status"}}, Rows: []diagnose.Row{{Cells: []diagnose.Phrase{diagnose.Say("north"), nil, diagnose.Say("wet")}, Direction: gate.ToRegression}}}}
	s := storyOf(doubted, high("A", "com.example.Tide.rise", 0.7))
	if got, want := s.Facts(), []document.Fact{{Label: "Water cause", Text: "E2: frames.count: com.example.Tide.rise rose by 70" + wording.NBSP + "%", Answers: document.Why}}; !slices.Equal(got, want) {
		t.Errorf("the facts are %+v, want %+v", got, want)
	}
	sections := s.Groups()
	g := sections[0].Body.(*document.Groups)
	if len(sections) != 1 || sections[0].Title.Terminal != "Where the water goes" || len(g.Groups) != 1 || !g.Open {
		t.Fatalf("the sections are %+v, want an open one with one group", sections)
	}
	lines := []string{
		"E2: frames.count: com.example.Tide.rise rose by 70 %.",
		"E2: frames.count: com.example.Ebb.fall rose by 20 %; by the gauge; evidence 0123456789ab from 100 ms to 250 ms. The gauge may be wet.",
	}
	if g.Groups[0].Fact != "2 causes" {
		t.Errorf("in a line the group is %q, want 2 causes", g.Groups[0].Fact)
	}
	for i, line := range g.Groups[0].Lines {
		if plain(line) != lines[i] {
			t.Errorf("line %d is %q, want %q", i, plain(line), lines[i])
		}
	}
	if d := g.Groups[0].Doubts; len(d) != 0 {
		t.Errorf("%q is a doubt about all causes", d)
	}
	table := g.Groups[0].Tables[0].Body.(*document.Table)
	if r := table.Rows[0]; !slices.Equal(r.Cells, []string{"north", "–", "wet"}) || r.Tone != document.Worse {
		t.Errorf("the row is %+v", r)
	}
	if got := s.Of("open", "E2", "frames.count", nil); len(got) != 2 || !strings.Contains(got[0], "Tide.rise") {
		t.Errorf("of the finding %q is told, want both causes, Tide.rise first", got)
	}
	if got := append(s.Of("open", "E3", "frames.count", nil), s.Of("open", "E2", "frames.count", func(run string) bool { return run != "A" })...); got != nil {
		t.Errorf("of another finding, and of another run, %q is told", got)
	}
}

// What two families explain is told by the cause that explains most, whichever section it is in;
// what only one explains is told as well, and what explains two events once.
func TestTheMainCauseOfAllFamiliesIsToldOnce(t *testing.T) {
	moon := func(event string, share float64) diagnose.Cause {
		c := high("A", "com.example.Moon.pull", share)
		c.Kind, c.Event = "moon.pull", event
		return c
	}
	at := func(c diagnose.Cause, event string) diagnose.Cause {
		c.Event = event
		return c
	}
	tide := high("A", "com.example.Tide.rise", 0.5)
	sun := high("A", "com.example.Sun.rise", 0.7)
	joules, eclipse := moon("E2", 0.9), moon("E3", 0.3)
	eclipse.Subject.Name, eclipse.Sentence = "com.example.Sun.hide", diagnose.Say(diagnose.Coded("com.example.Sun.hide"), " rose by ", diagnose.Amount{Value: 0.3, Unit: "ratio"})
	joules.Metric = "energy.total_j"
	unknown := at(high("A", "no cause found", 0), "E3")
	unknown.Explains.Share = nil
	for name, c := range map[string]struct {
		of   []diagnose.Cause
		want []string
	}{
		"the other explains more":                               {[]diagnose.Cause{tide, moon("E2", 0.7)}, []string{"E2: frames.count: com.example.Moon.pull rose by 70 %"}},
		"the other explains less":                               {[]diagnose.Cause{moon("E2", 0.3), tide}, []string{"E2: frames.count: com.example.Tide.rise rose by 50 %"}},
		"both explain as much":                                  {[]diagnose.Cause{moon("E2", 0.5), tide}, []string{"E2: frames.count: com.example.Tide.rise rose by 50 %"}}, // lower rank
		"the whole run, of its events":                          {[]diagnose.Cause{moon("", 0.3), tide}, []string{"E2: frames.count: com.example.Tide.rise rose by 50 %"}},
		"one that is outdone outdoes none":                      {[]diagnose.Cause{moon("", 0.6), tide, at(sun, "E3")}, []string{"E3: frames.count: com.example.Sun.rise rose by 70 %", "E2: frames.count: com.example.Tide.rise rose by 50 %"}},
		"none is found of another event":                        {[]diagnose.Cause{tide, unknown}, []string{"E2: frames.count: com.example.Tide.rise rose by 50 %"}},
		"another event":                                         {[]diagnose.Cause{moon("E3", 0.7), tide}, []string{"E3: frames.count: com.example.Moon.pull rose by 70 %", "E2: frames.count: com.example.Tide.rise rose by 50 %"}},
		"another metric":                                        {[]diagnose.Cause{joules, tide}, []string{"E2: energy.total_j: com.example.Moon.pull rose by 90 %", "E2: frames.count: com.example.Tide.rise rose by 50 %"}},
		"more of one event, less of another; one of two events": {[]diagnose.Cause{moon("E2", 0.4), eclipse, tide, at(tide, "E4")}, []string{"E2: frames.count: com.example.Tide.rise rose by 50 %", "E3: frames.count: com.example.Sun.hide rose by 30 %"}},
	} {
		var got []string
		s := storyOf(c.of...)
		for _, f := range s.Facts() {
			got = append(got, plain(f.Text))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	s := storyOf(tide, moon("E2", 0.7))
	if groups := s.Groups(); len(groups) != 2 || groups[0].ID != "moon" || groups[1].ID != "tide" {
		t.Errorf("the sections are %+v, want both, of the moon first", groups)
	}
}

// What explains several findings is described once, with all that it explains; the command that
// opens its evidence replaces the evidence.
func TestACauseOfSeveralFindingsIsToldOnce(t *testing.T) {
	one := high("A", "com.example.Tide.rise", 0.7)
	one.Evidence = []diagnose.Link{{Digest: strings.Repeat("0123456789abcdef", 4), FromMS: 100, ToMS: 250}}
	second, third, other := one, one, high("A", "com.example.Ebb.fall", 0.2)
	second.Event, third.Event = "E3", "E4"
	second.Explains.Share, third.Explains.Share = new(0.6), new(0.5)
	s := storyOf(one, second, third, other)
	s.Open = func(l diagnose.Link) string { return fmt.Sprintf("open --from-ms %.0f", l.FromMS) }
	got := s.Groups()[0].Body.(*document.Groups).Groups[0].Lines
	want := []string{
		"E2: frames.count: com.example.Tide.rise rose by 70 %. The same explains E3: frames.count and E4: frames.count. To look at it: open --from-ms 100",
		"E2: frames.count: com.example.Ebb.fall rose by 20 %.",
	}
	for i := range got {
		got[i] = plain(got[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the lines are %q, want %q", got, want)
	}
}

// A doubt about one cause is in its line, and a doubt about all of them once after the list.
func TestDoubtsStandWithWhatTheyAreAbout(t *testing.T) {
	one, other := high("A", "com.example.Tide.rise", 0.7), high("A", "com.example.Ebb.fall", 0.2)
	wet, old := diagnose.Say("The gauge may be wet."), diagnose.Say("The map is old.")
	one.Doubts, other.Doubts = []diagnose.Phrase{old}, []diagnose.Phrase{wet, old}
	for name, c := range map[string]struct {
		causes        []diagnose.Cause
		lines, doubts []string
	}{
		"two causes": {[]diagnose.Cause{one, other}, []string{"rose by 70 %.", "rose by 20 %. The gauge may be wet."}, []string{"The map is old."}},
		"one cause":  {[]diagnose.Cause{other}, []string{"rose by 20 %. The gauge may be wet. The map is old."}, nil},
	} {
		g := storyOf(c.causes...).Groups()[0].Body.(*document.Groups).Groups[0]
		for i, want := range c.lines {
			if !strings.HasSuffix(plain(g.Lines[i]), want) {
				t.Errorf("%s: %q does not end in %q", name, plain(g.Lines[i]), want)
			}
		}
		if !slices.Equal(g.Doubts, c.doubts) {
			t.Errorf("%s: of all causes %q", name, g.Doubts)
		}
	}
}

func TestManyCausesAreCounted(t *testing.T) {
	var all []diagnose.Cause
	for i := range 40 {
		all = append(all, high("A", fmt.Sprintf("m%d", i), float64(i)/100))
	}
	g := storyOf(all...).Groups()[0].Body.(*document.Groups).Groups[0]
	if n := len(g.Lines); n != mostLines+1 || g.Lines[mostLines] != "And 28 more causes; the JSON report has everything." {
		t.Errorf("%d lines, the last %q; want %d and a count of 28", n, g.Lines[n-1], mostLines)
	}
}

// Any number of doubts, tables and figures is limited and counted too.
func TestWhatIsLeftOutIsCounted(t *testing.T) {
	var all []diagnose.Cause
	for i := range 20 {
		c := high("A", fmt.Sprintf("m%d", i), float64(i)/100)
		for k := range 20 {
			c.Doubts = append(c.Doubts, diagnose.Say(fmt.Sprintf("Doubt %d.", k)))
		}
		c.Tables = []diagnose.Table{{Title: fmt.Sprint("T", i), Columns: make([]diagnose.Column, 2), Rows: []diagnose.Row{{Cells: make([]diagnose.Phrase, 2)}}}}
		c.Picture = &diagnose.Picture{Kind: diagnose.FlamePicture, Flame: &diagnose.Flame{Calls: []diagnose.Call{{Parent: -1, Head: float64(1 + i)}}}}
		all = append(all, c)
	}
	g := storyOf(all...).Groups()[0].Body.(*document.Groups).Groups[0]
	if again := storyOf(all[0], all[0]).Groups()[0].Body.(*document.Groups).Groups[0]; len(again.Tables) != 1 || len(again.Figures) != 1 {
		t.Errorf("the same evidence of two causes: %d tables and %d figures", len(again.Tables), len(again.Figures))
	}
	const want = "And 8 more doubts; the JSON report has everything. And 8 more tables; the JSON report has everything. And 12 more pictures; the JSON report has everything."
	if len(g.Doubts) != 12 || len(g.Tables) != 12 || len(g.Figures) != 8 || g.Small != want {
		t.Errorf("%d doubts, %d tables and %d pictures, and %q", len(g.Doubts), len(g.Tables), len(g.Figures), g.Small)
	}
}

// Each of several runs is named, and a shared cause is one problem.
func TestACauseOfSeveralRunsIsOneProblem(t *testing.T) {
	better := high("A", "com.example.Dam.hold", 0.5)
	better.Direction = gate.ToImprovement
	low := high("A", "com.example.Tide.sink", 0.5)
	low.Kind = "tide.low"
	s := storyOf(high("A", "com.example.Tide.rise", 0.6), high("B", "com.example.Tide.rise", 0.7), better, low)
	g := s.Groups()[0].Body.(*document.Groups)
	if len(g.Groups) != 2 || g.Groups[0].Title != "phone of B" || g.Groups[1].Title != "phone of A" {
		t.Errorf("the groups are %+v, want B's, which is explained best, and A's", g.Groups)
	}
	p := s.Problems()
	if len(p) != 1 || p[0].Scenario != "open" || p[0].Rule != "frames.count" || p[0].Worse || p[0].Title != "open: water in Tide.rise" {
		t.Errorf("the problems are %+v, want one of Tide.rise: what got better and what is no code has none", p)
	}
	if other := storyOf(high("C", "com.example.Tide.rise", 0.1)).Problems(); other[0].Fingerprint != p[0].Fingerprint {
		t.Error("the same cause in another run has another fingerprint")
	}
}

// Delays before and in this build are drawn side by side (DiagDroid, Figures 11 and 12).
func TestDelaysOfACause(t *testing.T) {
	spread := func(ms ...float64) run.Spread { return run.Spread{Count: len(ms), QuantilesMS: ms} }
	picture := diagnose.PictureOfDelays("How long tides wait", "queuing time", 500, diagnose.Delay{Name: "a storm"},
		diagnose.Delay{Name: "a tide", Base: spread(700, 900, 1650), Head: spread(0, 1, 2), Direction: gate.ToImprovement})
	drawn := figures(drawable([]diagnose.Picture{*picture}), "x")
	if len(drawn) != 1 || drawn[0].ID != "xd" || drawn[0].Caption != "How long tides wait" || !strings.Contains(drawn[0].Detail, "dashed line is at") {
		t.Fatalf("%+v", drawn)
	}
	svg := plain(drawn[0].Picture.Draw("x", "wide", 900))
	if !strings.Contains(svg, "a tide: before 3 tasks, half in 900 ms, all in 1650 ms; now 3 tasks, half in 1 ms, all in 2 ms.") || !strings.Contains(svg, `class="energy better"`) || strings.Contains(svg, "storm") {
		t.Error(svg)
	}
	if diagnose.PictureOfDelays("", "", 0, diagnose.Delay{}) != nil || len(drawable([]diagnose.Picture{{Kind: diagnose.DelaysPicture, Delays: &diagnose.Delays{}}, {Kind: diagnose.DelaysPicture}})) != 0 {
		t.Error("nothing is drawn")
	}
}

// Two figures of a kind have names of their own, and one of an unknown kind is left out.
func TestPicturesOfCauses(t *testing.T) {
	flame := diagnose.Picture{Kind: diagnose.FlamePicture, Title: "Drops", Label: "Drops by depth", Flame: &diagnose.Flame{Unit: "m", Of: "depth", Calls: []diagnose.Call{{Parent: -1, Name: "sea", Head: 3}}}}
	figures := figures(drawable([]diagnose.Picture{flame, {Kind: "hologram", Title: "Sea"}, flame, {Kind: diagnose.BarsPicture, Bars: &diagnose.Bars{}}}), "x")
	if len(figures) != 2 || figures[0].ID == figures[1].ID {
		t.Fatalf("the figures are %+v, want two with names of their own", figures)
	}
	if svg := plain(figures[0].Picture.Draw("x", "wide", 900)); !strings.Contains(svg, "sea: 3 m") || !strings.Contains(svg, "Drops by depth") || !strings.Contains(figures[0].Detail, "its width is its depth") {
		t.Errorf("the picture does not say what it is of: %q, %s", figures[0].Detail, svg)
	}
}

// The answer's first finding is explained first, also where a cause of another run, or of another
// event, explains a greater share of its own change.
func TestFirstFindingIsExplainedFirst(t *testing.T) {
	elsewhere := high("A", "com.example.Tide.rise", 0.97)
	elsewhere.Scenario, elsewhere.Event = "scroll", "E1"
	before := high("B", "com.example.Moon.pull", 0.9)
	before.Event = "E1"
	s := storyOf(elsewhere, before, high("B", "com.example.Ebb.fall", 0.4))
	s.About("open", "E2")
	facts := s.Facts()
	if len(facts) == 0 || !strings.HasPrefix(plain(facts[0].Text), "E2: frames.count: com.example.Ebb.fall rose by 40 %") {
		t.Errorf("the facts are %+v, want the cause of E2 first", facts)
	}
	s.About("scroll", "")
	if facts = s.Facts(); len(facts) == 0 || !strings.HasPrefix(facts[0].Text, "E1: frames.count: com.example.Tide.rise") {
		t.Errorf("the facts are %+v, want the cause of the whole run of scroll first", facts)
	}
}
