package jankcause

import (
	"math"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// tellerOf returns one for a head with so many late and normal frames in so many repetitions,
// compared with as many frames of before where there is a run before.
func tellerOf(late, normal float64, repetitions int, before bool) teller {
	t := teller{head: run.Run{ID: "head", Frames: &run.Frames{}}}
	t.comparison = comparison{event: "scroll", timeline: true, head: event{frames: late + normal, late: tallyOf(late, map[blame]float64{feed: 20}), normal: tallyOf(normal, map[blame]float64{feed: 5})}}
	var list []repetition
	for i := range repetitions {
		list = append(list, repetition{place: i, frames: (late + normal) / float64(repetitions)})
	}
	t.comparison.head.normal.runs = [][]repetition{list}
	if before {
		t.base = []run.Run{{Frames: &run.Frames{}}}
		t.comparison.base = []event{{frames: late + normal, late: newTally(), normal: tallyOf(late+normal, map[blame]float64{feed: 4})}}
	}
	return t
}

// By the repetition where five late frames of each or fewer have half of what is explained, and
// else by the frame: 100 frames of 4 repetitions are 25 of each.
func TestScale(t *testing.T) {
	rare, mild, hides := suspect{blame: feed, more: contrast.Estimate{Mean: 4}, inLate: 0.5}, suspect{blame: file, more: contrast.Estimate{Mean: 5}, inLate: 0.49}, suspect{blame: sync, more: contrast.Estimate{Mean: 9}, behind: true}
	for name, c := range map[string]struct {
		of       teller
		suspects []suspect
		one      string
		factor   float64
	}{
		"few late frames":        {tellerOf(20, 80, 4, true), []suspect{rare}, "repetition", 25},
		"more late frames":       {tellerOf(21, 79, 4, true), []suspect{rare}, "frame", 1},
		"no late frames":         {tellerOf(0, 100, 4, true), []suspect{rare}, "frame", 1},
		"no repetitions":         {tellerOf(20, 80, 0, true), []suspect{rare}, "frame", 1},
		"a trace alone":          {tellerOf(20, 80, 4, false), []suspect{rare}, "frame", 1},
		"mostly in time":         {tellerOf(20, 80, 4, true), []suspect{rare, mild}, "frame", 1},
		"what is hidden besides": {tellerOf(20, 80, 4, true), []suspect{rare, hides}, "repetition", 25},
		"nothing":                {tellerOf(20, 80, 4, true), nil, "repetition", 25},
	} {
		c.of.suspects = c.suspects
		if got := c.of.scale(); got.one != c.one || got.factor != c.factor {
			t.Errorf("%s: by the %s, %g, want the %s, %g", name, got.one, got.factor, c.one, c.factor)
		}
	}
}

// A sentence says so where less than a tenth of a cause is in late frames, and neither a frame
// shows it nor another cause hides it.
func TestSentencesOfFramesInTime(t *testing.T) {
	is := suspect{blame: feed, place: place{thread: "main"}, more: contrast.Estimate{Mean: 4}, share: 0.5, low: 0.4, high: 0.6, sure: diagnose.Clear}
	for name, c := range map[string]struct {
		of     teller
		change func(*suspect)
		want   bool
	}{
		"in time": {tellerOf(1, 99, 4, true), func(*suspect) {}, true}, "late": {tellerOf(1, 99, 4, true), func(s *suspect) { s.inLate = 0.1 }, false},
		"a trace alone": {tellerOf(1, 99, 4, false), func(*suspect) {}, false}, "hidden": {tellerOf(1, 99, 4, true), func(s *suspect) { s.behind = true }, false},
		"shown": {tellerOf(1, 99, 4, true), func(s *suspect) { s.shown = &freeze{ms: 800, frame: run.LateFrame{DurationMS: 900}} }, false}, "nobody": {tellerOf(1, 99, 4, true), func(s *suspect) { s.kind = "" }, false},
	} {
		s := is
		c.change(&s)
		if got := c.of.inTime(s); got != c.want {
			t.Errorf("%s: in time is %t", name, got)
		}
		if got := plain(c.of.sentence(s)); strings.Contains(got, "still shown in time") != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A frame shows a cause by itself, frozen from 700 ms on, with the number of repetitions.
func TestFramesInWords(t *testing.T) {
	for want, f := range map[string]freeze{
		"600 ms of a frame of 699 ms":                                      {frame: run.LateFrame{DurationMS: 699}, ms: 600, of: 1, repetitions: 1},
		"600 ms of a frozen frame of 700 ms":                               {frame: run.LateFrame{DurationMS: 700}, ms: 600},
		"600 ms of a frozen frame of 800 ms, seen in 2  of 3  repetitions": {frame: run.LateFrame{DurationMS: 800}, ms: 600, of: 3, repetitions: 2},
	} {
		if got := plain(f.sentence()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Late frames among all, or all where none was late, in how many repetitions, and what is left
// where that is a tenth or more.
func TestBasisOfACause(t *testing.T) {
	half := []suspect{{blame: feed, share: 0.5}}
	for _, c := range []struct {
		of       teller
		suspects []suspect
		want     string
	}{
		{tellerOf(20, 80, 4, false), nil, "based on 20 late frames among 100 in 4 repetitions"},
		{tellerOf(0, 100, 1, false), nil, "based on 100 frames"},
		{tellerOf(20, 80, 4, false), half, "based on 20 late frames among 100 in 4 repetitions; 0.5 ratio of the slowdown is unexplained"},
		{tellerOf(20, 80, 4, true), []suspect{{blame: feed, share: 0.95}}, "based on 20 late frames among 100 in 4 repetitions, compared with 1 earlier run"},
	} {
		c.of.suspects = c.suspects
		if got := strings.Join(strings.Fields(plain(c.of.basis())), " "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A likely cause is doubted for its few repetitions, or since its time extends into other frames; a
// possible one may be chance. Neither applies to clear causes, overdraw, hidden causes, or a sleep
// with an unknown waker, which is doubted for that.
func TestDoubtsWithRunsBefore(t *testing.T) {
	few, on, chance, sleeps := "too few repetitions", "Without a frame timeline", "Chance may explain", "who woke"
	old := tellerOf(20, 80, 4, true)
	old.comparison.timeline = false
	unwoken := tellerOf(20, 80, 4, true)
	unwoken.head.Frames.Wakers = run.WakersNone
	views := &redundant{overdrawBefore: -1}
	for name, c := range map[string]struct {
		of   teller
		is   suspect
		want []string
	}{
		"clear":               {tellerOf(20, 80, 4, true), suspect{blame: feed, sure: diagnose.Clear}, nil},
		"likely":              {tellerOf(20, 80, 4, true), suspect{blame: feed, sure: diagnose.Likely}, []string{few}},
		"likely, running on":  {old, suspect{blame: blame{GPUKind, "GPU"}, sure: diagnose.Likely}, []string{on}},
		"clear, running on":   {old, suspect{blame: blame{GPUKind, "GPU"}, sure: diagnose.Clear}, nil},
		"likely, overdraw":    {tellerOf(20, 80, 4, true), suspect{blame: blame{kind: DrawKind}, sure: diagnose.Likely, views: views}, nil},
		"possible":            {tellerOf(20, 80, 4, true), suspect{blame: feed, sure: diagnose.Possible}, []string{chance}},
		"possible, overdraw":  {tellerOf(20, 80, 4, true), suspect{blame: blame{kind: DrawKind}, sure: diagnose.Possible, views: views}, nil},
		"possible and hidden": {tellerOf(20, 80, 4, true), suspect{blame: feed, sure: diagnose.Possible, behind: true}, nil},
		"a sleep, possible":   {unwoken, suspect{blame: blame{SleepKind, ""}, sure: diagnose.Possible}, []string{sleeps}},
		"a sleep, likely":     {unwoken, suspect{blame: blame{SleepKind, ""}, sure: diagnose.Likely}, []string{sleeps}},
	} {
		got := c.of.doubts(c.is)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d doubts, want %d", name, len(got), len(c.want))
			continue
		}
		for i, want := range c.want {
			if text := plain(got[i]); !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
				t.Errorf("%s: %q, want %q", name, text, want)
			}
		}
	}
}

// What is known of an event determines why no cause is named.
func TestWhy(t *testing.T) {
	shifts := func(most float64, others ...float64) []shift {
		out := []shift{{kind: BinderKind, more: contrast.Estimate{Mean: most}, parts: []blame{feed}}}
		for _, ms := range others {
			out = append(out, shift{kind: IOKind, more: contrast.Estimate{Mean: ms}, parts: []blame{file}})
		}
		return out
	}
	with := func(t teller, whole float64, s []shift) teller {
		t.outcome = outcome{whole: whole, shifts: s}
		return t
	}
	untold := tellerOf(20, 80, 4, true)
	untold.comparison.head.late, untold.comparison.head.normal = newTally(), newTally()
	for want, c := range map[string]teller{
		"the traces have no frame of it":                                                                                            {},
		"the traces do not show what its frames spent their time on":                                                                untold,
		"no frame of it was late, and no earlier run recorded what its frames took":                                                 tellerOf(0, 100, 4, false),
		"only 2 frames were late, and most of it is no one kind of work or waiting":                                                 tellerOf(2, 98, 4, false),
		"its frames take as long as before, within what sessions of one build differ by":                                            with(tellerOf(20, 80, 4, true), 0.19, nil),
		"frames take 5 ms more per frame, and the traces do not show on what":                                                       with(tellerOf(50, 50, 4, true), 5, nil),
		"frames take 8 ms more per frame; what grew most (binder feed) is 0.375 ratio of it":                                        with(tellerOf(50, 50, 4, true), 8, shifts(3, 2)),
		"frames take 8 ms more per frame; binder feed is 0.5 ratio of it, and differs as much between repetitions of one build":     with(tellerOf(50, 50, 4, true), 8, shifts(4, 2)),
		"frames take 4 ms more in a late frame; binder feed is 1 ratio of it, and differs as much between repetitions of one build": with(tellerOf(50, 50, 4, false), 4, shifts(4, 2)),
	} {
		if got := strings.Join(strings.Fields(plain(c.why())), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A hidden cause is in the table with its change only.
func TestTableOfHiddenCauses(t *testing.T) {
	c := tellerOf(50, 50, 4, true)
	c.suspects = []suspect{{blame: feed, parts: []blame{feed}, more: contrast.Estimate{Mean: 8}, inLate: 1}, {blame: inflates, more: contrast.Estimate{Mean: 3}, behind: true}}
	table := c.spending()
	var got []string
	for _, r := range table.Rows {
		var cells []string
		for _, cell := range r.Cells {
			cells = append(cells, plain(cell))
		}
		got = append(got, strings.Join(cells, "|"))
	}
	if want := "cause: waiting for feed|4 ms|20 ms|8 ms|, hidden: work in inflate|||3 ms|, binder feed|4 ms|20 ms|8.5 ms|"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", strings.Join(got, ", "), want)
	}
}

// The worst frame with a cause's time is drawn, with the usual ones of its event; for frames in
// time a usual frame, and none where no frame has the cause's time.
func TestPicturesOfCauses(t *testing.T) {
	frame := func(event string, kind string, ms float64) run.LateFrame {
		return run.LateFrame{Event: event, Repetition: 2, DurationMS: ms, Path: []run.PathStep{{Kind: kind, Thread: "main", ToMS: ms}}}
	}
	with := func(event string, worst ...run.LateFrame) teller {
		out := tellerOf(20, 80, 4, true)
		out.comparison.event = event
		out.head.Frames.Worst, out.head.Frames.Usual = worst, []run.LateFrame{frame("scroll", run.WaitRunning, 8)}
		out.base[0].Frames.Usual = []run.LateFrame{frame("scroll", run.WaitRunning, 7)}
		return out
	}
	late, inTime := suspect{blame: feed, inLate: 1}, suspect{blame: feed}
	for name, c := range map[string]struct {
		of   teller
		is   suspect
		want string // the picture's title, "" for none
	}{
		"a late frame":              {with("scroll", frame("scroll", run.WaitBinder, 40)), late, "A slow frame after scroll, repetition 2, thread by thread"},
		"of the whole run":          {with("", frame("scroll", run.WaitBinder, 40)), late, "A slow frame after scroll, repetition 2, thread by thread"},
		"before any event":          {with("", frame("", run.WaitBinder, 40)), late, "A slow frame of repetition 2, thread by thread"},
		"none with its time":        {with("scroll", frame("scroll", run.WaitIO, 40)), late, ""},
		"none of the event":         {with("scroll", frame("tap", run.WaitBinder, 40)), late, ""},
		"nobody's":                  {with("scroll", frame("scroll", run.WaitIO, 40)), suspect{inLate: 1}, "A slow frame after scroll, repetition 2, thread by thread"},
		"hidden by another":         {with("scroll", frame("scroll", run.WaitIO, 40)), suspect{blame: feed, behind: true}, "A slow frame after scroll, repetition 2, thread by thread"},
		"in time":                   {with("scroll", frame("scroll", run.WaitBinder, 40)), inTime, "A usual frame after scroll, now and before, thread by thread"},
		"in time, of the whole run": {with("", frame("scroll", run.WaitBinder, 40)), inTime, "A usual frame after scroll, now and before, thread by thread"},
		"no frame at all":           {with(""), late, ""},
		"in time, and none usual":   {with("tap", frame("tap", run.WaitBinder, 40)), inTime, "A slow frame after tap, repetition 2, thread by thread"},
	} {
		got := ""
		if p := c.of.picture(c.is); p != nil {
			got = p.Title
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	kept := frame("scroll", run.WaitIO, 40)
	kept.Evidence = "0a"
	for name, c := range map[string]struct {
		is   suspect
		want int
	}{"its time": {suspect{blame: file}, 1}, "not its time": {suspect{blame: feed}, 0}, "hidden": {suspect{blame: feed, behind: true}, 1}, "nobody's": {suspect{}, 1}} {
		if got := with("scroll", kept, frame("scroll", run.WaitIO, 50)).links(c.is); len(got) != c.want {
			t.Errorf("%s: %d links, want %d", name, len(got), c.want)
		}
	}
	if got := with("scroll", kept, kept, kept, kept, kept, kept, kept).links(suspect{blame: file}); len(got) != 5 {
		t.Errorf("%d links of 7 kept frames, want 5", len(got))
	}
}

// What lists leave out counts for its kind, as far as its waits show; the least listed value is the
// most that another part may have, and counts once for each blame.
func TestTalliesOfGroups(t *testing.T) {
	part := func(name, what string, ms float64) run.FramePart {
		return run.FramePart{Name: name, What: what, Thread: "main", Stage: run.StageDraw, Spread: run.Spread{Count: 10, MeanMS: ms}}
	}
	got := newTally()
	got.add(run.FrameGroup{Frames: 10, Path: []run.FramePart{part(run.WaitBinder, "feed", 5), part(run.WaitBinder, "feed", 3), part(run.WaitIO, "ext4", 2)}, Waits: []run.FramePart{part(run.WaitBinder, "", 9), part(run.WaitRunning, "", 4), part(run.WaitIO, "", 2.005)}})
	if got.unlisted != 20 || got.listed[feed] != 20 || got.listed[file] != 20 || got.listed[sync] != 0 {
		t.Errorf("unlisted %g, of parts %v, want 20 and 20 of each", got.unlisted, got.listed)
	}
	for b, want := range map[blame]float64{feed: 8, file: 2, {BinderKind, ""}: 1} {
		if ms := got.mean(b); math.Abs(ms-want) > 1e-9 {
			t.Errorf("%v: %g ms, want %g", b, ms, want)
		}
	}
	if len(got.parts) != 3 || got.places[feed] != (place{run.StageDraw, "main", 50}) {
		t.Errorf("%v, %+v", got.parts, got.places)
	}
	whole := newTally()
	if whole.add(run.FrameGroup{Frames: 10, Path: []run.FramePart{part(run.WaitBinder, "feed", 5)}, Waits: []run.FramePart{part(run.WaitBinder, "", 5)}}); whole.unlisted != 0 {
		t.Errorf("of a list that is whole %g ms are not listed", whole.unlisted)
	}
}
