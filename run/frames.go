package run

import (
	"errors"
	"fmt"
)

// Limits on the frames of a record.
const (
	MaxFrameGroups = 300 // UI events times classes
	MaxWorstFrames = 500
	MaxFrameParts  = 24 // stages, or waits, of a frame
	MaxQuantiles   = 21
)

// Frames says where the time of frames went: of like frames together, and of the
// worst ones one by one. It explains what Iteration.Metrics and Iteration.Frames
// count; no summary is made of it.
type Frames struct {
	// Source is what the stages come from, such as "gfxinfo" or "frametimeline".
	Source string `json:"source"`
	// Groups are the frames of each UI event and class, of all iterations together.
	// What normal frames take is what late ones are held against.
	Groups []FrameGroup `json:"groups,omitempty"`
	// Worst are single frames that were late, the worst first.
	Worst []LateFrame `json:"worst,omitempty"`
	// LeftOut is how many more were late than Worst lists.
	LeftOut int `json:"left_out,omitempty"`
}

// Classes of frames (FrameGroup.Class).
const (
	NormalFrames = "normal" // shown in time
	SlowFrames   = "slow"   // late, but not frozen
	FrozenFrames = "frozen" // took more than 700 ms
)

// The stages of a frame (FramePart.Name of stages). The paper on Android's
// responsiveness ("Aging or Glitching?", section 2.1) has four: measure,
// layout, draw and composition. What a source tells apart beside them has a name of
// its own; where it tells two of them as one, that has one too.
const (
	StageInput       = "input"
	StageAnimation   = "animation"
	StageMeasure     = "measure"
	StageLayout      = "layout"
	StageTraversal   = "traversal" // measure and layout, where they can't be told apart
	StageDraw        = "draw"      // recording what is to be drawn
	StageSync        = "sync"      // handing it to the render thread
	StageRender      = "render"    // drawing it, on the render thread
	StageGPU         = "gpu"
	StageComposition = "composition" // by SurfaceFlinger, with what other processes drew
)

// What threads waited for (FramePart.Name of waits).
const (
	WaitBinder   = "binder" // another process's answer
	WaitIO       = "io"
	WaitLock     = "lock"
	WaitBuffer   = "buffer"   // a buffer to draw into
	WaitRunnable = "runnable" // a processor
	WaitIdle     = "idle"     // nothing: there was nothing to do
)

// FrameGroup are frames of one UI event and class.
type FrameGroup struct {
	// Event is as Bucket.Name has it; "" stands for the whole run.
	Event string `json:"event,omitempty"`
	Class string `json:"class"`
	// Frames counts them, in all iterations.
	Frames int `json:"frames"`
	// Stages and Waits are what one frame takes. Stages of several threads overlap,
	// and waits lie within stages: neither adds up to the frame.
	Stages []FramePart `json:"stages,omitempty"`
	Waits  []FramePart `json:"waits,omitempty"`
}

// FramePart is a stage of frames, or what threads waited for in them.
type FramePart struct {
	Name   string `json:"name"`
	Thread string `json:"thread,omitempty"`
	Spread
}

// Spread is how times are spread.
type Spread struct {
	Count  int     `json:"count"`
	MeanMS float64 `json:"mean_ms"`
	// QuantilesMS are the least time, the greatest, and what lies between them at even
	// steps of the share of times that are no longer: of five the third is the median.
	QuantilesMS []float64 `json:"quantiles_ms,omitempty"`
}

// LateFrame is one frame that was late.
type LateFrame struct {
	// Repetition is the iteration, from 1.
	Repetition int    `json:"repetition"`
	Event      string `json:"event,omitempty"`
	// AtMS is when it was due to begin, by CLOCK_MONOTONIC of the repetition.
	AtMS       float64 `json:"at_ms"`
	DurationMS float64 `json:"duration_ms"`
	// DeadlineMS is how long it could have taken; 0 where that is not known.
	DeadlineMS float64 `json:"deadline_ms,omitempty"`
	// Token is the number that Android gave to the frame, in its traces too; 0 where
	// it is not known.
	Token int64 `json:"token,omitempty"`
	// Jank is what the source calls what was wrong with it, in its own words.
	Jank   string      `json:"jank,omitempty"`
	Stages []FrameTime `json:"stages,omitempty"`
	Waits  []FrameTime `json:"waits,omitempty"`
	// Evidence is the digest of the file of Run.Evidence that shows the frame.
	Evidence string `json:"evidence,omitempty"`
}

// FrameTime is what one stage, or one kind of waiting, took of one frame.
type FrameTime struct {
	Name   string  `json:"name"`
	Thread string  `json:"thread,omitempty"`
	MS     float64 `json:"ms"`
	// CriticalMS is how much of it lies on the path that decided when the frame was
	// done.
	CriticalMS float64 `json:"critical_ms,omitempty"`
}

func (f Frames) validate() error {
	if err := errors.Join(word("source", f.Source), atMost("groups", len(f.Groups), MaxFrameGroups),
		atMost("worst", len(f.Worst), MaxWorstFrames), counts("left_out", f.LeftOut)); err != nil {
		return first(err)
	}
	for i, g := range f.Groups {
		if err := g.validate(); err != nil {
			return fmt.Errorf("groups[%d].%w", i, err)
		}
	}
	for i, l := range f.Worst {
		if err := l.validate(); err != nil {
			return fmt.Errorf("worst[%d].%w", i, err)
		}
	}
	return nil
}

func (g FrameGroup) validate() error {
	if err := errors.Join(word("class", g.Class), counts("frames", g.Frames), texts("event", g.Event),
		atMost("stages", len(g.Stages), MaxFrameParts), atMost("waits", len(g.Waits), MaxFrameParts)); err != nil {
		return first(err)
	}
	for _, parts := range [][]FramePart{g.Stages, g.Waits} {
		for _, p := range parts {
			if err := errors.Join(word("name", p.Name), texts("thread", p.Thread), p.Spread.validate()); err != nil {
				return fmt.Errorf("stages or waits: %w", first(err))
			}
		}
	}
	return nil
}

func (l LateFrame) validate() error {
	if err := errors.Join(repetition(l.Repetition, 1), texts("event or jank", l.Event, l.Jank),
		times("at_ms, duration_ms or deadline_ms", l.AtMS, l.DurationMS, l.DeadlineMS), reference(l.Evidence),
		atMost("stages", len(l.Stages), MaxFrameParts), atMost("waits", len(l.Waits), MaxFrameParts)); err != nil {
		return first(err)
	}
	for _, parts := range [][]FrameTime{l.Stages, l.Waits} {
		for _, p := range parts {
			if err := errors.Join(word("name", p.Name), texts("thread", p.Thread), times("ms or critical_ms", p.MS, p.CriticalMS)); err != nil {
				return fmt.Errorf("stages or waits: %w", first(err))
			}
		}
	}
	return nil
}

func (s Spread) validate() error {
	if err := errors.Join(counts("count", s.Count), times("mean_ms or quantiles_ms", s.MeanMS), times("mean_ms or quantiles_ms", s.QuantilesMS...),
		atMost("quantiles_ms", len(s.QuantilesMS), MaxQuantiles)); err != nil {
		return first(err)
	}
	for i := 1; i < len(s.QuantilesMS); i++ {
		if s.QuantilesMS[i] < s.QuantilesMS[i-1] {
			return fmt.Errorf("quantiles_ms falls from %g to %g", s.QuantilesMS[i-1], s.QuantilesMS[i])
		}
	}
	return nil
}
