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

// Keys of a lease's details.
const (
	noteProject = "project"
	noteApp     = "app" // the uploads' ARNs
	noteTest    = "test"
	noteSpec    = "spec"
	noteRun     = "run" // its ARN
)

// asked is noted in place of an ARN that was requested but is not known yet.
const asked = "asked"

// submitWithin allows for uploads that the farm processes for a long time.
const submitWithin = 20 * time.Minute

// The range of a run's time limit in minutes (the developer guide, "Setting the execution
// timeout for test runs").
const (
	LeastMinutes = 5
	MostMinutes  = 150
)

// Submit uploads the files that are missing, and schedules the run.
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

// stopped returns the error of a step, or ctx's cause if it has ended.
func stopped(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	unknown := new(farm.UnknownError)
	isUnknown := errors.As(err, &unknown)
	if isUnknown {
		err = unknown.Err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		err = context.Cause(ctx)
	} else {
		err = farmError(doing, err.Error())
	}
	if isUnknown {
		return &farm.UnknownError{Err: err}
	}
	return err
}

// schedule schedules the run. It waits for the answer even after a cancellation, so that the
// run's ARN is known.
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
		return &farm.UnknownError{Err: err}
	case !arn.MatchString(answer.Run.ARN):
		return &farm.UnknownError{Err: errors.New("the service returned no run")}
	}
	return held.Note(noteRun, answer.Run.ARN)
}

// request returns a ScheduleRunRequest: one job on each of the devices. Device Farm's own
// monitoring and video would disturb the measurement, and are turned off.
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

// minutesFor returns the time limit for Device Farm, in minutes.
func minutesFor(o farm.Order) int {
	return min(max(farm.Minutes(o.Within), LeastMinutes), MostMinutes)
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// nameOf returns a run's name: the lease's ID and the label.
func nameOf(id, label string) string {
	return id + " " + prose.Clip(notInNames.ReplaceAllString(label, " "), 100)
}
