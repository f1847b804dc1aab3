package shell

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// maxCommands limits the commands of one command line.
const maxCommands = 100_000

// Streams are the input and outputs of a command.
type Streams struct {
	In       []byte
	Out, Err io.Writer
}

// eval parses and runs a command line; then is called with its exit code.
func (s *Shell) eval(text string, on Streams, then func(code int)) {
	l, err := parseScript(text)
	if err != nil {
		on.Err.Write(fmt.Appendf(nil, "%s: %v\n", path, err))
		then(1)
		return
	}
	s.list(l, 0, on, then)
}

func (s *Shell) list(l *list, i int, on Streams, then func(code int)) {
	for ; i < len(l.items); i++ {
		if join := l.joins[i]; (join == "&&" && s.status != 0) || (join == "||" && s.status == 0) {
			continue
		}
		// A command that ends at once is continued here, without recursion; others continue on
		// the clock.
		if l.background[i] {
			s.background(l.items[i], on)
			s.status = 0
			continue
		}
		returned, ended := false, false
		next := i + 1
		s.pipeline(l.items[i], on, func(code int) {
			s.status = code
			if ended = true; returned {
				s.list(l, next, on, then)
			}
		})
		returned = true
		if !ended {
			return
		}
	}
	then(s.status)
}

func (s *Shell) pipeline(p pipeline, on Streams, then func(code int)) {
	if len(p) == 1 {
		s.node(p[0], on, then)
		return
	}
	var between bytes.Buffer
	s.host.forks(&list{items: []pipeline{p[:1]}})
	s.node(p[0], Streams{In: on.In, Out: &between, Err: on.Err}, func(int) {
		s.pipeline(p[1:], Streams{In: between.Bytes(), Out: on.Out, Err: on.Err}, then)
	})
}

func (s *Shell) node(n node, on Streams, then func(code int)) {
	on, finish, err := s.redirect(n.redirs, on)
	if err != nil {
		on.Err.Write(fmt.Appendf(nil, "%s: %v\n", path, err))
		then(1)
		return
	}
	end := func(code int) {
		if err := finish(); err != nil {
			on.Err.Write(fmt.Appendf(nil, "%s: %v\n", path, err))
			code = 1
		}
		then(code)
	}
	if n.group != nil {
		if n.subshell {
			s.host.forks(n.group)
			end = s.enclose(end)
		}
		s.list(n.group, 0, on, end)
		return
	}
	var args []string
	for _, w := range n.words {
		args = append(args, s.files(w)...)
	}
	if s.variables = nil; len(args) > 0 { // assignments apply to one command
		args = s.assign(args)
	}
	if len(args) == 0 {
		end(0)
		return
	}
	s.Run(args, on, end)
}

// files returns the names of files that match a word with an asterisk, or the word itself.
func (s *Shell) files(w word) []string {
	text := s.expand(w)
	if w.star {
		if names := s.host.Files.Match(text); len(names) > 0 {
			return names
		}
	}
	return []string{text}
}

// assignment matches NAME=VALUE before a command.
var assignment = regexp.MustCompile(`^([A-Z][A-Z0-9_]*)=(.*)$`)

// assign stores the assignments before a command, and returns the command.
func (s *Shell) assign(args []string) []string {
	for len(args) > 0 {
		m := assignment.FindStringSubmatch(args[0])
		if m == nil {
			break
		}
		if s.variables == nil {
			s.variables = map[string]string{}
		}
		s.variables[m[1]], args = m[2], args[1:]
	}
	return args
}

// Variable returns the value that was assigned to a name before the running command.
func (s *Shell) Variable(name string) string { return s.variables[name] }

// Assign sets a variable for the commands that this command runs.
func (s *Shell) Assign(name, value string) {
	if s.variables == nil {
		s.variables = map[string]string{}
	}
	s.variables[name] = value
}

// expand expands a word. Commands in $(…) must end at once.
func (s *Shell) expand(w word) string {
	var b strings.Builder
	for _, p := range w.parts {
		switch {
		case p.variable == '?':
			b.WriteString(strconv.Itoa(s.status))
		case p.variable == '!':
			if s.last > 0 {
				b.WriteString(strconv.Itoa(s.last))
			}
		case p.variable == '$':
			if s.own == 0 {
				s.own = s.host.newPID()
			}
			b.WriteString(strconv.Itoa(s.own))
		case p.output != nil:
			s.host.forks(p.output)
			var m bytes.Buffer
			s.substituting++
			s.list(p.output, 0, Streams{Out: &m, Err: s.err}, func(int) {})
			s.substituting--
			b.WriteString(strings.TrimRight(m.String(), "\n"))
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// redirect applies redirections; finish returns the errors of the files.
func (s *Shell) redirect(redirs []redirection, on Streams) (_ Streams, finish func() error, err error) {
	var files []func() error
	for _, r := range redirs {
		to := s.expand(r.to)
		switch r.op {
		case "2>&1":
			on.Err = on.Out
		case "1>&2":
			on.Out = on.Err
		case "<":
			if on.In, err = s.host.Files.Read(to); err != nil {
				return on, nil, err
			}
		default:
			f, err := s.host.Files.Append(to, strings.HasSuffix(r.op, ">>"))
			if err != nil {
				return on, nil, err
			}
			if r.op != "2>" && r.op != "2>>" {
				on.Out = f
			}
			if r.op[0] == '2' || r.op == "&>" {
				on.Err = f
			}
			files = append(files, f.Err)
		}
	}
	return on, func() error {
		for _, f := range files {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
