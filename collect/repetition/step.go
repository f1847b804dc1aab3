package repetition

import (
	"context"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/energymeter"
	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/trace/gfxinfo"
)

// step is one part of a repetition. Steps begin in their order, look while the workload runs in
// the same one, and end in the opposite one.
type step interface {
	before(ctx context.Context, a *attempt) error
	while(ctx context.Context, a *attempt) error
	after(ctx context.Context, a *attempt) error
}

// nothing is a step that does nothing, for those that do not all three.
type nothing struct{}

func (nothing) before(context.Context, *attempt) error { return nil }
func (nothing) while(context.Context, *attempt) error  { return nil }
func (nothing) after(context.Context, *attempt) error  { return nil }

// attempt is one repetition while it is made: what its steps share.
type attempt struct {
	n         int
	measured  bool           // it is none of the warm-up
	event     string         // the UI event under way when the views were read, in the warm-up
	began     time.Duration  // by the device's clock
	lasted    time.Duration  // of the workload
	readLogAt time.Duration  // by the device's clock, where the log is not followed
	counted   gfxinfo.Stated // of the app's frames, before it was stopped
	cpuBefore time.Duration  // that the app's process has had before it is measured
	log       *applog.Log
	frames    *framesource.Sampler
	workload  *workload.Running
	ended     error                 // how the workload failed, nil where it went well
	energy    *energymeter.Metering // nil where none is measured
	watched   *applog.Repetition    // nil where no evidence is kept
	late      *applog.Late          // its latest frame, nil where its trace tells of none
}

// release ends what runs beside the attempt, however far it came.
func (a *attempt) release(j *journal.Journal) {
	if a.workload != nil {
		a.workload.Stop(j)
	}
	if a.watched != nil {
		a.watched.Stop()
	}
	if a.log != nil {
		a.log.Close()
	}
}

// workloadEnded is when that was on CLOCK_MONOTONIC, 0 where it is not known.
func (a *attempt) workloadEnded() time.Duration {
	if a.workload.End == "" {
		return 0
	}
	until, _ := a.log.Times(a.workload.End)()
	return until
}

// seen is what is known of the repetition once its log and its frames were read.
func (a *attempt) seen(log applog.Sifted) applog.Seen {
	s := applog.Seen{Frames: a.frames.Frames, Anomalies: log.Anomalies, Events: log.UI, Alive: a.frames.Alive}
	s.From, s.To = a.log.Span()
	return s
}
