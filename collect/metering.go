package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/trace/batterystats"
	"github.com/apkgate/apkgate/trace/perfetto/power"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// metering is the energy of one repetition while it is measured, phase by phase
// (EDATA, section 3.6.2). A nil metering measures nothing.
type metering struct {
	*collector
	from, to   time.Duration // of the workload, on CLOCK_MONOTONIC
	offset     time.Duration // CLOCK_MONOTONIC less the collector's clock
	brightness float64
	last       time.Duration // when power was read last
	app        time.Duration // CPU time of the app at the last reading
	snapshots  []energy.Snapshot
	polls      []energy.BatteryReading
	tracing    *recorder
	sampling   *recorder
	stats      *batterystats.Dump
	statsCut   bool   // there should be some
	beginMark  string // in the log, at the beginning of the workload
	endMark    string // and at its end
	trace      *power.Trace
	profile    *simpleperf.Profile
}

// newMetering is nil where no energy is measured.
func (c *collector) newMetering() *metering {
	if c.meter == nil {
		return nil
	}
	return &metering{collector: c}
}

// preTest does what may take long before a repetition.
func (m *metering) preTest(ctx context.Context) (err error) {
	if m == nil {
		return nil
	}
	if len(m.recorders) > 0 { // a lost repetition left them
		if err := m.endRecorders(ctx); err != nil {
			return err
		}
	}
	if m.meter.choice.Source == energy.Model {
		m.brightness, err = m.readBrightness(ctx)
	}
	return err
}

// startUp starts what records, just before the workload.
func (m *metering) startUp(ctx context.Context) error {
	if m == nil {
		return nil
	}
	if m.meter.traced() {
		r, err := m.startPerfetto(ctx)
		if err != nil {
			return m.invalid(err)
		}
		m.tracing = &r
	}
	if err := m.startSampling(ctx); err != nil {
		return err
	}
	if err := m.leadTime(ctx); err != nil {
		return err
	}
	if err := m.resetStats(ctx); err != nil {
		return err
	}
	return m.look(ctx)
}

// startSampling starts simpleperf. A device on which its samples would have no
// times measures all else.
func (m *metering) startSampling(ctx context.Context) error {
	if !m.meter.settings.Methods {
		return nil
	}
	r, err := m.startProfiler(ctx)
	switch {
	case errors.Is(err, errNoClock):
		m.meter.settings.Methods = false
		m.warnf("the app's methods are not sampled: %v (a newer one out of the NDK may do, pushed to %s)", err, pushedSimpleperf)
		return nil
	case err != nil:
		return m.invalid(err)
	}
	m.sampling = &r
	return nil
}

// traced reports whether Perfetto reads the sensors.
func (m *meter) traced() bool { return m.choice.Source.Measured() && m.perfetto != "" }

// leadTime lets sensors update before the workload begins and after it ended.
func (m *metering) leadTime(ctx context.Context) error {
	if !m.meter.choice.Source.Measured() {
		return nil
	}
	for left := m.meter.lead; left > 0; left -= pollEvery {
		if m.meter.battery.polled {
			if err := m.look(ctx); err != nil {
				return err
			}
		}
		if err := m.clock.Sleep(ctx, min(left, pollEvery)); err != nil {
			return err
		}
	}
	return nil
}

// clockQuestion asks for CLOCK_MONOTONIC: it heads a dump of a process that
// always runs.
var clockQuestion = device.Quote("dumpsys", "gfxinfo", clockProcess)

func uptimeOf(text []byte) (time.Duration, error) {
	m := uptimeLine.FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("read the device's clock: %w", ErrGarbled)
	}
	ms, err := strconv.ParseInt(string(m[1]), 10, 50)
	if err != nil {
		return 0, fmt.Errorf("read the device's clock: %w: %w", ErrGarbled, err)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// look takes a reading of its own, and lines up the clocks by it.
func (m *metering) look(ctx context.Context) error {
	before := m.clock.Now()
	out, err := m.dev.Exec(ctx, clockQuestion+m.question())
	if err != nil {
		return fmt.Errorf("read the device's power: %w", err)
	}
	head, text, _ := bytes.Cut(out.Stdout, []byte(powerMark))
	at, err := uptimeOf(head)
	if err != nil {
		return err
	}
	m.offset = at - (before+m.clock.Now())/2
	m.take(text, at, m.app)
	return nil
}

// question is what is asked for at each reading, "" for nothing.
func (m *metering) question() string {
	switch {
	case m == nil:
		return ""
	case m.meter.choice.Source == energy.Model:
		return "; echo; echo " + powerMark + "; " + m.meter.statesQuestion()
	case m.meter.choice.Source == energy.Battery && m.meter.battery.polled:
		return "; echo; echo " + powerMark + "; " + m.meter.batteryQuestion()
	}
	return ""
}

// take notes the answer to the question: at CLOCK_MONOTONIC, with the CPU time
// that the app has had.
func (m *metering) take(text []byte, at, app time.Duration) {
	if m == nil {
		return
	}
	m.app = app
	if len(text) == 0 || at <= m.last {
		return
	}
	m.last = at
	if m.meter.choice.Source != energy.Model {
		m.polls = append(m.polls, batteryReading(at, text))
	} else if s, ok := m.meter.snapshotOf(at, text, app, m.brightness); ok {
		m.snapshots = append(m.snapshots, s)
	}
}

// starting and ended note when the workload begins and when it was over.
func (m *metering) starting() {
	if m != nil {
		m.from = m.clock.Now() + m.offset
	}
}

func (m *metering) ended() {
	if m != nil && m.to == 0 {
		m.to = m.clock.Now() + m.offset
	}
}

// marked takes the beginning and the end of the workload from its own marks in the
// log, where they are there: that is surer than when this computer asked for the
// one and heard of the other.
func (m *metering) marked(log *logReader) {
	if m == nil || m.endMark == "" || !log.aligned {
		return
	}
	for mark, at := range map[string]*time.Duration{m.beginMark: &m.from, m.endMark: &m.to} {
		if i := markAt(log.entries, mark); i >= 0 {
			*at = log.entries[i].Time + log.offset
		}
	}
}

// endsWithin is how late the end of a workload is noticed where energy is
// measured. Its joules count up to there where its end is not in the log.
const endsWithin = 20 * time.Millisecond

// await lets an interval pass between two readings; where energy is measured, it
// ends with the workload.
func (m *metering) await(ctx context.Context, c *collector, w *running, interval time.Duration) error {
	if m == nil {
		return c.clock.Sleep(ctx, interval)
	}
	for left := interval; left > 0 && !w.ended(); left -= endsWithin {
		if err := m.clock.Sleep(ctx, min(left, endsWithin)); err != nil {
			return err
		}
	}
	if w.ended() {
		m.ended()
	}
	return nil
}

// shutDown takes the last reading and ends what records.
func (m *metering) shutDown(ctx context.Context) (err error) {
	if m == nil {
		return nil
	}
	m.ended()
	if err := m.look(ctx); err != nil {
		return err
	}
	if m.stats, err = m.readStats(ctx); errors.Is(err, errStatsCut) {
		m.statsCut = true
	} else if err != nil {
		return err
	}
	if err := m.leadTime(ctx); err != nil {
		return err
	}
	if m.sampling != nil {
		if err := m.end(ctx, *m.sampling, "-INT"); err != nil {
			return m.invalid(err)
		}
	}
	if m.tracing != nil {
		if err := m.end(ctx, *m.tracing, "-TERM"); err != nil {
			return m.invalid(err)
		}
	}
	return nil
}

// postTest copies the recordings and says what was spent.
func (m *metering) postTest(ctx context.Context) (*spent, error) {
	if m == nil {
		return nil, nil
	}
	if m.tracing != nil {
		t, err := m.readPerfetto(ctx)
		if err != nil {
			return nil, m.invalid(err)
		}
		m.trace = t
		m.tellSleep(t.Suspended)
	}
	if m.sampling != nil {
		p, err := m.readProfile(ctx)
		if err != nil {
			return nil, m.invalid(err)
		}
		m.profile = p
	}
	power := energy.OnBattery
	if m.meter.choice.Source == energy.Battery {
		last, err := m.askBattery(ctx)
		if err != nil {
			return nil, err
		}
		power = last.Power
	}
	s, err := m.spent(power)
	if err != nil {
		return nil, m.invalid(err)
	}
	return s, nil
}

// tellSleep says that the device slept. CLOCK_MONOTONIC stands still then.
func (m *metering) tellSleep(suspended time.Duration) {
	if suspended <= 0 {
		return
	}
	left := ""
	if m.meter.choice.Source == energy.Battery {
		left = ", and what it took asleep is not in its joules"
	}
	m.warnf("the device was suspended for %v while it was measured: its mean power is that of the time awake%s", suspended.Round(time.Millisecond), left)
}

// invalid says that the repetition's energy can't be trusted: it is lost.
func (m *metering) invalid(err error) error {
	if isGone(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || asError(err) != nil {
		return err
	}
	hint := energy.Hint(err)
	if hint == "" {
		hint = "set energy.source in apkgate.yml to another source, such as model"
	}
	return &Error{Cause: Infrastructure, Phase: Measure, Err: fmt.Errorf("%w: %w", ErrEnergy, err), hint: hint,
		final: errors.Is(err, energy.ErrNoEstimate)} // nor will there be one
}

// readings are the battery's, of Perfetto and of the battery service.
func (m *metering) readings(power energy.Power) []energy.BatteryReading {
	if m.trace == nil {
		return slices.Clone(m.polls)
	}
	out := energy.BatteryOf(m.trace, chargers(power, m.trace))
	if m.meter.battery.polled {
		out = withVoltage(out, m.polls)
	}
	return out
}
