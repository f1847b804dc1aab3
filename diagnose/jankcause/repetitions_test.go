package jankcause

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// once adds a step to one frame of the repetitions for which in is true.
func once(s rendering.Step, in func(rep int) bool) func(int, int, *[]rendering.Step) {
	return func(rep, n int, steps *[]rendering.Step) {
		if n == 7 && in(rep) {
			*steps = append(*steps, s)
		}
	}
}

func always(int) bool { return true }

// A call that strikes once in each repetition is the cause, though only one frame of hundreds has
// it, and comes before minor ones.
func TestCauseOncePerRepetition(t *testing.T) {
	for name, step := range map[string]rendering.Step{
		BinderKind: step(300, run.StageAnimation, run.WaitBinder, "feed IFeed::query"),
		IOKind:     step(120, run.StageInput, run.WaitIO, "f2fs_sync_file"),
		LayoutKind: step(250, run.StageLayout, run.WaitRunning, "layout"),
		WorkKind:   step(280, run.StageAnimation, run.WaitRunning, "decode"),
	} {
		w := ordinary()
		w.frames, w.in = 60, once(step, always)
		before := ordinary()
		before.frames = 60
		got := explained(w.record("head", 3), past(before, 3, 40), flagged)
		if len(got) == 0 || got[0].Kind != name || got[0].Explains.Sure != diagnose.Clear || *got[0].Explains.Share < 0.8 {
			t.Errorf("%s: %s", name, brief(got))
			continue
		}
		// Once in each repetition: the sentence has the time per repetition.
		if s := plain(got[0].Sentence); !strings.Contains(s, " ms more per repetition") {
			t.Errorf("%s: %s", name, s)
		}
	}
}

// An event that occurs again is explained by the frames of all its occurrences, which have one name
// in a record; an event with that name of its own by its own.
func TestRepeatedEvent(t *testing.T) {
	w := ordinary()
	w.frames, w.in = 60, once(step(300, run.StageAnimation, run.WaitBinder, "feed IFeed::query"), always)
	before := ordinary()
	before.frames = 60
	again := flagged[0]
	again.Event += "#2"
	got := Explain(w.record("head", 3), past(before, 3, 40), []diagnose.Finding{flagged[0], again})
	if len(got) != 2 || got[1].Kind != BinderKind || got[1].Event != "scroll#2" || got[1].Picture != nil {
		t.Errorf("%s", brief(got))
	}
	named := &run.Frames{Groups: []run.FrameGroup{{Event: "page#2"}}}
	for event, want := range map[string]string{"page#2": "page#2", "page#2#1": "page#2", "page#3": "page", "#2": "#2", "": ""} {
		if got := recorded(named, event); got != want {
			t.Errorf("%q is recorded as %q, want %q", event, got, want)
		}
	}
}

// One of several repetitions that differs from the others is chance, however long it took.
func TestCauseInOneRepetitionIsNotClear(t *testing.T) {
	w := ordinary()
	w.frames, w.reps = 60, 5
	w.in = once(step(300, run.StageAnimation, run.WaitBinder, "feed IFeed::query"), func(rep int) bool { return rep == 2 })
	before := ordinary()
	before.frames, before.reps = 60, 5
	for seed := range uint64(10) {
		if got := explained(w.record("head", 100+seed), past(before, 3, 200+10*seed), flagged); len(got) > 0 {
			t.Errorf("%d: %s", seed, brief(got))
		}
	}
}

// Repetitions show how much they vary from four degrees of freedom on, and settle a cause where
// there are so many ways to choose as many as the head has that chance makes them the longest in
// one of fifty.
func TestSettles(t *testing.T) {
	run := func(repetitions int) []repetition {
		var out []repetition
		for i := range repetitions {
			out = append(out, repetition{place: i, frames: 10})
		}
		return out
	}
	for _, c := range []struct {
		head           int
		base           []int
		repeat, settle bool
	}{
		{3, []int{3, 3, 3}, true, true}, {3, []int{3, 3}, true, true}, {4, []int{4}, true, true}, {2, []int{3, 3, 3}, true, true}, // 220, 84, 70 and 55 ways
		{3, []int{3}, true, false},     // 20 ways
		{2, []int{2, 2}, false, false}, // 3 degrees of freedom
		{1, []int{5, 5, 5}, false, false},
		{3, []int{3, 3, 0}, false, false}, // one of which nothing is known
	} {
		head := tally{runs: [][]repetition{run(c.head)}}
		var before tally
		for _, n := range c.base {
			before.runs = append(before.runs, run(n))
		}
		if head.repeats(before) != c.repeat || head.settles(before) != c.settle {
			t.Errorf("%d compared with %v say how much they vary: %v, settle: %v", c.head, c.base, head.repeats(before), head.settles(before))
		}
	}
}

// Three rounds of both builds name a call that strikes once in each, and are too few for it to be
// clear; four are not. The sentence names the base build, and when it was recorded.
func TestRoundsNameCauseOncePerRepetition(t *testing.T) {
	for rounds, sure := range map[int]diagnose.Sure{3: diagnose.Likely, 4: diagnose.Clear} {
		w, before := ordinary(), ordinary()
		w.frames, w.reps, before.frames, before.reps = 60, rounds, 60, rounds
		w.in = once(step(180, run.StageAnimation, run.WaitRunning, "decode"), always)
		head, base := w.record("head", 3), before.record("base", 40)
		head.Explains, base.Explains = true, true
		got := explained(head, []run.Run{base}, flagged)
		if len(got) == 0 || got[0].Kind != WorkKind || got[0].Explains.Sure != sure || *got[0].Explains.Share < 0.8 || *got[0].Explains.ShareLow < 0.4 {
			t.Errorf("%d rounds: %s", rounds, brief(got))
			continue
		}
		if basis, want := plain(got[0].Basis), fmt.Sprintf("in %d  repetitions, compared with %d  of the base build, recorded after the verdict", rounds, rounds); !strings.HasSuffix(basis, want) {
			t.Errorf("%d rounds: %q does not end in %q", rounds, basis, want)
		}
		if doubts := got[0].Doubts; (len(doubts) > 0) != (rounds == 3) || rounds == 3 && plain(doubts[0]) != "3  repetitions compared with 3  are too few to rule out chance. Four of each build are enough." {
			t.Errorf("%d rounds: %d doubts", rounds, len(doubts))
		}
	}
}

// Student's distribution with 8 degrees of freedom leaves 0.00135 beyond 4.28 (its tables
// have 0.001 beyond 4.501 and 0.0025 beyond 3.833).
func TestErrorOfChange(t *testing.T) {
	b := blame{BinderKind, "feed"}
	of := func(runs ...[]float64) tally {
		out := newTally()
		for _, list := range runs {
			var all []repetition
			for i, ms := range list {
				all = append(all, repetition{place: i, frames: 10, parts: map[blame]float64{b: ms}})
				out.frames += 10
				m := out.parts[b]
				m.add(moments{sum: ms, squares: ms * ms})
				out.parts[b] = m
			}
			out.runs = append(out.runs, all)
		}
		return out
	}
	now, before := of([]float64{290, 300, 310}), of([]float64{0, 0, 0}, []float64{0, 0, 0}, []float64{0, 0, 0})
	got := now.change(before, []blame{b})
	// Repetitions lie 1, 0 and 1 ms per frame off their mean of 30: 2 squares of 8 degrees of
	// freedom, of three and nine repetitions; sessions may differ by a twentieth of 30 ms.
	want := math.Hypot(math.Sqrt(2.0/8*(1.0/3+1.0/9))*4.28/3, 1.5)
	if got.Mean != 30 || math.Abs(got.Err-want) > 0.01 {
		t.Errorf("%+v, want 30 and %.3f", got, want)
	}
}

// What explains most comes first, though it is less sure than minor ones.
func TestMainCauseComesBeforeSurerOnes(t *testing.T) {
	w := ordinary()
	w.frames = 60
	w.extra = every(1, step(1.5, run.StageLayout, run.WaitBinder, "feed IFeed::query"))
	w.in = once(step(500, run.StageAnimation, run.WaitIO, "f2fs_sync_file"), func(rep int) bool { return rep == 1 })
	before := ordinary()
	before.frames = 60
	got := explained(w.record("head", 3), past(before, 3, 40), flagged)
	if len(got) < 2 || got[0].Kind != IOKind || got[0].Explains.Sure != diagnose.Possible || got[1].Kind != BinderKind || got[1].Explains.Sure != diagnose.Clear {
		t.Fatalf("%s", brief(got))
	}
	if !strings.HasPrefix(plain(got[0].Sentence), "possible: ") || len(got[0].Doubts) == 0 {
		t.Errorf("%q, doubts %v", plain(got[0].Sentence), got[0].Doubts)
	}
}

// A frozen frame shows what it waited for: no count of frames is needed, and one that runs before
// had too is no cause.
func TestFrozenFrameShowsItsCause(t *testing.T) {
	w := ordinary()
	w.frames, w.in = 40, once(step(1200, run.StageAnimation, run.WaitBinder, "feed IFeed::query"), func(rep int) bool { return rep != 2 })
	before := ordinary()
	before.frames = 40
	for name, base := range map[string][]run.Run{"three runs before": past(before, 3, 40), "one": past(before, 1, 40), "a trace alone": nil} {
		found := flagged
		if base == nil {
			found = nil
		}
		got := explained(w.record("head", 3), base, found)
		if len(got) == 0 || got[0].Kind != BinderKind || got[0].Explains.Sure != diagnose.Seen {
			t.Errorf("%s: %s", name, brief(got))
			continue
		}
		if s := plain(got[0].Sentence); !strings.Contains(s, "1.2e+03 ms of a frozen frame of ") || !strings.Contains(s, "seen in 2  of 3  repetitions") {
			t.Errorf("%s: %s", name, s)
		}
	}
	if got := explained(w.record("head", 3), past(w, 3, 40), flagged); len(got) > 0 {
		t.Errorf("frozen before too: %s", brief(got))
	}
}

// In a trace alone one late frame that took most of the lost time shows what it was.
func TestSingleLateFrameShowsItsCause(t *testing.T) {
	w := ordinary()
	w.frames, w.reps, w.in = 40, 1, once(step(240, run.StageLayout, run.WaitLock, "db-writer"), always)
	got := explained(w.record("", 8), nil, nil)
	if len(got) == 0 || got[0].Kind != LockKind || got[0].Explains.Sure != diagnose.Seen || !strings.Contains(plain(got[0].Sentence), "240 ms of a frame of ") {
		t.Errorf("%s", brief(got))
	}
}

// Where no cause is found the report says so and why, with the worst frame.
func TestUnexplained(t *testing.T) {
	idle := ordinary()
	idle.in = func(_, n int, steps *[]rendering.Step) {
		if n == 7 {
			*steps = append(*steps, step(400, run.StageLayout, run.WaitIdle, ""))
		}
	}
	same := ordinary()
	for name, c := range map[string]struct {
		head run.Run
		want string
	}{
		"what nothing tells":  {idle.record("head", 3), "no cause found: frames take "},
		"the same as before":  {same.record("head", 10), "no cause found: its frames take as long as before"},
		"no frames of it":     {func() run.Run { r := same.record("head", 10); r.Frames.Groups = nil; return r }(), "no cause found: the traces have no frame of it"},
		"frames without path": {func() run.Run { r := same.record("head", 10); clearPaths(r.Frames); return r }(), "no cause found: the traces do not show"},
	} {
		got := Explain(c.head, past(same, 3, 10), flagged)
		if len(got) != 1 || got[0].Kind != UnexplainedKind || !strings.HasPrefix(plain(got[0].Sentence), c.want) || got[0].Explains.Sure != "" {
			t.Errorf("%s: %s: %q", name, brief(got), plain(got[0].Sentence))
			continue
		}
		if err := diagnose.Validate(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "what nothing tells" && (got[0].Picture == nil || len(got[0].Evidence) == 0 || got[0].Evidence[0].ToMS-got[0].Evidence[0].FromMS < 400) {
			t.Errorf("%s: the worst frame is not shown: %+v", name, got[0].Evidence)
		}
	}
}

func clearPaths(f *run.Frames) {
	for i := range f.Groups {
		f.Groups[i].Path, f.Groups[i].Waits = nil, nil
	}
}

// What takes longer without deciding when a frame is done is possible, and no more.
func TestHiddenCause(t *testing.T) {
	record := func(id string, seed uint64, draws, composes float64) run.Run {
		w := ordinary()
		w.extra = func(n int, steps *[]rendering.Step) {
			if composes > 0 && n%4 == 0 {
				*steps = append(*steps, step(composes, run.StageComposition, run.WaitRunning, "composite"))
			}
		}
		r := w.record(id, seed)
		for i := range r.Frames.Groups {
			g := &r.Frames.Groups[i]
			g.Stages = append(g.Stages, run.FramePart{Name: run.StageDraw, Thread: "main", Spread: run.Spread{Count: g.Frames, MeanMS: draws, QuantilesMS: []float64{draws, draws}}})
		}
		return r
	}
	var base []run.Run
	for i := range uint64(3) {
		base = append(base, record(fmt.Sprint("base ", i), 40+i, 2, 0))
	}
	got := explained(record("head", 3, 12, 40), base, flagged)
	if len(got) != 2 || got[0].Kind != CompositionKind || got[1].Kind != DrawKind || got[1].Explains.Sure != diagnose.Possible || got[1].Explains.Share != nil {
		t.Fatalf("%s", brief(got))
	}
	if s := plain(got[1].Sentence); !strings.Contains(s, "is unknown until that is gone") {
		t.Error(s)
	}
	for _, p := range got[1].Sentence {
		if p.Amount != nil && math.Abs(p.Amount.Value-10) > 0.1 {
			t.Errorf("drawing takes %g ms more, want 10", p.Amount.Value)
		}
	}
	if got := explained(record("head", 3, 2, 40), base, flagged); len(got) != 1 {
		t.Errorf("drawing as before: %s", brief(got))
	}
	if got := explained(record("head", 3, 12, 0), base, flagged); len(got) != 0 {
		t.Errorf("nothing that hides it: %s", brief(got))
	}
}

// Frames that take longer and are still in time are reported as such.
func TestSlowerFramesInTime(t *testing.T) {
	w := ordinary()
	w.extra = every(2, step(4, run.StageLayout, run.WaitRunning, "layout"))
	w.in = once(step(12, run.StageRender, run.WaitBuffer, "SurfaceFlinger"), always) // a late frame or so, as there always is
	got := explained(w.record("head", 3), past(ordinary(), 3, 40), flagged)
	if len(got) == 0 || got[0].Kind != LayoutKind || !strings.HasSuffix(plain(got[0].Sentence), ", mostly in frames that are still shown in time") {
		t.Fatalf("%s", brief(got))
	}
	if s := plain(got[0].Sentence); !strings.Contains(s, " ms more per frame ") {
		t.Errorf("counted by the repetition: %s", s)
	}
	if frames := got[0].Picture.Threads.Frames; len(frames) != 2 || frames[0].Role != diagnose.Usual || frames[1].Role != diagnose.Base {
		t.Errorf("drawn are %+v, want a usual frame now and one of before", frames)
	}
}

// Whatever the build, the numbers of a sentence are those of its table and its figure.
func TestSentencesAgreeWithTablesAndPictures(t *testing.T) {
	steps := []rendering.Step{
		step(20, run.StageLayout, run.WaitBinder, "feed IFeed::query"), step(30, run.StageInput, run.WaitIO, "f2fs_sync_file"), step(14, run.StageMeasure, run.WaitLock, "db-writer"),
		step(9, run.StageDraw, run.WaitRunning, "Record View#draw()"), step(26, run.StageRender, run.WaitRunning, "DrawFrames 12"), step(18, run.StageAnimation, run.WaitRunning, "inflate"),
		step(22, run.StageAnimation, run.WaitGC, ""), step(16, run.StageDraw, run.WaitRunnable, "dex2oat64"), step(1100, run.StageAnimation, run.WaitBinder, "sync ISync::wait"),
		step(24, run.StageRender, run.WaitGPU, ""), step(28, run.StageComposition, run.WaitRunning, "composite"), step(12, run.StageRender, run.WaitBuffer, "SurfaceFlinger"),
	}
	sentences := 0
	for seed := range uint64(60) {
		w := ordinary()
		w.frames = 60
		one, other := steps[seed%12], steps[(seed*5+seed/12+1)%12]
		rare := 1 + int(seed%3)*11
		w.in = func(rep, n int, list *[]rendering.Step) {
			if n%rare == 3%rare || seed%7 == 0 && n == 9 {
				*list = append(*list, one)
			}
			if n == 20 && (seed%2 == 0 || rep == 1) {
				*list = append(*list, other)
			}
		}
		head := w.record("head", 500+seed)
		before := ordinary()
		before.frames = 60
		for _, base := range [][]run.Run{past(before, 3, 700+10*seed), nil} {
			found := flagged
			if base == nil {
				found = nil
			}
			got := explained(head, base, found)
			var table diagnose.Table
			shares := 0.0
			for _, c := range got {
				if len(c.Tables) > 0 {
					table = c.Tables[0]
				}
				if c.Explains.Share != nil {
					shares += *c.Explains.Share
				}
			}
			if shares > 1.0001 {
				t.Errorf("%d: causes explain %.3f of the whole: %s", seed, shares, brief(got))
			}
			for _, c := range got {
				sentences++
				followsFrom(t, c, table)
			}
		}
	}
	if sentences < 100 {
		t.Errorf("%d sentences were looked at", sentences)
	}
}

// followsFrom compares a cause's sentence with its row of the table, its extent and its figure.
func followsFrom(t *testing.T, c diagnose.Cause, table diagnose.Table) {
	t.Helper()
	var times, ratios []float64
	text := plain(c.Sentence)
	for _, p := range c.Sentence {
		if p.Amount != nil && p.Amount.Unit == "ms" {
			times = append(times, p.Amount.Value)
		}
		if p.Amount != nil && p.Amount.Unit == "ratio" {
			ratios = append(ratios, p.Amount.Value)
		}
	}
	what := strings.TrimPrefix(plain(c.Title), "slow frames: ")
	row := slices.IndexFunc(table.Rows, func(r diagnose.Row) bool {
		return plain(r.Cells[0]) == "cause: "+what || plain(r.Cells[0]) == "hidden: "+what
	})
	if row < 0 {
		t.Errorf("no row of the table is of %q", what)
		return
	}
	shown := table.Rows[row].Cells[3][0].Amount.Value
	if len(times) == 0 || times[0] != shown {
		t.Errorf("%q, and the table says %g ms", text, shown)
	}
	if c.Explains.Share != nil && (len(ratios) != 1 || ratios[0] != *c.Explains.Share) {
		t.Errorf("%q, and the share is %g", text, *c.Explains.Share)
	}
	drawnAs(t, c, text)
	if c.Explains.Sure != diagnose.Seen {
		if len(times) > 1 {
			t.Errorf("%q has times that nothing shows", text)
		}
		return
	}
	frame, drawn := c.Picture.Threads.Frames[0], 0.0
	for _, s := range frame.Steps {
		if blameOf(run.FramePart{Name: s.Kind, Stage: s.Stage, What: s.What}).kind == c.Kind {
			drawn += s.ToMS - s.FromMS
		}
	}
	if len(times) != 3 || math.Abs(times[1]-drawn) > 0.001 || times[2] != frame.TookMS {
		t.Errorf("%q, and the picture shows %g of %g ms", text, drawn, frame.TookMS)
	}
}

// drawnAs compares a cause's figure with its sentence: it draws the subject, in a frame that is as
// late as the sentence says.
func drawnAs(t *testing.T, c diagnose.Cause, text string) {
	t.Helper()
	if c.Picture == nil {
		return
	}
	first := c.Picture.Threads.Frames[0]
	if inTime := strings.HasSuffix(text, ", mostly in frames that are still shown in time"); inTime != (first.Role == diagnose.Usual) {
		t.Errorf("%q is drawn as a %s frame", text, first.Role)
	}
	about := func(s diagnose.Step) bool {
		return blameOf(run.FramePart{Name: s.Kind, Stage: s.Stage, What: s.What}).kind == c.Kind
	}
	if !strings.Contains(text, "hidden by") && !slices.ContainsFunc(first.Steps, about) {
		t.Errorf("%q: the picture has nothing of it: %+v", text, first.Steps)
	}
}

// What the GPU took longer is clear where Android's frame timeline has when each frame was shown,
// and likely elsewhere.
func TestCausesWithoutAFrameTimeline(t *testing.T) {
	w, before := ordinary(), ordinary()
	w.frames, before.frames = 60, 60
	w.extra = every(4, step(20, run.StageGPU, run.WaitGPU, ""))
	head, base := w.record("head", 3), past(before, 3, 40)
	for source, sure := range map[string]diagnose.Sure{rendering.FrameTimeline: diagnose.Clear, rendering.DoFrame: diagnose.Likely} {
		head.Frames.Source = source
		for _, r := range base {
			r.Frames.Source = source
		}
		if got := explained(head, base, flagged); len(got) == 0 || got[0].Kind != GPUKind || got[0].Explains.Sure != sure {
			t.Errorf("%s: %s", source, brief(got))
		}
	}
}
