package run

import (
	"errors"
	"fmt"
	"slices"
)

// Limits on the frames of a record.
const (
	MaxFrameGroups = 300 // UI events times classes
	MaxWorstFrames = 500
	MaxFrameParts  = 24 // stages, or waits, of a frame
	MaxQuantiles   = 21
	MaxUsualFrames = 100
	MaxPathParts   = 64     // what the critical paths of one group are made of
	MaxAllParts    = 3_000  // the same of all groups
	MaxPathSteps   = 200    // of one frame's critical path
	MaxAllSteps    = 10_000 // the same of all frames
	MaxViews       = 50
	MaxHiddenViews = 50
	// MaxApart are the repetitions that are told apart: of more, repetition n counts for
	// the entry (n-1) modulo MaxApart.
	MaxApart = 16
)

// Frames says where the time of frames went: of like frames together, and of the
// worst ones one by one. It explains what Iteration.Metrics and Iteration.Frames
// count; no summary is made of it.
type Frames struct {
	// Source is what the stages come from, such as "gfxinfo" or "frametimeline".
	Source string `json:"source"`
	// Wakers says what tells who woke a thread that slept (Wakers*): "" where nothing says so,
	// as in records of versions of apkgate that did not ask.
	Wakers string `json:"wakers,omitempty"`
	// Groups are the frames of each UI event and class, of all iterations together.
	// What normal frames take is what late ones are held against.
	Groups []FrameGroup `json:"groups,omitempty"`
	// Worst are single frames that were late, the worst first.
	Worst []LateFrame `json:"worst,omitempty"`
	// LeftOut is how many more were late than Worst lists.
	LeftOut int `json:"left_out,omitempty"`
	// Usual are single frames that were shown in time, one of each event that took about
	// as long as half of them: what Worst can be set beside.
	Usual []LateFrame `json:"usual,omitempty"`
	// Views are what stood on the screen, one entry of each event in which it was read.
	Views []Views `json:"views,omitempty"`
}

// What tells who woke a thread (Frames.Wakers).
const (
	WakersWaking = "waking" // sched_waking: each waker
	WakersWakeup = "wakeup" // sched_wakeup: no waker of another process, and none on a CPU that shares no cache
	WakersNone   = "none"   // nothing: what a thread waited for as it slept is not known
)

// Classes of frames (FrameGroup.Class).
const (
	NormalFrames = "normal" // shown in time
	SlowFrames   = "slow"   // late, but not frozen
	FrozenFrames = "frozen" // took more than 700 ms
	// BufferedFrames took too long, but a buffer drawn before was there to be shown in
	// their stead: nobody saw it, and it is no jank (section 2.3 of the paper below).
	BufferedFrames = "buffered"
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

// What threads waited for, or did (FramePart.Name of waits and of paths).
const (
	WaitBinder   = "binder" // another process's answer
	WaitIO       = "io"
	WaitLock     = "lock"
	WaitBuffer   = "buffer"   // a buffer to draw into
	WaitRunnable = "runnable" // a processor
	WaitIdle     = "idle"     // nothing: there was nothing to do
	WaitSleep    = "sleep"    // what nothing tells: a condition, a timer, another thread
	WaitBlocked  = "blocked"  // in the kernel, without sleep that can be woken, and not for I/O
	WaitGPU      = "gpu"      // the GPU's fence
	// WaitRunning is none: the thread ran.
	WaitRunning = "running"
)

// FrameGroup are frames of one UI event and class.
type FrameGroup struct {
	// Event is as Bucket.Name has it; "" stands for the whole run.
	Event string `json:"event,omitempty"`
	Class string `json:"class"`
	// Frames counts them, in all iterations.
	Frames int `json:"frames"`
	// Repetitions are how many of them each iteration has, the first at 0: what happens
	// once in each is told so from what happens by chance. nil in records of older versions.
	Repetitions []int `json:"repetitions,omitempty"`
	// Took is how long they took.
	Took Spread `json:"took,omitzero"`
	// Stages and Waits are what one frame takes. Stages of several threads overlap,
	// and waits lie within stages: neither adds up to the frame.
	Stages []FramePart `json:"stages,omitempty"`
	Waits  []FramePart `json:"waits,omitempty"`
	// Path is what the critical paths of the frames are made of, the most time first:
	// what a kind of waiting was for, or in what a thread ran. Its entries don't overlap;
	// where they are too many, Waits has all that there is of their kind.
	Path []FramePart `json:"path,omitempty"`
	// CPU says how the frames ran on the processors; nil where the source can't tell.
	CPU *FrameCPU `json:"cpu,omitempty"`
}

// FramePart is a stage of frames, what threads waited for in them, or a part of their
// critical paths. Its times are of those frames that have it.
type FramePart struct {
	Name   string `json:"name"`
	Thread string `json:"thread,omitempty"`
	// Stage is the one that most of it lies in, and What tells what was waited for, or
	// what ran, as PathStep has it: "" where that is not told.
	Stage string `json:"stage,omitempty"`
	What  string `json:"what,omitempty"`
	Spread
	// RepetitionsMS is what all frames of an iteration took together, in the order of
	// FrameGroup.Repetitions and no more than there are; nil of stages.
	RepetitionsMS []float64 `json:"repetitions_ms,omitempty"`
}

// FrameCPU says how the critical path of frames ran on processors. Shares are from 0
// to 1, and of several frames their mean; nil where they are not known, as little and
// big cores are not of a phone whose cores are alike.
type FrameCPU struct {
	// LittleShare is how much of the time that the path ran it ran on little cores.
	LittleShare *float64 `json:"little_share,omitempty"`
	// LittleBusy and BigBusy are how much of the frame the cores of each kind ran
	// something.
	LittleBusy *float64 `json:"little_busy,omitempty"`
	BigBusy    *float64 `json:"big_busy,omitempty"`
	// FrequencyShare is the frequency at which the path ran, of the highest of its cores.
	FrequencyShare *float64 `json:"frequency_share,omitempty"`
	// Saturated counts frames that ran on little cores without a rest while big ones had
	// nothing to do (section 2.3 of the paper above).
	Saturated int `json:"saturated,omitempty"`
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
	// Path decided when the frame was done, in order of time: from thread to thread,
	// each waiting for the next. What was shortest is merged with what lies beside it
	// where there are too many steps.
	Path []PathStep `json:"path,omitempty"`
	CPU  *FrameCPU  `json:"cpu,omitempty"`
}

// PathStep is a span of a frame's critical path: what one thread did, or waited for.
type PathStep struct {
	Thread  string `json:"thread,omitempty"`
	Process string `json:"process,omitempty"` // "" for the app's own
	Stage   string `json:"stage,omitempty"`
	// Kind is WaitRunning, or what a thread of the frame waited for; WaitUnknown where that
	// is not told. Does is what Thread did meanwhile where that is another matter: a thread
	// that answers a call may itself wait for the storage.
	Kind string `json:"kind"`
	Does string `json:"does,omitempty"`
	// What tells more: of binder "PROCESS INTERFACE::METHOD", of a lock the thread that
	// held it, of I/O the kernel's function or the file, of a processor who ran there
	// instead; where the thread ran, the innermost slice.
	What string `json:"what,omitempty"`
	// Slice is the innermost one that the thread was in.
	Slice string `json:"slice,omitempty"`
	// FromMS and ToMS count from LateFrame.AtMS; what began before it is below 0.
	FromMS float64 `json:"from_ms"`
	ToMS   float64 `json:"to_ms"`
}

// FrameTime is what one stage, or one kind of waiting, took of one frame.
type FrameTime struct {
	Name   string  `json:"name"`
	Thread string  `json:"thread,omitempty"`
	What   string  `json:"what,omitempty"` // as PathStep has it
	MS     float64 `json:"ms"`
	// CriticalMS is how much of it lies on the path that decided when the frame was
	// done.
	CriticalMS float64 `json:"critical_ms,omitempty"`
}

// Views are the views that stood on the screen at one moment, counted ("Aging or
// Glitching?", section 4.1: what is drawn though nobody can see it).
type Views struct {
	// Event is the one after which they were read, as Bucket.Name has it; "" stands for
	// the whole run.
	Event string `json:"event,omitempty"`
	// Count is how many there are, Depth how deep they are nested at most.
	Count int `json:"count"`
	Depth int `json:"depth"`
	// Overdraw estimates how often a pixel of the app's window is drawn in the mean: 1
	// where each is drawn once.
	Overdraw float64 `json:"overdraw"`
	// Hidden are views that are drawn and covered whole by later ones, the largest
	// first; LeftOut is how many more there are.
	Hidden  []HiddenView `json:"hidden,omitempty"`
	LeftOut int          `json:"left_out,omitempty"`
}

// HiddenView is a view that is drawn though another one covers it.
type HiddenView struct {
	Class string `json:"class"`
	ID    string `json:"id,omitempty"` // its resource id
	// CoveredBy is the class of the view that covers it.
	CoveredBy string `json:"covered_by,omitempty"`
	// AreaShare is how much of the window it fills, 0 to 1.
	AreaShare float64 `json:"area_share"`
}

func (f Frames) validate() error {
	parts, steps := 0, 0
	for _, g := range f.Groups {
		parts += len(g.Path)
	}
	for _, l := range slices.Concat(f.Worst, f.Usual) {
		steps += len(l.Path)
	}
	if err := errors.Join(word("source", f.Source), maybeWord("wakers", f.Wakers), atMost("groups", len(f.Groups), MaxFrameGroups),
		atMost("worst", len(f.Worst), MaxWorstFrames), atMost("usual", len(f.Usual), MaxUsualFrames), atMost("views", len(f.Views), MaxViews),
		atMost("path of all groups", parts, MaxAllParts), atMost("path of all frames", steps, MaxAllSteps), counts("left_out", f.LeftOut)); err != nil {
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
	for i, l := range f.Usual {
		if err := l.validate(); err != nil {
			return fmt.Errorf("usual[%d].%w", i, err)
		}
	}
	for i, v := range f.Views {
		if err := v.validate(); err != nil {
			return fmt.Errorf("views[%d].%w", i, err)
		}
	}
	return nil
}

func (g FrameGroup) validate() error {
	if err := errors.Join(word("class", g.Class), counts("frames", g.Frames), texts("event", g.Event),
		atMost("stages", len(g.Stages), MaxFrameParts), atMost("waits", len(g.Waits), MaxFrameParts), atMost("path", len(g.Path), MaxPathParts),
		atMost("repetitions", len(g.Repetitions), MaxApart), counts("repetitions", g.Repetitions...), g.CPU.validate()); err != nil {
		return first(err)
	}
	if err := g.Took.validate(); err != nil {
		return fmt.Errorf("took: %w", err)
	}
	for _, parts := range [][]FramePart{g.Stages, g.Waits, g.Path} {
		for _, p := range parts {
			if err := errors.Join(word("name", p.Name), texts("thread or what", p.Thread, p.What), maybeWord("stage", p.Stage), p.Spread.validate(),
				atMost("repetitions_ms", len(p.RepetitionsMS), len(g.Repetitions)), times("repetitions_ms", p.RepetitionsMS...)); err != nil {
				return fmt.Errorf("stages, waits or path: %w", first(err))
			}
		}
	}
	return nil
}

func (l LateFrame) validate() error {
	if err := errors.Join(repetition(l.Repetition, 1), texts("event or jank", l.Event, l.Jank),
		times("at_ms, duration_ms or deadline_ms", l.AtMS, l.DurationMS, l.DeadlineMS), reference(l.Evidence),
		atMost("stages", len(l.Stages), MaxFrameParts), atMost("waits", len(l.Waits), MaxFrameParts), atMost("path", len(l.Path), MaxPathSteps),
		l.CPU.validate()); err != nil {
		return first(err)
	}
	for _, parts := range [][]FrameTime{l.Stages, l.Waits} {
		for _, p := range parts {
			if err := errors.Join(word("name", p.Name), texts("thread or what", p.Thread, p.What), times("ms or critical_ms", p.MS, p.CriticalMS)); err != nil {
				return fmt.Errorf("stages or waits: %w", first(err))
			}
		}
	}
	for i, s := range l.Path {
		if err := s.validate(); err != nil {
			return fmt.Errorf("path[%d].%w", i, err)
		}
	}
	return nil
}

func (s PathStep) validate() error {
	if err := errors.Join(word("kind", s.Kind), maybeWord("does or stage", s.Does), maybeWord("does or stage", s.Stage), texts("thread, process, what or slice", s.Thread, s.Process, s.What, s.Slice)); err != nil {
		return first(err)
	}
	if !(s.FromMS >= -MaxValue && s.FromMS <= s.ToMS && s.ToMS <= MaxValue) {
		return fmt.Errorf("from_ms is %g and to_ms %g, want numbers of up to %g either way, in order", s.FromMS, s.ToMS, float64(MaxValue))
	}
	return nil
}

func (c *FrameCPU) validate() error {
	if c == nil {
		return nil
	}
	return errors.Join(share("cpu.little_share", c.LittleShare), share("cpu.little_busy", c.LittleBusy), share("cpu.big_busy", c.BigBusy),
		share("cpu.frequency_share", c.FrequencyShare), counts("cpu.saturated", c.Saturated))
}

func (v Views) validate() error {
	if err := errors.Join(texts("event", v.Event), counts("count, depth or left_out", v.Count, v.Depth, v.LeftOut),
		times("overdraw", v.Overdraw), atMost("hidden", len(v.Hidden), MaxHiddenViews)); err != nil {
		return first(err)
	}
	for i, h := range v.Hidden {
		if err := errors.Join(texts("class, id or covered_by", h.Class, h.ID, h.CoveredBy), share("area_share", &h.AreaShare)); err != nil {
			return fmt.Errorf("hidden[%d].%w", i, first(err))
		}
	}
	return nil
}

// share refuses what is no part of a whole; nil is not known.
func share(what string, v *float64) error {
	if v != nil && !(*v >= 0 && *v <= 1) {
		return fmt.Errorf("%s is %g, want 0 to 1", what, *v)
	}
	return nil
}

// maybeWord refuses what is neither a word of the formats nor "".
func maybeWord(what, s string) error {
	if s == "" {
		return nil
	}
	return word(what, s)
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
