package recorders

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
)

// Calls records the calls of an app's methods with `am profile`, which the app's own runtime does:
// long ones, with ART's low-overhead tracer, or all, instrumented.
//
// The app's process has to run when it starts, and when it saves: what the runtime has in memory is
// lost with it. The app handles each command on its main thread, once that is free.
type Calls struct {
	Programs *Programs
	App      string        // its package
	Limit    time.Duration // after which it ends by itself
	All      bool          // every call

	asked int // files
}

// callsFiles are the names of the files, on the device, of which one is written at a time.
const callsFiles = "/data/local/tmp/apkgate-calls"

// ErrNoCalls reports that the device or the app does not let calls be recorded.
var ErrNoCalls = errors.New("calls of the app can't be recorded")

var (
	notProfilable  = regexp.MustCompile(`not profileable by shell|Process not debuggable`)
	unknownProcess = regexp.MustCompile(`Unknown process`)
	unknownCommand = regexp.MustCompile(`Profile command .* not valid|Unknown option|[Uu]nknown command`)
)

// Start starts to record the running process of the app, and returns CLOCK_MONOTONIC before that.
// It returns false if there is none.
func (c *Calls) Start(ctx context.Context) (at time.Duration, records bool, err error) {
	t := c.Programs.Target
	words := []string{"am", "profile", "lowoverhead", "start", "--longrunning", "--duration", strconv.FormatInt(c.Limit.Milliseconds(), 10), c.App}
	if c.All {
		words = []string{"am", "profile", "start", "--streaming", c.App, c.path(c.asked + 1)}
	}
	out, err := t.Ask(ctx, t.ClockQuestion()+"; "+device.Quote(words...))
	if err != nil {
		return 0, false, fmt.Errorf("start to record the calls of %s: %w", c.App, err)
	}
	said := append(append([]byte{}, out.Stdout...), out.Stderr...)
	switch {
	case notProfilable.Match(said):
		return 0, false, fmt.Errorf("%w: it is neither profileable nor a debug build", ErrNoCalls)
	case unknownProcess.Match(said):
		return 0, false, nil
	case unknownCommand.Match(said):
		return 0, false, fmt.Errorf("%w: this version of Android has no such recording", ErrNoCalls)
	case out.ExitCode != 0:
		return 0, false, fmt.Errorf("start to record the calls of %s: exit status %d: %s", c.App, out.ExitCode, target.LastLine(out.Stderr, out.Stdout))
	}
	at, err = target.Uptime(out.Stdout)
	return at, err == nil, err
}

// Save ends the recording and has it written to a file, which is complete once Written says so. The
// caller starts the next recording.
func (c *Calls) Save(ctx context.Context) (path string, err error) {
	c.asked++
	words := []string{"am", "profile", "lowoverhead", "stop", c.App, c.path(c.asked)}
	if c.All {
		words = []string{"am", "profile", "stop", c.App}
	}
	if err := c.Programs.Target.Try(ctx, words...); err != nil {
		return "", fmt.Errorf("save the calls of %s: %w", c.App, err)
	}
	return c.path(c.asked), nil
}

// End ends the recording without a file.
func (c *Calls) End(ctx context.Context) error {
	words := []string{"am", "profile", "stop", c.App}
	if !c.All {
		words = []string{"am", "profile", "lowoverhead", "stop", c.App}
	}
	return c.Programs.Target.Try(ctx, words...)
}

// path is that of the n-th file.
func (c *Calls) path(n int) string { return callsPath(n) }

func callsPath(n int) string { return fmt.Sprintf("%s-%d.trace", callsFiles, n) }

// MaxCallFiles is how many files are written of one repetition at most.
const MaxCallFiles = 12

// callPaths are the paths of all files: one more may have been begun.
func callPaths() (out []string) {
	for n := range MaxCallFiles + 1 {
		out = append(out, callsPath(n+1))
	}
	return out
}

// Size returns the size of a file on the device, 0 if it is empty or not there.
func (c *Calls) Size(ctx context.Context, path string) (int64, error) {
	out, err := c.Programs.Target.Exec(ctx, "stat", "-c", "%s", path)
	if err != nil {
		return 0, fmt.Errorf("look for the calls of %s: %w", c.App, err)
	}
	size, err := strconv.ParseInt(string(bytes.TrimSpace(out.Stdout)), 10, 64)
	if out.ExitCode != 0 || err != nil {
		return 0, nil
	}
	return size, nil
}

// Written waits until a file is complete: until it has something, and has not grown since the last
// look. It returns false if that takes longer.
func (c *Calls) Written(ctx context.Context, path string, longest time.Duration) (bool, error) {
	before := int64(0)
	return c.Programs.Target.Poll(ctx, endEvery, longest, func() (bool, error) {
		size, err := c.Size(ctx, path)
		done := size > 0 && size == before
		before = size
		return done, err
	})
}

// Take copies a file from the device and calls read with it.
func (c *Calls) Take(ctx context.Context, path string, read func(io.ReadSeeker) error) error {
	return c.Programs.Take(ctx, path, read)
}

// Drop removes all files.
func (c *Calls) Drop(ctx context.Context) error {
	if c.asked == 0 {
		return nil
	}
	c.asked = 0
	return c.Programs.Target.Try(ctx, append([]string{"rm", "-f"}, callPaths()...)...)
}
