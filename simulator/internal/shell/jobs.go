package shell

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Job is a program on the phone other than an app: a recorder, or a background command line.
type Job struct {
	Name string
	Line string // its command line
	// Signal ends it, now or after a while.
	Signal func(number int)
	// Died is called when a process other than a job has ended; it may be nil.
	Died func(pid int)
	// Guarded is a program that SELinux runs in a domain of its own. The shell may end it, but
	// may not send signal 0 or kill it.
	Guarded bool
	Program any // the program, for its own package
	// CPU returns its CPU time; nil if it is not counted.
	CPU func() time.Duration

	pid int
}

// PID is the job's process id, once it was added.
func (j *Job) PID() int { return j.pid }

// refuses reports whether SELinux blocks a signal from the shell to the job.
func (j *Job) refuses(number int) bool { return j.Guarded && (number == 0 || number == sigKill) }

// firstJob is the first process id of jobs, far from those of apps.
const firstJob = 20_000

// maxJobs limits the background jobs.
const maxJobs = 200

// newPID returns a free process id for a job.
func (h *Host) newPID() int {
	h.nextJob += 3
	return firstJob + h.nextJob
}

// AddJob adds a job to the list; its pid is that of the background shell that only runs it, or
// a new one.
func (s *Shell) AddJob(j *Job) {
	j.pid = s.pid
	if j.pid == 0 {
		j.pid = s.host.newPID()
	}
	s.host.jobs[j.pid] = j
}

// Add adds a job with a process id of its own to the list.
func (h *Host) Add(j *Job) {
	j.pid = h.newPID()
	h.jobs[j.pid] = j
}

// EndJob removes a job from the list.
func (h *Host) EndJob(j *Job) {
	if h.HasJob(j) {
		delete(h.jobs, j.pid)
	}
}

// HasJob reports whether a job is still running; a restart of the phone ends all.
func (h *Host) HasJob(j *Job) bool { return h.jobs[j.pid] == j }

// Jobs returns the jobs by pid.
func (h *Host) Jobs() []*Job {
	var out []*Job
	for _, pid := range slices.Sorted(maps.Keys(h.jobs)) {
		out = append(out, h.jobs[pid])
	}
	return out
}

// TellJobs notifies all jobs that another process has ended.
func (h *Host) TellJobs(pid int) {
	for _, j := range h.Jobs() {
		if j.Died != nil {
			j.Died(pid)
		}
	}
}

// StatLine returns /proc/PID/stat of a process, with its own and its ended children's CPU
// time, and its start time.
func StatLine(pid int, name string, own, children, began time.Duration) string {
	const tick = 10 * time.Millisecond
	return fmt.Sprintf("%d (%s) S 1 1 0 0 -1 1077936448 0 0 0 0 %d %d %d %d 20 0 4 0 %d 40000000 900 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 2 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		pid, name, int64(own/tick)*3/4, int64(own/tick)-int64(own/tick)*3/4, int64(children/tick)/2, int64(children/tick)-int64(children/tick)/2, int64(began/tick))
}

// ProcFile returns a file of /proc of a job.
func (h *Host) ProcFile(name string) (text string, ok bool) {
	for pid, j := range h.jobs {
		switch name {
		case fmt.Sprintf("/proc/%d/cmdline", pid):
			return strings.ReplaceAll(j.Line, " ", "\x00") + "\x00", true
		case fmt.Sprintf("/proc/%d/comm", pid):
			return j.Name + "\n", true
		case fmt.Sprintf("/proc/%d/stat", pid):
			if j.CPU != nil {
				return StatLine(pid, j.Name, j.CPU(), 0, 0), true
			}
		}
	}
	return "", false
}
