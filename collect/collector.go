package collect

import (
	"slices"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/conditions"
	"github.com/apkgate/apkgate/collect/energymeter"
	"github.com/apkgate/apkgate/collect/install"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/preparation"
	"github.com/apkgate/apkgate/collect/properties"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/collect/repetition"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
)

// collector is the state of one job.
type collector struct {
	*station
	job     Job
	journal *journal.Journal
	plan    *workload.Plan
	build   *energymeter.Build
	// prepared prepares the device, and holds what it learned about it.
	prepared *preparation.Preparation
	context  *properties.Noted
	work     repetition.Work
	repeater *repetition.Repeater
	watcher  *applog.Watcher // nil where no evidence is kept

	run      run.Run
	measured []record.Measurement
	taking   taking
	retries  int // how many more lost repetitions may be repeated
	losses   []error
}

func newCollector(job Job, options Options, s *station) *collector {
	c := &collector{
		station: s, job: job, journal: journal.New(job.name(), options.Progress), retries: job.Scenario.Retries,
		plan: &workload.Plan{Target: s.target, Scenario: job.Scenario, App: job.App.Package, Host: options.Host},
	}
	c.run = run.Run{
		Format: run.Format, Started: started(options),
		App:    run.App{Package: job.App.Package, Version: job.App.Version, Build: job.App.Build},
		Source: job.Source, Scenario: job.Scenario.Name, Session: job.Session,
		Context: map[string]string{}, Evidence: job.Files,
	}
	c.context = &properties.Noted{Values: c.run.Context, Journal: c.journal}
	c.build = &energymeter.Build{App: job.App, Note: c.context.Set}
	c.prepared = &preparation.Preparation{
		Target: s.target, Conditions: s.conditions, Context: c.context,
		Installer: &install.Installer{Target: s.target, App: job.App, Scenario: job.Scenario, Clean: s.clean, Keep: job.KeepInstalled, Sizes: s.sizes},
		Rate:      &conditions.Rate{Target: s.target, Hz: job.Scenario.RefreshHz},
		App:       job.App, Scenario: job.Scenario, Network: job.Network, Extra: job.Extra, Energy: job.Energy,
	}
	if options.Evidence != nil && job.Evidence.Keeps() {
		c.watcher = &applog.Watcher{
			Target: s.target, Perfetto: s.phone.Perfetto, App: job.App.Package,
			All: job.Evidence.Keep == config.KeepAll, Anomalies: job.Evidence.Keep != config.KeepWorst,
			Tasks: job.Evidence.Tasks || job.Evidence.TasksIfAny, TasksExpected: job.Evidence.Tasks,
			Keeper: evidence.OfRun(options.Evidence, evidence.Default.Files, evidence.Default.Run),
		}
	}
	if !slices.Contains(s.apps, job.App.Package) {
		s.apps = append(s.apps, job.App.Package)
	}
	s.target.Apps = s.apps
	s.target.Journal = c.journal
	c.work = repetition.Work{
		App: job.App, Scenario: job.Scenario, Plan: c.plan, Prepared: c.prepared, Energy: job.Energy, Build: c.build, Watcher: c.watcher, Methods: job.Methods, Started: c.run.Started, Interleaved: s.clean,
	}
	c.repeater = repetition.New(s.phone, c.work)
	return c
}

func (c *collector) fail(cause loss.Cause, phase journal.Phase, repetition int, err error) error {
	return loss.Of(c.job.name(), cause, phase, repetition, err)
}

// benchmarks reports whether the workload is a Macrobenchmark, which measures by itself.
func (c *collector) benchmarks() bool { return c.job.Scenario.Workload.Benchmark() != nil }

// records reports whether the job needs a recorder on the device.
func (c *collector) records() bool {
	return c.job.Energy.Measured() || c.watcher != nil || c.phone.Frames.Records()
}
