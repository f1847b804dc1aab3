package gitbranch

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/sqlite"
)

// The files of a local copy, next to the private repository.
const (
	stateFile  = "state.db"
	repoFolder = "repo.git"
	indexFile  = "index-%d.db" // with its generation
)

// stateSchema records how far the copy follows the branch.
const stateSchema = `
CREATE TABLE IF NOT EXISTS state (tip TEXT NOT NULL, generation INTEGER NOT NULL) STRICT;
INSERT INTO state SELECT '', 1 WHERE NOT EXISTS (SELECT 1 FROM state);
CREATE TABLE IF NOT EXISTS segments (path TEXT PRIMARY KEY, damage TEXT NOT NULL) STRICT, WITHOUT ROWID;
PRAGMA user_version = 1`

// openState opens the record of how far the copy follows the branch. Its write transaction is also
// the lock between processes that share a copy: it ends with the process, however that ends.
func (s *Store) openState(ctx context.Context) error {
	abs, err := filepath.Abs(filepath.Join(s.dir, stateFile))
	if err != nil {
		return err
	}
	query := url.Values{"_txlock": {"immediate"}, "_busy_timeout": {fmt.Sprint(s.options.Wait.Milliseconds())}, "_journal_mode": {"DELETE"}}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs), RawQuery: query.Encode()}
	if s.state, err = sql.Open("sqlite", u.String()); err != nil {
		return err
	}
	s.state.SetMaxOpenConns(1)
	had := s.locked()
	tx, err := s.state.BeginTx(ctx, nil)
	had()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if _, err := tx.ExecContext(ctx, stateSchema); err != nil {
		return err
	}
	return tx.Commit()
}

// locked reports after a second that another process uses the local copy. The caller calls had once
// it has the lock.
func (s *Store) locked() (had func()) {
	return runstore.Waiting(s.options.Waiting).Soon(s.options.Wait, fmt.Sprintf("waiting up to %v for the local copy of the history, %s", s.options.Wait, s.dir), errInUse)
}

// errInUse is returned where another process uses the local copy.
var errInUse = errors.New("another apkgate uses it")

// work is one operation with exclusive use of the copy.
type work struct {
	*Store
	tx         *sql.Tx
	tip        string // the commit that the index follows, "" for no branch
	generation int
}

// alone runs f with exclusive use of the copy, and records what f has done unless it returns an
// error.
func (s *Store) alone(ctx context.Context, f func(*work) error) error {
	s.working.Lock()
	defer s.working.Unlock()
	had := s.locked()
	tx, err := s.state.BeginTx(ctx, nil)
	had()
	if err != nil {
		return copyError(s.dir, err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	w := &work{Store: s, tx: tx}
	if err := tx.QueryRowContext(ctx, "SELECT tip, generation FROM state").Scan(&w.tip, &w.generation); err != nil {
		return copyError(s.dir, err)
	}
	guard, err := s.takeGuard(ctx)
	if err != nil {
		return err
	}
	if guard != nil {
		defer giveGuard(guard)
	}
	s.repo.guard = guard
	fresh, err := s.repo.ready(ctx)
	if err != nil {
		return err
	}
	if fresh {
		w.tip = "" // the index follows a commit that the repository no longer has
	}
	switch err := s.follow(ctx, w.generation); {
	case isDamage(err):
		if err := w.startOver(ctx); err != nil {
			return err
		}
		w.tip = ""
	case err != nil:
		return err
	}
	if err := f(w); err != nil {
		return err
	}
	if err := w.noteDamage(ctx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE state SET tip = ?, generation = ?", w.tip, w.generation); err != nil {
		return copyError(s.dir, err)
	}
	return copyError(s.dir, tx.Commit())
}

// copyError is an error of the local copy, which loses nothing.
func copyError(dir string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if strings.Contains(err.Error(), "SQLITE_BUSY") {
		return &runstore.Error{
			Err:    fmt.Errorf("use the local copy in %s: %w: %w", dir, runstore.ErrBusy, err),
			Advice: "Wait for the other apkgate to end, or end it: nothing that it has acknowledged is lost.",
		}
	}
	return &runstore.Error{
		Err:    fmt.Errorf("keep the local copy in %s: %w", dir, err),
		Advice: "It is only a copy of the branch: the folder can be removed and is made again.",
	}
}

// follow opens the index of that generation where another one is open.
func (s *Store) follow(ctx context.Context, generation int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index != nil && s.generation == generation {
		return nil
	}
	index, err := sqlite.Open(ctx, s.indexPath(generation), sqlite.Options{Wait: s.options.Wait, Now: s.options.Now})
	if err != nil {
		return copyError(s.dir, err)
	}
	if s.index != nil {
		s.retired = append(s.retired, s.index) // it may still be read
	}
	s.index, s.generation = index, generation
	return nil
}

func (s *Store) indexPath(generation int) string {
	return filepath.Join(s.dir, fmt.Sprintf(indexFile, generation))
}

// current returns the present index.
func (s *Store) current() *sqlite.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index
}

// startOver removes every segment and begins an empty index: some indexed runs are no longer on the
// branch.
func (w *work) startOver(ctx context.Context) error {
	old := w.indexPath(w.generation)
	w.generation++
	fresh := w.indexPath(w.generation)
	for _, name := range []string{fresh, fresh + "-wal", fresh + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return copyError(w.dir, err)
		}
	}
	if err := w.follow(ctx, w.generation); err != nil {
		return err
	}
	w.garbage = append(w.garbage, old)
	_, err := w.tx.ExecContext(ctx, "DELETE FROM segments")
	return copyError(w.dir, err)
}

// known returns the indexed segments, with the damage of each.
func (w *work) known(ctx context.Context) (map[string]string, error) {
	rows, err := w.tx.QueryContext(ctx, "SELECT path, damage FROM segments")
	if err != nil {
		return nil, copyError(w.dir, err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var path, damage string
		if err := rows.Scan(&path, &damage); err != nil {
			return nil, copyError(w.dir, err)
		}
		out[path] = damage
	}
	return out, copyError(w.dir, rows.Err())
}

// note records that the segment, or its readable part, is indexed.
func (w *work) note(ctx context.Context, path, damage string) error {
	_, err := w.tx.ExecContext(ctx, "INSERT OR REPLACE INTO segments (path, damage) VALUES (?, ?)", path, damage)
	return copyError(w.dir, err)
}
