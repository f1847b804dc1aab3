package aws

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// What a lease notes.
const (
	noteProject = "project"
	noteApp     = "app" // the uploads' ARNs
	noteTest    = "test"
	noteSpec    = "spec"
	noteRun     = "run" // its ARN
)

// asked stands in a lease for the ARN of what was asked for and has no answer yet.
const asked = "asked"

// submitWithin is for uploads that the farm looks at for long.
const submitWithin = 20 * time.Minute

// The minutes that a run may be given (the developer guide, "Setting the execution timeout
// for test runs").
const (
	LeastMinutes = 5
	MostMinutes  = 150
)

// Submit uploads what is not there yet, and schedules the run.
func (f *Farm) Submit(ctx context.Context, o farm.Order, held *lease.Held) error {
	const doing = "schedule a run"
	ctx, cancel := context.WithTimeoutCause(ctx, submitWithin, errors.New("the uploads took longer than "+prose.Duration(submitWithin)))
	defer cancel()
	devices, err := f.chosen(ctx, o.Devices)
	if err != nil {
		return err
	}
	if err := held.Note(noteProject, f.project); err != nil {
		return err
	}
	files := parts(o)
	names, errs := make([]string, len(files)), make([]error, len(files))
	var all sync.WaitGroup
	for i, p := range files {
		all.Go(func() { names[i], errs[i] = f.provide(ctx, held, p) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return stopped(ctx, doing, err)
	}
	return stopped(ctx, doing, f.schedule(ctx, o, held, devices, names))
}

// stopped is the error of a step: ctx's own where that was at its end.
func stopped(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	untold := new(farm.UntoldError)
	isUntold := errors.As(err, &untold)
	if isUntold {
		err = untold.Err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		err = context.Cause(ctx)
	} else {
		err = failed(doing, err.Error())
	}
	if isUntold {
		return &farm.UntoldError{Err: err}
	}
	return err
}

// schedule schedules the run. What was asked for is waited for, also where nobody needs it
// any more, so that its name is known.
func (f *Farm) schedule(ctx context.Context, o farm.Order, held *lease.Held, devices, uploads []string) error {
	if err := errors.Join(context.Cause(ctx), held.Note(noteRun, asked)); err != nil {
		return err
	}
	var answer struct{ Run struct{ ARN string } }
	err := f.ask(context.WithoutCancel(ctx), f.project, "schedule-run", f.request(o, held.ID(), devices, uploads), &answer, "")
	switch {
	case errors.Is(err, farm.ErrRefused):
		return errors.Join(err, held.Note(noteRun, ""))
	case err != nil:
		return &farm.UntoldError{Err: err}
	case !arn.MatchString(answer.Run.ARN):
		return &farm.UntoldError{Err: errors.New("the service has named no run")}
	}
	return held.Note(noteRun, answer.Run.ARN)
}

// request is a ScheduleRunRequest: a job on each of the devices, once. What Device Farm
// measures and films by itself would be measured, too, and is turned off.
func (f *Farm) request(o farm.Order, id string, devices, uploads []string) map[string]any {
	billing := "METERED"
	if f.unmetered {
		billing = "UNMETERED"
	}
	return map[string]any{
		"projectArn": f.project, "name": nameOf(id, o.Label), "appArn": uploads[0],
		"test": map[string]any{
			"type": "INSTRUMENTATION", "testPackageArn": uploads[1], "testSpecArn": uploads[2],
			"parameters": map[string]string{"app_performance_monitoring": "false"},
		},
		"deviceSelectionConfiguration": map[string]any{
			"filters": []filter{{"ARN", "IN", devices}}, "maxDevices": len(devices),
		},
		"configuration":          map[string]any{"billingMethod": billing},
		"executionConfiguration": map[string]any{"jobTimeoutMinutes": minutesFor(o), "videoCapture": false},
	}
}

// minutesFor are those that Device Farm gives a test on a phone.
func minutesFor(o farm.Order) int {
	return min(max(farm.Minutes(o.Within), LeastMinutes), MostMinutes)
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// nameOf is a run's name: the lease's, and what people call it.
func nameOf(id, label string) string {
	return id + " " + prose.Clip(notInNames.ReplaceAllString(label, " "), 100)
}
