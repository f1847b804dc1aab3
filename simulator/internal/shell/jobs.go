package shell

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Job is a program other than an app that runs on the phone: a recorder, or a
// command line in the background.
type Job struct {
	Name string
	Line string // its command line
	// Signal makes it end, now or after a while.
	Signal func(number int)
	// Died is told of a process beside the jobs that ended; it may be nil.
	Died func(pid int)
	// Guarded is what SELinux runs in a domain of its own, which the shell may end
	// but neither ask by signal 0 nor kill.
	Guarded bool
	Program any // what runs, for those who know it
	// CPU is what it had of the CPUs; nil where nobody counts.
	CPU func() time.Duration

	pid int
}

// PID is the job's process id, once it was added.
func (j *Job) PID() int { return j.pid }

// refuses reports whether SELinux keeps a signal of the shell's from the job.
func (j *Job) refuses(number int) bool { return j.Guarded && (number == 0 || number == sigKill) }

// firstJob is where the process ids of jobs begin, far from those of apps.
const firstJob = 20_000

// maxJobs bounds what runs in the background.
const maxJobs = 200

// newPID is a free process id for a job.
func (h *Host) newPID() int {
	h.nextJob += 3
	return firstJob + h.nextJob
}

// AddJob puts a job on the list; its pid is that of the background shell that
// runs it alone, or a new one.
func (s *Shell) AddJob(j *Job) {
	j.pid = s.pid
	if j.pid == 0 {
		j.pid = s.host.newPID()
	}
	s.host.jobs[j.pid] = j
}

// EndJob takes a job off the list.
func (h *Host) EndJob(j *Job) {
	if h.HasJob(j) {
		delete(h.jobs, j.pid)
	}
}

// HasJob reports whether a job still runs; a restart of the phone ends all.
func (h *Host) HasJob(j *Job) bool { return h.jobs[j.pid] == j }

// Jobs are the jobs by pid.
func (h *Host) Jobs() []*Job {
	var out []*Job
	for _, pid := range slices.Sorted(maps.Keys(h.jobs)) {
		out = append(out, h.jobs[pid])
	}
	return out
}

// TellJobs tells all jobs that a process beside them ended.
func (h *Host) TellJobs(pid int) {
	for _, j := range h.Jobs() {
		if j.Died != nil {
			j.Died(pid)
		}
	}
}

// StatLine is /proc/PID/stat of a process, with what it and its children that have ended had
// of the CPUs, and when it began.
func StatLine(pid int, name string, own, children, began time.Duration) string {
	const tick = 10 * time.Millisecond
	return fmt.Sprintf("%d (%s) S 1 1 0 0 -1 1077936448 0 0 0 0 %d %d %d %d 20 0 4 0 %d 40000000 900 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 2 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		pid, name, int64(own/tick)*3/4, int64(own/tick)-int64(own/tick)*3/4, int64(children/tick)/2, int64(children/tick)-int64(children/tick)/2, int64(began/tick))
}

// ProcFile is a file of /proc of a job.
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
