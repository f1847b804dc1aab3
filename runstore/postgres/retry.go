package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/apkgate/apkgate/runstore"
)

// Pauses between attempts: drawn evenly from zero up to a limit that doubles.
const (
	firstPause = 20 * time.Millisecond
	longPause  = 2 * time.Second
)

// openWait is how long to wait for a server that was never reached: as long as a restart takes.
// waitUntold is how much of that is not reported.
const (
	openWait   = 30 * time.Second
	waitUntold = time.Second
)

// again runs f until it succeeds, its error is permanent, or the time is over.
func (s *Store) again(ctx context.Context, f func() error) error {
	wait := s.options.Wait
	if !s.opened { // perhaps a wrong address
		wait = min(wait, openWait)
	}
	began := time.Now()
	deadline, told := began.Add(wait), s.options.Waiting == nil
	for attempt := 0; ; attempt++ {
		err := f()
		if err == nil || ctx.Err() != nil || !passing(err) || time.Now().After(deadline) {
			return err
		}
		if !told && time.Since(began) > min(waitUntold, wait) {
			told = true
			s.options.Waiting(s.waiting(wait), err)
		}
		pause := time.NewTimer(rand.N(min(longPause, firstPause<<min(attempt, 10))))
		select {
		case <-ctx.Done():
			pause.Stop()
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-pause.C:
		}
	}
}

// Error codes (PostgreSQL's appendix A).
const (
	codeNoPrivilege   = "42501"
	codeWrongPassword = "28P01"
	codeNoLogin       = "28000"
	codeNoDatabase    = "3D000"
	codeReadOnly      = "25006"
	codeFull          = "53100"
	codeLocked        = "55P03" // lock_timeout
	codeTooLong       = "57014" // statement_timeout
)

// passingCodes are temporary errors: the server stops or starts, or another transaction interfered.
var passingCodes = []string{
	"57P01", "57P02", "57P03", // shut down, crashed, starting up
	"53300",          // too many connections
	"40001", "40P01", // serialization, deadlock
	codeLocked,
}

// passing reports whether the same may succeed a little later.
func passing(err error) bool {
	if errors.Is(err, runstore.ErrDamaged) {
		return false // a truncated record is no broken connection
	}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return slices.Contains(passingCodes, answer.Code) || strings.HasPrefix(answer.Code, "08") // connection exceptions
	}
	var noHost *net.DNSError
	if errors.As(err, &noHost) && noHost.IsNotFound {
		return false
	}
	var network net.Error
	if isAny(err, errMeanwhile, errSilent, syscall.ECONNREFUSED, syscall.ENOENT) || isAny(err, broken...) {
		return true
	}
	return errors.As(err, &network) || pgconn.SafeToRetry(err) || strings.Contains(err.Error(), "conn closed")
}

// broken are the errors of a connection that was cut.
var broken = []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE}

func isAny(err error, of ...error) bool {
	return slices.ContainsFunc(of, func(one error) bool { return errors.Is(err, one) })
}

// explain converts the server's errors to package runstore's errors with a hint. It returns every
// other error as it is.
func explain(err error) error {
	var known *runstore.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if errors.Is(err, errSilent) {
		return hinted(err, "Look at the server, and at what lies before it: a proxy or a firewall may drop what is sent. What was acknowledged is kept; the same command may be run again.")
	}
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		var connect *pgconn.ConnectError
		if errors.As(err, &connect) {
			return hinted(err, "Check that the server runs, and the host and port of the address.")
		}
		if isAny(err, broken...) && !errors.Is(err, runstore.ErrDamaged) {
			return hinted(fmt.Errorf("the connection breaks each time: %w", err), "Look at what lies between: a proxy, a firewall, the network. What was acknowledged is kept; the same command may be run again.")
		}
		return err
	}
	if answer.Code == codeLocked && errors.Is(err, errUpgrading) {
		return hinted(fmt.Errorf("%w: %w", runstore.ErrBusy, err), "Run the same command again when it has ended: it takes some minutes of a million runs, see docs/postgres.md.")
	}
	switch answer.Code {
	case codeNoPrivilege, codeReadOnly:
		return hinted(fmt.Errorf("%w: %w", runstore.ErrReadOnly, err), "Open it as a role that may write, see docs/postgres.md.")
	case codeWrongPassword, codeNoLogin:
		return hinted(err, "Check the user of the address, and the password in PGPASSWORD or ~/.pgpass.")
	case codeNoDatabase:
		return hinted(err, "Make the database first: createdb, see docs/postgres.md.")
	case codeLocked:
		return hinted(fmt.Errorf("%w: another session holds what this needs: %w", runstore.ErrBusy, err), "SELECT pid, query FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' says which; run the same command again when it has ended.")
	case codeTooLong:
		return hinted(err, "The server took too long to answer: see what else it is doing (pg_stat_activity), and docs/postgres.md for the sizes that were measured.")
	case codeFull:
		return hinted(fmt.Errorf("%w: %w", runstore.ErrFull, err), "Free some space on the server. What was acknowledged before is kept.")
	}
	return err
}

func hinted(err error, advice string) error { return &runstore.Error{Err: err, Advice: advice} }
