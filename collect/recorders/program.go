// Package recorders runs programs on the device in parallel with the workload: Perfetto,
// simpleperf, and a workload that continues while the connection is cut.
//
// It owns their life: starting, recording, stopping, waiting for the file, and ending programs left
// behind by a lost repetition or a killed run. There is one recorder of each kind, which serves all
// requests. It does not interpret recordings.
package recorders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
)

// Program is a program on the device that records until it is stopped.
type Program struct {
	Name string // for messages
	PID  string
}

// Programs are the running programs of a device.
type Programs struct {
	Target *target.Target

	running []Program
}

// Files of recorders on the device. Perfetto may write only to its own folder, and reads its
// configuration from a pipe.
const (
	perfettoConfig = "/data/local/tmp/apkgate-perfetto.cfg"
	perfettoTrace  = "/data/misc/perfetto-traces/apkgate.pftrace"
	perfData       = "/data/local/tmp/apkgate-perf.data"
	perfLog        = "/data/local/tmp/apkgate-perf.log"
	DetachedLog    = "/data/local/tmp/apkgate-workload.log"
)

var recordingFiles = []string{perfettoConfig, perfettoTrace, clonePath(1), clonePath(2), perfData, perfLog, DetachedLog}

var pidLine = regexp.MustCompile(`(?m)^\s*(\d{1,10})\s*$`)

// Started registers a program that was started in the background and printed its pid.
func (p *Programs) Started(name string, out device.Output) (Program, error) {
	m := pidLine.FindSubmatch(out.Stdout)
	if out.ExitCode != 0 || m == nil {
		said := target.FirstLine(out.Stderr, out.Stdout)
		return Program{}, fmt.Errorf("start %s: exit status %d: %s", name, out.ExitCode, said)
	}
	r := Program{name, string(m[1])}
	p.running = append(p.running, r)
	return r, nil
}

// Forget removes a program that has ended.
func (p *Programs) Forget(r Program) {
	p.running = slices.DeleteFunc(p.running, func(o Program) bool { return o == r })
}

// Alive reports whether the program still runs. Signal 0 can't be used: SELinux lets the shell
// terminate perfetto, but neither query it by signal nor kill it (shell.te: "allow shell
// perfetto:process signal").
func (p *Programs) Alive(ctx context.Context, r Program) (bool, error) {
	out, err := p.Target.Exec(ctx, "test", "-d", "/proc/"+r.PID)
	if err != nil {
		return false, fmt.Errorf("check whether %s runs: %w", r.Name, err)
	}
	return out.ExitCode == 0, nil
}

// How long a recorder may take to write its file, and how often to check.
const (
	EndFor   = 2 * time.Minute
	endEvery = 200 * time.Millisecond
)

// End signals the program to end, and waits until its file is complete.
func (p *Programs) End(ctx context.Context, r Program, signal string) error {
	if err := p.Target.Try(ctx, "kill", signal, r.PID); err != nil {
		return fmt.Errorf("end %s: %w", r.Name, err)
	}
	ended, err := p.HasEnded(ctx, r, EndFor)
	switch {
	case err != nil:
		return err
	case !ended:
		return fmt.Errorf("end %s: it still runs after %v", r.Name, EndFor)
	}
	p.Forget(r)
	return nil
}

// HasEnded waits for a program to end; false if it takes longer.
func (p *Programs) HasEnded(ctx context.Context, r Program, longest time.Duration) (bool, error) {
	return p.Target.Poll(ctx, endEvery, longest, func() (bool, error) {
		runs, err := p.Alive(ctx, r)
		return !runs, err
	})
}

// endSoon is how long a program whose file is not needed may take to end.
const endSoon = 10 * time.Second

// EndAll ends all recorders: those left by a lost repetition, and unknown ones, whose start was
// interrupted by a broken connection or whose run was killed. Before Android 6 there is no pkill,
// and few recorders either.
func (p *Programs) EndAll(ctx context.Context) error {
	errs := []error{p.Target.Try(ctx, "pkill", "-f", target.Background)} // by SIGTERM, which old toybox can't spell
	for _, r := range p.running {
		errs = append(errs, p.Target.Try(ctx, "kill", "-TERM", r.PID))
	}
	for _, r := range p.running {
		errs = append(errs, p.awaitEnd(ctx, r))
	}
	p.running = nil
	return errors.Join(errs...)
}

// Prepare ends what a killed run left behind, and registers that the programs of this run are ended
// and their files removed.
func (p *Programs) Prepare(ctx context.Context) error {
	p.Target.UndoLater("end what records and remove its files", p.CleanUp)
	return p.Target.Record(ctx, device.Quote("pkill", "-f", target.Background),
		target.Change{Kind: target.Files, Put: strings.Join(slices.Concat(recordingFiles, callPaths()), " ")}, target.Change{Kind: target.Programs})
}

// EndLeft ends what a lost repetition left.
func (p *Programs) EndLeft(ctx context.Context) error {
	if len(p.running) == 0 {
		return nil
	}
	return p.EndAll(ctx)
}

// awaitEnd waits for a program that was signaled to end, and kills it if it does not.
func (p *Programs) awaitEnd(ctx context.Context, r Program) error {
	if ended, err := p.HasEnded(ctx, r, endSoon); ended || err != nil {
		return err
	}
	if err := p.Target.Try(ctx, "kill", "-KILL", r.PID); err != nil {
		return err
	}
	ended, err := p.HasEnded(ctx, r, time.Second)
	if err == nil && !ended {
		err = fmt.Errorf("end %s: it still runs after %v; it ends by itself, or with a restart of the device", r.Name, endSoon)
	}
	return err
}

// CleanUp ends the programs that may still record, and removes their files.
func (p *Programs) CleanUp(ctx context.Context) error {
	return errors.Join(p.EndAll(ctx), p.Target.Try(ctx, slices.Concat([]string{"rm", "-f"}, recordingFiles, callPaths())...))
}

// maxRecording limits a recorder's file, in bytes.
const maxRecording = 512 << 20

// Fetch copies a recorder's file from the device, calls read with it, and removes it from the
// device.
func (p *Programs) Fetch(ctx context.Context, path string, read func(io.ReadSeeker) error) error {
	if err := p.Take(ctx, path, read); err != nil {
		return err
	}
	return p.Target.Try(ctx, "rm", "-f", path)
}

// Take copies a file from the device and calls read with it.
func (p *Programs) Take(ctx context.Context, path string, read func(io.ReadSeeker) error) error {
	file, err := p.pull(ctx, path)
	if err != nil {
		return err
	}
	defer discard(file)
	return readFrom(file, path, read)
}

// pull copies a recorder's file from the device to a temporary file.
func (p *Programs) pull(ctx context.Context, path string) (*os.File, error) {
	file, err := os.CreateTemp("", "apkgate-*")
	if err != nil {
		return nil, fmt.Errorf("keep a copy of the device's %s: %w", path, err)
	}
	if err := p.Target.Device().Pull(ctx, path, &limited{file, maxRecording}); err != nil {
		discard(file)
		return nil, fmt.Errorf("copy %s from the device: %w", path, err)
	}
	return file, nil
}

// readFrom calls read with the copy of a device's file, from its beginning.
func readFrom(file *os.File, path string, read func(io.ReadSeeker) error) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the copy of the device's %s: %w", path, err)
	}
	if err := read(file); err != nil {
		return fmt.Errorf("read the device's %s: %w", path, err)
	}
	return nil
}

func discard(file *os.File) {
	_ = file.Close()
	_ = os.Remove(file.Name())
}

// limited writes up to so many bytes and fails after that.
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
