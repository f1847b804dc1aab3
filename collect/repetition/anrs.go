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
	restarts []record.Standstill // of Android itself, in lost attempts at the repetition
	attempt  *attempt            // whose log was not searched for them, nil for none
}

// note adds the ANRs that were seen to the record's section, and returns the index of the first.
func (s *anrs) note(n int, seen applog.Seen) (from int) {
	from = len(s.found)
	anrs, more := record.ANRs(n, seen, run.MaxANRs-from)
	if s.found = append(s.found, anrs...); more {
		s.phone.Target.Journal.Warnf("more than %d times something did not respond: the record has the first ones", run.MaxANRs)
	}
	return from
}

// explain finds out what blocked the threads at the ANRs from that index on, all of one finished
// attempt at a repetition, if evidence is kept.
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

// names returns the app's source names; nil if it has no mapping, or an unreadable one.
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

// seekRestart checks, once the device answers again, whether a repetition was lost because Android
// itself ended and was restarted: the log continues across that.
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

// lost records restarts of Android itself in a lost attempt.
func (s *anrs) lost(stood []record.Standstill) {
	s.restarts = append(s.restarts, record.Restarts(stood)...)
}
