package power

import (
	"context"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
)

// How long a device rests where the configuration does not say: before its first
// repetition, and again after it was lost, since it may have restarted; and after
// another build was installed, when it is warm from measuring already.
const (
	firstSettle = 2 * time.Minute
	laterSettle = 30 * time.Second
	settleStep  = 5 * time.Second
	// longestCooling is how much longer it rests while Android slows it for heat.
	longestCooling = 10 * time.Minute
)

// Settle rests the device between the warm-up and the first repetition, so that
// what installing and warming up set in motion is over (EDATA, section 3.7.2).
func (m *Meter) Settle(ctx context.Context) error {
	rest := m.settleTime()
	for left := rest; left > 0; left -= settleStep {
		m.t.Journal.Report(journal.Settle, 0, 0, fmt.Sprintf("%v left", left.Round(time.Second)))
		if err := m.t.Clock.Sleep(ctx, min(left, settleStep)); err != nil {
			return m.fail(err)
		}
	}
	if rest > 0 {
		if err := m.coolDown(ctx); err != nil {
			return m.fail(err)
		}
	}
	m.settled = true
	return nil
}

func (m *Meter) fail(err error) error {
	return loss.Of(m.t.Name, loss.Infrastructure, journal.Settle, 0, err)
}

// coolDown waits, for so long, until heat no longer slows the device down.
func (m *Meter) coolDown(ctx context.Context) error {
	for left := longestCooling; left > 0; left -= settleStep {
		heat, _, err := device.Slowed(ctx, m.t.Device())
		if err != nil || heat == "" {
			return err
		}
		m.t.Journal.Report(journal.Settle, 0, 0, fmt.Sprintf("cooling down (%s)", journal.Line(heat)))
		if err := m.t.Clock.Sleep(ctx, settleStep); err != nil {
			return err
		}
	}
	m.t.Journal.Warnf("the device did not cool down within %v", longestCooling)
	return nil
}

// TellSlowness says where the device was slowed down in a repetition, as far as
// that can be seen at its end.
func (m *Meter) TellSlowness(ctx context.Context, n int) error {
	heat, saver, err := device.Slowed(ctx, m.t.Device())
	if err != nil {
		return err
	}
	if heat != "" {
		m.t.Journal.Warnf("repetition %d: Android was slowing the device down for heat (%s): its joules are those of a hot device", n, journal.Line(heat))
	}
	if saver {
		m.t.Journal.Warnf("the battery saver was on: Android was slowing the device down")
	}
	return nil
}

// settleTime is how long the device is to rest now.
func (m *Meter) settleTime() time.Duration {
	switch {
	case m.settings.Settle != nil:
		return *m.settings.Settle
	case !m.choice.Source.Measured():
		return 0
	case m.settled:
		return laterSettle
	}
	return firstSettle
}
