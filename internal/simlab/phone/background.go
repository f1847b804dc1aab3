package phone

import "strings"

// background runs a command line beside the shell: COMMAND &.
func (s *shell) background(p pipeline, io streams) {
	ph := s.phone
	if len(ph.state.jobs) >= maxJobs {
		io.err.write([]byte("sh: can't fork - try again\n"))
		return
	}
	child := &shell{
		phone: ph, out: newBuffer(), err: newBuffer(), done: make(chan struct{}), parent: s,
		pid: ph.newPID(), commands: s.commands, detached: detaches(p),
	}
	s.last = child.pid
	s.children = append(s.children, child)
	ph.state.shells[child] = true
	j := &job{pid: child.pid, name: "sh", line: "sh", signal: func(number int) { child.end(128 + number) }}
	ph.state.jobs[child.pid] = j
	child.job = j
	// It begins once the shell has gone on, so that $! is known by then.
	ph.at(ph.clock.now, func() {
		if !child.ended {
			child.pipeline(p, io, child.end)
		}
	})
}

// detaches reports whether a pipeline begins with nohup or setsid.
func detaches(p pipeline) bool {
	words := p[0].words
	return len(words) > 0 && len(words[0].parts) == 1 && (words[0].parts[0].text == "nohup" || words[0].parts[0].text == "setsid")
}

// prefixed runs a command behind nohup or setsid, which no hang-up reaches.
func prefixed(c *call, then func(code int)) {
	args := c.args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		args = args[1:]
	}
	if len(args) == 0 {
		c.errorf("usage: nohup COMMAND [ARG...]\n")
		then(125)
		return
	}
	c.shell.command(args, c.streams, then)
}

// waitCommand waits for what runs in the background.
func waitCommand(c *call, then func(code int)) {
	s := c.shell
	left := 0
	for _, child := range s.children {
		if child.ended {
			continue
		}
		left++
		child.then = append(child.then, func() {
			if left--; left == 0 && !s.ended {
				then(0)
			}
		})
	}
	if left == 0 {
		then(0)
	}
}
