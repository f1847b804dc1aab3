// Package sqlite keeps a history in one SQLite file: the default store, for one
// machine or a directory that a CI job caches.
//
// It owns the file's schema and its migrations (docs/format/history.md), and
// finding the references of a run among a million without opening a record. It
// does not decide what is a reference; package baseline does.
//
// It takes a stand: what Add has acknowledged survives a kill and a power cut
// (write-ahead log, synced at every commit), and a file that is not ours, is
// newer than we are or is damaged is said to be so and left as it is.
package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/apkgate/apkgate/baseline"
)

// Options are what can be changed about a store. The zero value is good.
type Options struct {
	// ReadOnly opens a file that is there and never writes to it, also on a
	// medium that can't be written.
	ReadOnly bool
	// Wait is how long to wait for another process that writes; 0: a minute.
	Wait time.Duration
	// Now dates runs and marks; nil: time.Now.
	Now func() time.Time
}

// Store is a history in an SQLite file.
type Store struct {
	path string
	db   *sql.DB
	now  func() time.Time
	// writing keeps the writers of this process from polling for the lock.
	writing sync.Mutex
}

var _ baseline.Store = (*Store)(nil)

// connections is how many readers can be under way at once in one process.
const connections = 8

// Open opens the history in the file at path, and creates it, its directory
// too, where there is none.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == 0 {
		o.Wait = time.Minute
	}
	s, err := open(ctx, path, o, "")
	if o.ReadOnly && errors.Is(explain(err), baseline.ErrReadOnly) && !hasLog(path) {
		s, err = open(ctx, path, o, "immutable")
	}
	if err != nil {
		return nil, fmt.Errorf("open history %s: %w", path, explain(err))
	}
	return s, nil
}

// hasLog reports whether the file has a write-ahead log with something in it.
// Without one it can be read even where SQLite can't put its lock beside it, as
// in a cache that is mounted read-only: nobody is writing.
func hasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// open opens the file; flag is a parameter of SQLite's file names to set, or "".
func open(ctx context.Context, path string, o Options, flag string) (*Store, error) {
	if err := checkFile(path, o.ReadOnly); err != nil {
		return nil, err
	}
	name, err := dataSource(path, o, flag)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	s := &Store{path: path, db: db, now: o.Now}
	if err := s.prepare(ctx, o); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// sqliteMagic begins every SQLite file (SQLite's "Database File Format", 1.3.1).
var sqliteMagic = []byte("SQLite format 3\x00")

// checkFile looks at the file before SQLite does, which would write beside it.
func checkFile(path string, readOnly bool) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) && !readOnly {
		return os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if n > 0 && !bytes.Equal(head, sqliteMagic) {
		return notHistory("the file is no SQLite database")
	}
	return nil
}

// dataSource names the file and what holds for every connection to it.
func dataSource(path string, o Options, flag string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	query := url.Values{
		"_txlock":       {"immediate"},
		"_busy_timeout": {fmt.Sprint(o.Wait.Milliseconds())},
		"_synchronous":  {"FULL"},
		"_foreign_keys": {"on"},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
		"_error_rc":     {"1"},
		"_pragma":       {"cache_size(-16000)", "trusted_schema(0)", "cell_size_check(1)"},
	}
	if o.ReadOnly {
		query.Set("mode", "ro")
	}
	if flag != "" {
		query.Set(flag, "1")
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs), RawQuery: query.Encode()}
	return u.String(), nil
}

// Close ends every connection to the file.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close history %s: %w", s.path, explain(err))
	}
	return nil
}
