package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// connections is how many connections one process has at most.
const connections = 8

// pool lends connections: idle ones that are still open, else new ones.
type pool struct {
	config *pgx.ConnConfig
	slots  chan struct{} // one for each connection that is lent
	idle   chan *pgx.Conn
}

func newPool(config *pgx.ConnConfig) *pool {
	return &pool{config: config, slots: make(chan struct{}, connections), idle: make(chan *pgx.Conn, connections)}
}

// take lends a connection. The caller gives it back.
func (p *pool) take(ctx context.Context) (*pgx.Conn, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		select {
		case conn := <-p.idle:
			if !conn.IsClosed() {
				return conn, nil
			}
		default:
			conn, err := pgx.ConnectConfig(ctx, p.config.Copy())
			if err != nil {
				<-p.slots
			}
			return conn, err
		}
	}
}

// give takes a connection back. One that is in the middle of something is of no
// more use.
func (p *pool) give(conn *pgx.Conn) {
	const idle = 'I' // the server's "Message Formats", ReadyForQuery
	if conn.IsClosed() || conn.PgConn().TxStatus() != idle {
		closeConn(conn)
	} else {
		p.idle <- conn
	}
	<-p.slots
}

// close ends the connections that nobody has borrowed.
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

func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // it is gone in any case
}
