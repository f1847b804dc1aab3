package methods

import (
	"math"
	"time"
)

// A window of time in which threads count as running at once is long enough to
// hold several samples of each.
const (
	minWindow        = 100 * time.Millisecond
	periodsPerWindow = 10
	maxWindows       = 1 << 20
)

// Powers is the power in watts that falls to each sample, 0 where none is known:
// the device's, divided by how many of the app's threads ran at the time. That is
// their CPU time in a window over the window's length, where no thread counts for
// more than one. Of an app of one thread it is the device's power, as in the paper.
// The samples must be in the order of time.
func Powers(t Trace) []float64 {
	out := make([]float64, len(t.Samples))
	running := concurrency(t)
	for i, s := range t.Samples {
		if s.Reading >= 0 {
			out[i] = s.Watts / running(s.Time)
		}
	}
	return out
}

// concurrency is how many threads ran at an instant of the trace, at least 1.
func concurrency(t Trace) func(time.Duration) float64 {
	if len(t.Samples) == 0 {
		return func(time.Duration) float64 { return 1 }
	}
	periods := make([]time.Duration, len(t.Samples))
	for i, s := range t.Samples {
		periods[i] = s.Period
	}
	period := median(periods)
	start, span := t.Samples[0].Time, t.Samples[len(t.Samples)-1].Time-t.Samples[0].Time
	span += max(1, min(period, math.MaxInt64-span))
	windows := int(min(max(1, span/max(minWindow, periodsPerWindow*period)), maxWindows))
	length := max(1, span/time.Duration(windows))
	place := func(at time.Duration) int { return min(int((at-start)/length), windows-1) }

	type slot struct{ window, pid, tid int }
	busy := map[slot]time.Duration{}
	running := make([]time.Duration, windows) // of all threads together
	for _, s := range t.Samples {
		thread := t.Threads[s.Thread]
		at := slot{place(s.Time), thread.PID, thread.TID}
		before := busy[at]
		busy[at] += s.Period
		running[at.window] += min(busy[at], length) - min(before, length)
	}
	return func(at time.Duration) float64 {
		return max(1, running[place(at)].Seconds()/length.Seconds())
	}
}
