package phone

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// job is a program other than an app that runs on the phone: a recorder, or a
// command line in the background.
type job struct {
	pid  int
	name string
	line string // its command line
	// signal makes it end, now or after a while.
	signal func(number int)
	// died is told of an app's process that ended; it may be nil.
	died func(pr *process)
	// guarded is what SELinux runs in a domain of its own, which the shell may end
	// but neither ask by signal 0 nor kill.
	guarded bool
	session *tracing // of a perfetto that records
}

// refuses reports whether SELinux keeps a signal of the shell's from the job.
func (j *job) refuses(number int) bool { return j.guarded && (number == 0 || number == sigKill) }

// firstJob is where the process ids of jobs begin, far from those of apps.
const firstJob = 20_000

// maxJobs bounds what runs in the background.
const maxJobs = 200

// newPID is a free process id for a job.
func (p *Phone) newPID() int {
	p.state.nextJob += 3
	return firstJob + p.state.nextJob
}

// addJob puts a job on the list; its pid is that of the background shell that
// runs it alone, or a new one.
func (s *shell) addJob(j *job) {
	j.pid = s.pid
	if j.pid == 0 {
		j.pid = s.phone.newPID()
	}
	s.phone.state.jobs[j.pid] = j
}

func (p *Phone) endJob(j *job) {
	if p.runs(j) {
		delete(p.state.jobs, j.pid)
	}
}

// runs reports whether a job still runs; a restart of the phone ends all.
func (p *Phone) runs(j *job) bool { return p.state.jobs[j.pid] == j }

// jobsInOrder are the jobs by pid.
func (p *Phone) jobsInOrder() []*job {
	var out []*job
	for _, pid := range slices.Sorted(maps.Keys(p.state.jobs)) {
		out = append(out, p.state.jobs[pid])
	}
	return out
}

// tellJobs tells all jobs that an app's process ended.
func (p *Phone) tellJobs(pr *process) {
	for _, j := range p.jobsInOrder() {
		if j.died != nil {
			j.died(pr)
		}
	}
}

// Signals by name; the others are known by number alone.
var signals = map[string]int{"HUP": 1, "INT": 2, "QUIT": 3, "KILL": 9, "TERM": 15}

const (
	sigHangUp = 1
	sigKill   = 9
	sigTerm   = 15
)

// signalNumber reads "INT", "SIGINT" or "2".
func signalNumber(s string) (int, bool) {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 && n <= 64 {
		return n, true
	}
	n, ok := signals[strings.TrimPrefix(strings.ToUpper(s), "SIG")]
	return n, ok
}

// signalled takes the signal out of a command's arguments: -INT, -2, -s INT, and
// for pkill -l INT.
func (c *call) signalled() (number int, rest []string) {
	number = sigTerm
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		if (a == "-s" || a == "-l") && i+1 < len(c.args) {
			i++
			a = "-" + c.args[i]
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

// killCommand is kill [-SIGNAL] PID….
func killCommand(c *call) int {
	number, pids := c.signalled()
	code := 0
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		if j := c.state.jobs[pid]; j != nil && j.refuses(number) {
			c.errorf("%s: kill: %s: Permission denied\n", c.shellName(), text)
			code = 1
			continue
		}
		if number == sigQuit && err == nil {
			done, refused := c.quits(pid)
			if refused {
				c.errorf("%s: kill: %s: Operation not permitted\n", c.shellName(), text)
				code = 1
			}
			if done || refused {
				continue
			}
		}
		if err != nil || !c.send(pid, number) {
			c.errorf("%s: kill: %s: No such process\n", c.shellName(), text)
			code = 1
		}
	}
	return code
}

// send sends a signal to a process; false where there is none. Signal 0 only asks.
func (p *Phone) send(pid, number int) bool {
	if j := p.state.jobs[pid]; j != nil {
		if number > 0 {
			j.signal(number)
		}
		return true
	}
	for _, pkg := range sortedKeys(p.state.running) {
		if p.state.running[pkg].pid == pid {
			if number > 0 {
				p.kill(pkg)
			}
			return true
		}
	}
	return pid == 1 || pid == systemPID
}

// pkill is pkill [-SIGNAL | -l SIGNAL] [-f] PATTERN.
func pkill(c *call) int {
	number, rest := c.signalled()
	whole := slices.Contains(rest, "-f")
	names := slices.DeleteFunc(rest, func(a string) bool { return strings.HasPrefix(a, "-") })
	if len(names) == 0 {
		c.errorf("pkill: No PATTERN\n")
		return 1
	}
	pattern, err := regexp.CompilePOSIX(names[0])
	if err != nil {
		c.errorf("pkill: bad regex '%s'\n", names[0])
		return 1
	}
	found := false
	for _, j := range c.jobsInOrder() {
		if (pattern.MatchString(j.name) || whole && pattern.MatchString(j.line)) && !j.refuses(number) {
			found = true
			c.send(j.pid, number)
		}
	}
	for _, pkg := range sortedKeys(c.state.running) {
		if pattern.MatchString(pkg) {
			found = true
			c.send(c.state.running[pkg].pid, number)
		}
	}
	if !found {
		return 1
	}
	return 0
}

func pidof(c *call) int {
	var pids []string
	if pr := c.state.running[c.arg(0)]; pr != nil {
		pids = append(pids, strconv.Itoa(pr.pid))
	}
	for _, j := range c.jobsInOrder() {
		if j.name == c.arg(0) {
			pids = append(pids, strconv.Itoa(j.pid))
		}
	}
	if len(pids) == 0 {
		return 1
	}
	c.printf("%s\n", strings.Join(pids, " "))
	return 0
}

// isProcess reports whether a path is the folder of /proc of something that runs.
func (p *Phone) isProcess(path string) bool {
	text, below := strings.CutPrefix(path, "/proc/")
	pid, err := strconv.Atoi(text)
	return below && err == nil && p.send(pid, 0)
}

// jobFile are the files of /proc of a job.
func (p *Phone) jobFile(name string) (text string, ok bool) {
	for pid, j := range p.state.jobs {
		switch name {
		case fmt.Sprintf("/proc/%d/cmdline", pid):
			return strings.ReplaceAll(j.line, " ", "\x00") + "\x00", true
		case fmt.Sprintf("/proc/%d/comm", pid):
			return j.name + "\n", true
		}
	}
	return "", false
}
