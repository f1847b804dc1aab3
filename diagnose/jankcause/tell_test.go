package jankcause

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

func TestClauses(t *testing.T) {
	of := func(kind, subject string) suspect {
		return suspect{blame: blame{kind, subject}, place: place{stage: run.StageDraw, thread: "main"}, foremost: 1, more: contrast.Estimate{Mean: 4}}
	}
	cores := func(kind string, c coreShift) suspect {
		s := of(kind, "")
		s.cores = &c
		return s
	}
	several := of(WorkKind, "inflate")
	several.foremost = 0.6
	now := teller{comparison: comparison{base: []event{{}}}}
	for want, s := range map[string]suspect{
		"main thread waits 4 ms more per frame for feed I::m (binder) while views are drawn":                                     of(BinderKind, "feed I::m"),
		"main thread waits 4 ms more per frame for another process (binder) while views are drawn":                               of(BinderKind, ""),
		"main thread waits 4 ms more per frame for storage in ext4 while views are drawn":                                        of(IOKind, "ext4"),
		"main thread waits 4 ms more per frame for a lock held by db while views are drawn":                                      of(LockKind, "db"),
		"main thread waits 4 ms more per frame for a lock while views are drawn":                                                 of(LockKind, ""),
		"main thread waits 4 ms more per frame for a processor, mostly behind x while views are drawn":                           of(CPUKind, "x"),
		"main thread is blocked in the kernel 4 ms more per frame in mmap while views are drawn":                                 of(BlockedKind, "mmap"),
		"main thread sleeps 4 ms more per frame waiting for pool while views are drawn":                                          of(SleepKind, "pool"),
		"main thread sleeps 4 ms more per frame while views are drawn":                                                           of(SleepKind, "main"), // it woke itself up
		"main thread works 4 ms more per frame in inflate while views are drawn":                                                 of(WorkKind, "inflate"),
		"main thread works 4 ms more per frame, mostly in inflate while views are drawn":                                         several,
		"the app works 4 ms more per frame in no section that the trace names":                                                   {blame: blame{WorkKind, ""}, more: contrast.Estimate{Mean: 4}},
		"frames run at 0.5 ratio of the processors' highest frequency (before: 0.9 ratio); work takes 4 ms more per frame":       cores(FrequencyKind, coreShift{clock: 0.5, clockBefore: 0.9}),
		"frames run on little cores 1 ratio of the time (before: 0.2 ratio); work takes 4 ms more per frame":                     cores(LittleKind, coreShift{little: 1, littleBefore: 0.2, bigBusy: -1}),
		"frames run on little cores 1 ratio of the time while big ones are busy 0.1 ratio of it; work takes 4 ms more per frame": cores(LittleKind, coreShift{little: 1, littleBefore: -1, bigBusy: 0.1}),
	} {
		if got := plain(now.clause(s)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	chain := of(LockKind, "db at void com.example.Store.write(int, java.lang.String)(Store.java:#)")
	chain.ends = diagnose.Say(", which itself waits for storage")
	if got, want := plain(now.clause(chain)), "while views are drawn, main thread waits 4 ms more per frame for a lock held by db at com.example.Store.write, which itself waits for storage"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := plain((teller{}).clause(of(GPUKind, "GPU"))), "the GPU takes 4 ms more in a late frame to draw"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	hidden := redundant{overdraw: 3, overdrawBefore: -1, hidden: []run.HiddenView{{Class: "A", CoveredBy: "B"}}, more: 2}
	if got := plain(overdrawn(hidden)); got != "a pixel is drawn 3  times; A is drawn and covered by B, as 2  more views are" {
		t.Errorf("%q", got)
	}
	if hidden.more = 0; strings.Contains(plain(overdrawn(hidden)), "more") {
		t.Errorf("%q", plain(overdrawn(hidden)))
	}
}

// An interval that is a single number is left out.
func TestIntervalOfShare(t *testing.T) {
	at := suspect{blame: blame{BinderKind, "feed"}, place: place{thread: "main"}, share: 1, high: 1}
	for low, told := range map[float64]bool{1: false, 0.9996: false, 0.94: true} {
		at.low = low
		if got := (teller{}).sentence(at); slices.ContainsFunc(got, func(p diagnose.Part) bool { return p.Range != nil }) != told {
			t.Errorf("from %g on: %s", low, plain(got))
		}
	}
}

// Doubts are shown where they apply, and nowhere else.
func TestDoubts(t *testing.T) {
	few := func(late, normal float64) comparison {
		c := comparison{head: event{late: newTally(), normal: newTally()}}
		c.head.late.frames, c.head.normal.frames = late, normal
		return c
	}
	with := few(50, 50)
	with.base = []event{few(1, 50).head}
	for name, c := range map[string]struct {
		t    teller
		kind string
		want []string
	}{
		"nothing":              {teller{head: run.Run{ID: "a"}, comparison: with}, BinderKind, nil},
		"no run before":        {teller{head: run.Run{ID: "a"}, comparison: few(50, 50)}, BinderKind, []string{"No earlier run"}},
		"a trace alone":        {teller{comparison: few(50, 50)}, BinderKind, nil},
		"few late frames":      {teller{comparison: few(9, 50)}, BinderKind, []string{"Based on 9"}},
		"no normal frames":     {teller{comparison: few(50, 0)}, BinderKind, []string{"No frame was shown in time"}},
		"views that may shine": {teller{comparison: few(50, 50)}, OverdrawKind, []string{"Which views are opaque"}},
		"a sleep":              {teller{comparison: few(50, 50)}, SleepKind, []string{"does not say what woke"}},
	} {
		got := c.t.doubts(suspect{blame: blame{kind: c.kind}})
		if len(got) != len(c.want) {
			t.Errorf("%s: %d doubts", name, len(got))
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(plain(got[i]), want) {
				t.Errorf("%s: %q", name, plain(got[i]))
			}
		}
	}
}

// The frame that shows the cause best comes first, and a frame with its trace before similar ones.
func TestPictured(t *testing.T) {
	late := func(event string, ms float64, evidence string, step run.PathStep) run.LateFrame {
		step.ToMS = ms
		f := run.LateFrame{Event: event, DurationMS: ms, Evidence: evidence, Path: []run.PathStep{step}}
		if ms == 0 {
			f.Path = nil
		}
		return f
	}
	binder, runs := run.PathStep{Kind: run.WaitBinder}, run.PathStep{Kind: run.WaitRunning, Stage: run.StageDraw}
	peer := run.PathStep{Kind: run.WaitLock, Process: "system_server"}
	list := []run.LateFrame{late("tap", 90, "", binder), late("scroll", 40, "", binder), late("scroll", 30, "kept", binder), late("scroll", 15, "kept", binder), late("scroll", 99, "", runs), late("scroll", 0, "", binder), late("scroll", 20, "", peer)}
	order := func(event string, s suspect) string {
		c := teller{head: run.Run{Frames: &run.Frames{Worst: list}}, comparison: comparison{event: event}}
		var out []string
		for _, f := range c.pictured(s) {
			out = append(out, fmt.Sprint(f.DurationMS))
		}
		return strings.Join(out, " ")
	}
	for name, c := range map[string]struct{ got, want string }{
		"binder":       {order("scroll", suspect{blame: blame{kind: BinderKind}}), "30 40 15 20 99"},
		"of all":       {order("", suspect{blame: blame{kind: BinderKind}}), "90 30 40 15 20 99"},
		"drawing":      {order("scroll", suspect{blame: blame{kind: DrawKind}}), "99 40 30 15 20"},
		"little cores": {order("scroll", suspect{blame: blame{kind: LittleKind}, cores: &coreShift{}}), "99 40 30 15 20"},
		"overdraw":     {order("scroll", suspect{blame: blame{kind: OverdrawKind}, views: &redundant{}}), "99 40 30 15 20"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
	// Of two calls the frame with the suspect's own comes first, though another one took longer.
	list[1].Path[0].What, list[2].Path[0].What, list[3].Path[0].What = "sync ISync::wait", "sync ISync::wait", "feed IFeed::query"
	if got := order("scroll", suspect{blame: blame{BinderKind, "feed IFeed::query"}}); !strings.HasPrefix(got, "15 ") {
		t.Errorf("the frames with the call are %s, want that of 15 ms first", got)
	}
	list[1].Path[0].What, list[2].Path[0].What, list[3].Path[0].What = "", "", ""
	one := teller{head: run.Run{Frames: &run.Frames{Worst: list}}, comparison: comparison{event: "scroll"}}
	if links := one.links(suspect{blame: blame{kind: BinderKind}}); len(links) != 2 || links[0].Digest != "kept" || links[0].ToMS != 30 {
		t.Errorf("links %+v", links)
	}
}

func TestMomentsOfSpread(t *testing.T) {
	for name, c := range map[string]struct {
		spread run.Spread
		frames int
		want   moments
	}{
		"one time":            {run.Spread{Count: 1, MeanMS: 4, QuantilesMS: []float64{4}}, 9, moments{4, 16}},
		"even from 0 to 6":    {run.Spread{Count: 10, MeanMS: 3, QuantilesMS: []float64{0, 2, 4, 6}}, 10, moments{30, 120}}, // variance 36/12
		"more than frames":    {run.Spread{Count: 10, MeanMS: 3}, 2, moments{6, 18}},
		"nothing but a count": {run.Spread{Count: 3}, 3, moments{}},
	} {
		got := momentsOf(c.spread, c.frames)
		if math.Abs(got.sum-c.want.sum) > 1e-9 || math.Abs(got.squares-c.want.squares) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// What does not fit into a record's lists still counts for its kind.
func TestUnlistedTimeCountsForItsKind(t *testing.T) {
	g := run.FrameGroup{Class: run.SlowFrames, Frames: 4,
		Path: []run.FramePart{{Name: run.WaitBinder, What: "a I::m", Thread: "main", Spread: run.Spread{Count: 4, MeanMS: 5}}},
		Waits: []run.FramePart{
			{Name: run.WaitBinder, Spread: run.Spread{Count: 4, MeanMS: 8}}, {Name: run.WaitIO, Spread: run.Spread{Count: 2, MeanMS: 6}}, {Name: run.WaitIdle, Spread: run.Spread{Count: 4, MeanMS: 1}},
		}}
	tally := newTally()
	tally.add(g)
	want := map[blame]float64{{BinderKind, "a I::m"}: 5, {BinderKind, ""}: 3, {IOKind, ""}: 3}
	if len(tally.parts) != len(want) {
		t.Errorf("%+v", tally.parts)
	}
	for b, ms := range want {
		if got := tally.mean(b); math.Abs(got-ms) > 1e-9 {
			t.Errorf("%v: %g ms, want %g", b, got, ms)
		}
	}
	g.Path = nil // of whole threads, and of no critical path
	tally = newTally()
	if tally.add(g); len(tally.parts) != 0 {
		t.Errorf("without paths: %+v", tally.parts)
	}
}

func TestRedundantIn(t *testing.T) {
	f := &run.Frames{Views: []run.Views{{Event: "tap", Overdraw: 2}, {Event: "scroll", Overdraw: 1.5}, {Event: "scroll", Overdraw: 1.8}, {Event: "scroll", Overdraw: 1.2}, {Event: "back", Overdraw: 3}}}
	for event, want := range map[string]float64{"tap": 2, "scroll": 1.8, "fling": 3, "": 3} {
		if got := redundantIn(f, event).overdraw; got != want {
			t.Errorf("%q: %g, want %g", event, got, want)
		}
	}
	if got := redundantIn(&run.Frames{}, "tap"); got != nil {
		t.Errorf("of no screen %+v", got)
	}
	if !(redundant{area: 1, overdrawBefore: -1}).much() || (redundant{area: 0.9, overdraw: 2.9, overdrawBefore: -1}).much() {
		t.Error("much is a window's area, or three times of it, where nothing is known of before")
	}
}

func TestTableOfSpending(t *testing.T) {
	c := comparison{head: event{frames: 20, late: newTally(), normal: newTally()}}
	c.head.late.frames, c.head.normal.frames = 10, 10
	for i := range 20 {
		c.head.late.parts[blame{BinderKind, fmt.Sprint("call ", i)}] = moments{sum: float64(10 * i)}
	}
	c.head.late.parts[blame{GPUKind, "GPU"}] = moments{sum: 500}
	alone := teller{comparison: c}.spending()
	if len(alone.Rows) != maxRows || alone.Total != 21 || !strings.Contains(alone.Title, "normal ones") || plain(alone.Rows[0].Cells[0]) != "GPU" || plain(alone.Rows[1].Cells[0]) != "binder call 19" {
		t.Errorf("%d rows of %d, %q: %q, %q", len(alone.Rows), alone.Total, alone.Title, plain(alone.Rows[0].Cells[0]), plain(alone.Rows[1].Cells[0]))
	}
	if got := plain(alone.Rows[1].Cells[3]); got != "19 ms" {
		t.Errorf("difference %q", got)
	}
	c.base = []event{{late: newTally(), normal: newTally()}}
	if beside := (teller{comparison: c}).spending(); !strings.Contains(beside.Title, "before and now") {
		t.Errorf("%q", beside.Title)
	}
	if got := plain(row(blame{BinderKind, ""})); got != "binder" {
		t.Errorf("%q", got)
	}
	hidden := redundant{hidden: []run.HiddenView{{Class: "A"}}}
	if got := hidden.table(); len(got.Rows) != 1 || got.Total != 0 {
		t.Errorf("%+v", got)
	}
	if hidden.more = 3; hidden.table().Total != 4 {
		t.Errorf("%+v", hidden.table())
	}
	if tables := (teller{comparison: c}).tables(suspect{views: &hidden}); len(tables) != 2 || tables[1].Title == "" {
		t.Errorf("%d tables", len(tables))
	}
}
