// Package branch keeps a history on an orphan branch of a git repository, where
// a team shares it without a server: compressed files that never change, one or
// more for each writing.
//
// It owns the branch's layout (docs/format/branch.md), how writers that push at
// the same time come together, and a local copy: a private bare repository and
// an index in SQLite, which answers every question. It does not touch the user's
// work tree or index, and it asks for no password: git reaches the remote the
// way it is set up, or not at all.
//
// It takes a stand: the branch is the truth, and a run is acknowledged when the
// remote has it. The local copy can be removed at any time. A branch that holds
// something else is never written to, and a file on it that can't be read is
// told by Verify and hides no other.
//
// It has more files than other packages: each thing that is done to a branch has one.
package branch

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

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/sqlite"
)

// Options are what can be changed about a store. Dir is needed.
type Options struct {
	// Dir is the folder of the local copy. Copies of several branches lie in it
	// side by side.
	Dir string
	// WorkDir is a folder of the user's repository, whose remotes an address may
	// name; "": the current one.
	WorkDir string
	// Env is the environment that git gets; nil: the process's own.
	Env []string
	// ReadOnly never writes to the remote.
	ReadOnly bool
	// Wait is how long to go on trying while others write; 0: five minutes.
	Wait time.Duration
	// Silence is for how long the remote may say nothing; 0: a minute.
	Silence time.Duration
	// Waiting is told of a remote that is waited for, and why; nil: nobody.
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
	working sync.Mutex // held by what works on the copy

	mu         sync.Mutex // guards what follows
	index      *sqlite.Store
	generation int
	retired    []*sqlite.Store
	garbage    []string          // indexes to be removed
	damage     []baseline.Damage // what can't be read of the branch
}

var _ baseline.Store = (*Store)(nil)

// Open opens the history at the address and brings the local copy up to date. A
// branch that is not there yet is made by the first run that is added.
//
// What is read is the history as it was when it was opened, last written to or
// last synchronised.
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

// Sync brings the local copy up to date with the branch.
func (s *Store) Sync(ctx context.Context) error {
	return s.alone(ctx, func(w *work) error { return w.sync(ctx) })
}

// wrap says what was being done to which history.
func (s *Store) wrap(doing string, err error) error {
	return fmt.Errorf("%s history %s: %w", doing, s.address, err)
}

// Get implements baseline.Store.
func (s *Store) Get(ctx context.Context, id string) (baseline.Entry, error) {
	return s.current().Get(ctx, id)
}

// List implements baseline.Store. AddedAt is when this copy learnt of a run.
func (s *Store) List(ctx context.Context, f baseline.Filter) iter.Seq2[baseline.Entry, error] {
	return s.entries(ctx, func(index *sqlite.Store) iter.Seq2[baseline.Entry, error] { return index.List(ctx, f) })
}

// Export implements baseline.Store.
func (s *Store) Export(ctx context.Context, f baseline.Filter) iter.Seq2[baseline.Entry, error] {
	return s.entries(ctx, func(index *sqlite.Store) iter.Seq2[baseline.Entry, error] { return index.Export(ctx, f) })
}

// Close frees the local copy. It waits for what is being written.
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
