package diagnose

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/run"
)

// Limits on a figure of threads.
const (
	MaxDrawnFrames = 4
	MaxSteps       = 200 // of one frame
)

// Threads is what the threads on the critical paths of frames did, the frames one below the other
// on one time scale: the late one first.
type Threads struct {
	Frames []DrawnFrame `json:"frames"`
}

// DrawnFrame is one frame of Threads.
type DrawnFrame struct {
	Role       Role `json:"role"`
	Repetition int  `json:"repetition,omitempty"` // the iteration, from 1; 0 where unknown
	// TookMS is the duration of the frame, DeadlineMS the time allowed; 0 where unknown. Both begin
	// with the vsync at which it was due to begin; those of a task, when it was due to start.
	TookMS     float64 `json:"took_ms"`
	DeadlineMS float64 `json:"deadline_ms,omitempty"`
	// Steps are the critical path in the order of time.
	Steps []Step `json:"steps"`
}

// Role is why a frame is drawn.
type Role string

// The roles of frames.
const (
	Late  Role = "late"
	Usual Role = "usual" // of the same event, shown in time
	Base  Role = "base"  // the same, of the build or the runs before
	// A task of a queue in place of a frame: the one that waited longest, and that of the build or
	// the runs before. Its steps are from the event until it was due (Scheduling), its wait (Queued),
	// what ran in its unit meanwhile, its own run, and what either waited for.
	Waited       Role = "waited"
	WaitedBefore Role = "waited-before"
)

// Kinds of steps of a task: in which it waits in a queue, and from its event until it is due.
const (
	Queued     = "queued"
	Scheduling = "scheduling"
)

// roles are all of them.
var roles = []Role{Late, Usual, Base, Waited, WaitedBefore}

// Step is a step of a critical path: one thread that ran, or waited. Its fields are as in a record;
// times begin with the frame, and may be before it.
type Step struct {
	Thread  string  `json:"thread"`
	Process string  `json:"process,omitempty"`
	Stage   string  `json:"stage,omitempty"`
	Kind    string  `json:"kind"`            // run.Wait*: "running", "binder"
	Does    string  `json:"does,omitempty"`  // what the thread did at that time, where that differs
	What    string  `json:"what,omitempty"`  // that ran, or was waited for
	Slice   string  `json:"slice,omitempty"` // the innermost that stood open
	FromMS  float64 `json:"from_ms"`
	ToMS    float64 `json:"to_ms"`
}

// PictureOfFrames draws a late frame above a usual one of the same event and one of the runs
// before, which may be nil. It is nil where the late frame's critical path is unknown.
func PictureOfFrames(title string, late run.LateFrame, usual, base *run.LateFrame) *Picture {
	if len(late.Path) == 0 {
		return nil
	}
	t := Threads{Frames: []DrawnFrame{drawnFrame(Late, late)}}
	if usual != nil && len(usual.Path) > 0 {
		t.Frames = append(t.Frames, drawnFrame(Usual, *usual))
	}
	if base != nil && len(base.Path) > 0 {
		t.Frames = append(t.Frames, drawnFrame(Base, *base))
	}
	return &Picture{Kind: ThreadsPicture, Title: title, Label: title, Threads: &t}
}

// PictureOfUsual draws a usual frame of an event above one of the runs before, for frames that take
// longer and are still in time. It is nil where either path is unknown.
func PictureOfUsual(title string, usual, base *run.LateFrame) *Picture {
	if usual == nil || base == nil || len(usual.Path) == 0 || len(base.Path) == 0 {
		return nil
	}
	return &Picture{Kind: ThreadsPicture, Title: title, Label: title, Threads: &Threads{Frames: []DrawnFrame{drawnFrame(Usual, *usual), drawnFrame(Base, *base)}}}
}

// PictureOfQueue draws tasks that waited in a queue, each with what ran in its unit meanwhile.
func PictureOfQueue(title string, waits []DrawnFrame) *Picture {
	return &Picture{Kind: ThreadsPicture, Title: title, Label: title, Threads: &Threads{Frames: waits}}
}

func drawnFrame(role Role, f run.LateFrame) DrawnFrame {
	out := DrawnFrame{Role: role, Repetition: f.Repetition, TookMS: f.DurationMS, DeadlineMS: f.DeadlineMS, Steps: make([]Step, len(f.Path))}
	for i, s := range f.Path {
		out.Steps[i] = Step(s)
	}
	return out
}

func (t Threads) cut() Threads {
	t.Frames = each(t.Frames, MaxDrawnFrames, func(f DrawnFrame) DrawnFrame {
		f.Steps = each(f.Steps, MaxSteps, func(s Step) Step {
			for _, text := range []*string{&s.Thread, &s.Process, &s.Stage, &s.Kind, &s.Does, &s.What, &s.Slice} {
				*text = cutText(*text)
			}
			return s
		})
		return f
	})
	return t
}

func (t Threads) validate() error {
	if len(t.Frames) > MaxDrawnFrames {
		return fmt.Errorf("frames has %d entries, at most %d are allowed", len(t.Frames), MaxDrawnFrames)
	}
	for i, f := range t.Frames {
		if err := f.validate(); err != nil {
			return fmt.Errorf("frames[%d].%w", i, err)
		}
	}
	return nil
}

func (f DrawnFrame) validate() error {
	switch {
	case !slices.Contains(roles, f.Role):
		return fmt.Errorf("role is %.60q, want one of %q", f.Role, roles)
	case f.Repetition < 0:
		return fmt.Errorf("repetition is %d, want 0 or more", f.Repetition)
	case !amountOf(f.TookMS) || !amountOf(f.DeadlineMS):
		return fmt.Errorf("took_ms is %g and deadline_ms %g, want 0 to %g", f.TookMS, f.DeadlineMS, float64(maxNumber))
	case len(f.Steps) > MaxSteps:
		return fmt.Errorf("steps has %d entries, at most %d are allowed", len(f.Steps), MaxSteps)
	}
	for i, s := range f.Steps {
		if !number(s.FromMS) || !number(s.ToMS) || s.ToMS < s.FromMS {
			return fmt.Errorf("steps[%d] is from %g to %g, want at most %g either way, in order", i, s.FromMS, s.ToMS, float64(maxNumber))
		}
		if err := errors.Join(texts("thread", s.Thread, "process", s.Process, "stage", s.Stage), texts("kind", s.Kind, "what", s.What, "slice", s.Slice)); err != nil {
			return fmt.Errorf("steps[%d]: %w", i, err)
		}
	}
	return nil
}
