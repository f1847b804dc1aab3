package jankcause

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// What is drawn for nobody explains drawing, together with the longer one's place; it comes last
// without runs before.
func TestOverdrawReplacesDrawing(t *testing.T) {
	draws := suspect{blame: blame{DrawKind, "x"}, place: place{thread: "RenderThread"}, parts: []blame{{DrawKind, "x"}}, more: contrast.Estimate{Mean: 3}, share: 0.5, low: 0.7, high: 0.8, latePart: 0.7, inLate: 0.4}
	gpu := suspect{blame: blame{GPUKind, "GPU"}, place: place{stage: run.StageGPU}, parts: []blame{{GPUKind, "GPU"}}, more: contrast.Estimate{Mean: 2}, share: 0.25, low: 0.6, high: 0.9, latePart: 0.6, inLate: 0.3}
	call := suspect{blame: feed, more: contrast.Estimate{Mean: 9}, share: 0.1}
	of := func(before float64, found ...suspect) []suspect {
		c := comparison{head: event{views: &redundant{overdraw: 4, overdrawBefore: -1, areaBefore: -1}}}
		if before >= 0 {
			c.base = []event{{views: &redundant{overdraw: before}}}
		}
		return c.withRedundant(found)
	}
	got := of(1, draws, call, gpu)
	if len(got) != 2 || got[0].kind != BinderKind || got[1].kind != OverdrawKind || got[1].sure != diagnose.Likely {
		t.Fatalf("%+v, want the call and overdraw in the place of drawing", got)
	}
	s := got[1]
	for name, pair := range map[string][2]float64{
		"ms": {s.more.Mean, 5}, "share": {s.share, 0.75}, "low": {s.low, 1}, "high": {s.high, 1}, "of late frames": {s.latePart, 1}, "in late frames": {s.inLate, 0.4}, "parts": {float64(len(s.parts)), 2},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, pair[0], pair[1])
		}
	}
	if s.thread != "RenderThread" || s.subject != "overdraw" {
		t.Errorf("the place is %+v of %q, want that of drawing, which takes longer", s.place, s.subject)
	}
	if got := of(1, gpu, draws); got[0].thread != "RenderThread" {
		t.Errorf("in the other order the place is %+v", got[0].place)
	}
	if got := of(-1, draws, call); len(got) != 3 || got[2].kind != OverdrawKind || got[2].sure != diagnose.Possible {
		t.Errorf("of before nothing is known: %+v", got)
	}
	if got := of(1, call); len(got) != 1 || got[0].kind != BinderKind {
		t.Errorf("nothing draws longer: %+v", got)
	}
	if got := of(4, draws); len(got) != 1 || got[0].kind != DrawKind {
		t.Errorf("as much before: %+v", got)
	}
}

// Half a time more overdraw than before, or a quarter of a window more of hidden views; of the runs
// before the largest counts.
func TestMuchOverdraw(t *testing.T) {
	for name, c := range map[string]struct {
		of   redundant
		want bool
	}{
		"more overdraw": {redundant{overdraw: 2, overdrawBefore: 1.5, area: 1, areaBefore: 1}, true}, "a little more": {redundant{overdraw: 1.9, overdrawBefore: 1.5, area: 1, areaBefore: 1}, false},
		"more hidden": {redundant{area: 0.5, areaBefore: 0.25}, true}, "a little more hidden": {redundant{area: 0.49, areaBefore: 0.25}, false},
		"much overdraw": {redundant{overdraw: 3, overdrawBefore: -1}, true}, "much hidden": {redundant{area: 1, overdrawBefore: -1}, true}, "neither": {redundant{overdraw: 2.9, area: 0.9, overdrawBefore: -1}, false},
	} {
		if got := c.of.much(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	c := comparison{head: event{views: &redundant{overdraw: 4, overdrawBefore: -1, areaBefore: -1}}, base: []event{{views: &redundant{overdraw: 2, area: 0.1}}, {}, {views: &redundant{overdraw: 1, area: 0.7}}}}
	if got := c.views(); got.overdrawBefore != 2 || got.areaBefore != 0.7 {
		t.Errorf("before were %g and %g, want 2 and 0.7", got.overdrawBefore, got.areaBefore)
	}
	many := redundant{more: 3}
	for range 12 {
		many.hidden = append(many.hidden, run.HiddenView{Class: "A"})
	}
	if table := many.table(); len(table.Rows) != 10 || table.Total != 15 {
		t.Errorf("%d rows of %d, want 10 of 15", len(table.Rows), table.Total)
	}
}
