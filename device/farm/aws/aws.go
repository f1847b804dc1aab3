// Package aws runs tests on AWS Device Farm: all requests go through the aws command, and the
// APKs and the results through the URLs that the service signs for them.
//
// It owns the command lines for aws and the parsing of its answers, by the service's own model
// (devicefarm 2015-06-23, from which the command is generated) and Amazon's developer guide;
// docs/collection/farms.md has the source of each form. The command owns the login: no key is read here.
// Signed URLs give access to anybody, and are neither shown nor written.
//
// A test runs in the custom environment, where it leaves the same files as elsewhere. Each run
// has a time limit that Device Farm enforces. Everything that apkgate creates there has the
// name of its lease, so that it is found however apkgate ends.
package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/hostprogram"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/internal/prose"
)

// Kind is the farm's name in leases and configurations.
const Kind = "aws"

// called is the farm's name in sentences.
const called = "AWS Device Farm"

// Farm is AWS Device Farm with one project.
type Farm struct {
	computer  farm.Computer
	project   string // its ARN; "" to stop leases only, which name their own project
	unmetered bool

	mu      sync.Mutex
	phones  []phone // the farm's phones
	uploads map[string]*upload
	held    map[string][]*upload // by lease ID
	ended   map[string]runState  // runs, by ARN
}

// New returns the farm for a project, given by its ARN. An unmetered farm uses device slots
// that are rented by the month.
func New(c farm.Computer, project string, unmetered bool) *Farm {
	return &Farm{computer: c, project: project, unmetered: unmetered, uploads: map[string]*upload{}, held: map[string][]*upload{}, ended: map[string]runState{}}
}

// Kind is "aws".
func (f *Farm) Kind() string { return Kind }

// Title is "AWS Device Farm".
func (f *Farm) Title() string { return called }

// Noun is Device Farm's word for an order.
func (f *Farm) Noun() (one, many string) { return "run", "runs" }

// farmError returns an error of the farm.
func farmError(doing, what string) *boot.Error {
	return &boot.Error{Lab: called, What: doing + ": " + what, Advice: adviceOf(what)}
}

// callError is an error of the service or of aws itself.
type callError struct {
	command, code, message string // code is "" if the service was not reached
}

// Error is the operation and the message.
func (e *callError) Error() string {
	return e.command + ": " + strings.TrimSpace(e.code+" "+e.message)
}

// Is reports whether a retry would have the same result.
func (e *callError) Is(target error) bool {
	return target == farm.ErrRefused && !e.throttled() && !e.passing()
}

// throttled reports whether the call was refused because of the rate of calls.
func (e *callError) throttled() bool {
	return strings.HasPrefix(e.code, "Throttl") || slices.Contains([]string{"RequestLimitExceeded", "TooManyRequestsException", "SlowDown"}, e.code)
}

// passing reports whether the service could not be reached, or failed internally (AWS's page
// on common errors).
func (e *callError) passing() bool {
	if e.code != "" {
		return slices.Contains([]string{"InternalFailure", "InternalError", "InternalServerError", "ServiceUnavailable", "ServiceUnavailableException", "RequestTimeout"}, e.code)
	}
	return slices.ContainsFunc([]string{"Could not connect", "Connect timeout", "Read timeout", "Connection was closed", "took longer than"}, func(sign string) bool {
		return strings.Contains(e.message, sign)
	})
}

// answered matches the command's message for an error of the service (awscli/errorhandler.py
// and botocore/exceptions.py, ClientError).
var answered = regexp.MustCompile(`An error occurred \(([A-Za-z0-9.]{1,100})\) when calling the [A-Za-z]+ operation(?: \(reached max retries: \d+\))?: *((?s).*)`)

// Timeouts for aws, and retries.
const (
	shortly = time.Minute
	atLeast = 2 * time.Minute // to list a project's items of several years
	again   = 5               // attempts
	apart   = 10 * time.Second
)

// ask calls the service until it answers; aws has already retried when it reports throttling.
// A call that creates something is retried only if it was refused.
func (f *Farm) ask(ctx context.Context, project, operation string, input map[string]any, into any, query string) error {
	creates := slices.Contains([]string{"create-upload", "schedule-run"}, operation)
	for try := 1; ; try++ {
		err := f.askOnce(ctx, project, operation, input, into, query)
		var said *callError
		if try == again || !errors.As(err, &said) || !said.throttled() && (creates || !said.passing()) {
			return err
		}
		if err := f.computer.Pause(ctx, apart); err != nil {
			return err
		}
	}
}

func (f *Farm) askOnce(ctx context.Context, project, operation string, input map[string]any, into any, query string) error {
	text, err := json.Marshal(input)
	if err != nil {
		return err
	}
	args := []string{"devicefarm", operation, "--region", regionOf(project), "--output", "json", "--cli-input-json", string(text)}
	within := shortly
	if query != "" {
		args, within = append(args, "--query", query), atLeast
	}
	out, err := f.run(ctx, within, args...)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("read the answer of aws devicefarm %s: %w", operation, err)
	}
	return nil
}

// run runs aws to its end, and returns its output.
func (f *Farm) run(ctx context.Context, within time.Duration, args ...string) ([]byte, error) {
	command := strings.Join(append([]string{"aws"}, args[:min(2, len(args))]...), " ")
	path, ok := f.computer.Find("aws")
	if !ok {
		return nil, &callError{command: command, message: "aws is not in the PATH"}
	}
	env := append([]string{"AWS_PAGER=", "AWS_CLI_AUTO_PROMPT=off", "AWS_RETRY_MODE=standard"}, f.computer.Env...)
	r, err := hostprogram.Run(ctx, hostprogram.Command{Path: path, Args: args, Env: env, Timeout: within})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, hostprogram.ErrTimeout):
		return nil, &callError{command: command, message: "aws took longer than " + prose.Duration(within)}
	case err != nil:
		return nil, err
	case r.ExitCode != 0:
		return nil, refusal(command, string(r.Stderr), r.ExitCode)
	case r.Cut:
		return nil, fmt.Errorf("%s printed more than apkgate reads", command)
	}
	return r.Stdout, nil
}

func refusal(command, said string, exitCode int) *callError {
	if m := answered.FindStringSubmatch(said); m != nil {
		return &callError{command, m[1], prose.Clip(prose.OneLine(m[2]), 400)}
	}
	const most = 400 // bytes
	what := prose.OneLine(said[max(0, len(said)-most):])
	if what == "" {
		what = fmt.Sprintf("aws ended with the exit code %d", exitCode)
	}
	return &callError{command: command, message: what}
}

// arn matches the ARN of a Device Farm resource: its kind and region.
var arn = regexp.MustCompile(`^arn:aws:devicefarm:([a-z0-9-]{1,30}):[0-9]*:[a-z]{1,30}:[A-Za-z0-9/_:.-]{1,300}$`)

// regionOf returns the region in an ARN. Device Farm exists in one region only.
func regionOf(name string) string {
	if m := arn.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return "us-west-2"
}

// advices are hints for messages of aws and the service, by a part of the message.
var advices = []struct{ said, advice string }{
	{"not in the PATH", "install the AWS CLI: https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html"},
	{"Unable to locate credentials", "log in: aws configure sso, or on a runner aws-actions/configure-aws-credentials"},
	{"Token has expired", "log in again: aws sso login"},
	{"ExpiredToken", "log in again: aws sso login, or let the runner's role last longer"},
	{"UnrecognizedClient", "aws has invalid keys: aws sts get-caller-identity shows whose they are"},
	{"InvalidClientTokenId", "aws has invalid keys: aws sts get-caller-identity shows whose they are"},
	{"AccessDenied", "give the account the actions that docs/farms.md names"},
	{"not authorized to perform", "give the account the actions that docs/farms.md names"},
	{"LimitExceeded", "the account's limit is used up: stop what runs, or ask for more in the Service Quotas console"},
	{"Unknown options", "update the AWS CLI: this version does not know the current Device Farm"},
	{"Unknown parameter", "update the AWS CLI: this version does not know the current Device Farm"},
}

func adviceOf(said string) string {
	for _, a := range advices {
		if strings.Contains(strings.ToLower(said), strings.ToLower(a.said)) {
			return a.advice
		}
	}
	return ""
}

// Check checks whether aws is installed and logged in, and whether Device Farm has the
// devices.
func (f *Farm) Check(ctx context.Context, devices []farm.Device) []device.Finding {
	version, err := f.run(ctx, shortly, "--version")
	if err != nil {
		return []device.Finding{farm.Finding("aws", farmError("ask aws for its version", err.Error()))}
	}
	found := []device.Finding{{Name: "aws", OK: true, Detail: prose.Clip(prose.OneLine(string(version)), 40)}}
	var answer struct{ Project struct{ Name string } }
	if err := f.ask(ctx, f.project, "get-project", map[string]any{"arn": f.project}, &answer, ""); err != nil {
		return append(found, farm.Finding("project", farmError("look at the project", err.Error())))
	}
	found = append(found, device.Finding{Name: "project", OK: true, Detail: prose.Short(answer.Project.Name)})
	rates, err := f.Rates(ctx, devices)
	if err != nil {
		return append(found, farm.Finding("devices", err))
	}
	for _, r := range rates {
		found = append(found, device.Finding{Name: "device", OK: true, Detail: fmt.Sprintf("%v is available: %.2f USD an hour", r.Device, r.USDPerHour)})
	}
	return found
}
