package repetition

import (
	"context"
	"os"

	"github.com/apkgate/apkgate/collect/anrtraces"
	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/r8map"
)

// anrs finds out what the app, or Android itself, did when it did not respond.
type anrs struct {
	phone    *Phone
	work     Work
	found    []run.ANR
	restarts []record.Standstill // of Android itself, in attempts at the repetition that were lost
	attempt  *attempt            // whose log was not looked through for them, nil for none
}

// note puts what did not respond into the record's section, and returns from
// where on in it that is.
func (s *anrs) note(n int, seen applog.Seen) (from int) {
	from = len(s.found)
	anrs, more := record.ANRs(n, seen, run.MaxANRs-from)
	if s.found = append(s.found, anrs...); more {
		s.phone.Target.Journal.Warnf("more than %d times something did not respond: the record tells of the first", run.MaxANRs)
	}
	return from
}

// explain finds out what stood still at the ANRs from that place on, which are of
// one attempt at a repetition that is over, where anything is kept of it.
func (s *anrs) explain(ctx context.Context, a *attempt, from int, lost bool) {
	if s.work.Watcher == nil || from >= len(s.found) {
		return
	}
	r := anrtraces.Repetition{N: a.n, Lost: lost, Lasted: s.phone.Target.Clock.Now() - a.began}
	if a.watched != nil {
		r.Own, r.NoOwn = a.watched.Dumps, a.watched.NoDump
	}
	asker := anrtraces.Asker{Target: s.phone.Target, Keeper: s.work.Watcher.Keeper, App: s.work.App.Package, Names: s.names()}
	s.work.Watcher.Kept = append(s.work.Watcher.Kept, asker.Explain(ctx, r, s.found[from:])...)
}

// names are those of the app's source; nil where it has no mapping, or none that can be read.
func (s *anrs) names() *r8map.Map {
	if s.work.App.Mapping == "" {
		return nil
	}
	file, err := os.Open(s.work.App.Mapping)
	if err != nil {
		s.phone.Target.Journal.Warnf("the stacks of an ANR have no names of the source: %v", err)
		return nil
	}
	defer file.Close()
	names, err := r8map.Read(file)
	if err != nil {
		s.phone.Target.Journal.Warnf("the stacks of an ANR have no names of the source: read the app's mapping %s: %v", s.work.App.Mapping, err)
		return nil
	}
	return names
}

// seekRestart looks, once the device answers again, whether a repetition was lost since
// Android itself ended and was started again: the log goes on across that.
func (s *anrs) seekRestart(ctx context.Context, n int) {
	a := s.attempt
	if s.attempt = nil; a == nil || !a.measured || a.log == nil {
		return
	}
	ended, err := a.log.SystemEnded(ctx)
	if err != nil {
		s.phone.Target.Journal.Warnf("repetition %d: whether Android itself was started again is not known: %v", n, err)
		return
	}
	for range ended {
		s.restarts = append(s.restarts, record.Restart)
	}
	s.explain(ctx, a, s.note(n, applog.Seen{Anomalies: ended}), true)
}

// lost takes note of restarts of Android itself, of an attempt that is lost.
func (s *anrs) lost(stood []record.Standstill) {
	s.restarts = append(s.restarts, record.Restarts(stood)...)
}
