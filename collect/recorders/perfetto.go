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

// Capabilities are the features of a device's perfetto that not every version has: it rejects a
// configuration with fields that it does not know.
type Capabilities struct {
	Voltage    bool // of the battery: perfetto 40, Android 15
	Properties bool // of the system: perfetto 28, Android 14 and some of 13
	Symbols    bool // names of the kernel's functions, where it reports their addresses: perfetto 9
	wait       bool // --background-wait: Android 13, and 12 perhaps
	clone      bool // --clone-by-name: perfetto 49, supposedly since Android 14
}

// generations of perfetto, the latest first. The clone option is queried.
var generations = []Capabilities{
	{Voltage: true, Properties: true, Symbols: true, wait: true}, {Properties: true, Symbols: true, wait: true}, {Symbols: true, wait: true}, {},
}

// HasPerfetto reports whether the device has Android 10 or later, whose perfetto accepts a
// configuration as text and has the data source android.power.
func HasPerfetto(f target.Facts) bool { return f.API >= 29 }

// Perfetto is the single tracing session on a device, which serves all requests.
type Perfetto struct {
	Programs *Programs
	// Limit is after how long it ends by itself, so that it does not keep running if this computer
	// goes away.
	Limit time.Duration

	requests []Request
	text     string // the configuration that the device accepts, "" if none
	known    Capabilities
	program  *Program // nil: it does not record
	trace    recording
}

// Request adds a request to what is recorded from the next Ready on.
func (p *Perfetto) Request(a Request) {
	p.Withdraw(a.Who)
	p.requests, p.text = append(p.requests, a), ""
}

// Withdraw removes a request.
func (p *Perfetto) Withdraw(who string) {
	p.requests, p.text = slices.DeleteFunc(p.requests, func(a Request) bool { return a.Who == who }), ""
}

// Serves implements Recorder.
func (p *Perfetto) Serves(who string) bool {
	return slices.ContainsFunc(p.requests, func(a Request) bool { return who == "" || a.Who == who })
}

// ErrNoPerfetto reports that the device cannot record what was requested.
var ErrNoPerfetto = errors.New("the device's perfetto can't be used")

// Ready pushes the configuration to the device: the richest that it accepts. The version of Android
// does not determine it, since makers update perfetto independently.
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

// How long init may take to start perfetto's service, and how often it is polled.
const (
	serviceFor   = 5 * time.Second
	serviceEvery = 250 * time.Millisecond
)

// turnOn turns perfetto's service on until the run ends. Most makers have it off with Android 10,
// and adb's shell may turn it on (persist.traced.enable; shell.te, traced_enabled_prop). A device
// that does not allow that then refuses the session.
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

// clones reports whether a running session can be cloned. It is false if a request needs all of it
// anyway.
func (p *Perfetto) clones(ctx context.Context) (bool, error) {
	if !slices.ContainsFunc(p.requests, func(a Request) bool { return !a.Complete }) {
		return false, nil
	}
	out, err := p.Programs.Target.Exec(ctx, "perfetto", "--help") // --help exits with a failure
	if err != nil {
		return false, fmt.Errorf("ask what perfetto knows: %w", err)
	}
	return bytes.Contains(append(out.Stdout, out.Stderr...), []byte("--clone-by-name")), nil
}

// put pushes the configuration for such a perfetto to the device.
func (p *Perfetto) put(ctx context.Context, known Capabilities) error {
	t := p.Programs.Target
	text := merge(p.requests, known, p.Limit)
	if err := t.Device().Push(ctx, strings.NewReader(text), perfettoConfig, 0o644, t.Started); err != nil {
		return fmt.Errorf("push Perfetto's configuration to the device: %w", err)
	}
	p.text, p.known = text, known
	return nil
}

// Start returns once the trace is being recorded: later versions of perfetto wait for that
// themselves.
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
	r, err := p.Programs.Started("perfetto", out)
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

// perfettoStarts is how long perfetto may take to start its data sources if it does not report when
// it has.
const perfettoStarts = time.Second

// ErrEndedEarly reports that perfetto ended before it was stopped: its file lacks the rest, and
// does not show that.
var ErrEndedEarly = errors.New("perfetto ended before it was stopped, and its recording is incomplete")

// Stop ends the trace. Its file is complete when Stop returns.
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

// Keep implements Recorder: it saves the contents of the buffers if the device's perfetto can clone
// a session.
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

// clonePath is the path of the n-th trace that was saved while recording.
func clonePath(n int) string {
	return strings.Replace(perfettoTrace, ".pftrace", "-"+strconv.Itoa(n)+".pftrace", 1)
}

// MaxKept is the maximum number of saved traces on the device.
const MaxKept = 2

// Fetch implements Recorder.
func (p *Perfetto) Fetch(ctx context.Context, read func(io.ReadSeeker) error) error {
	return p.trace.fetch(ctx, p.Programs, read)
}

// FetchKept copies a trace that was saved while recording from the device, calls read with it, and
// removes it from the device.
func (p *Perfetto) FetchKept(ctx context.Context, path string, read func(io.ReadSeeker) error) error {
	return p.Programs.Fetch(ctx, path, read)
}

// Drop implements Recorder.
func (p *Perfetto) Drop(ctx context.Context) error { return p.trace.drop(ctx, p.Programs) }

// Close implements Recorder.
func (p *Perfetto) Close() { p.trace.close() }
