package frames

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/target"
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

// Memory asks for the app's proportional set size where it still runs; the
// answer takes long, so that it is asked for after the frames.
func (s *Sampler) Memory(ctx context.Context) (int64, error) {
	if s.pid == 0 {
		return 0, nil
	}
	text, err := s.Target.Output(ctx, "dumpsys", "meminfo", s.App)
	if err != nil {
		return 0, err
	}
	m := totalPSS.FindStringSubmatch(text)
	if m == nil {
		return 0, nil
	}
	kb, err := strconv.ParseInt(m[1], 10, 40)
	if err != nil {
		return 0, nil //nolint:nilerr // a number that long is no memory
	}
	return kb, nil
}
