package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/energy/names"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// profiler is how simpleperf is run on a device.
type profiler struct {
	command string // "simpleperf", or the path of one that was pushed
	event   int    // in clockEvents
	doubted bool   // what a recording can't tell was told: it is the same of each
}

// clockEvents are the events that count a thread's time, the better first: some
// emulators have the second alone (EDATA, section 3.2.1.3).
var clockEvents = []string{"task-clock", "cpu-clock"}

// pushedSimpleperf is one that the user pushed out of the NDK.
const pushedSimpleperf = "/data/local/tmp/simpleperf"

// Where simpleperf is. One that was pushed comes before the device's own, which
// may be older than what is asked of it; Android has one since version 9.
var simpleperfPlaces = []string{pushedSimpleperf, "simpleperf"}

const hardenProperty = "security.perf_harden"

// findProfiler looks for simpleperf, and lets it count where the device's
// hardening would not. A device of a lab that has none measures all else.
func (c *collector) findProfiler(ctx context.Context) error {
	if !c.meter.settings.Methods {
		return nil
	}
	for _, place := range simpleperfPlaces {
		out, err := c.exec(ctx, place, "--version")
		if err != nil {
			return fmt.Errorf("look for simpleperf on the device: %w", err)
		}
		if out.ExitCode == 0 {
			c.meter.profiler.command = place
			break
		}
	}
	if c.meter.profiler.command == "" {
		c.meter.settings.Methods = false
		c.warnf("the device has no simpleperf: the app's methods are not sampled on it (Android 9 and later have it; for an older one push it out of the NDK to %s)", pushedSimpleperf)
		return nil
	}
	if before := c.facts.properties[hardenProperty]; before != "" && before != "0" {
		c.undoLater("restore "+hardenProperty, func(ctx context.Context) error { return c.try(ctx, "setprop", hardenProperty, before) })
	}
	return c.soften(ctx)
}

// soften allows adb to count events; a restart of the device forgets it.
func (c *collector) soften(ctx context.Context) error {
	if before := c.facts.properties[hardenProperty]; before == "" || before == "0" || !c.meter.settings.Methods {
		return nil
	}
	return c.try(ctx, "setprop", hardenProperty, "0")
}

// Refusals of simpleperf (environment.cpp, event_selection_set.cpp, run-as).
var (
	notProfileable = regexp.MustCompile(`isn't debuggable/profileable|neither debuggable nor profileable|run-as: `)
	noSuchEvent    = regexp.MustCompile(`(?i)event type '[^']*' (?:is not|isn't) supported|unknown event`)
	waitsForApp    = regexp.MustCompile(`Waiting for process of app`)
	noSuchClock    = regexp.MustCompile(`(?i)clockid|unknown option`)
)

// errNoClock says that samples can't have times on CLOCK_MONOTONIC: the kernel is
// older than Linux 4.1, or simpleperf than the option.
var errNoClock = errors.New("simpleperf can't time its samples by CLOCK_MONOTONIC here")

// errNotProfileable says that the app's manifest forbids sampling it.
var errNotProfileable = errors.New("the app can't be sampled: it is neither profileable nor a debug build")

// startProfiler starts simpleperf and returns when it waits for the app, or has
// been recording for a while. Where the device does not know an event, it goes
// on to the next for good.
func (c *collector) startProfiler(ctx context.Context) (recorder, error) {
	for {
		r, err := c.startSimpleperf(ctx, clockEvents[c.meter.profiler.event])
		if !errors.Is(err, errNoEvent) || c.meter.profiler.event+1 == len(clockEvents) {
			return r, err
		}
		c.meter.profiler.event++
		c.warnf("the device does not count %s: methods are sampled by %s", clockEvents[c.meter.profiler.event-1], clockEvents[c.meter.profiler.event])
	}
}

var errNoEvent = errors.New("simpleperf knows no such event here")

func (c *collector) startSimpleperf(ctx context.Context, event string) (recorder, error) {
	m := c.meter
	limit := strconv.Itoa(int(c.recordLimit().Seconds()))
	line := device.Quote("rm", "-f", perfData, perfLog) + "; nohup " + device.Quote(m.profiler.command, "record", "--app", c.job.App.Package,
		"-e", event, "-f", strconv.Itoa(m.settings.SampleHz), "--call-graph", "dwarf", "--clockid", "monotonic",
		"--duration", limit, "-o", perfData) + " </dev/null >" + perfLog + " 2>&1 & echo $!"
	out, err := c.dev.Exec(ctx, line)
	if err != nil {
		return recorder{}, fmt.Errorf("start simpleperf: %w", err)
	}
	r, err := c.begun("simpleperf", out)
	if err != nil {
		return r, err
	}
	return r, c.awaitProfiler(ctx, r, event)
}

// profilerStarts is how long simpleperf may take to say what it does not like.
const profilerStarts = 2 * time.Second

func (c *collector) awaitProfiler(ctx context.Context, r recorder, event string) error {
	_, err := c.poll(ctx, endEvery, profilerStarts, func() (waits bool, err error) {
		out, err := c.dev.Exec(ctx, "cat "+perfLog+"; test -d /proc/"+r.pid)
		if err != nil {
			return false, fmt.Errorf("look whether simpleperf records: %w", err)
		}
		said := append(append([]byte{}, out.Stdout...), out.Stderr...)
		switch {
		case notProfileable.Match(said):
			return false, c.notProfileable(out.Stdout)
		case out.ExitCode != 0:
			c.forget(r)
			return false, endedAtOnce(event, lastLine(out.Stdout), said)
		}
		return waitsForApp.Match(said), nil
	})
	return err
}

// endedAtOnce is why simpleperf did not begin to record.
func endedAtOnce(event, last string, said []byte) error {
	if noSuchEvent.Match(said) {
		return fmt.Errorf("sample by %s: %w", event, errNoEvent)
	}
	err := fmt.Errorf("start simpleperf: it ended at once: %s", last)
	if noSuchClock.Match(said) {
		err = fmt.Errorf("%w: %w", errNoClock, err)
	}
	return err
}

func (c *collector) notProfileable(said []byte) error {
	out := c.final(Configuration, fmt.Errorf("sample the methods of %s: %w (simpleperf: %s)", c.job.App.Package, errNotProfileable, lastLine(said)))
	if e := asError(out); e != nil {
		e.Phase = Measure
		e.hint = `add <profileable android:shell="true"/> to <application> in the app's manifest (Android 10 and later), or set energy.methods to false`
	}
	return out
}

// loadNames readies the names that methods have in the source.
func (c *collector) loadNames() error {
	if !c.meter.settings.Methods || c.naming != nil {
		return nil
	}
	if c.job.App.Mapping == "" {
		c.naming = names.New(nil)
		return nil
	}
	file, err := os.Open(c.job.App.Mapping)
	if err != nil {
		return c.final(Configuration, fmt.Errorf("open the app's mapping: %w", err))
	}
	defer func() { _ = file.Close() }()
	mapping, err := r8map.Read(file)
	if err != nil {
		return c.final(Configuration, fmt.Errorf("read the app's mapping %s: %w", c.job.App.Mapping, err))
	}
	c.tellDoubts("the app's mapping "+c.job.App.Mapping+" can't all be read", mapping.Warnings)
	c.naming = names.New(mapping)
	return nil
}

// readProfile reads the recording.
func (c *collector) readProfile(ctx context.Context) (p *simpleperf.Profile, err error) {
	err = c.collectFile(ctx, perfData, func(r io.Reader) error {
		p, err = simpleperf.Read(r)
		return err
	})
	if told := &c.meter.profiler.doubted; err == nil && !*told && len(p.Warnings) > 0 {
		*told = true
		c.tellDoubts("the recording of the methods", p.Warnings)
	}
	return p, err
}
