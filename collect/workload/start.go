// Package workload drives the app: by an instrumentation, a mere start, a Maestro flow, monkey or a
// script, started on the device or on this computer.
//
// It owns how a workload is started and stopped, the parsing of its output, and what that means:
// success, a failed test, a crash of the app. It does not look at the app itself. A workload that
// does not report success has failed.
package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
)

// Plan is a workload that can be started.
type Plan struct {
	Target   *target.Target
	Scenario config.Scenario
	App      string // its package
	// Host runs a command on this computer, for Maestro; nil refuses it.
	Host HostRunner
	// Marked makes the workload write marks to the log when it begins and ends.
	Marked bool
	// activity is the component that a start-up opens, from Prepare on.
	activity string
}

// HostRunner runs a command on this computer to its end and returns its output and exit code. It
// stops the command when ctx ends.
type HostRunner func(ctx context.Context, name string, args ...string) (output []byte, exitCode int, err error)

// Running is a workload that was started.
type Running struct {
	done chan struct{} // closed when it has ended
	stop func()
	out  tail
	// tests is the same output, as am instrument prints it.
	tests instrumentation
	errs  func() []byte // its standard error, nil if out holds both
	code  int
	err   error
	// Begin and End are its marks in the log, "" if it writes none.
	Begin, End string
	// Started is the output of am start on the app's start, nil for another workload or before
	// Judge.
	Started *Start
	// exitInOutput reports that the output ends with the exit code (see markEnds).
	exitInOutput bool
}

// Write appends to the workload's output.
func (r *Running) Write(p []byte) (int, error) {
	_, _ = r.tests.Write(p)
	return r.out.Write(p)
}

// Ended reports, without waiting, whether the workload has ended.
func (r *Running) Ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// settleFor is how long, in this computer's time, the end of a workload may take to be reported. A
// simulated clock can be past the timeout by then.
const settleFor = 500 * time.Millisecond

// Settled reports whether the workload has ended, and waits for the report of it.
func (r *Running) Settled() bool {
	select {
	case <-r.done:
		return true
	case <-time.After(settleFor):
		return false
	}
}

// stopFor is how long, in this computer's time, a workload may take to stop: less than an interrupt
// leaves for everything that has to be stopped.
const stopFor = 4 * time.Second

// Stop stops the workload and waits until it is over, so that it does not overlap with what comes
// next.
func (r *Running) Stop(j *journal.Journal) {
	r.stop()
	select {
	case <-r.done:
	case <-time.After(stopFor):
		j.Warnf("the workload did not stop within %v: it may still run on this computer, and disturb what comes after it", stopFor)
	}
}

// exitMark precedes the exit code of a workload that prints it.
const exitMark = "apkgate-exit"

var exitLine = regexp.MustCompile(`(?m)^` + exitMark + ` (\d{1,3})\r?$`)

// markEnds wraps a command line to print its exit code, and to write marks to the log at its
// beginning and end, so that both have times of the device's own clock.
func (p Plan) markEnds(line string) (marked string, r *Running) {
	begin, writeBegin := p.Target.NextMark()
	end, writeEnd := p.Target.NextMark()
	return writeBegin + "; " + line + "; echo " + exitMark + " $?; " + writeEnd, &Running{Begin: begin, End: end, exitInOutput: true}
}

// said returns the workload's output and exit code.
func (r *Running) said() (out []byte, code int) {
	out, code = r.out.Bytes(), r.code
	if !r.exitInOutput {
		return out, code
	}
	all := exitLine.FindAllSubmatchIndex(out, -1)
	if len(all) == 0 {
		return out, code
	}
	last := all[len(all)-1]
	code, _ = strconv.Atoi(string(out[last[2]:last[3]]))
	return out[:last[0]], code
}

// Start starts the workload.
func (p Plan) Start(ctx context.Context) (*Running, error) {
	w := p.Scenario.Workload
	if w.Maestro != nil {
		return p.startHost(ctx, "maestro", "--device", p.Target.Device().Serial(), "test", w.Maestro.Flow), nil
	}
	line := p.command()
	if line == "" {
		return nil, p.Target.Final(loss.Workload, fmt.Errorf("scenario %q has no workload", p.Scenario.Name))
	}
	r := &Running{}
	if p.Marked {
		line, r = p.markEnds(line)
	}
	process, err := p.Target.Start(ctx, line)
	if err != nil {
		return nil, fmt.Errorf("start the workload: %w", err)
	}
	r.done, r.stop, r.errs = make(chan struct{}), func() { _ = process.Close() }, process.Stderr
	go func() {
		defer func() { _ = process.Close() }() // its end is known
		defer close(r.done)
		_, copied := io.Copy(r, process.Stdout())
		if r.code, r.err = process.Wait(); r.err == nil {
			r.err = copied
		}
	}()
	return r, nil
}

func (p Plan) startHost(ctx context.Context, name string, args ...string) *Running {
	ctx, cancel := context.WithCancel(ctx)
	r := &Running{done: make(chan struct{}), stop: cancel}
	go func() {
		defer close(r.done)
		defer cancel()
		var out []byte
		out, r.code, r.err = p.Host(ctx, name, args...)
		_, _ = r.Write(out)
	}()
	return r
}

// scriptPath is the path of a shell workload on the device.
const scriptPath = "/data/local/tmp/apkgate-workload.sh"

// Prepare pushes what the workload needs, and checks what it names.
func (p *Plan) Prepare(ctx context.Context) error {
	w, t := p.Scenario.Workload, p.Target
	if w.Maestro != nil && p.Host == nil {
		return t.Final(loss.Infrastructure, errors.New("a Maestro flow runs on this computer, and nothing here can run it"))
	}
	if w.Startup != nil {
		return p.FindActivity(ctx)
	}
	if w.Shell == nil {
		return p.checkRunner(ctx)
	}
	file, err := os.Open(w.Shell.Script)
	if err != nil {
		return t.Final(loss.Configuration, fmt.Errorf("open the workload's script: %w", err))
	}
	defer func() { _ = file.Close() }()
	if err := t.Record(ctx, ":", target.Change{Kind: target.Files, Put: scriptPath}); err != nil {
		return err
	}
	if err := t.Device().Push(ctx, file, scriptPath, 0o755, t.Started); err != nil {
		return fmt.Errorf("push %s to the device: %w", w.Shell.Script, err)
	}
	t.UndoLater("remove the script", func(ctx context.Context) error { return t.Try(ctx, "rm", scriptPath) })
	return nil
}
