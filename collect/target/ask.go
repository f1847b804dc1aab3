package target

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/device"
)

// Ask runs a command line on the device: words that are not constants are quoted by
// then (device.Quote).
func (t *Target) Ask(ctx context.Context, line string) (device.Output, error) {
	return t.ask(ctx, t.beat(), line)
}

// Question is Ask for what only asks, again and again while an app is measured: through the
// shell that the device keeps, but for the one in a minute that renews the mark too. It may
// be run twice.
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

// Try runs a command whose exit status does not matter. The error is that the
// device could not be asked.
func (t *Target) Try(ctx context.Context, words ...string) error {
	_, err := t.Exec(ctx, words...)
	return err
}

// Output runs a command and returns what it printed, "" where the device does
// not know it. The error is that the device could not be asked.
func (t *Target) Output(ctx context.Context, words ...string) (string, error) {
	out, err := t.Exec(ctx, words...)
	if err != nil || out.ExitCode != 0 {
		return "", err
	}
	return string(out.Stdout), nil
}

// Start begins a command that goes on beside what comes next.
func (t *Target) Start(ctx context.Context, line string) (device.Process, error) {
	return t.dev.Start(ctx, line)
}

// Patient runs a command that may say nothing for longer than Exec would wait.
func (t *Target) Patient(ctx context.Context, longest time.Duration, words ...string) (out device.Output, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	err = t.dev.attend(ctx, busyFor, func(ctx context.Context) error {
		const most = 1 << 20 // bytes
		out, err = device.ToTheEnd(ctx, t.dev.Device, device.Quote(words...), most)
		return err
	})
	return out, err
}

// Poll asks again and again, on the device's clock, until it is done; false where
// the time is over before that.
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

// Answered turns a command's failure into an error that shows its own words.
func Answered(doing string, out device.Output, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if out.ExitCode == 0 {
		return nil
	}
	return fmt.Errorf("%s: exit status %d: %s", doing, out.ExitCode, FirstLine(out.Stderr, out.Stdout))
}

// FirstLine is the first line in the texts that says anything.
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

// LastLine is the last line of the first of the texts that says anything.
func LastLine(texts ...[]byte) string {
	for _, text := range texts {
		text = bytes.TrimSpace(text)
		if last := text[bytes.LastIndexByte(text, '\n')+1:]; len(last) > 0 {
			return journal.Line(string(last))
		}
	}
	return "(no output)"
}
