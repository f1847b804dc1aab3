package load

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// The answer of a Pixel-like device, with two of its CPUs off.
const answer = `cpu  1000 200 300 4000 500 60 40 0 900 0
cpu0 500 100 150 2000 250 30 20 0 0 0
cpu1 500 100 150 2000 250 30 20 0 0 0
intr 1
apkgate-next
MemTotal:        8000000 kB
MemFree:          100000 kB
MemAvailable:    2000000 kB
apkgate-next
ready: cpu
failed: storage: dd: no space
ready: memory
apkgate-next
/data/local/tmp/apkgate-load-w1
apkgate-next
alive
`

func TestState(t *testing.T) {
	t.Parallel()
	s := read([]byte(answer))
	// Of user, nice, system, irq and softirq: 1000+200+300+60+40; idle and waiting for storage: 4500.
	if s.busy != 1600 || s.all != 6100 || s.cpus != 2 || !s.alive || s.written != 1 {
		t.Errorf("%+v", s)
	}
	if s.memory != 8_192_000_000 || s.available != 2_048_000_000 || s.inUse() != 0.75 {
		t.Errorf("%d of %d bytes", s.available, s.memory)
	}
	if got := s.said("ready"); !slices.Equal(got, []string{"cpu", "memory"}) {
		t.Errorf("ready %q", got)
	}
	if got := s.said("failed"); !slices.Equal(got, []string{"storage: dd: no space"}) {
		t.Errorf("failed %q", got)
	}
	later := state{busy: 1600 + 300, all: 6100 + 400}
	if share, known := later.busySince(s); !known || share != 0.75 {
		t.Errorf("busy for %g, %v", share, known)
	}
}

func FuzzState(f *testing.F) {
	f.Add(answer)
	f.Add(strings.Repeat("ready: cpu\n", 50))
	f.Add("cpu 18446744073709551615 1 1 1\n" + mark + "MemTotal: 999999999999999 kB")
	f.Fuzz(func(t *testing.T, text string) {
		s := read([]byte(text))
		if len(s.said("ready")) > most || s.memory < 0 || s.available < 0 || s.busy > s.all || math.IsNaN(s.inUse()) {
			t.Errorf("%+v", s)
		}
	})
}
