package firebase

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/farm/rest"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// matrix is the relevant part of a TestMatrix of projects.testMatrices.get.
type matrix struct {
	State          string // FINISHED, ERROR, CANCELLED and INVALID are final (matrix_ops.py)
	OutcomeSummary string
	Invalid        string `json:"invalidMatrixDetails"`
	ResultStorage  struct {
		GoogleCloudStorage struct{ GcsPath string } // "gs://bucket/dir/"
	}
	TestExecutions []execution
}

// execution is one device of a matrix.
type execution struct {
	State       string
	Environment struct {
		AndroidDevice struct{ AndroidModelID, AndroidVersionID, Locale, Orientation string }
	}
	TestDetails     struct{ ErrorMessage string }
	ToolResultsStep struct{ ProjectID, HistoryID, ExecutionID, StepID string }
}

func (m matrix) final() bool {
	return slices.Contains([]string{"FINISHED", "ERROR", "CANCELLED", "INVALID"}, m.State)
}

// progress counts the devices by their states: "1 RUNNING, 1 FINISHED".
func (m matrix) progress() string {
	var states []string
	counts := map[string]int{}
	for _, e := range m.TestExecutions {
		if counts[e.State]++; counts[e.State] == 1 {
			states = append(states, e.State)
		}
	}
	for i, s := range states {
		states[i] = fmt.Sprintf("%d %s", counts[s], strings.ToLower(prose.Clip(prose.OneLine(s), 40)))
	}
	if len(states) == 0 {
		return strings.ToLower(prose.Clip(prose.OneLine(m.State), 40))
	}
	slices.Sort(states)
	return prose.List(states)
}

func matrixPath(l lease.Lease) string {
	return "v1/projects/" + url.PathEscape(l.Detail[noteProject]) + "/testMatrices/" + url.PathEscape(l.Detail[noteMatrix])
}

func (f *Farm) state(ctx context.Context, l lease.Lease) (m matrix, err error) {
	return m, f.call(ctx, http.MethodGet, "testing", matrixPath(l), &m)
}

// Await polls the matrix until its state is final.
func (f *Farm) Await(ctx context.Context, o farm.Order, l lease.Lease, tell func(string)) error {
	err := f.computer.Watch(ctx, o.Within, func(ctx context.Context) (string, bool, error) {
		m, err := f.state(ctx, l)
		return l.Detail[noteMatrix] + ": " + m.progress(), m.final(), err
	}, tell)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return farmError("wait for "+l.Detail[noteMatrix], err.Error(), adviceOf(err.Error()))
}

// Stop lets gcloud finish, which yields the number of a matrix, cancels the matrix, and waits
// until it has ended.
func (f *Farm) Stop(ctx context.Context, l lease.Lease, tell func(string)) error {
	const atMost = 5 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	if err := f.endGcloud(ctx, l); err != nil {
		return err
	}
	if l.Detail[noteMatrix] == "" {
		if path := l.Detail[noteLog]; path != "" {
			said, _ := readLog(path) // without a log, gcloud was not started
			l.Detail[noteMatrix] = matrixIn(said)
		}
	}
	if l.Detail[noteMatrix] != "" {
		if err := f.cancel(ctx, l, tell); err != nil {
			return err
		}
	}
	return removeLog(l)
}

// cancel cancels a matrix that has not ended.
func (f *Farm) cancel(ctx context.Context, l lease.Lease, tell func(string)) error {
	doing := "cancel " + l.Detail[noteMatrix]
	byHand := "cancel it in the Firebase console: https://console.firebase.google.com/project/" + l.Detail[noteProject] + "/testlab/histories"
	for asked := false; ; {
		m, err := f.state(ctx, l)
		switch {
		case rest.StatusOf(err) == http.StatusNotFound, err == nil && m.final():
			return nil
		case err == nil && !asked:
			var answer struct{ TestState string }
			err = f.call(ctx, http.MethodPost, "testing", matrixPath(l)+":cancel", &answer)
			if asked = err == nil; asked {
				tell("cancelling " + l.Detail[noteMatrix])
			}
		}
		if err != nil {
			return farmError(doing, err.Error(), byHand)
		}
		if err := f.computer.Pause(ctx, time.Second); err != nil {
			return farmError(doing, "it has not ended yet: "+err.Error(), byHand)
		}
	}
}
