// Package repetition makes one repetition of a scenario on a device that is set up. It runs a list
// of steps (the app's start, energy, the log, frames, recorders, the load, evidence, calls, views), each
// before the workload, while it runs and after it. The observations then become a measurement, or
// the reason why the repetition is lost.
//
// It owns the order of the steps and what they share, one attempt; all other state belongs to a
// step. How a thing is measured belongs to the packages that the steps call. What follows from a
// lost repetition belongs to package collect, and the record of the measured ones to package
// record. A repetition is measured completely or it is lost.
//
// It has more files than other packages, as each step has one.
package repetition

import (
	"context"
	"slices"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/run"
)

// Repeater makes the repetitions of one run.
type Repeater struct {
	phone *Phone
	work  Work

	start     *start
	log       *log
	frames    *sampling
	recording *recording
	load      *besides
	evidence  *evidence
	views     *views
	anrs      *anrs
	methods   *methods
	workload  *running
	benchmark *benchmark
	steps     []step // in the order in which they begin
}

// New returns a Repeater of the work on the phone.
func New(p *Phone, w Work) *Repeater {
	r := &Repeater{
		phone: p, work: w, start: newStart(p, w), log: &log{phone: p, work: w}, frames: &sampling{phone: p, work: w}, recording: &recording{phone: p}, load: newBesides(p, w),
		evidence: &evidence{phone: p, work: w}, views: &views{phone: p, work: w}, anrs: &anrs{phone: p, work: w}, workload: &running{phone: p, work: w},
		benchmark: &benchmark{phone: p, work: w},
	}
	r.methods = &methods{phone: p, work: w, names: r.anrs.names}
	r.steps = []step{
		r.start, leftovers{phone: p}, energy{}, r.log, r.frames, sampler{methods: r.methods}, r.recording, r.load, memory{phone: p, work: w}, joules{}, r.evidence, r.methods, r.views, ring{phone: p}, r.workload,
	}
	return r
}

// Make runs the workload once and measures it; in the warm-up nothing is recorded. The error says
// whose failure it is that there is no measurement.
func (r *Repeater) Make(ctx context.Context, n int, measured bool) (record.Measurement, error) {
	out, err := r.make(ctx, n, measured)
	if err != nil {
		return record.Measurement{}, loss.Of(r.phone.Target.Name, loss.Infrastructure, journal.Measure, n, err)
	}
	return out, nil
}

func (r *Repeater) make(ctx context.Context, n int, measured bool) (out record.Measurement, err error) {
	a := &attempt{n: n, measured: measured}
	r.anrs.attempt = nil
	if err := r.ready(ctx, a); err != nil {
		return out, err
	}
	if r.work.Scenario.Workload.Benchmark() != nil {
		return r.benchmark.measure(ctx, a)
	}
	a.began, r.anrs.attempt = r.phone.Target.Clock.Now(), a
	if measured && r.phone.Meter != nil {
		a.energy = r.phone.Meter.Measure(r.work.Build)
	}
	defer a.release(r.phone.Target.Journal)
	defer r.load.load.Release(ctx)
	for _, s := range r.steps {
		if err := s.before(ctx, a); err != nil {
			return out, err
		}
	}
	err = r.watch(ctx, a)
	a.log.Unheard()
	if err != nil {
		return out, err
	}
	for _, s := range slices.Backward(r.steps) {
		if err := s.after(ctx, a); err != nil {
			return out, err
		}
	}
	return r.judge(ctx, a)
}

// ready brings the device and the app to the state in which each repetition begins: the app
// stopped, the device cool, its screen on and unlocked as after set-up.
func (r *Repeater) ready(ctx context.Context, a *attempt) (err error) {
	if a.counted, err = countBefore(ctx, r.phone, r.work.App.Package); err != nil {
		return err
	}
	if err := r.work.Prepared.Reset(ctx); err != nil {
		return err
	}
	if err := r.work.Prepared.Rest(ctx, a.measured); err != nil {
		return err
	}
	return r.phone.Target.CheckAlive(ctx)
}

// watch runs the steps that look at the app until the workload ends, by itself or at its timeout.
// It fails if the device can't be reached.
func (r *Repeater) watch(ctx context.Context, a *attempt) error {
	began := r.phone.Target.Clock.Now()
	defer func() { a.lasted = r.phone.Target.Clock.Now() - began }()
	busy := newBusy(r.phone.Target)
	a.readLogAt = r.phone.Target.Clock.Now() + readLogEvery
	for ; !a.workload.Ended(); busy.report() {
		over, err := r.workload.next(ctx, a, began)
		if over || err != nil {
			return err
		}
		if a.energy != nil && a.workload.Ended() {
			break // energy used later is not the workload's
		}
		for _, s := range r.steps {
			if err := s.while(ctx, a); err != nil {
				return err
			}
		}
	}
	return r.workload.end(ctx, a, r.start)
}

// judge turns the observations into a measurement, or returns why the repetition is lost.
func (r *Repeater) judge(ctx context.Context, a *attempt) (out record.Measurement, err error) {
	if w := a.workload; a.energy != nil && w.End != "" {
		a.energy.Marked(a.log.Times(w.Begin), a.log.Times(w.End))
	}
	seen := r.log.sift(a)
	if a.energy != nil && a.workload.Begin == "" {
		a.energy.Began(seen.Began)
	}
	timelineErr := r.frames.take(ctx, a, seen)
	if loss.Stops(timelineErr) {
		return out, timelineErr
	}
	s := a.seen(seen)
	from, stood := len(r.anrs.found), []record.Standstill(nil)
	if a.measured {
		from, stood, r.anrs.attempt = r.anrs.note(a.n, s), record.Standstills(s), nil
	}
	unseen, lost := false, seen.Loss(a.ended)
	if lost == nil {
		unseen, lost = r.frames.loss(a, seen, timelineErr)
	}
	if lost != nil {
		r.evidence.keep(ctx, a, s, lost)
		s.Lost = lost
		r.methods.keep(ctx, a, s)
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
	r.methods.keep(ctx, a, s)
	r.anrs.explain(ctx, a, from, false)
	if !a.measured {
		return out, nil
	}
	if err = r.phone.Recording.Drop(ctx); err == nil {
		err = r.phone.Target.WarnThrottled(ctx, a.n)
	}
	if err != nil {
		r.anrs.lost(stood)
		return out, err
	}
	r.anrs.restarts = nil
	return out, nil
}

// measurement combines what the log and the frames show of the repetition.
func (r *Repeater) measurement(a *attempt, seen applog.Sifted) record.Measurement {
	out := record.Measurement{
		Repetition: a.n, Frames: a.frames.Frames, Events: seen.UI, Startup: seen.Startup, FullStart: seen.FullStart, CPU: a.cpuSince(a.frames.CPU()),
		PSSKB: a.frames.MemoryKB(), By: a.frames.By, Whole: a.frames.Whole(), Lasted: a.lasted,
	}
	out.RSSKB, out.PeakKB = a.frames.RSS()
	if done, ok := a.frames.Done(); ok && a.cpuBefore == 0 { // else the process did some of it before
		out.Done = &done
	}
	a.frames.WarnUnread(a.n)
	var known bool
	if out.Watching, known = a.frames.Watching(); !known {
		out.Watching = -1
	}
	if started := a.workload.Started; started != nil {
		r.start.compareStart(a.n, *started, seen)
		r.start.compareDrawn(a, *started)
		out.Startup = started.Total
	}
	return out
}

// account adds the energy that was used, and the app's work in the recording.
func (r *Repeater) account(ctx context.Context, a *attempt, seen applog.Sifted, out *record.Measurement) (err error) {
	if a.energy != nil {
		if out.Energy, err = a.energy.PostTest(ctx, seen.UI); err != nil {
			return err
		}
	}
	return r.evidence.read(ctx, a, seen, out)
}

// SeekRestart checks, once the device answers again, whether a repetition was lost because Android
// itself ended and was restarted: the log continues across that.
func (r *Repeater) SeekRestart(ctx context.Context, n int) { r.anrs.seekRestart(ctx, n) }

// ANRs returns the ANRs of all attempts so far, for the record.
func (r *Repeater) ANRs() []run.ANR { return r.anrs.found }

// PrepareMethods chooses what records the app's calls.
func (r *Repeater) PrepareMethods(ctx context.Context) error { return r.methods.prepare(ctx) }

// MethodsBy returns what records the app's calls, "" if nothing does.
func (r *Repeater) MethodsBy() string { return r.methods.by }

// MethodTraces returns the record's section on the calls that were kept; nil if there are none.
func (r *Repeater) MethodTraces() *run.MethodTraces { return r.methods.record() }

// SawFrames reports whether the app has drawn something.
func (r *Repeater) SawFrames() bool { return r.frames.saw }

// Tasks returns the record's section on the app's asynchronous tasks; nil if none were recorded.
func (r *Repeater) Tasks() *run.Tasks {
	if r.evidence.tasks == nil {
		return nil
	}
	for _, w := range r.evidence.tasks.Warnings() {
		r.phone.Target.Journal.Warnf("asynchronous tasks: %s", w.Text)
	}
	return r.evidence.tasks.Tasks()
}

// Frames returns the record's section on what frames spent their time on, with the views of the
// app's window and, for its late frames, the traces that were kept; nil if nothing is known.
func (r *Repeater) Frames() *run.Frames {
	out := r.evidence.paths.Frames()
	record.LinkTraces(out, r.work.Watcher.Kept)
	r.views.addTo(out)
	return out
}
