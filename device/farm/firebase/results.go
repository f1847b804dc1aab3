package firebase

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// Results returns the matrix's outcome on each device. A file that can't be read is a problem
// of its device only.
func (f *Farm) Results(ctx context.Context, o farm.Order, l lease.Lease) ([]farm.Outcome, error) {
	doing := "take the results of " + l.Detail[noteMatrix]
	m, err := f.state(ctx, l)
	if err != nil {
		return nil, farmError(doing, err.Error(), adviceOf(err.Error()))
	}
	out := make([]farm.Outcome, len(o.Devices))
	for i, d := range o.Devices {
		out[i] = f.outcome(ctx, m, d, o.Within)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out, nil
}

// outcome returns the outcome on one device.
func (f *Farm) outcome(ctx context.Context, m matrix, d farm.Device, within time.Duration) farm.Outcome {
	o := farm.Outcome{Device: d, Minutes: farm.Minutes(within)}
	at := slices.IndexFunc(m.TestExecutions, func(e execution) bool {
		on := e.Environment.AndroidDevice
		return on.AndroidModelID == d.Model && on.AndroidVersionID == d.Version
	})
	if at < 0 {
		o.Problem = "the matrix did not run there: " + strings.ToLower(prose.OneLine(m.State+" "+m.Invalid))
		o.Minutes, o.Known = 0, m.final() && len(m.TestExecutions) == 0
		return o
	}
	e := m.TestExecutions[at]
	summary, took, err := f.step(ctx, e)
	if err == nil && took >= 0 {
		o.Minutes, o.Known = min(o.Minutes, farm.Minutes(took)), true
	}
	switch {
	case e.State != "FINISHED":
		o.Problem = strings.TrimSpace("Test Lab says " + prose.Clip(prose.OneLine(e.State), 40) + " " + prose.Clip(prose.OneLine(e.TestDetails.ErrorMessage), 300))
		if e.State != "ERROR" && e.State != "CANCELLED" { // the test never ran
			o.Minutes, o.Known = 0, true
		}
	case err != nil:
		o.Problem = "the test's outcome can't be read: " + err.Error()
	case summary != "success":
		o.Problem, o.TestFailed = outcomes[summary], summary == "failure"
		if o.Problem == "" {
			o.Problem = "the outcome of the test is " + strconv.Quote(prose.Clip(summary, 40))
		}
	default:
		if err = f.files(ctx, m, e, &o); err != nil {
			o.Problem, o.TestFailed = err.Error(), errors.As(err, new(*emptyError))
		}
	}
	return o
}

// outcomes are the unsuccessful outcomes of a step (toolresults Outcome.summary;
// api_lib/firebase/test/results_summary.py).
var outcomes = map[string]string{
	"failure":      "the test failed, the app crashed, or the time was over",
	"flaky":        "the test passed in another attempt alone",
	"inconclusive": "the test did not finish: Test Lab's own infrastructure failed, or it was cancelled",
	"skipped":      "the device does not fit the app or the test",
}

// step returns an execution's outcome from the tool results, and the duration of the test,
// which is billed; it is less than 0 if not reported.
func (f *Farm) step(ctx context.Context, e execution) (summary string, took time.Duration, err error) {
	var answer struct {
		Outcome           struct{ Summary string }
		TestExecutionStep struct {
			TestTiming struct {
				TestProcessDuration struct {
					Seconds string // JSON has int64 values of the protocol as strings
					Nanos   int64
				}
			}
		}
	}
	at := e.ToolResultsStep
	path := fmt.Sprintf("toolresults/v1beta3/projects/%s/histories/%s/executions/%s/steps/%s",
		url.PathEscape(at.ProjectID), url.PathEscape(at.HistoryID), url.PathEscape(at.ExecutionID), url.PathEscape(at.StepID))
	if err := f.call(ctx, http.MethodGet, "toolresults", path, &answer); err != nil {
		return "", 0, err
	}
	d := answer.TestExecutionStep.TestTiming.TestProcessDuration
	const longest = 24 * 60 * 60 // seconds: longer than the limit of any test
	seconds, err := strconv.ParseInt(d.Seconds, 10, 64)
	if err != nil || seconds < 0 || seconds > longest || d.Nanos < 0 || d.Nanos >= int64(time.Second) {
		return answer.Outcome.Summary, -1, nil
	}
	return answer.Outcome.Summary, time.Duration(seconds)*time.Second + time.Duration(d.Nanos), nil
}

// Limits on a device's files.
const (
	resultEnd   = "benchmarkData.json"
	mostFile    = 64 << 20 // bytes
	mostListed  = 20       // pages
	mostResults = 20
	traceEnd    = ".perfetto-trace"
	mostTraces  = 50
)

// files returns the files that the test left on a device: below the device's folder in the
// matrix's, where pulled files are in artifacts/sdcard/Download/…. The results are read,
// traces are only listed.
func (f *Farm) files(ctx context.Context, m matrix, e execution, o *farm.Outcome) error {
	bucket, dir, ok := strings.Cut(strings.TrimPrefix(m.ResultStorage.GoogleCloudStorage.GcsPath, "gs://"), "/")
	if !ok || bucket == "" {
		return errors.New("the matrix does not say where its results are")
	}
	on := e.Environment.AndroidDevice
	prefix := strings.TrimSuffix(dir, "/") + "/" + strings.Join([]string{on.AndroidModelID, on.AndroidVersionID, on.Locale, on.Orientation}, "-") + "/artifacts/"
	found, err := f.list(ctx, bucket, prefix)
	if err != nil {
		return fmt.Errorf("list gs://%s/%s: %w", bucket, prefix, err)
	}
	for _, name := range found.results {
		data, err := f.fetch(ctx, http.MethodGet, "storage", objectPath(bucket, name), mostFile)
		if err != nil {
			return fmt.Errorf("read gs://%s/%s: %w", bucket, prose.Clip(prose.OneLine(name), 200), err)
		}
		o.Results = append(o.Results, farm.File{Name: "gs://" + bucket + "/" + name, Data: data})
	}
	if len(o.Results) == 0 {
		return &emptyError{"gs://" + bucket + "/" + prefix}
	}
	o.TracesLeft = found.more
	for _, t := range found.traces {
		o.Traces = append(o.Traces, farm.Trace{Name: "gs://" + bucket + "/" + t.name, Bytes: t.bytes, Fetch: func(ctx context.Context, w io.Writer) error {
			return f.stream(ctx, "storage", objectPath(bucket, t.name), w, farm.MostTrace)
		}})
	}
	return nil
}

// objectPath returns the storage path of an object's content.
func objectPath(bucket, name string) string {
	return "storage/v1/b/" + url.PathEscape(bucket) + "/o/" + url.PathEscape(name) + "?alt=media"
}

// emptyError is the error for a test without results.
type emptyError struct{ place string }

// Error names where the results should be.
func (e *emptyError) Error() string {
	return fmt.Sprintf("the test passed and left no %s in %s: is it a Macrobenchmark, and may it write to %s?", resultEnd, e.place, outputDir)
}

// listing is the objects below a prefix.
type listing struct {
	results []string
	traces  []object
	more    int // traces beyond the limit of the list
}

// object is a file in a bucket.
type object struct {
	name  string
	bytes int64 // -1 if not reported
}

// list lists the objects below a prefix.
func (f *Farm) list(ctx context.Context, bucket, prefix string) (out listing, err error) {
	query := url.Values{"prefix": {prefix}, "fields": {"items(name,size),nextPageToken"}}
	for range mostListed {
		var page struct {
			Items         []struct{ Name, Size string } // JSON has uint64 values of the protocol as strings
			NextPageToken string
		}
		if err := f.call(ctx, http.MethodGet, "storage", "storage/v1/b/"+url.PathEscape(bucket)+"/o?"+query.Encode(), &page); err != nil {
			return out, err
		}
		for _, item := range page.Items {
			switch {
			case !strings.HasPrefix(item.Name, prefix):
			case strings.HasSuffix(item.Name, resultEnd):
				out.results = append(out.results, item.Name)
			case strings.HasSuffix(item.Name, traceEnd) && len(out.traces) == mostTraces:
				out.more++
			case strings.HasSuffix(item.Name, traceEnd):
				bytes, err := strconv.ParseInt(item.Size, 10, 64)
				if err != nil || bytes < 0 {
					bytes = -1
				}
				out.traces = append(out.traces, object{item.Name, bytes})
			}
		}
		switch query.Set("pageToken", page.NextPageToken); {
		case len(out.results) > mostResults:
			return out, fmt.Errorf("it has more than %d files of results", mostResults)
		case page.NextPageToken == "":
			return out, nil
		}
	}
	return out, errors.New("it has more files than are searched")
}
