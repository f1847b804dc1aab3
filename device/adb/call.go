package adb

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// call is one stream in use. Reads and writes on it end when the context ends, or when the
// stream is silent for too long.
type call struct {
	stream io.ReadWriteCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	unhook func() bool

	mu         sync.Mutex
	maxSilence time.Duration // the longest silence allowed, 0 for no limit
	timer      *time.Timer
}

// newCall takes over the stream and closes it as soon as ctx ends.
func newCall(ctx context.Context, stream io.ReadWriteCloser, maxSilence time.Duration) *call {
	c := &call{stream: stream}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.unhook = context.AfterFunc(c.ctx, func() { stream.Close() })
	c.setMaxSilence(maxSilence)
	return c
}

// setMaxSilence sets the longest silence allowed from now on; 0 or less means no limit.
func (c *call) setMaxSilence(maxSilence time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.maxSilence = maxSilence
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	if maxSilence > 0 {
		c.timer = time.AfterFunc(maxSilence, func() { c.cancel(silence(maxSilence)) })
	}
}

// resetTimer restarts the silence timer.
func (c *call) resetTimer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Reset(c.maxSilence)
	}
}

func (c *call) Read(p []byte) (int, error) {
	n, err := c.stream.Read(p)
	if n > 0 {
		c.resetTimer()
	}
	return n, c.reason(err)
}

func (c *call) Write(p []byte) (int, error) {
	n, err := c.stream.Write(p)
	if n > 0 {
		c.resetTimer()
	}
	return n, c.reason(err)
}

// reason returns why a read or a write ended: the cause of the context, or the silence, where
// either of them closed the stream; otherwise err.
func (c *call) reason(err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	return err
}

// errEnded is the cause of a call that its user closed.
var errEnded = errors.New("the command was hung up")

// Close ends the call and its stream, once.
func (c *call) Close() error {
	c.setMaxSilence(0)
	last := c.unhook() // before the cancellation, which would close the stream asynchronously
	c.cancel(errEnded)
	if last {
		return c.stream.Close()
	}
	return nil
}
