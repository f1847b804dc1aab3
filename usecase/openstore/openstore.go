// Package openstore opens the history that an address names: a file, a branch of a git
// remote, a PostgreSQL database or a file of runs that was published.
//
// It owns the list of the kinds of stores, of which a new one is a package in baseline
// and one line here, and what is told of a history that is damaged or missing. What an
// address looks like, and how it is shown without its password, each kind knows.
package openstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/branch"
	"github.com/apkgate/apkgate/baseline/memory/exported"
	"github.com/apkgate/apkgate/baseline/postgres"
	"github.com/apkgate/apkgate/baseline/sqlite"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// kinds are the ways to keep a history. The last one takes any address that is of no
// other: the path of a file.
var kinds = []baseline.Kind{branch.Kind, exported.Kind, postgres.Kind, sqlite.Kind}

// kindOf is the kind of an address.
func kindOf(address string) (baseline.Kind, error) {
	for _, k := range kinds {
		if k.Has(address) {
			return k, nil
		}
	}
	if scheme, _, ok := strings.Cut(address, "://"); ok {
		return baseline.Kind{}, exit.Usage(fmt.Errorf("a history can't be kept at %s://…, want %s", prose.Short(scheme), Forms()), "")
	}
	return kinds[len(kinds)-1], nil
}

// Forms says what addresses look like: "a file, branch:REMOTE#BRANCH or postgres://…".
func Forms() string {
	forms := []string{kinds[len(kinds)-1].Form}
	for _, k := range kinds[:len(kinds)-1] {
		forms = append(forms, k.Form)
	}
	return strings.Join(forms[:len(forms)-1], ", ") + " or " + forms[len(forms)-1]
}

// Open opens the history at an address, making it where there is none.
func Open(ctx context.Context, c terminal.Console, address string) (baseline.Store, error) {
	return openHistory(ctx, c, address, false)
}

// OpenForPull opens the history for a pull request: one that is shared only to be
// read, since nothing of a pull request belongs into what others compare with, and
// a fork could not write there. keep is false of such a one.
func OpenForPull(ctx context.Context, c terminal.Console, address string) (store baseline.Store, keep bool, err error) {
	shared := IsShared(address)
	store, err = openHistory(ctx, c, address, shared)
	return store, !shared, err
}

func openHistory(ctx context.Context, c terminal.Console, address string, readOnly bool) (baseline.Store, error) {
	kind, err := kindOf(address)
	switch {
	case err != nil || readOnly:
	case kind.ReadOnly != "":
		err = exit.Usage(fmt.Errorf("write into the history %s: %s", kind.Show(address), kind.ReadOnly),
			"name another with --store; apkgate baseline copy --to FILE makes one of it that can be written")
	case !kind.Shared():
		err = makeWay(address)
	}
	if err != nil {
		return nil, err
	}
	store, err := kind.Open(ctx, address, baseline.Opening{
		ReadOnly: readOnly, Now: c.Now, Waiting: waiting(c), WorkDir: c.Dir, Copies: copiesDir(),
	})
	if err != nil {
		return nil, Error(err)
	}
	return store, nil
}

// waiting says what takes so long.
func waiting(c terminal.Console) func(what string, why error) {
	return func(what string, why error) { fmt.Fprintf(c.Stderr, "%s: %s\n", what, terminal.Plain(why.Error())) }
}

// makeWay refuses the path of what is no history, and makes its folder.
func makeWay(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return exit.Usage(fmt.Errorf("open history %s: it is a folder, want a file", path), "")
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && isRunsName(path) {
		return exit.Usage(fmt.Errorf("make a history in %s: the name is that of a file of runs, and a history is kept in SQLite", path),
			"name it history.db; apkgate check --history reads files of runs as they are")
	}
	if err := atomicfile.MakeFolder(filepath.Dir(path)); err != nil {
		return exit.Infrastructure(atomicfile.Error("make a folder for the history", path, err))
	}
	return nil
}

// isRunsName reports whether the name is one that files of runs have.
func isRunsName(path string) bool {
	name := strings.ToLower(path)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl")
}

// Kept is the folder of the files that were kept with a history's runs.
func Kept(address string) *evidence.Folder {
	return runevidence.Beside(Shown(address), IsShared(address), atomicfile.OwnFolder)
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
func OpenExisting(ctx context.Context, c terminal.Console, address string) (baseline.Store, error) {
	if err := isThere(address); err != nil {
		return nil, err
	}
	return Open(ctx, c, address)
}

// OpenToRead opens the history for a command that changes nothing in it: a file also
// where it can't be written, as in a cache. In a database that is empty, opening
// makes the tables all the same.
func OpenToRead(ctx context.Context, c terminal.Console, address string) (baseline.Store, error) {
	if err := isThere(address); err != nil {
		return nil, err
	}
	kind, err := kindOf(address)
	if err != nil {
		return nil, err
	}
	return openHistory(ctx, c, address, !kind.Shared() || kind.ReadOnly != "")
}

// IsShared reports whether the address is of no file on this computer.
func IsShared(address string) bool {
	kind, err := kindOf(address)
	return err != nil || kind.Shared()
}

func isThere(address string) error {
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
	kind, err := kindOf(address)
	if err != nil {
		return address
	}
	return kind.Show(address)
}

// Error sorts an error of the history: what the caller named wrongly is
// usage, the rest is infrastructure.
func Error(err error) error {
	for _, callers := range []error{baseline.ErrNotFound, baseline.ErrAmbiguous, baseline.ErrConflict, baseline.ErrNotComplete, baseline.ErrNotHistory, baseline.ErrNewer} {
		if errors.Is(err, callers) {
			return exit.Usage(err, "")
		}
	}
	if errors.As(err, new(*baseline.AddressError)) {
		return exit.Usage(err, "")
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return exit.Infrastructure(err)
}
