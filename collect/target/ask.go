package target

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/device"
)

// Ask runs a command line on the device. Words that are not constants must be quoted
// (device.Quote).
func (t *Target) Ask(ctx context.Context, line string) (device.Output, error) {
	return t.ask(ctx, t.beat(), line)
}

// Question is Ask for repeated queries while an app is measured. They go through the shell that the
// device keeps open, except for one a minute that renews the mark too. The command may be run
// twice.
func (t *Target) Question(ctx context.Context, line string) (device.Output, error) {
	if beat := t.beat(); beat != "" {
		return t.ask(ctx, beat, line)
	}
	return t.dev.Ask(ctx, line)
}

// Exec runs one command on the device.
func (t *Target) Exec(ctx context.Context, words ...string) (device.Output, error) {
	return t.Ask(ctx, device.Quote(words...))
}

// Try runs a command whose exit status does not matter. It fails if the device could not be
// reached.
func (t *Target) Try(ctx context.Context, words ...string) error {
	_, err := t.Exec(ctx, words...)
	return err
}

// Output runs a command and returns what it printed, "" if the device does not know it. It fails if
// the device could not be reached.
func (t *Target) Output(ctx context.Context, words ...string) (string, error) {
	out, err := t.Exec(ctx, words...)
	if err != nil || out.ExitCode != 0 {
		return "", err
	}
	return string(out.Stdout), nil
}

// Start starts a command that runs in parallel with the following ones.
func (t *Target) Start(ctx context.Context, line string) (device.Process, error) {
	return t.dev.Start(ctx, line)
}

// Patient runs a command that may be silent for longer than Exec would wait.
func (t *Target) Patient(ctx context.Context, longest time.Duration, words ...string) (out device.Output, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	err = t.dev.supervise(ctx, busyFor, func(ctx context.Context) error {
		const most = 1 << 20 // bytes
		out, err = device.RunToEnd(ctx, t.dev.Device, device.Quote(words...), most)
		return err
	})
	return out, err
}

// Poll calls ask repeatedly, on the device's clock, until it is done. It returns false if the time
// is up before.
func (t *Target) Poll(ctx context.Context, every, longest time.Duration, ask func() (done bool, err error)) (bool, error) {
	for deadline := t.Clock.Now() + longest; ; {
		if done, err := ask(); done || err != nil {
			return done, err
		}
		if t.Clock.Now() >= deadline {
			return false, nil
		}
		if err := t.Clock.Sleep(ctx, every); err != nil {
			return false, err
		}
	}
}

// Answered turns a command's failure into an error that contains its output.
func Answered(doing string, out device.Output, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if out.ExitCode == 0 {
		return nil
	}
	return fmt.Errorf("%s: exit status %d: %s", doing, out.ExitCode, FirstLine(out.Stderr, out.Stdout))
}

// FirstLine returns the first line of the texts that is not blank.
func FirstLine(texts ...[]byte) string {
	for _, text := range texts {
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				return journal.Line(string(line))
			}
		}
	}
	return "(no output)"
}

// LastLine returns the last line that is not blank of the first of the texts that has one.
func LastLine(texts ...[]byte) string {
	for _, text := range texts {
		text = bytes.TrimSpace(text)
		if last := text[bytes.LastIndexByte(text, '\n')+1:]; len(last) > 0 {
			return journal.Line(string(last))
		}
	}
	return "(no output)"
}
