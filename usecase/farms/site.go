package farms

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// site is a farm as used by one command: its matrices and their cost.
type site struct {
	console terminal.Console
	config  *config.Config
	farm    farm.Farm
	devices []farm.Device
	rates   []farm.Rate
	saying  sync.Mutex

	mu       sync.Mutex
	session  string
	bill     farm.Bill
	reserved farm.Bill // the cost limit of running matrices
	fetched  int64     // bytes of traces
	traces   map[where]*lying
}

// open cancels the tests that a killed apkgate left running, and asks the farm for its prices.
func open(ctx context.Context, c terminal.Console, cfg *config.Config, session string) (*site, error) {
	if err := leftovers(ctx, c); err != nil {
		return nil, err
	}
	f, devices := labs.Farm(c, *cfg.Farm)
	rates, err := f.Rates(ctx, devices)
	if err != nil {
		return nil, exit.Infrastructure(err)
	}
	return &site{console: c, config: cfg, farm: f, devices: devices, rates: rates, session: session}, nil
}

// leftovers cancels the tests that a killed apkgate left running on farms.
func leftovers(ctx context.Context, c terminal.Console) error {
	leases, problems := lease.List(lease.Folder())
	var left []lease.Lease
	for _, l := range leases {
		if labs.OfFarm(l) && !labs.InUse(l) && !l.Elsewhere() {
			left = append(left, l)
		}
	}
	err := labs.Clean(ctx, c, left, func(line string) { fmt.Fprintln(c.Stderr, terminal.Plain(line)) })
	return exit.InfrastructureIf(errors.Join(problems, err))
}

// affordable prints the possible cost of that many matrices, and refuses a cost above the limit.
// fewer names what the command could reduce.
func (s *site) affordable(matrices int, fewer string) error {
	most := farm.AtMost(s.rates, matrices, s.config.Farm.Within())
	note := "what is free of charge is not subtracted"
	if most.Flat {
		note = "paid for by the plan, and not by the minute"
	}
	s.say("%s: %s, of up to %s on %s each; %s",
		s.farm.Title(), most.Text(s.farm.Noun()), prose.Count(s.config.Farm.Minutes, "minute", "minutes"), prose.List(names(s.devices)), note)
	limit := limitOf(*s.config.Farm)
	if over := limit.Over(most); over != "" {
		return exit.Usage(errors.New(over+": nothing was started"), "fewer "+fewer+"devices, scenarios or farm.minutes, or a higher "+limit.Key)
	}
	return nil
}

// limitOf returns the cost limit on a farm.
func limitOf(f config.Farm) farm.Limit {
	if b := f.BrowserStack; b != nil {
		return farm.Limit{Minutes: b.MaxMinutes, Key: "farm.browserstack.max-minutes"}
	}
	return farm.Limit{USD: f.MaxUSD, Key: "farm.max-usd"}
}

func names(devices []farm.Device) []string {
	var out []string
	for _, d := range devices {
		out = append(out, d.String())
	}
	return out
}

// took returns the cost so far.
func (s *site) took() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%s: it took %s", s.farm.Title(), s.bill.Text(s.farm.Noun()))
}

// cost returns the report's sentence on the cost.
func (s *site) cost() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("Measured on %s, which took %s.", s.farm.Title(), s.bill.Text(s.farm.Noun()))
}

// say prints a line of progress.
func (s *site) say(format string, args ...any) {
	s.saying.Lock()
	defer s.saying.Unlock()
	fmt.Fprintln(s.console.Stderr, terminal.Plain(strings.TrimSpace(fmt.Sprintf(format, args...))))
}

// errSpent is the reason that a matrix is not started: with those before it, it could cost more
// than the limit.
var errSpent = errors.New("no more may be spent")

// reserve reserves the possible cost of a matrix until it is released.
func (s *site) reserve(o farm.Order) (back func(), err error) {
	const cent = 0.01 // the error of sums
	s.mu.Lock()
	defer s.mu.Unlock()
	most := farm.AtMost(s.ratesOf(o.Devices), 1, o.Within)
	limit := limitOf(*s.config.Farm)
	limit.USD += cent
	if over := limit.Over(s.bill.Plus(s.reserved).Plus(most)); over != "" {
		return nil, fmt.Errorf("%w: with what is spent and under way %s", errSpent, over)
	}
	s.reserved.Minutes += most.Minutes
	s.reserved.USD += most.USD
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reserved.Minutes -= most.Minutes
		s.reserved.USD -= most.USD
	}, nil
}

// ratesOf returns the prices of some of the devices.
func (s *site) ratesOf(devices []farm.Device) (out []farm.Rate) {
	for _, d := range devices {
		for _, r := range s.rates {
			if r.Device == d {
				out = append(out, r)
			}
		}
	}
	return out
}

// matrix runs one matrix to its end. In any case it doesn't continue to run, or its lease remains
// and reports it.
func (s *site) matrix(ctx context.Context, o farm.Order, label string) (_ []farm.Outcome, err error) {
	tell := func(line string) { s.say("%s: %s", label, line) }
	o.Tell = tell
	back, err := s.reserve(o)
	if err != nil {
		return nil, err
	}
	defer back()
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	held, err := lease.Take(lease.Folder(), s.farm.Kind(), session)
	if err != nil {
		return nil, fmt.Errorf("write the lease of the tests to start: %w", err)
	}
	defer func() {
		if stopErr := s.farm.Stop(context.WithoutCancel(ctx), held.Lease(), tell); stopErr != nil {
			held.Leave()
			err = errors.Join(err, fmt.Errorf("%s may still run: %w", label, stopErr))
			return
		}
		err = errors.Join(err, held.Release())
	}()
	if err := held.For(label); err != nil {
		return nil, err
	}
	rates := s.ratesOf(o.Devices)
	if err := s.farm.Submit(ctx, o, held); err != nil {
		if errors.Is(err, farm.ErrUnknown) {
			s.pay(func(b *farm.Bill) { b.AddUnknown(rates, o.Within) })
		}
		return nil, err
	}
	unaccounted := func() { // as much as possible
		most := make([]farm.Outcome, len(o.Devices))
		for i := range most {
			most[i].Minutes = farm.Minutes(o.Within)
		}
		s.pay(func(b *farm.Bill) { b.Add(rates, most) })
	}
	if err := s.farm.Await(ctx, o, held.Lease(), tell); err != nil {
		unaccounted()
		return nil, err
	}
	outcomes, err := s.farm.Results(ctx, o, held.Lease())
	if err != nil {
		unaccounted()
		return nil, err
	}
	s.pay(func(b *farm.Bill) { b.Add(rates, outcomes) })
	return outcomes, nil
}

func (s *site) pay(add func(*farm.Bill)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add(&s.bill)
}

// order returns a matrix of a scenario's test, with a build of the app.
func (s *site) order(of config.Scenario, label, app string, devices []farm.Device) farm.Order {
	w := of.Workload.Benchmark()
	o := farm.Order{
		App: app, Test: s.config.App.TestAPK, Package: w.TestPackage, Class: w.Class, Args: w.Args, Devices: devices,
		Label: "apkgate " + prose.Clip(label, 50), Within: s.within(of),
	}
	if w.Runner != config.DefaultRunner {
		o.Runner = w.Runner
	}
	return o
}

// both measures two builds, each in its own matrix, as a matrix has one app. They are started
// together, in alternating order; if one fails, the other is useless, and is cancelled.
func (s *site) both(ctx context.Context, of config.Scenario, number int, builds [2]string, devices []farm.Device) (outcomes [2][]farm.Outcome, err error) {
	both, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var errs [2]error
	var under sync.WaitGroup
	for i := range 2 {
		side := (i + number) % 2
		under.Go(func() {
			label := fmt.Sprintf("%s round %d %s", of.Name, number+1, sides[side])
			if outcomes[side], errs[side] = s.matrix(both, s.order(of, label, builds[side], devices), label); errs[side] != nil {
				cancel(errs[side])
			}
		})
	}
	under.Wait()
	if errs[0] == nil && errs[1] == nil {
		return outcomes, nil
	}
	return outcomes, context.Cause(both)
}

var sides = [2]string{"base", "head"}
