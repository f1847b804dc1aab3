package phone

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// shell is one command line that runs: its outputs and its end.
type shell struct {
	phone     *Phone
	out, err  *buffer
	ended     bool
	code      int
	done      chan struct{}    // closed when it ended
	delivered chan struct{}    // closed when its output was handed over
	served    <-chan struct{}  // closed when whoever started it is done with it; nil: never said
	status    int              // $?
	exits     []func(code int) // where exit leads, innermost last
	commands  int

	// Of a command line in the background (background.go):
	parent   *shell // nil: started from outside
	pid      int
	job      *job
	then     []func() // told when it ended
	detached bool     // no hang-up reaches it

	children []*shell
	last     int      // $!
	hungUp   []func() // told of a hang-up
}

// commandTime is how long every command takes, beside what it says itself.
const commandTime = 4 * time.Millisecond

// Start begins a command line and returns when the phone has accepted it; wait
// blocks until it ends. What the command sets in motion has begun by then.
func (p *Phone) Start(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) (wait func() int) {
	s := &shell{phone: p, out: newBuffer(), err: newBuffer(), done: make(chan struct{}), delivered: make(chan struct{}), served: ctx.Done()}
	if stdout == stderr {
		s.err = s.out
	}
	stop := context.AfterFunc(ctx, s.hangUp)
	go func() { <-s.done; stop() }()
	if need := stdinNeeded(command); need != 0 && stdin != nil {
		go func() {
			input, _ := io.ReadAll(io.LimitReader(stdin, need))
			p.begin(ctx, s, command, input)
		}()
	} else {
		p.begin(ctx, s, command, nil)
	}
	var once sync.Once
	return func() int {
		once.Do(func() { s.deliver(stdout, stderr) })
		<-s.delivered
		return s.code
	}
}

// stdinNeeded is how much of standard input a command line reads: none, but for
// an installation from a stream, a shell without a command, and what begins with
// a command that filters.
func stdinNeeded(command string) int64 {
	if strings.TrimSpace(command) == "" || filtersStdin(command) {
		return maxScript
	}
	words := strings.Fields(command)
	for i, w := range words {
		if w == "-S" && i+1 < len(words) && strings.Contains(command, "install") {
			n, err := strconv.ParseInt(words[i+1], 10, 64)
			if err == nil && n > 0 && n <= maxFile {
				return n
			}
		}
	}
	return 0
}

// filtersStdin reports whether the first command of the line reads its standard
// input, as it is called.
func filtersStdin(command string) bool {
	first, _, _ := strings.Cut(command, "|")
	if end := strings.IndexAny(first, ";&\n"); end >= 0 {
		first = first[:end]
	}
	first, _, _ = strings.Cut(first, ">")
	words := strings.Fields(first)
	if len(words) == 0 || strings.Contains(first, "<") {
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

func (p *Phone) begin(ctx context.Context, s *shell, command string, input []byte) {
	p.mu.Lock()
	if command != ":" { // asked beside what is measured, by another clock: it moves nothing
		p.advance(commandTime)
	}
	finished := p.takeFinished()
	p.mu.Unlock()
	if p.options.Rate == 0 {
		// What ended meanwhile is heard of before this command answers.
		_ = delivered(ctx, finished)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.ended {
		return
	}
	p.state.shells[s] = true
	if strings.TrimSpace(command) == "" {
		command, input = string(input), nil
	}
	s.eval(command, streams{in: input, out: s.out, err: s.err}, s.end)
}

// enclose makes exit lead to then until the enclosed commands are done.
func (s *shell) enclose(then func(code int)) (done func(code int)) {
	depth := len(s.exits)
	done = func(code int) {
		s.exits = s.exits[:depth]
		then(code)
	}
	s.exits = append(s.exits, done)
	return done
}

// end ends the command line, with the phone locked.
func (s *shell) end(code int) {
	if s.ended {
		return
	}
	s.ended, s.code = true, code
	delete(s.phone.state.shells, s)
	if s.job != nil {
		s.phone.endJob(s.job)
	}
	for _, f := range s.then {
		f()
	}
	if s.phone.clock.advancing && s.parent == nil {
		s.phone.clock.finished = append(s.phone.clock.finished, s)
	}
	s.out.close()
	s.err.close()
	close(s.done)
}

func (s *shell) hangUp() {
	s.phone.mu.Lock()
	defer s.phone.mu.Unlock()
	s.hang()
}

// hang ends a command line whose connection is gone, and what it started in the
// background, unless that is detached.
func (s *shell) hang() {
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

// deliver copies the outputs until both end.
func (s *shell) deliver(stdout, stderr io.Writer) {
	var both sync.WaitGroup
	if s.err != s.out {
		both.Go(func() { s.err.copyTo(stderr) })
	}
	both.Go(func() { s.out.copyTo(stdout) })
	both.Wait()
	<-s.done
	close(s.delivered)
}

// maxCommands bounds what one command line can set in motion.
const maxCommands = 100_000

// streams are what a command reads and writes.
type streams struct {
	in       []byte
	out, err sink
}

// eval reads and runs a command line; then is called with its exit code.
func (s *shell) eval(text string, io streams, then func(code int)) {
	l, err := parseScript(text)
	if err != nil {
		io.err.write(fmt.Appendf(nil, "%s: %v\n", s.phone.shellName(), err))
		then(1)
		return
	}
	s.list(l, 0, io, then)
}

func (s *shell) list(l *list, i int, io streams, then func(code int)) {
	for ; i < len(l.items); i++ {
		if join := l.joins[i]; (join == "&&" && s.status != 0) || (join == "||" && s.status == 0) {
			continue
		}
		// A command that ends at once is followed here, without recursion; one
		// that lasts comes back through the clock.
		if l.background[i] {
			s.background(l.items[i], io)
			s.status = 0
			continue
		}
		returned, ended := false, false
		next := i + 1
		s.pipeline(l.items[i], io, func(code int) {
			s.status = code
			if ended = true; returned {
				s.list(l, next, io, then)
			}
		})
		returned = true
		if !ended {
			return
		}
	}
	then(s.status)
}

func (s *shell) pipeline(p pipeline, io streams, then func(code int)) {
	if len(p) == 1 {
		s.node(p[0], io, then)
		return
	}
	var between memory
	s.node(p[0], streams{in: io.in, out: &between, err: io.err}, func(int) {
		s.pipeline(p[1:], streams{in: between.Bytes(), out: io.out, err: io.err}, then)
	})
}

func (s *shell) node(n node, io streams, then func(code int)) {
	io, finish, err := s.redirect(n.redirs, io)
	if err != nil {
		io.err.write(fmt.Appendf(nil, "%s: %v\n", s.phone.shellName(), err))
		then(1)
		return
	}
	end := func(code int) {
		if err := finish(); err != nil {
			io.err.write(fmt.Appendf(nil, "%s: %v\n", s.phone.shellName(), err))
			code = 1
		}
		then(code)
	}
	if n.group != nil {
		if n.subshell {
			end = s.enclose(end)
		}
		s.list(n.group, 0, io, end)
		return
	}
	args := make([]string, len(n.words))
	for i, w := range n.words {
		args[i] = s.expand(w)
	}
	if len(args) == 0 {
		end(0)
		return
	}
	s.command(args, io, end)
}

// expand makes a word of its parts. Commands in $(…) have to end at once.
func (s *shell) expand(w word) string {
	var b strings.Builder
	for _, p := range w.parts {
		switch {
		case p.variable == '?':
			b.WriteString(strconv.Itoa(s.status))
		case p.variable == '!':
			if s.last > 0 {
				b.WriteString(strconv.Itoa(s.last))
			}
		case p.output != nil:
			var m memory
			s.list(p.output, 0, streams{out: &m, err: s.err}, func(int) {})
			b.WriteString(strings.TrimRight(m.String(), "\n"))
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// redirect applies redirections; finish tells what went wrong with the files.
func (s *shell) redirect(redirs []redirection, io streams) (_ streams, finish func() error, err error) {
	var files []func() error
	for _, r := range redirs {
		path := s.expand(r.to)
		switch r.op {
		case "2>&1":
			io.err = io.out
		case "1>&2":
			io.out = io.err
		case "<":
			if io.in, err = s.phone.readFile(path); err != nil {
				return io, nil, err
			}
		default:
			f := &outFile{phone: s.phone, path: path}
			if err := f.open(strings.HasSuffix(r.op, ">>")); err != nil {
				return io, nil, err
			}
			if r.op != "2>" && r.op != "2>>" {
				io.out = f
			}
			if r.op[0] == '2' || r.op == "&>" {
				io.err = f
			}
			files = append(files, func() error { return f.err })
		}
	}
	return io, func() error {
		for _, f := range files {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// call is one command with its arguments.
type call struct {
	*Phone
	shell *shell
	args  []string // without the command's name
	as    string   // the package with whose rights it runs, "" for the shell's own
	streams
}

func (c *call) printf(format string, args ...any) { c.out.write(fmt.Appendf(nil, format, args...)) }
func (c *call) errorf(format string, args ...any) { c.err.write(fmt.Appendf(nil, format, args...)) }

// arg is the i-th argument, or "".
func (c *call) arg(i int) string {
	if i < len(c.args) {
		return c.args[i]
	}
	return ""
}

func (s *shell) command(args []string, io streams, then func(code int)) {
	if s.ended {
		return // hung up
	}
	if s.commands++; s.commands > maxCommands {
		io.err.write([]byte("sh: too many commands\n"))
		s.end(126)
		return
	}
	name := args[0]
	if i := strings.LastIndexByte(name, '/'); i >= 0 && strings.HasPrefix(name, "/system/bin/") {
		name = name[i+1:]
	}
	if strings.HasPrefix(name, "/data/local/tmp/") {
		if _, err := s.phone.stat(clean(name)); err == nil {
			name = "pushed " + name[strings.LastIndexByte(name, '/')+1:]
		}
	}
	cmd, ok := commands[name]
	if !ok || s.phone.profile.API < cmd.since {
		io.err.write(fmt.Appendf(nil, "%s: %s: %s\n", s.phone.shellName(), args[0], s.phone.notFound()))
		then(127)
		return
	}
	cmd.run(&call{Phone: s.phone, shell: s, args: args[1:], streams: io}, then)
}

func (p *Phone) shellName() string { return "/system/bin/sh" }

// notFound is how mksh says that it knows no such command: in other words since
// Android 10.
func (p *Phone) notFound() string {
	if p.profile.API >= 29 {
		return "inaccessible or not found"
	}
	return "not found"
}
