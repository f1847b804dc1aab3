package collect

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/run"
)

// spent is the energy of one repetition.
type spent struct {
	from, to   time.Duration // of the workload, on CLOCK_MONOTONIC
	total      energy.Curve
	app        energy.Curve
	timed      energy.Curve // of total and app, what tells one event from another
	timedApp   energy.Curve
	hasApp     bool // app tells the app's part
	components []run.Component
	wakelocks  []run.Wakelock
	metrics    map[string]float64 // of the whole repetition, by batterystats
	update     time.Duration      // of the sensor, 0: there is none
	capacity   float64            // mAh, 0 where not stated
	trace      *methods.Trace
	watts      []float64     // of each sample of the trace
	cpu        time.Duration // of the app, as the kernel counted it
}

// minCovered is how much of the workload a sensor must have watched.
const minCovered = 0.98

// errUncovered says that a sensor did not watch the whole workload.
var errUncovered = errors.New("the power is not known all along")

// spent works out what the repetition took. power is what the battery service
// says of chargers after it.
func (m *metering) spent(power energy.Power) (*spent, error) {
	m.countToTheEnd()
	s := &spent{from: m.from, to: m.to, cpu: m.app, metrics: map[string]float64{}}
	if err := m.bySource(s, power); err != nil {
		return nil, err
	}
	if _, covered := s.total.Energy(s.from, s.to); float64(covered) < minCovered*float64(s.to-s.from) {
		return nil, fmt.Errorf("%w: the readings cover %v of %v", errUncovered, covered.Round(time.Millisecond), (s.to - s.from).Round(time.Millisecond))
	}
	if m.stats != nil {
		p := m.stats.Main()
		maps.Copy(s.metrics, energy.AppMetrics(p, m.uid))
		s.wakelocks = energy.Wakelocks(p, m.uid)
		s.capacity = energy.Capacity(p.Stated["capacity_estimated_mah"], p.Stated["capacity_profile_mah"])
	}
	if m.profile != nil {
		t := methods.Of(m.profile, s.total, m.naming, methods.Pick{App: m.job.App.Package})
		if len(t.Samples) == 0 {
			return nil, fmt.Errorf("sample the app's methods: %w", errNoSamples)
		}
		s.trace, s.watts = &t, methods.Powers(t)
	}
	return s, nil
}

// countToTheEnd takes the app's CPU time from batterystats where that has more:
// the last reading was up to a second before the app was gone.
func (m *metering) countToTheEnd() {
	if m.stats == nil || m.detaches() {
		return
	}
	counted := time.Duration(0)
	for _, u := range m.stats.Main().UIDs {
		if u.UID == m.uid && m.uid > 0 {
			counted = time.Duration((u.Stated["cpu_user_ms"] + u.Stated["cpu_system_ms"]) * float64(time.Millisecond))
		}
	}
	const mostAhead = 2 * readEvery * maxRunning
	if counted > m.app && counted < m.app+mostAhead {
		m.app = counted
	}
	if n := len(m.snapshots); n > 0 {
		m.snapshots[n-1].AppCPU = max(m.snapshots[n-1].AppCPU, m.app)
	}
}

// maxRunning is how many threads of an app are believed to run at once.
const maxRunning = 8

// errNoSamples says that a recording holds nothing of the app.
var errNoSamples = errors.New("the recording holds no samples of the app; energy.sample-hz may be too low for it")

func (m *metering) bySource(s *spent, power energy.Power) error {
	switch m.meter.choice.Source {
	case energy.Rails:
		return m.byRails(s)
	case energy.Battery:
		return m.byBattery(s, power)
	case energy.Platform:
		return m.byPlatform(s)
	}
	return m.byModel(s)
}

func (m *metering) byRails(s *spent) error {
	if m.trace == nil {
		return energy.ErrNoRails
	}
	p, err := energy.OfRails(energy.RailsOf(m.trace))
	if err != nil {
		return err
	}
	if m.meter.powered == "battery" && energy.PowerOf(m.trace) == energy.External {
		m.warnf("a charger was connected while a device on battery was measured: its rails tell the truth, but the device does other things with a charger")
	}
	s.total, s.timed, s.update = p.Total, p.Total, p.Update
	s.components = p.Components(s.from, s.to)
	return nil
}

func (m *metering) byBattery(s *spent, power energy.Power) error {
	facts := m.meter.facts
	c, err := energy.Correct(m.readings(power), facts)
	if err != nil {
		return err
	}
	m.tellCorrection(c)
	s.total, s.timed, s.update = c.Curve, c.Curve, c.Update
	return nil
}

// tellCorrection says what had to be mended in what the battery reports.
func (m *metering) tellCorrection(c energy.Correction) {
	const microampere = 1e-6
	if by := c.AmperesPerUnit / microampere; math.Abs(by-1) > 1e-9 {
		m.warnf("the battery reports its current in another unit than Android asks for: multiplied by %.6g", by)
	}
	if c.Flipped {
		m.warnf("the battery reports its current with the sign turned round: turned back")
	}
}

func (m *metering) byModel(s *spent) error {
	if m.statsCut {
		return errStatsCut
	}
	var states energy.States
	if m.stats != nil {
		states = energy.StatesOf(m.stats.Main(), m.uid)
	}
	snapshots := m.snapshots
	if m.detaches() && m.stats != nil {
		snapshots = nil // nothing was read while the app ran
	}
	e, err := m.meter.model.Estimate(s.from, s.to, snapshots, states)
	if err != nil {
		return err
	}
	return m.byEstimate(s, e)
}

func (m *metering) byPlatform(s *spent) error {
	if m.statsCut {
		return errStatsCut
	}
	if m.stats == nil {
		return energy.ErrNoEstimate
	}
	e, err := energy.OfPlatform(*m.stats, m.uid, s.from, s.to)
	if err != nil {
		return err
	}
	return m.byEstimate(s, e)
}

func (m *metering) byEstimate(s *spent, e energy.Estimate) error {
	for _, w := range e.Warnings {
		m.warnf("%s: %s", m.meter.choice.From, w.Text)
	}
	s.total, s.app, s.hasApp, s.components = e.Curve, e.AppCurve, true, e.Device
	s.timed, s.timedApp = e.Timed, e.AppTimed
	return nil
}

// addTo adds the repetition's joules to its metrics.
func (s *spent) addTo(metrics map[string]float64) {
	if s == nil {
		return
	}
	maps.Copy(metrics, s.metrics)
	s.between(s.total, s.app, s.from, s.to, metrics)
}

// between adds the joules of a part of the repetition, as far as they are known
// all along it: what the device took, and what the app did where that is told.
func (s *spent) between(total, app energy.Curve, from, to time.Duration, metrics map[string]float64) {
	from, to = max(from, s.from), min(to, s.to)
	joules, covered := total.Energy(from, to)
	if to <= from || float64(covered) < minCovered*float64(to-from) {
		return
	}
	metrics["energy.total_j"] = max(joules, 0)
	metrics["power.mean_w"] = max(joules, 0) / covered.Seconds()
	switch {
	case s.trace != nil && !s.hasApp:
		metrics["energy.app_j"] = s.sampled(from, to)
	case s.hasApp:
		mine, _ := app.Energy(from, to)
		metrics["energy.app_j"] = max(mine, 0)
	}
}

// sampled is the energy of the samples in an interval.
func (s *spent) sampled(from, to time.Duration) float64 {
	sum := 0.0
	for i, hit := range s.trace.Samples {
		if hit.Time >= from && hit.Time < to {
			sum += s.watts[i] * hit.Period.Seconds()
		}
	}
	return sum
}

// addEnergy gives each bucket of an iteration the joules from its event to the
// next, of those that are known by the moment: an estimate that is spread evenly
// would blame every event for what one of them did.
func (m measurement) addEnergy(it *run.Iteration) {
	if m.energy == nil {
		return
	}
	m.energy.addTo(it.Metrics)
	for i, b := range m.spans() {
		m.energy.between(m.energy.timed, m.energy.timedApp, b.from, b.to, it.Events[i].Metrics)
	}
}

// span is a part of a repetition, on CLOCK_MONOTONIC.
type span struct{ from, to time.Duration }

// spans are the times of the buckets, as far as the workload ran in them.
func (m measurement) spans() []span {
	within := func(t time.Duration) time.Duration { return min(max(t, m.energy.from), m.energy.to) }
	out := make([]span, m.bucketEvents()+1)
	from := m.energy.from
	for i := range out {
		to := m.energy.to
		if i < m.bucketEvents() {
			to = within(m.events[i].Time)
		}
		out[i] = span{from, to}
		from = to
	}
	return out
}

// tellShared names the events that were shorter than what their joules were read
// from: those are shared out evenly over an update of the sensor, whatever it was
// in that update that took them.
func (c *collector) tellShared() {
	const most = 5 // names in the warning
	var names []string
	var update time.Duration
	for _, m := range c.measured {
		if m.energy == nil {
			continue
		}
		fine := m.energy.timed.Update()
		for i, b := range m.spans() {
			if i == 0 || b.to <= b.from || b.to-b.from >= fine {
				continue
			}
			if name := strconv.Quote(clip(m.events[i-1].Name)); !slices.Contains(names, name) {
				names, update = append(names, name), max(update, fine)
			}
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", more))
	}
	if len(names) > 0 {
		c.warnf("shorter than the time between two readings of the power (%v): %s: what such an event took is shared out evenly between it and its neighbours", update.Round(time.Millisecond), strings.Join(names, ", "))
	}
}
