// Package prepared is a transaction that prepares each statement once, however often it is
// executed: for small statements that is most of their time.
//
// It neither begins nor ends transactions, and does not know the statements.
package prepared

import (
	"context"
	"database/sql"
)

// Tx is such a transaction.
type Tx struct {
	*sql.Tx
	statements map[string]*sql.Stmt // they end with the transaction
}

// Statements wraps a transaction that was begun.
func Statements(tx *sql.Tx) *Tx { return &Tx{tx, map[string]*sql.Stmt{}} }

func (t *Tx) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := t.statements[query]; ok {
		return s, nil
	}
	s, err := t.PrepareContext(ctx, query)
	if err == nil {
		t.statements[query] = s
	}
	return s, err
}

// ExecContext executes one statement. A script of several goes to Tx itself.
func (t *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := t.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// QueryContext is as in sql.Tx.
func (t *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := t.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// QueryRowContext is as in sql.Tx.
func (t *Tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := t.statement(ctx, query)
	if err != nil {
		return t.Tx.QueryRowContext(ctx, query, args...) // only it can make a row of an error
	}
	return s.QueryRowContext(ctx, args...)
}
