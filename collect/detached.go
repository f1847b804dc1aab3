package collect

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/apkgate/apkgate/device"
)

// checkDetached refuses a disconnection where the workload could not go on
// without this computer, or the device could not be found again.
func (c *collector) checkDetached(context.Context) error {
	if c.meter.settings.Disconnect <= 0 {
		return nil
	}
	var err error
	if _, _, notNetwork := net.SplitHostPort(c.dev.Serial()); notNetwork != nil {
		err = fmt.Errorf("cut the connection to %s: it is not on wireless adb", c.dev.Serial())
	} else if c.dev.Shared() {
		err = fmt.Errorf("cut the connection to %s: it is the adb server's, which holds it open", c.dev.Serial())
	} else if c.job.Scenario.Workload.Maestro != nil {
		err = errors.New("cut the connection: a Maestro flow needs it")
	}
	if err == nil {
		c.warnf("the connection is cut for %v in each repetition: frames are not measured", c.meter.settings.Disconnect)
		return nil
	}
	out := c.final(Configuration, err)
	if e := asError(out); e != nil {
		e.hint = "give the device by its address (address: HOST:PORT) in apkgate.yml, or leave energy.disconnect out"
	}
	return out
}

// detaches reports whether the workload runs without a connection.
func (m *metering) detaches() bool { return m != nil && m.meter.settings.Disconnect > 0 }

// begin starts the workload: in the background of a device that is then left
// alone (EDATA, section 3.7.3), or as ever.
func (m *metering) begin(ctx context.Context, c *collector) (*running, error) {
	m.starting()
	if !m.detaches() {
		return c.start(ctx, m)
	}
	return m.leaveAlone(ctx)
}

// leaveAlone runs the workload to its end with the connection cut for the time
// that is set.
func (m *metering) leaveAlone(ctx context.Context) (*running, error) {
	script := m.markEnds(command(m.job.Scenario.Workload, m.job.App.Package))
	line := "nohup " + device.Quote("sh", "-c", script) + " </dev/null >" + detachedLog + " 2>&1 & echo $!"
	out, err := m.dev.Exec(ctx, line)
	if err != nil {
		return nil, fmt.Errorf("start the workload in the background: %w", err)
	}
	r, err := m.begun("the workload", out)
	if err != nil {
		return nil, err
	}
	if err := m.cut(ctx); err != nil {
		return nil, err
	}
	ended, err := m.awaitDetached(ctx, r)
	if err != nil {
		return nil, err
	}
	return m.heardOf(ctx, ended)
}

// cut closes the connection for a while and opens it again.
func (m *metering) cut(ctx context.Context) error {
	m.hangUp()
	if err := m.clock.Sleep(ctx, m.meter.settings.Disconnect); err != nil {
		return err
	}
	return m.comeBack(ctx, func(context.Context) error { return nil })
}

// awaitDetached waits until the workload ends; ended is ErrTimeout where it took
// too long.
func (m *metering) awaitDetached(ctx context.Context, r recorder) (ended, err error) {
	over, err := m.hasEnded(ctx, r, max(m.job.Scenario.Timeout-m.meter.settings.Disconnect, endFor))
	switch {
	case err != nil:
		return nil, err
	case over:
		m.forget(r)
		return nil, nil
	}
	if err := m.try(ctx, "am", "force-stop", m.job.App.Package); err != nil {
		return nil, err
	}
	return fmt.Errorf("%w: %v", ErrTimeout, m.job.Scenario.Timeout), m.end(ctx, r, "-TERM")
}

// heardOf is the workload as its output tells it, now that it is over.
func (m *metering) heardOf(ctx context.Context, ended error) (*running, error) {
	out, err := m.exec(ctx, "cat", detachedLog)
	if err != nil {
		return nil, fmt.Errorf("read what the workload said: %w", err)
	}
	r := &running{done: make(chan struct{}), stop: func() {}, err: ended, told: true}
	close(r.done)
	_, _ = r.Write(out.Stdout)
	if ended == nil && !exitLine.Match(out.Stdout) {
		r.err = fmt.Errorf("%w: the workload did not come to its end: %s", ErrTestFail, lastLine(out.Stdout))
	}
	return r, nil
}
