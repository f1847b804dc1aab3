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
	// Device names what the run is of in reports: a device, or the profile of several
	// that are alike.
	Device string
	// Station names the very device in progress and in what goes wrong; "" is Device.
	Station string
	// Cost is about how long the job takes, for the order in which jobs are begun.
	Cost time.Duration
	// Open connects to the device, and again after it was lost.
	Open func(ctx context.Context) (device.Device, error)
	// Owner is who measures, for others who would use the device: it is marked as in
	// use from when it is connected to until it is left as it was found, and what a run
	// that was killed left changed on it is put back. nil where nobody else can use it.
	Owner *devicelock.Owner
	// OwnFor is how long somebody else who uses the device is waited for.
	OwnFor time.Duration
	// Claim takes the device on this computer for the owner, before it is connected to.
	// Where somebody else has it, Claim says so and waits. It returns what claim.Owner's
	// Lock says. nil takes nothing.
	Claim func(ctx context.Context, me devicelock.Owner, waiting func(message string)) (lock string, release func(), err error)
	// Clock is the device's time; nil is this computer's.
	Clock device.Clock
	// Console is the port of this computer on which the device's console answers, where it
	// is an emulator that runs here; 0: none.
	Console int
	// Wall is the clock by which the device's answers are waited for; nil is this
	// computer's. A simulated device has one of its own.
	Wall device.Clock
	// Died is closed when the device is gone for good, and Why says how: what booted it
	// knows. It is then not waited for. nil where nobody can tell.
	Died <-chan struct{}
	Why  func() string

	App      config.App
	Scenario config.Scenario
	// Network is set up before the run: "wifi", "none", or any other name for
	// mobile data; "" leaves the device's as it is.
	Network string
	// Extra are context properties that no device can tell; they win.
	Extra   map[string]string
	Source  run.Source
	Session string
	// Energy says how joules are measured; nil measures none.
	Energy *config.Energy
	// Conditions say how the device is held still.
	Conditions config.Conditions
	// Evidence says what is kept of what was recorded; nothing where Options have no
	// Evidence.
	Evidence config.Evidence
	// Files are kept already, and belong to the run whatever is kept of what is recorded.
	Files []run.Evidence
	// KeepInstalled leaves on the device what was installed for the run.
	KeepInstalled bool
}

// name is what the device is called in progress and in what goes wrong.
func (j Job) name() string { return cmp.Or(j.Station, j.Device) }

// Options are what a collection needs from its surroundings.
type Options struct {
	// Host runs a command of this computer, for Maestro; nil refuses it.
	Host workload.HostRunner
	// Evidence takes the files that are kept with the runs; nil keeps none. The jobs
	// of a lab share it.
	Evidence evidence.Keeper
	// Progress is told what happens; nil keeps quiet.
	Progress journal.Progress
	// Now is the time of day, for Run.Started; nil is time.Now.
	Now func() time.Time
}

// started is the time of day at which a run begins.
func started(options Options) time.Time {
	now := time.Now
	if options.Now != nil {
		now = options.Now
	}
	return now().UTC().Truncate(time.Millisecond)
}

// Result is what became of a job.
type Result struct {
	Device  string
	Station string // on which it was made; "" where it was not begun
	// Run is what was measured: a valid record, whose last warning says why it is
	// not complete where it isn't.
	Run run.Run
	// Err is the gravest cause why the run is not complete, a *loss.Error; nil
	// where it is.
	Err error
	// Traces are the samples of the app's methods, a trace for each iteration;
	// none where they were not sampled.
	Traces []methods.Trace
	// Took is how long its parts took, as far as they were made in one go.
	Took Took
}

// Progress is how far two builds' rounds are.
type Progress struct {
	Base, Head run.Run
	// Left is the time that is left of Turns.Within, below 0 where that is no bound; Round
	// the longest that a round took, 0 before the first.
	Left, Round time.Duration
}

// Why two builds were not measured in turns to the end.
var (
	ErrOtherBuild = errors.New("measuring in turns ended with the other build")
	ErrNoTime     = errors.New("there was no time to measure in turns")
)

// Took is how long the parts of a run took by the device's clock, 0 where there was none:
// what a build's turn is put right with (installing, compiling, warming up), and one
// repetition on average.
type Took struct{ SetUp, Repetition time.Duration }

// taking adds up how long parts take.
type taking struct {
	setUp, measuring time.Duration
	made             int
}

// timed does a part of set-up.
func (t *taking) timed(clock device.Clock, do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		began := clock.Now()
		err := do(ctx)
		t.setUp += clock.Now() - began
		return err
	}
}

// repetition adds one that was made.
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
