package energymeter

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/energy/model"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/logcat"
)

// Spent is the energy of one repetition.
type Spent struct {
	from, to   time.Duration // of the workload, on CLOCK_MONOTONIC
	total      energy.Curve
	app        energy.Curve
	timed      energy.Curve // the parts of total and app whose time is known
	timedApp   energy.Curve
	hasApp     bool // app has the app's part
	components []run.Component
	wakelocks  []run.Wakelock
	metrics    map[string]float64 // of the whole repetition, by batterystats
	update     time.Duration      // of the sensor, 0: there is none
	capacity   float64            // mAh, 0 if not stated
	trace      *methods.Trace
	watts      []float64      // of each sample of the trace
	cpu        time.Duration  // of the app, as the kernel counted it
	events     []logcat.Event // that begin the buckets, sorted by time
}

// minCovered is the share of the workload that a sensor must have covered.
const minCovered = 0.98

// errUncovered reports that a sensor did not cover the whole workload.
var errUncovered = errors.New("the power is not known all along")

// spent computes the energy of the repetition. power is what the battery service reports on
// chargers after it.
func (m *Metering) spent(power energy.Power) (*Spent, error) {
	m.countToTheEnd()
	s := &Spent{from: m.from, to: m.to, cpu: m.app, metrics: map[string]float64{}}
	if err := m.bySource(s, power); err != nil {
		return nil, err
	}
	if _, covered := s.total.Energy(s.from, s.to); float64(covered) < minCovered*float64(s.to-s.from) {
		return nil, fmt.Errorf("%w: the readings cover %v of %v", errUncovered, covered.Round(time.Millisecond), (s.to - s.from).Round(time.Millisecond))
	}
	if m.stats != nil {
		p := m.stats.Main()
		maps.Copy(s.metrics, energy.AppMetrics(p, m.build.uid))
		s.wakelocks = energy.Wakelocks(p, m.build.uid)
		s.capacity = energy.Capacity(p.Stated["capacity_estimated_mah"], p.Stated["capacity_profile_mah"])
	}
	if m.profile != nil {
		t := methods.Of(m.profile, s.total, m.build.naming, methods.Pick{App: m.build.App.Package})
		if len(t.Samples) == 0 {
			return nil, fmt.Errorf("sample the app's methods: %w", errNoSamples)
		}
		s.trace, s.watts = &t, methods.Powers(t)
	}
	return s, nil
}

// countToTheEnd takes the app's CPU time from batterystats if that is more: the last reading was up
// to a second before the app ended.
func (m *Metering) countToTheEnd() {
	if m.stats == nil || m.detaches() {
		return
	}
	counted := time.Duration(0)
	for _, u := range m.stats.Main().UIDs {
		if u.UID == m.build.uid && m.build.uid > 0 {
			counted = time.Duration((u.Stated["cpu_user_ms"] + u.Stated["cpu_system_ms"]) * float64(time.Millisecond))
		}
	}
	const mostAhead = 2 * framesource.Longest * maxRunning
	if counted > m.app && counted < m.app+mostAhead {
		m.app = counted
	}
	for i := range m.snapshots { // a slow reading may have missed the app
		if s := &m.snapshots[i]; s.Time >= m.to || i == len(m.snapshots)-1 {
			s.AppCPU = max(s.AppCPU, m.app)
		}
	}
}

// maxRunning is the plausible maximum of threads of an app that run at once.
const maxRunning = 8

// errNoSamples reports that a recording has no samples of the app.
var errNoSamples = errors.New("the recording has no samples of the app; energy.sample-hz may be too low for it")

func (m *Metering) bySource(s *Spent, power energy.Power) error {
	switch m.choice.Source {
	case energy.Rails:
		return m.byRails(s)
	case energy.Battery:
		return m.byBattery(s, power)
	case energy.Platform:
		return m.byPlatform(s)
	}
	return m.byModel(s)
}

func (m *Metering) byRails(s *Spent) error {
	if m.trace == nil {
		return energy.ErrNoRails
	}
	p, err := energy.OfRails(energy.RailsOf(m.trace))
	if err != nil {
		return err
	}
	if m.powered == "battery" && energy.PowerOf(m.trace) == energy.External {
		m.t.Journal.Warnf("a charger was connected while a device on battery was measured: its rails are accurate, but the device does other things with a charger")
	}
	s.total, s.timed, s.update = p.Total, p.Total, p.Update
	s.components = p.Components(s.from, s.to)
	return nil
}

func (m *Metering) byBattery(s *Spent, power energy.Power) error {
	facts := m.facts
	c, err := energy.Correct(m.readings(power), facts)
	if err != nil {
		return err
	}
	m.warnCorrection(c)
	s.total, s.timed, s.update = c.Curve, c.Curve, c.Update
	return nil
}

// warnCorrection warns of a correction to what the battery reports.
func (m *Metering) warnCorrection(c energy.Correction) {
	const microampere = 1e-6
	if by := c.AmperesPerUnit / microampere; math.Abs(by-1) > 1e-9 {
		m.t.Journal.Warnf("the battery reports its current in another unit than Android asks for: multiplied by %.6g", by)
	}
	if c.Flipped {
		m.t.Journal.Warnf("the battery reports its current with the sign turned round: turned back")
	}
}

func (m *Metering) byModel(s *Spent) error {
	if m.statsCut {
		return errStatsCut
	}
	var states model.States
	if m.stats != nil {
		states = model.StatesOf(m.stats.Main(), m.build.uid)
	}
	snapshots := m.snapshots
	if m.detaches() && m.stats != nil {
		snapshots = nil // nothing was read while the app ran
	}
	e, err := m.model.Estimate(s.from, s.to, snapshots, states)
	if err != nil {
		return err
	}
	if err := m.byEstimate(s, e); err != nil {
		return err
	}
	if m.app == 0 && !m.detaches() { // no reading found it while it ran
		s.hasApp = false
		m.t.Journal.Warnf("the app's CPU time could not be read while it ran, so that its own joules are not known")
	}
	return nil
}

func (m *Metering) byPlatform(s *Spent) error {
	if m.statsCut {
		return errStatsCut
	}
	if m.stats == nil {
		return energy.ErrNoEstimate
	}
	e, err := energy.OfPlatform(*m.stats, m.build.uid, s.from, s.to)
	if err != nil {
		return err
	}
	return m.byEstimate(s, e)
}

func (m *Metering) byEstimate(s *Spent, e energy.Estimate) error {
	for _, w := range e.Warnings {
		m.t.Journal.Warnf("%s: %s", m.choice.From, w.Text)
	}
	s.total, s.app, s.hasApp, s.components = e.Curve, e.AppCurve, true, e.Device
	s.timed, s.timedApp = e.Timed, e.AppTimed
	return nil
}

// between adds the joules of a part of the repetition, if they are known throughout: of the device,
// and of the app if known.
func (s *Spent) between(total, app energy.Curve, from, to time.Duration, metrics map[string]float64) {
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

// sampled returns the energy of the samples in an interval.
func (s *Spent) sampled(from, to time.Duration) float64 {
	sum := 0.0
	for i, hit := range s.trace.Samples {
		if hit.Time >= from && hit.Time < to {
			sum += s.watts[i] * hit.Period.Seconds()
		}
	}
	return sum
}

// AddTo adds the joules to the iteration, and to each of its buckets those from its event to the
// next, if their time is known: an estimate that is spread evenly would blame every event for what
// one of them did.
func (s *Spent) AddTo(it *run.Iteration) {
	maps.Copy(it.Metrics, s.metrics)
	s.between(s.total, s.app, s.from, s.to, it.Metrics)
	for i, b := range s.spans() {
		s.between(s.timed, s.timedApp, b.from, b.to, it.Events[i].Metrics)
	}
}

// span is a part of a repetition, on CLOCK_MONOTONIC.
type span struct{ from, to time.Duration }

// spans returns the times of the buckets, limited to when the workload ran.
func (s *Spent) spans() []span {
	out := make([]span, len(s.events)+1)
	from := s.from
	for i := range out {
		to := s.to
		if i < len(s.events) {
			to = min(max(s.events[i].Time, s.from), s.to)
		}
		out[i] = span{from, to}
		from = to
	}
	return out
}
