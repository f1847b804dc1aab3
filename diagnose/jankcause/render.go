// Package jankcause says what the frames of an event waited for, or what they were busy
// with, where an event renders worse than before.
//
// It owns what is held against what, which part of lost time belongs to which cause, and
// what is said of it: causes of the family "render". What happened in a frame is read
// elsewhere (trace/perfetto/rendering); whether an event got worse is the gate's to say.
// It looks at records alone, so that a verdict is explained the same on every day.
//
// It takes a stand on the rule of "Aging or Glitching?" (section 2.3), by which a share of
// the critical path that is larger than in normal frames is abnormal. Where runs from
// before are known, all frames are held against theirs, not late ones against normal ones:
// what varies most from frame to frame is in late ones whatever has changed. Time counts,
// not only its share, so that a cause is not hidden by another one. And nothing is
// named that chance or a warmer phone could have made.
package jankcause

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Family is what they have in common.
var Family = diagnose.Family{Name: "render", Title: "What the frames waited for", Label: "Frames", Line: "Cause of slow frames", Has: "frames explained"}

// Limits on what is explained of one run.
const (
	maxBase     = 5  // runs that a head is held against
	maxFindings = 12 // that are explained
	maxEach     = 4  // causes of one finding
)

// frameTimeline is run.Frames.Source of traces of Android 12 and later.
const frameTimeline = "frametimeline"

// lateMetric is what a cause is said to explain where nothing was flagged.
const lateMetric = "frames.late"

// Explain says what explains the findings of a run on frames, held against those of the
// runs before that are like it, the most telling cause of each finding first. With
// neither findings nor runs before, as of a trace alone, it explains the late frames of
// each event by the event's normal ones. There are none where nothing stands out.
func Explain(head run.Run, base []run.Run, found []diagnose.Finding) []diagnose.Cause {
	if head.Frames == nil {
		return nil
	}
	alone := len(found) == 0 && len(base) == 0
	if alone {
		found = everyEvent(head.Frames)
	}
	base = beside(head, base)
	var out []diagnose.Cause
	explained := map[string]bool{}
	for _, f := range found {
		if !strings.HasPrefix(f.Metric, "frames.") || f.Direction != gate.ToRegression || len(explained) >= maxFindings && !explained[recorded(head.Frames, f.Event)] {
			continue
		}
		event := recorded(head.Frames, f.Event)
		causes := of(head, base, f, event)
		if explained[event] { // the same again, of another number of the same frames
			for i := range causes {
				causes[i].Tables, causes[i].Picture = nil, nil
			}
			causes = causes[:min(len(causes), 1)]
		}
		explained[event] = true
		out = append(out, causes...)
	}
	return out
}

// everyEvent are findings for the events that have late frames.
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

// recorded is the event of a finding as the record has it, which has all occurrences of one
// name together: "tap" for "tap#2" (run.EventNames).
func recorded(f *run.Frames, event string) string {
	at := strings.LastIndexByte(event, '#')
	if at <= 0 || slices.ContainsFunc(f.Groups, func(g run.FrameGroup) bool { return g.Event == event }) {
		return event
	}
	return event[:at]
}

// of are the causes of one finding, whose event the record has by that name, or one entry that
// says why there is none.
func of(head run.Run, base []run.Run, f diagnose.Finding, event string) []diagnose.Cause {
	c := comparison{event: event, timeline: head.Frames.Source == frameTimeline, head: tallied(head.Frames, event), worst: pathsOf(head.Frames.Worst, event)}
	for _, b := range base {
		if p := tallied(b.Frames, event); p.told() {
			c.base = append(c.base, p)
			c.frozen = append(c.frozen, frozen(pathsOf(b.Frames.Worst, event))...)
		}
	}
	t := teller{head: head, base: base, comparison: c, outcome: c.explain()}
	for i, s := range t.suspects {
		t.suspects[i].ends, t.suspects[i].sure = t.rootOf(s.blame).words(s.blame), t.surely(s.sure, s.kind)
	}
	var out []diagnose.Cause
	for _, s := range t.suspects {
		out = append(out, t.cause(s))
	}
	if len(out) == 0 {
		out = append(out, t.unexplained())
	}
	diagnose.Order(out)
	out = out[:min(len(out), maxEach)]
	for i := range out {
		out[i].Run, out[i].Scenario, out[i].Event, out[i].Metric = head.ID, head.Scenario, f.Event, f.Metric
	}
	return out
}

// pathsOf are the frames of an event, "" for all, of which the path is known.
func pathsOf(all []run.LateFrame, event string) (out []run.LateFrame) {
	for _, f := range all {
		if (event == "" || f.Event == event) && len(f.Path) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// frozen are those frames that froze.
func frozen(all []run.LateFrame) (out []run.LateFrame) {
	for _, f := range all {
		if f.DurationMS >= frozenMS {
			out = append(out, f)
		}
	}
	return out
}

// beside are the runs before that the head's frames can be held against: of the same
// app, scenario and device, read from the same kind of source, the newest first.
func beside(head run.Run, candidates []run.Run) []run.Run {
	like := slices.DeleteFunc(slices.Clone(candidates), func(r run.Run) bool { return !alike(head, r) })
	slices.SortStableFunc(like, func(a, b run.Run) int {
		same := func(r run.Run) int {
			if r.Context["sdk"] == head.Context["sdk"] {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(same(a), same(b)), b.Started.Compare(a.Started))
	})
	return like[:min(len(like), maxBase)]
}

func alike(head, r run.Run) bool {
	return r.Frames != nil && r.Frames.Source == head.Frames.Source && r.Status != run.Failed && (r.ID == "" || r.ID != head.ID) &&
		r.App.Package == head.App.Package && r.Scenario == head.Scenario &&
		r.Context["manufacturer"] == head.Context["manufacturer"] && r.Context["model"] == head.Context["model"]
}
