package jankcause

import (
	"maps"
	"math"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// tallyOf returns so many frames, each of which spends so many ms on each blame.
func tallyOf(frames float64, each map[blame]float64) tally {
	out := newTally()
	out.frames = frames
	for b, ms := range each {
		out.parts[b] = moments{sum: ms * frames, squares: ms * ms * frames}
		out.places[b] = place{stage: run.StageDraw, thread: "main", ms: ms * frames}
		out.took.sum += ms * frames
	}
	return out
}

var feed, sync, file, inflates = blame{BinderKind, "feed"}, blame{BinderKind, "sync"}, blame{IOKind, "ext4"}, blame{WorkKind, "inflate"}

// What does not fit into one list may be as much as the least listed part: of 5 ms more 2 may have
// been there before, and of 5 ms less 2 may still be there.
func TestGrowthOfUnlistedParts(t *testing.T) {
	cut := tallyOf(10, nil)
	cut.unlisted = 20
	listed := tallyOf(10, map[blame]float64{feed: 5})
	whole := tallyOf(10, nil)
	little := tallyOf(10, map[blame]float64{feed: 1.5})
	here := tallyOf(10, map[blame]float64{feed: 1})
	here.unlisted, here.listed[feed] = 20, 20
	for name, c := range map[string]struct {
		now, before tally
		want        float64
	}{
		"all is listed": {listed, whole, 5}, "before some is not": {listed, cut, 3}, "now some is not": {cut, listed, -3}, "within what is not, before": {little, cut, 0},
		"within what is not, now": {cut, little, 0}, "the same": {listed, listed, 0}, "listed where others are not": {listed, here, 4},
	} {
		if got := growth(c.now, c.before, feed); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g ms, want %g", name, got, c.want)
		}
	}
}

// For a wait its whole time counts, from the list of waits; for work the growth of its listed
// parts, since the kind of the rest is unknown.
func TestChangesOfKinds(t *testing.T) {
	before := tallyOf(10, nil)
	before.unlisted = 20
	got := map[string]float64{}
	for _, s := range (comparison{}).changes(tallyOf(10, map[blame]float64{feed: 5, inflates: 5, {bufferKind, displayProcess}: 1}), before) {
		got[s.kind] = s.more.Mean
	}
	if len(got) != 2 || got[BinderKind] != 5 || got[WorkKind] != 3 {
		t.Errorf("%v, want 5 ms of binder and 3 of work, and no buffers", got)
	}
}

// Where a kind as a whole does not exceed its error, those of its parts that do are named; an
// unnamed part only where both lists are complete.
func TestPartsThatStandOut(t *testing.T) {
	whole := tallyOf(100, map[blame]float64{})
	cut := tallyOf(100, map[blame]float64{})
	cut.unlisted = 1
	unnamed := blame{BinderKind, ""}
	unsure := shift{kind: BinderKind, more: contrast.Estimate{Mean: 5, Err: 2}, parts: []blame{unnamed, feed, sync}, growth: map[blame]float64{unnamed: 2, feed: 3, sync: 0.01}}
	sure := shift{kind: BinderKind, more: contrast.Estimate{Mean: 6, Err: 2}, parts: []blame{feed}}
	least := shift{kind: BinderKind, more: contrast.Estimate{Mean: 0.04, Err: 0}, growth: map[blame]float64{}}
	for name, c := range map[string]struct {
		of          shift
		now, before tally
		more        float64
		parts       int
		stands      bool
	}{
		"three errors":                {sure, whole, whole, 6, 1, true},
		"less than is worth a word":   {least, whole, whole, 0, 0, false},
		"its parts":                   {unsure, whole, whole, 5, 2, true},
		"its parts that have names":   {unsure, cut, whole, 3, 1, true},
		"those where before is a cut": {unsure, whole, cut, 3, 1, true},
	} {
		got, stands := c.of.standing(c.now, c.before)
		if stands != c.stands || len(got.parts) != c.parts || stands && math.Abs(got.more.Mean-c.more) > 1e-9 {
			t.Errorf("%s: %+v, %t, want %g ms of %d parts", name, got, stands, c.more, c.parts)
		}
	}
}

// Waits for buffers are added to the work that took longest of the GPU's, SurfaceFlinger's and the
// render thread's, where any certainly did.
func TestGiveBuffers(t *testing.T) {
	for name, c := range map[string]struct {
		waited                   float64
		gpu, composition, draws  contrast.Estimate
		wantGPU, wantComposition float64
	}{
		"the only one":           {4, contrast.Estimate{Mean: 10, Err: 1}, contrast.Estimate{}, contrast.Estimate{}, 14, 0},
		"the longest":            {4, contrast.Estimate{Mean: 10, Err: 1}, contrast.Estimate{Mean: 12, Err: 1}, contrast.Estimate{}, 10, 16},
		"the longest first":      {4, contrast.Estimate{Mean: 12, Err: 1}, contrast.Estimate{Mean: 10, Err: 1}, contrast.Estimate{}, 16, 10},
		"one that is sure":       {4, contrast.Estimate{Mean: 10, Err: 1}, contrast.Estimate{Mean: 12, Err: 5}, contrast.Estimate{}, 14, 12},
		"none is sure":           {4, contrast.Estimate{Mean: 10, Err: 4}, contrast.Estimate{Mean: 12, Err: 5}, contrast.Estimate{}, 10, 12},
		"buffers took no longer": {0, contrast.Estimate{Mean: 10, Err: 1}, contrast.Estimate{}, contrast.Estimate{}, 10, 0},
		"buffers took less":      {-4, contrast.Estimate{Mean: 10, Err: 1}, contrast.Estimate{}, contrast.Estimate{}, 10, 0},
	} {
		by := map[string]*shift{}
		for kind, more := range map[string]contrast.Estimate{bufferKind: {Mean: c.waited, Err: 1}, GPUKind: c.gpu, CompositionKind: c.composition} {
			b := blame{kind, ""}
			by[kind] = &shift{kind: kind, more: more, parts: []blame{b}, growth: map[blame]float64{b: more.Mean}}
		}
		giveBuffers(by)
		if by[GPUKind].more.Mean != c.wantGPU || by[CompositionKind].more.Mean != c.wantComposition || by[GPUKind].growth[blame{GPUKind, ""}] != c.wantGPU {
			t.Errorf("%s: %+v and %+v, want %g and %g", name, by[GPUKind].more, by[CompositionKind].more, c.wantGPU, c.wantComposition)
		}
	}
	gpu := &shift{kind: GPUKind, more: contrast.Estimate{Mean: 10, Err: 1}, parts: []blame{{GPUKind, ""}}, growth: map[blame]float64{}}
	if giveBuffers(map[string]*shift{GPUKind: gpu}); gpu.more.Mean != 10 {
		t.Errorf("where no buffer was waited for the GPU has %+v", gpu.more)
	}
}

// Of calls, locks and files each with a quarter of the time is a cause of its own, and of work each
// thread's; of other kinds all of it is one.
func TestCausesOfTheirOwn(t *testing.T) {
	shiftOf := func(growth map[blame]float64, parts ...blame) shift {
		s := shift{kind: parts[0].kind, parts: parts, growth: growth, more: contrast.Estimate{}}
		for _, ms := range growth {
			s.more.Mean += ms
		}
		return s
	}
	lock, other := blame{LockKind, "a"}, blame{LockKind, "b"}
	ext4, f2fs := file, blame{IOKind, "f2fs"}
	cpu, rest := blame{CPUKind, "a"}, blame{CPUKind, "b"}
	draws, binds := blame{DrawKind, "x"}, blame{DrawKind, "y"}
	c := comparison{head: event{late: tallyOf(10, map[blame]float64{draws: 1, binds: 1, inflates: 1})}}
	c.head.late.places[binds] = place{thread: "RenderThread", ms: 10}
	for name, one := range map[string]struct {
		of   shift
		want int
	}{
		"two calls":            {shiftOf(map[blame]float64{feed: 3, sync: 1}, feed, sync), 2},
		"a call, and a little": {shiftOf(map[blame]float64{feed: 3.1, sync: 0.9}, feed, sync), 1},
		"two locks":            {shiftOf(map[blame]float64{lock: 3, other: 1}, lock, other), 2},
		"two files":            {shiftOf(map[blame]float64{ext4: 3, f2fs: 1}, ext4, f2fs), 2},
		"two processors":       {shiftOf(map[blame]float64{cpu: 3, rest: 1}, cpu, rest), 1},
		"two threads":          {shiftOf(map[blame]float64{draws: 3, binds: 1}, draws, binds), 2},
	} {
		if got := c.apart(one.of); len(got) != one.want || one.want == 1 && len(got[0]) != 2 {
			t.Errorf("%s: %v, want %d", name, got, one.want)
		}
	}
	thread := shiftOf(map[blame]float64{draws: 3.2, binds: 0.8}, draws, binds)
	if got := c.apart(thread); len(got) != 1 || len(got[0]) != 1 || got[0][0] != draws {
		t.Errorf("of work that one thread does it is %v, want what that does", got)
	}
	// Where a cause has part of the time it has as much of the error: 3 of 4 ms have 0.75 of 1.
	two := shiftOf(map[blame]float64{feed: 3, sync: 1}, feed, sync)
	two.more.Err = 1
	if got := c.suspectsOf(two, 8); len(got) != 2 || got[0].more != (contrast.Estimate{Mean: 3, Err: 0.75}) || got[0].share != 0.375 || got[1].more != (contrast.Estimate{Mean: 1, Err: 0.25}) {
		t.Errorf("%+v", got)
	}
}

// A cause of 4 of 10 ms explains 40 %, and its interval extends 1.96 errors to both sides. It is
// likely where repetitions are too few, and processors are the subject of what they made slower.
func TestSuspects(t *testing.T) {
	c := comparison{head: event{late: tallyOf(10, map[blame]float64{feed: 6}), normal: tallyOf(10, map[blame]float64{feed: 2})}}
	got := c.suspect(shift{kind: BinderKind, growth: map[blame]float64{feed: 3}}, []blame{feed}, contrast.Estimate{Mean: 4, Err: 1}, 10)
	for name, pair := range map[string][2]float64{
		"share": {got.share, 0.4}, "low": {got.low, 2.04 / 8.04}, "high": {got.high, 5.96 / 11.96}, "foremost": {got.foremost, 0.75}, "in late frames": {got.inLate, 0.75}, "of late frames": {got.latePart, 1},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, pair[0], pair[1])
		}
	}
	if got.sure != diagnose.Likely || got.cores != nil || got.subject != "feed" || got.thread != "main" {
		t.Errorf("%+v", got)
	}
	if got := c.suspect(shift{kind: BinderKind, growth: map[blame]float64{feed: 13}}, []blame{feed}, contrast.Estimate{Mean: 12, Err: 20}, 10); got.share != 1 || got.low != 0 || got.foremost != 1 {
		t.Errorf("more than all that was lost: %+v", got)
	}
	for kind, subject := range map[string]string{LittleKind: "little cores", FrequencyKind: "processor frequency"} {
		if got := c.suspect(shift{kind: kind}, []blame{inflates}, contrast.Estimate{Mean: 4, Err: 1}, 10); got.cores == nil || got.subject != subject {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

// Without a frame timeline drawing and composition after the app's threads extend into the
// following frames, and so does everything where a quarter more frames than before were not seen.
func TestRunsOn(t *testing.T) {
	of := func(timeline bool, headUnseen float64, base ...event) comparison {
		return comparison{timeline: timeline, head: event{frames: 100, buffered: headUnseen}, base: base}
	}
	before := event{frames: 100, buffered: 10}
	for name, c := range map[string]struct {
		of   comparison
		kind string
		want bool
	}{
		"with a timeline": {of(true, 90, before), GPUKind, false}, "alone": {of(false, 90), GPUKind, false}, "the GPU": {of(false, 10, before), GPUKind, true},
		"SurfaceFlinger": {of(false, 10, before), CompositionKind, true}, "a call": {of(false, 10, before), BinderKind, false},
		"a call, and many not seen": {of(false, 36, before), BinderKind, true}, "a call, and some not seen": {of(false, 34, before), BinderKind, false}, "of no frames": {comparison{base: []event{{}}}, BinderKind, false},
	} {
		if got := c.of.runsOn(c.kind); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A quarter more of the time on little cores, all of it with idle big ones where there are no runs
// before, or a frequency of 85 % of before.
func TestCoreShiftKind(t *testing.T) {
	is := func(little, littleBefore, clock, clockBefore, bigBusy float64) coreShift {
		return coreShift{little: little, littleBefore: littleBefore, clock: clock, clockBefore: clockBefore, bigBusy: bigBusy}
	}
	for name, c := range map[string]struct {
		of   coreShift
		want string
	}{
		"more on little ones": {is(0.5, 0.25, -1, -1, -1), LittleKind}, "a little more": {is(0.5, 0.26, -1, -1, -1), ""}, "as much as before": {is(1, 1, -1, -1, 0.1), ""},
		"all there": {is(0.9, -1, -1, -1, 0.25), LittleKind}, "most there": {is(0.89, -1, -1, -1, 0.25), ""}, "all there, and big ones busy": {is(0.9, -1, -1, -1, 0.26), ""},
		"a lower clock": {is(-1, -1, 0.85, 1, -1), FrequencyKind}, "a slightly lower clock": {is(-1, -1, 0.86, 1, -1), ""}, "a clock that is not known": {is(-1, -1, -1, 1, -1), ""},
		"a clock that was not known": {is(-1, -1, 0.5, -1, -1), ""}, "nothing known": {is(-1, -1, -1, -1, -1), ""}, "of before alone": {is(-1, 0.5, -1, -1, -1), ""},
		"little ones, and a clock that is not known": {is(0.5, 0.5, 0.5, -1, -1), ""},
	} {
		if got := c.of.kind(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Work takes longer by what at least half of it, by time, does: of 1, 2 and 1 ms that take 1, 1.5
// and 5 times as long it is 1.5. Waits do not count, nor work of almost no time.
func TestCommonFactor(t *testing.T) {
	a, b, c, little := blame{WorkKind, "a"}, blame{DrawKind, "b"}, blame{LayoutKind, "c"}, blame{MeasureKind, "d"}
	before := tallyOf(10, map[blame]float64{a: 1, b: 2, c: 1, little: 0.09, feed: 50})
	now := tallyOf(10, map[blame]float64{a: 1, b: 3, c: 5, little: 0, feed: 100})
	if got := commonFactor(now, before); got != 1.5 {
		t.Errorf("%g, want 1.5", got)
	}
	if got := commonFactor(now, tallyOf(10, nil)); got != 1 {
		t.Errorf("of no work before %g, want 1", got)
	}
}

// Slower cores account for the common factor in each work, at most for what that took longer, with
// that part of the error; the rest stays with the work.
func TestSlowerCoresTakeTheirPart(t *testing.T) {
	a, b := blame{WorkKind, "a"}, blame{DrawKind, "b"}
	before, now := tallyOf(10, map[blame]float64{a: 2, b: 2}), tallyOf(10, map[blame]float64{a: 3, b: 4})
	c := comparison{head: event{normalCores: coreFacts{clock: meanShare{5, 10}}}, base: []event{{normalCores: coreFacts{clock: meanShare{10, 10}}}}}
	shifts := []*shift{
		{kind: WorkKind, more: contrast.Estimate{Mean: 1, Err: 0.5}, parts: []blame{a}, growth: map[blame]float64{a: 1}}, {kind: DrawKind, more: contrast.Estimate{Mean: 2, Err: 0.4}, parts: []blame{b}, growth: map[blame]float64{b: 2}},
		{kind: BinderKind, more: contrast.Estimate{Mean: 7, Err: 1}, parts: []blame{feed}, growth: map[blame]float64{feed: 7}},
	}
	got := c.withCores(shifts, now, before)
	if len(got) != 4 || got[3].kind != FrequencyKind {
		t.Fatalf("%+v, want what a lower frequency made longer besides", got)
	}
	// The factor is 1.5: 1 ms of each.
	for i, want := range []contrast.Estimate{{Mean: 0, Err: 0.5}, {Mean: 1, Err: 0.4}, {Mean: 7, Err: 1}, {Mean: 2, Err: math.Hypot(0.5, 0.2)}} {
		if math.Abs(got[i].more.Mean-want.Mean) > 1e-9 || math.Abs(got[i].more.Err-want.Err) > 1e-9 {
			t.Errorf("%s has %+v, want %+v", got[i].kind, got[i].more, want)
		}
	}
	even := tallyOf(10, map[blame]float64{a: 2.1, b: 2.1})
	if got := c.withCores(shifts, even, before); len(got) != 3 {
		t.Errorf("where work takes 5 %% longer cores have %+v", got[3])
	}
}

// Traversal is reported without the measuring, layout and drawing within it: 9 of 12 ms. A time
// that varies evenly from 0 to 6 ms over 10 frames has the variance 3, and an error of √(2 · 3 /
// 10) in addition to a twentieth of it.
func TestStagesWithoutInnerStages(t *testing.T) {
	s := newStaged()
	part := func(name string, mean float64, q ...float64) run.FramePart {
		return run.FramePart{Name: name, Stage: name, Spread: run.Spread{Count: 10, MeanMS: mean, QuantilesMS: q}}
	}
	s.add(run.FrameGroup{Frames: 10, Stages: []run.FramePart{part(run.StageTraversal, 12, 12, 12), part(run.StageMeasure, 1, 1, 1), part(run.StageLayout, 2, 2, 2), part(run.StageInput, 3, 0, 2, 4, 6)}})
	for stage, want := range map[string]contrast.Estimate{
		run.StageTraversal: {Mean: 9, Err: 0.45}, run.StageInput: {Mean: 3, Err: math.Hypot(math.Sqrt(0.6), 0.15)}, run.StageMeasure: {Mean: 1, Err: 0.05}, run.StageDraw: {},
	} {
		if got := s.takes(stage); math.Abs(got.Mean-want.Mean) > 1e-9 || math.Abs(got.Err-want.Err) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", stage, got, want)
		}
	}
}

// A stage that takes 10 ms longer than before is reported after another cause, without its part on
// critical paths, unless its kind, processors or overdraw are already a cause, or it is a
// negligible part of the lost time.
func TestStagesBehindOthers(t *testing.T) {
	stages := func(draws, onPath float64) staged {
		s := newStaged()
		s.frames, s.paths[run.StageDraw] = 10, 10*onPath
		s.whole[run.StageDraw] = moments{10 * draws, 10 * draws * draws}
		return s
	}
	cause := func(kind string) suspect { return suspect{blame: blame{kind: kind}} }
	slow := cause(LittleKind)
	slow.cores = &coreShift{}
	for name, c := range map[string]struct {
		now, before staged
		beside      []suspect
		whole, want float64
	}{
		"beside another":         {stages(12, 0), stages(2, 0), []suspect{cause(CompositionKind)}, 100, 10},
		"partly on paths":        {stages(12, 6), stages(2, 0), []suspect{cause(CompositionKind)}, 10, 4},
		"on paths as before":     {stages(12, 6), stages(2, 6), []suspect{cause(CompositionKind)}, 100, 10},
		"on paths less":          {stages(12, 0), stages(2, 6), []suspect{cause(CompositionKind)}, 100, 10},
		"its kind is known":      {stages(12, 0), stages(2, 0), []suspect{cause(DrawKind), cause(CompositionKind)}, 100, 0},
		"its kind is the second": {stages(12, 0), stages(2, 0), []suspect{cause(CompositionKind), cause(DrawKind)}, 100, 0},
		"slower processors":      {stages(12, 0), stages(2, 0), []suspect{slow}, 100, 0},
		"overdraw":               {stages(12, 0), stages(2, 0), []suspect{cause(OverdrawKind)}, 100, 0},
		"next to nothing":        {stages(12, 0), stages(2, 0), []suspect{cause(CompositionKind)}, 201, 0},
		"no other cause":         {stages(12, 0), stages(2, 0), nil, 100, 0},
		"as long as before":      {stages(2.9, 0), stages(2, 0), []suspect{cause(CompositionKind)}, 1, 0},
	} {
		cmp := comparison{head: event{stages: c.now}, base: []event{{stages: c.before}}}
		got := cmp.behind(outcome{suspects: c.beside, whole: c.whole})
		if c.want == 0 && len(got) > 0 || c.want > 0 && (len(got) != 1 || got[0].kind != DrawKind || math.Abs(got[0].more.Mean-c.want) > 1e-9 || !got[0].behind || got[0].sure != diagnose.Possible) {
			t.Errorf("%s: %+v, want %g ms of drawing", name, got, c.want)
		}
		cmp.base = nil
		if got := cmp.behind(outcome{suspects: c.beside, whole: c.whole}); got != nil {
			t.Errorf("%s, and no run before: %+v", name, got)
		}
	}
}

// Frames of an event by whether they were late, with those that nobody saw counted separately; over
// several runs a blame's place is that with most of its time.
func TestTalliesOfEvents(t *testing.T) {
	f := &run.Frames{Groups: []run.FrameGroup{
		{Event: "tap", Class: run.NormalFrames, Frames: 50}, {Event: "tap", Class: run.SlowFrames, Frames: 7}, {Event: "tap", Class: run.FrozenFrames, Frames: 2}, {Event: "tap", Class: run.BufferedFrames, Frames: 5},
		{Event: "scroll", Class: run.BufferedFrames, Frames: 3}, {Event: "scroll", Class: run.NormalFrames, Frames: 30},
	}}
	for event, want := range map[string][4]float64{"tap": {64, 50, 9, 5}, "scroll": {33, 30, 0, 3}, "": {97, 80, 9, 8}, "back": {}} {
		e := tallied(f, event)
		if got := [4]float64{e.frames, e.normal.frames, e.late.frames, e.buffered}; got != want {
			t.Errorf("%q: all, normal, late and not seen are %v, want %v", event, got, want)
		}
	}
	most, least := tallyOf(10, map[blame]float64{feed: 5}), tallyOf(10, map[blame]float64{feed: 1})
	least.places[feed] = place{stage: run.StageInput, ms: 10}
	for _, list := range [][]tally{{most, least}, {least, most}} {
		if got := pooled(list); got.places[feed].stage != run.StageDraw || got.mean(feed) != 3 || got.frames != 20 {
			t.Errorf("%+v, want 3 ms of each of 20 frames, most of them while views are drawn", got)
		}
	}
	if got := frozen([]run.LateFrame{{DurationMS: 700}, {DurationMS: 699}}); len(got) != 1 || got[0].DurationMS != 700 {
		t.Errorf("frozen are %+v, want that of 700 ms", got)
	}
}

// Where repetitions are unknown the error of a mean comes from the frames: a time with the variance
// 3 over 10 of them has √(2 · 3 / 10) in addition to a twentieth of its 3 ms.
func TestErrorsOfFrames(t *testing.T) {
	one := newTally()
	one.frames, one.parts[feed] = 10, moments{30, 120}
	if got, want := one.of([]blame{feed}), math.Hypot(math.Sqrt(0.6), 0.15); got.Mean != 3 || math.Abs(got.Err-want) > 1e-9 {
		t.Errorf("%+v, want 3 and %g", got, want)
	}
}

// What does not fit into the list of parts counts for its kind in each repetition, except for
// rounding and for work, whose kind is unknown.
func TestRepetitionsOfUnlistedParts(t *testing.T) {
	part := func(name, what string, ms ...float64) run.FramePart {
		return run.FramePart{Name: name, What: what, RepetitionsMS: ms}
	}
	g := run.FrameGroup{Frames: 20, Repetitions: []int{10, 10}, Path: []run.FramePart{part(run.WaitBinder, "feed", 5)},
		Waits: []run.FramePart{part(run.WaitBinder, "", 9, 0.05), part(run.WaitRunning, "", 7, 7), part(run.WaitIO, "", 0, 4)}}
	one := newTally()
	one.addRepetitions(g)
	want := []map[blame]float64{{feed: 5, {BinderKind, ""}: 4}, {{IOKind, ""}: 4}}
	for i, r := range one.runs[0] {
		if !maps.Equal(r.parts, want[i]) || r.frames != 10 {
			t.Errorf("repetition %d has %v in %g frames, want %v in 10", i, r.parts, r.frames, want[i])
		}
	}
	g.Path = nil
	one = newTally()
	if one.addRepetitions(g); len(one.runs[0][0].parts) > 0 {
		t.Errorf("without a critical path: %v", one.runs[0][0].parts)
	}
}
