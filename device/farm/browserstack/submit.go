package browserstack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/farm/rest"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// Keys of a lease's details.
const (
	noteAccount = "account" // the account of the request: account()
	noteAsked   = "asked"   // when the build was asked for, RFC 3339; "" where it was refused
	noteBuild   = "build"   // its number
)

// project is the project of all of apkgate's builds.
const project = "apkgate"

// order is the request body for a build (api-reference/espresso/builds).
type order struct {
	App       string   `json:"app"`
	TestSuite string   `json:"testSuite"`
	Devices   []string `json:"devices"`
	Class     []string `json:"class,omitempty"`
	Project   string   `json:"project"`
	Tag       string   `json:"buildTag"`
	// All tests run in one process, as am instrument does elsewhere, with a log of each.
	SingleRunner bool `json:"singleRunnerInvocation"`
	ClearData    bool `json:"clearPackageData"`
	// Recordings would disturb the measurement, and contain no results.
	Video       bool              `json:"video"`
	DeviceLogs  bool              `json:"deviceLogs"`
	NetworkLogs bool              `json:"networkLogs"`
	IdleSeconds int               `json:"idleTimeout"`
	Options     map[string]string `json:"instrumentationOptions"`
}

// idle returns after how much silence a test is ended, in seconds: its time limit, within the
// range that BrowserStack accepts (espresso/timeouts).
func idle(within time.Duration) int {
	const least, most = 60, 900
	return max(least, min(int(within.Seconds()), most))
}

// The limit on instrumentationOptions (espresso/custom-espresso-options).
const mostOptions = 5

var optionValue = regexp.MustCompile(`^[a-zA-Z0-9<>&@,/._#\s-]+$`)

// options returns the arguments of the instrumentation.
func options(args map[string]string) (map[string]string, error) {
	all := map[string]string{"androidx.benchmark.enabledRules": "Macrobenchmark"}
	maps.Copy(all, args)
	if len(all) > mostOptions {
		return nil, fmt.Errorf("BrowserStack takes %d arguments of an instrumentation, and it has %s", mostOptions, prose.List(slices.Sorted(maps.Keys(all))))
	}
	for name, value := range all {
		if !optionValue.MatchString(value) {
			return nil, fmt.Errorf("BrowserStack does not accept the value of the argument %s: want letters, digits, blanks or < > & @ , / . _ # -", prose.Short(name))
		}
	}
	return all, nil
}

// Submit uploads the files that are missing, and starts the build.
func (f *Farm) Submit(ctx context.Context, o farm.Order, held *lease.Held) error {
	const doing = "submit a build"
	tell := o.Tell
	if tell == nil {
		tell = func(string) {}
	}
	body, err := f.order(o, held.ID())
	if err != nil {
		return farmError(doing, err.Error(), "")
	}
	if err := held.Note(noteAccount, f.account()); err != nil {
		return err
	}
	app, test := file{o.App, asApp}, file{o.Test, asTest}
	before := f.has(app, test)
	err = f.uploadAndBegin(ctx, app, test, body, held, tell)
	if before && errors.Is(err, farm.ErrRefused) && !strings.Contains(err.Error(), inUse) {
		f.forget(app, test) // the uploads may have expired
		err = f.uploadAndBegin(ctx, app, test, body, held, tell)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	if unknown := new(farm.UnknownError); errors.As(err, &unknown) {
		return &farm.UnknownError{Err: farmError(doing, unknown.Err.Error(), adviceOf(err))}
	}
	return farmError(doing, err.Error(), adviceOf(err))
}

func (f *Farm) uploadAndBegin(ctx context.Context, app, test file, body order, held *lease.Held, tell func(string)) (err error) {
	if body.App, err = f.upload(ctx, app, tell); err != nil {
		return fmt.Errorf("upload %s: %w", filepath.Base(app.path), err)
	}
	if body.TestSuite, err = f.upload(ctx, test, tell); err != nil {
		return fmt.Errorf("upload %s: %w", filepath.Base(test.path), err)
	}
	return f.begin(ctx, body, held, tell)
}

// order returns the request body for an order, without the uploads.
func (f *Farm) order(o farm.Order, tag string) (order, error) {
	if o.Runner != "" {
		return order{}, errors.New("BrowserStack takes the test runner that the test's APK names: remove workload.instrumentation.runner")
	}
	given, err := options(o.Args)
	if err != nil {
		return order{}, err
	}
	body := order{
		Project: project, Tag: tag, SingleRunner: true, ClearData: true, IdleSeconds: idle(o.Within), Options: given,
	}
	if o.Class != "" {
		body.Class = strings.Split(o.Class, ",")
	}
	for _, d := range o.Devices {
		body.Devices = append(body.Devices, d.Model+"-"+d.Version)
	}
	return body, nil
}

// How long a build is requested again while all parallel tests of the plan, and all places in
// its queue, are in use.
const (
	freeAgain  = 30 * time.Second
	freeWithin = 30 * time.Minute
)

// inUse is the message for that refusal (troubleshooting/parallel-test).
const inUse = "parallel tests are currently in use"

// begin requests the build until there is room for it.
func (f *Farm) begin(ctx context.Context, body order, held *lease.Held, tell func(string)) error {
	for waited := time.Duration(0); ; waited += freeAgain {
		err := f.askForBuild(ctx, body, held)
		if err == nil || !strings.Contains(err.Error(), inUse) || waited >= freeWithin {
			return err
		}
		if waited == 0 {
			tell("all parallel tests of the plan are in use: waiting for one")
		}
		if err := f.computer.Pause(ctx, freeAgain); err != nil {
			return err
		}
	}
}

// buildID matches a build's number, which is safe in a URL.
var buildID = regexp.MustCompile(`^[A-Za-z0-9]{1,128}$`)

// askForBuild requests the build once. It waits for the answer even after a cancellation,
// because without the number the build has to be searched for.
func (f *Farm) askForBuild(ctx context.Context, body order, held *lease.Held) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := held.Note(noteAsked, time.Now().UTC().Format(time.RFC3339)); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	text, err := f.ask(ctx, http.MethodPost, "app-automate/espresso/v2/build", body)
	if errors.Is(err, farm.ErrRefused) {
		return errors.Join(err, held.Note(noteAsked, ""))
	}
	var answer struct {
		Message string
		ID      string `json:"build_id"`
	}
	if err == nil {
		if err = json.Unmarshal(text, &answer); err == nil && !buildID.MatchString(answer.ID) {
			return errors.Join(rest.Final(errors.New(cmp.Or(refusal(text), "it has no build number"))), held.Note(noteAsked, ""))
		}
	}
	if err != nil { // the build may have begun nevertheless
		var lookErr error
		if answer.ID, _, lookErr = f.lookFor(ctx, held.ID()); lookErr != nil || answer.ID == "" {
			return &farm.UnknownError{Err: err}
		}
	}
	return held.Note(noteBuild, answer.ID)
}
