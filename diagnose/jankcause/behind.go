package jankcause

import (
	"math"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// From where on a longer stage is reported though the critical paths don't show it.
const (
	leastBehind = 1.0  // ms per frame
	partBehind  = 0.05 // of the lost time, which may be that of many frames that wait for each other
)

// staged is what the stages of an event's frames take, including late frames that nobody saw, and
// how much of it lies on critical paths.
type staged struct {
	frames float64
	whole  map[string]moments
	paths  map[string]float64 // ms of all frames
}

func newStaged() staged { return staged{whole: map[string]moments{}, paths: map[string]float64{}} }

func (s *staged) add(g run.FrameGroup) {
	s.frames += float64(g.Frames)
	for _, p := range g.Stages {
		m := s.whole[p.Name]
		m.add(momentsOf(p.Spread, g.Frames))
		s.whole[p.Name] = m
	}
	for _, p := range g.Path {
		s.paths[p.Stage] += momentsOf(p.Spread, g.Frames).sum
	}
}

func (s *staged) join(o staged) {
	s.frames += o.frames
	for name, m := range o.whole {
		sum := s.whole[name]
		sum.add(m)
		s.whole[name] = sum
	}
	for name, ms := range o.paths {
		s.paths[name] += ms
	}
}

// takes estimates ms per frame of a stage, without the stages within it.
func (s staged) takes(stage string) contrast.Estimate {
	n := max(s.frames, 1)
	m := s.whole[stage]
	variance := max(m.squares/n-m.sum/n*m.sum/n, 0)
	for _, inner := range within[stage] {
		m.sum -= s.whole[inner].sum
	}
	mean := max(m.sum/n, 0)
	return contrast.Estimate{Mean: mean, Err: math.Hypot(math.Sqrt(alike2*variance/n), contrast.Drifted*mean)}
}

// within are the stages that lie within another one.
var within = map[string][]string{run.StageTraversal: {run.StageMeasure, run.StageLayout, run.StageDraw}}

// behindKinds are the stages of the app's own threads, by the kind of their cause.
var behindKinds = []struct{ stage, kind, thread string }{
	{run.StageInput, WorkKind, "main"}, {run.StageAnimation, WorkKind, "main"}, {run.StageMeasure, MeasureKind, "main"}, {run.StageLayout, LayoutKind, "main"},
	{run.StageTraversal, WorkKind, "main"}, {run.StageDraw, DrawKind, "main"}, {run.StageRender, DrawKind, "RenderThread"}, {run.StageGPU, GPUKind, ""},
}

// behind returns stages that take longer than before next to the critical paths: something that is
// clear takes longer still, and their own cost can't be determined.
func (c comparison) behind(o outcome) (out []suspect) {
	if c.alone() || len(o.suspects) == 0 {
		return nil
	}
	before := newStaged()
	for _, b := range c.base {
		before.join(b.stages)
	}
	now := c.head.stages
	for _, k := range behindKinds {
		known := false
		for _, s := range o.suspects {
			known = known || s.kind == k.kind || s.cores != nil || s.kind == OverdrawKind
		}
		a, b := now.takes(k.stage), before.takes(k.stage)
		onPath := now.paths[k.stage]/max(now.frames, 1) - before.paths[k.stage]/max(before.frames, 1)
		more := a.Mean - b.Mean - max(onPath, 0)
		if !known && more >= max(contrast.Certain*math.Hypot(a.Err, b.Err), leastBehind, partBehind*o.whole) {
			out = append(out, suspect{
				blame: blame{kind: k.kind}, place: place{stage: k.stage, thread: k.thread}, more: contrast.Estimate{Mean: more}, sure: diagnose.Possible, behind: true,
			})
		}
	}
	return out
}

// hidden says that another suspect hides the cost of this one.
func (t teller) hidden(s suspect) diagnose.Phrase {
	return say("possible: ", t.clause(s), ", hidden by what takes longer; its cost is unknown until that is gone")
}
