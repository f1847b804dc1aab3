package shell

import (
	"fmt"
	"strings"
)

// Command is a command of the shell. It may end at once or on the clock; then is called once,
// with the exit code.
type Command struct {
	Since int // the API level that introduced it
	Run   func(c *Call, then func(code int))
}

// now returns a command that ends at once.
func now(f func(c *Call) int) func(c *Call, then func(code int)) {
	return func(c *Call, then func(code int)) { then(f(c)) }
}

// Call is one command with its arguments.
type Call struct {
	*Shell
	Args []string // without the command's name
	As   string   // the package as which it runs, "" for the shell itself
	Streams
}

// AtOnce reports whether the command must end at once, because it is in $(…).
func (c *Call) AtOnce() bool { return c.substituting > 0 }

// Printf writes to standard output.
func (c *Call) Printf(format string, args ...any) { c.Out.Write(fmt.Appendf(nil, format, args...)) }

// Errorf writes to standard error.
func (c *Call) Errorf(format string, args ...any) { c.Err.Write(fmt.Appendf(nil, format, args...)) }

// EndJob removes a job from the list.
func (c *Call) EndJob(j *Job) { c.host.EndJob(j) }

// Arg returns the i-th argument, or "".
func (c *Call) Arg(i int) string {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return ""
}

// Plain returns the arguments other than options, and the letters of the options.
func (c *Call) Plain() (args []string, options string) {
	for _, a := range c.Args {
		if strings.HasPrefix(a, "-") {
			options += a[1:]
		} else {
			args = append(args, a)
		}
	}
	return args, options
}

// Run runs a command by its name and arguments.
func (s *Shell) Run(args []string, on Streams, then func(code int)) {
	if s.ended {
		return // hung up
	}
	if s.commands++; s.commands > maxCommands {
		on.Err.Write([]byte("sh: too many commands\n"))
		s.end(126)
		return
	}
	name := args[0]
	if i := strings.LastIndexByte(name, '/'); i >= 0 && strings.HasPrefix(name, "/system/bin/") {
		name = name[i+1:]
	}
	if strings.HasPrefix(name, "/data/local/tmp/") {
		if _, err := s.host.Files.Stat(name); err == nil {
			name = "pushed " + name[strings.LastIndexByte(name, '/')+1:]
		}
	}
	cmd, ok := s.host.find(name)
	if !ok {
		on.Err.Write(fmt.Appendf(nil, "%s: %s: %s\n", path, args[0], s.host.notFound()))
		then(127)
		return
	}
	s.host.count(name, args[1:]...)
	cmd.Run(&Call{Shell: s, Args: args[1:], Streams: on}, then)
}

// find returns the command of a name, if the phone's Android has it.
func (h *Host) find(name string) (cmd Command, ok bool) {
	if cmd, ok = builtins[name]; !ok {
		cmd, ok = h.Commands[name]
	}
	return cmd, ok && h.API >= cmd.Since
}

// path is the path of the shell, with which its messages begin.
const path = "/system/bin/sh"

// notFound returns mksh's message for an unknown command, which changed in Android 10.
func (h *Host) notFound() string {
	if h.API >= 29 {
		return "inaccessible or not found"
	}
	return "not found"
}
