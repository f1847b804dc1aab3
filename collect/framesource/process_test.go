package framesource

import (
	"strings"
	"testing"
	"time"
)

// Tick counts never add up to a negative time.
func TestTicksDoNotOverflow(t *testing.T) {
	t.Parallel()
	for _, ticks := range []string{"549755813887", "17179869183", "8589934591"} { // 2^39-1, 2^34-1, 2^33-1
		s := &Sampler{pid: 1, ticks: map[int]time.Duration{}}
		for s.pid = range 8 {
			s.readCPU([]byte("1 (x) " + strings.Repeat("0 ", 11) + ticks + " " + ticks + " 0"))
		}
		if s.CPU() < 0 {
			t.Errorf("%s ticks of 8 processes: a CPU time of %v", ticks, s.CPU())
		}
	}
}

// Memory is read next to the times of a process, whose name may contain anything; a process's peak
// is kept if a later reading is lower, as of another process.
func TestReadProcess(t *testing.T) {
	t.Parallel()
	stat := "7 (a) b) S " + strings.Repeat("0 ", 10) + "30 20 0 0\n"
	status := func(now, most string) string {
		return "Name:\ta) b\nState:\tS (sleeping)\nVmPeak:\t 9999999 kB\nVmHWM:\t  " + most + " kB\nVmRSS:\t  " + now + " kB\n"
	}
	s := &Sampler{pid: 7, ticks: map[int]time.Duration{}}
	for _, c := range []struct {
		text       string
		last, peak int64
	}{
		{"\n" + stat + status("150000", "180000"), 150_000, 180_000},
		{"\r\n" + stat + status("140000", "160000"), 140_000, 180_000},
		{stat, 140_000, 180_000},
		{stat + "cat: /proc/7/status: No such file or directory\n", 140_000, 180_000},
		{stat + status("99999999999999999999", "x"), 140_000, 180_000},
		{"", 140_000, 180_000},
	} {
		s.readProcess([]byte(c.text))
		last, peak := s.RSS()
		if last != c.last || peak != c.peak || s.CPU() != 500*time.Millisecond {
			t.Errorf("%q: %d kB, at most %d, CPU %v", c.text, last, peak, s.CPU())
		}
	}
}
