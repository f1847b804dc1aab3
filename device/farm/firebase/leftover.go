package firebase

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/device/program"
)

// saysWithin is how long gcloud has to submit what it is at, and endsWithin to end when it
// is asked to: it cancels the matrix then (ctrl_c_handler.py).
const (
	saysWithin = 20 * time.Second
	endsWithin = 20 * time.Second
)

// uploaded is what gcloud says once the APKs are there, before it creates a matrix
// (results_bucket.py, LogGcsResultsUrl).
const uploaded = "Raw results will be stored"

// endGcloud lets a gcloud that still submits come to its end: what it has asked for without
// an answer is nowhere to be found. It is known by its command line too, since apkgate may
// have been killed before it noted the process.
func (f *Farm) endGcloud(ctx context.Context, l lease.Lease) error {
	submitting, err := program.Find("--results-dir=" + l.ID)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return failed("look for gcloud", err.Error(), "")
	}
	var all []program.ID
	for _, p := range submitting {
		all = append(all, p.ID)
	}
	if id, err := program.ParseID(l.Detail[noteProcess]); err == nil {
		all = append(all, id)
	}
	const apart = 50 * time.Millisecond
	var errs []error
	for _, id := range all {
		for until := time.Now().Add(saysWithin); id.Alive() && time.Now().Before(until); {
			if said, _ := readLog(l.Detail[noteLog]); !strings.Contains(said, uploaded) || matrixIn(said) != "" {
				break
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(apart):
			}
		}
		errs = append(errs, id.Stop(endsWithin))
	}
	return errors.Join(errs...)
}

// removeLog removes what gcloud said: the file that a lease of ours names, and no other.
func removeLog(l lease.Lease) error {
	path := l.Detail[noteLog]
	if filepath.Base(path) != l.ID+".log" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("remove what gcloud said", err.Error(), "")
	}
	return nil
}
