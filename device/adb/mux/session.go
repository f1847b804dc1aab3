// Package mux carries the many streams of one adb connection: between a host and
// a device's own adb port, and, seen from the other side, between a simulated
// phone and whoever connects to it.
//
// It owns ids and flow control. It does not own connecting, authentication or
// what a stream is for. Its reading side never waits for a stream's user nor for
// the network, so that one stream left unread never holds up another. What it has
// yet to send of streams is bounded by flow control, since each has one piece of
// data under way until the other side says that it is ready for more. The other
// side can have as much again be answered as it likes, without reading any of it:
// beyond maxQueue the session ends.
package mux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/apkgate/apkgate/device/adb/wire"
)

// Errors of streams.
var (
	// ErrClosed says that the stream or the session was closed on this side.
	ErrClosed = errors.New("the stream is closed")
	// ErrRefused says that the other side did not accept the stream.
	ErrRefused = errors.New("the service was refused")
)

// maxStreams bounds the streams that the other side may have open at once.
const maxStreams = 1024

// maxQueue bounds the messages that wait to be sent. No stream has more than four:
// its OPEN, a piece of data, the word that it takes more, its CLSE.
const maxQueue = 4 * maxStreams

// Config is what the handshake agreed on, and what to do with incoming streams.
type Config struct {
	// PeerVersion and PeerMaxPayload are of the other side's CNXN.
	PeerVersion, PeerMaxPayload uint32
	// Accept is called in a goroutine of its own for each stream that the other
	// side opens. It ends in Close; a stream never used is thereby refused.
	// Where it is nil, all are refused.
	Accept func(service string, s *Stream)
}

// Session is one connection with its streams.
type Session struct {
	conn       net.Conn
	accept     func(service string, s *Stream)
	sums       wire.Sums
	maxPayload int // that the other side takes

	done chan struct{} // closed with the session

	mu      sync.Mutex
	err     error // why the session ended
	streams map[uint32]*Stream
	lastID  uint32
	queue   []wire.Message // to be sent
	wake    chan struct{}  // holds a token while the queue isn't empty
}

// New takes over conn, from which r reads, after the handshake.
func New(conn net.Conn, r io.Reader, config Config) *Session {
	s := &Session{
		conn:       conn,
		accept:     config.Accept,
		sums:       wire.SumsAt(wire.Version, config.PeerVersion),
		maxPayload: int(min(config.PeerMaxPayload, wire.MaxPayload)),
		done:       make(chan struct{}),
		streams:    map[uint32]*Stream{},
		wake:       make(chan struct{}, 1),
	}
	go func() { s.end(s.receive(r)) }()
	go func() { s.end(s.transmit()) }()
	return s
}

// Done is closed when the connection is lost or closed.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err says why the session ended, nil while it has not.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close closes the connection and all streams.
func (s *Session) Close() error {
	s.end(ErrClosed)
	return nil
}

func (s *Session) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = err
	close(s.done)
	s.conn.Close()
	for _, stream := range s.streams {
		stream.endLocked(fmt.Errorf("the adb connection ended: %w", err))
	}
	clear(s.streams)
	s.queue = nil
}

// Open opens a stream to the service and waits until the other side accepts it.
// Where it does not, the error wraps ErrRefused.
func (s *Session) Open(ctx context.Context, service string) (*Stream, error) {
	payload := append([]byte(service), 0)
	if len(payload) > s.maxPayload {
		return nil, fmt.Errorf("opening %.40q…: %d bytes, at most %d allowed", service, len(payload), s.maxPayload)
	}
	s.mu.Lock()
	if s.err != nil {
		defer s.mu.Unlock()
		return nil, fmt.Errorf("the adb connection ended: %w", s.err)
	}
	stream := s.addLocked(0)
	s.sendLocked(wire.Message{Command: wire.OPEN, Arg0: stream.id, Payload: payload})
	s.mu.Unlock()

	select {
	case <-stream.opened:
		return stream, nil
	case <-ctx.Done():
		stream.Close()
		return nil, ctx.Err()
	case <-stream.ended:
		return stream.openedBeforeEnd()
	}
}

// addLocked makes a stream, under a free id.
func (s *Session) addLocked(remote uint32) *Stream {
	for {
		s.lastID++
		if _, taken := s.streams[s.lastID]; s.lastID != 0 && !taken {
			break
		}
	}
	stream := newStream(s, s.lastID, remote)
	s.streams[stream.id] = stream
	return stream
}

// sendLocked queues a message.
func (s *Session) sendLocked(m wire.Message) {
	if s.err != nil {
		return
	}
	s.queue = append(s.queue, m)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// answerLocked queues a message that the other side has asked for, as far as it
// reads what it asks for.
func (s *Session) answerLocked(m wire.Message) error {
	if len(s.queue) >= maxQueue {
		return fmt.Errorf("%w: it has %d messages answered and reads none of the answers", wire.ErrMalformed, maxQueue)
	}
	s.sendLocked(m)
	return nil
}

// transmit sends what is queued until the session ends.
func (s *Session) transmit() error {
	var frame []byte
	for {
		select {
		case <-s.done:
			return nil
		case <-s.wake:
		}
		s.mu.Lock()
		messages := s.queue
		s.queue = nil
		s.mu.Unlock()
		for _, m := range messages {
			frame = m.Append(frame[:0], s.sums)
			if _, err := s.conn.Write(frame); err != nil {
				return err
			}
		}
	}
}

// receive handles what the other side sends until the connection ends.
func (s *Session) receive(r io.Reader) error {
	for {
		m, err := wire.ReadMessage(r, wire.MaxPayload, s.sums)
		if err != nil {
			return err
		}
		if err := s.handle(m); err != nil {
			return err
		}
	}
}

func (s *Session) handle(m wire.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m.Command {
	case wire.OPEN:
		return s.handleOpen(m)
	case wire.OKAY:
		if stream := s.streams[m.Arg1]; stream != nil {
			stream.handleReady(m.Arg0)
			return nil
		}
		// Opened, but given up on this side meanwhile.
		return s.answerLocked(wire.Message{Command: wire.CLSE, Arg0: m.Arg1, Arg1: m.Arg0})
	case wire.WRTE:
		if stream := s.streams[m.Arg1]; stream != nil {
			return stream.handleData(m.Arg0, m.Payload)
		}
	case wire.CLSE:
		// An OPEN is refused by CLSE from 0; older devices close streams so too.
		if stream := s.streams[m.Arg1]; stream != nil && (m.Arg0 == 0 || m.Arg0 == stream.remote) {
			delete(s.streams, stream.id)
			stream.endLocked(io.EOF)
		}
	default:
		return fmt.Errorf("%w: an unexpected %v message", wire.ErrMalformed, m.Command)
	}
	return nil
}

func (s *Session) handleOpen(m wire.Message) error {
	if m.Arg0 == 0 {
		return fmt.Errorf("%w: a stream opened under the id 0", wire.ErrMalformed)
	}
	if s.accept == nil || len(s.streams) >= maxStreams {
		return s.answerLocked(wire.Message{Command: wire.CLSE, Arg1: m.Arg0})
	}
	stream := s.addLocked(m.Arg0)
	service := string(trimNuls(m.Payload))
	go s.accept(service, stream)
	return nil
}

// trimNuls removes what older hosts put behind a service's name.
func trimNuls(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}
