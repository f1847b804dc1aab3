// Package mux multiplexes the streams of one adb connection: between a host and a device's own
// adb port, and on the other side between a simulated phone and its hosts.
//
// It owns ids and flow control. It does not own connecting, authentication or what a stream is
// for. Its reader waits neither for a stream's user nor for the network, so an unread stream
// never blocks another. Flow control limits the data that is queued: each stream has one piece
// in progress until the other side is ready for more. Answers are not limited by flow control,
// because the other side may cause any number of them without reading; beyond maxQueue the
// session ends.
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
	// ErrClosed means that the stream or the session was closed on this side.
	ErrClosed = errors.New("the stream is closed")
	// ErrRefused means that the other side did not accept the stream.
	ErrRefused = errors.New("the service was refused")
)

// maxStreams limits the streams that the other side may have open at once.
const maxStreams = 1024

// maxQueue limits the messages that wait to be sent. A stream has at most four: its OPEN, a
// piece of data, an OKAY, its CLSE.
const maxQueue = 4 * maxStreams

// Config is the result of the handshake, and the handler of incoming streams.
type Config struct {
	// PeerVersion and PeerMaxPayload are from the other side's CNXN.
	PeerVersion, PeerMaxPayload uint32
	// Accept is called in a goroutine of its own for each stream that the other side opens. It
	// must close the stream; a stream that was never used is refused by that. If Accept is
	// nil, all streams are refused.
	Accept func(service string, s *Stream)
}

// Session is one connection with its streams.
type Session struct {
	conn       net.Conn
	accept     func(service string, s *Stream)
	sums       wire.Sums
	maxPayload int // that the other side accepts

	done chan struct{} // closed with the session

	mu      sync.Mutex
	err     error // the reason why the session ended
	streams map[uint32]*Stream
	lastID  uint32
	queue   []wire.Message // to be sent
	wake    chan struct{}  // holds a token while the queue isn't empty
}

// New takes over conn after the handshake; r reads from conn.
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

// Err returns the reason why the session ended, nil while it is open.
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

// Open opens a stream to the service and waits until the other side accepts it. If the other
// side does not, the error wraps ErrRefused.
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

// addLocked adds a stream under a free id.
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

// answerLocked queues an answer to the other side, unless too many answers are unread.
func (s *Session) answerLocked(m wire.Message) error {
	if len(s.queue) >= maxQueue {
		return fmt.Errorf("%w: it has %d messages answered and reads none of the answers", wire.ErrMalformed, maxQueue)
	}
	s.sendLocked(m)
	return nil
}

// transmit sends queued messages until the session ends.
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

// receive handles incoming messages until the connection ends.
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
		// The stream was opened, but has been cancelled on this side.
		return s.answerLocked(wire.Message{Command: wire.CLSE, Arg0: m.Arg1, Arg1: m.Arg0})
	case wire.WRTE:
		if stream := s.streams[m.Arg1]; stream != nil {
			return stream.handleData(m.Arg0, m.Payload)
		}
	case wire.CLSE:
		// An OPEN is refused by a CLSE from 0; older devices also close streams that way.
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

// trimNuls removes the NULs that older hosts append to a service's name.
func trimNuls(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}
