package measurement

import (
	"context"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/fleet"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/simulated"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/validate"
)

// readied are the stations of a configuration's jobs.
type readied struct {
	devices  []config.Device
	stations []fleet.Station
	places   map[string]int
	stay     bool
	close    func() // stops devices that were booted for this alone
}

// thisComputer is the place of devices that run on this computer.
const thisComputer = "this computer"

// ready finds the devices of the configuration, or the one that adb sees, and how each is started.
// session is the session within the command, counted from 0. Devices are booted by the pool, where
// they stay for later use; without one they are stopped when nothing is left for them.
func ready(ctx context.Context, c terminal.Console, cfg *config.Config, f measuring) (readied, error) {
	devices, err := specs(ctx, c, cfg)
	if err == nil && f.tape == nil { // the devices of a recording are not there
		err = serverRuns(ctx, c, devices)
	}
	if err != nil {
		return readied{}, err
	}
	if err := validate.MaestroSees(ctx, c, cfg, devices); err != nil {
		return readied{}, err
	}
	r := readied{devices: devices, places: map[string]int{thisComputer: max(f.parallel, 1)}, stay: f.pool != nil, close: func() {}}
	if f.pool == nil {
		f.pool = labs.NewPool(c, f.session)
		r.close = f.pool.Close
	}
	phones, err := simulated.Of(c, f.again)
	if err != nil {
		return readied{}, err
	}
	for _, d := range devices {
		start, err := starter(c, d, phones, f.pool)
		if err != nil {
			return readied{}, err
		}
		for _, name := range d.Stations() {
			s := fleet.Station{Name: name, Profile: d.ProfileName(), Fresh: d.Simulated != ""}
			if d.Virtual().Here {
				s.Place = thisComputer
			}
			s.Start = func(ctx context.Context, tell func(string)) (*fleet.Started, error) { return start(ctx, name, tell) }
			r.stations = append(r.stations, s)
		}
	}
	return r, nil
}

// readyFor is ready or, for a farm, which has its phones ready, the part of it that applies.
func readyFor(ctx context.Context, c terminal.Console, cfg *config.Config, farm Farm, f measuring) (readied, error) {
	if farm != nil {
		return readied{devices: cfg.Devices, close: func() {}}, nil
	}
	return ready(ctx, c, cfg, f)
}

// measuring are the flags of a command that concern its devices.
type measuring struct {
	parallel, again int
	session         string
	pool            *labs.Pool // nil: none that outlives it
	tape            Tape       // nil: none
}

// printPlaces prints that devices on this computer that have jobs wait for each other, though they
// could work in parallel.
func (r readied) printPlaces(c terminal.Console, parallel int, jobs []collect.Job) {
	todo := map[string]int{} // jobs by profile
	for _, j := range jobs {
		todo[j.Device]++
	}
	needed := 0
	for _, s := range r.stations {
		if s.Place == thisComputer && todo[s.Profile] > 0 {
			todo[s.Profile]--
			needed++
		}
	}
	if parallel == 0 && needed > 1 {
		fmt.Fprintf(c.Stderr, "%s are booted on this computer, one at a time: --parallel 2 lets two of them run side by side, and disturb each other\n", prose.Count(needed, "device", "devices"))
	}
}

// start prepares a station by its name.
type start func(ctx context.Context, station string, tell func(string)) (*fleet.Started, error)

func starter(c terminal.Console, d config.Device, phones simulated.Phones, pool *labs.Pool) (start, error) {
	switch {
	case d.Simulated != "":
		return startSimulated(d, phones), nil
	case d.Booted():
		return startBooted(c, d, pool), nil
	}
	there, err := connected(c, d)
	if err != nil {
		return nil, err
	}
	return func(context.Context, string, func(string)) (*fleet.Started, error) {
		return &fleet.Started{Bind: func(j *collect.Job) { there.bind(j) }}, nil
	}, nil
}

// startSimulated starts a phone, which is new for each run.
func startSimulated(d config.Device, phones simulated.Phones) start {
	return func(_ context.Context, station string, _ func(string)) (*fleet.Started, error) {
		phone, err := phones.Start(station, d.Simulated)
		if err != nil {
			return nil, err
		}
		return &fleet.Started{
			Bind: func(j *collect.Job) {
				j.Open, j.Clock, j.Wall = simulated.Open(phone), phone.Clock(), phone.Phone.Patience()
				j.Died, j.Why = phone.Phone.Died(), func() string { return "the simulated phone died" }
			},
			Stop: func(context.Context, func(string)) error { return phone.Close() },
		}, nil
	}
}

// startBooted boots a device.
func startBooted(c terminal.Console, d config.Device, pool *labs.Pool) start {
	return func(ctx context.Context, station string, tell func(string)) (*fleet.Started, error) {
		b, err := pool.Boot(ctx, station, d, tell)
		if err != nil {
			return nil, err
		}
		its := Device{
			Name: station, Spec: d, key: b.Serial, Clock: c.Clock, port: b.ConsolePort,
			Open: func(ctx context.Context) (device.Device, error) { return labs.Reach(ctx, c, b) },
		}
		return &fleet.Started{
			Bind: func(j *collect.Job) {
				its.bind(j)
				j.Died, j.Why = b.Died, b.Why
			},
			Died: b.Died, Why: b.Why,
			Stop: func(ctx context.Context, tell func(string)) error { return pool.Stop(ctx, station, tell) },
		}, nil
	}
}

// bind gives the job the device.
func (d Device) bind(j *collect.Job) {
	j.Open, j.Clock, j.Console = d.Open, d.Clock, d.port
	j.Owner, j.OwnFor, j.Claim = d.owner(), ClaimFor, claimOf(d.key)
}

// Farm makes runs on phones that adb can't reach, instead of devices: the configuration's devices
// are then the farm's kinds of phones. Package farms has one.
type Farm interface {
	// Title returns the farm's name for sentences.
	Title() string
	// Measure makes the jobs, and returns their results in order. ended is called for each, one at
	// a time. Files that are kept with the runs go to keep; nil keeps none.
	Measure(ctx context.Context, jobs []collect.Job, keep evidence.Keeper, ended func(job int, r collect.Result)) []collect.Result
	// Interleave measures each job and the head's job of the same index side by side, in the order
	// of the jobs. more is called like that of fleet.Turns; ended is called for each run. If
	// nothing was started both results are collect.ErrNoTime.
	Interleave(ctx context.Context, bases, heads []collect.Job, more func(job int, so collect.Progress) int, ended func(job int, r collect.Result)) (base, head []collect.Result)
	// Affords returns how many rounds of both builds the remaining money pays for, on all of the
	// units.
	Affords(units []Unit) int
}

// Tape records runs as they are made, or makes them from a recording.
type Tape interface {
	// Bind receives a job that is bound to its device, and about to be made.
	Bind(*collect.Job)
	// Now returns the date of the current run.
	Now() time.Time
	// Ended receives the result of a job, and returns the result to use.
	Ended(collect.Job, collect.Result) collect.Result
}

// taped returns stations whose jobs are bound to a tape.
func taped(tape Tape, stations []fleet.Station) []fleet.Station {
	out := make([]fleet.Station, len(stations))
	for i, s := range stations {
		start := s.Start
		s.Start = func(ctx context.Context, tell func(string)) (*fleet.Started, error) {
			started, err := start(ctx, tell)
			if err != nil {
				return nil, err
			}
			its := *started
			bind := its.Bind
			its.Bind = func(j *collect.Job) {
				bind(j)
				tape.Bind(j)
			}
			return &its, nil
		}
		out[i] = s
	}
	return out
}
