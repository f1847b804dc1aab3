package methods

import (
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/simpleperf"
)

// eventRank returns how well an event measures time, lower is better; -1 means not at all. The
// modifiers of a name ("task-clock:u") do not matter.
func eventRank(name string) int {
	name, _, _ = strings.Cut(name, ":")
	return slices.Index([]string{"task-clock", "cpu-clock", "cpu-cycles", "cycles"}, name)
}

// isClock reports whether the event's period is time, in nanoseconds.
func isClock(event string) bool {
	rank := eventRank(event)
	return rank == 0 || rank == 1
}

// sampled returns the event in Profile.Events whose samples measure time best. Of two of one kind,
// such as cpu-cycles:u and cpu-cycles:k, it is the one with more samples: the sum of both could
// count a moment twice.
func sampled(p *simpleperf.Profile) (event int, ok bool) {
	counts := make([]int, len(p.Events))
	for _, s := range p.Samples {
		counts[s.Event]++
	}
	event = -1
	for i, e := range p.Events {
		rank := eventRank(e.Name)
		if rank < 0 || counts[i] == 0 {
			continue
		}
		if event < 0 || rank < eventRank(p.Events[event].Name) || rank == eventRank(p.Events[event].Name) && counts[i] > counts[event] {
			event = i
		}
	}
	return event, event >= 0
}

// clockRate limits the periods of a clock's samples and returns the inverse of their median, in Hz;
// 0 without samples.
func clockRate(samples []Sample) float64 {
	periods := make([]time.Duration, len(samples))
	for i := range samples {
		samples[i].Period = min(max(samples[i].Period, 0), maxPeriod)
		periods[i] = samples[i].Period
	}
	return rate(median(periods))
}

// cyclesToTime converts periods in cycles to time: all samples together stand for their number
// times the usual interval between two samples of a thread, each in proportion to its cycles. It
// reports whether it could.
func cyclesToTime(t *Trace) bool {
	last := map[int]time.Duration{}
	var steps []time.Duration
	cycles := 0.0
	for _, s := range t.Samples {
		if before, seen := last[s.Thread]; seen && s.Time > before {
			steps = append(steps, s.Time-before)
		}
		last[s.Thread] = s.Time
		cycles += float64(s.Period)
	}
	step := min(median(steps), maxPeriod)
	if step == 0 || cycles == 0 {
		return false
	}
	total := step.Seconds() * float64(len(t.Samples))
	for i := range t.Samples {
		s := &t.Samples[i]
		seconds := float64(s.Period) / cycles * total
		s.Period = time.Duration(min(seconds, maxPeriod.Seconds()) * float64(time.Second))
	}
	t.Hz = rate(step)
	return true
}

func rate(period time.Duration) float64 {
	if period <= 0 {
		return 0
	}
	return 1 / period.Seconds()
}

// median returns the upper median, 0 for none. It sorts its argument.
func median(values []time.Duration) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}
