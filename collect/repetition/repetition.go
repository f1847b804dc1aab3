// Package repetition makes one repetition of a scenario on a device that is set up: a list of
// steps (the app's start, energy, the log, frames, what records, evidence, views), each with
// what is done before the workload, while it runs and after it. What was seen is then judged,
// and is a measurement, or the reason why the repetition is lost.
//
// It owns the order of the steps and what they share, one attempt; each step keeps what it
// needs to itself. How a thing is measured is owned by the packages that the steps call. What
// follows from a lost repetition is package collect's, and what a record says of those that
// were measured package record's. It takes a stand: a repetition is measured whole or it is
// lost.
package repetition

import (
	"context"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/frames"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/power"
	"github.com/apkgate/apkgate/collect/preparation"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
)

// Phone is the device as it stands ready, with what records on it; those who take turns on it
// share one.
type Phone struct {
	Target    *target.Target
	Programs  *recorders.Programs
	Perfetto  *recorders.Perfetto
	Recording *recorders.Set
	Frames    *frames.Choice
	Meter     *power.Meter // nil where no energy is measured
	// Evident says that what evidence needs is recorded.
	Evident bool
}

// Work is what is repeated on the phone, for one run.
type Work struct {
	App      config.App
	Scenario config.Scenario
	Plan     *workload.Plan
	Prepared *preparation.Preparation
	// Energy says how joules are measured; nil measures none.
	Energy  *config.Energy
	Build   *power.Build
	Watcher *applog.Watcher // nil where no evidence is kept
	Started time.Time       // of the run
	// Interleaved says that the build takes turns with another.
	Interleaved bool
}

// detaches reports whether the workload runs without a connection.
func (w Work) detaches() bool { return w.Energy != nil && w.Energy.Disconnect > 0 }

// Detached is how the workload runs without a connection, nil where it has one.
func (w Work) Detached(p *Phone) *workload.Detached {
	if !w.detaches() {
		return nil
	}
	return &workload.Detached{Plan: *w.Plan, Programs: p.Programs, For: w.Energy.Disconnect, Frames: p.Frames.Records()}
}

// Repeater makes the repetitions of one run.
type Repeater struct {
	phone *Phone
	work  Work

	start     *start
	log       *log
	frames    *sampling
	recording *recording
	evidence  *evidence
	views     *views
	anrs      *anrs
	workload  *running
	benchmark *benchmark
	steps     []step // in the order in which they begin
}

// New is ready to make repetitions of the work on the phone.
func New(p *Phone, w Work) *Repeater {
	r := &Repeater{
		phone: p, work: w, start: newStart(p, w), log: &log{phone: p, work: w}, frames: &sampling{phone: p, work: w}, recording: &recording{phone: p},
		evidence: &evidence{phone: p, work: w}, views: &views{phone: p, work: w}, anrs: &anrs{phone: p, work: w}, workload: &running{phone: p, work: w},
		benchmark: &benchmark{phone: p, work: w},
	}
	r.steps = []step{
		r.start, leftovers{phone: p}, energy{}, r.log, r.frames, r.recording, memory{phone: p, work: w}, joules{}, r.evidence, r.views, ring{phone: p}, r.workload,
	}
	return r
}

// Make does the workload once and measures it; one of the warm-up without what is recorded
// beside it. The error says whose failure it is that there is no measurement.
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

// ready brings the device and the app to the state in which every repetition begins: the app is
// stopped, the device cool, its screen on and unlocked as set-up has left it.
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
	return r.phone.Target.Pulse(ctx)
}

// watch has the steps look at the app until the workload ends, by itself or because its time
// is over. The error is that the device could not be asked.
func (r *Repeater) watch(ctx context.Context, a *attempt) error {
	began := r.phone.Target.Clock.Now()
	defer func() { a.lasted = r.phone.Target.Clock.Now() - began }()
	busy := begins(r.phone.Target)
	a.readLogAt = r.phone.Target.Clock.Now() + readLogEvery
	for ; !a.workload.Ended(); busy.tell() {
		over, err := r.workload.next(ctx, a, began)
		if over || err != nil {
			return err
		}
		if a.energy != nil && a.workload.Ended() {
			break // what comes after it is not its energy
		}
		for _, s := range r.steps {
			if err := s.while(ctx, a); err != nil {
				return err
			}
		}
	}
	return r.workload.end(ctx, a, r.start)
}

// SeekRestart looks, once the device answers again, whether a repetition was lost since
// Android itself ended and was started again: the log goes on across that.
func (r *Repeater) SeekRestart(ctx context.Context, n int) { r.anrs.seekRestart(ctx, n) }

// ANRs are what did not respond in all attempts so far, for the record.
func (r *Repeater) ANRs() []run.ANR { return r.anrs.found }

// SawFrames reports whether the app has drawn something.
func (r *Repeater) SawFrames() bool { return r.frames.saw }

// Frames is the record's section of what frames were spent on, with the views of the app's
// window and, of its late frames, the traces that were kept. nil where nothing tells.
func (r *Repeater) Frames() *run.Frames {
	out := r.evidence.paths.Frames()
	record.LinkTraces(out, r.work.Watcher.Kept)
	r.views.addTo(out)
	return out
}
