package hostprogram

import (
	"bytes"
	"sync"
)

// head keeps the first bytes that are written to it. Write never fails, so that a program that
// prints without end is read without end.
type head struct {
	most int

	mu   sync.Mutex
	kept []byte
	cut  bool
}

// Write keeps as much of p as there is room for.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room := min(len(p), h.most-len(h.kept))
	h.kept = append(h.kept, p[:room]...)
	h.cut = h.cut || room < len(p)
	return len(p), nil
}

func (h *head) bytes() (kept []byte, cut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.kept), h.cut
}

// tail keeps the last bytes that are written to it.
type tail struct {
	most int

	mu   sync.Mutex
	kept []byte // at most twice as many
}

// Write keeps p and drops the oldest bytes.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-t.most):]...)
	if len(t.kept) > 2*t.most {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-t.most:]...)
	}
	return len(p), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.kept[max(0, len(t.kept)-t.most):])
}
