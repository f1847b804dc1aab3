package frames

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

// readCPU reads utime and stime, fields 14 and 15 of /proc/PID/stat (proc(5)).
// The name in field 2 may hold spaces and brackets.
func (s *Sampler) readCPU(stat []byte) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 13 {
		return
	}
	user, errU := strconv.ParseInt(fields[11], 10, target.TickBits)
	system, errS := strconv.ParseInt(fields[12], 10, target.TickBits)
	if errU == nil && errS == nil && user >= 0 && system >= 0 {
		s.ticks[s.pid] = time.Duration(user+system) * target.Tick
	}
}

// CPU is the CPU time of all of the app's processes that were seen.
func (s *Sampler) CPU() time.Duration {
	sum := time.Duration(0)
	for _, t := range s.ticks {
		sum += t
	}
	return sum
}

var totalPSS = regexp.MustCompile(`(?m)^\s*TOTAL(?: PSS:)?\s+(\d+)`)

// memoryEvery is how often the memory is read of an app that ends with the workload:
// the answer takes long, and keeps the app from its own work meanwhile.
const memoryEvery = 5 * time.Second

// memoryQuestion asks for the app's memory.
func memoryQuestion(app string) string { return device.Quote("dumpsys", "meminfo", app) }

// readMemory reads the answer; one that tells nothing changes nothing.
func (s *Sampler) readMemory(text []byte) {
	m := totalPSS.FindSubmatch(text)
	if m == nil {
		return
	}
	if kb, err := strconv.ParseInt(string(m[1]), 10, 40); err == nil {
		s.pssKB, s.pssAt = kb, s.uptime
	}
}

// Memory is the app's proportional set size: after the workload where the app still
// runs, or else when it was last read; 0 where it never was.
func (s *Sampler) Memory(ctx context.Context) (int64, error) {
	if s.pid == 0 {
		return s.pssKB, nil
	}
	out, err := s.Target.Ask(ctx, memoryQuestion(s.App))
	if err != nil {
		return 0, fmt.Errorf("read the app's memory: %w", err)
	}
	s.readMemory(out.Stdout)
	return s.pssKB, nil
}
