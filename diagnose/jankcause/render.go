// Package jankcause explains what the frames of an event waited for, or were busy with, where an
// event renders worse than before.
//
// It owns what is compared with what, which part of lost time belongs to which cause, and its
// words: causes of the family "render". Package trace/perfetto/rendering reads what happened in a
// frame; the gate decides whether an event got worse. It only uses records, so that the explanation
// of a verdict never changes.
//
// It departs from the rule of "Aging or Glitching?" (section 2.3), by which a share of the critical
// path that is larger than in normal frames is abnormal. Where there are runs from before, all
// frames are compared with theirs, and not late ones with normal ones: what varies most from frame
// to frame is in late ones whatever has changed. Time counts, not only its share, so that one cause
// does not hide another. And nothing is named that chance or a warmer phone could have caused.
package jankcause

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Family is the family of these kinds.
var Family = diagnose.Family{Name: "render", Title: "What the frames waited for", Label: "Frames", Line: "Cause of slow frames", Has: "frames explained"}

// frameTimeline is run.Frames.Source of traces of Android 12 and later.
const frameTimeline = "frametimeline"

// lateMetric is the explained metric where nothing was flagged.
const lateMetric = "frames.late"

// Explain explains the findings of a run on frames by comparing with similar runs before, the main
// cause of each finding first. With neither findings nor runs before, such as for a trace alone, it
// compares the late frames of each event with the event's normal ones. It returns nothing where
// nothing stands out.
func Explain(head run.Run, base []run.Run, found []diagnose.Finding) []diagnose.Cause {
	if head.Frames == nil {
		return nil
	}
	if len(found) == 0 && len(base) == 0 {
		found = everyEvent(head.Frames)
	}
	base = beside(head, base)
	return contrast.Explainer{
		Head: head, Explains: func(metric string) bool { return strings.HasPrefix(metric, "frames.") },
		Event:  func(f diagnose.Finding) string { return recorded(head.Frames, f.Event) },
		Causes: func(_ diagnose.Finding, event string) []diagnose.Cause { return of(head, base, event) },
	}.Regressions(found)
}

// everyEvent returns findings for the events with late frames.
func everyEvent(f *run.Frames) []diagnose.Finding {
	var out []diagnose.Finding
	for _, g := range f.Groups {
		late := diagnose.Finding{Event: g.Event, Metric: lateMetric, Direction: gate.ToRegression}
		if isLate(g.Class) && g.Frames > 0 && !slices.Contains(out, late) {
			out = append(out, late)
		}
	}
	return out
}

func isLate(class string) bool { return class == run.SlowFrames || class == run.FrozenFrames }

// recorded returns the event of a finding as in the record.
func recorded(f *run.Frames, event string) string {
	return contrast.Recorded(event, func(event string) bool {
		return slices.ContainsFunc(f.Groups, func(g run.FrameGroup) bool { return g.Event == event })
	})
}

// of returns the causes of a finding, whose event has that name in the record, or one entry that
// says why there is none.
func of(head run.Run, base []run.Run, event string) []diagnose.Cause {
	c := comparison{event: event, timeline: head.Frames.Source == frameTimeline, head: tallied(head.Frames, event), worst: pathsOf(head.Frames.Worst, event)}
	for _, b := range base {
		if p := tallied(b.Frames, event); p.hasPaths() {
			c.base = append(c.base, p)
			c.frozen = append(c.frozen, frozen(pathsOf(b.Frames.Worst, event))...)
		}
	}
	t := teller{head: head, base: base, comparison: c, outcome: c.explain()}
	for i, s := range t.suspects {
		ends := append(t.rootOf(s.blame).words(s.blame), t.taskOf(s.blame)...)
		t.suspects[i].ends, t.suspects[i].sure = ends, t.surely(s.sure, s.kind)
	}
	var out []diagnose.Cause
	for _, s := range t.suspects {
		out = append(out, t.cause(s))
	}
	if len(out) == 0 {
		out = append(out, t.unexplained())
	}
	diagnose.Order(out)
	return out[:min(len(out), contrast.MaxEach)]
}

// pathsOf returns the frames of an event, "" for all, with a known path.
func pathsOf(all []run.LateFrame, event string) (out []run.LateFrame) {
	for _, f := range all {
		if (event == "" || f.Event == event) && len(f.Path) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// frozen returns those frames that froze.
func frozen(all []run.LateFrame) (out []run.LateFrame) {
	for _, f := range all {
		if f.DurationMS >= frozenMS {
			out = append(out, f)
		}
	}
	return out
}

// beside returns the runs before that the head's frames can be compared with: from the same kind of
// source.
func beside(head run.Run, candidates []run.Run) []run.Run {
	return contrast.Runs(head, candidates, func(r run.Run) bool { return r.Frames != nil && r.Frames.Source == head.Frames.Source })
}
