package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// connections is the maximum number of connections of a process: thousands of jobs may run at the
// same time, and a server has some hundreds for all of them.
const connections = 1

// pool lends connections: idle ones that are still open, else new ones.
type pool struct {
	config *pgx.ConnConfig
	silent func(since, patience time.Duration) // called where a server does not answer
	slots  chan struct{}                       // one for each connection that is lent
	idle   chan *connection
}

// connection is a connection to the server, with its socket.
type connection struct {
	*pgx.Conn
	line *line
}

func newPool(config *pgx.ConnConfig, silent func(since, patience time.Duration)) *pool {
	return &pool{config: config, silent: silent, slots: make(chan struct{}, connections), idle: make(chan *connection, connections)}
}

// take lends a connection with that timeout. The caller gives it back.
func (p *pool) take(ctx context.Context, patience time.Duration) (*connection, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		select {
		case conn := <-p.idle:
			if !conn.IsClosed() {
				conn.line.wait(patience)
				return conn, nil
			}
		default:
			config := p.config.Copy()
			line := dialling(config, min(patience, config.ConnectTimeout), p.silent)
			config.ConnectTimeout += time.Second // the line has the reason, a context only that it is over
			conn, err := pgx.ConnectConfig(ctx, config)
			if err != nil {
				<-p.slots
				return nil, err
			}
			(*line).wait(patience)
			return &connection{conn, *line}, nil
		}
	}
}

// give takes a connection back. One in the middle of an operation is discarded.
func (p *pool) give(conn *connection) {
	const idle = 'I' // the server's "Message Formats", ReadyForQuery
	if conn.IsClosed() || conn.PgConn().TxStatus() != idle {
		closeConn(conn)
	} else {
		p.idle <- conn
	}
	<-p.slots
}

// close closes the idle connections.
func (p *pool) close() {
	for {
		select {
		case conn := <-p.idle:
			closeConn(conn)
		default:
			return
		}
	}
}

func closeConn(conn *connection) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // it is gone in any case
}
