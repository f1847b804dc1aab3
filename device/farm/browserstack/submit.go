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

// What a lease notes.
const (
	noteAccount = "account" // of whom it was asked for: account()
	noteAsked   = "asked"   // when the build was asked for, RFC 3339; "" where it was refused
	noteBuild   = "build"   // its number
)

// project is under which all builds of apkgate are listed.
const project = "apkgate"

// order is the body that asks for a build (api-reference/espresso/builds).
type order struct {
	App       string   `json:"app"`
	TestSuite string   `json:"testSuite"`
	Devices   []string `json:"devices"`
	Class     []string `json:"class,omitempty"`
	Project   string   `json:"project"`
	Tag       string   `json:"buildTag"`
	// All tests in one go, as am instrument runs them elsewhere, and logs of each.
	SingleRunner bool `json:"singleRunnerInvocation"`
	ClearData    bool `json:"clearPackageData"`
	// What would record while it is measured, and holds no results.
	Video       bool              `json:"video"`
	DeviceLogs  bool              `json:"deviceLogs"`
	NetworkLogs bool              `json:"networkLogs"`
	IdleSeconds int               `json:"idleTimeout"`
	Options     map[string]string `json:"instrumentationOptions"`
}

// idle is after how long without a word a test is ended: what it may take, within what
// BrowserStack takes (espresso/timeouts).
func idle(within time.Duration) int {
	const least, most = 60, 900
	return max(least, min(int(within.Seconds()), most))
}

// What instrumentationOptions may be (espresso/custom-espresso-options).
const mostOptions = 5

var optionValue = regexp.MustCompile(`^[a-zA-Z0-9<>&@,/._#\s-]+$`)

// options are the arguments of the instrumentation.
func options(args map[string]string) (map[string]string, error) {
	all := map[string]string{"androidx.benchmark.enabledRules": "Macrobenchmark"}
	maps.Copy(all, args)
	if len(all) > mostOptions {
		return nil, fmt.Errorf("BrowserStack takes %d arguments of an instrumentation, and it has %s", mostOptions, prose.List(slices.Sorted(maps.Keys(all))))
	}
	for name, value := range all {
		if !optionValue.MatchString(value) {
			return nil, fmt.Errorf("BrowserStack takes no value such as that of the argument %s: want letters, digits, blanks or < > & @ , / . _ # -", prose.Short(name))
		}
	}
	return all, nil
}

// Submit uploads what is not there yet, and has the build begun.
func (f *Farm) Submit(ctx context.Context, o farm.Order, held *lease.Held) error {
	const doing = "submit a build"
	tell := o.Tell
	if tell == nil {
		tell = func(string) {}
	}
	body, err := f.order(o, held.ID())
	if err != nil {
		return failed(doing, err.Error(), "")
	}
	if err := held.Note(noteAccount, f.account()); err != nil {
		return err
	}
	app, test := file{o.App, asApp}, file{o.Test, asTest}
	before := f.has(app, test)
	err = f.uploadAndBegin(ctx, app, test, body, held, tell)
	if before && errors.Is(err, farm.ErrRefused) && !strings.Contains(err.Error(), inUse) {
		f.forget(app, test) // they may have expired
		err = f.uploadAndBegin(ctx, app, test, body, held, tell)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	if untold := new(farm.UntoldError); errors.As(err, &untold) {
		return &farm.UntoldError{Err: failed(doing, untold.Err.Error(), adviceOf(err))}
	}
	return failed(doing, err.Error(), adviceOf(err))
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

// order is the body for an order, but for what is uploaded.
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

// How long a build is asked for again while all parallel tests of the plan are in use, and
// as many wait as may.
const (
	freeAgain  = 30 * time.Second
	freeWithin = 30 * time.Minute
)

// inUse is how a build is refused for that (troubleshooting/parallel-test).
const inUse = "parallel tests are currently in use"

// begin asks for the build until there is room for it.
func (f *Farm) begin(ctx context.Context, body order, held *lease.Held, tell func(string)) error {
	for waited := time.Duration(0); ; waited += freeAgain {
		err := f.askForBuild(ctx, body, held)
		if err == nil || !strings.Contains(err.Error(), inUse) || waited >= freeWithin {
			return err
		}
		if waited == 0 {
			tell("all parallel tests of the plan are in use: waits for one")
		}
		if err := f.computer.Pause(ctx, freeAgain); err != nil {
			return err
		}
	}
}

// buildID is how a build is numbered: safe in an address.
var buildID = regexp.MustCompile(`^[A-Za-z0-9]{1,128}$`)

// askForBuild asks for it once, and hears the answer out: who does not know the number has
// to look for the build.
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
			return errors.Join(rest.Final(errors.New(cmp.Or(refusal(text), "it tells no number of a build"))), held.Note(noteAsked, ""))
		}
	}
	if err != nil { // it may have been begun all the same
		var lookErr error
		if answer.ID, _, lookErr = f.lookFor(ctx, held.ID()); lookErr != nil || answer.ID == "" {
			return &farm.UntoldError{Err: err}
		}
	}
	return held.Note(noteBuild, answer.ID)
}
