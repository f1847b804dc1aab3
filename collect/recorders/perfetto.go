package recorders

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
)

// Known is what a device's perfetto knows that not every one does: it refuses
// what it does not know.
type Known struct {
	Voltage    bool // of the battery: perfetto 40, Android 15
	Properties bool // of the system: perfetto 28, Android 14 and some of 13
	Symbols    bool // names of the kernel's functions, where it tells their addresses: perfetto 9
	wait       bool // --background-wait: Android 13, and 12 perhaps
	clone      bool // --clone-by-name: perfetto 49, which is said to work since Android 14
}

// generations of perfetto, the latest first. Whether it clones is asked.
var generations = []Known{
	{Voltage: true, Properties: true, Symbols: true, wait: true}, {Properties: true, Symbols: true, wait: true}, {Symbols: true, wait: true}, {},
}

// HasPerfetto reports whether the device is of Android 10 or later: those have a
// perfetto that takes a configuration as text, and the data source android.power.
func HasPerfetto(f target.Facts) bool { return f.API >= 29 }

// Perfetto is the one session that records on a device, for all that ask.
type Perfetto struct {
	Programs *Programs
	// Limit is after how long it ends by itself, so that nothing runs on where this
	// computer goes away.
	Limit time.Duration

	asks    []Ask
	text    string // the configuration that the device takes, "" where there is none
	known   Known
	program *Program // nil: it does not record
	trace   recording
}

// Ask adds what somebody needs to what is recorded from the next Ready on.
func (p *Perfetto) Ask(a Ask) {
	p.Withdraw(a.Who)
	p.asks, p.text = append(p.asks, a), ""
}

// Withdraw takes back what was asked for.
func (p *Perfetto) Withdraw(who string) {
	p.asks, p.text = slices.DeleteFunc(p.asks, func(a Ask) bool { return a.Who == who }), ""
}

// Serves implements Recorder.
func (p *Perfetto) Serves(who string) bool {
	return slices.ContainsFunc(p.asks, func(a Ask) bool { return who == "" || a.Who == who })
}

// ErrNoPerfetto says that what was asked for can't be recorded on the device.
var ErrNoPerfetto = errors.New("the device's perfetto can't be used")

// Ready puts the configuration on the device, the richest that it takes: the version
// of Android does not tell, since makers update perfetto by itself.
func (p *Perfetto) Ready(ctx context.Context) error {
	if p.text != "" || !p.Serves("") {
		return nil
	}
	if err := p.turnOn(ctx); err != nil {
		return err
	}
	clones, err := p.clones(ctx)
	if err != nil {
		return err
	}
	var refused error
	for _, known := range generations {
		known.clone = clones
		if err := p.put(ctx, known); err != nil {
			return err
		}
		if refused = p.Start(ctx); refused == nil {
			return p.Stop(ctx)
		}
		if loss.IsGone(refused) || ctx.Err() != nil {
			return refused
		}
	}
	p.text = ""
	return fmt.Errorf("%w: %w", ErrNoPerfetto, refused)
}

// How long init may take to start the service that perfetto asks, and how often it is looked.
const (
	serviceFor   = 5 * time.Second
	serviceEvery = 250 * time.Millisecond
)

// turnOn turns Perfetto's service on until the run ends, where a maker has it off, as most do
// with Android 10: adb's shell may (persist.traced.enable; shell.te, traced_enabled_prop). A
// device that lets it not refuses the session then.
func (p *Perfetto) turnOn(ctx context.Context) error {
	const enabled = "persist.traced.enable"
	t := p.Programs.Target
	if t.Facts.Properties[enabled] != "0" {
		return nil
	}
	if err := t.ChangeProperty(ctx, enabled, "1", "0"); err != nil {
		return fmt.Errorf("turn the device's tracing on: %w", err)
	}
	now, err := t.Output(ctx, "getprop", enabled)
	if err != nil || strings.TrimSpace(now) != "1" {
		return err
	}
	_, err = t.Poll(ctx, serviceEvery, serviceFor, func() (bool, error) {
		now, err := t.Output(ctx, "getprop", "init.svc.traced")
		return strings.TrimSpace(now) == "running", err
	})
	return err
}

// clones asks whether what is recorded can be copied as it goes on; not where all of
// it is needed anyway.
func (p *Perfetto) clones(ctx context.Context) (bool, error) {
	if !slices.ContainsFunc(p.asks, func(a Ask) bool { return !a.Whole }) {
		return false, nil
	}
	out, err := p.Programs.Target.Exec(ctx, "perfetto", "--help") // which it calls a failure
	if err != nil {
		return false, fmt.Errorf("ask what perfetto knows: %w", err)
	}
	return bytes.Contains(append(out.Stdout, out.Stderr...), []byte("--clone-by-name")), nil
}

// put puts the configuration on the device that such a perfetto takes.
func (p *Perfetto) put(ctx context.Context, known Known) error {
	t := p.Programs.Target
	text := merge(p.asks, known, p.Limit)
	if err := t.Device().Push(ctx, strings.NewReader(text), perfettoConfig, 0o644, t.Started); err != nil {
		return fmt.Errorf("push Perfetto's configuration to the device: %w", err)
	}
	p.text, p.known = text, known
	return nil
}

// Start returns when the trace is being recorded: later versions of perfetto wait
// for that themselves.
func (p *Perfetto) Start(ctx context.Context) error {
	t := p.Programs.Target
	background := "--background"
	if p.known.wait {
		background = "--background-wait"
	}
	p.Close()
	p.program, p.trace.path = nil, perfettoTrace
	line := device.Quote("rm", "-f", perfettoTrace) + "; cat " + perfettoConfig + " | " + device.Quote("perfetto", "--txt", "-c", "-", "-o", perfettoTrace, background)
	out, err := t.Ask(ctx, line)
	if err != nil {
		return fmt.Errorf("start perfetto: %w", err)
	}
	r, err := p.Programs.Begun("perfetto", out)
	if err != nil {
		return err
	}
	p.program = &r
	if p.known.wait {
		return nil
	}
	if err := t.Clock.Sleep(ctx, perfettoStarts); err != nil {
		return err
	}
	runs, err := p.Programs.Alive(ctx, r)
	if err == nil && !runs {
		err = errors.New("start perfetto: it ended at once")
	}
	return err
}

// perfettoStarts is how long perfetto may take to start its data sources where
// it does not say when it has.
const perfettoStarts = time.Second

// ErrEndedEarly says that perfetto had ended before it was told to: its file lacks what
// came after, and does not show that.
var ErrEndedEarly = errors.New("perfetto ended before it was told to, and what it recorded is not whole")

// Stop ends the trace; its file is whole by then.
func (p *Perfetto) Stop(ctx context.Context) error {
	if p.program == nil {
		return nil
	}
	runs, err := p.Programs.Alive(ctx, *p.program)
	switch {
	case err != nil:
		return err
	case !runs:
		p.Programs.Forget(*p.program)
		p.program = nil
		return ErrEndedEarly
	}
	if err = p.Programs.End(ctx, *p.program, "-TERM"); err == nil {
		p.program = nil
	}
	return err
}

// Keep implements Recorder: it saves what the buffers hold, where the device's perfetto
// can clone a session.
func (p *Perfetto) Keep(ctx context.Context, n int) (path string, err error) {
	if p.program == nil || !p.known.clone || strings.Contains(p.text, toFileField) {
		return "", nil
	}
	path = clonePath(n)
	out, err := p.Programs.Target.Ask(ctx, device.Quote("rm", "-f", path)+"; "+device.Quote("perfetto", "--clone-by-name", sessionName, "-o", path))
	if err := target.Answered("save the trace as it is", out, err); err != nil {
		return "", err
	}
	return path, nil
}

// clonePath is where the n-th trace lies that was saved while it went on.
func clonePath(n int) string {
	return strings.Replace(perfettoTrace, ".pftrace", "-"+strconv.Itoa(n)+".pftrace", 1)
}

// MaxKept is how many traces are saved on the device at once, at most.
const MaxKept = 2

// Fetch implements Recorder.
func (p *Perfetto) Fetch(ctx context.Context, read func(io.ReadSeeker) error) error {
	return p.trace.fetch(ctx, p.Programs, read)
}

// FetchKept copies a trace that was saved while it went on from the device, has it
// read, and removes it there.
func (p *Perfetto) FetchKept(ctx context.Context, path string, read func(io.ReadSeeker) error) error {
	return p.Programs.Fetch(ctx, path, read)
}

// Drop implements Recorder.
func (p *Perfetto) Drop(ctx context.Context) error { return p.trace.drop(ctx, p.Programs) }

// Close implements Recorder.
func (p *Perfetto) Close() { p.trace.close() }
