package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// errSilent is returned where the server, or something in front of it, keeps the connection open
// without answering.
var errSilent = errors.New("it has not answered")

// line is a connection's socket with timeouts: whatever is in between may drop packets without
// closing anything (RFC 1122, section 4.2.3.6, leaves such a connection open for two hours at
// least), and a stopped server process does not answer.
type line struct {
	net.Conn
	silent func(since, patience time.Duration) // called after waitUntold of each silence

	mu       sync.Mutex
	patience time.Duration // the timeout of a silence
	deadline time.Time     // set by others; zero for none
	gaveUp   error         // after its timeout
}

// dialling makes the configuration's sockets lines, and returns a pointer to the newest.
func dialling(config *pgx.ConnConfig, patience time.Duration, silent func(since, patience time.Duration)) **line {
	newest := new(*line)
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		l := &line{Conn: conn, silent: silent, patience: patience}
		*newest = l
		return l, nil
	}
	return newest
}

// Read waits for data until the timeout.
func (l *line) Read(b []byte) (int, error) {
	began, told := time.Now(), false
	for {
		ours, err := l.arm(began, told)
		if err != nil {
			return 0, err
		}
		n, err := l.Conn.Read(b)
		if !ours || n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || l.overruled() {
			return n, err
		}
		waited := time.Since(began)
		if waited >= l.patient() {
			return 0, l.giveUp()
		}
		if !told {
			told = true
			l.silent(waited, l.patient())
		}
	}
}

// Write sends until the timeout.
func (l *line) Write(b []byte) (int, error) {
	l.mu.Lock()
	next, ours := time.Now().Add(l.patience), true
	if !l.deadline.IsZero() && l.deadline.Before(next) {
		next, ours = l.deadline, false
	}
	err := l.Conn.SetWriteDeadline(next)
	l.mu.Unlock()
	if err != nil {
		return 0, err
	}
	n, err := l.Conn.Write(b)
	if ours && errors.Is(err, os.ErrDeadlineExceeded) && !l.overruled() {
		err = l.giveUp()
	}
	return n, err
}

// arm sets the deadline of the next read; false where others have set an earlier one.
func (l *line) arm(began time.Time, told bool) (ours bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := began.Add(min(waitUntold, l.patience))
	if told {
		next = began.Add(l.patience)
	}
	if !l.deadline.IsZero() && l.deadline.Before(next) {
		return false, l.Conn.SetReadDeadline(l.deadline)
	}
	return true, l.Conn.SetReadDeadline(next)
}

// overruled reports whether others have set a deadline in the meantime that has passed.
func (l *line) overruled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.deadline.IsZero() && !time.Now().Before(l.deadline)
}

// giveUp returns the error of a silent line. It is stored, as pgx returns the error of the
// connection being closed.
func (l *line) giveUp() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaveUp = fmt.Errorf("%w for %v", errSilent, l.patience)
	return l.gaveUp
}

// why returns the reason for an error on the line.
func (l *line) why(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && l.gaveUp != nil {
		return l.gaveUp
	}
	return err
}

func (l *line) patient() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.patience
}

// wait sets the timeout of a silence.
func (l *line) wait(patience time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.patience = patience
}

// SetDeadline is for the owner of the connection: pgx ends an operation by a deadline in the past.
func (l *line) SetDeadline(t time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deadline = t
	return l.Conn.SetDeadline(t)
}

// SetReadDeadline is SetDeadline for reading only.
func (l *line) SetReadDeadline(t time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deadline = t
	return l.Conn.SetReadDeadline(t)
}
