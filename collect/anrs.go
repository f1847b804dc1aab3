package collect

import (
	"context"
	"os"

	"github.com/apkgate/apkgate/collect/anrtraces"
	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/r8map"
)

// noteStandstills puts what did not respond into the record's section, and returns from
// where on in it that is.
func (c *collector) noteStandstills(n int, s applog.Seen) (from int) {
	from = len(c.run.ANRs)
	anrs, more := record.ANRs(n, s, run.MaxANRs-from)
	if c.run.ANRs = append(c.run.ANRs, anrs...); more {
		c.journal.Warnf("more than %d times something did not respond: the record tells of the first", run.MaxANRs)
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
		c.restarts = append(c.restarts, record.Restart)
	}
	c.explainStandstills(ctx, a, c.noteStandstills(n, applog.Seen{Anomalies: ended}), true)
}
