package run

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Limits on the frames of a record.
const (
	MaxFrameGroups = 300 // UI events times classes
	MaxWorstFrames = 500
	MaxFrameParts  = 24 // stages, or waits, of a frame
	MaxQuantiles   = 21
	MaxUsualFrames = 100
	MaxPathParts   = 64     // entries of the critical paths of one group
	MaxAllParts    = 3_000  // the same of all groups
	MaxPathSteps   = 200    // of one frame's critical path
	MaxAllSteps    = 10_000 // the same of all frames
	MaxViews       = 50
	MaxHiddenViews = 50
	// MaxApart is the number of repetitions that are counted separately: with more, repetition n
	// counts for the entry (n-1) modulo MaxApart.
	MaxApart = 16
)

// Frames is where the time of frames went: of similar frames together, and of the worst ones one by
// one. It explains Iteration.Metrics and Iteration.Frames, and is in no summary.
type Frames struct {
	// Source is the source of the stages, such as "gfxinfo" or "frametimeline".
	Source string `json:"source"`
	// Wakers is the source of who woke a sleeping thread (Wakers*): "" where there is none, as in
	// records of older versions of apkgate.
	Wakers string `json:"wakers,omitempty"`
	// Groups are the frames of each UI event and class, over all iterations. Late frames are
	// compared with the normal ones.
	Groups []FrameGroup `json:"groups,omitempty"`
	// Worst are single late frames, worst first.
	Worst []LateFrame `json:"worst,omitempty"`
	// LeftOut is how many more were late than Worst lists.
	LeftOut int `json:"left_out,omitempty"`
	// Usual are single frames that were shown in time, one of each event of about median duration,
	// to compare Worst with.
	Usual []LateFrame `json:"usual,omitempty"`
	// Views are the views on the screen, one entry for each event after which they were read.
	Views []Views `json:"views,omitempty"`
}

// Sources of who woke a thread (Frames.Wakers).
const (
	WakersWaking = "waking" // sched_waking: each waker
	WakersWakeup = "wakeup" // sched_wakeup: no waker of another process, and none on a CPU that shares no cache
	WakersNone   = "none"   // none: what a sleeping thread waited for is unknown
)

// Classes of frames (FrameGroup.Class).
const (
	NormalFrames = "normal" // shown in time
	SlowFrames   = "slow"   // late, but not frozen
	FrozenFrames = "frozen" // took more than 700 ms
	// BufferedFrames took too long, but a buffer drawn earlier was shown instead: no user saw it,
	// and it is no jank (section 2.3 of the paper below).
	BufferedFrames = "buffered"
)

// The stages of a frame (FramePart.Name of stages). The paper on Android's responsiveness ("Aging
// or Glitching?", section 2.1) has four: measure, layout, draw and composition. Further stages of a
// source have names of their own, and so have two stages that a source reports as one.
const (
	StageInput       = "input"
	StageAnimation   = "animation"
	StageMeasure     = "measure"
	StageLayout      = "layout"
	StageTraversal   = "traversal" // measure and layout, where they can't be separated
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
	WaitSleep    = "sleep"    // unknown: a condition, a timer, another thread
	WaitBlocked  = "blocked"  // in the kernel, in uninterruptible sleep, and not for I/O
	WaitGPU      = "gpu"      // the GPU's fence
	// WaitRunning is no wait: the thread ran.
	WaitRunning = "running"
)

// FrameGroup are frames of one UI event and class.
type FrameGroup struct {
	// Event is as in Bucket.Name; "" is the whole run.
	Event string `json:"event,omitempty"`
	Class string `json:"class"`
	// Frames counts them, in all iterations.
	Frames int `json:"frames"`
	// Repetitions counts them in each iteration, the first at 0: it separates what happens once in
	// each from what happens by chance. It is nil in records of older versions.
	Repetitions []int `json:"repetitions,omitempty"`
	// Took is how long they took.
	Took Spread `json:"took,omitzero"`
	// Stages and Waits are the times of one frame. Stages of several threads overlap, and waits lie
	// within stages: neither adds up to the frame.
	Stages []FramePart `json:"stages,omitempty"`
	Waits  []FramePart `json:"waits,omitempty"`
	// Path are the entries of the critical paths of the frames, most time first: what was waited
	// for, or what a thread ran. Its entries don't overlap; where there are too many, Waits has the
	// total of their kind.
	Path []FramePart `json:"path,omitempty"`
	// CPU is how the frames ran on the processors; nil where the source lacks it.
	CPU *FrameCPU `json:"cpu,omitempty"`
}

// FramePart is a stage of frames, what threads waited for in them, or a part of their critical
// paths. Its times are of those frames that have it.
type FramePart struct {
	Name   string `json:"name"`
	Thread string `json:"thread,omitempty"`
	// Stage is the stage that most of it lies in, and What is what was waited for, or what ran, as
	// in PathStep: "" where unknown.
	Stage string `json:"stage,omitempty"`
	What  string `json:"what,omitempty"`
	Spread
	// RepetitionsMS is the total over all frames of each iteration, in the order of
	// FrameGroup.Repetitions and no longer than it; nil for stages.
	RepetitionsMS []float64 `json:"repetitions_ms,omitempty"`
}

// FrameCPU is how the critical path of frames ran on processors. Shares are from 0 to 1, and the
// mean over several frames; nil where unknown, such as those of little and big cores on a phone
// with one kind of core.
type FrameCPU struct {
	// LittleShare is the share of the path's running time on little cores.
	LittleShare *float64 `json:"little_share,omitempty"`
	// LittleBusy and BigBusy are the shares of the frame during which the cores of each kind were
	// busy.
	LittleBusy *float64 `json:"little_busy,omitempty"`
	BigBusy    *float64 `json:"big_busy,omitempty"`
	// FrequencyShare is the frequency at which the path ran, as a share of the highest of its
	// cores.
	FrequencyShare *float64 `json:"frequency_share,omitempty"`
	// Saturated counts frames that ran on little cores without a pause while big ones were idle
	// (section 2.3 of the paper above).
	Saturated int `json:"saturated,omitempty"`
}

// Spread is a distribution of times.
type Spread struct {
	Count  int     `json:"count"`
	MeanMS float64 `json:"mean_ms"`
	// QuantilesMS are the minimum, the maximum, and the quantiles at even steps between: of five
	// the third is the median.
	QuantilesMS []float64 `json:"quantiles_ms,omitempty"`
}

// SpreadOf returns the distribution of times in milliseconds, with n quantiles, one of a single
// time. It sorts them.
func SpreadOf(ms []float64, n int) Spread {
	if len(ms) == 0 {
		return Spread{}
	}
	slices.Sort(ms)
	sum := 0.0
	for _, v := range ms {
		sum += v
	}
	if len(ms) == 1 {
		n = 1
	}
	out := Spread{Count: len(ms), MeanMS: micro(sum / float64(len(ms)))}
	for i := range n {
		at := float64(len(ms)-1) * float64(i) / float64(max(n-1, 1))
		low := ms[int(at)]
		out.QuantilesMS = append(out.QuantilesMS, micro(low+(ms[min(int(at)+1, len(ms)-1)]-low)*(at-math.Floor(at))))
	}
	return out
}

// micro rounds milliseconds to the precision of a trace's times.
func micro(ms float64) float64 { return math.Round(ms*1000) / 1000 }

// LateFrame is one frame that was late.
type LateFrame struct {
	// Repetition is the iteration, from 1.
	Repetition int    `json:"repetition"`
	Event      string `json:"event,omitempty"`
	// AtMS is when it was due to begin, by CLOCK_MONOTONIC of the repetition.
	AtMS       float64 `json:"at_ms"`
	DurationMS float64 `json:"duration_ms"`
	// DeadlineMS is the time allowed; 0 where unknown.
	DeadlineMS float64 `json:"deadline_ms,omitempty"`
	// Token is Android's number of the frame, in its traces too; 0 where unknown.
	Token int64 `json:"token,omitempty"`
	// Jank is the source's own name for the fault.
	Jank   string      `json:"jank,omitempty"`
	Stages []FrameTime `json:"stages,omitempty"`
	Waits  []FrameTime `json:"waits,omitempty"`
	// Evidence is the digest of the file of Run.Evidence that shows the frame.
	Evidence string `json:"evidence,omitempty"`
	// Path determined when the frame was done, in order of time: from thread to thread, each
	// waiting for the next. The shortest steps are merged with their neighbours where there are too
	// many.
	Path []PathStep `json:"path,omitempty"`
	CPU  *FrameCPU  `json:"cpu,omitempty"`
}

// PathStep is a span of a frame's critical path: what one thread did, or waited for.
type PathStep struct {
	Thread  string `json:"thread,omitempty"`
	Process string `json:"process,omitempty"` // "" for the app's own
	Stage   string `json:"stage,omitempty"`
	// Kind is WaitRunning, or what a thread of the frame waited for; WaitUnknown where that is
	// unknown. Does is what Thread did at that time where it differs: a thread that answers a call
	// may itself wait for the storage.
	Kind string `json:"kind"`
	Does string `json:"does,omitempty"`
	// What is the detail: for binder "PROCESS INTERFACE::METHOD", for a lock the lock owner, for
	// I/O the kernel's function or the file, for a processor what ran there instead; where the
	// thread ran, the innermost slice.
	What string `json:"what,omitempty"`
	// Slice is the innermost one that the thread was in.
	Slice string `json:"slice,omitempty"`
	// FromMS and ToMS count from LateFrame.AtMS; a time before it is below 0.
	FromMS float64 `json:"from_ms"`
	ToMS   float64 `json:"to_ms"`
}

// FrameTime is the time of one stage, or of one kind of waiting, in one frame.
type FrameTime struct {
	Name   string  `json:"name"`
	Thread string  `json:"thread,omitempty"`
	What   string  `json:"what,omitempty"` // as in PathStep
	MS     float64 `json:"ms"`
	// CriticalMS is the part of it on the path that determined when the frame was done.
	CriticalMS float64 `json:"critical_ms,omitempty"`
}

// Views are the views on the screen at one moment, counted ("Aging or Glitching?", section 4.1:
// what is drawn though nobody can see it).
type Views struct {
	// Event is the event after which they were read, as in Bucket.Name; "" is the whole run.
	Event string `json:"event,omitempty"`
	// Count is the number of views, Depth their deepest nesting.
	Count int `json:"count"`
	Depth int `json:"depth"`
	// Overdraw estimates how often a pixel of the app's window is drawn on average: 1 where each is
	// drawn once.
	Overdraw float64 `json:"overdraw"`
	// Hidden are views that are drawn and completely covered by later ones, the largest first;
	// LeftOut is how many more there are.
	Hidden  []HiddenView `json:"hidden,omitempty"`
	LeftOut int          `json:"left_out,omitempty"`
}

// HiddenView is a view that is drawn though another one covers it.
type HiddenView struct {
	Class string `json:"class"`
	ID    string `json:"id,omitempty"` // its resource id
	// CoveredBy is the class of the view that covers it.
	CoveredBy string `json:"covered_by,omitempty"`
	// AreaShare is its share of the window, 0 to 1.
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

// share returns an error for a value that is no share; nil is unknown.
func share(what string, v *float64) error {
	if v != nil && !(*v >= 0 && *v <= 1) {
		return fmt.Errorf("%s is %g, want 0 to 1", what, *v)
	}
	return nil
}

// maybeWord returns an error for a text that is neither a word of the formats nor "".
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
