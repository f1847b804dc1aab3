package energymeter

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/energy"
	trace "github.com/apkgate/apkgate/trace/perfetto/powerdata"
)

// pollEvery is how often Perfetto reads the battery and the rails, the least that android.power
// allows.
const pollEvery = 250 * time.Millisecond

// chargerProperty is what the battery service reports on chargers (BatteryService): 0 if there is
// none. A trace shows a charger that was connected only for a moment.
const (
	chargerProperty = "debug.tracing.plug_type"
	chargerEvery    = time.Second
)

// Asker is the name of energy's requests to the recorders.
const Asker = "energy"

// powerSources are the data sources that read the power.
//
// Format: protos/perfetto/config/power/android_power_config.proto and
// android/android_system_property_config.proto.
func powerSources(known recorders.Capabilities) []recorders.Source {
	const (
		bufferKB = 4096
		// Four readings a second, of the battery and of some fifty rails.
		bytesPerSecond = 8 << 10
	)
	counters := []string{"BATTERY_COUNTER_CHARGE", "BATTERY_COUNTER_CAPACITY_PERCENT", "BATTERY_COUNTER_CURRENT", "BATTERY_COUNTER_CURRENT_AVG"}
	if known.Voltage {
		counters = append(counters, "BATTERY_COUNTER_VOLTAGE")
	}
	sources := []recorders.Source{{
		Name: "android.power", Config: "android_power_config", BufferKB: bufferKB, BytesPerSecond: bytesPerSecond,
		Every: map[string]time.Duration{"battery_poll_ms": pollEvery}, On: []string{"collect_power_rails"},
		Enums: map[string][]string{"battery_counters": counters},
	}}
	if known.Properties {
		sources = append(sources, recorders.Source{
			Name: "android.system_property", Config: "android_system_property_config", BufferKB: bufferKB,
			Every: map[string]time.Duration{"poll_ms": chargerEvery}, Texts: map[string][]string{"property_name": {chargerProperty}},
		})
	}
	return sources
}

// chargers combines what the battery service reports at one time with what a trace shows
// throughout.
func chargers(service energy.Power, t *trace.Trace) energy.Power {
	if traced := energy.PowerOf(t); traced == energy.External || service == energy.PowerUnknown {
		return traced
	}
	return service
}

// Request is what energy needs from Perfetto.
func Request() recorders.Request {
	return recorders.Request{Who: Asker, Sources: powerSources, Complete: true}
}

// askPerfetto makes Perfetto read the power, if the device's can.
func (m *Meter) askPerfetto(ctx context.Context) error {
	m.perfetto.Request(Request())
	err := m.perfetto.Ready(ctx)
	if err != nil {
		m.perfetto.Withdraw(Asker)
	}
	return err
}

// recordFor records for a while and reads the trace.
func (m *Meter) recordFor(ctx context.Context, d time.Duration) (*trace.Trace, error) {
	if err := m.perfetto.Start(ctx); err != nil {
		return nil, err
	}
	if err := m.t.Clock.Sleep(ctx, d); err != nil {
		return nil, err
	}
	if err := m.perfetto.Stop(ctx); err != nil {
		return nil, err
	}
	t, err := m.readTrace(ctx)
	if err != nil {
		return nil, err
	}
	return t, m.perfetto.Drop(ctx)
}

func (m *Meter) readTrace(ctx context.Context) (t *trace.Trace, err error) {
	err = m.perfetto.Fetch(ctx, func(r io.ReadSeeker) error {
		if t, err = trace.Read(r); err == nil && t.Clock != "monotonic" {
			err = fmt.Errorf("%w: its times are on the clock %q, and nothing leads from there to CLOCK_MONOTONIC", loss.ErrGarbled, t.Clock)
		}
		return err
	})
	return t, err
}
