package shell

import (
	"io"
	"sync"
)

// buffer is an output that is being sent to the client: writes never block.
type buffer struct {
	mu     sync.Mutex
	more   *sync.Cond
	text   []byte
	closed bool
}

// maxUnread is the limit beyond which unread output is dropped.
const maxUnread = 64 << 20

func newBuffer() *buffer {
	b := &buffer{}
	b.more = sync.NewCond(&b.mu)
	return b
}

// Write buffers b, or drops it.
func (b *buffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed && len(b.text)+len(text) <= maxUnread {
		b.text = append(b.text, text...)
		b.more.Signal()
	}
	return len(text), nil
}

func (b *buffer) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.more.Broadcast()
}

// copyTo writes everything to w until the end. If w fails, the rest is dropped.
func (b *buffer) copyTo(w io.Writer) {
	for {
		b.mu.Lock()
		for len(b.text) == 0 && !b.closed {
			b.more.Wait()
		}
		text := b.text
		b.text = nil
		b.mu.Unlock()
		if len(text) == 0 {
			return
		}
		w.Write(text)
	}
}
