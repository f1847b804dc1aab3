package workload

import (
	"fmt"
	"sync"
)

// tail keeps the first and the last part of a long output.
type tail struct {
	mu         sync.Mutex
	head, rest []byte
	written    int64
}

// tailLimit limits either part of an output, in bytes.
const tailLimit = 512 << 10

// Write appends to the output.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.written += int64(n)
	if room := tailLimit - len(t.head); room > 0 {
		take := min(room, len(p))
		t.head, p = append(t.head, p[:take]...), p[take:]
	}
	t.rest = append(t.rest, p...)
	if len(t.rest) > 2*tailLimit {
		t.rest = append([]byte{}, t.rest[len(t.rest)-tailLimit:]...)
	}
	return n, nil
}

// Bytes returns what was kept, with a line on how much was not.
func (t *tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := append([]byte{}, t.head...)
	if lost := t.written - int64(len(t.head)+len(t.rest)); lost > 0 {
		out = fmt.Appendf(out, "\n(%d bytes are left out)\n", lost)
	}
	return append(out, t.rest...)
}
