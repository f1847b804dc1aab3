// Package record makes the parts of a run's record from what was measured in its repetitions:
// iterations with a bucket for each UI event, the section of what did not respond, and what is
// doubtful about all of them together.
//
// It owns how measurements become metrics, and nothing of how they were made: it asks no
// device, reads no file and knows no clock. It takes a stand: what is not known is left out of
// a record, and never 0.
package record

import (
	"maps"
	"slices"

	"github.com/apkgate/apkgate/collect/energymeter"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/jank"
)

// Spent is the energy of the repetitions, of those that have it.
func Spent(measured []Measurement) (out []*energymeter.Spent) {
	for _, m := range measured {
		if m.Energy != nil {
			out = append(out, m.Energy)
		}
	}
	return out
}

// Iterations makes the record's iterations of what was measured. The frames
// themselves are kept for the repetition in the middle alone.
func Iterations(measured []Measurement) []run.Iteration {
	out := make([]run.Iteration, len(measured))
	for i, m := range measured {
		out[i] = m.iteration()
	}
	fillStandstills(out)
	if i := middle(out); i >= 0 {
		out[i].Frames = measured[i].picture()
	}
	return out
}

// middle is the index of the iteration whose time per frame is the median, -1
// where there is none.
func middle(its []run.Iteration) int {
	order := make([]int, len(its))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := its[a].Metrics["frames.duration_ms"], its[b].Metrics["frames.duration_ms"]
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	if len(order) == 0 {
		return -1
	}
	return order[(len(order)-1)/2]
}

// iteration sums a repetition up: totals, and a bucket for each UI event (paper,
// section 5.2.2: the first holds what came before the first event).
func (m Measurement) iteration() run.Iteration {
	buckets := make([][]jank.Frame, m.bucketEvents()+1)
	for _, f := range m.Frames {
		i := m.bucketOf(f.At)
		buckets[i] = append(buckets[i], f)
	}
	it := run.Iteration{Metrics: m.drawn(m.Frames)}
	if !m.Unseen && m.Whole.Count > len(m.Frames) {
		it.FramesSeen = m.Whole.Seen(len(m.Frames))
		it.Metrics["frames.count"], it.Metrics["frames.janky"] = float64(m.Whole.Count), float64(m.Whole.Janky)
		it.Metrics["frames.smooth_ratio"] = 1 - float64(m.Whole.Janky)/float64(m.Whole.Count)
	}
	m.addTimes(&it)
	m.addMemory(&it)
	maps.Copy(it.Metrics, m.Traced)
	if m.Done != nil {
		it.Metrics["work.page_faults"], it.Metrics["work.waits"] = float64(m.Done.Faults), float64(m.Done.Waits)
	}
	for i, drawn := range buckets {
		name := run.Start
		if i > 0 {
			name = m.Events[i-1].Name
		}
		it.Events = append(it.Events, run.Bucket{Name: name, Metrics: m.drawn(drawn)})
	}
	m.count(&it)
	if m.Energy != nil {
		m.Energy.AddTo(&it)
	}
	return it
}

// addTimes puts the times of the whole into the record, of those that are known.
func (m Measurement) addTimes(it *run.Iteration) {
	if m.Startup > 0 {
		it.Metrics["startup.ttid_ms"] = milliseconds(m.Startup)
	}
	if m.FullStart > 0 {
		it.Metrics["startup.ttfd_ms"] = milliseconds(m.FullStart)
	}
	if m.CPU > 0 {
		it.Metrics["cpu.time_ms"] = milliseconds(m.CPU)
	}
	if m.Watching >= 0 {
		it.Metrics["watching.cpu_ms"] = milliseconds(m.Watching)
	}
}

// addMemory puts the app's memory into the record, as far as it is known.
func (m Measurement) addMemory(it *run.Iteration) {
	for name, kb := range map[string]int64{"memory.rss_kb": m.RSSKB, "memory.peak_rss_kb": m.PeakKB, "memory.pss_kb": m.PSSKB} {
		if kb > 0 {
			it.Metrics[name] = float64(kb)
		}
	}
}
