package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/trace/perfetto/power"
)

// hasPerfetto: Android 10 and later have the data source android.power.
func (f facts) hasPerfetto() bool { return f.api >= 29 }

// pollEvery is how often Perfetto reads the battery and the rails, the least
// that android.power allows.
const pollEvery = 250 * time.Millisecond

// knows is what a device's perfetto knows that not every one does: it refuses
// what it does not know.
type knows struct {
	voltage  bool // of the battery: perfetto 40, Android 15
	chargers bool // system properties: perfetto 31, Android 14
	wait     bool // --background-wait: Android 13, and 12 perhaps
}

// generations of perfetto, the latest first.
var generations = []knows{
	{true, true, true}, {false, true, true}, {false, false, true}, {false, false, false},
}

// chargerProperty is what the battery service says of chargers (BatteryService):
// 0 where there is none. A trace shows it though the charger was there for a
// moment alone.
const (
	chargerProperty = "debug.tracing.plug_type"
	chargerEvery    = time.Second
)

// perfettoText is the configuration of a trace of power. It ends by itself after
// the limit, so that nothing runs on where this computer goes away. Perfetto
// writes snapshots of all clocks into every trace.
//
// Format: protos/perfetto/config/trace_config.proto,
// power/android_power_config.proto and android/android_system_property_config.proto.
func perfettoText(limit time.Duration, known knows) string {
	counters := []string{"CHARGE", "CAPACITY_PERCENT", "CURRENT", "CURRENT_AVG"}
	if known.voltage {
		counters = append(counters, "VOLTAGE")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "buffers { size_kb: 4096 fill_policy: RING_BUFFER }\n")
	fmt.Fprintf(&b, "duration_ms: %d\nwrite_into_file: true\nfile_write_period_ms: 5000\nmax_file_size_bytes: %d\n", limit.Milliseconds(), maxRecording)
	fmt.Fprintf(&b, "data_sources { config { name: \"android.power\" android_power_config {\n")
	fmt.Fprintf(&b, "  battery_poll_ms: %d\n  collect_power_rails: true\n", pollEvery.Milliseconds())
	for _, name := range counters {
		fmt.Fprintf(&b, "  battery_counters: BATTERY_COUNTER_%s\n", name)
	}
	b.WriteString("} } }\n")
	if known.chargers {
		fmt.Fprintf(&b, "data_sources { config { name: \"android.system_property\" android_system_property_config {\n  poll_ms: %d\n  property_name: %q\n} } }\n",
			chargerEvery.Milliseconds(), chargerProperty)
	}
	return b.String()
}

// recordLimit is after how long a recorder ends by itself.
func (c *collector) recordLimit() time.Duration {
	limit := c.job.Scenario.Timeout
	if limit <= 0 {
		limit = 24 * time.Hour
	}
	return limit + c.meter.settings.Disconnect + 10*time.Minute
}

// readyPerfetto puts the configuration on the device, the richest that it takes:
// the version of Android does not tell, since makers update perfetto by itself.
func (c *collector) readyPerfetto(ctx context.Context) error {
	var refused error
	for _, known := range generations {
		text := perfettoText(c.recordLimit(), known)
		if err := c.dev.Push(ctx, strings.NewReader(text), perfettoConfig, 0o644, c.run.Started); err != nil {
			return fmt.Errorf("push Perfetto's configuration to the device: %w", err)
		}
		c.meter.perfetto, c.meter.perfettoWaits = text, known.wait
		r, err := c.startPerfetto(ctx)
		if err == nil {
			return c.end(ctx, r, "-TERM")
		}
		if isGone(err) || ctx.Err() != nil {
			return err
		}
		refused = err
	}
	c.meter.perfetto = ""
	return fmt.Errorf("%w: %w", errNoPerfetto, refused)
}

var errNoPerfetto = errors.New("the device's perfetto can't be used")

// chargers is what is known of them: by the battery service at one time, and by
// a trace all along.
func chargers(service energy.Power, t *power.Trace) energy.Power {
	if told := energy.PowerOf(t); told == energy.External || service == energy.PowerUnknown {
		return told
	}
	return service
}

// startPerfetto returns when the trace is being recorded: later versions of
// perfetto wait for that themselves.
func (c *collector) startPerfetto(ctx context.Context) (recorder, error) {
	background := "--background"
	if c.meter.perfettoWaits {
		background = "--background-wait"
	}
	line := device.Quote("rm", "-f", perfettoTrace) + "; cat " + perfettoConfig + " | " + device.Quote("perfetto", "--txt", "-c", "-", "-o", perfettoTrace, background)
	out, err := c.dev.Exec(ctx, line)
	if err != nil {
		return recorder{}, fmt.Errorf("start perfetto: %w", err)
	}
	r, err := c.begun("perfetto", out)
	if err != nil || c.meter.perfettoWaits {
		return r, err
	}
	if err := c.clock.Sleep(ctx, perfettoStarts); err != nil {
		return r, err
	}
	runs, err := c.alive(ctx, r)
	if err == nil && !runs {
		err = errors.New("start perfetto: it ended at once")
	}
	return r, err
}

// perfettoStarts is how long perfetto may take to start its data sources where
// it does not say when it has.
const perfettoStarts = time.Second

// endPerfetto ends the trace and reads it.
func (c *collector) endPerfetto(ctx context.Context, r recorder) (*power.Trace, error) {
	if err := c.end(ctx, r, "-TERM"); err != nil {
		return nil, err
	}
	return c.readPerfetto(ctx)
}

func (c *collector) readPerfetto(ctx context.Context) (t *power.Trace, err error) {
	err = c.collectFile(ctx, perfettoTrace, func(r io.Reader) error {
		if t, err = power.Read(r); err == nil && t.Clock != "monotonic" {
			err = fmt.Errorf("%w: its times are on the clock %q, and nothing leads from there to CLOCK_MONOTONIC", ErrGarbled, t.Clock)
		}
		return err
	})
	return t, err
}
