package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/run"
)

// Snapshot is the state of the CPU and the screen at one instant. Times count since a fixed
// instant, as the kernel's do.
type Snapshot struct {
	Time time.Duration // on CLOCK_MONOTONIC
	// Clusters has one entry for each cpufreq policy, or one for all CPUs if there are none.
	Clusters []ClusterState
	// AppCPU is the CPU time of the app's processes, in user and system mode.
	AppCPU     time.Duration
	ScreenOn   bool
	Doze       bool    // the screen shows the time on a dark display; ScreenOn is false
	Brightness float64 // 0 to 1
}

// ClusterState is the accumulated activity of one cluster's cores.
type ClusterState struct {
	Cores int
	// Busy is the time in which its cores were not idle, summed over them.
	Busy time.Duration
	// AtSpeed is the time at each speed in kHz, idle or not (time_in_state); nil if not stated.
	AtSpeed map[int]time.Duration
}

// ErrNothing is returned if there is nothing to estimate from.
var ErrNothing = errors.New("neither the kernel nor batterystats reports how the time was spent")

// Estimate estimates the energy between two instants. The CPU, the screen and the base load follow
// the snapshots, if there are at least two; everything else, and these too without snapshots, is
// taken from the states of batterystats and spread evenly.
func (m Model) Estimate(from, to time.Duration, snapshots []Snapshot, states States) (energy.Estimate, error) {
	if to <= from {
		return energy.Estimate{}, fmt.Errorf("estimate energy: the interval ends at %v, before it begins at %v", to, from)
	}
	snapshots = inOrder(snapshots)
	if len(snapshots) < 2 && states.Elapsed <= 0 {
		return energy.Estimate{}, fmt.Errorf("estimate energy: %w", ErrNothing)
	}
	device, app := ledger{}, ledger{}
	e := energy.Estimate{Warnings: slices.Clone(m.Warnings)}
	if len(snapshots) >= 2 {
		e.Warnings = append(e.Warnings, m.follow(from, to, snapshots, device, app)...)
		_, _, e.Timed = device.sum(from, to)
		_, _, e.AppTimed = app.sum(from, to)
	} else {
		m.spreadStates(from, to, states, device, app)
	}
	even := func(l ledger, name string, charge float64) {
		l.add(name, energy.Even(m.joules(finite(charge)), from, to))
	}
	whole := m.parts.charges(states.Device)
	for name, charge := range whole {
		even(device, name, charge)
	}
	even(device, energy.PartMobile, m.parts.standby(states))
	for name, charge := range m.parts.charges(states.App) {
		even(app, name, min(charge, whole[name]))
	}
	// The device pays for being awake in its base load; a wakelock attributes it to the app.
	even(app, energy.PartWakelock, m.cpu.awake*states.App.PartialLocks.Seconds())

	e.Device, e.TotalJ, e.Curve = device.sum(from, to)
	e.App, e.AppJ, e.AppCurve = app.sum(from, to)
	return e, nil
}

// inOrder leaves out snapshots that are not later than those before.
func inOrder(snapshots []Snapshot) []Snapshot {
	var out []Snapshot
	for _, s := range snapshots {
		if len(out) == 0 || s.Time > out[len(out)-1].Time {
			out = append(out, s)
		}
	}
	return out
}

// follow estimates the CPU, the screen and the base load from one snapshot to the next. The first
// and the last interval are extended to before and after.
func (m Model) follow(from, to time.Duration, snapshots []Snapshot, device, app ledger) []run.Warning {
	var cpu, screen, idle, mine energy.Curve
	for i := 1; i < len(snapshots); i++ {
		a, b := snapshots[i-1], snapshots[i]
		span := b.Time - a.Time
		begin, end := a.Time, b.Time
		if i == 1 {
			begin = min(begin, from)
		}
		if i == len(snapshots)-1 {
			end = max(end, to)
		}
		work, share := between(a, b)
		charge := finite(m.cpu.charge(work, span))
		cpu.Constant(begin, end, m.joules(charge)/span.Seconds())
		mine.Constant(begin, end, share*m.joules(charge)/span.Seconds())
		idle.Constant(begin, end, m.joules(m.cpu.base+m.cpu.awake))
		lit := 0.0
		switch {
		case a.ScreenOn:
			lit = m.screen.current(a.Brightness)
		case a.Doze:
			lit = m.screen.doze
		}
		screen.Constant(begin, end, m.joules(lit))
	}
	device.add(energy.PartCPU, cpu)
	device.add(energy.PartScreen, screen)
	device.add(energy.PartIdle, idle)
	app.add(energy.PartCPU, mine)
	return unseen(from, to, snapshots)
}

// unseen warns of time that the snapshots do not cover.
func unseen(from, to time.Duration, snapshots []Snapshot) []run.Warning {
	missing := max(snapshots[0].Time-from, 0) + max(to-snapshots[len(snapshots)-1].Time, 0)
	if missing*10 <= to-from {
		return nil
	}
	return []run.Warning{{Text: fmt.Sprintf("the state of the CPU is unknown for %v of %v: the nearest one is assumed", missing.Round(time.Millisecond), (to - from).Round(time.Millisecond))}}
}

// between returns the work of the clusters from one snapshot to the next, and the app's share of
// it. A counter that decreased counts nothing.
func between(a, b Snapshot) (work []Work, share float64) {
	for i, c := range b.Clusters {
		w := Work{}
		if i < len(a.Clusters) {
			w.Busy = max(c.Busy-a.Clusters[i].Busy, 0)
			w.AtSpeed = map[int]time.Duration{}
			for khz, t := range c.AtSpeed {
				if d := t - a.Clusters[i].AtSpeed[khz]; d > 0 {
					w.AtSpeed[khz] = d
				}
			}
		}
		work = append(work, w)
	}
	app, busy := max(b.AppCPU-a.AppCPU, 0), totalBusy(work)
	if app > busy { // the kernel reports less for the whole than for the app
		return []Work{{Busy: app}}, 1
	}
	if busy == 0 {
		return work, 0
	}
	return work, float64(app) / float64(busy)
}

// spreadStates estimates the CPU, the screen and the base load from the times of batterystats.
func (m Model) spreadStates(from, to time.Duration, s States, device, app ledger) {
	shared := m.cpu.shared(s.Device.CPU, max(s.Awake, time.Millisecond))
	device.add(energy.PartCPU, energy.Even(m.joules(finite(m.cpu.cores(s.Device.CPU)+shared)), from, to))
	if busy := totalBusy(s.Device.CPU); busy > 0 {
		share := min(float64(totalBusy(s.App.CPU))/float64(busy), 1)
		app.add(energy.PartCPU, energy.Even(m.joules(finite(m.cpu.cores(s.App.CPU)+share*shared)), from, to))
	}
	device.add(energy.PartScreen, energy.Even(m.joules(m.screen.charge(s.ScreenOn, s.Brightness, s.Doze)), from, to))
	device.add(energy.PartIdle, energy.Even(m.joules(m.cpu.base*s.Elapsed.Seconds()+m.cpu.awake*s.Awake.Seconds()), from, to))
}

// ledger is power by component.
type ledger map[string]energy.Curve

func (l ledger) add(name string, c energy.Curve) {
	if c.Empty() {
		return
	}
	if known, ok := l[name]; ok {
		c = energy.Sum(known, c)
	}
	l[name] = c
}

// sum returns the joules of each component in an interval, of all, and their power.
func (l ledger) sum(from, to time.Duration) ([]run.Component, float64, energy.Curve) {
	joules := map[string]float64{}
	total := 0.0
	all := energy.Even(0, from, to)
	for _, name := range slices.Sorted(maps.Keys(l)) { // sorted, so that rounding is reproducible
		j, _ := l[name].Energy(from, to)
		joules[name] = j
		total += j
		all = energy.Sum(all, l[name])
	}
	return energy.Components(joules), total, all
}
