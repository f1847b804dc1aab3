package shell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Signals by name; others are given by number.
var signals = map[string]int{"HUP": 1, "INT": 2, "QUIT": 3, "KILL": 9, "TERM": 15}

// Signals by number.
const (
	HangUp  = 1
	sigQuit = 3
	sigKill = 9
	Term    = 15
)

// signalNumber parses "INT", "SIGINT" or "2".
func signalNumber(s string) (int, bool) {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 && n <= 64 {
		return n, true
	}
	n, ok := signals[strings.TrimPrefix(strings.ToUpper(s), "SIG")]
	return n, ok
}

// signalled extracts the signal from a command's arguments: -INT, -2, -s INT, and for pkill -l
// INT.
func (c *Call) signalled() (number int, rest []string) {
	number = Term
	for i := 0; i < len(c.Args); i++ {
		a := c.Args[i]
		if (a == "-s" || a == "-l") && i+1 < len(c.Args) {
			i++
			a = "-" + c.Args[i]
		}
		n, ok := signalNumber(strings.TrimPrefix(a, "-"))
		if ok && strings.HasPrefix(a, "-") {
			number = n
			continue
		}
		rest = append(rest, a)
	}
	return number, rest
}

// Kill is kill [-SIGNAL] PID….
func Kill(c *Call) int {
	number, pids := c.signalled()
	code := 0
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		if j := c.host.jobs[pid]; j != nil && j.refuses(number) {
			c.Errorf("%s: kill: %s: Permission denied\n", path, text)
			code = 1
			continue
		}
		if number == sigQuit && err == nil {
			done, refused := c.host.quits(pid, c.As)
			if refused {
				c.Errorf("%s: kill: %s: Operation not permitted\n", path, text)
				code = 1
			}
			if done || refused {
				continue
			}
		}
		if err != nil || !c.host.send(pid, number) {
			c.Errorf("%s: kill: %s: No such process\n", path, text)
			code = 1
		}
	}
	return code
}

// send sends a signal to a process; false if there is none. Signal 0 only checks.
func (h *Host) send(pid, number int) bool {
	if j := h.jobs[pid]; j != nil {
		if number > 0 {
			j.Signal(number)
		}
		return true
	}
	for _, pr := range h.Others() {
		if pr.PID == pid {
			if number > 0 && pr.End != nil {
				pr.End()
			}
			return true
		}
	}
	return false
}

// quits makes a process write its threads' stacks; refused reports that the caller may not.
func (h *Host) quits(pid int, as string) (done, refused bool) {
	for _, pr := range h.Others() {
		if pr.PID == pid && pr.Quit != nil {
			done = pr.Quit(as)
			return done, !done
		}
	}
	return false, false
}

// pkill is pkill [-SIGNAL | -l SIGNAL] [-f] PATTERN.
func pkill(c *Call) int {
	number, rest := c.signalled()
	whole := slices.Contains(rest, "-f")
	names := slices.DeleteFunc(rest, func(a string) bool { return strings.HasPrefix(a, "-") })
	if len(names) == 0 {
		c.Errorf("pkill: No PATTERN\n")
		return 1
	}
	pattern, err := regexp.CompilePOSIX(names[0])
	if err != nil {
		c.Errorf("pkill: bad regex '%s'\n", names[0])
		return 1
	}
	found := false
	for _, j := range c.host.Jobs() {
		if (pattern.MatchString(j.Name) || whole && pattern.MatchString(j.Line)) && !j.refuses(number) {
			found = true
			c.host.send(j.pid, number)
		}
	}
	for _, pr := range c.host.Others() {
		if pr.Name != "" && pattern.MatchString(pr.Name) {
			found = true
			c.host.send(pr.PID, number)
		}
	}
	if !found {
		return 1
	}
	return 0
}

// maxArgs is the limit of an app's name on its command line, which replaces zygote's
// (AndroidRuntime::setArgv0).
const maxArgs = 75

// pidof is pidof NAME...
func pidof(c *Call) int {
	var pids []string
	for _, pr := range c.host.Others() {
		if pr.Name != "" && slices.Contains(c.Args, pr.Name[:min(len(pr.Name), maxArgs)]) {
			pids = append(pids, strconv.Itoa(pr.PID))
		}
	}
	for _, j := range c.host.Jobs() {
		if slices.Contains(c.Args, j.Name) {
			pids = append(pids, strconv.Itoa(j.pid))
		}
	}
	if len(pids) == 0 {
		return 1
	}
	c.Printf("%s\n", strings.Join(pids, " "))
	return 0
}

// isProcess reports whether a path is the /proc folder of a running process.
func (h *Host) isProcess(name string) bool {
	text, below := strings.CutPrefix(name, "/proc/")
	pid, err := strconv.Atoi(text)
	return below && err == nil && h.send(pid, 0)
}
