package importer

import (
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// measured is a benchmark under the catalogue's names.
type measured struct {
	name    string
	metrics []map[string]float64 // of each repetition
	frames  []frames             // of each repetition; nil where the benchmark has none
}

// framesOf returns the frames of repetition i, none where it has none.
func (m measured) framesOf(i int) frames {
	if i < len(m.frames) {
		return m.frames[i]
	}
	return frames{}
}

// incomplete marks an iteration that lacks some benchmarks, so that it has no totals.
var incomplete = metric.Metric{Name: run.Incomplete, Title: "iteration lacks some benchmarks"}

// known maps the names that androidx.benchmark has used to the catalogue's. The value becomes
// offset + scale · value.
var known = map[string]struct {
	name          string
	scale, offset float64
}{
	"timeToInitialDisplayMs":    {"startup.ttid_ms", 1, 0},
	"startupMs":                 {"startup.ttid_ms", 1, 0}, // until 1.1.0-alpha
	"timeToFullDisplayMs":       {"startup.ttfd_ms", 1, 0},
	"fullyDrawnMs":              {"startup.ttfd_ms", 1, 0}, // until 1.1.0-alpha
	"frameCount":                {"frames.count", 1, 0},
	"totalFrameCount":           {"frames.count", 1, 0},
	"frameTime50thPercentileMs": {"frames.duration_ms.p50", 1, 0},
	"frameTime90thPercentileMs": {"frames.duration_ms.p90", 1, 0},
	"frameTime95thPercentileMs": {"frames.duration_ms.p95", 1, 0},
	"frameTime99thPercentileMs": {"frames.duration_ms.p99", 1, 0},
	"jankyFramePercent":         {"frames.smooth_ratio", -0.01, 1},
	"energyTotalUws":            {"energy.total_j", 1e-6, 0},
	"powerTotalUw":              {"power.mean_w", 1e-6, 0},
}

// frameCPUTime are the names of the sampled frame times, newest first.
var frameCPUTime = []string{"frameDurationCpuMs", "frameCpuTimeMs"}

const frameOverrun = "frameOverrunMs"

// frameSamples returns the frame times and overruns of each repetition, nil where the benchmark has
// none.
func (b benchmark) frameSamples() (cpuMS, overrunMS [][]float64) {
	for _, name := range frameCPUTime {
		if b.sampled[name] != nil {
			return b.sampled[name], b.sampled[frameOverrun]
		}
	}
	return nil, nil
}

// platformFrames reports whether the benchmark has frame statistics of the
// platform, as the first versions of Macrobenchmark did.
func (b benchmark) platformFrames() bool {
	_, percentile := b.single["frameTime50thPercentileMs"]
	_, percent := b.single["jankyFramePercent"]
	return percentile || percent
}

// printedFrames reports whether the benchmark only has percentiles of frame times.
func (b benchmark) printedFrames() bool {
	return slices.ContainsFunc(frameCPUTime, func(name string) bool { return b.percentiles[name] != nil })
}

func sameShape(a, b [][]float64) bool {
	return slices.EqualFunc(a, b, func(x, y []float64) bool { return len(x) == len(y) })
}

// measure converts the benchmark's numbers to the catalogue's names.
func (im *importing) measure(b benchmark, byDeadline bool) measured {
	m := measured{name: b.name, metrics: make([]map[string]float64, b.repetitions())}
	for i := range m.metrics {
		m.metrics[i] = map[string]float64{}
	}
	for _, name := range slices.Sorted(maps.Keys(b.single)) {
		convert, to := im.single(name)
		for i, v := range b.single[name] {
			m.metrics[i][to] = convert(v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.sampled)) {
		if slices.Contains(frameCPUTime, name) {
			continue
		}
		to := im.sampled(name)
		im.declareSampled(androidxMetric(to, name))
		for i, samples := range b.sampled[name] {
			addSamples(m.metrics[i], to, samples)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.percentiles)) {
		to := "frames.duration_ms"
		if !slices.Contains(frameCPUTime, name) {
			to = im.sampled(name)
			im.declareSampled(androidxMetric(to, name))
		}
		for suffix, v := range b.percentiles[name] {
			m.metrics[0][to+suffix] = v
		}
	}
	cpuMS, overrunMS := b.frameSamples()
	for i, samples := range cpuMS {
		f := frames{cpuMS: samples}
		if byDeadline {
			f.overrunMS = overrunMS[i]
		}
		f = im.withoutNegative(b, f)
		m.frames = append(m.frames, f)
		if len(f.cpuMS) > 0 {
			maps.Copy(m.metrics[i], f.metrics())
		} else {
			delete(m.metrics[i], "frames.count")
		}
	}
	return m
}

// single returns the conversion of a metric with one value per repetition, and its name.
func (im *importing) single(name string) (convert func(float64) float64, to string) {
	if k, ok := known[name]; ok {
		return func(v float64) float64 { return k.offset + k.scale*v }, k.name
	}
	to = im.nameOf(name)
	im.declare(androidxMetric(to, name))
	return func(v float64) float64 { return v }, to
}

// sampled returns the name of a metric with many values per repetition.
func (im *importing) sampled(name string) string {
	if name == frameOverrun {
		return "frames.overrun_ms"
	}
	return im.nameOf(name)
}

// withoutNegative leaves out frames whose time is below zero: a trace that lost events gives such
// meaningless times.
func (im *importing) withoutNegative(b benchmark, f frames) frames {
	if !slices.ContainsFunc(f.cpuMS, func(ms float64) bool { return ms < 0 }) {
		return f
	}
	var kept frames
	for i, ms := range f.cpuMS {
		if ms < 0 {
			continue
		}
		kept.cpuMS = append(kept.cpuMS, ms)
		if f.overrunMS != nil {
			kept.overrunMS = append(kept.overrunMS, f.overrunMS[i])
		}
	}
	im.warnf("%s (%s): left out %d frames whose time is below zero", b.at, prose.Short(b.name), len(f.cpuMS)-len(kept.cpuMS))
	return kept
}

// length is how many repetitions have a value of a metric.
type length struct {
	metric string
	values int
}

// lengths returns those of all metrics, by name.
func (b benchmark) lengths() []length {
	var out []length
	for name, runs := range b.single {
		out = append(out, length{name, len(runs)})
	}
	for name, runs := range b.sampled {
		out = append(out, length{name, len(runs)})
	}
	for name := range b.percentiles {
		out = append(out, length{name, 1})
	}
	slices.SortFunc(out, func(x, y length) int { return strings.Compare(x.metric, y.metric) })
	return out
}
