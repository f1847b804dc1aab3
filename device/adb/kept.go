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

// A kept shell is given no command, so that it reads its standard input, as with
// `adb shell -T`. A question is one line of that, and what it answers is between marks
// (package marks). Where that is not so, where the shell ends, or says nothing, it is
// closed, and the command run by a process of its own.

// stuckFor is how long a kept shell may say nothing to a question.
const stuckFor = 15 * time.Second

// kept is a shell that is kept, for longer than the question that it was opened for.
type kept struct {
	end     context.CancelCauseFunc
	call    *call
	packets *wire.ShellReader
}

func (k *kept) close() {
	k.end(errEnded)
	_ = k.call.Close()
}

// KeepsShell reports whether a shell is kept for Ask: from Android 7 on, whose shell
// protocol 2 has standard error apart, and no terminal in between.
func (d *Device) KeepsShell(ctx context.Context) bool {
	shell2, err := d.has(ctx, wire.FeatureShell2)
	return err == nil && shell2
}

// Ask implements device.Ask. While the kept shell is asked, another question is run by a
// process of its own.
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

// askKept asks the kept shell, which is there afterwards only where it has answered.
func (d *Device) askKept(ctx context.Context, command string) (out device.Output, err error) {
	shell, err := d.keptShell(ctx)
	if err != nil {
		return out, err
	}
	defer func() {
		if err != nil {
			d.letGo(shell)
		}
	}()
	stop := context.AfterFunc(ctx, func() { shell.end(context.Cause(ctx)) })
	shell.call.allow(d.patience())
	out, err = shell.ask(command)
	shell.call.allow(0)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	return out, err
}

func (d *Device) patience() time.Duration {
	if d.options.SilenceTimeout > 0 {
		return min(d.options.SilenceTimeout, stuckFor)
	}
	return stuckFor
}

// keptShell is the shell that is kept, or a new one.
func (d *Device) keptShell(ctx context.Context) (*kept, error) {
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

// letGo closes a kept shell.
func (d *Device) letGo(shell *kept) {
	d.mu.Lock()
	if d.shell == shell {
		d.shell = nil
	}
	d.mu.Unlock()
	shell.close()
}

// errShellEnded says that adb told of the kept shell's end.
var errShellEnded = errors.New("the kept shell has ended")

// ask asks a question and reads its answer to the end.
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
