package gfxinfo

import (
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// frameCounts is the block of statistics that Android 6 and later keep.
type frameCounts struct {
	total, janky, legacy int
	types                map[timeline.JankTypes]int
	histogram            []int
}

// buckets are the histogram's labels in ms, as in AOSP's ProfileData: every ms up to 32, every
// second to 48, every fourth to 133, then every 50th.
var buckets = func() []int {
	var b []int
	for ms := 5; ms <= 32; ms++ {
		b = append(b, ms)
	}
	for ms := 34; ms <= 48; ms += 2 {
		b = append(b, ms)
	}
	for ms := 53; ms <= 133; ms += 4 {
		b = append(b, ms)
	}
	for ms := 150; ms <= 4950; ms += 50 {
		b = append(b, ms)
	}
	return b
}()

// bucketOf returns the index of a duration's bucket.
func bucketOf(d time.Duration) int {
	ms := int(d / time.Millisecond)
	at := 0
	for i, label := range buckets {
		if label > 32 && label < 150 {
			if ms > buckets[i-1] && ms < 150 { // these buckets are labelled by their upper end
				at = i
			}
		} else if ms >= label {
			at = i
		}
	}
	return at
}

func count(frames []*timeline.Frame) frameCounts {
	c := frameCounts{histogram: make([]int, len(buckets)), types: map[timeline.JankTypes]int{}}
	for _, f := range frames {
		c.total++
		c.histogram[bucketOf(f.Charged)]++
		if f.Legacy {
			c.legacy++
		}
		if f.Janky {
			c.janky++
		}
		for t := timeline.MissedVsync; t <= timeline.MissedDeadline; t <<= 1 {
			if f.Types&t != 0 {
				c.types[t]++
			}
		}
	}
	return c
}

// percentile is determined from the slow end of the histogram, as in Android.
func (c frameCounts) percentile(percent int) int {
	remaining := c.total - c.total*percent/100
	for i := len(buckets) - 1; i >= 0; i-- {
		if remaining -= c.histogram[i]; remaining <= 0 {
			return buckets[i]
		}
	}
	return 0
}

// summary prints the statistics since the last reset.
func (d *dump) summary(frames []*timeline.Frame) {
	d.f("\nStats since: %dns\n", int64(d.process.Since))
	d.counts(count(frames))
	if d.api >= 30 {
		d.gpu(frames)
	}
}

// counts prints the counters.
func (d *dump) counts(c frameCounts) {
	share := func(n int) float64 {
		if c.total == 0 {
			return 0
		}
		return 100 * float64(n) / float64(c.total)
	}
	d.f("Total frames rendered: %d\nJanky frames: %d (%.2f%%)\n", c.total, c.janky, share(c.janky))
	if d.api >= 31 {
		d.f("Janky frames (legacy): %d (%.2f%%)\n", c.legacy, share(c.legacy))
	}
	if d.api >= 24 {
		d.f("50th percentile: %dms\n", c.percentile(50))
	}
	for _, percent := range []int{90, 95, 99} {
		d.f("%dth percentile: %dms\n", percent, c.percentile(percent))
	}
	d.f("Number Missed Vsync: %d\nNumber High input latency: %d\nNumber Slow UI thread: %d\n",
		c.types[timeline.MissedVsync], c.types[timeline.HighInputLatency], c.types[timeline.SlowUI])
	d.f("Number Slow bitmap uploads: %d\nNumber Slow issue draw commands: %d\n", c.types[timeline.SlowSync], c.types[timeline.SlowRender])
	if d.api >= 28 {
		d.f("Number Frame deadline missed: %d\n", c.janky)
	}
	if d.api >= 31 {
		d.f("Number Frame deadline missed (legacy): %d\n", c.legacy)
	}
	if d.api < 24 {
		d.f("\n")
		return
	}
	d.f("HISTOGRAM:")
	for i, n := range c.histogram {
		d.f(" %dms=%d", buckets[i], n)
	}
	d.f("\n")
}

// gpu prints the GPU's histogram: the time from the swap to the end.
func (d *dump) gpu(frames []*timeline.Frame) {
	const labels = 26 // 1 to 25 ms, and 4950
	counts := make([]int, labels)
	for _, f := range frames {
		counts[min(int((f.Drawn()-f.Swap)/time.Millisecond), labels-1)]++
	}
	label := func(i int) int {
		if i == labels-1 {
			return 4950
		}
		return i + 1
	}
	for _, percent := range []int{50, 90, 95, 99} {
		remaining, i := len(frames)-len(frames)*percent/100, labels-1
		for ; i > 0 && remaining > counts[i]; i-- {
			remaining -= counts[i]
		}
		d.f("%dth gpu percentile: %dms\n", percent, label(i))
	}
	d.f("GPU HISTOGRAM:")
	for i, n := range counts {
		d.f(" %dms=%d", label(i), n)
	}
	d.f("\n")
}
