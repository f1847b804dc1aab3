package browserstack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// Results returns the build's outcome on each device. A log that can't be read is a problem of
// its device only.
func (f *Farm) Results(ctx context.Context, o farm.Order, l lease.Lease) ([]farm.Outcome, error) {
	id := l.Detail[noteBuild]
	var b build
	err := f.patiently(ctx, func() (err error) {
		b, err = f.state(ctx, id)
		return err
	})
	if err != nil {
		return nil, farmError("take the results of the build "+id, err.Error(), adviceOf(err))
	}
	out := make([]farm.Outcome, len(o.Devices))
	for i, d := range o.Devices {
		out[i] = f.outcome(ctx, id, b, d, o.Within)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out, nil
}

// problems are the unsuccessful states of a session (espresso/view-test-results).
var problems = map[string]string{
	"failed":   "the test failed, or the app crashed",
	"error":    "BrowserStack's own infrastructure failed",
	"timedout": "the test printed nothing for too long, or exceeded its time limit",
	"skipped":  "the test was not run: it waited for longer than BrowserStack allows, or the class is not in the test's APK",
	"stopped":  "the build was stopped",
}

// outcome returns the outcome on one device.
func (f *Farm) outcome(ctx context.Context, id string, b build, d farm.Device, within time.Duration) farm.Outcome {
	o := farm.Outcome{Device: d, Minutes: farm.Minutes(within)}
	at := slices.IndexFunc(b.Devices, func(p ofPhone) bool { return p.Device == d.Model && sameVersion(p.Version, d.Version) })
	if at < 0 || len(b.Devices[at].Sessions) == 0 {
		o.Problem = "the build did not run there: " + prose.Clip(prose.OneLine(b.Status), 40)
		o.Minutes, o.Known = 0, final(b.Status)
		return o
	}
	if n := len(b.Devices[at].Sessions); n > 1 {
		o.Problem = fmt.Sprintf("the build ran %d times there, want once", n)
		return o
	}
	s := b.Devices[at].Sessions[0]
	if final(s.Status) { // without a duration nothing ran
		o.Minutes, o.Known = farm.Minutes(time.Duration(float64(s.Seconds)*float64(time.Second))), true
	}
	switch {
	case s.Status != "passed":
		o.Problem, o.TestFailed = problems[s.Status], s.Status == "failed"
		if o.Problem == "" {
			o.Problem = "the outcome of the test is " + strconv.Quote(prose.Clip(s.Status, 40))
		}
	default:
		file, err := f.printed(ctx, id, s.ID)
		if err != nil {
			o.Problem = err.Error()
			break
		}
		o.Results = []farm.File{file}
	}
	return o
}

// sameVersion compares Android versions, whose ".0" may be omitted.
func sameVersion(a, b string) bool {
	return strings.TrimSuffix(a, ".0") == strings.TrimSuffix(b, ".0")
}

// mostTests limits how many logs of a session are fetched.
const mostTests = 200

// printed returns the instrumentation's output of all tests in a session.
func (f *Farm) printed(ctx context.Context, id, sessionID string) (farm.File, error) {
	name := "the instrumentation logs of " + dashboard(id) + "/sessions/" + prose.Clip(prose.OneLine(sessionID), 64)
	var s session
	err := f.patiently(ctx, func() error {
		return f.call(ctx, http.MethodGet, buildPath(id)+"/sessions/"+url.PathEscape(sessionID), nil, &s)
	})
	if err != nil {
		return farm.File{}, fmt.Errorf("ask for the session: %w", err)
	}
	var all bytes.Buffer
	tests := 0
	for _, suite := range s.Tests.Data {
		for _, test := range suite.Tests {
			if tests++; tests > mostTests {
				return farm.File{}, fmt.Errorf("the session has more than %d tests", mostTests)
			}
			if err := f.add(ctx, &all, suite.Class, test); err != nil {
				return farm.File{}, fmt.Errorf("read the instrumentation log of %s: %w", prose.Short(test.Name), err)
			}
		}
	}
	switch {
	case tests == 0:
		return farm.File{}, errors.New("the session has no test: is the class in the test's APK?")
	case !bytes.Contains(all.Bytes(), []byte(benchmarkLine)):
		return farm.File{}, errors.New("the test passed, and its instrumentation log has no results of androidx.benchmark: is it a Macrobenchmark, or was the log cut?")
	}
	return farm.File{Name: name, Data: all.Bytes()}, nil
}

// add appends the log of a test. If the log begins after the start of the test, the class and
// test are added.
func (f *Farm) add(ctx context.Context, all *bytes.Buffer, class string, test testCase) error {
	var text []byte
	err := f.patiently(ctx, func() (err error) {
		text, err = f.log(ctx, test.Log)
		return err
	})
	if err != nil {
		return err
	}
	if all.Len()+len(text) > mostLog {
		return fmt.Errorf("with those before it has more than %d MiB", mostLog>>20)
	}
	if !bytes.Contains(text, []byte(classLine)) {
		fmt.Fprintf(all, "%s%s\n%s%s\nINSTRUMENTATION_STATUS_CODE: 1\n", classLine, prose.OneLine(class), testLine, prose.OneLine(test.Name))
	}
	all.Write(text)
	all.WriteByte('\n')
	return nil
}

// Lines of the instrumentation's output.
const (
	classLine     = "INSTRUMENTATION_STATUS: class="
	testLine      = "INSTRUMENTATION_STATUS: test="
	benchmarkLine = "INSTRUMENTATION_STATUS: android.studio."
)
