// Package firebase runs test matrices on Firebase Test Lab: gcloud uploads and submits them,
// while state, cancellation, minutes and results go through the REST services that gcloud
// itself uses.
//
// It owns the command lines for gcloud and the parsing of its answers and of the services', by
// gcloud's own sources (lib/googlecloudsdk/api_lib/firebase/test) and the reference of the
// REST interfaces; docs/collection/farms.md has the source of each form. gcloud owns the login: its
// access token is kept in memory, sent only to the services, and neither shown nor written.
//
// gcloud writes its output to a file that the lease names, and outlives apkgate, so that the
// number of a matrix is known however apkgate ends. Each matrix has a time limit that Test Lab
// enforces.
package firebase

import (
	"context"
	"errors"
	"fmt"
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
const Kind = "firebase"

// called is the farm's name in sentences.
const called = "Firebase Test Lab"

// Farm is Firebase Test Lab with one project.
type Farm struct {
	computer farm.Computer
	project  string // "" to stop leases only, which name their own project
	bucket   string // "" for the project's default

	mu      sync.Mutex
	token   string
	renewAt time.Time
	models  []model
}

// New returns the farm for a project, with a bucket for the results, "" for Test Lab's own.
func New(c farm.Computer, project, bucket string) *Farm {
	return &Farm{computer: c, project: project, bucket: bucket}
}

// Kind is "firebase".
func (f *Farm) Kind() string { return Kind }

// Title is "Firebase Test Lab".
func (f *Farm) Title() string { return called }

// Noun is Test Lab's word for an order.
func (f *Farm) Noun() (one, many string) { return "matrix", "matrices" }

// Timeouts for gcloud: for a query, and for uploading two APKs and submitting.
const (
	shortly      = time.Minute
	submitWithin = 15 * time.Minute
)

// farmError returns an error of the farm.
func farmError(doing, what, advice string) *boot.Error {
	return &boot.Error{Lab: called, What: doing + ": " + what, Advice: advice}
}

// gcloud returns the program's path.
func (f *Farm) gcloud(doing string) (string, error) {
	path, ok := f.computer.Find("gcloud")
	if !ok {
		return "", farmError(doing, "gcloud is not in the PATH", "install the Google Cloud CLI: https://cloud.google.com/sdk/docs/install")
	}
	return path, nil
}

// ask runs a gcloud command to its end, and returns its output.
func (f *Farm) ask(ctx context.Context, doing string, args ...string) ([]byte, error) {
	path, err := f.gcloud(doing)
	if err != nil {
		return nil, err
	}
	r, err := hostprogram.Run(ctx, hostprogram.Command{Path: path, Args: args, Env: f.environment(), Timeout: shortly})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, hostprogram.ErrTimeout):
		return nil, farmError(doing, "gcloud took longer than "+prose.Duration(shortly), "")
	case err != nil:
		return nil, farmError(doing, err.Error(), "")
	case r.ExitCode != 0: // the output may be a token: only the messages are shown
		said := string(r.Stderr)
		return nil, farmError(doing, fmt.Sprintf("gcloud ended with the exit code %d: %s", r.ExitCode, prose.Clip(lastError(said), 400)), adviceOf(said))
	case r.Cut:
		return nil, farmError(doing, "gcloud printed more than apkgate reads", "")
	}
	return r.Stdout, nil
}

// environment makes gcloud non-interactive and its output plain.
func (f *Farm) environment() []string {
	return append([]string{"CLOUDSDK_CORE_DISABLE_PROMPTS=1", "CLOUDSDK_CORE_SHOW_STRUCTURED_LOGS=never", "NO_COLOR=1"}, f.computer.Env...)
}

// lastError returns gcloud's error message, which begins with ERROR: (core/exceptions.py), or
// else the end of its messages.
func lastError(said string) string {
	if at := strings.LastIndex(said, "ERROR: "); at >= 0 {
		return prose.OneLine(said[at+len("ERROR: "):])
	}
	const most = 400 // bytes
	return prose.OneLine(said[max(0, len(said)-most):])
}

// advices are hints for messages of gcloud and the services, by a part of the message.
var advices = []struct{ said, advice string }{
	{"do not currently have an active account", "log in: gcloud auth login, or on a runner gcloud auth activate-service-account --key-file=FILE"},
	{"Reauthentication", "log in again: gcloud auth login"},
	{"Is billing enabled", "turn billing on for the project, or name a bucket of yours: farm.firebase.bucket"},
	{"SERVICE_DISABLED", "turn the services on: gcloud services enable testing.googleapis.com toolresults.googleapis.com"},
	{"has not been used in project", "turn the services on: gcloud services enable testing.googleapis.com toolresults.googleapis.com"},
	{"PERMISSION_DENIED", "give the account the roles that docs/farms.md names"},
	{"Permission denied", "give the account the roles that docs/farms.md names"},
	{"quota", "the project's quota of tests is used up: wait for the next day, or ask for more in the Google Cloud console"},
	{"is not a valid model", "gcloud firebase test android models list shows which there are"},
}

func adviceOf(said string) string {
	for _, a := range advices {
		if strings.Contains(strings.ToLower(said), strings.ToLower(a.said)) {
			return a.advice
		}
	}
	return ""
}

// Check checks whether gcloud is installed and logged in, and whether Test Lab has the
// devices.
func (f *Farm) Check(ctx context.Context, devices []farm.Device) []device.Finding {
	version, err := f.ask(ctx, "ask gcloud for its version", "version", "--format=value(\"Google Cloud SDK\")")
	if err != nil {
		return []device.Finding{farm.Finding("gcloud", err)}
	}
	found := []device.Finding{{Name: "gcloud", OK: true, Detail: "version " + prose.Clip(prose.OneLine(string(version)), 40)}}
	if _, err := f.accessToken(ctx); err != nil {
		return append(found, farm.Finding("account", err))
	}
	found = append(found, device.Finding{Name: "account", OK: true, Detail: "logged in"})
	rates, err := f.Rates(ctx, devices)
	if err != nil {
		return append(found, farm.Finding("devices", err))
	}
	for _, r := range rates {
		kind := "virtual"
		if r.Physical {
			kind = "physical"
		}
		found = append(found, device.Finding{Name: "device", OK: true, Detail: fmt.Sprintf("%v is available, %s: %.2f USD an hour", r.Device, kind, r.USDPerHour)})
	}
	return found
}
