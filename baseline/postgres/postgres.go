// Package postgres keeps a history in PostgreSQL: for a team whose history has
// outgrown a git branch, or that wants to ask it questions of its own.
//
// It owns the schema "apkgate" of a database, its migrations (docs/postgres.md),
// and finding the references of a run among a million without opening a record.
// It does not make databases or roles, and it does not decide what is a
// reference; package baseline does.
//
// It takes a stand: a server that is restarted in the middle is no reason to lose
// a run or to add it twice. What does not depend on the request is tried again,
// and adding is safe to repeat since runs are named by their content.
//
// It has more files than other packages: each thing that a store does has one.
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

	"github.com/apkgate/apkgate/baseline"
)

// Options are what can be changed about a store. The zero value is good.
type Options struct {
	// ReadOnly never writes, and makes no schema.
	ReadOnly bool
	// Wait is how long to go on trying when the server is not there; 0: a minute.
	// Opening tries for half a minute at most.
	Wait time.Duration
	// Now dates runs and marks; nil: time.Now.
	Now func() time.Time
	// Waiting is told once of each wait for the server, and why; nil: nobody.
	Waiting func(what string, why error)
}

// Store is a history in a PostgreSQL database.
type Store struct {
	name    string // of the database, for errors: host, port and name, no password
	options Options
	pool    *pool
	names   *names
	opened  bool                      // it was there once
	stale   bool                      // some summaries followed older rules when it was opened, and may be changed
	told    atomic.Pointer[time.Time] // when a silence of the server was told last
}

var _ baseline.Store = (*Store)(nil)

// Kind is how PostgreSQL databases keep histories.
var Kind = baseline.Kind{
	Schemes: []string{"postgres://", "postgresql://"}, Form: "postgres://…",
	Open: func(ctx context.Context, address string, o baseline.Opening) (baseline.Store, error) {
		return Open(ctx, address, Options{ReadOnly: o.ReadOnly, Now: o.Now, Waiting: o.Waiting})
	},
	Shown: shown,
}

// shown is a URL without a password.
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
// postgres://user@host:5432/db?sslmode=verify-full (libpq's "Connection URIs").
// What the URL leaves out comes from the variables of libpq (PGHOST, PGPASSWORD,
// PGSSLROOTCERT, …), a password also from ~/.pgpass. Tables are made where there
// are none and the user may.
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
		// A pooler that lends a connection for a transaction knows no prepared statements, and a
		// process that asks each question a few times has little of them.
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

// badAddress says what is wrong with a URL, without the password in it.
func badAddress(err error) error {
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) {
		parse.ConnString = "" // the library blacks the password out only where it finds it
	}
	return &baseline.Error{
		Err:    fmt.Errorf("open a history in PostgreSQL: the address can't be used: %w", err),
		Advice: "Write postgres://USER@HOST:5432/DATABASE?sslmode=verify-full, and give the password in PGPASSWORD or ~/.pgpass.",
	}
}

// nameOf names the database for people.
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

// wrap says what was being done to which history.
func (s *Store) wrap(doing string, err error) error {
	return fmt.Errorf("%s history in PostgreSQL at %s: %w", doing, s.name, explain(err))
}

// silent tells that the server has not answered, of one silence at a time.
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

// ours are the rows of the tenant of who is logged in. Row-level security says the same of
// every role but a superuser's; the sub-select has it looked up once.
const ours = "tenant = (SELECT apkgate.tenant())"

// write runs f in a transaction, which is durable when write returns no error.
// Where the server goes away or others are in the way, f runs again.
func (s *Store) write(ctx context.Context, f func(pgx.Tx) error) error {
	return s.writeFor(ctx, s.options.Wait, f)
}

// writeFor is write with statements that may take so long.
func (s *Store) writeFor(ctx context.Context, patience time.Duration, f func(pgx.Tx) error) error {
	if s.options.ReadOnly {
		return fmt.Errorf("%w: it was opened to be read", baseline.ErrReadOnly)
	}
	return s.transact(ctx, "BEGIN", patience, f)
}

// read runs f on one state of the history, whatever is written meanwhile.
func (s *Store) read(ctx context.Context, f func(pgx.Tx) error) error {
	return s.transact(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", s.options.Wait, f)
}

// Limits that the server keeps itself: on waiting for others' locks, after which the same is
// tried again, and on a transaction of a process that was stopped. That of a statement ends
// somewhat before this side gives it up, so that its reason comes back.
const (
	lockLimit = 10 * time.Second
	idleLimit = 5 * time.Minute
)

func (s *Store) transact(ctx context.Context, begin string, patience time.Duration, f func(pgx.Tx) error) error {
	// They come with the beginning, since a pooler before the server passes on no parameters
	// of a session.
	// Every question has an index: a plan that reads all of a table comes of statistics that are
	// absent or old. Of a server that compiles its plans first, none is worth that.
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
		_ = tx.Rollback(ctx) // where the connection is gone, so is the transaction
		return err
	}
	return tx.Commit(ctx)
}
