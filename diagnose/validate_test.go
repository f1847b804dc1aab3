package diagnose

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// whole is a cause that has everything.
func whole() Cause {
	digest := strings.Repeat("0123456789abcdef", 4)
	return Cause{
		Run: "R", Scenario: "open", Device: map[string]string{"model": "One"}, Event: "E2", Metric: "frames.duration_ms", Kind: "sun.heat",
		Direction: gate.ToRegression, Subject: Subject{Name: "com.example.Sun.shine", File: "base.apk"},
		Explains: Extent{Value: new(2.5), Unit: "ms", Low: new(2.0), High: new(3.0), Share: new(0.6), ShareLow: new(0.5), ShareHigh: new(0.7), Level: 0.95, Sure: Clear},
		Title:    Say("heat of ", Coded("com.example.Sun.shine")),
		Sentence: Say("it took ", Amount{Value: 2.5, Unit: "ms", Signed: true}, " (", Range{Low: 2, High: 3, Unit: "ms"}, ")"),
		Basis:    Say("seen in the trace"),
		Tables:   []Table{{Title: "Rays", Columns: []Column{{Title: "Ray"}, {Title: "Heat", Spare: 1}, {Title: "Status"}}, Rows: []Row{{Cells: []Phrase{Say(Named("first")), nil, Say("hot")}, Direction: gate.None}}}},
		Picture: &Picture{Kind: FlamePicture, Title: "Rays", Label: "Rays by heat", Flame: &Flame{Unit: "J", Of: "heat", Calls: []Call{{Parent: -1, Name: "a", Head: 1}, {Parent: 0, Name: "b", Head: 1}}},
			Bars:    &Bars{List: []Bar{{Name: "a", Head: Measured{1, 0.5, 2}, Direction: gate.None}}},
			Threads: &Threads{Frames: []DrawnFrame{{Role: Late, Repetition: 2, TookMS: 30, DeadlineMS: 16, Steps: []Step{{Thread: "main", Process: "p", Stage: "draw", Kind: "binder", What: "I::m", Slice: "s", FromMS: 1, ToMS: 29}}}}},
			Waits:   &Waits{Threads: []Waiting{{Name: "main", Process: "p", State: "Blocked", WaitsFor: "lock", At: "a.B.c(B.java:1)", Next: 1}, {Name: "sync", Next: -1, Critical: true}}}},
		FurtherPicture: &Picture{Kind: DelaysPicture, Title: "Delays", Label: "Delays of rays", Delays: &Delays{Of: "queuing time", OverMS: 500, List: []Delay{
			{Name: "ray", Base: run.Spread{Count: 2, MeanMS: 2, QuantilesMS: []float64{1, 3}}, Head: run.Spread{Count: 1, MeanMS: 2, QuantilesMS: []float64{2}}, Direction: gate.ToRegression},
		}}},
		Evidence: []Link{{Digest: digest, FromMS: 12.5, ToMS: 40}},
		Doubts:   []Phrase{Say("It may rain.")},
	}
}

func TestCausesSurviveJSON(t *testing.T) {
	data, err := json.Marshal(whole())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "null") {
		t.Errorf("a list is null: %s", data)
	}
	var back Cause
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole(), back, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("what was read is not what was written:\n%s", diff)
	}
	if err := back.Validate(); err != nil {
		t.Errorf("a cause that has everything is refused: %v", err)
	}
}

func TestSay(t *testing.T) {
	got := Say("It took ", Say(Amount{Value: 2, Unit: "J"}, " more"), " than ", Named("before"), "", ".")
	want := Phrase{{Text: "It took "}, {Amount: &Amount{Value: 2, Unit: "J"}}, {Text: " more than "}, {Name: "before"}, {Text: "."}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	one, two := Say("a", Named("b")), Say("c", Named("d"))
	if diff := cmp.Diff(Phrase{{Text: "a"}, {Name: "b"}, {Text: "; c"}, {Name: "d"}}, Joined([]Phrase{one, two}, "; ")); diff != "" {
		t.Error(diff)
	}
	if len(one) != 2 || one[0].Text != "a" {
		t.Errorf("a phrase that was joined is now %v", one)
	}
}

func TestValidateRejectsInvalidCauses(t *testing.T) {
	long := strings.Repeat("x", run.MaxText+1)
	for want, change := range map[string]func(*Cause){
		"kind is":                            func(c *Cause) { c.Kind = "Sun" },
		"direction is":                       func(c *Cause) { c.Direction = gate.Suspect },
		"metric has 4097":                    func(c *Cause) { c.Metric = long },
		"subject.name has 4097":              func(c *Cause) { c.Subject.Name = long },
		"device has 4097":                    func(c *Cause) { c.Device = map[string]string{"model": long} },
		"value, low or high":                 func(c *Cause) { c.Explains.High = new(math.NaN()) },
		"share_high or level is":             func(c *Cause) { c.Explains.Share = new(1.1) },
		"sure is":                            func(c *Cause) { c.Explains.Sure = "certainly" },
		"title: has 61 parts":                func(c *Cause) { c.Title = make(Phrase, MaxParts+1) },
		"sentence: part 0: text":             func(c *Cause) { c.Sentence = Say(long) },
		"basis: part 0: as is":               func(c *Cause) { c.Basis = Phrase{{Name: "n", As: "markup"}} },
		"part 0: value is":                   func(c *Cause) { c.Basis = Say(Amount{Value: 1e300}) },
		"part 0: low is":                     func(c *Cause) { c.Basis = Say(Range{High: math.Inf(1)}) },
		"tables has 11":                      func(c *Cause) { c.Tables = make([]Table, MaxTables+1) },
		"columns has 1":                      func(c *Cause) { c.Tables[0].Columns = c.Tables[0].Columns[:1] },
		"rows[0] has 2 cells":                func(c *Cause) { c.Tables[0].Rows[0].Cells = c.Tables[0].Rows[0].Cells[:2] },
		"rows has 501":                       func(c *Cause) { c.Tables[0].Rows = make([]Row, MaxRows+1) },
		"total is -1":                        func(c *Cause) { c.Tables[0].Total = -1 },
		"flame.calls[0].parent":              func(c *Cause) { c.Picture.Flame.Calls[0].Parent = 0 },
		"flame.calls[1] has":                 func(c *Cause) { c.Picture.Flame.Calls[1].Head = -1 },
		"bars.list[0] has":                   func(c *Cause) { c.Picture.Bars.List[0].Head.Low = -1 },
		"bars.list has 101":                  func(c *Cause) { c.Picture.Bars.List = make([]Bar, MaxBars+1) },
		"threads.frames has 5":               func(c *Cause) { c.Picture.Threads.Frames = make([]DrawnFrame, MaxDrawnFrames+1) },
		"frames[0].role is":                  func(c *Cause) { c.Picture.Threads.Frames[0].Role = "moon" },
		"repetition is -1":                   func(c *Cause) { c.Picture.Threads.Frames[0].Repetition = -1 },
		"took_ms is NaN":                     func(c *Cause) { c.Picture.Threads.Frames[0].TookMS = math.NaN() },
		"steps has 201":                      func(c *Cause) { c.Picture.Threads.Frames[0].Steps = make([]Step, MaxSteps+1) },
		"steps[0] is from 1":                 func(c *Cause) { c.Picture.Threads.Frames[0].Steps[0].ToMS = 0 },
		"steps[0]: what has":                 func(c *Cause) { c.Picture.Threads.Frames[0].Steps[0].What = long },
		"waits.threads has 17":               func(c *Cause) { c.Picture.Waits.Threads = make([]Waiting, run.MaxANRThreads+1) },
		"threads[1].next is 2":               func(c *Cause) { c.Picture.Waits.Threads[1].Next = 2 },
		"threads[1].next is -2":              func(c *Cause) { c.Picture.Waits.Threads[1].Next = -2 },
		"threads[0]: waits_for":              func(c *Cause) { c.Picture.Waits.Threads[0].WaitsFor = long },
		"further_picture: delays.list has 5": func(c *Cause) { c.FurtherPicture.Delays.List = make([]Delay, MaxDelays+1) },
		"delays.over_ms is -1":               func(c *Cause) { c.FurtherPicture.Delays.OverMS = -1 },
		"delays.of has":                      func(c *Cause) { c.FurtherPicture.Delays.Of = long },
		"delays.list has 4097":               func(c *Cause) { c.FurtherPicture.Delays.List[0].Name = long },
		"list[0]: count is -1":               func(c *Cause) { c.FurtherPicture.Delays.List[0].Base.Count = -1 },
		"list[0]: count is 1, mean_ms -1":    func(c *Cause) { c.FurtherPicture.Delays.List[0].Head.MeanMS = -1 },
		"quantiles_ms has 22":                func(c *Cause) { c.FurtherPicture.Delays.List[0].Base.QuantilesMS = make([]float64, 22) },
		"list[0]: quantiles_ms[1] is 3":      func(c *Cause) { c.FurtherPicture.Delays.List[0].Base.QuantilesMS[0] = 4 },
		"quantiles_ms[0] is NaN":             func(c *Cause) { c.FurtherPicture.Delays.List[0].Head.QuantilesMS[0] = math.NaN() },
		"evidence[0]: digest":                func(c *Cause) { c.Evidence[0].Digest = "../../etc/passwd" },
		"evidence[0]: from_ms":               func(c *Cause) { c.Evidence[0].ToMS = 1 },
		"doubts has 21":                      func(c *Cause) { c.Doubts = make([]Phrase, MaxDoubts+1) },
		"doubts[0]: part 0: text":            func(c *Cause) { c.Doubts[0] = Say(long) },
		"see is":                             func(c *Cause) { c.See = "javascript:alert(1)" },
	} {
		c := whole()
		change(&c)
		if err := Validate([]Cause{whole(), c}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "causes[1].") {
			t.Errorf("%v, want an error of causes[1] with %q", err, want)
		}
	}
	if err := Validate(make([]Cause, MaxCauses+1)); err == nil || !strings.Contains(err.Error(), fmt.Sprint(MaxCauses)) {
		t.Errorf("%d causes: %v", MaxCauses+1, err)
	}
}
