package adb

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb/marks"
	"github.com/apkgate/apkgate/device/adb/wire"
	"github.com/apkgate/apkgate/internal/prose"
)

// maxOutput limits what Exec keeps, in bytes.
const maxOutput = 64 << 20

// maxErrors limits how much of a process's standard error is kept, in bytes.
const maxErrors = 64 << 10

// Exec runs a command line in the device's shell to its end.
//
// On devices without shell protocol 2 (Android 6 and older) standard error is part of Stdout,
// and Stderr is empty.
func (d *Device) Exec(ctx context.Context, command string) (device.Output, error) {
	return d.exec(ctx, d.options.SilenceTimeout, command)
}

// exec is Exec with a silence timeout of its own.
func (d *Device) exec(ctx context.Context, askTimeout time.Duration, command string) (device.Output, error) {
	var out device.Output
	doing := fmt.Sprintf("running %s", prose.Quote(command, 60))
	p, err := d.start(ctx, command, maxOutput, errTooMuch)
	if err != nil {
		return out, d.failed(doing, err)
	}
	defer p.Close()
	p.call.setMaxSilence(askTimeout)
	out.Stdout, err = io.ReadAll(io.LimitReader(p.stdout, maxOutput+1))
	switch {
	case err != nil:
	case len(out.Stdout) > maxOutput:
		err = errTooMuch
	default:
		out.ExitCode, err = p.wait()
	}
	if err != nil {
		return device.Output{}, d.failed(doing, err)
	}
	out.Stderr = p.Stderr()
	return out, nil
}

var errTooMuch = fmt.Errorf("it printed more than %d MiB", maxOutput>>20)

// Start returns once the device has accepted the command. The command is hung up when ctx
// ends. It may be silent without limit.
func (d *Device) Start(ctx context.Context, command string) (device.Process, error) {
	p, err := d.start(ctx, command, maxErrors, nil)
	if err != nil {
		return nil, d.failed(fmt.Sprintf("starting %s", prose.Quote(command, 60)), err)
	}
	p.call.setMaxSilence(0)
	return p, nil
}

// Process is a command that runs on a device.
type Process struct {
	device  *Device
	call    *call
	command string
	stdout  outcome

	mu     sync.Mutex
	stderr []byte
	most   int   // limit on stderr, in bytes
	excess error // the error for more than that; nil to discard it
}

// outcome is a command's standard output, with its exit code after the end.
type outcome interface {
	io.Reader
	ExitCode() int
}

func (d *Device) start(ctx context.Context, command string, mostStderr int, excess error) (*Process, error) {
	shell2, err := d.has(ctx, wire.FeatureShell2)
	if err != nil {
		return nil, err
	}
	p := &Process{device: d, command: command, most: mostStderr, excess: excess}
	if !shell2 {
		return p, p.startInTerminal(ctx)
	}
	p.call, err = d.open(ctx, "shell,v2,raw:"+command)
	if err != nil {
		return nil, err
	}
	p.stdout = &shellOutput{packets: wire.NewShellReader(p.call), keep: p.keep, code: -1}
	// A command that reads its standard input must find its end.
	if _, err := p.call.Write(wire.AppendShellPacket(nil, wire.ShellCloseStdin, nil)); err != nil && ctx.Err() != nil {
		p.call.Close()
		return nil, err
	}
	return p, nil
}

// startInTerminal starts the command on a device without shell protocol 2.
func (p *Process) startInTerminal(ctx context.Context) (err error) {
	mark := marks.New()
	p.call, err = p.device.open(ctx, "shell:"+marks.Terminal(p.command, mark))
	if err != nil {
		return err
	}
	p.stdout = marks.NewOutput(p.call, mark)
	return nil
}

// keep stores the first bytes of standard error.
func (p *Process) keep(text []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	room := p.most - len(p.stderr)
	p.stderr = append(p.stderr, text[:min(len(text), room)]...)
	if len(text) > room {
		return p.excess
	}
	return nil
}

// Stderr is what the command wrote to its standard error so far, limited to 64 KiB where the
// command was started with Start. It is filled while Stdout is read.
func (p *Process) Stderr() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]byte(nil), p.stderr...)
}

// Stdout is the command's standard output, ended by io.EOF when it exits.
func (p *Process) Stdout() io.Reader { return &wrapped{p} }

// wrapped adds the command to read errors for the callers of Process.
type wrapped struct{ p *Process }

func (w *wrapped) Read(b []byte) (int, error) {
	n, err := w.p.stdout.Read(b)
	if err != nil && err != io.EOF {
		err = w.p.failed(err)
	}
	return n, err
}

// Wait discards unread output and returns the exit code.
func (p *Process) Wait() (exitCode int, err error) {
	defer p.Close()
	code, err := p.wait()
	if err != nil {
		return code, p.failed(err)
	}
	return code, nil
}

func (p *Process) wait() (int, error) {
	if _, err := io.Copy(io.Discard, p.stdout); err != nil {
		return -1, err
	}
	return p.stdout.ExitCode(), nil
}

func (p *Process) failed(err error) error {
	return p.device.failed(fmt.Sprintf("running %s", prose.Quote(p.command, 60)), err)
}

// Close ends the stream, which hangs up the command.
func (p *Process) Close() error { return p.call.Close() }

// shellOutput decodes shell packets: standard output for the reader, standard error and the
// exit code for later.
type shellOutput struct {
	packets *wire.ShellReader
	keep    func([]byte) error
	code    int
	err     error // io.EOF once the exit code has arrived
}

func (o *shellOutput) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for o.err == nil {
		id, n, err := o.packets.Read(p)
		switch {
		case err == io.EOF: // before the exit code
			o.err = io.ErrUnexpectedEOF
		case err != nil:
			o.err = err
		case id == wire.ShellStdout && n > 0:
			return n, nil
		case id == wire.ShellStderr:
			o.err = o.keep(p[:n])
		case id == wire.ShellExit && n > 0:
			o.code, o.err = int(p[0]), io.EOF
		}
	}
	return 0, o.err
}

func (o *shellOutput) ExitCode() int { return o.code }
