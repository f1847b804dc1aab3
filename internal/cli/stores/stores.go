// Package stores opens the history that an address names: a file, a branch of a git
// remote or a PostgreSQL database.
//
// It owns what addresses look like, how one is shown without its password, and what is
// told of a history that is damaged or missing. The stores themselves are in baseline.
package stores

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
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/files"
	"github.com/apkgate/apkgate/internal/cli/kept"
	"github.com/apkgate/apkgate/internal/words"
)

// Open opens the history at an address, making it where there is none: a
// file, a branch of a git remote (branch:REMOTE#BRANCH) or a PostgreSQL database
// (postgres://…).
func Open(ctx context.Context, c console.Console, address string) (baseline.Store, error) {
	return openHistory(ctx, c, address, false)
}

// OpenForPull opens the history for a pull request: one that is shared only to be
// read, since nothing of a pull request belongs into what others compare with, and
// a fork could not write there. keep is false of such a one.
func OpenForPull(ctx context.Context, c console.Console, address string) (store baseline.Store, keep bool, err error) {
	shared := strings.HasPrefix(address, branch.Scheme) || postgres.IsAddress(address)
	store, err = openHistory(ctx, c, address, shared)
	return store, !shared, err
}

func openHistory(ctx context.Context, c console.Console, address string, readOnly bool) (baseline.Store, error) {
	switch {
	case strings.HasPrefix(address, branch.Scheme):
		return openBranch(ctx, c, address, readOnly)
	case postgres.IsAddress(address):
		store, err := postgres.Open(ctx, address, postgres.Options{ReadOnly: readOnly, Now: c.Now, Waiting: waiting(c)})
		if err != nil {
			return nil, Error(err)
		}
		return store, nil
	case strings.Contains(address, "://"):
		scheme, _, _ := strings.Cut(address, "://")
		return nil, exit.Usage(fmt.Errorf("a history can't be kept at %s://…, want a file, branch:REMOTE#BRANCH or postgres://…", words.Short(scheme)), "")
	}
	if readOnly {
		store, err := sqlite.Open(ctx, address, sqlite.Options{ReadOnly: true, Now: c.Now})
		if err != nil {
			return nil, Error(err)
		}
		return store, nil
	}
	return openFile(ctx, c, address)
}

// waiting says what takes so long.
func waiting(c console.Console) func(what string, why error) {
	return func(what string, why error) { fmt.Fprintf(c.Stderr, "%s: %s\n", what, console.Plain(why.Error())) }
}

func openFile(ctx context.Context, c console.Console, path string) (baseline.Store, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, exit.Usage(fmt.Errorf("open history %s: it is a folder, want a file", path), "")
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && isRunsName(path) {
		return nil, exit.Usage(fmt.Errorf("make a history in %s: the name is that of a file of runs, and a history is kept in SQLite", path),
			"name it history.db; apkgate check --history reads files of runs as they are")
	}
	if err := files.MakeFolder(filepath.Dir(path)); err != nil {
		return nil, exit.Infrastructure(files.Error("make a folder for the history", path, err))
	}
	store, err := sqlite.Open(ctx, path, sqlite.Options{Now: c.Now})
	if err != nil {
		return nil, Error(err)
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

func openBranch(ctx context.Context, c console.Console, address string, readOnly bool) (baseline.Store, error) {
	where, err := branch.ParseAddress(address)
	if err != nil {
		return nil, exit.Usage(err, "branch:origin#apkgate-history")
	}
	store, err := branch.Open(ctx, where, branch.Options{Dir: copiesDir(), WorkDir: c.Dir, ReadOnly: readOnly, Now: c.Now})
	if err != nil {
		return nil, Error(err)
	}
	return store, nil
}

// Kept is the folder of the files that were kept with a history's runs.
func Kept(address string) *evidence.Folder {
	return kept.Beside(Shown(address), IsShared(address), files.OwnFolder)
}

// copiesDir is where local copies of branches are kept: in the user's cache, or,
// for a user who has none, beside the file that the history would else be in.
func copiesDir() string {
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "apkgate", "branches")
	}
	return filepath.Join(".apkgate", "branches")
}

// OpenExisting opens the history for a command that makes no sense without one. Of
// a history that is elsewhere, only opening it can tell whether there is one.
func OpenExisting(ctx context.Context, c console.Console, address string) (baseline.Store, error) {
	if err := isThere(c, address); err != nil {
		return nil, err
	}
	return Open(ctx, c, address)
}

// OpenToRead opens the history for a command that changes nothing in it: a file also
// where it can't be written, as in a cache. In a database that is empty, opening
// makes the tables all the same.
func OpenToRead(ctx context.Context, c console.Console, address string) (baseline.Store, error) {
	if err := isThere(c, address); err != nil {
		return nil, err
	}
	return openHistory(ctx, c, address, !IsShared(address))
}

// IsShared reports whether the address is of no file: a branch or a database.
func IsShared(address string) bool {
	return strings.HasPrefix(address, branch.Scheme) || strings.Contains(address, "://")
}

func isThere(c console.Console, address string) error {
	if IsShared(address) {
		return nil
	}
	info, err := os.Stat(address)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return exit.Usage(fmt.Errorf("there is no history at %s", address),
			"apkgate run makes one, apkgate baseline import FILE fills one, --store names another")
	case err == nil && info.IsDir():
		return exit.Usage(fmt.Errorf("open history %s: it is a folder, want a file", address), "")
	}
	return nil
}

// Shown is the address of a history without a password.
func Shown(address string) string {
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

// Error sorts an error of the history: what the caller named wrongly is
// usage, the rest is infrastructure.
func Error(err error) error {
	for _, callers := range []error{baseline.ErrNotFound, baseline.ErrAmbiguous, baseline.ErrConflict, baseline.ErrNotComplete, baseline.ErrNotHistory, baseline.ErrNewer, branch.ErrNoRemote} {
		if errors.Is(err, callers) {
			return exit.Usage(err, "")
		}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return exit.Infrastructure(err)
}
