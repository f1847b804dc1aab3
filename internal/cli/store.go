package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/branch"
	"github.com/apkgate/apkgate/baseline/postgres"
	"github.com/apkgate/apkgate/baseline/sqlite"
	"github.com/apkgate/apkgate/internal/words"
)

// openStore opens the history at an address, making it where there is none: a
// file, a branch of a git remote (branch:REMOTE#BRANCH) or a PostgreSQL database
// (postgres://…).
func (c Command) openStore(ctx context.Context, address string) (baseline.Store, error) {
	return c.openHistory(ctx, address, false)
}

// openForPull opens the history for a pull request: one that is shared only to be
// read, since nothing of a pull request belongs into what others compare with, and
// a fork could not write there. keep is false of such a one.
func (c Command) openForPull(ctx context.Context, address string) (store baseline.Store, keep bool, err error) {
	shared := strings.HasPrefix(address, branch.Scheme) || postgres.IsAddress(address)
	store, err = c.openHistory(ctx, address, shared)
	return store, !shared, err
}

func (c Command) openHistory(ctx context.Context, address string, readOnly bool) (baseline.Store, error) {
	switch {
	case strings.HasPrefix(address, branch.Scheme):
		return c.openBranch(ctx, address, readOnly)
	case postgres.IsAddress(address):
		store, err := postgres.Open(ctx, address, postgres.Options{ReadOnly: readOnly, Now: c.Now, Waiting: c.waiting()})
		if err != nil {
			return nil, storeError(err)
		}
		return store, nil
	case strings.Contains(address, "://"):
		scheme, _, _ := strings.Cut(address, "://")
		return nil, usage(fmt.Errorf("a history can't be kept at %s://…, want a file, branch:REMOTE#BRANCH or postgres://…", words.Short(scheme)), "")
	}
	if readOnly {
		store, err := sqlite.Open(ctx, address, sqlite.Options{ReadOnly: true, Now: c.Now})
		if err != nil {
			return nil, storeError(err)
		}
		return store, nil
	}
	return c.openFile(ctx, address)
}

// waiting says what takes so long.
func (c Command) waiting() func(what string, why error) {
	return func(what string, why error) { fmt.Fprintf(c.Stderr, "%s: %s\n", what, plain(why.Error())) }
}

func (c Command) openFile(ctx context.Context, path string) (baseline.Store, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, usage(fmt.Errorf("open history %s: it is a folder, want a file", path), "")
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && isRunsName(path) {
		return nil, usage(fmt.Errorf("make a history in %s: the name is that of a file of runs, and a history is kept in SQLite", path),
			"name it history.db; apkgate check --history reads files of runs as they are")
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return nil, infrastructure(fileError("make a folder for the history", path, err))
	}
	store, err := sqlite.Open(ctx, path, sqlite.Options{Now: c.Now})
	if err != nil {
		return nil, storeError(err)
	}
	return store, nil
}

// isRunsName reports whether the name is one that files of runs have.
func isRunsName(path string) bool {
	name := strings.ToLower(path)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl")
}

func (c Command) openBranch(ctx context.Context, address string, readOnly bool) (baseline.Store, error) {
	where, err := branch.ParseAddress(address)
	if err != nil {
		return nil, usage(err, "branch:origin#apkgate-history")
	}
	store, err := branch.Open(ctx, where, branch.Options{Dir: copiesDir(), WorkDir: c.dir, ReadOnly: readOnly, Now: c.Now})
	if err != nil {
		return nil, storeError(err)
	}
	return store, nil
}

// copiesDir is where local copies of branches are kept: in the user's cache, or,
// for a user who has none, beside the file that the history would else be in.
func copiesDir() string {
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "apkgate", "branches")
	}
	return filepath.Join(".apkgate", "branches")
}

// openExisting opens the history for a verb that makes no sense without one. Of
// a history that is elsewhere, only opening it can tell whether there is one.
func (c Command) openExisting(ctx context.Context, address string) (baseline.Store, error) {
	if err := c.isThere(address); err != nil {
		return nil, err
	}
	return c.openStore(ctx, address)
}

// openToRead opens the history for a verb that changes nothing in it: a file also
// where it can't be written, as in a cache. In a database that is empty, opening
// makes the tables all the same.
func (c Command) openToRead(ctx context.Context, address string) (baseline.Store, error) {
	if err := c.isThere(address); err != nil {
		return nil, err
	}
	return c.openHistory(ctx, address, !isElsewhere(address))
}

// isElsewhere reports whether the address is of no file.
func isElsewhere(address string) bool {
	return strings.HasPrefix(address, branch.Scheme) || strings.Contains(address, "://")
}

func (c Command) isThere(address string) error {
	if isElsewhere(address) {
		return nil
	}
	info, err := os.Stat(address)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usage(fmt.Errorf("there is no history at %s", address),
			"apkgate run makes one, apkgate baseline import FILE fills one, --store names another")
	case err == nil && info.IsDir():
		return usage(fmt.Errorf("open history %s: it is a folder, want a file", address), "")
	}
	return nil
}

// shownAddress is the address of a history without a password.
func shownAddress(address string) string {
	if where, err := branch.ParseAddress(address); err == nil {
		return where.String()
	}
	if u, err := url.Parse(address); err == nil && postgres.IsAddress(address) {
		query := u.Query()
		query.Del("password")
		u.RawQuery = query.Encode()
		return u.Redacted()
	}
	return address
}

// storeError sorts an error of the history: what the caller named wrongly is
// usage, the rest is infrastructure.
func storeError(err error) error {
	for _, callers := range []error{baseline.ErrNotFound, baseline.ErrAmbiguous, baseline.ErrConflict, baseline.ErrNotComplete, baseline.ErrNotHistory, baseline.ErrNewer, branch.ErrNoRemote} {
		if errors.Is(err, callers) {
			return usage(err, "")
		}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return infrastructure(err)
}
