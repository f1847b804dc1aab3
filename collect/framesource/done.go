package framesource

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// Done are the kernel's counts of a process's work.
type Done struct {
	Faults int64 // minor page faults, of all of its threads
	Waits  int64 // how often the main thread gave up its CPU voluntarily
}

// voluntary matches the count of only the main thread in /proc/PID/status
// (task_context_switch_counts in the kernel's fs/proc/array.c).
var voluntary = regexp.MustCompile(`(?m)^voluntary_ctxt_switches:\s*(\d{1,15})$`)

// DoneOf parses field 10 of /proc/PID/stat, minflt, and the main thread's voluntary switches in
// /proc/PID/status (proc(5)), concatenated; false if either is missing.
func DoneOf(text []byte) (d Done, ok bool) {
	stat, status, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte("\n"))
	end := bytes.LastIndexByte(stat, ')')
	switches := voluntary.FindSubmatch(bytes.ReplaceAll(status, []byte("\r"), nil))
	if end < 0 || switches == nil {
		return Done{}, false
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 13 || len(fields[7]) > 15 {
		return Done{}, false
	}
	faults, err := strconv.ParseInt(fields[7], 10, 64)
	waits, errW := strconv.ParseInt(string(switches[1]), 10, 64)
	return Done{Faults: faults, Waits: waits}, err == nil && errW == nil && faults >= 0
}

// Done returns the counts of all seen processes of the app, at their last reading; false if there
// are none.
func (s *Sampler) Done() (sum Done, ok bool) {
	for _, d := range s.done {
		sum = Done{sum.Faults + d.Faults, sum.Waits + d.Waits}
	}
	return sum, len(s.done) > 0
}
