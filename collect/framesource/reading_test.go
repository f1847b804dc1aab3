package framesource

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/target"
)

// One answer contains the clock, the device's start, its processes and the app's memory, in any
// order, and the app's pids.
func TestReadingOf(t *testing.T) {
	t.Parallel()
	const boot = "5d1b9b6e-3a0c-4c4e-9f0f-000000000001"
	stat := func(pid, name, times, began string) string {
		return pid + " (" + name + ") S 1 1 0 0 -1 0 0 0 0 0 " + times + " 20 0 9 0 " + began + " 0 0\n"
	}
	text := "8123.45 25182.90\r\n" + boot + "\n" + stat("1040", "system_server", "1 2 3 4", "1200") +
		stat("560", "adbd", "10 20 300 400", "7") + stat("4217", "a) (b", "30 20 0 0", "99") + "Name:\ta) (b\nVmHWM:\t  180000 kB\nVmRSS:\t  150000 kB\n"
	r := readingOf([]byte(text + "4217 4300\n"))
	if r.uptime != "8123.45 25182.90" || r.boot != boot || len(r.stats) != 3 || len(r.pids) != 2 || r.pids[1] != 4300 || beganOf(r.stats[1040]) != "1200" {
		t.Errorf("%+v", r)
	}
	s := &Sampler{pid: 4217, ticks: map[int]time.Duration{}, done: map[int]Done{}, watchFrom: map[int]time.Duration{}, watched: map[int]time.Duration{},
		Target: &target.Target{Vitals: target.Vitals{Watch: []int{560, 561}}}}
	if _, known := s.Watching(); known {
		t.Error("what watching took is known before anything was read")
	}
	for _, one := range []string{text, strings.Replace(text, "10 20 300 400", "11 20 302 405", 1)} {
		if err := s.take(t.Context(), readingOf([]byte(one)), true); err != nil {
			t.Fatal(err)
		}
	}
	if last, peak := s.RSS(); last != 150_000 || peak != 180_000 || s.CPU() != 500*time.Millisecond {
		t.Errorf("%d kB, at most %d, CPU %v", last, peak, s.CPU())
	}
	if took, known := s.Watching(); !known || took != 80*time.Millisecond { // 1 + 2 + 5 ticks
		t.Errorf("watching took %v, %v", took, known)
	}
}

func FuzzReading(f *testing.F) {
	f.Add([]byte("8123.45 25182.90\n560 (adbd) S 1 1 0 0 -1 0 0 0 0 0 10 20 300 400 20 0 9 0 7 0 0\n4217\nVmRSS:\t 1 kB\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &Sampler{pid: 4217, ticks: map[int]time.Duration{}, done: map[int]Done{}, watchFrom: map[int]time.Duration{}, watched: map[int]time.Duration{},
			Target: &target.Target{Vitals: target.Vitals{Watch: []int{560}}}}
		if err := s.take(t.Context(), readingOf(text), true); err != nil {
			t.Fatal(err)
		}
		if took, _ := s.Watching(); took < 0 || s.CPU() < 0 {
			t.Errorf("watching took %v, the app %v", took, s.CPU())
		}
	})
}
