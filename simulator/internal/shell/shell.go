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

// Shell is one command line that runs: its outputs and its end.
type Shell struct {
	host     *Host
	out, err *buffer
	ended    bool
	// substituting counts the $(…) that are being worked out.
	substituting int
	variables    map[string]string // assigned before the command that runs
	code         int
	done         chan struct{}    // closed when it ended
	delivered    chan struct{}    // closed when its output was handed over
	served       <-chan struct{}  // closed when whoever started it is done with it; nil: never said
	status       int              // $?
	exits        []func(code int) // where exit leads, innermost last
	commands     int

	// Of a command line in the background (background.go):
	parent   *Shell // nil: started from outside
	pid      int
	job      *Job
	then     []func() // told when it ended
	detached bool     // no hang-up reaches it

	children []*Shell
	last     int      // $!
	hungUp   []func() // told of a hang-up

	// Of a shell that was given no command (session.go):
	own   int // its process, 0: any other's that nobody asked for yet
	lines int // that it has run
}

// Start begins a command line and returns when the phone has accepted it; wait
// blocks until it ends. What the command sets in motion has begun by then.
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

// stdinNeeded is how much of standard input a command line reads: none, but for
// an installation from a stream, and what has a command that reads it to its end.
func stdinNeeded(command string) int64 {
	if n := streamed(command); n > 0 {
		return n
	}
	if l, err := parseScript(command); err == nil && l.reads() {
		return maxScript
	}
	return 0
}

// streamed is how many bytes an installation takes from standard input.
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

// reads reports whether one of the commands reads the standard input of all.
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

// readsStdin reports whether a command reads its standard input, as it is called.
func readsStdin(words []string) bool {
	for len(words) > 0 && words[0] == "exec" {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	own := map[string]int{"cat": 0, "sh": 0, "grep": 1} // arguments that name no file
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

// asksNothing reports whether a command line ends with the empty command, maybe behind
// what keeps a device claimed, and in what a client wraps around a command where adb
// tells no exit codes (before Android 7). It is asked beside what is measured, by another
// clock, and moves nothing.
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

// hear waits until whoever started the command lines that ended meanwhile knows of it,
// but for one: that happens before this one answers. The lock is let go for that time.
func (h *Host) hear(ctx context.Context, own *Shell) {
	finished := slices.DeleteFunc(h.TakeFinished(), func(s *Shell) bool { return s == own })
	if h.Runs || len(finished) == 0 {
		return
	}
	h.Lock.Unlock()
	defer h.Lock.Lock()
	_ = finished.Delivered(ctx)
}

// enclose makes exit lead to then until the enclosed commands are done.
func (s *Shell) enclose(then func(code int)) (done func(code int)) {
	depth := len(s.exits)
	done = func(code int) {
		s.exits = s.exits[:depth]
		then(code)
	}
	s.exits = append(s.exits, done)
	return done
}

// end ends the command line, with the host locked.
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

// hang ends a command line whose connection is gone, and what it started in the
// background, unless that is detached.
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

// Ended reports whether the command line is over, or was hung up.
func (s *Shell) Ended() bool { return s.ended }

// Detached reports whether no hang-up reaches it.
func (s *Shell) Detached() bool { return s.detached }

// OnHangUp has do called when the connection of the command line is gone.
func (s *Shell) OnHangUp(do func()) { s.hungUp = append(s.hungUp, do) }

// OnEnd has do called when the command line is over.
func (s *Shell) OnEnd(do func()) { s.then = append(s.then, do) }

// deliver copies the outputs until both end.
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
