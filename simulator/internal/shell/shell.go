package shell

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/apkgate/apkgate/simulator/internal/storage"
)

// Shell is one running command line: its outputs and its end.
type Shell struct {
	host     *Host
	out, err *buffer
	ended    bool
	// substituting counts the nested $(…) in progress.
	substituting int
	variables    map[string]string // assigned before the running command
	code         int
	done         chan struct{}    // closed when it has ended
	delivered    chan struct{}    // closed when its output was sent
	served       <-chan struct{}  // closed when the client is finished with it; nil: never
	status       int              // $?
	exits        []func(code int) // targets of exit, innermost last
	commands     int

	// For a background command line (background.go):
	parent   *Shell // nil: started from outside
	pid      int
	job      *Job
	then     []func() // called when it has ended
	detached bool     // immune to hang-ups

	children []*Shell
	last     int      // $!
	hungUp   []func() // called on a hang-up

	// For a shell without a command (session.go):
	own   int // its process id, 0: not requested yet
	lines int // number of lines run
}

// Start starts a command line and returns when the phone has accepted it; wait blocks until it
// ends. Everything that the command starts has begun by then.
func (h *Host) Start(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) (wait func() int) {
	s := &Shell{host: h, out: newBuffer(), err: newBuffer(), done: make(chan struct{}), delivered: make(chan struct{}), served: ctx.Done()}
	if stdout == stderr {
		s.err = s.out
	}
	stop := context.AfterFunc(ctx, s.hangUp)
	go func() { <-s.done; stop() }()
	if strings.TrimSpace(command) == "" && stdin != nil {
		h.begins(ctx, s)
		go h.session(ctx, s, stdin)
	} else if need := stdinNeeded(command); need != 0 && stdin != nil {
		go func() {
			input, _ := io.ReadAll(io.LimitReader(stdin, need))
			h.begin(ctx, s, command, input)
		}()
	} else {
		h.begin(ctx, s, command, nil)
	}
	var once sync.Once
	return func() int {
		once.Do(func() { s.deliver(stdout, stderr) })
		<-s.delivered
		return s.code
	}
}

// stdinNeeded returns how much of its standard input a command line reads: nothing, except for
// an installation from a stream, and a command that reads its input to the end.
func stdinNeeded(command string) int64 {
	if n := streamed(command); n > 0 {
		return n
	}
	if l, err := parseScript(command); err == nil && l.reads() {
		return maxScript
	}
	return 0
}

// streamed returns how many bytes an installation reads from standard input.
func streamed(command string) int64 {
	words := strings.Fields(command)
	for i, w := range words {
		if w == "-S" && i+1 < len(words) && strings.Contains(command, "install") && !strings.Contains(command, "install-create") {
			n, err := strconv.ParseInt(words[i+1], 10, 64)
			if err == nil && n > 0 && n <= storage.MaxFile {
				return n
			}
		}
	}
	return 0
}

// reads reports whether one of the commands reads the shared standard input.
func (l *list) reads() bool {
	return slices.ContainsFunc(l.items, func(p pipeline) bool { return p[0].reads() })
}

func (n node) reads() bool {
	switch {
	case slices.ContainsFunc(n.redirs, func(r redirection) bool { return r.op == "<" }):
		return false
	case n.group != nil:
		return n.group.reads()
	}
	words := make([]string, len(n.words))
	for i, w := range n.words {
		for _, p := range w.parts {
			words[i] += p.text
		}
	}
	return readsStdin(words)
}

// readsStdin reports whether a command with these arguments reads its standard input.
func readsStdin(words []string) bool {
	for len(words) > 0 && words[0] == "exec" {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	own := map[string]int{"cat": 0, "sh": 0, "grep": 1} // arguments that are not files
	operands, known := own[words[0]]
	for _, w := range words[1:] {
		switch {
		case w == "-c" && words[0] == "sh":
			return false
		case !strings.HasPrefix(w, "-"):
			operands--
		}
	}
	return known && operands >= 0
}

// asksNothing reports whether a command line ends with the empty command, possibly after the
// renewal of a device's mark, and within the wrapper for adb without exit codes (before
// Android 7). Such a command is a liveness check, concurrent with the measurement and by
// another clock, and does not advance time.
func asksNothing(command string) bool {
	return strings.HasSuffix(command, ":") || strings.Contains(command, ":\n) </dev/null; echo ")
}

func (h *Host) begin(ctx context.Context, s *Shell, command string, input []byte) {
	h.Lock.Lock()
	if !asksNothing(command) {
		h.Clock.Advance(CommandTime)
	}
	h.count("sh")
	h.hear(ctx, s)
	if !s.ended {
		h.shells[s] = true
		s.eval(command, Streams{In: input, Out: s.out, Err: s.err}, s.end)
	}
	h.hear(ctx, s)
	h.Lock.Unlock()
}

// hear waits until the clients of the other command lines that have ended know it, before this
// one answers. The lock is released while it waits.
func (h *Host) hear(ctx context.Context, own *Shell) {
	finished := slices.DeleteFunc(h.TakeFinished(), func(s *Shell) bool { return s == own })
	if h.Runs || len(finished) == 0 {
		return
	}
	h.Lock.Unlock()
	defer h.Lock.Lock()
	_ = finished.Delivered(ctx)
}

// enclose makes exit call then until the enclosed commands have ended.
func (s *Shell) enclose(then func(code int)) (done func(code int)) {
	depth := len(s.exits)
	done = func(code int) {
		s.exits = s.exits[:depth]
		then(code)
	}
	s.exits = append(s.exits, done)
	return done
}

// end ends the command line; the host is locked.
func (s *Shell) end(code int) {
	if s.ended {
		return
	}
	s.ended, s.code = true, code
	delete(s.host.shells, s)
	if s.job != nil {
		s.host.EndJob(s.job)
	}
	for _, f := range s.then {
		f()
	}
	if s.host.Clock.Advancing() && s.parent == nil {
		s.host.finished = append(s.host.finished, s)
	}
	s.out.close()
	s.err.close()
	close(s.done)
}

func (s *Shell) hangUp() {
	s.host.Lock.Lock()
	defer s.host.Lock.Unlock()
	s.hang()
}

// hang ends a command line whose connection is lost, and its background commands, unless they
// are detached.
func (s *Shell) hang() {
	if s.ended {
		return
	}
	for _, child := range s.children {
		if !child.detached {
			child.hang()
		}
	}
	for _, f := range s.hungUp {
		f()
	}
	s.end(129)
}

// Ended reports whether the command line has ended, or was hung up.
func (s *Shell) Ended() bool { return s.ended }

// Detached reports whether it is immune to hang-ups.
func (s *Shell) Detached() bool { return s.detached }

// OnHangUp registers a function for the loss of the command line's connection.
func (s *Shell) OnHangUp(do func()) { s.hungUp = append(s.hungUp, do) }

// OnEnd registers a function for the end of the command line.
func (s *Shell) OnEnd(do func()) { s.then = append(s.then, do) }

// deliver copies both outputs until they end.
func (s *Shell) deliver(stdout, stderr io.Writer) {
	var both sync.WaitGroup
	if s.err != s.out {
		both.Go(func() { s.err.copyTo(stderr) })
	}
	both.Go(func() { s.out.copyTo(stdout) })
	both.Wait()
	<-s.done
	close(s.delivered)
}
