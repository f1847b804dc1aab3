package framesource

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
)

// reading is the kernel's report on processes, of one command.
type reading struct {
	uptime string         // the line of /proc/uptime
	boot   string         // boot_id
	stats  map[int]string // /proc/PID/stat, by process
	status []byte         // the lines of /proc/PID/status, of the app
	pids   []int          // of the app, if they were queried
}

// The lines of a reading, by their form.
var (
	uptimeIs = regexp.MustCompile(`^\d{1,12}\.\d+ \d{1,12}\.\d+$`)
	bootIs   = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	statIs   = regexp.MustCompile(`^(\d{1,9}) \(`)
	pidsAre  = regexp.MustCompile(`^\d{1,9}( \d{1,9})*$`)
)

func readingOf(text []byte) reading {
	r := reading{stats: map[int]string{}}
	for line := range bytes.Lines(text) {
		one := strings.TrimRight(string(line), "\r\n")
		switch stat := statIs.FindStringSubmatch(one); {
		case stat != nil:
			pid, _ := strconv.Atoi(stat[1])
			r.stats[pid] = one
		case r.uptime == "" && uptimeIs.MatchString(one):
			r.uptime = one
		case bootIs.MatchString(one):
			r.boot = one
		case pidsAre.MatchString(one):
			for word := range strings.FieldsSeq(one) {
				if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
					r.pids = append(r.pids, pid)
				}
			}
		default:
			r.status = append(r.status, line...)
		}
	}
	return r
}

// files returns the files that are read with each query: of the app, if it is known, and of the
// device's state.
func (s *Sampler) files() []string {
	files := s.Target.Vitals.Files()
	if s.pid != 0 {
		files = append(files, fmt.Sprintf("/proc/%d/stat", s.pid), fmt.Sprintf("/proc/%d/status", s.pid))
	}
	return files
}

// take takes over what a reading shows of the app, of the device and of the watching processes.
func (s *Sampler) take(ctx context.Context, r reading, workloadRuns bool) error {
	before := s.CPU()
	s.readProcess([]byte(r.stats[s.pid] + "\n" + string(r.status)))
	if workloadRuns { // else it is part of what adbd has waited for
		s.takeWatch(r)
	}
	if s.Target.Vitals.System == 0 {
		return nil
	}
	return s.Target.CheckAliveFrom(ctx, r.boot, beganOf(r.stats[s.Target.Vitals.System]), s.CPU() > before)
}

// beganOf returns when a process began, field 22 of /proc/PID/stat (proc(5)); "" for none.
func beganOf(stat string) string {
	fields := statFields(stat)
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// statFields returns the fields after the name, which may contain spaces and brackets: from the
// third on.
func statFields(stat string) []string {
	end := strings.LastIndexByte(stat, ')')
	if end < 0 {
		return nil
	}
	return strings.Fields(stat[end+1:])
}

// WatchFrom starts counting the CPU time of the watching processes.
func (s *Sampler) WatchFrom(ctx context.Context) error {
	files := s.Target.Vitals.Files()
	if len(files) == 0 {
		return nil
	}
	out, err := s.Target.Question(ctx, device.Quote(append([]string{"cat"}, files...)...))
	if err != nil {
		return fmt.Errorf("read what watching takes: %w", err)
	}
	s.watchFrom, s.watched = map[int]time.Duration{}, map[int]time.Duration{}
	s.takeWatch(readingOf(out.Stdout))
	s.watched = map[int]time.Duration{}
	return nil
}

// takeWatch records the CPU time of the watching processes: of adbd and of the commands that it has
// run and waited for, which are its children, and of the log's follower.
func (s *Sampler) takeWatch(r reading) {
	for _, pid := range s.Target.Vitals.Watch {
		fields := statFields(r.stats[pid])
		if len(fields) < 15 {
			continue
		}
		sum := time.Duration(0)
		for _, text := range fields[11:15] { // utime, stime, cutime, cstime
			ticks, err := strconv.ParseInt(text, 10, target.TickBits)
			if err != nil || ticks < 0 {
				return
			}
			sum += time.Duration(ticks) * target.Tick
		}
		if _, known := s.watchFrom[pid]; !known {
			s.watchFrom[pid] = sum
		}
		s.watched[pid] = sum
	}
}

// Watching returns the CPU time of watching on the device, from WatchFrom to the last reading in
// the workload; false if there was none, or the device does not report it.
func (s *Sampler) Watching() (sum time.Duration, ok bool) {
	for pid, last := range s.watched {
		sum += last - s.watchFrom[pid]
		ok = true
	}
	return sum, ok && sum >= 0
}
