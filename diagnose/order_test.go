package diagnose

import (
	"fmt"
	"slices"
	"testing"
)

// The kinds of these tests have a family each.
var _ = Register(
	Kind{Family: Family{Name: "sun", Title: "What the sun does"}, Name: "sun.heat", Rank: 1},
	Kind{Family: Family{Name: "sea", Title: "What the sea does"}, Name: "sea.tide", Rank: 2},
)

func cause(kind, run string, share *float64) Cause {
	return Cause{Kind: kind, Run: run, Subject: Subject{Name: kind + " in " + run}, Sentence: Say(kind), Explains: Extent{Share: share}}
}

func TestOrder(t *testing.T) {
	amount := func(kind string, v float64, sure Sure) Cause {
		c := cause(kind, "", nil)
		c.Explains.Value, c.Explains.Unit, c.Explains.Sure = &v, "J", sure
		return c
	}
	want := []Cause{
		cause("sea.tide", "most", new(0.7)),
		cause("sun.heat", "less", new(0.2)),
		amount("sea.tide", 1, Seen), // the share of the others is unknown: the surest
		amount("sun.heat", -3, Likely),
		amount("sun.heat", 2, Likely), // then the larger
		amount("sea.tide", 9, Likely), // and before it the kind of a lower rank
		cause("sun.heat", "unknown", nil),
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	Order(got)
	for i := range want {
		if got[i].Subject != want[i].Subject || got[i].Explains != want[i].Explains {
			t.Errorf("place %d has %v of %q, want %v of %q", i, got[i].Explains, got[i].Subject.Name, want[i].Explains, want[i].Subject.Name)
		}
	}
}

// Whatever the initial order, the result is the same: the order is transitive where some causes
// have no amount, or one in another unit.
func TestOrderIsTransitive(t *testing.T) {
	of := func(kind string, unit string, v ...float64) Cause {
		c := cause(kind, "", nil)
		c.Explains.Unit = unit
		if len(v) > 0 {
			c.Explains.Value = &v[0]
		}
		return c
	}
	all := []Cause{
		of("z.last", "J", 5), of("a.first", "J", 3), of("m.middle", "ms", 4), of("m.middle", ""), of("b.early", "ms", 1), of("y.late", "", -7), of("m.middle", "J"),
	}
	for _, a := range all {
		for _, b := range all {
			if Compare(a, b) != -Compare(b, a) {
				t.Errorf("%v and %v each come before the other", a.Subject, b.Subject)
			}
			for _, c := range all {
				if Compare(a, b) < 0 && Compare(b, c) < 0 && Compare(a, c) >= 0 {
					t.Errorf("%s (%s), %s (%s) and %s (%s) go round in a circle", a.Kind, a.Explains.Unit, b.Kind, b.Explains.Unit, c.Kind, c.Explains.Unit)
				}
			}
		}
	}
}

// A family comes before another by the cause that explains most in any run; within it, the run with
// that cause comes first.
func TestSectionsInOrder(t *testing.T) {
	sections := Sections(Explain([]Cause{
		cause("sun.heat", "A", new(0.5)), cause("sea.tide", "A", new(0.1)), cause("sun.heat", "B", new(0.6)), cause("sea.tide", "B", new(0.8)),
	}))
	var got []string
	for _, s := range sections {
		for _, e := range s.Runs {
			got = append(got, s.Title+": "+e.Run)
		}
	}
	want := []string{"What the sea does: B", "What the sea does: A", "What the sun does: B", "What the sun does: A"}
	if !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
	bare := Explanation{Family: Family{Name: "bare"}} // without a known cause
	if s := Sections([]Explanation{bare, {Family: Family{Name: "sun"}, Causes: []Cause{cause("sun.heat", "A", nil)}}}); s[0].Name != "sun" {
		t.Errorf("a family without causes comes first: %+v", s)
	}
}

func TestExplainGathersCauses(t *testing.T) {
	one, two := cause("sun.heat", "A", new(0.2)), cause("sun.heat", "A", new(0.4))
	one.Doubts, two.Doubts = []Phrase{Say("It may rain.")}, []Phrase{Say("It may rain."), Say("Or ", Amount{Value: 3, Unit: "J"}, ".")}
	one.Tables, two.Picture = []Table{{Title: "Rays"}}, &Picture{Kind: FlamePicture}
	e := Explain([]Cause{one, two})[0]
	if e.Lead[0].Text != "sun.heat" || *e.Causes[0].Explains.Share != 0.4 || len(e.Doubts) != 2 || len(e.Tables) != 1 || len(e.Pictures) != 1 {
		t.Errorf("the explanation is %+v, want two causes, two doubts, a table and a picture", e)
	}
}

// The lead is of the finding for which a cause explains the largest amount, not of one that a cause
// explains almost completely.
func TestLargestChangeLeads(t *testing.T) {
	of := func(event string, share, ms float64) Cause {
		c := cause("sun.heat", "A", &share)
		c.Event, c.Sentence = event, Say(event)
		c.Explains.Value, c.Explains.Unit = &ms, "ms"
		return c
	}
	e := Explain([]Cause{of("tap", 0.98, 2), of("scroll", 0.3, 4), of("scroll", 0.6, 8)})[0]
	var got []string
	for _, c := range e.Causes {
		got = append(got, fmt.Sprint(c.Event, " ", *c.Explains.Value))
	}
	if want := []string{"scroll 8", "scroll 4", "tap 2"}; !slices.Equal(got, want) || e.Lead[0].Text != "scroll" {
		t.Errorf("the order is %q, and %q leads; want %q", got, e.Lead[0].Text, want)
	}
}

// A frame that is also the worst of the whole run is drawn once.
func TestExplainDrawsPicturesOnce(t *testing.T) {
	picture := func(tookMS float64) *Picture {
		return &Picture{Kind: ThreadsPicture, Title: "A slow frame", Threads: &Threads{Frames: []DrawnFrame{{Role: Late, TookMS: tookMS}}}}
	}
	scroll, run, other := cause("sun.heat", "A", nil), cause("sun.heat", "A", nil), cause("sun.heat", "A", nil)
	scroll.Picture, run.Picture, other.Picture, other.FurtherPicture = picture(30), picture(30), picture(31), picture(32)
	if e := Explain([]Cause{scroll, run, other})[0]; len(e.Pictures) != 3 || e.Pictures[2].Threads.Frames[0].TookMS != 32 {
		t.Errorf("of four pictures, two of them the same, %d are drawn: %+v", len(e.Pictures), e.Pictures)
	}
}

// Doubts that differ in a number, or in the kind of a name, are two.
func TestExplainKeepsDifferentDoubts(t *testing.T) {
	c := cause("sun.heat", "A", nil)
	c.Doubts = []Phrase{
		Say("It lies at ", Range{Low: 1, High: 2, Unit: "J"}), Say("It lies at ", Range{Low: 1, High: 9, Unit: "J"}),
		Say(Named("a.b")), Say(Coded("a.b")),
		Say("It lies at ", Range{Low: 1, High: 2, Unit: "J"}),
	}
	if e := Explain([]Cause{c})[0]; len(e.Doubts) != 4 {
		t.Errorf("of four doubts and one of them twice %d are told: %v", len(e.Doubts), e.Doubts)
	}
}

// Causes from a newer apkgate are shown by this one too.
func TestUnknownKindsHaveASection(t *testing.T) {
	e := Explain([]Cause{cause("venus.transit", "A", nil), cause("mars.dust", "A", nil)})
	if len(e) != 1 || e[0].Family.Title == "" || len(e[0].Causes) != 2 {
		t.Errorf("causes of unknown kinds make %+v, want one explanation with a title", e)
	}
}
