// Package gitbranch stores a history on an orphan branch of a git repository, where a team shares it
// without a server: compressed files that never change, one or more for each push.
//
// It owns the branch's layout (docs/format/branch.md), how concurrent writers are merged, and a
// local copy: a private bare repository and an index in SQLite, which answers every query. It does
// not touch the user's work tree or index, and never asks for a password: git reaches the remote as
// configured, or not at all.
//
// The branch is authoritative, and a run is acknowledged when the remote has it. The local copy can
// be removed at any time. A branch with other content is never written to, and an unreadable file
// on it is reported by Verify and hides no other.
//
// It has more files than other packages: each operation on a branch has one.
package gitbranch

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/sqlite"
)

// Options are the options of a store. Dir is required.
type Options struct {
	// Dir is the folder of the local copy. Several branches can have their copies in it.
	Dir string
	// WorkDir is a folder of the user's repository, whose remotes an address may name; "": the
	// current one.
	WorkDir string
	// Env is git's environment; nil: that of the process.
	Env []string
	// ReadOnly never writes to the remote.
	ReadOnly bool
	// Wait is how long to retry while others write; 0: five minutes.
	Wait time.Duration
	// Silence is the timeout of a remote that does not answer; 0: a minute.
	Silence time.Duration
	// Waiting is called while the remote is waited for, with the reason; nil: never.
	Waiting func(what string, why error)
	// Now dates runs, marks and commits; nil: time.Now.
	Now func() time.Time
}

// Store is a history on a branch.
type Store struct {
	address Address
	dir     string
	options Options
	repo    repository
	state   *sql.DB
	working sync.Mutex // held while the copy is used

	mu         sync.Mutex // guards the following fields
	index      *sqlite.Store
	generation int
	retired    []*sqlite.Store
	garbage    []string          // indexes to be removed
	damage     []runstore.Damage // what is unreadable on the branch
}

var _ runstore.Store = (*Store)(nil)

// Open opens the history at the address and updates the local copy. A branch that does not exist is
// created by the first run that is added.
//
// Reads return the history as of when it was opened, last written to or last synchronized.
func Open(ctx context.Context, a Address, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == 0 {
		o.Wait = 5 * time.Minute
	}
	if o.Silence == 0 {
		o.Silence = silenceLimit
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	s := &Store{address: a, options: o}
	if err := s.open(ctx); err != nil {
		return nil, s.wrap("open", errors.Join(err, s.Close()))
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if s.options.Dir == "" {
		return errors.New("no folder is named for the local copy")
	}
	if err := s.address.check(); err != nil {
		return err
	}
	remote, err := findRemote(ctx, s.options.Env, s.options.WorkDir, s.address.Remote)
	if err != nil {
		return err
	}
	s.dir = filepath.Join(s.options.Dir, copyName(remote.url, s.address.Branch))
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the local copy: %w", err)
	}
	repo, err := filepath.Abs(filepath.Join(s.dir, repoFolder))
	if err != nil {
		return err
	}
	s.repo = repository{dir: repo, url: remote.url, branch: s.address.Branch, silence: s.options.Silence, waiting: s.options.Waiting}
	s.repo.env = gitEnv(s.options.Env, repo, remote.url, remote.access)
	if err := s.openState(ctx); err != nil {
		return copyError(s.dir, err)
	}
	if err := s.Sync(ctx); err != nil {
		return err
	}
	if err := s.current().Check(ctx); isDamage(err) {
		return s.renew(ctx)
	}
	return nil
}

// Sync updates the local copy from the branch.
func (s *Store) Sync(ctx context.Context) error {
	return s.alone(ctx, func(w *work) error { return w.sync(ctx) })
}

// wrap adds what was being done, and the history, to an error.
func (s *Store) wrap(doing string, err error) error {
	return fmt.Errorf("%s history %s: %w", doing, s.address, err)
}

// Get implements runstore.Store.
func (s *Store) Get(ctx context.Context, id string) (runstore.Entry, error) {
	return s.current().Get(ctx, id)
}

// List implements runstore.Store. AddedAt is when this copy received a run.
func (s *Store) List(ctx context.Context, f runstore.Filter) iter.Seq2[runstore.Entry, error] {
	return s.entries(ctx, func(index *sqlite.Store) iter.Seq2[runstore.Entry, error] { return index.List(ctx, f) })
}

// Export implements runstore.Store.
func (s *Store) Export(ctx context.Context, f runstore.Filter) iter.Seq2[runstore.Entry, error] {
	return s.entries(ctx, func(index *sqlite.Store) iter.Seq2[runstore.Entry, error] { return index.Export(ctx, f) })
}

// Close releases the local copy. It waits for ongoing writes.
func (s *Store) Close() error {
	s.working.Lock()
	defer s.working.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	if s.state != nil {
		errs = append(errs, s.state.Close())
	}
	if s.index != nil {
		errs = append(errs, s.index.Close())
	}
	for _, old := range s.retired {
		errs = append(errs, old.Close())
	}
	for _, name := range s.garbage { // another process may have it open; then it stays
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(name + suffix)
		}
	}
	s.state, s.index, s.retired, s.garbage = nil, nil, nil, nil
	return errors.Join(errs...)
}
