package repetition

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// methods records which of the app's methods run, on the device, and keeps what ran when something
// went wrong. The ladder: ART's low-overhead recording of long calls; samples; and every call,
// instrumented, only if the configuration says so.
type methods struct {
	phone *Phone
	work  Work
	names func() *r8map.Map

	prepared bool
	by       string // what records; "" for nothing
	calls    *recorders.Calls
	written  bool // the recorder has written something: the build has it
	traced   art.Collector
	sampled  simpleperf.Collector
}

// methodsAsker is the name of the requests for samples.
const methodsAsker = "methods"

// sampleHz is how often a thread is sampled, of its time on a CPU.
const sampleHz = 1000

// lowOverheadSince is the first version of Android whose shell can record with low overhead.
const lowOverheadSince = 36

// prepare chooses the recorder, once.
func (m *methods) prepare(ctx context.Context) error {
	if m.prepared {
		return nil
	}
	m.prepared = true
	if !m.work.Methods.Keeps() || m.work.Watcher == nil || !m.phone.Evident {
		return nil
	}
	m.calls = &recorders.Calls{Programs: m.phone.Programs, App: m.work.App.Package, Limit: m.phone.Perfetto.Limit, All: m.work.Methods.By == config.MethodsCalls}
	switch by := m.work.Methods.By; {
	case by == config.MethodsCalls, by == config.MethodsLong:
		m.by = by
	case by == config.MethodsAuto && m.phone.Target.Facts.API >= lowOverheadSince:
		m.by = config.MethodsLong
	default:
		return m.sample(ctx)
	}
	return nil
}

// sample has the methods sampled, if the device can.
func (m *methods) sample(ctx context.Context) error {
	found, err := m.phone.Simpleperf.Find(ctx)
	if err != nil {
		return err
	}
	if !found {
		m.none("there is no simpleperf on the device, as from Android 9 on, and none in " + recorders.PushedSimpleperf)
		return nil
	}
	m.by = config.MethodsSamples
	if !m.phone.Simpleperf.OffCPU() {
		m.phone.Target.Journal.Warnf("methods that wait are in no sample: simpleperf does not list trace-offcpu here, which needs Linux 4.2")
	}
	return nil
}

// sampler has the app sampled in the repetitions of the builds whose methods are.
type sampler struct {
	nothing
	methods *methods
}

func (s sampler) before(context.Context, *attempt) error {
	m := s.methods
	m.phone.Simpleperf.Withdraw(methodsAsker)
	if m.by == config.MethodsSamples {
		m.phone.Simpleperf.RequestWaits(methodsAsker, m.work.App.Package, sampleHz)
	}
	return nil
}

// none gives up recording, with the reason.
func (m *methods) none(why string) {
	m.by = ""
	m.phone.Simpleperf.Withdraw(methodsAsker)
	m.phone.Target.Journal.Warnf("which methods ran when something went wrong is not recorded: %s", why)
}

// records reports whether ART records calls.
func (m *methods) records() bool { return m.by == config.MethodsLong || m.by == config.MethodsCalls }

func (m *methods) before(_ context.Context, a *attempt) error {
	if m.records() {
		a.calls = &recordedCalls{begun: map[int]bool{}}
	}
	return nil
}

// while starts to record each process of the app, and saves what was recorded once something went
// wrong.
func (m *methods) while(ctx context.Context, a *attempt) error {
	c := a.calls
	if c == nil || !m.records() {
		return nil
	}
	for pid := range a.frames.PIDs {
		if !c.begun[pid] {
			c.begun[pid] = true
			if err := m.start(ctx, a, pid); err != nil {
				return m.failed(ctx, a, err)
			}
		}
	}
	if c.asked != nil {
		return m.failed(ctx, a, m.await(ctx, a, writesSoon))
	}
	if a.watched == nil || c.current == nil || len(c.windows) >= recorders.MaxCallFiles {
		return nil
	}
	due := m.work.Methods.Keep == config.KeepAll && m.phone.Target.Clock.Now() >= c.current.begun+savesEvery
	if a.watched.Noticed <= c.noticed && !due {
		return nil
	}
	c.noticed = a.watched.Noticed
	return m.failed(ctx, a, m.save(ctx, a, writesSoon))
}

// savesEvery is how often calls are saved where all are kept: those of a test's process are lost with
// it.
const savesEvery = 3 * time.Second

// How long to wait for a file while the workload runs, at its end, and to see whether the build has
// the recorder at all.
const (
	writesSoon   = 600 * time.Millisecond
	writesAtLast = 10 * time.Second
	writesFirst  = 3 * time.Second
)

// start starts to record a process. The first time it looks whether anything is written: on a build
// without low-overhead tracing the command succeeds.
func (m *methods) start(ctx context.Context, a *attempt, pid int) error {
	at, records, err := m.calls.Start(ctx)
	if err != nil || !records {
		return err
	}
	a.calls.current = &callsWindow{pid: pid, from: at, begun: m.phone.Target.Clock.Now()}
	if m.written || m.by != config.MethodsLong {
		return nil
	}
	path, err := m.calls.Save(ctx)
	if err != nil {
		return err
	}
	a.calls.current = nil
	if m.written, err = m.calls.Written(ctx, path, writesFirst); err != nil {
		return err
	}
	if lives, err := m.lives(ctx, pid); err != nil || !lives {
		return err // nothing is known yet
	}
	if !m.written {
		return fmt.Errorf("%w: this build of Android writes nothing (its compiled code calls no low-overhead tracer)", recorders.ErrNoCalls)
	}
	return m.start(ctx, a, pid)
}

// save ends the recording, and begins another one once its file is complete.
func (m *methods) save(ctx context.Context, a *attempt, longest time.Duration) error {
	c := a.calls
	path, err := m.calls.Save(ctx)
	if err != nil {
		return err
	}
	c.asked, c.current = c.current, nil
	c.asked.path = path
	return m.await(ctx, a, longest)
}

// await waits for a file that was asked for.
func (m *methods) await(ctx context.Context, a *attempt, longest time.Duration) error {
	c := a.calls
	done, err := m.calls.Written(ctx, c.asked.path, longest)
	if err != nil || !done {
		return err
	}
	w := *c.asked
	c.asked = nil
	c.windows = append(c.windows, w)
	if a.workload.Ended() {
		return nil
	}
	err = m.start(ctx, a, w.pid)
	if c.current != nil {
		c.windows[len(c.windows)-1].to = c.current.from
	}
	return err
}

// failed handles an error of the recorder, which costs no repetition unless the device is gone.
func (m *methods) failed(ctx context.Context, a *attempt, err error) error {
	switch {
	case err == nil:
		return nil
	case loss.Stops(err):
		return err
	case errors.Is(err, recorders.ErrNoCalls) && m.work.Methods.By == config.MethodsAuto:
		m.phone.Target.Journal.Warnf("%v: methods are sampled instead", err)
		a.calls = nil
		return m.sample(ctx)
	case errors.Is(err, recorders.ErrNoCalls):
		a.calls = nil
		m.none(err.Error())
		return nil
	}
	a.calls = nil
	m.phone.Target.Journal.Warnf("repetition %d: its calls are not recorded: %v", a.n, err)
	return nil
}

// lives reports whether a process of the app runs.
func (m *methods) lives(ctx context.Context, pid int) (bool, error) {
	out, err := m.phone.Target.Exec(ctx, "test", "-d", fmt.Sprintf("/proc/%d", pid))
	return err == nil && out.ExitCode == 0, err
}

// after saves the rest while the app lives. A test's process ends with it: what was not saved by then
// is lost.
func (m *methods) after(ctx context.Context, a *attempt) error {
	c := a.calls
	if c == nil || !m.records() {
		return nil
	}
	last := c.current
	if last == nil {
		last = c.asked
	}
	if last == nil {
		return nil
	}
	if lives, err := m.lives(ctx, last.pid); err != nil || !lives {
		return err
	}
	var err error
	switch {
	case !a.measured:
		err = m.calls.End(ctx)
	case c.asked != nil:
		err = m.await(ctx, a, writesAtLast)
	case len(c.windows) < recorders.MaxCallFiles:
		err = m.save(ctx, a, writesAtLast)
	}
	return m.failed(ctx, a, err)
}
