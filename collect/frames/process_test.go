package frames

import (
	"strings"
	"testing"
	"time"
)

// No counts of ticks add up to a time below 0.
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
