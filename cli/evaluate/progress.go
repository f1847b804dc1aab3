package evaluate

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/apkgate/apkgate/usecase/terminal"
)

// progress shows how many draws are done: on a terminal one changing line, in a log a line now and
// then. It may be called concurrently.
type progress struct {
	w        io.Writer
	terminal bool
	now      func() time.Time

	mu    sync.Mutex
	said  time.Time // when the last line was written
	drawn bool
}

func newProgress(c terminal.Console) *progress {
	return &progress{w: c.Stderr, terminal: c.ProgressTerminal, now: c.Now, said: c.Now()}
}

// Lines come this often: some CI systems end a job that is silent for ten minutes.
const (
	onTerminal = time.Second / 5
	inLog      = time.Minute
)

func (p *progress) update(done, of int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	every := inLog
	if p.terminal {
		every = onTerminal
	}
	if p.now().Sub(p.said) < every {
		return
	}
	p.said = p.now()
	line := fmt.Sprintf("%d of %d draws (%d %%)", done, of, 100*done/max(of, 1))
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.drawn = true
		return
	}
	fmt.Fprintln(p.w, line)
}

// clear removes the changing line.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}
