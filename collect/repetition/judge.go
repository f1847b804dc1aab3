package repetition

import (
	"context"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/record"
)

// judge makes a measurement of what was seen, or says why the repetition is lost.
func (r *Repeater) judge(ctx context.Context, a *attempt) (out record.Measurement, err error) {
	if w := a.workload; a.energy != nil && w.End != "" {
		a.energy.Marked(a.log.Times(w.Begin), a.log.Times(w.End))
	}
	seen := r.log.sift(a)
	if a.energy != nil && a.workload.Begin == "" {
		a.energy.Began(seen.Began)
	}
	untold := r.frames.take(ctx, a, seen)
	if loss.Stops(untold) {
		return out, untold
	}
	s := a.seen(seen)
	from, stood := len(r.anrs.found), []record.Standstill(nil)
	if a.measured {
		from, stood, r.anrs.attempt = r.anrs.note(a.n, s), record.Standstills(s), nil
	}
	unseen, lost := false, seen.Loss(a.ended)
	if lost == nil {
		unseen, lost = r.frames.loss(a, seen, untold)
	}
	if lost != nil {
		r.evidence.keep(ctx, a, s, lost)
		r.anrs.explain(ctx, a, from, true)
		r.anrs.lost(stood)
		return out, loss.Of(r.phone.Target.Name, causeOf(lost), journal.Measure, a.n, lost)
	}
	out = r.measurement(a, seen)
	out.Unseen, out.Standstills = unseen, append(stood, r.anrs.restarts...)
	if err := r.account(ctx, a, seen, &out); err != nil {
		r.anrs.lost(stood)
		return out, err
	}
	r.evidence.keep(ctx, a, s, nil)
	r.anrs.explain(ctx, a, from, false)
	if !a.measured {
		return out, nil
	}
	if err = r.phone.Recording.Drop(ctx); err == nil {
		err = r.phone.Target.TellSlowness(ctx, a.n)
	}
	if err != nil {
		r.anrs.lost(stood)
		return out, err
	}
	r.anrs.restarts = nil
	return out, nil
}

// measurement is what the log and the frames tell of the repetition.
func (r *Repeater) measurement(a *attempt, seen applog.Sifted) record.Measurement {
	out := record.Measurement{
		Repetition: a.n, Frames: a.frames.Frames, Events: seen.UI, Startup: seen.Startup, FullStart: seen.FullStart, CPU: a.cpuSince(a.frames.CPU()),
		PSSKB: a.frames.MemoryKB(), By: a.frames.By, Whole: a.frames.Whole(), Lasted: a.lasted,
	}
	out.RSSKB, out.PeakKB = a.frames.RSS()
	if done, ok := a.frames.Done(); ok && a.cpuBefore == 0 { // else the process did some of it before
		out.Done = &done
	}
	a.frames.TellUnread(a.n)
	var known bool
	if out.Watching, known = a.frames.Watching(); !known {
		out.Watching = -1
	}
	if told := a.workload.Started; told != nil {
		r.start.compareStart(a.n, *told, seen)
		r.start.compareDrawn(a, *told)
		out.Startup = told.Total
	}
	return out
}

// account adds the energy that was spent, and what the recording tells of the app's work.
func (r *Repeater) account(ctx context.Context, a *attempt, seen applog.Sifted, out *record.Measurement) (err error) {
	if a.energy != nil {
		if out.Energy, err = a.energy.PostTest(ctx, seen.UI); err != nil {
			return err
		}
	}
	out.Collected, out.Counted, err = r.evidence.read(ctx, a, seen)
	return err
}
