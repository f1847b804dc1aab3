package adb

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// call is one stream in use: reading and writing on it end with the context, and
// with the silence that is allowed.
type call struct {
	stream io.ReadWriteCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	unhook func() bool

	mu      sync.Mutex
	patient time.Duration // how long silence may last, 0 for ever
	timer   *time.Timer
}

// newCall takes over the stream. It is closed as soon as ctx ends.
func newCall(ctx context.Context, stream io.ReadWriteCloser, patient time.Duration) *call {
	c := &call{stream: stream}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.unhook = context.AfterFunc(c.ctx, func() { stream.Close() })
	c.allow(patient)
	return c
}

// allow sets how long silence may last from now on; 0 or less means for ever.
func (c *call) allow(patient time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.patient = patient
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	if patient > 0 {
		c.timer = time.AfterFunc(patient, func() { c.cancel(silence(patient)) })
	}
}

// heard says that there was no silence.
func (c *call) heard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Reset(c.patient)
	}
}

func (c *call) Read(p []byte) (int, error) {
	n, err := c.stream.Read(p)
	if n > 0 {
		c.heard()
	}
	return n, c.reason(err)
}

func (c *call) Write(p []byte) (int, error) {
	n, err := c.stream.Write(p)
	if n > 0 {
		c.heard()
	}
	return n, c.reason(err)
}

// reason is why reading or writing ended: the context, or silence, where it was
// one of these that closed the stream.
func (c *call) reason(err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	return err
}

// errEnded is why a call ended that its user closed.
var errEnded = errors.New("the command was hung up")

// Close ends the call and its stream, once.
func (c *call) Close() error {
	c.allow(0)
	last := c.unhook() // before the cancellation, which would close the stream some time later
	c.cancel(errEnded)
	if last {
		return c.stream.Close()
	}
	return nil
}
