package repetition

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// methods records which of the app's methods run, on the device, and keeps what ran when something
// went wrong. The ladder: ART's low-overhead recording of long calls; samples; and every call,
// instrumented, only if the configuration says so.
type methods struct {
	nothing
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
		m.phone.Simpleperf.Request(methodsAsker, m.work.App.Package, sampleHz)
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
				return m.failed(a, err)
			}
		}
	}
	if c.asked != nil {
		return m.failed(a, m.await(ctx, a, writesSoon))
	}
	if a.watched == nil || c.current == nil || len(c.windows) >= recorders.MaxCallFiles {
		return nil
	}
	due := m.work.Methods.Keep == config.KeepAll && m.phone.Target.Clock.Now() >= c.current.begun+savesEvery
	if a.watched.Noticed <= c.noticed && !due {
		return nil
	}
	c.noticed = a.watched.Noticed
	return m.failed(a, m.save(ctx, a, writesSoon))
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
func (m *methods) failed(a *attempt, err error) error {
	switch {
	case err == nil:
		return nil
	case loss.Stops(err):
		return err
	case errors.Is(err, recorders.ErrNoCalls) && m.work.Methods.By == config.MethodsAuto:
		m.phone.Target.Journal.Warnf("%v: methods are sampled instead", err)
		a.calls = nil
		return m.sample(context.Background())
	case errors.Is(err, recorders.ErrNoCalls):
		a.calls = nil
		m.none(err.Error())
		return nil
	}
	a.calls = nil
	m.phone.Target.Journal.Warnf("repetition %d: its calls are not recorded: %v", a.n, err)
	return nil
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
	out, err := m.phone.Target.Exec(ctx, "test", "-d", fmt.Sprintf("/proc/%d", last.pid))
	if err != nil || out.ExitCode != 0 {
		return err
	}
	switch {
	case !a.measured:
		err = m.calls.End(ctx)
	case c.asked != nil:
		err = m.await(ctx, a, writesAtLast)
	case len(c.windows) < recorders.MaxCallFiles:
		err = m.save(ctx, a, writesAtLast)
	}
	return m.failed(a, err)
}

// keep keeps the calls of what went wrong, and drops the others.
func (m *methods) keep(ctx context.Context, a *attempt, s applog.Seen) {
	if a.watched == nil || m.by == "" {
		return
	}
	wrong := a.watched.All
	if s.Lost != nil { // it is no iteration
		wrong = nil
	}
	if m.by == config.MethodsSamples {
		m.keepSamples(ctx, a, s, wrong)
		return
	}
	if a.calls == nil {
		return
	}
	for _, w := range a.calls.windows {
		var in []applog.Anomaly
		wrong = slices.DeleteFunc(wrong, func(one applog.Anomaly) bool {
			inside := one.From >= w.from && (w.to == 0 || one.From < w.to)
			if inside {
				in = append(in, one)
			}
			return inside
		})
		if len(in) > 0 || s.Lost == nil && m.work.Methods.Keep == config.KeepAll {
			m.keepCalls(ctx, a, s, w, in)
		}
	}
	if len(wrong) > 0 {
		m.phone.Target.Journal.Warnf("repetition %d: which methods ran when %s is not known: its process had ended before its calls were saved, or they were not recorded yet", a.n, wrong[0].Detail)
	}
	if err := m.calls.Drop(ctx); err != nil {
		m.phone.Target.Journal.Warnf("repetition %d: the files of its calls are still on the device: %v", a.n, err)
	}
}

// wrongs returns anomalies with their words.
func wrongs(all []applog.Anomaly) (out []trace.Event) {
	for _, one := range all {
		out = append(out, trace.Event{Name: journal.Line(one.Detail), At: one.From})
	}
	return out
}

// events returns the UI events of a repetition.
func events(s applog.Seen) (out []trace.Event) {
	for _, e := range s.Events {
		out = append(out, trace.Event{Name: e.Name, At: e.Time})
	}
	return out
}

// keepFile keeps a file of calls with the run.
func (m *methods) keepFile(ctx context.Context, a *attempt, s applog.Seen, in []applog.Anomaly, name string, file io.ReadSeeker) (digest string, err error) {
	e := run.Evidence{Kind: run.Profile, Name: name, Repetition: a.n, FromMS: milliseconds(s.From), ToMS: milliseconds(max(s.From, s.To))}
	if len(in) > 0 {
		first := in[0]
		e.Event, e.Why = s.EventOf(first), journal.Line(first.Detail)
		e.FromMS, e.ToMS = milliseconds(first.From), milliseconds(max(first.From, first.To))
	}
	if e.Digest, e.Bytes, err = m.work.Watcher.Keeper.Keep(ctx, file, maxCalls); err != nil {
		return "", err
	}
	m.work.Watcher.Kept = append(m.work.Watcher.Kept, e)
	_, err = file.Seek(0, io.SeekStart)
	return e.Digest, err
}

// maxCalls limits a kept file of calls, in bytes.
const maxCalls = 128 << 20

// keepCalls keeps one file of calls, and reads it.
func (m *methods) keepCalls(ctx context.Context, a *attempt, s applog.Seen, w callsWindow, in []applog.Anomaly) {
	name := fmt.Sprintf("repetition-%d-%d.art.trace", a.n, len(a.calls.windows))
	err := m.calls.Take(ctx, w.path, func(file io.ReadSeeker) error {
		digest, err := m.keepFile(ctx, a, s, in, name, file)
		if err != nil {
			return err
		}
		rep := art.Repetition{Number: a.n, Events: events(s), Wrong: wrongs(in), Evidence: digest}
		if m.by == config.MethodsLong || m.phone.Target.Facts.API < beginsMonotonic {
			rep.First, rep.Main = w.from, uint32(w.pid)
		}
		t, err := m.traced.Add(file, m.names(), rep)
		if err != nil {
			return err
		}
		if rep.First == 0 && t.Begin == 0 {
			return errors.New("it does not state when it began")
		}
		for _, doubt := range t.Warnings {
			m.phone.Target.Journal.Warnf("repetition %d: its calls: %s", a.n, doubt.Text)
		}
		for _, one := range in {
			m.unseen(a.n, one, m.traced.Seen(one.From, one.To))
		}
		return nil
	})
	if err != nil {
		m.phone.Target.Journal.Warnf("repetition %d: its calls could not be kept: %v", a.n, err)
	}
}

// beginsMonotonic is the first version of Android whose method traces state on CLOCK_MONOTONIC when
// they began.
const beginsMonotonic = 34

// blind is what each recorder does not see.
var blind = map[string]string{
	config.MethodsLong:    "calls of less than about 170 ms (340 ms in newer builds), native and interpreted methods, and code that is compiled into its caller",
	config.MethodsSamples: "what does not use a CPU, and how often a method was called",
	config.MethodsCalls:   "functions within native libraries",
}

// unseen warns of an anomaly of which the recorder shows less than half as methods of the app.
func (m *methods) unseen(n int, one applog.Anomaly, seen time.Duration) {
	if span := one.To - one.From; span > 0 && seen < span/2 {
		m.phone.Target.Journal.Warnf("repetition %d: methods of the app account for %d of the %d ms in which %s: recorded by %s, which does not see %s",
			n, seen.Milliseconds(), span.Milliseconds(), one.Detail, m.by, blind[m.by])
	}
}

// keepSamples keeps the samples of a repetition in which something went wrong.
func (m *methods) keepSamples(ctx context.Context, a *attempt, s applog.Seen, wrong []applog.Anomaly) {
	all := m.work.Methods.Keep == config.KeepAll && s.Lost == nil
	if len(wrong) == 0 && !all || !m.phone.Recording.Runs(m.phone.Simpleperf) {
		return
	}
	err := m.phone.Simpleperf.Fetch(ctx, func(file io.ReadSeeker) error {
		digest, err := m.keepFile(ctx, a, s, wrong, fmt.Sprintf("repetition-%d.perf.data", a.n), file)
		if err != nil {
			return err
		}
		p, err := simpleperf.Read(file)
		if err != nil {
			return err
		}
		if len(wrong) == 0 {
			m.sampled.Add(p, simpleperf.Window{Repetition: a.n, From: s.From, To: s.To, Evidence: digest})
		}
		for _, one := range wrong {
			w := simpleperf.Window{Repetition: a.n, Event: s.EventOf(one), From: one.From, To: one.To, Why: journal.Line(one.Detail), Evidence: digest}
			m.unseen(a.n, one, m.sampled.Add(p, w))
		}
		return nil
	})
	if err != nil {
		m.phone.Target.Journal.Warnf("repetition %d: the samples of its methods could not be kept: %v", a.n, err)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// record returns the record's section; nil if nothing was kept.
func (m *methods) record() *run.MethodTraces {
	out := m.traced.MethodTraces()
	if out == nil {
		return m.sampled.MethodTraces()
	}
	if m.by == config.MethodsLong {
		uncounted(out)
	}
	return out
}

// uncounted marks calls as a part of all: short ones were left out, however many there were and
// however long all of them took together.
func uncounted(out *run.MethodTraces) {
	out.Source = "art-long"
	for _, w := range out.Windows {
		out.TreeLeftOutMS = max(out.TreeLeftOutMS, w.ToMS-w.FromMS)
	}
	for i := range out.Tree {
		out.Tree[i].Repetitions = nil
	}
}
