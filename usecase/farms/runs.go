package farms

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/importer"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// within returns the time limit of a scenario's test on a device.
func (s *site) within(of config.Scenario) time.Duration {
	return min(s.config.Farm.Within(), of.Timeout)
}

// result returns the run of a job: the iterations of all its matrices. err is the reason that there
// are no more of them than outcomes.
func (l *Lab) result(ctx context.Context, j collect.Job, outcomes []farm.Outcome, err error, keep evidence.Keeper) collect.Result {
	r := l.blank(j)
	lost := err
	if err != nil {
		lost = loss.Final(j.Device, loss.Infrastructure, err, "")
	}
	var read readTraces
	at := where{j.Scenario.Name, l.deviceOf(j)}
	for n, o := range outcomes {
		found, err := l.read(j.Scenario.Name, o)
		if err == nil {
			err = takeUp(&r, found, found.Iterations)
		}
		if err != nil {
			lost = loss.Of(j.Device, causeOf(err), journal.Measure, n+1, err)
			break
		}
		l.lies(at, inRun, o.Traces)
		if j.Evidence.Keeps() && keep != nil && len(o.Traces) > 0 {
			l.keepTraces(ctx, &r, &read, o, evidence.OfRun(keep, evidence.Default.Files, evidence.Default.Run), len(found.Iterations))
		}
	}
	r.Evidence, r.Frames = append(r.Evidence, read.kept...), read.frames.Frames()
	return resultOf(j, r, lost)
}

// blank returns a job's run without iterations.
func (l *Lab) blank(j collect.Job) run.Run {
	r := run.Run{
		Format: run.Format, Started: l.console.Now().UTC(),
		App:    run.App{Package: j.App.Package, Version: j.App.Version, Build: j.App.Build},
		Source: j.Source, Scenario: j.Scenario.Name, Session: j.Session, Context: maps.Clone(j.Extra), Evidence: slices.Clone(j.Files),
		Warnings: []run.Warning{{Text: l.unknown()}},
	}
	if list := l.unheeded(j); len(list) > 0 {
		r.Warnings = append(r.Warnings, run.Warning{Text: "On a farm " + prose.List(list) + "."})
	}
	return r
}

// unknown returns the note on what a farm doesn't know about its runs.
func (l *Lab) unknown() string {
	text := fmt.Sprintf("Measured on %s: which phone of the model it was, how warm and how full, and what else it ran is unknown. Its state was not controlled, and the app was compiled as its Macrobenchmark requests.", l.farm.Title())
	if limited, is := l.farm.(farm.Limited); is {
		text += " " + limited.Missing()
	}
	return text
}

// resultOf returns a job's result, with the run as far as it was measured.
func resultOf(j collect.Job, r run.Run, lost error) collect.Result {
	switch {
	case len(r.Iterations) == 0:
		r.Status = run.Failed
	case lost != nil:
		r.Status = run.Partial
	default:
		r.Status = run.Complete
	}
	if r.Context["model"] == "" { // no phone has reported its properties, or the farm keeps them
		r.Context["model"] = r.Context[modelProperty]
	}
	if lost != nil { // the last warning is that of run.Why
		r.Warnings = append(r.Warnings, run.Warning{Text: loss.Why(lost)})
	}
	if err := r.Validate(); err != nil {
		lost = loss.Final(j.Device, loss.Infrastructure, fmt.Errorf("make a run of what the farm has measured: %w", err), "")
		r.Status, r.Iterations, r.Frames, r.Declared = run.Failed, nil, nil, nil
	}
	return collect.Result{Device: j.Device, Station: j.Device, Run: r, Err: lost}
}

// testError is a failed test, in contrast to a failure of the farm.
type testError struct{ problem string }

// Error returns the problem.
func (e *testError) Error() string {
	if strings.HasPrefix(e.problem, loss.ErrTestFail.Error()) {
		return e.problem
	}
	return loss.ErrTestFail.Error() + ": " + e.problem
}

// Unwrap returns loss.ErrTestFail.
func (e *testError) Unwrap() error { return loss.ErrTestFail }

// classesError is a Macrobenchmark of several classes where one is required for a run.
type classesError struct{ classes []string }

// Error counts them.
func (e *classesError) Error() string {
	return fmt.Sprintf("the Macrobenchmark has results of %d classes, and a run is of one", len(e.classes))
}

// Hint lists them.
func (e *classesError) Hint() string {
	const most = 1000 // characters
	return "list them, so that each gets a run: workload.instrumentation.classes: " + prose.Clip("["+strings.Join(e.classes, ", ")+"]", most)
}

func causeOf(err error) loss.Cause {
	switch {
	case errors.As(err, new(*testError)):
		return loss.Workload
	case errors.As(err, new(*classesError)):
		return loss.Configuration
	}
	return loss.Infrastructure
}

// read reads the measurements of a test on one device.
func (s *site) read(scenario string, o farm.Outcome) (run.Run, error) {
	switch {
	case o.TestFailed:
		return run.Run{}, &testError{o.Problem}
	case o.Problem != "":
		return run.Run{}, errors.New(o.Problem)
	}
	var runs []run.Run
	for _, file := range o.Results {
		read, err := importer.Read(file.Name, file.Data, importer.Options{Package: s.config.App.Package, Scenario: scenario, Started: s.console.Now()})
		if err != nil {
			return run.Run{}, &testError{err.Error()}
		}
		runs = append(runs, read.Runs...)
	}
	switch {
	case len(runs) == 0:
		return run.Run{}, &testError{"it left no results"}
	case len(runs) > 1:
		e := &classesError{}
		for _, r := range runs {
			e.classes = append(e.classes, strings.TrimPrefix(r.Scenario, scenario+"/"))
		}
		return run.Run{}, e
	case runs[0].Status != run.Complete || len(runs[0].Iterations) == 0:
		return run.Run{}, &testError{"its results are incomplete: " + reasons(runs[0].Warnings)}
	}
	return runs[0], nil
}

// takeUp adds found to a run, with the given iterations. Measurements on a phone unlike the one
// before are refused.
func takeUp(r *run.Run, found run.Run, iterations []run.Iteration) error {
	if len(r.Iterations) == 0 {
		context := maps.Clone(found.Context)
		if context == nil {
			context = map[string]string{}
		}
		maps.Copy(context, r.Context)
		r.Context, r.Started = context, found.Started
	} else if !hasAll(r.Context, found.Context) {
		return errors.New("it was measured on another phone than before")
	}
	r.Iterations = append(r.Iterations, iterations...)
	for _, d := range found.Declared {
		if !slices.ContainsFunc(r.Declared, func(known run.Declared) bool { return known.Name == d.Name }) {
			r.Declared = append(r.Declared, d)
		}
	}
	for _, w := range found.Warnings {
		if !slices.Contains(r.Warnings, w) {
			r.Warnings = append(r.Warnings, w)
		}
	}
	return nil
}

// hasAll reports whether a context has all properties of another phone.
func hasAll(context, phone devctx.Properties) bool {
	for name, value := range phone {
		if known, has := context[name]; !has || known != value {
			return false
		}
	}
	return true
}
