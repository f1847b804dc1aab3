package jankcause

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// A single frame shows what it waited for, where that is most of it.
const (
	frozenMS = 700.0 // from which on a frame is frozen ("Aging or Glitching?", section 1)
	mostOf   = 0.5   // of a frame, or of all lost time, that has to be one thing
)

// freeze is a frame that shows a cause by itself.
type freeze struct {
	frame run.LateFrame
	kind  string
	ms    float64 // of the frame that are of that kind
	// frames are those that show the same, in so many of all repetitions.
	frames, repetitions, of int
}

// mainly returns the kind of most of a frame's time, and how much; "" where there is none.
func mainly(f run.LateFrame) (kind string, took float64) {
	by := map[string]float64{}
	for _, step := range f.Path {
		b := blameOf(run.FramePart{Name: step.Kind, Thread: step.Thread, Stage: step.Stage, What: step.What})
		by[b.kind] += step.ToMS - step.FromMS
	}
	for k, ms := range by {
		if k != "" && k != bufferKind && (ms > took || ms == took && k < kind) {
			kind, took = k, ms
		}
	}
	if took < mostOf*f.DurationMS {
		return "", 0
	}
	return kind, took
}

// freezes returns what single frames show, by kind: frozen ones unlike any in runs before, and
// without runs before a late one that took most of the time lost by late frames.
func (c comparison) freezes() (out []freeze) {
	for _, f := range c.worst {
		if !c.telling(f) {
			continue
		}
		kind, took := mainly(f)
		before := slices.ContainsFunc(c.frozen, func(b run.LateFrame) bool {
			k, _ := mainly(b)
			return k == kind
		})
		if kind == "" || before {
			continue
		}
		at := slices.IndexFunc(out, func(o freeze) bool { return o.kind == kind })
		if at < 0 {
			at = len(out)
			out = append(out, freeze{frame: f, kind: kind, ms: took})
		}
		out[at].frames++
	}
	for i := range out {
		seen := map[int]bool{}
		for _, f := range c.worst {
			if k, _ := mainly(f); k == out[i].kind && c.telling(f) {
				seen[f.Repetition] = true
			}
		}
		out[i].repetitions, out[i].of = len(seen), c.repetitions()
	}
	return out
}

// telling reports whether a frame is informative by itself.
func (c comparison) telling(f run.LateFrame) bool {
	if f.DurationMS >= frozenMS {
		return true
	}
	late, usual := c.head.late, c.head.normal.took.sum/max(c.head.normal.frames, 1)
	return c.alone() && f.DurationMS-usual >= mostOf*(late.took.sum-late.frames*usual)
}

// repetitions returns how many repetitions of the head have frames of the event, 0 where unknown.
func (c comparison) repetitions() int {
	return int(c.head.seen().scatter(nil).Repetitions)
}

// withFreezes marks suspects that a frame shows, and adds what only frames show.
func (c comparison) withFreezes(o outcome) []suspect {
	out := o.suspects
	for _, f := range c.freezes() {
		at := slices.IndexFunc(out, func(s suspect) bool { return s.kind == f.kind })
		if at < 0 {
			i := slices.IndexFunc(o.shifts, func(s shift) bool { return s.kind == f.kind && s.more.Mean > 0 })
			if i < 0 {
				continue // it took as long before
			}
			all := c.suspectsOf(o.shifts[i], o.whole)
			slices.SortStableFunc(all, func(a, b suspect) int { return cmp.Compare(b.share, a.share) })
			at = len(out)
			out = append(out, all[0])
		}
		out[at].sure, out[at].shown = diagnose.Seen, &f
	}
	return out
}
