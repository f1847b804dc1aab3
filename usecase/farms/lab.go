package farms

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/session"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Lab measures a command's runs on a farm instead of devices.
type Lab struct {
	*site
	networks []string // of the configuration; a farm does not set them
	ended    error    // why no more matrices are started; guarded by mu
}

// Used reports whether a configuration's farm is used without --farm: the configuration names a
// farm, and no devices.
func Used(cfg *config.Config) bool { return cfg != nil && cfg.Farm != nil && len(cfg.Devices) == 0 }

// For prepares the farm of a configuration if the flags request it, and makes the flags measure on
// it: its phones then replace the configuration's devices. It prints the possible cost of the runs,
// and refuses a cost above the limit. It returns nil if no farm is requested.
func For(ctx context.Context, c terminal.Console, cfg *config.Config, f *measurement.CollectFlags, sessions session.Flags) (*Lab, error) {
	switch {
	case !f.OnFarm:
		return nil, nil
	case f.Parallel != 0:
		return nil, exit.Usage(errors.New("--parallel does not apply to a farm"), "farm.parallel in the configuration says how many matrices are under way at once")
	case f.Tape != nil:
		return nil, exit.Usage(errors.New("--farm: measurements on a farm can't be recorded or replayed"), "leave it out")
	case sessions.Shard != "" || len(sessions.Merge) > 0:
		return nil, exit.Usage(errors.New("--farm measures on all phones of the farm at once: there are no shards of it to measure or merge"), "leave out --shard and --merge")
	}
	if err := errors.Join(fits(cfg, Builds{Head: cfg.App.APK}), one(cfg)); err != nil {
		return nil, err
	}
	at, err := open(ctx, c, cfg, f.Session)
	if err != nil {
		return nil, err
	}
	matrices := 0
	for _, s := range cfg.Scenarios {
		matrices += s.Repetitions
	}
	if err := at.affordable(matrices, "repetitions, "); err != nil {
		return nil, err
	}
	l := &Lab{site: at, networks: cfg.Networks}
	f.Farm, cfg.Networks, cfg.Devices = l, nil, nil
	for _, d := range at.devices {
		cfg.Devices = append(cfg.Devices, config.Device{
			Name:    d.String(),
			Context: map[string]string{farmProperty: at.farm.Title(), modelProperty: d.Model, versionProperty: d.Version},
		})
	}
	return l, nil
}

// one checks whether there is one APK of the app.
func one(cfg *config.Config) error {
	switch len(cfg.App.APKs()) {
	case 0:
		return exit.Usage(errors.New("a farm installs the app: app.apk is missing"), "name the APK, or --apk")
	case 1:
		return nil
	}
	return exit.Usage(errors.New("app.apk: a farm takes one APK, and these are several parts of one"), "name one APK that contains everything, as Gradle's assemble builds it")
}

// Close prints the cost. It does nothing for a nil Lab.
func (l *Lab) Close() {
	if l != nil {
		l.say("%s", l.took())
	}
}

// Note returns the report's note on the farm and its cost; "" for a nil Lab.
func (l *Lab) Note() string {
	if l == nil {
		return ""
	}
	return l.cost()
}

// Title returns the farm's name for people.
func (l *Lab) Title() string { return l.farm.Title() }

// Measure makes runs: for each scenario one matrix per repetition, on all of its requested devices.
func (l *Lab) Measure(ctx context.Context, jobs []collect.Job, keep evidence.Keeper, ended func(job int, r collect.Result)) []collect.Result {
	l.begin(jobs)
	results := make([]collect.Result, len(jobs))
	free := make(chan struct{}, l.config.Farm.Parallel)
	var telling sync.Mutex
	var under sync.WaitGroup
	for _, g := range l.groups(jobs) {
		free <- struct{}{}
		under.Go(func() {
			defer func() { <-free }()
			outcomes, err := l.repeated(ctx, g)
			for i, place := range g.places {
				r := l.result(ctx, g.jobs[i], of(outcomes, i), err, keep)
				telling.Lock()
				results[place] = r
				ended(place, r)
				telling.Unlock()
			}
		})
	}
	under.Wait()
	return results
}

// begin sets the session to that of the jobs.
func (l *Lab) begin(jobs []collect.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(jobs) > 0 {
		l.session = jobs[0].Session
	}
	l.ended = nil
}

// group are the jobs of one scenario, which share matrices.
type group struct {
	places  []int // of the jobs among all
	jobs    []collect.Job
	devices []farm.Device // those of the jobs
}

// groups returns the jobs by scenario, in the order of its first job.
func (l *Lab) groups(jobs []collect.Job) (out []group) {
	for place, j := range jobs {
		at := slices.IndexFunc(out, func(g group) bool { return g.jobs[0].Scenario.Name == j.Scenario.Name })
		if at < 0 {
			at, out = len(out), append(out, group{})
		}
		out[at].places, out[at].jobs = append(out[at].places, place), append(out[at].jobs, j)
		out[at].devices = append(out[at].devices, l.deviceOf(j))
	}
	return out
}

// deviceOf returns the kind of phone that stands for a job's device.
func (l *Lab) deviceOf(j collect.Job) farm.Device {
	at := slices.IndexFunc(l.devices, func(d farm.Device) bool { return d.String() == j.Device })
	return l.devices[max(at, 0)]
}

// of returns the outcomes of all matrices on the device with that index.
func of(outcomes [][]farm.Outcome, device int) (out []farm.Outcome) {
	for _, o := range outcomes {
		out = append(out, o[device])
	}
	return out
}

// repeated runs a group's matrices, one for each repetition. The first matrix that can't be run at
// all is the last one of all groups, since the others would be refused for the same reason.
func (l *Lab) repeated(ctx context.Context, g group) (all [][]farm.Outcome, err error) {
	s := g.jobs[0].Scenario
	for n := range s.Repetitions {
		if err := l.over(ctx); err != nil {
			return all, err
		}
		label := s.Name
		if s.Repetitions > 1 {
			label = fmt.Sprintf("%s repetition %d", s.Name, n+1)
		}
		outcomes, err := l.matrix(ctx, l.order(s, label, g.jobs[0].App.APK, g.devices), label)
		if err != nil {
			return all, l.end(err)
		}
		all = append(all, outcomes)
	}
	return all, nil
}

// over returns the reason that no more matrices are started, or nil.
func (l *Lab) over(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// end prevents further matrices.
func (l *Lab) end(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil {
		l.ended = err
	}
	return err
}

// Affords returns the number of rounds of both builds that the remaining budget pays for.
func (l *Lab) Affords(units []measurement.Unit) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	var round farm.Bill
	for _, u := range units {
		for _, s := range l.config.Scenarios {
			for _, r := range l.rates {
				if s.Name == u.Scenario && r.Device.String() == u.Profile {
					round = round.Plus(farm.AtMost([]farm.Rate{r}, 2, l.within(s)))
				}
			}
		}
	}
	const most = 1_000_000
	limit, so := limitOf(*l.config.Farm), l.bill.Plus(farm.Bill{})
	switch {
	case limit.Minutes > 0 && round.Minutes > 0:
		return max(0, (limit.Minutes-so.Minutes)/round.Minutes)
	case limit.Minutes == 0 && round.USD > 0:
		return max(0, int(min((limit.USD-so.USD)/round.USD+0.001, most)))
	}
	return most
}

// hasApp checks whether a farm can install a build.
func hasApp(path string) error {
	if path == "" {
		return errors.New("the build has no APK")
	}
	if _, err := os.Stat(path); err != nil {
		return atomicfile.Error("read", path, err)
	}
	return onlyOne(path)
}

// unheeded returns the parts of the configuration that a farm ignores.
func (l *Lab) unheeded(j collect.Job) (out []string) {
	if len(l.networks) > 0 {
		out = append(out, "the networks of the configuration ("+prose.Few(l.networks, 3)+") are not set")
	}
	if j.Energy.Measured() {
		out = append(out, "energy is not measured")
	}
	return out
}
