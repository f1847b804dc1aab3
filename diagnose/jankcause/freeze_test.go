package jankcause

import (
	"slices"
	"testing"
	"time"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// lateOf returns a late frame of a repetition that spends so many ms on each kind of step, in that
// order.
func lateOf(repetition int, steps ...run.PathStep) run.LateFrame {
	f := run.LateFrame{Event: "scroll", Repetition: repetition}
	for _, s := range steps {
		s.FromMS, s.ToMS = f.DurationMS, f.DurationMS+s.ToMS
		f.DurationMS = s.ToMS
		f.Path = append(f.Path, s)
	}
	return f
}

func stepOf(kind string, ms float64) run.PathStep { return run.PathStep{Kind: kind, ToMS: ms} }

// The kind of most of a frame's time, if that is at least half of it: of two equal kinds the first
// by name. Buffers and unblamed time do not count.
func TestMainly(t *testing.T) {
	for name, c := range map[string]struct {
		of   run.LateFrame
		kind string
		ms   float64
	}{
		"a call":              {lateOf(1, stepOf(run.WaitBinder, 6), stepOf(run.WaitIO, 4)), BinderKind, 6},
		"two waits, one kind": {lateOf(1, stepOf(run.WaitIO, 3), stepOf(run.WaitBinder, 4), stepOf(run.WaitIO, 3)), IOKind, 6},
		"a tie":               {lateOf(1, stepOf(run.WaitIO, 5), stepOf(run.WaitBinder, 5)), BinderKind, 5},
		"no half":             {lateOf(1, stepOf(run.WaitIO, 4), stepOf(run.WaitBinder, 3), stepOf(run.WaitLock, 3)), "", 0},
		"buffers":             {lateOf(1, stepOf(run.WaitBuffer, 9), stepOf(run.WaitBinder, 1)), "", 0},
		"nobody's":            {lateOf(1, stepOf(run.WaitIdle, 9), stepOf(run.WaitBinder, 1)), "", 0},
	} {
		for range 8 {
			if kind, ms := mainly(c.of); kind != c.kind || ms != c.ms {
				t.Fatalf("%s: %s, %g ms, want %s, %g", name, kind, ms, c.kind, c.ms)
			}
		}
	}
}

// Frozen frames show their main kind, once per kind, with how many frames and repetitions show the
// same, unless a frame before froze in the same way.
func TestFreezes(t *testing.T) {
	call, disk, mixed := lateOf(1, stepOf(run.WaitBinder, 800)), lateOf(2, stepOf(run.WaitIO, 900)), lateOf(1, stepOf(run.WaitIO, 300), stepOf(run.WaitBinder, 300), stepOf(run.WaitLock, 300))
	again, short := lateOf(3, stepOf(run.WaitBinder, 700)), lateOf(4, stepOf(run.WaitBinder, 699))
	c := comparison{head: event{late: newTally(), normal: newTally()}, base: []event{{}}, worst: []run.LateFrame{call, disk, mixed, again, call, short}}
	for name, one := range map[string]struct {
		frozen []run.LateFrame
		want   map[string][2]int // frames and repetitions
	}{
		"none before": {nil, map[string][2]int{BinderKind: {3, 2}, IOKind: {1, 1}}}, "a call before": {[]run.LateFrame{call}, map[string][2]int{IOKind: {1, 1}}},
		"another before": {[]run.LateFrame{mixed}, map[string][2]int{BinderKind: {3, 2}, IOKind: {1, 1}}},
	} {
		c.frozen = one.frozen
		got := c.freezes()
		if len(got) != len(one.want) {
			t.Errorf("%s: %+v, want %v", name, got, one.want)
			continue
		}
		for _, f := range got {
			if want := one.want[f.kind]; f.frames != want[0] || f.repetitions != want[1] {
				t.Errorf("%s: %s is shown by %d frames of %d repetitions, want %v", name, f.kind, f.frames, f.repetitions, want)
			}
		}
	}
}

// One that froze, and in a trace alone one that lost half of the time lost by late frames: 60 of
// 100 ms beyond the usual 10.
func TestTellingFrames(t *testing.T) {
	late := newTally()
	late.frames, late.took.sum = 3, 130
	c := comparison{head: event{late: late, normal: tallyOf(10, map[blame]float64{feed: 10})}}
	for ms, want := range map[float64]bool{700: true, 70: true, 60: true, 59: false} {
		if got := c.telling(run.LateFrame{DurationMS: ms}); got != want {
			t.Errorf("alone: one of %g ms tells: %t", ms, got)
		}
	}
	c.base = []event{{}}
	for ms, want := range map[float64]bool{700: true, 699: false} {
		if got := c.telling(run.LateFrame{DurationMS: ms}); got != want {
			t.Errorf("beside runs of before: one of %g ms tells: %t", ms, got)
		}
	}
}

// Without findings the late frames of each event are explained once.
func TestEveryEvent(t *testing.T) {
	f := &run.Frames{Groups: []run.FrameGroup{
		{Event: "a", Class: run.SlowFrames, Frames: 1}, {Event: "a", Class: run.FrozenFrames, Frames: 1}, {Event: "b", Class: run.NormalFrames, Frames: 9}, {Event: "c", Class: run.SlowFrames},
		{Event: "d", Class: run.BufferedFrames, Frames: 1}, {Event: "e", Class: run.FrozenFrames, Frames: 2},
	}}
	got := everyEvent(f)
	if len(got) != 2 || got[0].Event != "a" || got[1].Event != "e" {
		t.Errorf("%+v, want a and e", got)
	}
}

// TestFramesOfAnEvent: frames of which the path is known, of one event or of all.
func TestFramesOfAnEvent(t *testing.T) {
	with := func(event string) run.LateFrame { return run.LateFrame{Event: event, Path: []run.PathStep{{}}} }
	list := []run.LateFrame{with("a"), with("b"), {Event: "a"}, with("")}
	for event, want := range map[string]int{"a": 1, "b": 1, "": 3, "c": 0} {
		if got := pathsOf(list, event); len(got) != want {
			t.Errorf("%q: %d frames, want %d", event, len(got), want)
		}
	}
}

// Of runs before, those of the head's version of Android come first, and then the newest; five at
// most, and not the head itself, unless neither has a name.
func TestBeside(t *testing.T) {
	made := func(id, sdk string, day int) run.Run {
		return run.Run{ID: id, Context: map[string]string{"sdk": sdk}, Started: time.Unix(int64(day)*86400, 0), Frames: &run.Frames{}}
	}
	head := made("head", "14", 9)
	var names []string
	for _, r := range beside(head, []run.Run{made("other", "13", 8), made("old", "14", 1), made("new", "14", 7), head, made("third", "14", 3), made("second", "14", 5), made("sixth", "13", 2)}) {
		names = append(names, r.ID)
	}
	if want := []string{"new", "second", "third", "old", "other"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	unnamed := made("", "14", 1)
	if got := beside(unnamed, []run.Run{made("", "14", 2)}); len(got) != 1 {
		t.Errorf("of runs without names %d are compared, want 1", len(got))
	}
}

// A frozen frame counts for a suspect, or for what took longer though it is none; what took no
// longer than before is no cause.
func TestFreezesOfSuspects(t *testing.T) {
	c := comparison{head: event{late: tallyOf(1, map[blame]float64{feed: 800}), normal: newTally()}, base: []event{{late: newTally(), normal: newTally()}}, worst: []run.LateFrame{lateOf(1, stepOf(run.WaitBinder, 800))}}
	grew := shift{kind: BinderKind, more: contrast.Estimate{Mean: 4, Err: 9}, parts: []blame{feed}, growth: map[blame]float64{feed: 4}}
	shrank := grew
	shrank.more.Mean = -4
	for name, one := range map[string]struct {
		of   outcome
		want int
	}{
		"a suspect": {outcome{suspects: []suspect{{blame: feed, sure: diagnose.Likely}}, whole: 10}, 1}, "what took longer": {outcome{shifts: []shift{grew}, whole: 10}, 1},
		"what did not": {outcome{shifts: []shift{shrank}, whole: 10}, 0}, "nothing": {outcome{}, 0},
	} {
		got := c.withFreezes(one.of)
		if len(got) != one.want || one.want > 0 && (got[0].sure != diagnose.Seen || got[0].shown == nil || got[0].kind != BinderKind) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
