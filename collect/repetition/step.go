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

// step is one part of a repetition. The steps' before and while methods run in their order, and
// their after methods in the opposite order.
type step interface {
	before(ctx context.Context, a *attempt) error
	while(ctx context.Context, a *attempt) error
	after(ctx context.Context, a *attempt) error
}

// nothing is a step that does nothing, to embed in steps without all three methods.
type nothing struct{}

func (nothing) before(context.Context, *attempt) error { return nil }
func (nothing) while(context.Context, *attempt) error  { return nil }
func (nothing) after(context.Context, *attempt) error  { return nil }

// attempt is one try at a repetition: what its steps share.
type attempt struct {
	n         int
	measured  bool           // not part of the warm-up
	event     string         // the UI event under way when the views were read, in the warm-up
	began     time.Duration  // by the device's clock
	lasted    time.Duration  // of the workload
	readLogAt time.Duration  // by the device's clock, if the log is not followed
	counted   gfxinfo.Stated // of the app's frames, before it was stopped
	cpuBefore time.Duration  // of the app's process before it is measured
	log       *applog.Log
	frames    *framesource.Sampler
	workload  *workload.Running
	ended     error                 // how the workload failed, nil if it didn't
	energy    *energymeter.Metering // nil where none is measured
	watched   *applog.Repetition    // nil where no evidence is kept
	late      *applog.Late          // its latest frame, nil if its trace has none
	calls     *recordedCalls        // nil where none are recorded
}

// release ends whatever still runs for the attempt, except for the load.
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

// workloadEnded returns when the workload ended on CLOCK_MONOTONIC, 0 if unknown.
func (a *attempt) workloadEnded() time.Duration {
	if a.workload.End == "" {
		return 0
	}
	until, _ := a.log.Times(a.workload.End)()
	return until
}

// seen returns the observations of the repetition once its log and its frames were read.
func (a *attempt) seen(log applog.Sifted) applog.Seen {
	s := applog.Seen{Frames: a.frames.Frames, Anomalies: log.Anomalies, Events: log.UI, Alive: a.frames.Alive}
	s.From, s.To = a.log.Span()
	return s
}

// recordedCalls is what is recorded of an attempt.
type recordedCalls struct {
	begun   map[int]bool // processes that are recorded
	current *callsWindow // that is recorded now, nil if none is
	asked   *callsWindow // whose file is not complete yet
	windows []callsWindow
	noticed int // anomalies of which calls were saved
}

// callsWindow is a span in which calls were recorded, on CLOCK_MONOTONIC.
type callsWindow struct {
	path     string
	pid      int
	from, to time.Duration
	begun    time.Duration // by the device's clock
}
