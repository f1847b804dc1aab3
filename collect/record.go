package collect

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/frames"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/power"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/frame"
)

// maxKeptFrames bounds the frames that a record keeps for pictures.
const maxKeptFrames = 20_000

// finish makes the record of what was measured.
func (c *collector) finish(err error) run.Run {
	c.target.Journal = c.journal
	c.compareEvents()
	c.tellCoverage()
	c.tellWatching()
	c.record()
	if c.meter != nil {
		c.run.Energy = c.meter.Record(c.spent())
	}
	if c.watcher != nil {
		c.run.Evidence = slices.Concat(c.job.Files, c.watcher.Kept)
		c.run.Frames = c.spentOn(c.watcher.Kept)
		c.addViews()
	}
	r := c.run
	switch {
	case len(c.measured) == 0:
		r.Status = run.Failed
	case err != nil:
		r.Status = run.Partial
	default:
		r.Status = run.Complete
	}
	r.Warnings = c.journal.Warnings
	if err != nil { // the last warning is what run.Why tells
		r.Warnings = append(r.Warnings, run.Warning{Text: why(err)})
	}
	c.journal.Report(journal.Done, 0, 0, string(r.Status))
	return r
}

// record makes iterations of what was measured so far, and puts what that tells of the
// context into the run.
func (c *collector) record() {
	c.correctRefreshRate()
	c.tellFramesBy()
	if c.watcher != nil && c.evident { // recording takes some of what is measured
		c.setContext("recorded", "perfetto")
	}
	if c.run.Iterations = c.takeImported(); c.run.Iterations == nil {
		c.run.Iterations = iterations(c.measured)
	}
	for i := range c.run.Iterations {
		if c.buildSize != nil && c.run.Iterations[i].Metrics == nil {
			c.run.Iterations[i].Metrics = map[string]float64{}
		}
		maps.Copy(c.run.Iterations[i].Metrics, c.buildSize)
	}
}

// soFar is the run as it is now, for who decides whether to go on: complete, and
// without what is worked out at its end. The collector is left as it is.
func (c *collector) soFar() run.Run {
	quiet := *c
	quiet.journal = journal.New(c.job.name(), nil)
	quiet.run.Context, quiet.run.Declared = maps.Clone(c.run.Context), slices.Clone(c.run.Declared)
	quiet.record()
	quiet.run.Status, quiet.run.Warnings = run.Complete, []run.Warning{}
	return quiet.run
}

// why says in one sentence why a run is not complete, for its record.
func why(err error) string {
	if errors.Is(err, ErrOtherBuild) {
		return ErrOtherBuild.Error()
	}
	return loss.Why(err)
}

// spent is the energy of the repetitions, of those that have it.
func (c *collector) spent() (out []*power.Spent) {
	for _, m := range c.measured {
		if m.energy != nil {
			out = append(out, m.energy)
		}
	}
	return out
}

// iterations makes the record's iterations of what was measured. The frames
// themselves are kept for the repetition in the middle alone.
func iterations(measured []measurement) []run.Iteration {
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
func (m measurement) iteration() run.Iteration {
	buckets := make([][]frame.Frame, m.bucketEvents()+1)
	for _, f := range m.frames {
		i := m.bucketOf(f.At)
		buckets[i] = append(buckets[i], f)
	}
	it := run.Iteration{Metrics: m.drawn(m.frames)}
	if !m.unseen && m.whole.Count > len(m.frames) {
		it.FramesSeen = m.whole.Seen(len(m.frames))
		it.Metrics["frames.count"], it.Metrics["frames.janky"] = float64(m.whole.Count), float64(m.whole.Janky)
		it.Metrics["frames.smooth_ratio"] = 1 - float64(m.whole.Janky)/float64(m.whole.Count)
	}
	if m.startup > 0 {
		it.Metrics["startup.ttid_ms"] = milliseconds(m.startup)
	}
	if m.fullStart > 0 {
		it.Metrics["startup.ttfd_ms"] = milliseconds(m.fullStart)
	}
	if m.cpu > 0 {
		it.Metrics["cpu.time_ms"] = milliseconds(m.cpu)
	}
	if m.watching >= 0 {
		it.Metrics["watching.cpu_ms"] = milliseconds(m.watching)
	}
	if m.rssKB > 0 {
		it.Metrics["memory.rss_kb"] = float64(m.rssKB)
	}
	if m.peakKB > 0 {
		it.Metrics["memory.peak_rss_kb"] = float64(m.peakKB)
	}
	m.collected.addTo(&it)
	addWork(&it, m.counted, m.done)
	if m.pssKB > 0 {
		it.Metrics["memory.pss_kb"] = float64(m.pssKB)
	}
	for i, drawn := range buckets {
		name := run.Start
		if i > 0 {
			name = m.events[i-1].Name
		}
		it.Events = append(it.Events, run.Bucket{Name: name, Metrics: m.drawn(drawn)})
	}
	m.count(&it)
	if m.energy != nil {
		m.energy.AddTo(&it)
	}
	return it
}

// drawn sums frames up; nothing where nobody looked at them.
func (m measurement) drawn(drawn []frame.Frame) map[string]float64 {
	if m.unseen {
		return map[string]float64{}
	}
	out := frame.Metrics(drawn)
	if m.by == frames.Shown { // a pause can't be told from an app that stood still (shown.Still)
		delete(out, "frames.frozen")
	}
	return out
}

// bucketEvents is how many UI events get a bucket.
func (m measurement) bucketEvents() int { return min(len(m.events), run.MaxEvents-1) }

// bucketOf is the bucket of a frame that was due at this time: that of the last
// event before it.
func (m measurement) bucketOf(at time.Duration) int {
	lo, hi := 0, m.bucketEvents()
	for lo < hi {
		mid := (lo + hi) / 2
		if m.events[mid].Time <= at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// picture lists the frames whose time is told, in the order in which they were drawn.
func (m measurement) picture() []run.Frame {
	drawn := slices.Clone(m.frames)
	slices.SortStableFunc(drawn, func(a, b frame.Frame) int { return cmp.Compare(a.At, b.At) })
	var out []run.Frame
	for _, f := range drawn {
		if f.Took != frame.Unknown && len(out) < maxKeptFrames {
			out = append(out, run.Frame{DurationMS: milliseconds(f.Took), Bucket: m.bucketOf(f.At)})
		}
	}
	return out
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// compareEvents warns of repetitions whose UI events are not those of the
// first: their buckets can't be compared one by one.
func (c *collector) compareEvents() {
	for _, m := range c.measured {
		first := eventNames(c.measured[0])
		if got := eventNames(m); !slices.Equal(got, first) {
			c.journal.Warnf("repetition %d has other UI events than repetition %d: %s", m.repetition, c.measured[0].repetition, difference(got, first))
		}
	}
}

func eventNames(m measurement) []string {
	var out []string
	for _, e := range m.events {
		out = append(out, e.Name)
	}
	return out
}

func difference(got, want []string) string {
	if len(got) != len(want) {
		return strconv.Itoa(len(got)) + " instead of " + strconv.Itoa(len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return "event " + strconv.Itoa(i+1) + " is " + strconv.Quote(got[i]) + " instead of " + strconv.Quote(want[i])
		}
	}
	return strings.Join(got, ", ")
}
