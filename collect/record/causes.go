package record

import (
	"slices"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
)

// Latest returns the seen frame of a repetition that missed its deadline by the most, nil if none
// did.
func Latest(r section.Repetition) (out *applog.Late) {
	for _, f := range r.Trace.Frames {
		if by := f.Took - f.Deadline; (f.Class == run.SlowFrames || f.Class == run.FrozenFrames) && (out == nil || by > out.By) {
			out = &applog.Late{At: f.At, Took: f.Took, By: by}
		}
	}
	return out
}

// LinkTraces links each frame of the record's section on what frames spent their time on to the
// kept trace of its repetition, if any. The section may be nil.
func LinkTraces(section *run.Frames, kept []run.Evidence) {
	if section == nil {
		return
	}
	for _, list := range [][]run.LateFrame{section.Worst, section.Usual} {
		for i := range list {
			for _, e := range kept {
				if e.Kind == run.PerfettoTrace && e.Repetition == list[i].Repetition {
					list[i].Evidence = e.Digest
				}
			}
		}
	}
}

// Views are the views of the app's window after each UI event, by its name, in the order in which
// the events came first.
type Views []run.Views

// Add replaces what was seen after an event of that name.
func (s *Views) Add(v run.Views) {
	for i, known := range *s {
		if known.Event == v.Event {
			(*s)[i] = v
			return
		}
	}
	if len(*s) < run.MaxViews {
		*s = append(*s, v)
	}
}

// Hidden reports whether any are drawn though later ones cover them.
func (s Views) Hidden() bool {
	return slices.ContainsFunc(s, func(v run.Views) bool { return len(v.Hidden) > 0 })
}
