package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// LineCPU is the CPU time of a line in an existing shell, apart from the processes that it
// starts: a tenth of a process, as for mksh on a computer
// (docs/collection/watching.md).
const LineCPU = ProcessCPU / 10

// unfinished is the error for an incomplete text.
type unfinished string

func (u unfinished) Error() string { return string(u) }

// begins starts a shell without a command, which reads its standard input.
func (h *Host) begins(ctx context.Context, s *Shell) {
	h.Lock.Lock()
	defer h.Lock.Unlock()
	h.Clock.Advance(CommandTime)
	h.count("sh")
	s.own = h.newPID()
	s.job = &Job{
		Name: "sh", Line: path + " -", pid: s.own,
		Signal: func(number int) { s.end(128 + number) },
		CPU:    func() time.Duration { return time.Duration(s.lines) * LineCPU },
	}
	h.shells[s], h.jobs[s.own] = true, s.job
	h.hear(ctx, s)
}

// session runs the input line by line, or in as many lines as a command needs, until its end.
// The input after a command that reads standard input belongs to that command.
func (h *Host) session(ctx context.Context, s *Shell, stdin io.Reader) {
	in := bufio.NewReader(stdin)
	for text := ""; ; {
		line, err := in.ReadSlice('\n')
		text += string(line)
		if errors.Is(err, bufio.ErrBufferFull) && len(text) <= maxScript {
			continue
		}
		l, wrong := parseScript(text)
		if more := unfinished(""); err == nil && errors.As(wrong, &more) {
			continue
		}
		var rest []byte
		if wrong == nil && l.reads() {
			rest, _ = io.ReadAll(io.LimitReader(in, maxScript))
		}
		if !h.line(ctx, s, l, wrong, rest) {
			return
		}
		if text = ""; err != nil {
			h.Lock.Lock()
			s.end(s.status)
			h.Lock.Unlock()
			return
		}
	}
}

// line runs a line of input, and returns when its commands have ended; false if the shell has
// ended. A syntax error ends a non-interactive shell (mksh, unwind).
func (h *Host) line(ctx context.Context, s *Shell, l *list, wrong error, in []byte) (lives bool) {
	over := make(chan struct{})
	h.Lock.Lock()
	switch h.hear(ctx, s); {
	case s.ended:
	case wrong != nil:
		fmt.Fprintf(s.err, "%s: %v\n", path, wrong)
		s.end(1)
	case len(l.items) == 0:
		close(over)
	default:
		h.Clock.Advance(CommandTime)
		h.hear(ctx, s)
		s.commands = 0
		s.lines++
		s.list(l, 0, Streams{In: in, Out: s.out, Err: s.err}, func(int) { close(over) })
		h.hear(ctx, s)
	}
	h.Lock.Unlock()
	select {
	case <-over:
		return true
	case <-s.done:
		return false
	}
}
