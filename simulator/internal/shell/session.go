package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// LineCPU is what a line costs that a shell runs which is there already, beside the
// processes that it starts: a tenth of one, as with mksh on a computer
// (docs/collection/watching.md).
const LineCPU = ProcessCPU / 10

// unfinished is the error of a text that would be whole with more behind it.
type unfinished string

func (u unfinished) Error() string { return string(u) }

// begins begins a shell without a command, which reads its standard input.
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

// session runs what comes in, line by line or as many lines as make up a command, until
// the input ends. What is behind a command that reads the standard input is for that.
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

// line runs commands that came in, and returns when they are over; false where the shell
// is then. What can't be read ends a shell that talks to nobody (mksh, unwind).
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
