package measurement

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
)

// keepable reports whether a result's run is to be stored: something was measured, or the app or
// its test ended it, which it records. After a failure of the device or the configuration there is
// nothing to store.
func keepable(r collect.Result) bool {
	return r.Run.Status != run.Failed || loss.IsWorkload(r.Err)
}

// NameRuns sets the id of each run that is stored.
func NameRuns(results []collect.Result) (err error) {
	for i := range results {
		if !keepable(results[i]) {
			continue
		}
		if results[i].Run, err = results[i].Run.Named(); err != nil {
			return exit.Infrastructure(fmt.Errorf("name the run of %s: %w", results[i].Device, err))
		}
	}
	return nil
}

// RunsOf yields the runs that are stored and judged.
func RunsOf(results []collect.Result) iter.Seq2[run.Run, error] {
	return func(yield func(run.Run, error) bool) {
		for _, r := range results {
			if keepable(r) && !yield(r.Run, nil) {
				return
			}
		}
	}
}

// MeasuredRuns returns the runs that are stored and judged.
func MeasuredRuns(results []collect.Result) []run.Run {
	var out []run.Run
	for r := range RunsOf(results) {
		out = append(out, r)
	}
	return out
}

// JSONLines returns a function that writes the runs as a history file.
func JSONLines(results []collect.Result) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := runstore.WriteJSONL(w, RunsOf(results))
		return err
	}
}

// LossOf returns the gravest reason why a run is lost, with its exit status: 3 if the
// infrastructure failed, 2 if the configuration is wrong. What the app or its test ended is no
// loss: the verdict on its run reports it.
func LossOf(results []collect.Result) error {
	var configured error
	for _, r := range results {
		switch {
		case r.Err == nil || loss.IsWorkload(r.Err):
		case !loss.IsConfiguration(r.Err):
			return lost(exit.StatusInfrastructure, r)
		case configured == nil:
			configured = lost(exit.StatusUsage, r)
		}
	}
	return configured
}

// EndedOf returns why a run failed by itself, if no verdict reports it.
func EndedOf(results []collect.Result) error {
	for _, r := range results {
		if loss.IsWorkload(r.Err) {
			return lost(exit.StatusInfrastructure, r)
		}
	}
	return nil
}

func lost(status int, r collect.Result) error {
	hint := ""
	var hinted interface{ Hint() string }
	if errors.As(r.Err, &hinted) {
		hint = hinted.Hint()
	}
	return exit.WithStatus(status, fmt.Errorf("%s, scenario %s%s: %w", r.Device, r.Run.Scenario, repetitionOf(r.Err), r.Err), hint)
}

// repetitionOf names the repetition in which a run was lost, if any.
func repetitionOf(err error) string {
	var lost *loss.Error
	if errors.As(err, &lost) && lost.Repetition > 0 {
		return fmt.Sprintf(", repetition %d", lost.Repetition)
	}
	return ""
}
