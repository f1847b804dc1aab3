package run

import (
	"maps"
	"strings"

	"github.com/apkgate/apkgate/metric"
)

// The metrics of frames from which others are derived.
const (
	framesCount = "frames.count"
	framesJanky = "frames.janky"
	framesRatio = "frames.smooth_ratio"
	framesMS    = "frames.duration_ms"
)

// Incomplete marks an iteration that lacks buckets which others have, such as of a suite that ran
// fewer of its benchmarks: a sum over them would look like a change of the app.
const Incomplete = "iteration.incomplete"

// totals returns an iteration's own totals, completed from its buckets: sums of what adds up, and
// the mean time of their frames. Where the iteration counts other frames than its buckets, these
// are not used.
func totals(it Iteration, catalogue *metric.Catalogue) map[string]float64 {
	if _, incomplete := it.Metrics[Incomplete]; incomplete || len(it.Events) == 0 {
		return withSmoothRatio(it.Metrics)
	}
	sums := sumsOf(it.Events, catalogue)
	stated, has := it.Metrics[framesCount]
	otherFrames := has && stated != sums[framesCount]
	out := make(map[string]float64, len(it.Metrics)+len(sums))
	for name, v := range sums {
		if !otherFrames || !ofFrames(name) {
			out[name] = v
		}
	}
	maps.Copy(out, it.Metrics)
	return withSmoothRatio(out)
}

// sumsOf returns the totals of the buckets, by metric. A missing value is not zero: a sum of some
// buckets is no total. Only where no frames or ANRs are given there were none.
func sumsOf(events []Bucket, catalogue *metric.Catalogue) map[string]float64 {
	sums, in := map[string]float64{}, map[string]int{} // in how many buckets
	filled, framed := 0, 0                             // buckets with any metric, and with any of frames
	for _, e := range events {
		n, counted := e.Metrics[framesCount]
		still := counted && n <= 0 // without frames there is nothing to report
		filled += min(len(e.Metrics), 1)
		if !still && tellsOfFrames(e) {
			framed++
		}
		add := func(name string, v float64) {
			sums[name] += v
			in[name]++
		}
		for name, v := range e.Metrics {
			switch m, _ := catalogue.Lookup(name); {
			case still && ofFrames(name) && name != framesCount:
			case name == framesMS && counted:
				add(name, v*n)
			case name == framesRatio && counted:
				if _, has := e.Metrics[framesJanky]; !has {
					add(framesJanky, (1-v)*n)
				}
			case m.Sums:
				add(name, v)
			}
		}
	}
	for name := range sums {
		switch {
		case name == framesCount, name == "anr.count":
		case ofFrames(name) && in[name] < framed, !ofFrames(name) && in[name] < filled:
			delete(sums, name)
		}
	}
	if _, timed := sums[framesMS]; timed {
		sums[framesMS] /= sums[framesCount]
	}
	return sums
}

func ofFrames(name string) bool { return strings.HasPrefix(name, "frames.") }

func tellsOfFrames(b Bucket) bool {
	for name := range b.Metrics {
		if ofFrames(name) {
			return true
		}
	}
	return false
}
