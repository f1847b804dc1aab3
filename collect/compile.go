package collect

import (
	"cmp"
	"context"

	"github.com/apkgate/apkgate/collect/dexopt"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
)

// compilation is how the app is compiled before it is measured: as the scenario says,
// or where it doesn't, as energy is measured.
func (c *collector) compilation() string {
	how := c.job.Scenario.Compile
	if how == "" && c.job.Energy.Measured() {
		how = c.job.Energy.Compile
	}
	return cmp.Or(how, config.CompileNone)
}

// compile has the app's code compiled, and notes in the context how it stands. Where
// nothing is compiled for a run without energy, it notes nothing: so stood the code in
// every run before there was a choice, and such runs are alike.
func (c *collector) compile(ctx context.Context) error {
	how, energy := c.compilation(), c.job.Energy.Measured()
	if !dexopt.Supported(c.target.Facts) || c.benchmarks() { // it has a CompilationMode of its own
		return nil
	}
	if how == config.CompileNone {
		if energy {
			c.setContext(compiled, how)
		}
		return nil
	}
	c.journal.Report(journal.SetUp, 0, 0, "compiling the app")
	stand, err := dexopt.Compile(ctx, c.target, c.job.App.Package, how)
	switch {
	case loss.IsGone(err), ctx.Err() != nil:
		return err
	case err != nil && energy:
		return c.target.Advise(loss.Infrastructure, err, "compile: none measures the app as it was installed")
	case err != nil:
		c.journal.Warnf("%v: the app is measured as it was installed, unlike one that is compiled", err)
		return nil
	}
	c.tellStand(stand)
	switch {
	case stand.Done():
		c.setContext(compiled, how)
	case energy:
		c.setContext(compiled, stand.Filter)
	}
	return nil
}

// compiled is the property of the context that says how the app's code stood.
const compiled = "compiled"

// tellStand says where less was compiled than was asked for.
func (c *collector) tellStand(s dexopt.Stand) {
	pkg := c.job.App.Package
	switch {
	case !s.Done() && s.Debug:
		c.journal.Warnf("%s is a debug build, of which Android compiles nothing ahead of time (%q): its code is slower than a release build's, and slowest while the app starts", pkg, s.Filter)
	case !s.Done():
		c.journal.Warnf("%s was to be compiled ahead of time (%s), and Android has left it at %q", pkg, s.Asked, s.Filter)
	case s.NoProfile != "" && s.Filter != s.Wanted:
		c.journal.Warnf("nothing of %s was compiled ahead of time, since no baseline profile could be installed (%s): it is measured as on the first day after an installation; compile: speed compiles all of it", pkg, s.NoProfile)
	}
}
