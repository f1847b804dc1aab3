package recording

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
)

// stream is a background process as its reader sees it. Its output arrives when it is
// released, and release returns once the reader has consumed it.
type stream struct {
	hangUp func() // ends the process behind it; nil for none

	mu      sync.Mutex
	changed *sync.Cond
	ready   []byte
	ended   bool
	err     error // the read error, nil for io.EOF
	exit    int
	waitErr error
	stderr  []byte
	closed  bool
	waiting bool // the reader waits for data
	ignored bool // nobody reads it, so release does not wait
}

var _ device.Process = (*stream)(nil)

func newStream(hangUp func()) *stream {
	s := &stream{hangUp: hangUp}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// until closes the stream when ctx ends, like a connection.
func (s *stream) until(ctx context.Context) { context.AfterFunc(ctx, func() { _ = s.Close() }) }

var errHungUp = errors.New("the command was hung up")

// Stdout implements device.Process.
func (s *stream) Stdout() io.Reader { return (*output)(s) }

type output stream

// Read reads the released output.
func (o *output) Read(p []byte) (int, error) {
	s := (*stream)(o)
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.closed:
			return 0, errHungUp
		case len(s.ready) > 0:
			n := copy(p, s.ready)
			s.ready = s.ready[n:]
			return n, nil
		case s.ended && s.err != nil:
			return 0, s.err
		case s.ended:
			return 0, io.EOF
		}
		s.waiting = true
		s.changed.Broadcast()
		s.changed.Wait()
		s.waiting = false
	}
}

// Stderr implements device.Process.
func (s *stream) Stderr() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]byte(nil), s.stderr...)
}

// Wait implements device.Process.
func (s *stream) Wait() (int, error) {
	if _, err := io.Copy(io.Discard, s.Stdout()); err != nil {
		return -1, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exit, s.waitErr
}

// Close implements device.Process. It marks the reader as finished.
func (s *stream) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	if first && s.hangUp != nil {
		s.hangUp()
	}
	return nil
}

// consumeTimeout limits how long a reader may take to consume its data, in this computer's time.
const consumeTimeout = 10 * time.Second

// release gives output to the reader, and returns when the reader has consumed it: when it
// asks for more or closes the stream.
func (s *stream) release(printed []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.ready = append(s.ready, printed...)
	s.await(func() bool { return s.waiting && len(s.ready) == 0 })
}

// end ends the stream, and returns when the reader is finished with it.
func (s *stream) end(readErr error, exit int, waitErr error, stderr []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.err, s.exit, s.waitErr, s.stderr = true, readErr, exit, waitErr, stderr
	s.await(func() bool { return false })
}

// await waits for a condition of the reader, or until the stream is closed.
func (s *stream) await(done func() bool) {
	s.waiting = false
	s.changed.Broadcast()
	if s.ignored {
		return
	}
	over := false
	timer := time.AfterFunc(consumeTimeout, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		over = true
		s.changed.Broadcast()
	})
	defer timer.Stop()
	for !done() && !s.closed && !over {
		s.changed.Wait()
	}
	s.ignored = s.ignored || over
}
