package dexopt

import (
	"context"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
)

// Ready compiles the app's code and returns its state for the context of the run. The state is ""
// where nothing is compiled for a run without energy: runs from before there was a choice have no
// such property, and must stay comparable. A failed compilation is an error where energy is
// measured, else a warning.
func Ready(ctx context.Context, t *target.Target, pkg, how string, energy bool) (state string, err error) {
	if how == config.CompileNone {
		if energy {
			return how, nil
		}
		return "", nil
	}
	t.Journal.Report(journal.SetUp, 0, 0, "compiling the app")
	got, err := Compile(ctx, t, pkg, how)
	switch {
	case loss.IsGone(err), ctx.Err() != nil:
		return "", err
	case err != nil && energy:
		return "", t.Advise(loss.Infrastructure, err, "compile: none measures the app as it was installed")
	case err != nil:
		t.Journal.Warnf("%v: the app is measured as installed, not compiled", err)
		return "", nil
	}
	warnState(t, pkg, got)
	switch {
	case got.Done():
		return how, nil
	case energy:
		return got.Filter, nil
	}
	return "", nil
}

// warnState warns if less was compiled than requested.
func warnState(t *target.Target, pkg string, s State) {
	switch {
	case !s.Done() && s.Debug:
		t.Journal.Warnf("%s is a debug build, of which Android compiles nothing ahead of time (%q): its code is slower than a release build's, and slowest while the app starts", pkg, s.Filter)
	case !s.Done():
		t.Journal.Warnf("%s was to be compiled ahead of time (%s), and Android has left it at %q", pkg, s.Asked, s.Filter)
	case s.NoProfile != "" && s.Filter != s.Wanted:
		t.Journal.Warnf("nothing of %s was compiled ahead of time, since no baseline profile could be installed (%s): it is measured as on the first day after an installation; compile: speed compiles all of it", pkg, s.NoProfile)
	}
}
