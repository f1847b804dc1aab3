package adb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb/marks"
	"github.com/apkgate/apkgate/device/adb/wire"
	"github.com/apkgate/apkgate/internal/prose"
)

// A kept shell is started without a command, so that it reads its standard input, as with `adb
// shell -T`. A question is one line of input, and its answer is delimited by marks (package
// marks). If the marks are wrong, or if the shell exits or stays silent, the shell is closed
// and the command runs in a process of its own.

// stuckFor is how long a kept shell may stay silent after a question.
const stuckFor = 15 * time.Second

// kept is a shell that stays open for later questions.
type kept struct {
	end     context.CancelCauseFunc
	call    *call
	packets *wire.ShellReader
}

func (k *kept) close() {
	k.end(errEnded)
	_ = k.call.Close()
}

// KeepsShell reports whether a shell is kept open for Ask: from Android 7 on, where shell
// protocol 2 separates standard error and there is no terminal in between.
func (d *Device) KeepsShell(ctx context.Context) bool {
	shell2, err := d.has(ctx, wire.FeatureShell2)
	return err == nil && shell2
}

// Ask implements device.Ask. While the kept shell is busy, another question runs in a process
// of its own.
func (d *Device) Ask(ctx context.Context, command string) (device.Output, error) {
	if !marks.AsksOnly(command) || !d.KeepsShell(ctx) || !d.asking.TryLock() {
		return d.Exec(ctx, command)
	}
	defer d.asking.Unlock()
	out, err := d.askKept(ctx, command)
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil, errors.Is(err, errTooMuch):
		return device.Output{}, d.failed(fmt.Sprintf("running %s", prose.Quote(command, 60)), err)
	}
	return d.Exec(ctx, command)
}

// askKept sends the question to the kept shell, and closes the shell where that fails.
func (d *Device) askKept(ctx context.Context, command string) (out device.Output, err error) {
	shell, err := d.openShell(ctx)
	if err != nil {
		return out, err
	}
	defer func() {
		if err != nil {
			d.closeShell(shell)
		}
	}()
	stop := context.AfterFunc(ctx, func() { shell.end(context.Cause(ctx)) })
	shell.call.setMaxSilence(d.askTimeout())
	out, err = shell.ask(command)
	shell.call.setMaxSilence(0)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	return out, err
}

func (d *Device) askTimeout() time.Duration {
	if d.options.SilenceTimeout > 0 {
		return min(d.options.SilenceTimeout, stuckFor)
	}
	return stuckFor
}

// openShell returns the kept shell, or opens one.
func (d *Device) openShell(ctx context.Context) (*kept, error) {
	d.mu.Lock()
	shell := d.shell
	d.mu.Unlock()
	if shell != nil {
		return shell, nil
	}
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	stream, err := d.transport.open(life, "shell,v2,raw:")
	if err != nil {
		end(err)
		return nil, err
	}
	shell = &kept{end: end, call: newCall(life, stream, 0)}
	shell.packets = wire.NewShellReader(shell.call)
	if !stop() {
		shell.close()
		return nil, context.Cause(ctx)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		shell.close()
		return nil, errEnded
	}
	d.shell = shell
	return shell, nil
}

// closeShell closes a kept shell.
func (d *Device) closeShell(shell *kept) {
	d.mu.Lock()
	if d.shell == shell {
		d.shell = nil
	}
	d.mu.Unlock()
	shell.close()
}

// errShellEnded means that adb reported the exit of the kept shell.
var errShellEnded = errors.New("the kept shell has ended")

// ask sends a question and reads the complete answer.
func (k *kept) ask(command string) (device.Output, error) {
	mark := marks.New()
	line := []byte(marks.Question(command, mark))
	if _, err := k.call.Write(wire.AppendShellPacket(nil, wire.ShellStdin, line)); err != nil {
		return device.Output{}, err
	}
	stdout, stderr := marks.Between{Mark: mark}, marks.Between{Mark: mark}
	buffer := make([]byte, 16<<10)
	for !stdout.Whole || !stderr.Whole {
		id, n, err := k.packets.Read(buffer)
		switch {
		case err != nil:
		case id == wire.ShellStdout:
			err = stdout.Add(buffer[:n])
		case id == wire.ShellStderr:
			err = stderr.Add(buffer[:n])
		case id == wire.ShellExit:
			err = errShellEnded
		}
		if err == nil && max(stdout.Len(), stderr.Len()) > maxOutput {
			err = errTooMuch
		}
		if err != nil {
			return device.Output{}, err
		}
	}
	code, err := strconv.ParseUint(stdout.End, 10, 8)
	if err != nil || stderr.End != "" {
		return device.Output{}, marks.ErrOutOfStep
	}
	return device.Output{Stdout: stdout.Text, Stderr: stderr.Text, ExitCode: int(code)}, nil
}
