package dexopt

import (
	"context"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
)

// Ready has the app's code compiled, and returns how it stands, for the context of the run.
// Where nothing is compiled for a run without energy that is "": the code was like that in
// every run before there was a choice, and such runs are alike. What can't be compiled is an
// error where energy is measured, else a warning.
func Ready(ctx context.Context, t *target.Target, pkg, how string, energy bool) (stands string, err error) {
	if how == config.CompileNone {
		if energy {
			return how, nil
		}
		return "", nil
	}
	t.Journal.Report(journal.SetUp, 0, 0, "compiling the app")
	stand, err := Compile(ctx, t, pkg, how)
	switch {
	case loss.IsGone(err), ctx.Err() != nil:
		return "", err
	case err != nil && energy:
		return "", t.Advise(loss.Infrastructure, err, "compile: none measures the app as it was installed")
	case err != nil:
		t.Journal.Warnf("%v: the app is measured as it was installed, unlike one that is compiled", err)
		return "", nil
	}
	tellStand(t, pkg, stand)
	switch {
	case stand.Done():
		return how, nil
	case energy:
		return stand.Filter, nil
	}
	return "", nil
}

// tellStand says where less was compiled than was asked for.
func tellStand(t *target.Target, pkg string, s Stand) {
	switch {
	case !s.Done() && s.Debug:
		t.Journal.Warnf("%s is a debug build, of which Android compiles nothing ahead of time (%q): its code is slower than a release build's, and slowest while the app starts", pkg, s.Filter)
	case !s.Done():
		t.Journal.Warnf("%s was to be compiled ahead of time (%s), and Android has left it at %q", pkg, s.Asked, s.Filter)
	case s.NoProfile != "" && s.Filter != s.Wanted:
		t.Journal.Warnf("nothing of %s was compiled ahead of time, since no baseline profile could be installed (%s): it is measured as on the first day after an installation; compile: speed compiles all of it", pkg, s.NoProfile)
	}
}
