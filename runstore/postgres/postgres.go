// Package postgres stores a history in PostgreSQL: for a team whose history has outgrown a git
// branch, or that wants to query it with SQL.
//
// It owns the schema "apkgate" of a database, its migrations (docs/postgres.md), and finding the
// references of a run among a million without opening a record. It creates neither databases nor
// roles, and package runstore decides what is a reference.
//
// A server that is restarted in the middle neither loses a run nor adds it twice: failures that do
// not depend on the request are retried, and adding is safe to repeat since runs are named by their
// content.
//
// It has more files than other packages: each operation of a store has one.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/apkgate/apkgate/runstore"
)

// Options are the options of a store. The zero value is usable.
type Options struct {
	// ReadOnly never writes, and creates no schema.
	ReadOnly bool
	// Wait is how long to retry while the server is unavailable; 0: a minute. Opening retries for
	// half a minute at most.
	Wait time.Duration
	// Now dates runs and marks; nil: time.Now.
	Now func() time.Time
	// Waiting is called once for each wait for the server, with the reason; nil: never.
	Waiting func(what string, why error)
}

// Store is a history in a PostgreSQL database.
type Store struct {
	name    string // of the database, for errors: host, port and name, no password
	options Options
	pool    *pool
	names   *names
	opened  bool                      // it has been opened successfully
	stale   bool                      // some summaries followed older rules when it was opened, and may be updated
	told    atomic.Pointer[time.Time] // when the silence of the server was last reported
}

var _ runstore.Store = (*Store)(nil)

// Kind is the kind of histories in PostgreSQL databases.
var Kind = runstore.Kind{
	Schemes: []string{"postgres://", "postgresql://"}, Form: "postgres://…",
	Open: func(ctx context.Context, address string, o runstore.Opening) (runstore.Store, error) {
		return Open(ctx, address, Options{ReadOnly: o.ReadOnly, Now: o.Now, Waiting: o.Waiting})
	},
	Shown: shown,
}

// shown returns a URL without its password.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	query := u.Query()
	query.Del("password")
	u.RawQuery = query.Encode()
	return u.Redacted()
}

// Open opens the history in the database at a URL such as
// postgres://user@host:5432/db?sslmode=verify-full (libpq's "Connection URIs"). The variables of
// libpq (PGHOST, PGPASSWORD, PGSSLROOTCERT, …) supply what the URL omits, and ~/.pgpass a password.
// Open creates missing tables if the user may.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == 0 {
		o.Wait = time.Minute
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, badAddress(err)
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "apkgate"
	}
	if config.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		// A pooler that assigns a connection for each transaction does not support prepared
		// statements, and they gain little in a process that runs each query a few times.
		config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 15 * time.Second
	}
	s := &Store{name: nameOf(config), options: o, names: newNames()}
	s.pool = newPool(config, s.silent)
	if err := s.prepare(ctx); err != nil {
		return nil, s.wrap("open", errors.Join(err, s.Close()))
	}
	s.opened = true
	if s.stale && !o.ReadOnly {
		s.renewABit(ctx)
	}
	return s, nil
}

// badAddress returns an error about a URL, without the password in it.
func badAddress(err error) error {
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) {
		parse.ConnString = "" // the library redacts the password only where it finds it
	}
	return &runstore.Error{
		Err:    fmt.Errorf("open a history in PostgreSQL: the address can't be used: %w", err),
		Advice: "Write postgres://USER@HOST:5432/DATABASE?sslmode=verify-full, and give the password in PGPASSWORD or ~/.pgpass.",
	}
}

// nameOf returns a readable name of the database.
func nameOf(c *pgx.ConnConfig) string {
	host := c.Host
	if !strings.HasPrefix(host, "/") {
		host = net.JoinHostPort(host, strconv.Itoa(int(c.Port)))
	}
	return host + "/" + c.Database
}

// Close ends every connection.
func (s *Store) Close() error {
	s.pool.close()
	return nil
}

// wrap adds the operation and the history to an error.
func (s *Store) wrap(doing string, err error) error {
	return fmt.Errorf("%s history in PostgreSQL at %s: %w", doing, s.name, explain(err))
}

// silent reports that the server has not answered, once for each silence.
func (s *Store) silent(since, patience time.Duration) {
	now := time.Now()
	last := s.told.Swap(&now)
	if s.options.Waiting != nil && (last == nil || now.Sub(*last) > patience) {
		s.options.Waiting(s.waiting(patience), fmt.Errorf("%w for %v", errSilent, since.Round(time.Second)))
	}
}

func (s *Store) waiting(wait time.Duration) string {
	return fmt.Sprintf("waiting up to %v for PostgreSQL at %s", wait, s.name)
}

// ours selects the rows of the login role's tenant. Row-level security does the same for every role
// except a superuser; the sub-select evaluates the tenant once.
const ours = "tenant = (SELECT apkgate.tenant())"

// write runs f in a transaction, which is durable when write returns no error. If the server goes
// away or other sessions interfere, f runs again.
func (s *Store) write(ctx context.Context, f func(pgx.Tx) error) error {
	return s.writeFor(ctx, s.options.Wait, f)
}

// writeFor is write for statements that may take as long as patience.
func (s *Store) writeFor(ctx context.Context, patience time.Duration, f func(pgx.Tx) error) error {
	if s.options.ReadOnly {
		return fmt.Errorf("%w: it was opened to be read", runstore.ErrReadOnly)
	}
	return s.transact(ctx, "BEGIN", patience, f)
}

// read runs f on one snapshot of the history, unaffected by concurrent writes.
func (s *Store) read(ctx context.Context, f func(pgx.Tx) error) error {
	return s.transact(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", s.options.Wait, f)
}

// Limits that the server enforces: on waits for locks, which are then retried, and on a transaction
// of a process that was stopped. The limit of a statement ends somewhat before this side gives up,
// so that the server can return its reason.
const (
	lockLimit = 10 * time.Second
	idleLimit = 5 * time.Minute
)

func (s *Store) transact(ctx context.Context, begin string, patience time.Duration, f func(pgx.Tx) error) error {
	// They are part of BEGIN, since a pooler in front of the server does not pass on session
	// parameters. Every query has an index: a plan that reads a whole table results from missing or
	// outdated statistics. No query is worth compiling its plan (jit).
	begin = fmt.Sprintf("%s; SET LOCAL enable_seqscan = off; SET LOCAL jit = off; SET LOCAL lock_timeout = %d; SET LOCAL statement_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %d",
		begin, min(lockLimit, s.options.Wait/3).Milliseconds(), (patience * 9 / 10).Milliseconds(), idleLimit.Milliseconds())
	return s.again(ctx, func() error {
		conn, err := s.pool.take(ctx, patience)
		if err != nil {
			return err
		}
		defer s.pool.give(conn)
		return conn.line.why(within(ctx, conn, begin, f))
	})
}

// within runs f in a transaction.
func within(ctx context.Context, conn *connection, begin string, f func(pgx.Tx) error) error {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin})
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback(ctx) // if the connection is gone, so is the transaction
		return err
	}
	return tx.Commit(ctx)
}
