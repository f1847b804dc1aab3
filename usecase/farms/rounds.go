package farms

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// measuring is a comparison in progress.
type measuring struct {
	*site
	builds Builds

	mu    sync.Mutex
	whole map[place][]round
	lost  map[target][]string // why rounds are incomplete
	ended error               // why no more rounds are started
}

// target is a scenario on a device, both by their places in the configuration.
type target struct{ scenario, device int }

// place is where runs of both builds are compared: a scenario of theirs, on a device like the
// others'.
type place struct {
	target
	name, context string
}

// round is one observation of each build.
type round struct {
	number int
	sides  [2]run.Run // base, head
}

// all measures all rounds, several at once. A round whose matrices could not be run at all is the
// last one, since the others would be refused for the same reason, or spend the remaining budget.
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

// vain is the number of rounds without a complete result after which a scenario is given up.
const vain = 2

// over reports whether no more rounds of a scenario are started.
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

// round measures both builds.
func (m *measuring) round(ctx context.Context, scenario, number int) {
	outcomes, err := m.both(ctx, m.config.Scenarios[scenario], number, [2]string{m.builds.Base, m.builds.Head}, m.devices)
	if err == nil {
		m.take(scenario, number, outcomes)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended == nil {
		m.ended = err
	}
	for device := range m.devices {
		t := target{scenario, device}
		m.lost[t] = append(m.lost[t], lostRound(number, err))
	}
}

// lostRound returns the reason that a round is incomplete, in one line: joined errors follow each
// other.
func lostRound(number int, err error) string {
	var reasons []string
	for line := range strings.Lines(err.Error()) {
		if reason := prose.OneLine(line); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	return fmt.Sprintf("round %d: %s", number+1, strings.Join(reasons, "; "))
}
