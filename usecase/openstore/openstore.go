// Package openstore opens the history that an address names: a file, a branch of a git remote, a
// PostgreSQL database or a published file of runs.
//
// It owns the list of the kinds of stores, of which a new one is a package in baseline and one line
// here, and the reports on a damaged or missing history. Each kind knows the form of its addresses,
// and how they are shown without a password.
package openstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/gitbranch"
	"github.com/apkgate/apkgate/runstore/memory/exported"
	"github.com/apkgate/apkgate/runstore/postgres"
	"github.com/apkgate/apkgate/runstore/sqlite"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// kinds are the ways to keep a history. The last one accepts any address that is of no other: the
// path of a file.
var kinds = []runstore.Kind{gitbranch.Kind, exported.Kind, postgres.Kind, sqlite.Kind}

// kindOf returns the kind of an address.
func kindOf(address string) (runstore.Kind, error) {
	for _, k := range kinds {
		if k.Has(address) {
			return k, nil
		}
	}
	if scheme, _, ok := strings.Cut(address, "://"); ok {
		return runstore.Kind{}, exit.Usage(fmt.Errorf("a history can't be kept at %s://…, want %s", prose.Short(scheme), Forms()), "")
	}
	return kinds[len(kinds)-1], nil
}

// Forms lists the forms of addresses: "a file, branch:REMOTE#BRANCH or postgres://…".
func Forms() string {
	forms := []string{kinds[len(kinds)-1].Form}
	for _, k := range kinds[:len(kinds)-1] {
		forms = append(forms, k.Form)
	}
	return strings.Join(forms[:len(forms)-1], ", ") + " or " + forms[len(forms)-1]
}

// Open opens the history at an address, creating it if there is none.
func Open(ctx context.Context, c terminal.Console, address string) (runstore.Store, error) {
	return openHistory(ctx, c, address, false)
}

// OpenForPull opens the history for a pull request: read-only if it is shared, since nothing of a
// pull request belongs into what others compare with, and a fork could not write there. keep is
// false for such a history.
func OpenForPull(ctx context.Context, c terminal.Console, address string) (store runstore.Store, keep bool, err error) {
	shared := IsShared(address)
	store, err = openHistory(ctx, c, address, shared)
	return store, !shared, err
}

func openHistory(ctx context.Context, c terminal.Console, address string, readOnly bool) (runstore.Store, error) {
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
	store, err := kind.Open(ctx, address, runstore.Opening{
		ReadOnly: readOnly, Now: c.Now, Waiting: waiting(c), WorkDir: c.Dir, Copies: copiesDir(),
	})
	if err != nil {
		return nil, Error(err)
	}
	return store, nil
}

// waiting returns a function that prints what takes so long.
func waiting(c terminal.Console) func(what string, why error) {
	return func(what string, why error) { fmt.Fprintf(c.Stderr, "%s: %s\n", what, terminal.Plain(why.Error())) }
}

// makeWay refuses the path of something other than a history, and creates its folder.
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

// isRunsName reports whether the name is one of a file of runs.
func isRunsName(path string) bool {
	name := strings.ToLower(path)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl")
}

// Kept returns the folder of the files that were kept with a history's runs.
func Kept(address string) *evidence.Folder {
	return runevidence.Beside(Shown(address), IsShared(address), atomicfile.OwnFolder)
}

// copiesDir returns where local copies of branches are kept: in the user's cache or, for a user
// without one, next to the default history file.
func copiesDir() string {
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "apkgate", "branches")
	}
	return filepath.Join(".apkgate", "branches")
}

// OpenExisting opens the history for a command that needs one. Whether a remote history exists is
// known only by opening it.
func OpenExisting(ctx context.Context, c terminal.Console, address string) (runstore.Store, error) {
	if err := isThere(address); err != nil {
		return nil, err
	}
	return Open(ctx, c, address)
}

// OpenToRead opens the history for a command that changes nothing in it, also a file that can't be
// written, as in a cache. In an empty database, opening creates the tables nevertheless.
func OpenToRead(ctx context.Context, c terminal.Console, address string) (runstore.Store, error) {
	if err := isThere(address); err != nil {
		return nil, err
	}
	kind, err := kindOf(address)
	if err != nil {
		return nil, err
	}
	return openHistory(ctx, c, address, !kind.Shared() || kind.ReadOnly != "")
}

// IsShared reports whether the address is not a file on this computer.
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

// Shown returns the address of a history without its password.
func Shown(address string) string {
	kind, err := kindOf(address)
	if err != nil {
		return address
	}
	return kind.Show(address)
}

// Error classifies an error of the history: a wrong address is a usage error, the rest are
// infrastructure.
func Error(err error) error {
	for _, callers := range []error{runstore.ErrNotFound, runstore.ErrAmbiguous, runstore.ErrConflict, runstore.ErrNotComplete, runstore.ErrNotHistory, runstore.ErrNewer} {
		if errors.Is(err, callers) {
			return exit.Usage(err, "")
		}
	}
	if errors.As(err, new(*runstore.AddressError)) {
		return exit.Usage(err, "")
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return exit.Infrastructure(err)
}
