package shell

import "strings"

// background runs a command line in the background: COMMAND &.
func (s *Shell) background(p pipeline, on Streams) {
	h := s.host
	if len(h.jobs) >= maxJobs {
		on.Err.Write([]byte("sh: can't fork - try again\n"))
		return
	}
	child := &Shell{
		host: h, out: newBuffer(), err: newBuffer(), done: make(chan struct{}), parent: s,
		pid: h.newPID(), commands: s.commands, detached: detaches(p),
	}
	h.forks(&list{items: []pipeline{p}})
	s.last = child.pid
	s.children = append(s.children, child)
	h.shells[child] = true
	j := &Job{pid: child.pid, Name: "sh", Line: "sh", Signal: func(number int) { child.end(128 + number) }}
	h.jobs[child.pid] = j
	child.job = j
	// It starts after the shell has continued, so that $! is set by then.
	h.Clock.At(h.Clock.Now(), func() {
		if !child.ended {
			child.pipeline(p, on, child.end)
		}
	})
}

// detaches reports whether a pipeline begins with nohup or setsid.
func detaches(p pipeline) bool {
	words := p[0].words
	return len(words) > 0 && len(words[0].parts) == 1 && (words[0].parts[0].text == "nohup" || words[0].parts[0].text == "setsid")
}

// prefixed runs a command after nohup or setsid, which is immune to hang-ups.
func prefixed(c *Call, then func(code int)) {
	args := c.Args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		args = args[1:]
	}
	if len(args) == 0 {
		c.Errorf("usage: nohup COMMAND [ARG...]\n")
		then(125)
		return
	}
	c.Run(args, c.Streams, then)
}

// waitCommand waits for background commands.
func waitCommand(c *Call, then func(code int)) {
	s := c.Shell
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
