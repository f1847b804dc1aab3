// Package workload is what makes the app do something: an instrumentation, its mere
// start, a Maestro flow, monkey or a script, started on the device or on this computer.
//
// It owns how a workload is started and stopped, what it says while it runs, and what
// that means: that it went well, that a test failed, that the app crashed. It does not
// look at the app itself. It takes a stand: a workload that does not say that it went
// well did not.
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
	// Host runs a command of this computer, for Maestro; nil refuses it.
	Host HostRunner
	// Marked has the workload write marks to the log when it begins and ends.
	Marked bool
	// activity is the component that a start-up opens, from Prepare on.
	activity string
}

// HostRunner runs a command on this computer to its end and returns what it
// printed and its exit code. It stops the command when ctx ends.
type HostRunner func(ctx context.Context, name string, args ...string) (output []byte, exitCode int, err error)

// Running is a workload that was started.
type Running struct {
	done chan struct{} // closed when it has ended
	stop func()
	out  tail
	// tests is the same output, as am instrument prints it.
	tests instrumentation
	errs  func() []byte // its standard error, nil where out holds both
	code  int
	err   error
	// Begin and End are its marks in the log, "" where it writes none.
	Begin, End string
	// Started is what was said of the app's start, nil where another workload ran or
	// nothing was judged.
	Started *Start
	// told says that the output ends with the exit code (see markEnds).
	told bool
}

// Write takes more of the workload's output.
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

// settleFor is how long, in this computer's time, the news of a workload's end
// may take to get here. A simulated clock can be past the time-out by then.
const settleFor = 500 * time.Millisecond

// Settled reports whether the workload has ended, and waits for the news of it.
func (r *Running) Settled() bool {
	select {
	case <-r.done:
		return true
	case <-time.After(settleFor):
		return false
	}
}

// stopFor is how long, in this computer's time, a workload may take to stop that was
// told to: less than an interrupt leaves for all that has to be ended.
const stopFor = 4 * time.Second

// Stop stops the workload and waits until it is over, so that nothing of it falls in
// what comes next.
func (r *Running) Stop(j *journal.Journal) {
	r.stop()
	select {
	case <-r.done:
	case <-time.After(stopFor):
		j.Warnf("the workload did not stop within %v: it may still run on this computer, and disturb what comes after it", stopFor)
	}
}

// exitMark stands before the exit code of a workload that says its end itself.
const exitMark = "apkgate-exit"

var exitLine = regexp.MustCompile(`(?m)^` + exitMark + ` (\d{1,3})\r?$`)

// markEnds makes a command line say its exit code in its output, and its beginning
// and its end in the log, by marks: so that both have times of the device's own
// clock.
func (p Plan) markEnds(line string) (marked string, r *Running) {
	begin, writeBegin := p.Target.NextMark()
	end, writeEnd := p.Target.NextMark()
	return writeBegin + "; " + line + "; echo " + exitMark + " $?; " + writeEnd, &Running{Begin: begin, End: end, told: true}
}

// said is the workload's output and exit code.
func (r *Running) said() (out []byte, code int) {
	out, code = r.out.Bytes(), r.code
	if !r.told {
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

// Start begins the workload.
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
		defer func() { _ = process.Close() }() // says that its end is known
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

// scriptPath is where a shell workload lies on the device.
const scriptPath = "/data/local/tmp/apkgate-workload.sh"

// Prepare pushes what the workload needs, and looks for what it names.
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
