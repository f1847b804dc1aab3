package farmed

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/lease"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/run"
)

// measuring is a comparison on its way.
type measuring struct {
	console console.Console
	config  *config.Config
	builds  Builds
	farm    farm.Farm
	devices []farm.Device
	rates   []farm.Rate
	saying  sync.Mutex

	mu    sync.Mutex
	bill  farm.Bill
	whole map[place][]round
	lost  map[target][]string // why rounds are not whole
	ended error               // why no more rounds are begun
}

// target is a scenario on a device, both by their places in the configuration.
type target struct{ scenario, device int }

// place is where runs of both builds are compared: a scenario of theirs, on a device that is
// like that of the others.
type place struct {
	target
	name, context string
}

// round is one observation of each build.
type round struct {
	number int
	sides  [2]run.Run // base, head
}

// all measures all rounds, so many at once. One whose matrices could not be run at all is the
// last: what refused it would refuse the others, or take their money.
func (m *measuring) all(ctx context.Context) {
	m.whole, m.lost = map[place][]round{}, map[target][]string{}
	free := make(chan struct{}, m.config.Farm.Parallel)
	var under sync.WaitGroup
	for number := range m.builds.Rounds {
		for scenario := range m.config.Scenarios {
			free <- struct{}{}
			if ctx.Err() != nil || m.over(scenario) {
				<-free
				continue
			}
			under.Go(func() {
				defer func() { <-free }()
				m.round(ctx, scenario, number)
			})
		}
	}
	under.Wait()
}

// vain is after how many rounds without anything whole a scenario is given up.
const vain = 2

// over reports whether no more rounds of a scenario are begun.
func (m *measuring) over(scenario int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended != nil {
		return true
	}
	lost := 0
	for t, reasons := range m.lost {
		if t.scenario == scenario {
			lost = max(lost, len(reasons))
		}
	}
	for p := range m.whole {
		if p.scenario == scenario {
			return false
		}
	}
	return lost >= vain
}

// round measures both builds, each in a matrix of its own, as a matrix has one app.
func (m *measuring) round(ctx context.Context, scenario, number int) {
	both, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var outcomes [2][]farm.Outcome
	var errs [2]error
	var sides sync.WaitGroup
	for i := range 2 {
		side := (i + number) % 2 // now the one, now the other is asked for first
		sides.Go(func() {
			if outcomes[side], errs[side] = m.matrix(both, scenario, number, side); errs[side] != nil {
				cancel(errs[side]) // the other build's alone is of no use
			}
		})
	}
	sides.Wait()
	if err := errors.Join(errs[0], errs[1]); err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.ended == nil {
			m.ended = context.Cause(both)
		}
		for device := range m.devices {
			t := target{scenario, device}
			m.lost[t] = append(m.lost[t], fmt.Sprintf("round %d: %v", number+1, context.Cause(both)))
		}
		return
	}
	m.take(scenario, number, outcomes)
}

var sides = [2]string{"base", "head"}

// matrix runs one build's matrix to its end. Whatever happens, nothing of it goes on running,
// or its lease stays and says so.
func (m *measuring) matrix(ctx context.Context, scenario, number, side int) (_ []farm.Outcome, err error) {
	s := m.config.Scenarios[scenario]
	label := fmt.Sprintf("%s round %d %s", s.Name, number+1, sides[side])
	tell := func(line string) { m.say("%s: %s", label, line) }
	held, err := lease.Take(lease.Folder(), m.farm.Kind(), m.builds.Session)
	if err != nil {
		return nil, fmt.Errorf("note what is started, for it to be cancelled whatever happens: %w", err)
	}
	order := m.order(s, label, side)
	order.Tell = tell
	defer func() {
		if stopErr := m.farm.Stop(context.WithoutCancel(ctx), held.Lease(), tell); stopErr != nil {
			held.Leave()
			err = errors.Join(err, fmt.Errorf("%s may go on: %w", label, stopErr))
			return
		}
		err = errors.Join(err, held.Release())
	}()
	if err := held.For(label); err != nil {
		return nil, err
	}
	if err := m.farm.Submit(ctx, order, held); err != nil {
		return nil, err
	}
	if err := m.farm.Await(ctx, order, held.Lease(), tell); err != nil {
		m.unaccounted(order)
		return nil, err
	}
	outcomes, err := m.farm.Results(ctx, order, held.Lease())
	if err != nil {
		m.unaccounted(order)
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bill.Add(m.rates, outcomes)
	return outcomes, nil
}

// unaccounted counts a matrix whose minutes are not known as the most that they can be.
func (m *measuring) unaccounted(o farm.Order) {
	m.mu.Lock()
	defer m.mu.Unlock()
	most := make([]farm.Outcome, len(o.Devices))
	for i := range most {
		most[i].Minutes = farm.Minutes(o.Within)
	}
	m.bill.Add(m.rates, most)
}

// order is a build's matrix.
func (m *measuring) order(s config.Scenario, label string, side int) farm.Order {
	w := s.Workload.Benchmark()
	o := farm.Order{
		App: [2]string{m.builds.Base, m.builds.Head}[side], Test: m.config.App.TestAPK, Package: w.TestPackage, Class: w.Class, Args: w.Args,
		Devices: m.devices, Label: "apkgate " + words.Clip(label, 50), Within: min(m.config.Farm.Within(), s.Timeout),
	}
	if w.Runner != config.DefaultRunner {
		o.Runner = w.Runner
	}
	return o
}
