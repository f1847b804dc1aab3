package mux

import (
	"context"
	"fmt"
	"io"

	"github.com/apkgate/apkgate/device/adb/wire"
)

// Stream is one stream of a session. One goroutine may read and another write at
// the same time; Close may be called from anywhere.
//
// Writing on a stream never half-closes it: the protocol has no such thing.
type Stream struct {
	session *Session
	id      uint32

	opened chan struct{} // closed once both sides know of the stream
	ended  chan struct{} // closed once nothing more can be sent
	inbox  chan struct{} // holds a token when data came
	ready  chan struct{} // holds a token when the other side takes more

	// All below is the session's to lock.
	remote  uint32 // the other side's id, 0 until it is known
	data    []byte // received and unread; one message at most
	owed    bool   // the other side waits to hear that data was read
	busy    bool   // a piece of ours is under way
	reason  error  // why it ended; io.EOF where the other side closed it
	waiting bool   // opened by the other side and not accepted yet
	left    bool   // closed on this side, which the other side was told
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
		stream.ready <- struct{}{} // an OPEN says that its sender is ready
	}
	return stream
}

// openedBeforeEnd is the stream where it was accepted, however short its life,
// and otherwise the reason that it was not.
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

// Done is closed once the stream can't be written to any more: closed on either
// side, or lost with the session.
func (s *Stream) Done() <-chan struct{} { return s.ended }

// Accept tells the other side that the stream it opened is served. The first use
// of the stream accepts it too.
func (s *Stream) Accept() {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	s.acceptLocked()
}

func (s *Stream) acceptLocked() {
	if !s.waiting || s.reason != nil {
		return
	}
	s.waiting = false
	close(s.opened)
	s.session.sendLocked(wire.Message{Command: wire.OKAY, Arg0: s.id, Arg1: s.remote})
}

// Read reads what the other side wrote. After the other side closed the stream
// it returns io.EOF.
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
			// What came before the end is still to be read.
			if n, err := s.take(p); n > 0 || err != nil {
				return n, err
			}
		}
	}
}

// take moves unread data to p. Without any it returns 0, and the reason where
// the stream has ended.
func (s *Stream) take(p []byte) (int, error) {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	n := copy(p, s.data)
	s.data = s.data[n:]
	switch {
	case len(s.data) > 0:
	case n == 0:
		return 0, s.reason
	case s.owed:
		s.owed = false
		s.data = nil
		if s.reason == nil {
			s.session.sendLocked(wire.Message{Command: wire.OKAY, Arg0: s.id, Arg1: s.remote})
		}
	}
	return n, nil
}

// Write sends p, in pieces that the other side takes. It returns once the last
// piece is on its way.
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
		if !s.put(piece) {
			return written, s.writeError()
		}
		written += len(piece)
	}
	return written, nil
}

// put queues one piece, or says that the stream has ended.
func (s *Stream) put(piece []byte) bool {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	if s.reason != nil || s.left {
		return false
	}
	s.busy = true
	s.session.sendLocked(wire.Message{
		Command: wire.WRTE, Arg0: s.id, Arg1: s.remote, Payload: append([]byte(nil), piece...),
	})
	return true
}

// writeError is endReason for a writer, to whom io.EOF would say nothing.
func (s *Stream) writeError() error {
	if err := s.endReason(); err != io.EOF {
		return err
	}
	return fmt.Errorf("the other side closed the stream: %w", io.ErrClosedPipe)
}

func (s *Stream) endReason() error {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	return s.reason
}

// Close closes the stream on both sides. A stream that the other side opened and
// that was never used is refused thereby. One that the other side has closed is
// closed for good: it hears that, as adb does it.
func (s *Stream) Close() error {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	s.leaveLocked()
	if s.session.streams[s.id] == s {
		delete(s.session.streams, s.id)
	}
	s.data = nil
	s.endLocked(ErrClosed)
	return nil
}

// CloseAndAwait closes the stream, and returns when the other side has closed it
// too, or ctx has ended. Until then Done is not closed.
func (s *Stream) CloseAndAwait(ctx context.Context) {
	s.session.mu.Lock()
	s.leaveLocked()
	s.session.mu.Unlock()
	select {
	case <-s.ended:
	case <-ctx.Done():
	}
	s.Close()
}

// leaveLocked tells the other side, once, that the stream is closed here.
func (s *Stream) leaveLocked() {
	switch {
	case s.left:
	case s.waiting:
		s.session.sendLocked(wire.Message{Command: wire.CLSE, Arg1: s.remote})
	case s.remote != 0:
		s.session.sendLocked(wire.Message{Command: wire.CLSE, Arg0: s.id, Arg1: s.remote})
	}
	s.left = true
}

// endLocked ends the stream, the first time it is called.
func (s *Stream) endLocked(reason error) {
	if s.reason != nil {
		return
	}
	s.reason = reason
	close(s.ended)
}

// handleReady takes an OKAY. One from another stream than this one's, as late as it
// may be, is passed over (adb.cpp, handle_packet).
func (s *Stream) handleReady(remote uint32) {
	switch {
	case remote == 0:
		return
	case s.remote == 0:
		s.remote = remote
		close(s.opened)
	case s.remote != remote, !s.busy:
		return // it says nothing new of this one
	}
	s.busy = false
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// handleData takes a WRTE, unless it is from another stream.
func (s *Stream) handleData(remote uint32, payload []byte) error {
	if s.remote == 0 || remote != s.remote {
		return nil
	}
	if s.left {
		return nil // it has not heard yet that nobody reads here
	}
	if s.owed {
		return fmt.Errorf("%w: data for stream %d before it was ready", wire.ErrMalformed, s.id)
	}
	if len(payload) == 0 {
		return s.session.answerLocked(wire.Message{Command: wire.OKAY, Arg0: s.id, Arg1: s.remote})
	}
	s.data, s.owed = payload, true
	select {
	case s.inbox <- struct{}{}:
	default:
	}
	return nil
}
