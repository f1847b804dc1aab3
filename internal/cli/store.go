package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/sqlite"
)

// openStore opens the history, making it where there is none.
func (c Command) openStore(ctx context.Context, path string) (baseline.Store, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, usage(fmt.Errorf("open history %s: it is a folder, want a file", path), "")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, infrastructure(fileError("make a folder for the history", path, err))
	}
	store, err := sqlite.Open(ctx, path, sqlite.Options{Now: c.Now})
	if err != nil {
		return nil, storeError(err)
	}
	return store, nil
}

// openExisting opens the history for a verb that makes no sense without one.
func (c Command) openExisting(ctx context.Context, path string) (baseline.Store, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, usage(fmt.Errorf("there is no history at %s", path),
			"apkgate run makes one, apkgate baseline import FILE fills one, --history FILE takes a file instead")
	}
	return c.openStore(ctx, path)
}

// storeError sorts an error of the history: what the caller named wrongly is
// usage, the rest is infrastructure.
func storeError(err error) error {
	for _, callers := range []error{baseline.ErrNotFound, baseline.ErrAmbiguous, baseline.ErrConflict, baseline.ErrNotComplete, baseline.ErrNotHistory, baseline.ErrNewer} {
		if errors.Is(err, callers) {
			return &failure{status: exitUsage, err: err}
		}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return infrastructure(err)
}
