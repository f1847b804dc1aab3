package methods

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/energy/unmix"
)

// The period in which threads count as running at once is long enough for several samples of each.
const (
	minWindow        = 100 * time.Millisecond
	periodsPerWindow = 10
	maxWindows       = 1 << 20
)

// Powers returns the power in watts attributed to each sample, 0 if unknown: the device's, divided
// by the number of the app's threads that ran at the time. That number is their CPU time in a
// window divided by the window's length, where no thread counts for more than one. For an app with
// one thread it is the device's power, as in the paper. The samples must be in chronological order.
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

// PowersOf returns the powers in W attributed to the samples of traces, as by Attribute with the
// same options: as read (Powers), or separated if the sensor is slower than the methods. The
// samples must be in chronological order.
func PowersOf(traces []Trace, o Options) [][]float64 {
	out := make([][]float64, len(traces))
	var s *split
	a := attribution{byKey: map[methodKey]int{}}
	for _, t := range traces {
		a.ids = append(a.ids, a.idsOf(t))
	}
	if o.Measured && !o.AsRead {
		s = splitOf(traces, a.ids, len(a.methods))
	}
	for i, t := range traces {
		out[i] = Powers(t)
		if s == nil {
			continue
		}
		running := concurrency(t)
		for k, sample := range t.Samples {
			if sample.Reading >= 0 {
				out[i][k] = s.watts(i, sample.Time, a.ids[i][sample.Chain[0]], running(sample.Time))
			}
		}
	}
	return out
}

// concurrency returns how many threads ran at an instant of the trace, at least 1.
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

// slowerThan is the number of readings that a method must usually span at a time for a reading to
// be of that method alone.
const slowerThan = 5

// split is the power of the floor and of each method's own code, separated from a sensor's readings
// (package unmix). The sources are the ids of methods.
type split struct{ model *unmix.Model }

// splitOf separates them; it returns nil if the sensor is fast enough for the methods, or has too
// few readings. ids are the ids of each trace's frames, methods the number of methods.
func splitOf(traces []Trace, ids [][]int, methods int) *split {
	if update := update(traces); usualStretch(traces, ids, methods) >= slowerThan*update {
		return nil
	}
	recordings := make([]unmix.Recording, len(traces))
	seconds, samples := 0.0, 0
	for i, t := range traces {
		recordings[i] = unmix.Recording{Readings: t.Readings, Spells: spells(t, ids[i])}
		for _, s := range t.Samples {
			seconds += s.Period.Seconds()
		}
		samples += len(t.Samples)
	}
	if samples == 0 {
		return nil
	}
	model, ok := unmix.Fit(recordings, methods, seconds/float64(samples))
	if !ok {
		return nil
	}
	return &split{model}
}

// update returns the median duration of a reading.
func update(traces []Trace) time.Duration {
	var all []time.Duration
	for _, t := range traces {
		for _, r := range t.Readings {
			all = append(all, r.To-r.From)
		}
	}
	return median(all)
}

// spells converts a trace's samples to CPU time: since its last sample a thread's clock has
// advanced by a period, at an unknown time in between.
func spells(t Trace, ids []int) []unmix.Spell {
	out := make([]unmix.Spell, len(t.Samples))
	last := map[Thread]time.Duration{}
	for i, s := range t.Samples {
		thread := t.Threads[s.Thread]
		from, seen := last[thread]
		if !seen || from > s.Time-s.Period {
			from = s.Time - s.Period
		}
		last[thread] = s.Time
		out[i] = unmix.Spell{From: from, To: s.Time, Seconds: s.Period.Seconds(), Source: ids[s.Chain[0]]}
	}
	return out
}

// watts returns the power in W attributed to a sample of a trace, while running threads ran: its
// own above the floor, and its share of the floor and of the model's residual.
func (s *split) watts(trace int, at time.Duration, method int, running float64) float64 {
	return max(0, s.model.AboveW(method)+(s.model.FloorW+s.model.LeftW(trace, at))/running)
}
