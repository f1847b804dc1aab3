package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"

	"github.com/apkgate/apkgate/baseline"
)

// transaction is a transaction that prepares each statement once, however often
// it is carried out: for small statements that is most of their time.
type transaction struct {
	*sql.Tx
	prepared map[string]*sql.Stmt // they end with the transaction
}

func (t *transaction) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := t.prepared[query]; ok {
		return s, nil
	}
	s, err := t.PrepareContext(ctx, query)
	if err == nil {
		t.prepared[query] = s
	}
	return s, err
}

// ExecContext carries out one statement. A script of several goes to Tx itself.
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := t.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

func (t *transaction) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := t.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

func (t *transaction) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := t.statement(ctx, query)
	if err != nil {
		return t.Tx.QueryRowContext(ctx, query, args...) // only it can make a row of an error
	}
	return s.QueryRowContext(ctx, args...)
}

// write runs f in the one transaction that may write. It is committed and
// durable when write returns no error, and undone otherwise.
func (s *Store) write(ctx context.Context, f func(*transaction) error) error {
	if s.db == nil {
		return readOnly(errors.New("it was opened to be read"))
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	defer s.forget()
	return transact(ctx, s.db, nil, f)
}

// read runs f on one state of the history, whatever is written meanwhile. SQLite
// lets it change nothing.
func (s *Store) read(ctx context.Context, f func(*transaction) error) error {
	err := transact(ctx, s.readers, &sql.TxOptions{ReadOnly: true}, f)
	if s.still == nil {
		return err
	}
	info, statErr := os.Stat(s.path)
	if statErr != nil {
		return statErr
	}
	if hasLog(s.path) || !info.ModTime().Equal(s.still.ModTime()) || info.Size() != s.still.Size() {
		return &baseline.Error{
			Err:    errors.New("somebody has written to the history while it was read without a lock"),
			Advice: "Try again. With the right to write the file and its directory, reading and writing don't disturb each other.",
		}
	}
	return err
}

func transact(ctx context.Context, db *sql.DB, o *sql.TxOptions, f func(*transaction) error) error {
	tx, err := db.BeginTx(ctx, o)
	if err != nil {
		return explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if err := f(&transaction{tx, map[string]*sql.Stmt{}}); err != nil {
		return explain(err)
	}
	return explain(tx.Commit())
}
