// Package record builds the parts of a run's record from the measurements of its repetitions:
// iterations with a bucket for each UI event, the section on what did not respond, and doubts about
// all of them together.
//
// It owns how measurements become metrics, and not how they were made: it uses no device, file or
// clock. What is unknown is left out of a record, and never 0.
package record

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/energymeter"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/jank"
)

// Spent returns the energy of the repetitions that have it.
func Spent(measured []Measurement) (out []*energymeter.Spent) {
	for _, m := range measured {
		if m.Energy != nil {
			out = append(out, m.Energy)
		}
	}
	return out
}

// Iterations builds the record's iterations from the measurements. Only the repetition in the
// middle keeps its frames.
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

// middle returns the index of the iteration with the median time per frame, -1 if there is none.
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

// iteration sums up a repetition: totals, and a bucket for each UI event (paper, section 5.2.2: the
// first holds what came before the first event).
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
	m.addSettled(&it, buckets)
	m.addTasks(&it)
	m.count(&it)
	if m.Energy != nil {
		m.Energy.AddTo(&it)
	}
	return it
}

// addTimes adds the known times of the whole to the record.
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

// addSettled adds to each event how long it took until the last frame before the next one, and to
// the whole the longest of these times: a picture that comes late makes no frame late.
func (m Measurement) addSettled(it *run.Iteration, buckets [][]jank.Frame) {
	const name = "events.settled_ms"
	for i, drawn := range buckets {
		if i == 0 || len(drawn) == 0 {
			continue
		}
		var last time.Duration
		for _, f := range drawn {
			last = max(last, f.At+max(f.Took, 0))
		}
		took := milliseconds(last - m.Events[i-1].Time)
		it.Events[i].Metrics[name] = took
		it.Metrics[name] = max(it.Metrics[name], took)
	}
}

// addTasks adds the longest times of asynchronous tasks, and the longest queue, to the whole and to
// each bucket: a task belongs to the event after which it was scheduled.
func (m Measurement) addTasks(it *run.Iteration) {
	if m.Tasks == nil {
		return
	}
	const forever = time.Duration(math.MaxInt64)
	maps.Copy(it.Metrics, m.Tasks.Metrics(0, forever))
	for i := range it.Events {
		from, until := time.Duration(0), forever
		if i > 0 {
			from = m.Events[i-1].Time
		}
		if i < len(it.Events)-1 {
			until = m.Events[i].Time
		}
		maps.Copy(it.Events[i].Metrics, m.Tasks.Metrics(from, until))
	}
}

// addMemory adds the app's memory to the record, as far as it is known.
func (m Measurement) addMemory(it *run.Iteration) {
	for name, kb := range map[string]int64{"memory.rss_kb": m.RSSKB, "memory.peak_rss_kb": m.PeakKB, "memory.pss_kb": m.PSSKB} {
		if kb > 0 {
			it.Metrics[name] = float64(kb)
		}
	}
}
