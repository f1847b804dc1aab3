package adb

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
)

// closing is a stream whose Close fails.
type closing struct {
	closed bool
	err    error
}

func (c *closing) Read([]byte) (int, error)    { return 0, io.EOF }
func (c *closing) Write(p []byte) (int, error) { return len(p), nil }
func (c *closing) Close() error {
	c.closed = true
	return c.err
}

// A closed command is hung up before the next one begins.
func TestCallCloseClosesTheStream(t *testing.T) {
	t.Parallel()
	want := errors.New("it could not be sent")
	for range 100 {
		stream := &closing{err: want}
		c := newCall(context.Background(), stream, time.Minute)
		err := c.Close()
		if !stream.closed || !errors.Is(err, want) {
			t.Fatalf("the stream is closed: %v; %v, want the stream's own error", stream.closed, err)
		}
		if err := c.Close(); err != nil {
			t.Fatalf("closed again: %v", err)
		}
	}
}

// The error of a lost connection wraps its cause.
func TestLossWrapsItsCause(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe} {
		if err := asLoss(cause); !errors.Is(err, device.ErrGone) || !errors.Is(err, cause) {
			t.Errorf("%v, want the loss of the device, by %v", err, cause)
		}
	}
}
