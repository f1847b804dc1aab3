package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/device"
)

// recorder is a program that records on the device until it is told to end.
type recorder struct {
	name string // for messages
	pid  string
}

// Files of recorders on the device. Perfetto may write to its own folder alone,
// and read its configuration from a pipe.
const (
	perfettoConfig = "/data/local/tmp/apkgate-perfetto.cfg"
	perfettoTrace  = "/data/misc/perfetto-traces/apkgate.pftrace"
	perfData       = "/data/local/tmp/apkgate-perf.data"
	perfLog        = "/data/local/tmp/apkgate-perf.log"
	detachedLog    = "/data/local/tmp/apkgate-workload.log"
)

var recordingFiles = []string{perfettoConfig, perfettoTrace, perfData, perfLog, detachedLog}

var pidLine = regexp.MustCompile(`(?m)^\s*(\d{1,10})\s*$`)

// begun notes a program that was started in the background and printed its pid.
func (c *collector) begun(name string, out device.Output) (recorder, error) {
	m := pidLine.FindSubmatch(out.Stdout)
	if out.ExitCode != 0 || m == nil {
		said := firstLine(append(append([]byte{}, out.Stderr...), out.Stdout...))
		return recorder{}, fmt.Errorf("start %s: exit status %d: %s", name, out.ExitCode, said)
	}
	r := recorder{name, string(m[1])}
	c.recorders = append(c.recorders, r)
	return r, nil
}

// forget says that the program has ended.
func (c *collector) forget(r recorder) {
	c.recorders = slices.DeleteFunc(c.recorders, func(o recorder) bool { return o == r })
}

// alive asks whether the program still runs. Signal 0 does not tell: the shell may
// end perfetto, but SELinux lets it neither ask by signal nor kill it (shell.te:
// "allow shell perfetto:process signal").
func (c *collector) alive(ctx context.Context, r recorder) (bool, error) {
	out, err := c.exec(ctx, "test", "-d", "/proc/"+r.pid)
	if err != nil {
		return false, fmt.Errorf("look whether %s runs: %w", r.name, err)
	}
	return out.ExitCode == 0, nil
}

// How long a recorder may take to write its file, and how often to check.
const (
	endFor   = 2 * time.Minute
	endEvery = 200 * time.Millisecond
)

// end tells the program to end, and waits until its file is whole.
func (c *collector) end(ctx context.Context, r recorder, signal string) error {
	if err := c.try(ctx, "kill", signal, r.pid); err != nil {
		return fmt.Errorf("end %s: %w", r.name, err)
	}
	ended, err := c.hasEnded(ctx, r, endFor)
	switch {
	case err != nil:
		return err
	case !ended:
		return fmt.Errorf("end %s: it still runs after %v", r.name, endFor)
	}
	c.forget(r)
	return nil
}

// hasEnded waits for a program to end; false where it takes longer.
func (c *collector) hasEnded(ctx context.Context, r recorder, longest time.Duration) (bool, error) {
	return c.poll(ctx, endEvery, longest, func() (bool, error) {
		runs, err := c.alive(ctx, r)
		return !runs, err
	})
}

// ours matches the command lines of what this program starts in the background,
// of this run or of one that was killed, but not that of the search itself.
const ours = `[a]pkgate(\.pftrace|-perf\.data|-exit)`

// endSoon is how long a program may take to end whose file nobody will read.
const endSoon = 10 * time.Second

// endRecorders ends whatever still records: what a lost repetition left, and what
// nobody knows of any more, since the connection broke while it was started or a
// run was killed. Before Android 6 there is no pkill, and few recorders either.
func (c *collector) endRecorders(ctx context.Context) error {
	errs := []error{c.try(ctx, "pkill", "-f", ours)} // by SIGTERM, which old toybox can't spell
	for _, r := range c.recorders {
		errs = append(errs, c.try(ctx, "kill", "-TERM", r.pid))
	}
	for _, r := range c.recorders {
		errs = append(errs, c.awaitEnd(ctx, r))
	}
	c.recorders = nil
	return errors.Join(errs...)
}

// awaitEnd waits for a program that was told to end, and kills it where it does
// not.
func (c *collector) awaitEnd(ctx context.Context, r recorder) error {
	if ended, err := c.hasEnded(ctx, r, endSoon); ended || err != nil {
		return err
	}
	if err := c.try(ctx, "kill", "-KILL", r.pid); err != nil {
		return err
	}
	ended, err := c.hasEnded(ctx, r, time.Second)
	if err == nil && !ended {
		err = fmt.Errorf("end %s: it still runs after %v; it ends by itself, or with a restart of the device", r.name, endSoon)
	}
	return err
}

// endRecording ends the programs that may still record, and removes their files.
func (c *collector) endRecording(ctx context.Context) error {
	return errors.Join(c.endRecorders(ctx), c.try(ctx, append([]string{"rm", "-f"}, recordingFiles...)...))
}

// maxRecording bounds a recorder's file.
const maxRecording = 512 << 20

// collectFile copies a recorder's file from the device, has it read, and removes
// it there.
func (c *collector) collectFile(ctx context.Context, path string, read func(io.Reader) error) error {
	file, err := os.CreateTemp("", "apkgate-*")
	if err != nil {
		return fmt.Errorf("keep a copy of the device's %s: %w", path, err)
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	if err := c.dev.Pull(ctx, path, &limited{file, maxRecording}); err != nil {
		return fmt.Errorf("copy %s from the device: %w", path, err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the copy of the device's %s: %w", path, err)
	}
	if err := read(file); err != nil {
		return fmt.Errorf("read the device's %s: %w", path, err)
	}
	return c.try(ctx, "rm", "-f", path)
}

// limited writes at most so many bytes.
type limited struct {
	w    io.Writer
	left int64
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, fmt.Errorf("the file is larger than %d MiB", maxRecording>>20)
	}
	return l.w.Write(p)
}
