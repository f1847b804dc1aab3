package repetition

import (
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/energymeter"
	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/collect/preparation"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
)

// Phone is a device that is ready, with its recorders. Builds that are measured alternately share one.
type Phone struct {
	Target   *target.Target
	Programs *recorders.Programs
	Perfetto *recorders.Perfetto
	// Simpleperf samples methods.
	Simpleperf *recorders.Simpleperf
	Recording  *recorders.Set
	Frames     *framesource.Choice
	Meter      *energymeter.Meter // nil where no energy is measured
	// Evident reports that evidence is recorded.
	Evident bool
}

// Work is what is repeated on the phone, for one run.
type Work struct {
	App      config.App
	Scenario config.Scenario
	Plan     *workload.Plan
	Prepared *preparation.Preparation
	// Energy configures how joules are measured; nil measures none.
	Energy  *config.Energy
	Build   *energymeter.Build
	Watcher *applog.Watcher // nil where no evidence is kept
	Methods config.Methods  // which calls are recorded
	Started time.Time       // of the run
	// Interleaved reports that the build takes turns with another.
	Interleaved bool
}

// detaches reports whether the workload runs without a connection.
func (w Work) detaches() bool { return w.Energy != nil && w.Energy.Disconnect > 0 }

// Detached configures a workload that runs without a connection, nil if it has one.
func (w Work) Detached(p *Phone) *workload.Detached {
	if !w.detaches() {
		return nil
	}
	return &workload.Detached{Plan: *w.Plan, Programs: p.Programs, For: w.Energy.Disconnect, Frames: p.Frames.Records()}
}
