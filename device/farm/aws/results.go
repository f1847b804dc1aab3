package aws

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/farm/rest"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// job is the result of a run on one device: the relevant part of a Job of the service's model.
type job struct {
	ARN, Result, Message string
	Device               struct{ ARN string }
	DeviceMinutes        *struct{ Total, Metered, Unmetered float64 }
}

// Results returns the run's outcome on each device. A file that can't be read is a problem of
// its device only.
func (f *Farm) Results(ctx context.Context, o farm.Order, l lease.Lease) ([]farm.Outcome, error) {
	const doing = "take the results"
	devices, err := f.chosen(ctx, o.Devices)
	if err != nil {
		return nil, err
	}
	run, err := f.look(ctx, f.project, l.Detail[noteRun])
	if err != nil {
		return nil, stopped(ctx, doing, err)
	}
	var answer struct{ Jobs []job }
	if err := f.ask(ctx, f.project, "list-jobs", map[string]any{"arn": l.Detail[noteRun]}, &answer, ""); err != nil {
		return nil, stopped(ctx, doing, err)
	}
	out := make([]farm.Outcome, len(o.Devices))
	for i, d := range o.Devices {
		out[i] = farm.Outcome{Device: d}
		at := slices.IndexFunc(answer.Jobs, func(j job) bool { return j.Device.ARN == devices[i] })
		if at >= 0 {
			out[i].Minutes, out[i].Known = answer.Jobs[at].minutes(minutesFor(o))
			f.take(ctx, answer.Jobs[at], &out[i])
		} else {
			out[i].Known = run.ended()
			out[i].Problem = "the run did not start there: " + strings.TrimSpace(spoken(run.Result)+" "+prose.Clip(prose.OneLine(run.Message), 300))
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out, nil
}

// minutes returns the metered or unmetered minutes: each minute that has begun. The total
// includes other minutes. If the farm reports none, it is the maximum for the test, and known
// is false.
func (j job) minutes(most int) (minutes int, known bool) {
	const longest = 24 * 60 // more than the limit of any run
	d := j.DeviceMinutes
	if d == nil {
		return most, false
	}
	took := d.Metered + d.Unmetered
	if !(d.Metered >= 0 && d.Unmetered >= 0 && took <= longest) || took == 0 && d.Total != 0 {
		return most, false
	}
	return int(math.Ceil(took)), true
}

// problems are the unsuccessful results (ExecutionResult of the service's model).
var problems = map[string]string{
	"FAILED":  "the test failed, the app crashed, or the time was over",
	"ERRORED": "Device Farm's own infrastructure failed",
	"STOPPED": "the run was stopped",
	"SKIPPED": "the device does not fit the app or the test",
}

// take reads the results of a job, or why there are none.
func (f *Farm) take(ctx context.Context, j job, o *farm.Outcome) {
	if j.Result != "PASSED" {
		o.Problem, o.TestFailed = cmp.Or(problems[j.Result], "the outcome of the test is "+spoken(j.Result)), j.Result == "FAILED"
		if j.Message != "" {
			o.Problem += ": " + prose.Clip(prose.OneLine(j.Message), 300)
		}
		return
	}
	files, err := f.files(ctx, j)
	if rest.StatusOf(err) == http.StatusForbidden { // the URL may have expired
		files, err = f.files(ctx, j)
	}
	switch {
	case err != nil:
		o.Problem = err.Error()
	case len(files) == 0:
		o.Problem = "the test passed and left no " + resultEnd + ": is it a Macrobenchmark, and may it write to its " + dirArgument + "?"
		o.TestFailed = true
	default:
		o.Results = files
	}
}

// Limits on a device's files.
const (
	mostFile    = 64 << 20 // bytes
	mostEntries = 10_000
	mostResults = 20
)

// files returns the results in the archive that Device Farm makes of the files that the test
// spec names.
func (f *Farm) files(ctx context.Context, j job) ([]farm.File, error) {
	var answer struct {
		Artifacts []struct{ Name, Type, Extension, URL string }
	}
	if err := f.ask(ctx, f.project, "list-artifacts", map[string]any{"arn": j.ARN, "type": "FILE"}, &answer, ""); err != nil {
		return nil, err
	}
	var out []farm.File
	for _, a := range answer.Artifacts {
		if a.Type != "CUSTOMER_ARTIFACT" {
			continue
		}
		name := prose.Short(a.Name)
		data, err := exchange(ctx, http.MethodGet, a.URL, nil, 0, mostFile)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		found, err := unpack(name, data)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		for _, file := range found { // the archive may be listed for the job and for its suites
			if !slices.ContainsFunc(out, func(has farm.File) bool { return bytes.Equal(has.Data, file.Data) }) {
				out = append(out, file)
			}
		}
	}
	return out, nil
}

// unpack returns the files of results in an archive.
func unpack(name string, data []byte) ([]farm.File, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	switch {
	case err != nil && !errors.Is(err, zip.ErrInsecurePath): // names are shown, and never used as paths
		return nil, err
	case len(archive.File) > mostEntries:
		return nil, fmt.Errorf("it has %d files, at most %d allowed", len(archive.File), mostEntries)
	}
	var out []farm.File
	left := int64(mostFile)
	for _, entry := range archive.File {
		if !strings.HasSuffix(entry.Name, resultEnd) {
			continue
		}
		if len(out) == mostResults {
			return nil, fmt.Errorf("it has more than %d files of results", mostResults)
		}
		text, err := read(entry, left)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", prose.Short(entry.Name), err)
		}
		left -= int64(len(text))
		out = append(out, farm.File{Name: name + ": " + prose.Short(entry.Name), Data: text})
	}
	return out, nil
}

func read(entry *zip.File, most int64) ([]byte, error) {
	content, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	text, err := io.ReadAll(io.LimitReader(content, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("the results have more than %d MiB", mostFile>>20)
	}
	return text, err
}
