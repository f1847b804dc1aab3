// Package sqlite stores a history in one SQLite file: the default store, for one machine or a
// directory cached by a CI job.
//
// It owns the file's schema and its migrations (docs/format/history.md), and finding the references
// of a run among a million without opening a record. Package baseline decides what is a reference.
//
// What Add has acknowledged survives a kill and a power cut (write-ahead log, synced at every
// commit), and a file that is not ours, newer or damaged is reported and left unchanged.
package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
)

// Options are the options of a store. The zero value is usable.
type Options struct {
	// ReadOnly opens an existing file and changes nothing, even on a read-only medium, where no
	// file is left next to it. Where it can be written, a file of an older version is updated
	// first.
	ReadOnly bool
	// Wait is how long to wait for another process that writes; 0: a minute.
	Wait time.Duration
	// Waiting is called while another process is waited for; nil: never.
	Waiting runstore.Waiting
	// Now dates runs and marks; nil: time.Now.
	Now func() time.Time
}

// Kind is the kind of stores in SQLite files.
var Kind = runstore.Kind{
	Form: "a file",
	Open: func(ctx context.Context, path string, o runstore.Opening) (runstore.Store, error) {
		return Open(ctx, path, Options{ReadOnly: o.ReadOnly, Now: o.Now, Waiting: o.Waiting})
	},
}

// Store is a history in an SQLite file.
type Store struct {
	path    string
	db      *sql.DB // for writing; nil for a read-only store
	readers *sql.DB // limited to reading by SQLite
	now     func() time.Time
	wait    time.Duration // for another process that writes
	waiting runstore.Waiting
	stale   bool        // its summaries follow older rules, and can't be updated
	bare    bool        // it has no separate ANRs, and gets none
	mute    bool        // it has no columns for outcomes, and gets none
	still   fs.FileInfo // the file's state when it was opened, if nobody should write to it; else nil
	// writing keeps the writers of this process from polling for the lock.
	writing sync.Mutex
	// structure is whether the file's trees are intact.
	structure structure
}

var _ runstore.Store = (*Store)(nil)

// connections is the maximum number of concurrent readers in one process.
const connections = 8

// Open opens the history in the file at path, and creates it, including its directory, where there
// is none.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == 0 {
		o.Wait = time.Minute
	}
	how := toWrite
	if o.ReadOnly {
		how = toRead
	}
	s, err := open(ctx, path, o, how)
	if errors.Is(err, errOutdated) {
		s, err = openUpdated(ctx, path, o)
	}
	if known := explain(err); o.ReadOnly && (errors.Is(known, runstore.ErrReadOnly) || errors.Is(known, runstore.ErrFull)) {
		s, err = openUnwritable(ctx, path, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open history %s: %w", path, explain(err))
	}
	return s, nil
}

// access is how a file is opened.
type access int

const (
	toWrite access = iota
	// toRead keeps SQLite's log next to the file while it is open, for the sake of writers, and so
	// needs the right to write.
	toRead
	// asLeft reads a file with a log that was left behind or is being written.
	asLeft
	// immutable reads a file that nobody writes to, and takes no lock.
	immutable
)

// openUpdated updates a file, then opens it for reading.
func openUpdated(ctx context.Context, path string, o Options) (*Store, error) {
	s, err := open(ctx, path, o, toWrite)
	if err == nil {
		err = s.db.Close()
	}
	if err != nil {
		return nil, err
	}
	return open(ctx, path, o, toRead)
}

// openUnwritable opens a file that can't be written, or whose folder can't, or on a disk without
// room for SQLite's index of the log.
func openUnwritable(ctx context.Context, path string, o Options) (*Store, error) {
	if hasLog(path) {
		return open(ctx, path, o, asLeft)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, path, o, immutable)
	if err == nil {
		s.still = info
	}
	return s, err
}

// hasLog reports whether the file has a non-empty write-ahead log. Without one it can be read even
// where SQLite can't create its lock next to it, as in a cache that is mounted read-only: nobody is
// writing.
func hasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

func open(ctx context.Context, path string, o Options, how access) (*Store, error) {
	if err := checkFile(path, how); err != nil {
		return nil, err
	}
	s := &Store{path: path, now: o.Now, wait: o.Wait, waiting: o.Waiting}
	var err error
	if s.readers, err = connect(path, o, how, connections, "query_only(1)"); err != nil {
		return nil, err
	}
	if how == toWrite {
		if s.db, err = connect(path, o, how, 1); err != nil {
			return nil, errors.Join(err, s.readers.Close())
		}
	}
	if err := s.prepare(ctx, o, how); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// connect creates a pool of at most n connections, each with the pragmas.
func connect(path string, o Options, how access, n int, pragmas ...string) (*sql.DB, error) {
	name, err := dataSource(path, o, how, pragmas)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// sqliteMagic begins every SQLite file (SQLite's "Database File Format", 1.3.1).
var sqliteMagic = []byte("SQLite format 3\x00")

// checkFile checks the file before SQLite does, which would write next to it.
func checkFile(path string, how access) error {
	flag := os.O_RDONLY
	if how == toRead {
		flag = os.O_RDWR
	}
	f, err := os.OpenFile(path, flag, 0)
	if errors.Is(err, os.ErrNotExist) && how == toWrite {
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

// dataSource returns the data source of the file, with the settings of every connection to it.
func dataSource(path string, o Options, how access, pragmas []string) (string, error) {
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
		"_pragma":       append([]string{"cache_size(-16000)", "trusted_schema(0)", "cell_size_check(1)"}, pragmas...),
	}
	switch how {
	case immutable:
		query.Set("immutable", "1")
		fallthrough
	case asLeft:
		query.Set("mode", "ro")
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs), RawQuery: query.Encode()}
	return u.String(), nil
}

// Close ends every connection to the file.
func (s *Store) Close() error {
	if err := s.close(); err != nil {
		return fmt.Errorf("close history %s: %w", s.path, explain(err))
	}
	return nil
}

// close closes the writer last: the last connection checkpoints the log.
func (s *Store) close() error {
	err := s.readers.Close()
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	return err
}

// write runs f in the only writing transaction. It is committed and durable when write returns no
// error, else rolled back.
func (s *Store) write(ctx context.Context, f func(*prepared.Tx) error) error {
	if s.db == nil {
		return readOnly(errors.New("it was opened to be read"))
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	defer s.forget()
	return transact(ctx, s.db, nil, s.locked(), f)
}

// locked reports waiting for the lock, until had is called.
func (s *Store) locked() (had func()) {
	return s.waiting.Soon(s.wait, fmt.Sprintf("waiting up to %v for the history %s", s.wait, s.path), runstore.ErrBusy)
}

// read runs f on one state of the history, unaffected by concurrent writes. SQLite prevents it from
// changing anything.
func (s *Store) read(ctx context.Context, f func(*prepared.Tx) error) error {
	err := transact(ctx, s.readers, &sql.TxOptions{ReadOnly: true}, func() {}, f)
	if s.still == nil {
		return err
	}
	info, statErr := os.Stat(s.path)
	if statErr != nil {
		return statErr
	}
	if hasLog(s.path) || !info.ModTime().Equal(s.still.ModTime()) || info.Size() != s.still.Size() {
		return &runstore.Error{
			Err:    errors.New("the history was written to while it was read without a lock"),
			Advice: "Try again. With the right to write the file and its directory, reading and writing don't disturb each other.",
		}
	}
	return err
}

func transact(ctx context.Context, db *sql.DB, o *sql.TxOptions, begun func(), f func(*prepared.Tx) error) error {
	tx, err := db.BeginTx(ctx, o)
	begun()
	if err != nil {
		return explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if err := f(prepared.Statements(tx)); err != nil {
		return explain(err)
	}
	return explain(tx.Commit())
}
