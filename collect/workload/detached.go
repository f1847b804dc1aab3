package workload

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
)

// Detached is a workload that runs while the connection to the device is cut (EDATA, section
// 3.7.3).
type Detached struct {
	Plan
	Programs *recorders.Programs
	For      time.Duration // how long the connection is cut
	Frames   bool          // the device records them by itself
}

// Check refuses a disconnection if the workload needs this computer, or the device could not be
// found again.
func (d Detached) Check() error {
	serial := d.Target.Device().Serial()
	var err error
	if _, _, notNetwork := net.SplitHostPort(serial); notNetwork != nil {
		err = fmt.Errorf("cut the connection to %s: it is not on wireless adb", serial)
	} else if d.Target.Shared() {
		err = fmt.Errorf("cut the connection to %s: it is the adb server's, which holds it open", serial)
	} else if d.Scenario.Workload.Maestro != nil {
		err = errors.New("cut the connection: a Maestro flow needs it")
	}
	if err == nil {
		unseen := "frames, "
		if d.Frames {
			unseen = ""
		}
		d.Target.Journal.Warnf("the connection is cut for %v in each repetition: %smemory and CPU time are not measured", d.For, unseen)
		return nil
	}
	return d.Target.Advise(loss.Configuration, err, "give the device by its address (address: HOST:PORT) in apkgate.yml, or leave energy.disconnect out")
}

// Start runs the workload to its end, in the background of a device that is disconnected for the
// configured time.
func (d Detached) Start(ctx context.Context) (*Running, error) {
	script, r := d.markEnds(d.command())
	line := "nohup " + device.Quote("sh", "-c", script) + " </dev/null >" + recorders.DetachedLog + " 2>&1 & echo $!"
	out, err := d.Target.Ask(ctx, line)
	if err != nil {
		return nil, fmt.Errorf("start the workload in the background: %w", err)
	}
	program, err := d.Programs.Started("the workload", out)
	if err != nil {
		return nil, err
	}
	if err := d.Target.Cut(ctx, d.For); err != nil {
		return nil, err
	}
	if r.err, err = d.await(ctx, program); err != nil {
		return nil, err
	}
	return r, d.hear(ctx, r)
}

// await waits until the workload ends; ended is loss.ErrTimeout if it took too long.
func (d Detached) await(ctx context.Context, program recorders.Program) (ended, err error) {
	over, err := d.Programs.HasEnded(ctx, program, max(d.Scenario.Timeout-d.For, recorders.EndFor))
	switch {
	case err != nil:
		return nil, err
	case over:
		d.Programs.Forget(program)
		return nil, nil
	}
	if err := d.Target.Try(ctx, "am", "force-stop", d.App); err != nil {
		return nil, err
	}
	return fmt.Errorf("%w: %s", loss.ErrTimeout, prose.Duration(d.Scenario.Timeout)), d.Programs.End(ctx, program, "-TERM")
}

// hear reads the workload's output, now that it is over.
func (d Detached) hear(ctx context.Context, r *Running) error {
	out, err := d.Target.Exec(ctx, "cat", recorders.DetachedLog)
	if err != nil {
		return fmt.Errorf("read what the workload said: %w", err)
	}
	r.done, r.stop = make(chan struct{}), func() {}
	close(r.done)
	_, _ = r.Write(out.Stdout)
	if r.err == nil && !exitLine.Match(out.Stdout) {
		r.err = fmt.Errorf("%w: the workload did not end: %s", loss.ErrTestFail, target.LastLine(out.Stdout))
	}
	return nil
}
