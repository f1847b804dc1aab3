package rounds

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// LearnAutocorrelation sets, from accepted runs of a place's context, how repetitions follow on
// each other: where the phone is slow for several repetitions at a time, more of them in a turn add
// little, and are further from those of the other build.
func (t *Trial) LearnAutocorrelation(at int, accepted []run.Run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.places[at]
	if p == nil {
		return
	}
	for _, q := range p.questions {
		if !q.metric.Mean {
			q.known.Autocorrelation = q.autocorrelation(accepted)
		}
	}
}

// mostAutocorrelation limits the correlation that is accepted from a few sessions.
const mostAutocorrelation = 0.95

// autocorrelation returns the correlation of a repetition with the next one in these sessions, at
// least 0.
func (q *question) autocorrelation(accepted []run.Run) float64 {
	var series [][]float64
	for _, r := range accepted {
		var values []float64
		for _, it := range r.Iterations {
			if v, has := valueOf(it, q.cell); has {
				values = append(values, v)
			}
		}
		series = append(series, q.onScale(values))
	}
	return min(max(stat.Autocorrelation(series), 0), mostAutocorrelation)
}

// valueOf returns an iteration's value of a cell, the first where an event happened more than once.
func valueOf(it run.Iteration, c run.Cell) (v float64, has bool) {
	metrics := it.Metrics
	if c.Event != "" {
		at := slices.IndexFunc(it.Events, func(b run.Bucket) bool { return b.Name == c.Event })
		if at < 0 {
			return 0, false
		}
		metrics = it.Events[at].Metrics
	}
	v, has = metrics[c.Metric]
	return v, has
}

// onScale returns a session's values as they are judged: by their logarithms where noise is
// multiplicative.
func (q *question) onScale(values []float64) []float64 {
	scale := metric.Linear
	if len(values) > 0 && q.metric.ScaleOf(slices.Min(values)) == metric.Log {
		scale = metric.Log
	}
	for i, v := range values {
		values[i] = q.metric.On(scale, v)
	}
	return values
}

// longer returns the variance of the difference between turns of so many repetitions, as a share of
// that between turns of one. Repetitions follow on each other with the correlation r (an
// autoregressive process of the first order), and so do the builds' turns: r to the power of the
// distance between two repetitions. Independent ones give 1/n.
func longer(turn int, r float64) float64 {
	n := float64(turn)
	within, powers := n, 0.0 // sums of the correlations within a turn, and of r to the powers from 0
	for lag := range turn {
		power := math.Pow(r, float64(lag))
		powers += power
		if lag > 0 {
			within += 2 * (n - float64(lag)) * power
		}
	}
	across := r * powers * powers
	return (within - across) / (n * n * (1 - r))
}
