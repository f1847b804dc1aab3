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

// Results are what the build came to on each device. A log that can't be read is the problem
// of its device alone.
func (f *Farm) Results(ctx context.Context, o farm.Order, l lease.Lease) ([]farm.Outcome, error) {
	id := l.Detail[noteBuild]
	var b build
	err := f.patiently(ctx, func() (err error) {
		b, err = f.state(ctx, id)
		return err
	})
	if err != nil {
		return nil, failed("take the results of the build "+id, err.Error(), adviceOf(err))
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

// problems are the states of a session that is no success (espresso/view-test-results).
var problems = map[string]string{
	"failed":   "the test failed, or the app crashed",
	"error":    "BrowserStack's own infrastructure failed",
	"timedout": "the test said nothing for too long, or took longer than it may",
	"skipped":  "the test was not run: it waited for longer than BrowserStack allows, or the class is not in the test's APK",
	"stopped":  "the build was stopped",
}

// outcome is that of one device.
func (f *Farm) outcome(ctx context.Context, id string, b build, d farm.Device, within time.Duration) farm.Outcome {
	o := farm.Outcome{Device: d, Minutes: farm.Minutes(within)}
	at := slices.IndexFunc(b.Devices, func(p ofPhone) bool { return p.Device == d.Model && sameVersion(p.Version, d.Version) })
	if at < 0 || len(b.Devices[at].Sessions) == 0 {
		o.Problem = "the build has not run there: " + prose.Clip(prose.OneLine(b.Status), 40)
		o.Minutes, o.Told = 0, final(b.Status)
		return o
	}
	if n := len(b.Devices[at].Sessions); n > 1 {
		o.Problem = fmt.Sprintf("the build ran %d times there, want once", n)
		return o
	}
	s := b.Devices[at].Sessions[0]
	if final(s.Status) { // without a duration nothing ran
		o.Minutes, o.Told = farm.Minutes(time.Duration(float64(s.Seconds)*float64(time.Second))), true
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

// sameVersion compares versions of Android, whose ".0" is left out here and there.
func sameVersion(a, b string) bool {
	return strings.TrimSuffix(a, ".0") == strings.TrimSuffix(b, ".0")
}

// mostTests bounds the logs that are fetched of a session.
const mostTests = 200

// printed is what the instrumentation has printed in a session, of all its tests.
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
		return farm.File{}, errors.New("the session tells of no test: is the class in the test's APK?")
	case !bytes.Contains(all.Bytes(), []byte(benchmarkLine)):
		return farm.File{}, errors.New("the test passed, and its instrumentation log has no results of androidx.benchmark: is it a Macrobenchmark, or was the log cut?")
	}
	return farm.File{Name: name, Data: all.Bytes()}, nil
}

// add adds the log of a test. One that begins after the test has is told whose it is.
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

// Lines of an instrumentation.
const (
	classLine     = "INSTRUMENTATION_STATUS: class="
	testLine      = "INSTRUMENTATION_STATUS: test="
	benchmarkLine = "INSTRUMENTATION_STATUS: android.studio."
)
