package mux

import (
	"context"
	"fmt"
	"io"

	"github.com/apkgate/apkgate/device/adb/wire"
)

// Stream is one stream of a session. One goroutine may read and another write at the same
// time; Close may be called from any goroutine.
//
// A stream can't be half-closed, since the protocol has no message for it.
type Stream struct {
	session *Session
	id      uint32

	opened chan struct{} // closed once both sides know the stream
	ended  chan struct{} // closed once nothing more can be sent
	inbox  chan struct{} // holds a token when data has arrived
	ready  chan struct{} // holds a token when the other side accepts more

	// The fields below are protected by the session's lock.
	remote    uint32 // the other side's id, 0 until it is known
	data      []byte // received but unread; at most one message
	ackDue    bool   // data was read, and the OKAY for it is due
	inFlight  bool   // a piece of data waits for its OKAY
	err       error  // why the stream ended; io.EOF where the other side closed it
	waiting   bool   // opened by the other side but not accepted yet
	closeSent bool   // closed on this side, and the CLSE was sent
}

func newStream(s *Session, id, remote uint32) *Stream {
	stream := &Stream{
		session: s,
		id:      id,
		remote:  remote,
		opened:  make(chan struct{}),
		ended:   make(chan struct{}),
		inbox:   make(chan struct{}, 1),
		ready:   make(chan struct{}, 1),
		waiting: remote != 0,
	}
	if stream.waiting {
		stream.ready <- struct{}{} // an OPEN implies that its sender is ready
	}
	return stream
}

// openedBeforeEnd returns the stream if it was accepted, even if it has ended since, and
// otherwise the reason why it was not accepted.
func (s *Stream) openedBeforeEnd() (*Stream, error) {
	select {
	case <-s.opened:
		return s, nil
	default:
	}
	if err := s.endReason(); err != io.EOF {
		return nil, err
	}
	return nil, ErrRefused
}

// Done is closed once the stream is no longer writable: closed on either side, or lost with
// the session.
func (s *Stream) Done() <-chan struct{} { return s.ended }

// Accept accepts a stream that the other side opened. The first use of the stream accepts it
// too.
func (s *Stream) Accept() {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	s.acceptLocked()
}

func (s *Stream) acceptLocked() {
	if !s.waiting || s.err != nil {
		return
	}
	s.waiting = false
	close(s.opened)
	s.session.sendLocked(wire.Message{Command: wire.OKAY, Arg0: s.id, Arg1: s.remote})
}

// Read reads data from the other side. It returns io.EOF after the other side has closed the
// stream.
func (s *Stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.Accept()
	for {
		n, err := s.take(p)
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-s.inbox:
		case <-s.ended:
			// Data that arrived before the end can still be read.
			if n, err := s.take(p); n > 0 || err != nil {
				return n, err
			}
		}
	}
}

// take moves unread data to p. Without any it returns 0, and the reason if the stream has
// ended.
func (s *Stream) take(p []byte) (int, error) {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	n := copy(p, s.data)
	s.data = s.data[n:]
	switch {
	case len(s.data) > 0:
	case n == 0:
		return 0, s.err
	case s.ackDue:
		s.ackDue = false
		s.data = nil
		if s.err == nil {
			s.session.sendLocked(wire.Message{Command: wire.OKAY, Arg0: s.id, Arg1: s.remote})
		}
	}
	return n, nil
}

// Write sends p in pieces of at most the peer's payload. It returns once the last piece is
// queued.
func (s *Stream) Write(p []byte) (int, error) {
	s.Accept()
	written := 0
	for written < len(p) {
		piece := p[written:min(len(p), written+s.session.maxPayload)]
		select {
		case <-s.ready:
		case <-s.ended:
			return written, s.writeError()
		}
		if !s.enqueue(piece) {
			return written, s.writeError()
		}
		written += len(piece)
	}
	return written, nil
}

// enqueue queues one piece, or returns false if the stream has ended.
func (s *Stream) enqueue(piece []byte) bool {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	if s.err != nil || s.closeSent {
		return false
	}
	s.inFlight = true
	s.session.sendLocked(wire.Message{
		Command: wire.WRTE, Arg0: s.id, Arg1: s.remote, Payload: append([]byte(nil), piece...),
	})
	return true
}

// writeError is endReason for a writer, to which io.EOF would be misleading.
func (s *Stream) writeError() error {
	if err := s.endReason(); err != io.EOF {
		return err
	}
	return fmt.Errorf("the other side closed the stream: %w", io.ErrClosedPipe)
}

func (s *Stream) endReason() error {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	return s.err
}

// Close closes the stream on both sides. A stream that the other side opened and that was
// never used is refused by that. A stream that the other side has closed is answered with a
// CLSE, as in adb.
func (s *Stream) Close() error {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	s.closeLocked()
	if s.session.streams[s.id] == s {
		delete(s.session.streams, s.id)
	}
	s.data = nil
	s.endLocked(ErrClosed)
	return nil
}

// CloseAndAwait closes the stream, and returns when the other side has closed it too or ctx
// has ended. Done is not closed before that.
func (s *Stream) CloseAndAwait(ctx context.Context) {
	s.session.mu.Lock()
	s.closeLocked()
	s.session.mu.Unlock()
	select {
	case <-s.ended:
	case <-ctx.Done():
	}
	s.Close()
}

// closeLocked sends CLSE, once.
func (s *Stream) closeLocked() {
	switch {
	case s.closeSent:
	case s.waiting:
		s.session.sendLocked(wire.Message{Command: wire.CLSE, Arg1: s.remote})
	case s.remote != 0:
		s.session.sendLocked(wire.Message{Command: wire.CLSE, Arg0: s.id, Arg1: s.remote})
	}
	s.closeSent = true
}

// endLocked ends the stream. Later calls have no effect.
func (s *Stream) endLocked(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	close(s.ended)
}

// handleReady handles an OKAY. An OKAY from an earlier stream of the same id is ignored
// (adb.cpp, handle_packet).
func (s *Stream) handleReady(remote uint32) {
	switch {
	case remote == 0:
		return
	case s.remote == 0:
		s.remote = remote
		close(s.opened)
	case s.remote != remote, !s.inFlight:
		return // not news about this stream
	}
	s.inFlight = false
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// handleData handles a WRTE, unless it is from another stream.
func (s *Stream) handleData(remote uint32, payload []byte) error {
	if s.remote == 0 || remote != s.remote {
		return nil
	}
	if s.closeSent {
		return nil // the other side has not yet received this side's CLSE
	}
	if s.ackDue {
		return fmt.Errorf("%w: data for stream %d before it was ready", wire.ErrMalformed, s.id)
	}
	if len(payload) == 0 {
		return s.session.answerLocked(wire.Message{Command: wire.OKAY, Arg0: s.id, Arg1: s.remote})
	}
	s.data, s.ackDue = payload, true
	select {
	case s.inbox <- struct{}{}:
	default:
	}
	return nil
}
