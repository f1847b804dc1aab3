package aws

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/simulator/standin/aws"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// newFarm returns a Device Farm with stand-ins for aws and the storage.
func newFarm(t *testing.T) (*standin.Lab, *Farm) {
	t.Helper()
	l := standin.New(t, standin.Options{WithoutADB: true})
	aws.Serve(t, l.Folder, func(app, phone string, number int) string {
		return fmt.Sprintf("%s on %s, %d", app, phone, number)
	})
	c := farm.Computer{
		Find:  func(name string) (string, bool) { return filepath.Join(l.Bin, name), true },
		Pause: func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) },
	}
	for name, value := range l.Variables() {
		c.Env = append(c.Env, name+"="+value)
	}
	for _, name := range []string{"base.apk", "head.apk", "test.apk"} {
		if err := os.WriteFile(l.Path(name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return l, New(c, aws.Project, false)
}

func taken(t *testing.T, l *standin.Lab) *lease.Held {
	t.Helper()
	held, err := lease.Take(l.Path("leases"), Kind, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(held.Leave)
	return held
}

// order returns a run of a build on a Pixel 6 and a Galaxy S9.
func order(l *standin.Lab, app string) farm.Order {
	return farm.Order{
		App: l.Path(app), Test: l.Path("test.apk"), Package: "com.example.benchmark", Class: "com.example.StartBenchmark", Label: "start round 1, base",
		Devices: []farm.Device{{Model: "Google Pixel 6", Version: "13"}, {Model: "Samsung Galaxy S9 (Unlocked)", Version: "9"}}, Within: 90 * time.Second,
	}
}

func quiet(string) {}

// uploads checks the number of remaining uploads, and of all uploads so far.
func uploads(t *testing.T, l *standin.Lab, wantLeft, wantEver int) {
	t.Helper()
	left, ever, err := aws.Uploads(l.Folder)
	if err != nil || len(left) != wantLeft || ever != wantEver {
		t.Errorf("uploads: %d, of which are left %q, %v; want %d and %d left", ever, left, err, wantEver, wantLeft)
	}
}

// A call that is throttled, fails, or finds no phone free is retried; an expired URL is
// requested again; each progress message is reported once.
func TestAwaitRetries(t *testing.T) {
	t.Parallel()
	l, f := newFarm(t)
	held, o := taken(t, l), order(l, "base.apk")
	l.Breaks(aws.Throttled, again-1)
	l.Breaks(aws.Unprocessed, 3)
	l.Breaks(aws.Unanswered, farm.Unanswered-1)
	l.Breaks(aws.Waiting, 2)
	l.Breaks(aws.Endless, 1)
	if err := f.Submit(t.Context(), o, held); err != nil {
		t.Fatal(err)
	}
	runs, err := aws.Runs(l.Folder)
	if err != nil || len(runs) != 1 || runs[0].Minutes != 5 || runs[0].Billing != "METERED" || runs[0].Name != held.ID()+" start round 1 base" || runs[0].Jobs[0].Phone.Availability != "HIGHLY_AVAILABLE" {
		t.Errorf("%+v, %v; want one of five minutes, the fewest there are, named after the lease, on the Pixel that is free", runs, err)
	}
	var reported []string
	if err := f.Await(t.Context(), o, held.Lease(), func(line string) { reported = append(reported, line) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"pending concurrency, 0 of 2 devices done", "running, 0 of 2 devices done"}; !slices.Equal(reported, want) {
		t.Errorf("reported %q, want %q", reported, want)
	}
	l.Breaks(aws.Expired, 1)
	outcomes, err := f.Results(t.Context(), o, held.Lease())
	if err != nil || len(outcomes) != 2 {
		t.Fatalf("%+v, %v", outcomes, err)
	}
	for i, want := range []string{"base.apk on Google Pixel 6, 0", "base.apk on Samsung Galaxy S9 (Unlocked), 0"} {
		if out := outcomes[i]; out.Problem != "" || len(out.Results) != 1 || string(out.Results[0].Data) != want || out.Minutes != 2 || !out.Known {
			t.Errorf("%+v; want the file %q, and two minutes for 1.2345", out, want)
		}
	}
	l.Breaks(aws.Expired, 4)
	outcomes, err = f.Results(t.Context(), o, held.Lease())
	if err != nil || outcomes[0].Problem != "read Customer Artifacts: the storage answered 403 AccessDenied Request has expired" || strings.Contains(fmt.Sprint(outcomes), aws.Signature) {
		t.Errorf("%+v, %v; want the storage's words, and no address", outcomes, err)
	}
	if err := f.Stop(t.Context(), held.Lease(), quiet); err != nil {
		t.Error(err)
	}
	uploads(t, l, 0, 3)
	l.Breaks(aws.Unanswered, farm.Unanswered)
	other := held.Lease()
	other.Detail[noteRun] = runs[0].ARN + "x"
	if err := f.Await(t.Context(), o, other, quiet); err == nil || !strings.Contains(err.Error(), "InternalFailure") {
		t.Errorf("a service that never answers: %v", err)
	}
	if err := f.Await(t.Context(), o, other, quiet); err == nil || !strings.Contains(err.Error(), "NotFoundException") {
		t.Errorf("a run that is not there: %v", err)
	}
}

// Two builds share the test and its spec, which are deleted with the last run that uses them.
func TestUploadsAreShared(t *testing.T) {
	t.Parallel()
	l, f := newFarm(t)
	var helds []*lease.Held
	for _, app := range []string{"base.apk", "head.apk"} {
		held := taken(t, l)
		if err := f.Submit(t.Context(), order(l, app), held); err != nil {
			t.Fatal(err)
		}
		helds = append(helds, held)
	}
	for i, left := range []int{3, 0} {
		if err := f.Stop(t.Context(), helds[i].Lease(), quiet); err != nil {
			t.Error(err)
		}
		uploads(t, l, left, 4)
	}
	runs, err := aws.Runs(l.Folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if r.Robbed || r.Status != "COMPLETED" {
			t.Errorf("%+v, want it to have ended with all that it needs", r)
		}
	}
}

// Slots that are rented by the month are requested, and have no price.
func TestUnmeteredFarm(t *testing.T) {
	t.Parallel()
	l, f := newFarm(t)
	f = New(f.computer, f.project, true)
	held, o := taken(t, l), order(l, "base.apk")
	rates, err := f.Rates(t.Context(), o.Devices)
	if err != nil || farm.AtMost(rates, 10, time.Minute).USD != 0 {
		t.Errorf("%+v, %v", rates, err)
	}
	if err := errors.Join(f.Submit(t.Context(), o, held), f.Stop(t.Context(), held.Lease(), quiet)); err != nil {
		t.Fatal(err)
	}
	if runs, err := aws.Runs(l.Folder); err != nil || runs[0].Billing != "UNMETERED" {
		t.Errorf("%+v, %v", runs, err)
	}
}

// A failure on the last phone is reported for that phone, with its minutes; the first phone's
// result is used.
func TestResultsOfAFailedPhone(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]struct {
		problem    string
		testFailed bool
	}{
		aws.Fails:     {"the test failed, the app crashed, or the time was over", true},
		aws.Errored:   {"Device Farm's own infrastructure failed", false},
		aws.Elsewhere: {"the run was stopped", false},
		aws.NoResults: {"the test passed and left no benchmarkData.json: is it a Macrobenchmark, and may it write to its additionalTestOutputDir?", true},
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			l, f := newFarm(t)
			held, o := taken(t, l), order(l, "base.apk")
			l.Breaks(word, 1)
			err := errors.Join(f.Submit(t.Context(), o, held), f.Await(t.Context(), o, held.Lease(), quiet))
			outcomes, resultsErr := f.Results(t.Context(), o, held.Lease())
			if err := errors.Join(err, resultsErr); err != nil {
				t.Fatal(err)
			}
			if first, last := outcomes[0], outcomes[1]; first.Problem != "" || len(first.Results) != 1 || last.Problem != want.problem || last.TestFailed != want.testFailed || len(last.Results) > 0 || last.Minutes != 2 || !last.Known {
				t.Errorf("%+v, want the first whole, and of the last %+v", outcomes, want)
			}
		})
	}
}

// A refusal is reported in the farm's words, and everything uploaded for it is deleted.
func TestSubmitRefused(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		aws.Refused:   "was refused: We could not open your file",
		aws.Limit:     "LimitExceededException The maximum number of in-flight jobs was exceeded.",
		aws.Expired:   "the storage answered 403 AccessDenied Request has expired",
		aws.LoggedOut: "Unable to locate credentials",
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			l, f := newFarm(t)
			held := taken(t, l)
			l.Breaks(word, state.Always)
			if err := f.Submit(t.Context(), order(l, "base.apk"), held); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), aws.Signature) {
				t.Errorf("%v, want %q", err, want)
			}
			if err := l.Mend(word); err != nil {
				t.Fatal(err)
			}
			if err := f.Stop(t.Context(), held.Lease(), quiet); err != nil {
				t.Error(err)
			}
			left, _, err := aws.Uploads(l.Folder)
			if runs, _ := aws.Runs(l.Folder); err != nil || len(left) > 0 || len(runs) > 0 {
				t.Errorf("%q and %v are left, %v", left, runs, err)
			}
			if looked := slices.ContainsFunc(l.Called("aws"), func(line string) bool { return strings.Contains(line, "devicefarm list-runs") }); looked {
				t.Error("all runs of the project were gone through, though none was asked for")
			}
		})
	}
}

// The lease of a dead process is enough to find everything: what was noted, and what was
// requested when the process was killed. A run that continues after a stop request is waited
// for.
func TestStopFromTheLeaseOfAKilledProcess(t *testing.T) {
	t.Parallel()
	for name, unnoted := range map[string][]string{"all was noted": nil, "the run was not": {noteRun}, "nothing was": {noteRun, noteApp, noteTest, noteSpec}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, f := newFarm(t)
			killed, other := taken(t, l), taken(t, l)
			for _, held := range []*lease.Held{killed, other} {
				one := New(f.computer, f.project, false) // each in a process of its own
				if err := one.Submit(t.Context(), order(l, "base.apk"), held); err != nil {
					t.Fatal(err)
				}
			}
			left := killed.Lease()
			for _, note := range unnoted {
				left.Detail[note] = asked
			}
			l.Breaks(aws.Endless, state.Always)
			l.Breaks(aws.Stopping, 3)
			var reported []string
			if err := New(f.computer, "", false).Stop(t.Context(), left, func(line string) { reported = append(reported, line) }); err != nil {
				t.Fatal(err)
			}
			running, err := aws.Running(l.Folder)
			if err != nil || len(running) != 1 || !strings.HasPrefix(running[0], other.ID()+" ") || len(reported) != 1 {
				t.Errorf("%q are running, %q was reported, %v; want only the other's, reported once", running, reported, err)
			}
			uploads(t, l, 3, 6)
		})
	}
}

// A run that may have begun is reported as such, once, with the error that ended the
// submission.
func TestSubmitOfARunThatMayHaveBegun(t *testing.T) {
	t.Parallel()
	cause := errors.New("Ctrl-C")
	interrupted, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want string
	}{
		"no answer":               {t.Context(), &farm.UnknownError{Err: errors.New("no answer")}, "AWS Device Farm: schedule a run: no answer; it is not known whether a matrix was begun"},
		"no answer, interrupted":  {interrupted, &farm.UnknownError{Err: errors.New("no answer")}, "Ctrl-C; it is not known whether a matrix was begun"},
		"an upload, interrupted":  {interrupted, errors.New("killed"), "Ctrl-C"},
		"an upload that can't be": {t.Context(), errors.New("refused"), "AWS Device Farm: schedule a run: refused"},
	} {
		got := stopped(c.ctx, "schedule a run", c.err)
		if got.Error() != c.want || errors.Is(got, farm.ErrUnknown) != strings.Contains(c.want, "not known") || errors.Is(got, cause) != (c.ctx == interrupted) {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}

// An interrupt does not wait for an upload.
func TestSubmitInterruptedWhileUploading(t *testing.T) {
	t.Parallel()
	l, f := newFarm(t)
	held := taken(t, l)
	l.Breaks(aws.SlowUpload, state.Always)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("Ctrl-C")
	done := make(chan error)
	go func() { done <- f.Submit(ctx, order(l, "base.apk"), held) }()
	for _, ever, _ := aws.Uploads(l.Folder); ever < 3; _, ever, _ = aws.Uploads(l.Folder) {
		time.Sleep(time.Millisecond)
	}
	cancel(cause)
	if err := <-done; !errors.Is(err, cause) {
		t.Errorf("%v, want the interruption", err)
	}
	if err := errors.Join(l.Mend(aws.SlowUpload), f.Stop(t.Context(), held.Lease(), quiet)); err != nil {
		t.Error(err)
	}
	uploads(t, l, 0, 3)
}

// The real command accepts the requests, checked against the service's model, and the
// stand-in's answers. Each start of it takes most of a second.
func TestRealAWSCommand(t *testing.T) {
	t.Parallel()
	if os.Getenv("APKGATE_FULL") == "" {
		t.Skip("it starts the real command often: APKGATE_FULL=1")
	}
	real, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("there is no aws in the PATH")
	}
	l, f := newFarm(t)
	server := aws.Serve(t, l.Folder, func(string, string, int) string { return "{}" })
	f.computer.Find = func(string) (string, bool) { return real, true }
	f.computer.Env = []string{
		"AWS_ENDPOINT_URL=" + server.URL, "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_SESSION_TOKEN=", "AWS_MAX_ATTEMPTS=1",
		"AWS_CONFIG_FILE=" + l.Path("none"), "AWS_SHARED_CREDENTIALS_FILE=" + l.Path("none"), "AWS_EC2_METADATA_DISABLED=true",
	}
	held, o := taken(t, l), order(l, "base.apk")
	for _, finding := range f.Check(t.Context(), o.Devices) {
		if !finding.OK {
			t.Errorf("%+v", finding)
		}
	}
	l.Breaks(aws.Throttled, 1)
	if err := f.Submit(t.Context(), o, held); err != nil {
		t.Fatal(err)
	}
	l.Breaks(aws.Unanswered, 1)
	l.Breaks(aws.Endless, 1)
	var reported []string
	err = f.Await(t.Context(), o, held.Lease(), func(line string) { reported = append(reported, line) })
	outcomes, resultsErr := f.Results(t.Context(), o, held.Lease())
	if err := errors.Join(err, resultsErr); err != nil || len(reported) != 1 || len(outcomes[0].Results) != 1 || outcomes[0].Minutes != 2 {
		t.Errorf("%q, %+v, %v", reported, outcomes, err)
	}
	left := held.Lease()
	left.Detail[noteRun], left.Detail[noteSpec] = asked, asked
	if err := New(f.computer, "", false).Stop(t.Context(), left, quiet); err != nil {
		t.Error(err)
	}
	uploads(t, l, 0, 3)
	if err := f.ask(t.Context(), f.project, "get-run", map[string]any{"arn": aws.Project}, nil, ""); !isGone(err) {
		t.Errorf("%v, want a NotFoundException", err)
	}
	f.computer.Env = append(f.computer.Env, "AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=")
	if err := f.ask(t.Context(), f.project, "get-run", map[string]any{"arn": aws.Project}, nil, ""); !errors.Is(err, farm.ErrRefused) || adviceOf(fmt.Sprint(err)) == "" {
		t.Errorf("%v, want that nobody is logged in, with what to do", err)
	}
}
