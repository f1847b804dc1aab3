package collect

import (
	"time"

	"github.com/apkgate/apkgate/collect/conditions"
	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/collect/install"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/repetition"
	"github.com/apkgate/apkgate/collect/target"
)

// station is a device that is ready, for one collector or for several that take turns on it.
type station struct {
	target     *target.Target
	phone      *repetition.Phone // with its recorders
	simpleperf *recorders.Simpleperf
	conditions *conditions.Holder
	release    func()              // releases the claim to the device; nil: there is none
	sizes      map[string][]string // of the files of installed packages, in bytes
	// installed is the installer of the build on the device, nil if unknown; clean installs each
	// build anew, without the data of another.
	installed *install.Installer
	clean     bool
	apps      []string // the packages that are measured alternately
}

func newStation(job Job, options Options) *station {
	t := target.New(job.name(), job.Clock, started(options), job.Open)
	t.Console = job.Console
	if job.Wall != nil {
		t.Wall = job.Wall
	}
	t.Died, t.Why = job.Died, job.Why
	programs := &recorders.Programs{Target: t}
	limit := recordLimit(job)
	perfetto, simpleperf := &recorders.Perfetto{Programs: programs, Limit: limit}, &recorders.Simpleperf{Programs: programs, Limit: limit}
	return &station{
		target: t, simpleperf: simpleperf, conditions: &conditions.Holder{Target: t, Want: job.Conditions, Energy: job.Energy.Measured()}, sizes: map[string][]string{},
		phone: &repetition.Phone{
			Target: t, Programs: programs, Perfetto: perfetto, Simpleperf: simpleperf, Recording: &recorders.Set{All: []recorders.Recorder{perfetto, simpleperf}},
			Frames: &framesource.Choice{Target: t, Programs: programs, Perfetto: perfetto, Asked: job.Scenario.FramesBy},
		},
	}
}

// recordLimit is after how long a recorder ends by itself.
func recordLimit(job Job) time.Duration {
	limit := job.Scenario.Timeout
	if limit <= 0 {
		limit = 24 * time.Hour
	}
	if job.Energy != nil {
		limit += job.Energy.Disconnect
	}
	return limit + 10*time.Minute
}
