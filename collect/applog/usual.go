package applog

import (
	"iter"
	"slices"
	"time"
)

// durations are how long UI events took in the run's complete repetitions so far, by name, at most
// maxDurations of each.
type durations map[string][]time.Duration

const (
	maxDurations = 100
	// usualFrom is how many times an event must have been seen before another one can be called
	// slow.
	usualFrom = 3
)

// add adds the events of a complete repetition.
func (d durations) add(s Seen) {
	for name, span := range s.spans() {
		if len(d[name]) < maxDurations {
			d[name] = append(d[name], span[1]-span[0])
		}
	}
}

// usual returns the usual durations of events: the lower median of what was seen.
func (d durations) usual() map[string]time.Duration {
	out := map[string]time.Duration{}
	for name, took := range d {
		if len(took) >= usualFrom {
			out[name] = slices.Sorted(slices.Values(took))[(len(took)-1)/2]
		}
	}
	return out
}

// spans iterates over the repetition's UI events with when each began and ended: at the next one,
// or with the workload.
func (s Seen) spans() iter.Seq2[string, [2]time.Duration] {
	return func(yield func(string, [2]time.Duration) bool) {
		for i, e := range s.Events {
			to := s.Alive
			if i+1 < len(s.Events) {
				to = s.Events[i+1].Time
			}
			if !yield(e.Name, [2]time.Duration{e.Time, to}) {
				return
			}
		}
	}
}

// learn returns the anomalies of a repetition, and adds the event durations of a complete one.
func (w *Watcher) learn(s Seen, usual map[string]time.Duration) []Anomaly {
	if s.Lost == nil {
		if w.took == nil {
			w.took = durations{}
		}
		w.took.add(s)
	}
	return s.all(usual)
}
