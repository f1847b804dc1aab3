package energymeter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/model"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/batterystats"
	"github.com/apkgate/apkgate/trace/logcat"
	trace "github.com/apkgate/apkgate/trace/perfetto/powerdata"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// Metering measures the energy of one repetition, phase by phase (EDATA, section 3.6.2).
type Metering struct {
	*Meter
	build      *Build
	from, to   time.Duration // of the workload, on CLOCK_MONOTONIC
	offset     time.Duration // CLOCK_MONOTONIC less the device's clock
	brightness float64
	last       time.Duration // of the last reading of the power
	app        time.Duration // CPU time of the app at the last reading
	snapshots  []model.Snapshot
	polls      []energy.BatteryReading
	stats      *batterystats.Dump
	statsCut   bool // there should be some
	trace      *trace.Trace
	profile    *simpleperf.Profile
}

// Measure begins a repetition of the build.
func (m *Meter) Measure(b *Build) *Metering { return &Metering{Meter: m, build: b} }

// PreTest does whatever may take long before a repetition.
func (m *Metering) PreTest(ctx context.Context) (err error) {
	if m.settings.Methods {
		m.simpleperf.Request(Asker, m.build.App.Package, m.settings.SampleHz)
	}
	if m.choice.Source == energy.Model {
		m.brightness, err = m.readBrightness(ctx)
	}
	return err
}

// StartUp reads the power for the first time, just before the workload, when all recorders run.
func (m *Metering) StartUp(ctx context.Context) error {
	if err := m.leadTime(ctx); err != nil {
		return err
	}
	if err := m.resetStats(ctx); err != nil {
		return err
	}
	return m.look(ctx)
}

// Refused handles a recorder for energy that failed: the repetition is lost. On a device whose
// samples have no times, everything else is measured.
func (m *Metering) Refused(err error) error {
	if !errors.Is(err, recorders.ErrNoClock) {
		return m.Invalid(err)
	}
	m.settings.Methods = false
	m.simpleperf.Withdraw(Asker)
	m.t.Journal.Warnf("the app's methods are not sampled: %v (a newer one out of the NDK may do, pushed to %s)", err, recorders.PushedSimpleperf)
	return nil
}

// leadTime lets sensors update before the workload begins and after it ended.
func (m *Metering) leadTime(ctx context.Context) error {
	if !m.choice.Source.Measured() {
		return nil
	}
	for left := m.lead; left > 0; left -= pollEvery {
		if m.battery.polled {
			if err := m.look(ctx); err != nil {
				return err
			}
		}
		if err := m.t.Clock.Sleep(ctx, min(left, pollEvery)); err != nil {
			return err
		}
	}
	return nil
}

// powerMark separates the clock from the power in one output.
const powerMark = "apkgate-power"

// look takes a reading and aligns the clocks by it.
func (m *Metering) look(ctx context.Context) error {
	before := m.t.Clock.Now()
	line := m.t.ClockQuestion()
	if question := m.Question(); question != "" {
		line += "; echo; echo " + powerMark + "; " + question
	}
	out, err := m.t.Ask(ctx, line)
	if err != nil {
		return fmt.Errorf("read the device's power: %w", err)
	}
	head, text, _ := bytes.Cut(out.Stdout, []byte(powerMark))
	at, err := target.Uptime(head)
	if err != nil {
		return err
	}
	m.offset = at - (before+m.t.Clock.Now())/2
	m.Take(text, at, m.app)
	return nil
}

// Question returns the command of each reading, "" for none.
func (m *Metering) Question() string {
	switch {
	case m.choice.Source == energy.Model:
		return m.statesQuestion()
	case m.choice.Source == energy.Battery && m.battery.polled:
		return m.batteryQuestion()
	}
	return ""
}

// Take records the answer to the question: at CLOCK_MONOTONIC, with the app's CPU time so far.
func (m *Metering) Take(text []byte, at, app time.Duration) {
	m.app = app
	if len(text) == 0 || at <= m.last {
		return
	}
	m.last = at
	if m.choice.Source != energy.Model {
		m.polls = append(m.polls, batteryReading(at, text))
	} else if s, ok := m.snapshotOf(at, text, app, m.brightness); ok {
		m.snapshots = append(m.snapshots, s)
	}
}

// Starting and Ended record when the workload begins and when it was over.
func (m *Metering) Starting() { m.from = m.t.Clock.Now() + m.offset }

// Ended records it once.
func (m *Metering) Ended() {
	if m.to == 0 {
		m.to = m.t.Clock.Now() + m.offset
	}
}

// Marked uses the workload's own marks in the log for its beginning and end, as far as they are
// known: they are more accurate than when this computer started it and learned of its end.
func (m *Metering) Marked(begin, end func() (time.Duration, bool)) {
	if at, known := begin(); known {
		m.from = at
	}
	if at, known := end(); known {
		m.to = at
	}
}

// Began sets when the app first did something, 0 if unknown, for a workload that writes no marks:
// starting it on this computer, such as Maestro's JVM, is not part of the scenario.
func (m *Metering) Began(at time.Duration) {
	if at > m.from && at < m.to {
		m.from = at
	}
}

// ShutDown takes the last reading, while the recorders still run.
func (m *Metering) ShutDown(ctx context.Context) (err error) {
	m.Ended()
	if err := m.look(ctx); err != nil {
		return err
	}
	if m.stats, err = m.readStats(ctx); errors.Is(err, errStatsCut) {
		m.statsCut = true
	} else if err != nil {
		return err
	}
	return m.leadTime(ctx)
}

// PostTest copies the recordings and returns the energy, with the UI events of the repetition,
// sorted by time.
func (m *Metering) PostTest(ctx context.Context, events []logcat.Event) (*Spent, error) {
	if m.perfetto.Serves(Asker) {
		t, err := m.readTrace(ctx)
		if err != nil {
			return nil, m.Invalid(err)
		}
		m.trace = t
		m.warnSleep(t.Suspended)
	}
	if m.simpleperf.Serves(Asker) {
		if err := m.readProfile(ctx); err != nil {
			return nil, m.Invalid(err)
		}
	}
	power := energy.OnBattery
	if m.choice.Source == energy.Battery {
		last, err := m.askBattery(ctx)
		if err != nil {
			return nil, err
		}
		power = last.Power
	}
	s, err := m.spent(power)
	if err != nil {
		return nil, m.Invalid(err)
	}
	s.events = events[:min(len(events), run.MaxEvents-1)]
	return s, nil
}

// readProfile reads the recording of the app's methods.
func (m *Metering) readProfile(ctx context.Context) error {
	err := m.simpleperf.Fetch(ctx, func(r io.ReadSeeker) (err error) {
		m.profile, err = simpleperf.Read(r)
		return err
	})
	if err == nil && !m.doubted && len(m.profile.Warnings) > 0 {
		m.doubted = true
		m.t.Journal.Doubts("the recording of the methods", m.profile.Warnings)
	}
	return err
}

// warnSleep warns that the device slept. CLOCK_MONOTONIC stands still then.
func (m *Metering) warnSleep(suspended time.Duration) {
	if suspended <= 0 {
		return
	}
	left := ""
	if m.choice.Source == energy.Battery {
		left = ", and what it took asleep is not in its joules"
	}
	m.t.Journal.Warnf("the device was suspended for %v while it was measured: its mean power is that of the time awake%s", suspended.Round(time.Millisecond), left)
}

// Invalid wraps an error because of which the repetition's energy can't be trusted: the repetition
// is lost.
func (m *Metering) Invalid(err error) error {
	if loss.IsGone(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || loss.As(err) != nil {
		return err
	}
	hint := energy.Hint(err)
	if hint == "" {
		hint = "set energy.source in apkgate.yml to another source, such as model"
	}
	return &loss.Error{Cause: loss.Infrastructure, Phase: journal.Measure, Err: fmt.Errorf("%w: %w", loss.ErrEnergy, err), Advice: hint,
		Final: errors.Is(err, energy.ErrNoEstimate)} // and never will be
}

// readings returns those of the battery, from Perfetto and from the battery service.
func (m *Metering) readings(power energy.Power) []energy.BatteryReading {
	if m.trace == nil {
		return slices.Clone(m.polls)
	}
	out := energy.BatteryOf(m.trace, chargers(power, m.trace))
	if m.battery.polled {
		out = withVoltage(out, m.polls)
	}
	return out
}
