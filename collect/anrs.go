package collect

import (
	"context"
	"os"
	"time"

	"github.com/apkgate/apkgate/collect/anrtraces"
	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/logcat"
	"github.com/apkgate/apkgate/trace/r8map"
)

// stood is one time that the app, or Android itself, did not respond.
type stood struct {
	metric string        // that counts it, beside anr.count: anr.input, snr.count
	since  time.Duration // on CLOCK_MONOTONIC; 0 where that is not known
}

// standstills are those of a repetition.
func standstills(s applog.Seen) (out []stood) {
	for _, a := range s.Anomalies {
		switch a.Kind {
		case applog.NotResponding:
			out = append(out, stood{logcat.ANRMetric(logcat.ANRKind(a.Reason)), s.Since(a)})
		case applog.SystemEnded:
			out = append(out, stood{snrCount, s.Since(a)})
		}
	}
	return out
}

// restartsIn are those of Android itself, in an attempt that is lost: the UI events of the next
// one are at other times.
func restartsIn(list []stood) (out []stood) {
	for _, s := range list {
		if s.metric == snrCount {
			out = append(out, stood{metric: snrCount})
		}
	}
	return out
}

const (
	anrCount = "anr.count"
	snrCount = "snr.count"
)

// count adds the standstills to the metrics of the repetition, 0 of each kind that there
// was none of, and to those of the event that each fell in.
func (m measurement) count(it *run.Iteration) {
	it.Metrics[anrCount], it.Metrics[snrCount] = 0, 0
	for _, name := range logcat.ANRMetrics() {
		it.Metrics[name] = 0
	}
	for _, s := range m.standstills {
		it.Metrics[s.metric]++
		if s.metric != snrCount {
			it.Metrics[anrCount]++
		}
		if s.since > 0 {
			it.Events[m.bucketOf(s.since)].Metrics[s.metric]++
		}
	}
}

// fillStandstills has each repetition tell of what an event of that name did in any.
func fillStandstills(its []run.Iteration) {
	told := map[string]map[string]bool{} // metrics by event
	each := func(do func(run.Bucket)) {
		for _, it := range its {
			for _, e := range it.Events {
				do(e)
			}
		}
	}
	names := append(logcat.ANRMetrics(), snrCount)
	each(func(e run.Bucket) {
		for _, name := range names {
			if _, has := e.Metrics[name]; has {
				if told[e.Name] == nil {
					told[e.Name] = map[string]bool{}
				}
				told[e.Name][name] = true
			}
		}
	})
	each(func(e run.Bucket) {
		for name := range told[e.Name] {
			e.Metrics[name] += 0
		}
	})
}

// noteStandstills puts what did not respond into the record's section, and returns from
// where on in it that is.
func (c *collector) noteStandstills(n int, s applog.Seen) (from int) {
	from = len(c.run.ANRs)
	for _, a := range s.Anomalies {
		kind := run.SNR
		switch a.Kind {
		case applog.NotResponding:
			kind = logcat.ANRKind(a.Reason)
		case applog.SystemEnded:
		default:
			continue
		}
		if len(c.run.ANRs) == run.MaxANRs {
			c.journal.Warnf("more than %d times something did not respond: the record tells of the first", run.MaxANRs)
			return from
		}
		c.run.ANRs = append(c.run.ANRs, run.ANR{
			Kind: kind, Process: a.Process, PID: a.PID, Reason: journal.Line(a.Reason), Repetition: n, Event: s.EventOf(a),
			AtMS: milliseconds(a.From), WaitedMS: milliseconds(a.Waited),
		})
	}
	return from
}

// explainStandstills finds out what stood still at the ANRs from that place on, which are of
// one attempt at a repetition that is over, where anything is kept of it.
func (c *collector) explainStandstills(ctx context.Context, a *attempt, from int, lost bool) {
	if c.watcher == nil || from >= len(c.run.ANRs) {
		return
	}
	r := anrtraces.Repetition{N: a.n, Lost: lost, Lasted: c.target.Clock.Now() - a.began}
	if a.watched != nil {
		r.Own, r.NoOwn = a.watched.Dumps, a.watched.NoDump
	}
	asker := anrtraces.Asker{Target: c.target, Keeper: c.watcher.Keeper, App: c.job.App.Package, Names: c.names()}
	c.watcher.Kept = append(c.watcher.Kept, asker.Explain(ctx, r, c.run.ANRs[from:])...)
}

// names are those of the app's source; nil where it has no mapping, or none that can be read.
func (c *collector) names() *r8map.Map {
	if c.job.App.Mapping == "" {
		return nil
	}
	file, err := os.Open(c.job.App.Mapping)
	if err != nil {
		c.journal.Warnf("the stacks of an ANR have no names of the source: %v", err)
		return nil
	}
	defer file.Close()
	names, err := r8map.Read(file)
	if err != nil {
		c.journal.Warnf("the stacks of an ANR have no names of the source: read the app's mapping %s: %v", c.job.App.Mapping, err)
		return nil
	}
	return names
}

// seekRestart looks, once the device answers again, whether a repetition was lost since
// Android itself ended and was started again: the log goes on across that.
func (c *collector) seekRestart(ctx context.Context, n int) {
	a := c.current
	if c.current = nil; a == nil || !a.measured || a.log == nil {
		return
	}
	ended, err := a.log.SystemEnded(ctx)
	if err != nil {
		c.journal.Warnf("repetition %d: whether Android itself was started again is not known: %v", n, err)
		return
	}
	for range ended {
		c.restarts = append(c.restarts, stood{metric: snrCount})
	}
	c.explainStandstills(ctx, a, c.noteStandstills(n, applog.Seen{Anomalies: ended}), true)
}
