package jankcause

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// picture returns the frame that shows a suspect best, nil where none is known; for frames that
// take longer and are still in time a usual one.
func (t teller) picture(s suspect) *diagnose.Picture {
	worst := t.pictured(s)
	event := t.event
	if event == "" && len(worst) > 0 {
		event = worst[0].Event
	}
	if t.inTime(s) && event != "" {
		if p := diagnose.PictureOfUsual("A usual frame after "+event+", now and before, thread by thread", usualOf(t.head, event), t.before(event)); p != nil {
			return p
		}
	}
	if len(worst) == 0 || !s.behind && s.kind != "" && spent(worst[0], s) == 0 {
		return nil
	}
	return diagnose.PictureOfFrames(pictureTitle(worst[0]), worst[0], usualOf(t.head, worst[0].Event), t.before(worst[0].Event))
}

func pictureTitle(f run.LateFrame) string {
	if f.Event == "" {
		return fmt.Sprintf("A slow frame of repetition %d, thread by thread", f.Repetition)
	}
	return fmt.Sprintf("A slow frame after %s, repetition %d, thread by thread", f.Event, f.Repetition)
}

// pictured returns the listed worst frames of the event, those with most of the suspect's time
// first. One with a kept trace comes before another that shows as much, or up to twice as much.
func (t teller) pictured(s suspect) []run.LateFrame {
	if s.shown != nil {
		return append([]run.LateFrame{s.shown.frame}, t.pictured(suspect{blame: s.blame})...)
	}
	var out []run.LateFrame
	for _, f := range t.head.Frames.Worst {
		if (t.event == "" || f.Event == t.event) && len(f.Path) > 0 {
			out = append(out, f)
		}
	}
	of := spent
	if slices.ContainsFunc(out, func(f run.LateFrame) bool { return itself(f, s) > 0 }) {
		of = itself
	}
	telling := func(f run.LateFrame) float64 {
		if f.Evidence != "" {
			return 2 * of(f, s)
		}
		return of(f, s)
	}
	slices.SortStableFunc(out, func(a, b run.LateFrame) int { return cmp.Compare(telling(b), telling(a)) })
	return out
}

// itself returns how long a frame's path did what the suspect's foremost part is.
func itself(f run.LateFrame, s suspect) float64 {
	sum := 0.0
	for _, step := range f.Path {
		b := blameOf(run.FramePart{Name: step.Kind, Stage: step.Stage, What: step.What})
		if s.subject != "" && s.cores == nil && s.views == nil && b.kind == s.kind && uncounted(b.subject) == uncounted(s.subject) {
			sum += step.ToMS - step.FromMS
		}
	}
	return sum
}

// spent returns how long a frame's path did what the suspect is about; for slower cores, how long
// it ran.
func spent(f run.LateFrame, s suspect) float64 {
	sum := 0.0
	for _, step := range f.Path {
		b := blameOf(run.FramePart{Name: step.Kind, Stage: step.Stage, What: step.What})
		if b.kind == s.kind || s.cores != nil && isWork(b.kind) || s.views != nil && drawsMore(b.kind) || s.kind == BinderKind && step.Process != "" {
			sum += step.ToMS - step.FromMS
		}
	}
	return sum
}

// links refers to the worst frames that were kept.
func (t teller) links(s suspect) []diagnose.Link {
	var out []diagnose.Link
	for _, f := range t.pictured(s) {
		if f.Evidence != "" && len(out) < maxLinks && (s.behind || s.kind == "" || spent(f, s) > 0) {
			out = append(out, diagnose.Link{Digest: f.Evidence, FromMS: f.AtMS, ToMS: f.AtMS + f.DurationMS})
		}
	}
	return out
}

// usualOf returns the usual frame of an event, nil where there is none.
func usualOf(r run.Run, event string) *run.LateFrame {
	for i := range r.Frames.Usual {
		if r.Frames.Usual[i].Event == event {
			return &r.Frames.Usual[i]
		}
	}
	return nil
}

// before returns a usual frame of the runs before, the newest that has one.
func (t teller) before(event string) *run.LateFrame {
	for _, b := range t.base {
		if f := usualOf(b, event); f != nil {
			return f
		}
	}
	return nil
}
