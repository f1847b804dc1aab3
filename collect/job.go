package collect

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/devicelock"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
)

// Job is one run to be made: one scenario on one device.
type Job struct {
	// Device is the device's name in reports: of one device, or of a profile that several identical
	// ones share.
	Device string
	// Station is the name of the individual device in progress and errors; "" is Device.
	Station string
	// Cost estimates how long the job takes, to order jobs.
	Cost time.Duration
	// Open connects to the device, and again after it was lost.
	Open func(ctx context.Context) (device.Device, error)
	// Owner identifies the measuring process to other users of the device: the device is marked as
	// in use from connecting until it is left as it was found, and changes left by a killed run are
	// undone. nil if nobody else can use it.
	Owner *devicelock.Owner
	// OwnFor is how long to wait for another user of the device.
	OwnFor time.Duration
	// Claim takes the device on this computer for the owner, before it is connected. If somebody
	// else has it, Claim reports that and waits. It returns the lock for devicelock.Owner's Lock.
	// nil takes nothing.
	Claim func(ctx context.Context, me devicelock.Owner, waiting func(message string)) (lock string, release func(), err error)
	// Clock is the device's time; nil is this computer's.
	Clock device.Clock
	// Console is the port on this computer of the console of an emulator that runs here; 0: none.
	Console int
	// Wall is the clock that times the waiting for answers; nil is this computer's. A simulated
	// device has its own.
	Wall device.Clock
	// Died is closed when the device is gone for good, and Why returns the reason, both from what
	// booted the device. A dead device is not waited for. nil if unknown.
	Died <-chan struct{}
	Why  func() string

	App      config.App
	Scenario config.Scenario
	// Network is set up before the run: "wifi", "none", or any other name for mobile data; ""
	// leaves the device's network as it is.
	Network string
	// Extra are context properties that the device cannot report; they override the device's.
	Extra   map[string]string
	Source  run.Source
	Session string
	// Energy configures how joules are measured; nil measures none.
	Energy *config.Energy
	// Conditions configure how the device's conditions are held.
	Conditions config.Conditions
	// Evidence configures which recordings are kept; none if Options have no Evidence.
	Evidence config.Evidence
	// Methods configures which of the app's calls are recorded.
	Methods config.Methods
	// Files are kept already, and belong to the run whatever recordings are kept.
	Files []run.Evidence
	// KeepInstalled leaves what was installed for the run on the device.
	KeepInstalled bool
}

// name returns the device's name in progress and errors.
func (j Job) name() string { return cmp.Or(j.Station, j.Device) }

// Options are what a collection needs from its surroundings.
type Options struct {
	// Host runs a command on this computer, for Maestro; nil refuses it.
	Host workload.HostRunner
	// Evidence keeps files with the runs; nil keeps none. The jobs of a lab share it.
	Evidence evidence.Keeper
	// Progress receives the events; nil discards them.
	Progress journal.Progress
	// Now is the time of day, for Run.Started; nil is time.Now.
	Now func() time.Time
}

// started returns the time of day at which a run begins.
func started(options Options) time.Time {
	now := time.Now
	if options.Now != nil {
		now = options.Now
	}
	return now().UTC().Truncate(time.Millisecond)
}

// Result is the result of a job.
type Result struct {
	Device  string
	Station string // on which it was made; "" if it was not started
	// Run is a valid record of the measurements, whose last warning is why it is incomplete, if it
	// is.
	Run run.Run
	// Err is the gravest cause of an incomplete run, a *loss.Error; nil if it is complete.
	Err error
	// Traces are the samples of the app's methods, a trace for each iteration; none if they were
	// not sampled.
	Traces []methods.Trace
	// Took is how long the parts of a run took, as far as they were made in one go.
	Took Took
}

// Progress is the state of two builds' rounds.
type Progress struct {
	Base, Head run.Run
	// Left is what remains of Turns.Within, below 0 if that is no limit; Round is the longest
	// duration of a round, 0 before the first.
	Left, Round time.Duration
}

// Why two builds were not measured alternately to the end.
var (
	ErrOtherBuild = errors.New("measuring alternately ended with the other build")
	ErrNoTime     = errors.New("there was no time to measure alternately")
)

// Took is how long the parts of a run took by the device's clock, 0 if there was none: the
// preparation of a build's turn (installing, compiling, warming up), and one repetition on average.
type Took struct{ SetUp, Repetition time.Duration }

// taking adds up the durations of parts.
type taking struct {
	setUp, measuring time.Duration
	made             int
}

// timed wraps a step of set-up to add its duration.
func (t *taking) timed(clock device.Clock, do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		began := clock.Now()
		err := do(ctx)
		t.setUp += clock.Now() - began
		return err
	}
}

// repetition adds the duration of a repetition.
func (t *taking) repetition(clock device.Clock, began time.Duration) {
	t.measuring += clock.Now() - began
	t.made++
}

func (t *taking) took() Took {
	out := Took{SetUp: t.setUp}
	if t.made > 0 {
		out.Repetition = t.measuring / time.Duration(t.made)
	}
	return out
}
