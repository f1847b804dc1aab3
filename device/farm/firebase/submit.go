package firebase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/hostprogram"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// Keys of a lease's details.
const (
	noteProject = "project"
	noteLog     = "log"     // the file with gcloud's output
	noteProcess = "process" // gcloud's
	noteMatrix  = "matrix"  // its number, "matrix-1kozhsv2imkru"
)

// outputDir is where a Macrobenchmark writes its files on the phone; Google's own sample pulls
// them from there (android/performance-samples, firebase_test_lab.yml).
const outputDir = "/sdcard/Download"

// Submit uploads the APKs and starts the matrix.
func (f *Farm) Submit(ctx context.Context, o farm.Order, held *lease.Held) error {
	const doing = "submit a matrix"
	path, err := f.gcloud(doing)
	if err != nil {
		return err
	}
	args, err := f.arguments(o, held.ID())
	if err != nil {
		return farmError(doing, err.Error(), "")
	}
	log, err := f.log(held)
	if err != nil {
		return farmError(doing, err.Error(), "")
	}
	defer func() { _ = log.Close() }()
	p, err := hostprogram.Start(hostprogram.Command{Path: path, Args: args, Env: f.environment(), Outlives: true}, log, log)
	if err != nil {
		return farmError(doing, err.Error(), "")
	}
	if err := held.Note(noteProcess, p.ID().String()); err != nil {
		return err
	}
	timer := time.NewTimer(submitWithin)
	defer timer.Stop()
	select {
	case <-p.Done():
	case <-timer.C:
		return &farm.UnknownError{Err: farmError(doing, "gcloud took longer than "+prose.Duration(submitWithin), "")}
	case <-ctx.Done():
		return &farm.UnknownError{Err: context.Cause(ctx)}
	}
	said, err := readLog(log.Name())
	if err != nil {
		return farmError(doing, err.Error(), "")
	}
	id := matrixIn(said)
	if id != "" {
		if err := held.Note(noteMatrix, id); err != nil {
			return err
		}
	}
	if p.ExitCode() == 0 && id != "" {
		return nil
	}
	err = farmError(doing, fmt.Sprintf("gcloud: %s: %s", p.Ending(), prose.Clip(lastError(said), 400)), adviceOf(said))
	if strings.Contains(said, uploaded) && !strings.Contains(said, refused) {
		err = &farm.UnknownError{Err: err}
	}
	return err
}

// refused is gcloud's message if the service has answered without starting a matrix
// (android/matrix_creator.py, _CreateMatrix).
const refused = "Http error while creating test matrix"

// log creates the file for gcloud's output, and notes it with the project.
func (f *Farm) log(held *lease.Held) (*os.File, error) {
	if err := os.MkdirAll(f.computer.Logs, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(f.computer.Logs, held.ID()+".log")
	if err := errors.Join(held.Note(noteProject, f.project), held.Note(noteLog, path)); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
}

// mostLog limits how much of gcloud's output is read.
const mostLog = 1 << 20

func readLog(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, mostLog))
	return string(text), err
}

// created matches the line in which gcloud prints a matrix's number
// (android/matrix_creator.py, CreateTestMatrix).
var created = regexp.MustCompile(`Test \[(matrix-[A-Za-z0-9_-]{1,100})\] has been created in the Google Cloud`)

func matrixIn(said string) string {
	if m := created.FindStringSubmatch(said); m != nil {
		return m[1]
	}
	return ""
}

// arguments returns the command line of gcloud firebase test android run
// (api_lib/firebase/test/arg_util.py). Failed attempts are not repeated: a test that failed
// once is no measurement.
func (f *Farm) arguments(o farm.Order, dir string) ([]string, error) {
	variables := map[string]string{
		"additionalTestOutputDir": outputDir, "no-isolated-storage": "true", "clearPackageData": "true",
		"androidx.benchmark.enabledRules": "Macrobenchmark",
	}
	maps.Copy(variables, o.Args)
	list, err := listed(variables)
	if err != nil {
		return nil, err
	}
	args := []string{
		"firebase", "test", "android", "run", "--async", "--format=json", "--quiet", "--project=" + f.project,
		"--type=instrumentation", "--app=" + o.App, "--test=" + o.Test,
		"--timeout=" + fmt.Sprintf("%dm", farm.Minutes(o.Within)), "--num-flaky-test-attempts=0",
		"--no-record-video", "--no-performance-metrics", "--no-auto-google-login",
		"--results-dir=" + dir, "--directories-to-pull=" + cmp.Or(o.Args["additionalTestOutputDir"], outputDir),
		"--environment-variables=" + list, "--client-details=matrixLabel=" + labelled(o.Label),
	}
	if f.bucket != "" {
		args = append(args, "--results-bucket="+f.bucket)
	}
	if o.Runner != "" {
		args = append(args, "--test-runner-class="+o.Runner)
	}
	if o.Class != "" {
		args = append(args, "--test-targets=class "+strings.Join(strings.Split(o.Class, ","), ",class "))
	}
	for _, d := range o.Devices {
		args = append(args, "--device=model="+d.Model+",version="+d.Version+",locale=en,orientation=portrait")
	}
	return args, nil
}

// listed formats a map as an argument of gcloud. If a value contains a comma, another
// delimiter is declared in front (gcloud topic escaping).
func listed(variables map[string]string) (string, error) {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		pairs = append(pairs, name+"="+variables[name])
	}
	all := strings.Join(pairs, "")
	for _, delimiter := range []string{",", ";", "|", "#", "@"} {
		switch {
		case strings.Contains(all, delimiter):
		case delimiter == ",":
			return strings.Join(pairs, delimiter), nil
		default:
			return "^" + delimiter + "^" + strings.Join(pairs, delimiter), nil
		}
	}
	return "", errors.New("the arguments of the test have each of the characters , ; | # and @ in them, and can't be passed to gcloud")
}

var notInLabels = regexp.MustCompile(`[^A-Za-z0-9 ._-]+`)

func labelled(text string) string { return prose.Clip(notInLabels.ReplaceAllString(text, " "), 60) }
