package jankcause

import (
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// From where on drawing what is never shown is reported ("Aging or Glitching?", section 3: in Gmail
// "redrawn for over four times (less than one time is ideal)"; Android's own overdraw display
// begins to be red there).
const (
	muchOverdraw = 3.0  // times that a pixel is drawn, without runs before
	moreOverdraw = 0.5  // by which it must have grown
	muchHidden   = 1.0  // windows that hidden views fill together, where nothing is known
	moreHidden   = 0.25 // by which it must have grown
)

// redundant is what is drawn on an event's screen though nobody sees it.
type redundant struct {
	overdraw, area             float64 // area: of all hidden views, in windows
	overdrawBefore, areaBefore float64 // -1 where unknown
	hidden                     []run.HiddenView
	more                       int // hidden views that are not listed
}

// redundantIn returns that of the screen of an event, of any for "" or where the event's was not
// read: that with the most overdraw; nil where no screen was read.
func redundantIn(f *run.Frames, event string) *redundant {
	var best, any *run.Views
	for i := range f.Views {
		v := &f.Views[i]
		if any == nil || v.Overdraw > any.Overdraw {
			any = v
		}
		if v.Event == event && (best == nil || v.Overdraw > best.Overdraw) {
			best = v
		}
	}
	if best == nil {
		best = any
	}
	if best == nil {
		return nil
	}
	out := &redundant{overdraw: best.Overdraw, hidden: best.Hidden, more: best.LeftOut, overdrawBefore: -1, areaBefore: -1}
	for _, h := range best.Hidden {
		out.area += h.AreaShare
	}
	return out
}

// views compares those of the head with those of the runs before; nil where the head's are unknown.
func (c comparison) views() *redundant {
	if c.head.views == nil {
		return nil
	}
	out := *c.head.views
	for _, b := range c.base {
		if b.views != nil {
			out.overdrawBefore, out.areaBefore = max(out.overdrawBefore, b.views.overdraw), max(out.areaBefore, b.views.area)
		}
	}
	return &out
}

// much reports whether that is enough to be a cause.
func (r redundant) much() bool {
	if r.overdrawBefore < 0 {
		return r.overdraw >= muchOverdraw || r.area >= muchHidden
	}
	return r.overdraw >= r.overdrawBefore+moreOverdraw || r.area >= r.areaBefore+moreHidden
}

// withRedundant adds the suspect that drawing takes longer because of what nobody sees: in place of
// drawing where more of it is drawn than before, and last without runs before.
func (c comparison) withRedundant(found []suspect) []suspect {
	v := c.views()
	if v == nil || !v.much() {
		return found
	}
	out := suspect{blame: blame{kind: OverdrawKind, subject: "overdraw"}, views: v, sure: diagnose.Likely}
	if len(v.hidden) > 0 {
		out.subject = v.hidden[0].Class
	}
	if v.overdrawBefore < 0 {
		out.sure = diagnose.Possible
	}
	var others []suspect
	for _, s := range found {
		if !drawsMore(s.kind) {
			others = append(others, s)
			continue
		}
		if s.more.Mean > out.more.Mean {
			out.place = s.place
		}
		out.more.Mean += s.more.Mean
		out.share, out.low, out.high = min(out.share+s.share, 1), min(out.low+s.low, 1), min(out.high+s.high, 1)
		out.parts = append(out.parts, s.parts...)
		out.latePart, out.inLate = min(out.latePart+s.latePart, 1), max(out.inLate, s.inLate)
	}
	switch {
	case out.share == 0:
		return found
	case out.sure == diagnose.Possible:
		return append(found, out)
	}
	return append(others, out)
}
