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
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

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
	err := m.calls.Take(ctx, w.path, func(taken io.ReadSeeker) error {
		file, skipped, drop, err := m.newestOf(ctx, a.n, taken, w.pid, keptWhole)
		if err != nil {
			return err
		}
		defer drop()
		digest, err := m.keepFile(ctx, a, s, in, name, file)
		if err != nil {
			return err
		}
		rep := art.Repetition{Number: a.n, Events: events(s), Wrong: wrongs(in), Evidence: digest}
		if m.by == config.MethodsLong || m.phone.Target.Facts.API < beginsMonotonic {
			rep.First, rep.Main = w.from+skipped, uint32(w.pid)
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
	config.MethodsSamples: "how often a method was called, and without off-CPU time what does not use a CPU",
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
