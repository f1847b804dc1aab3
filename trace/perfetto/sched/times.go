package sched

import (
	"strings"
	"time"
)

// Times are how long a thread was in which kind of state: it ran, was runnable (it waited for a CPU),
// slept, or slept without being interruptible (as a rule for storage or in the kernel).
type Times struct{ Running, Runnable, Sleeping, Uninterruptible time.Duration }

// spent adds a state to the times of its thread.
func (r *Reader) spent(thread int32, name uint16, d time.Duration) {
	for len(r.Times) <= int(thread) {
		r.Times = append(r.Times, Times{})
	}
	t, state := &r.Times[thread], r.Names[name]
	switch {
	case name == isRunning:
		t.Running += d
	case strings.HasPrefix(state, "R"):
		t.Runnable += d
	case strings.HasPrefix(state, "D"):
		t.Uninterruptible += d
	case strings.HasPrefix(state, "S"), strings.HasPrefix(state, "I"):
		t.Sleeping += d
	}
}
