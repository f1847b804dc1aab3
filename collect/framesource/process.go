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

// readProcess parses the kernel's counts of the app's process, which cost the process itself
// nothing: a line of times, and lines of memory.
func (s *Sampler) readProcess(text []byte) {
	stat, status, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte("\n"))
	s.readCPU(stat)
	if d, ok := DoneOf(text); ok {
		s.done[s.pid] = d
	}
	s.readRSS(status)
}

// A process's memory in RAM, current and peak (proc(5)). Shared pages count in full.
var (
	rssNow  = regexp.MustCompile(`(?m)^VmRSS:\s*(\d{1,12}) kB`)
	rssPeak = regexp.MustCompile(`(?m)^VmHWM:\s*(\d{1,12}) kB`)
)

// readRSS parses /proc/PID/status; an empty one changes nothing.
func (s *Sampler) readRSS(status []byte) {
	kb := func(re *regexp.Regexp) (n int64) {
		if m := re.FindSubmatch(status); m != nil {
			n, _ = strconv.ParseInt(string(m[1]), 10, 64)
		}
		return n
	}
	if now := kb(rssNow); now > 0 {
		s.rssKB = now
	}
	s.peakKB = max(s.peakKB, kb(rssPeak))
}

// RSS returns the app's memory in RAM, in kB: at its last reading while it lived, and its peak; 0
// if never read.
func (s *Sampler) RSS() (last, peak int64) { return s.rssKB, s.peakKB }

// readCPU parses the line of times; an empty one changes nothing.
func (s *Sampler) readCPU(stat []byte) {
	if t, ok := CPUOf(stat); ok {
		s.ticks[s.pid] = t
	}
}

// CPUOf parses utime and stime, fields 14 and 15 of /proc/PID/stat (proc(5)): the CPU time of a
// process since it began. The name in field 2 may contain spaces and brackets.
func CPUOf(stat []byte) (_ time.Duration, ok bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, false
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 13 {
		return 0, false
	}
	user, errU := strconv.ParseInt(fields[11], 10, target.TickBits)
	system, errS := strconv.ParseInt(fields[12], 10, target.TickBits)
	return time.Duration(user+system) * target.Tick, errU == nil && errS == nil && user >= 0 && system >= 0
}

// CPU returns the CPU time of all seen processes of the app.
func (s *Sampler) CPU() time.Duration {
	sum := time.Duration(0)
	for _, t := range s.ticks {
		sum += t
	}
	return sum
}

var totalPSS = regexp.MustCompile(`(?m)^\s*TOTAL(?: PSS:)?\s+(\d+)`)

// memoryEvery is how often the memory is read of an app that ends with the workload, if configured:
// the system locks a process's memory while it adds its pages up, which blocks threads that map
// some.
const memoryEvery = 5 * time.Second

// memoryQuestion returns the query of the app's memory.
func memoryQuestion(app string) string { return device.Quote("dumpsys", "meminfo", app) }

// readMemory parses the answer; an empty one changes nothing.
func (s *Sampler) readMemory(text []byte) {
	m := totalPSS.FindSubmatch(text)
	if m == nil {
		return
	}
	if kb, err := strconv.ParseInt(string(m[1]), 10, 40); err == nil {
		s.pssKB, s.pssAt = kb, s.uptime
	}
}

// Remember reads the app's memory after the workload, if the app still runs.
func (s *Sampler) Remember(ctx context.Context) error {
	if s.pid == 0 {
		return nil
	}
	out, err := s.Target.Ask(ctx, memoryQuestion(s.App))
	if err != nil {
		return fmt.Errorf("read the app's memory: %w", err)
	}
	s.readMemory(out.Stdout)
	return nil
}

// MemoryKB returns the app's proportional set size at its last reading; 0 if never read.
func (s *Sampler) MemoryKB() int64 { return s.pssKB }
