package firebase

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/hostprogram"
	"github.com/apkgate/apkgate/device/lab/lease"
)

// saysWithin is how long gcloud has to finish a submission, and endsWithin how long to end
// after SIGTERM, on which it cancels the matrix (ctrl_c_handler.py).
const (
	saysWithin = 20 * time.Second
	endsWithin = 20 * time.Second
)

// uploaded is gcloud's message once the APKs are uploaded, before it creates a matrix
// (results_bucket.py, LogGcsResultsUrl).
const uploaded = "Raw results will be stored"

// endGcloud lets a gcloud that is still submitting finish: a request without an answer can't
// be found otherwise. It is also identified by its command line, since apkgate may have been
// killed before it noted the process.
func (f *Farm) endGcloud(ctx context.Context, l lease.Lease) error {
	submitting, err := hostprogram.Find("--results-dir=" + l.ID)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return farmError("look for gcloud", err.Error(), "")
	}
	var all []hostprogram.ID
	for _, p := range submitting {
		all = append(all, p.ID)
	}
	if id, err := hostprogram.ParseID(l.Detail[noteProcess]); err == nil {
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

// removeLog removes gcloud's log: the file that a lease of apkgate's names, and no other.
func removeLog(l lease.Lease) error {
	path := l.Detail[noteLog]
	if filepath.Base(path) != l.ID+".log" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return farmError("remove gcloud's log", err.Error(), "")
	}
	return nil
}
