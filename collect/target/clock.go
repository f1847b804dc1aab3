package target

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
)

// HostClock is this computer's monotonic clock.
func HostClock() device.Clock { return hostClock{time.Now()} }

type hostClock struct{ start time.Time }

func (h hostClock) Now() time.Duration { return time.Since(h.start) }

func (h hostClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// clockProcesses are processes of which one always runs, so that gfxinfo prints its head, with
// CLOCK_MONOTONIC as "Uptime". /proc/uptime would count sleep too. The system UI of watches has
// another name, and some boards have none. The system process runs on all devices, and comes last
// since querying it needs the system itself.
var clockProcesses = []string{"com.android.systemui", "com.google.android.wearable.sysui", "com.google.android.apps.wearable.sysui", "system"}

// ClockQuestion queries CLOCK_MONOTONIC: it heads a dump of a process that always runs.
func (t *Target) ClockQuestion() string {
	if t.clockProcess == "" {
		return clockOf(clockProcesses[0])
	}
	return clockOf(t.clockProcess)
}

func clockOf(process string) string { return device.Quote("dumpsys", "gfxinfo", process) }

// findClock finds a process whose dump contains the time. On a device without one, later queries of
// the time fail.
func (t *Target) findClock(ctx context.Context) error {
	for _, process := range clockProcesses {
		out, err := t.Ask(ctx, clockOf(process))
		if err != nil {
			return fmt.Errorf("find a source of the device's clock: %w", err)
		}
		if uptimeLine.Match(out.Stdout) {
			t.clockProcess = process
			return nil
		}
	}
	return nil
}

var uptimeLine = regexp.MustCompile(`(?m)^Uptime: (\d+) `)

// Uptimes parses the times on CLOCK_MONOTONIC in the answers to ClockQuestion, in their order.
func Uptimes(text []byte) ([]time.Duration, error) {
	var out []time.Duration
	for _, m := range uptimeLine.FindAllSubmatch(text, -1) {
		ms, err := strconv.ParseInt(string(m[1]), 10, 50)
		if err != nil {
			return nil, fmt.Errorf("read the device's clock: %w: %w", loss.ErrGarbled, err)
		}
		out = append(out, time.Duration(ms)*time.Millisecond)
	}
	return out, nil
}

var slept = regexp.MustCompile(`(?m)^Uptime: (\d{1,15}) Realtime: (\d{1,15})\b`)

// Slept returns by how much CLOCK_BOOTTIME, which counts sleep, is ahead of CLOCK_MONOTONIC in an
// answer to ClockQuestion; false if it contains only one of them.
func Slept(text []byte) (time.Duration, bool) {
	m := slept.FindSubmatch(text)
	if m == nil {
		return 0, false
	}
	monotonic, err := strconv.ParseInt(string(m[1]), 10, 64)
	boottime, err2 := strconv.ParseInt(string(m[2]), 10, 64)
	return time.Duration(boottime-monotonic) * time.Millisecond, err == nil && err2 == nil
}

// Uptime returns the first of the times in the answers.
func Uptime(text []byte) (time.Duration, error) {
	times, err := Uptimes(text)
	if err == nil && len(times) == 0 {
		err = fmt.Errorf("read the device's clock: %w", loss.ErrGarbled)
	}
	if err != nil {
		return 0, err
	}
	return times[0], nil
}

// Tick is the unit of the times in /proc/stat, /proc/PID/stat and time_in_state (proc(5));
// Android's is 100 Hz.
const Tick = 10 * time.Millisecond

// TickBits limits a count of ticks, so that a sum of many does not overflow: 2^33 ticks of 10 ms
// are 2.7 years.
const TickBits = 34
