package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// The tools of androidx.benchmark, as in MeasuredBy.
const (
	macrobenchmark = "macrobenchmark"
	microbenchmark = "microbenchmark"
)

// The values of metric.FramesBy: how frames were timed and by which limit they were janky. Two of
// them can occur on one phone: only Android 12 and later record a frame's deadline.
const (
	byDeadline = "deadline" // CPU time; janky: over its deadline
	byCPUTime  = "cpu_time" // CPU time; janky: over one refresh at 60 Hz
	byGfxinfo  = "gfxinfo"  // both as counted by the platform, in whole ms
)

// maxFrames limits the frames that are kept of a run for a figure.
const maxFrames = 20_000

// androidx reads a file of androidx.benchmark: one run for each class in it, with the class's
// benchmarks as events.
func (im *importing) androidx(data []byte) error {
	device, benchmarks, err := im.readBenchmarks(data)
	if err != nil {
		return err
	}
	return im.benchmarks(benchmarks, device, data, len(im.warnings))
}

// benchmarks adds the runs of all classes. The warnings from the given index onwards apply to each
// of them, and report that something is missing.
func (im *importing) benchmarks(benchmarks []benchmark, device deviceContext, data []byte, warned int) error {
	missing := im.warnings[warned:]
	suites, order := map[string][]benchmark{}, []string{}
	for _, b := range benchmarks {
		if suites[b.className] == nil {
			order = append(order, b.className)
		}
		suites[b.className] = append(suites[b.className], b)
	}
	session := ""
	if len(order) > 1 {
		sum := sha256.Sum256(data)
		session = hex.EncodeToString(sum[:8])
	}
	for _, class := range order {
		if err := im.suite(class, suites[class], device, session, missing); err != nil {
			return fmt.Errorf("class %s: %w", prose.Short(class), err)
		}
	}
	return nil
}

// suite adds the run of one class. The session is "" for the only one of a file; several were
// measured in one session, and where the options name the scenario, it is extended by the class.
func (im *importing) suite(class string, benchmarks []benchmark, device deviceContext, session string, missing []run.Warning) error {
	warned := len(im.warnings)
	properties := device.properties()
	by := framesBy(benchmarks)
	if by != "" {
		properties[metric.FramesBy] = by
	}
	measuredBy := macrobenchmark
	if slices.ContainsFunc(benchmarks, benchmark.micro) {
		measuredBy = microbenchmark
	}
	if benchmarks[0].percentiles != nil {
		measuredBy += printedSuffix
	}
	r := im.newRun(benchmarks[0].pkg(), class, measuredBy, properties)
	r.Session = session
	if len(missing) > 0 {
		r.Status = run.Partial
	}
	if session != "" && im.opts.Scenario != "" {
		r.Scenario = im.opts.Scenario + "/" + class
	}

	tests := make([]measured, len(benchmarks))
	for i, b := range benchmarks {
		tests[i] = im.measure(b, by == byDeadline)
		if !im.complete(b, tests[i]) {
			r.Status = run.Partial
		}
	}
	r.Iterations = im.iterations(tests)
	return im.add(r, warned, missing...)
}

// framesBy returns how the suite's frames were timed, "" where it has none. All frames of a run are
// judged alike: by deadlines only where every frame has one.
func framesBy(benchmarks []benchmark) string {
	by := ""
	for _, b := range benchmarks {
		cpu, overrun := b.frameSamples()
		switch {
		case b.printedFrames():
			return byCPUTime
		case cpu == nil && by == "" && b.platformFrames():
			by = byGfxinfo
		case cpu == nil:
		case !sameShape(cpu, overrun):
			return byCPUTime
		default:
			by = byDeadline
		}
	}
	return by
}

// complete reports whether every repetition of the benchmark has frames, where any has, and warns
// where not.
//
// It also warns where a metric has fewer values than repetitions. Such a repetition did not fail,
// which would have left no results at all: androidx.benchmark leaves out the repetitions whose
// traces lack the metric, and does not report which (Macrobenchmark.kt and
// MetricResultExtensions.kt, mergeMultiIterResults). A Microbenchmark's repeatIterations is the
// length of its inner loop and is not used.
func (im *importing) complete(b benchmark, m measured) bool {
	whole := true
	for i, frames := range m.frames {
		if len(frames.cpuMS) == 0 {
			im.warnf("%s (%s): no frames in repetition %d", b.at, prose.Short(b.name), i+1)
			whole = false
		}
	}
	if b.micro() {
		return whole
	}
	for _, c := range b.lengths() {
		if c.values < b.repeats {
			im.warnf("%s (%s): %s has %s for %d repetitions: the traces of the others lack it", b.at, prose.Short(b.name), prose.Short(c.metric), prose.Count(c.values, "value", "values"), b.repeats)
		}
	}
	return whole
}

// iterations combines the benchmarks' repetitions: iteration i has the i-th of each. A benchmark
// with fewer repetitions is absent from the later ones.
func (im *importing) iterations(tests []measured) []run.Iteration {
	n := 0
	for _, t := range tests {
		n = max(n, len(t.metrics))
	}
	out := make([]run.Iteration, n)
	for i := range out {
		it := &out[i]
		for _, t := range tests {
			if i >= len(t.metrics) {
				continue
			}
			if i == 0 {
				it.Frames = appendFrames(it.Frames, t.framesOf(i), len(it.Events))
			}
			it.Events = append(it.Events, run.Bucket{Name: t.name, Metrics: t.metrics[i]})
		}
		it.Metrics = im.totals(tests, i)
	}
	return out
}

// appendFrames keeps the frames of one bucket for a figure, up to maxFrames.
func appendFrames(kept []run.Frame, f frames, bucket int) []run.Frame {
	for _, ms := range f.cpuMS[:min(len(f.cpuMS), maxFrames-len(kept))] {
		kept = append(kept, run.Frame{DurationMS: ms, Bucket: bucket})
	}
	return kept
}

// totals returns the totals of iteration i over all benchmarks. The numbers of a single benchmark
// are the totals. With several, only frames and energy are summed, and only where every benchmark
// that has them was measured: a sum over fewer would look like a change.
func (im *importing) totals(tests []measured, i int) map[string]float64 {
	if len(tests) == 1 {
		return maps.Clone(tests[0].metrics[i])
	}
	var all frames
	energy, metered, missing, fewer := 0.0, 0, false, false
	for _, t := range tests {
		f := t.framesOf(i)
		missing = missing || (t.frames != nil && len(f.cpuMS) == 0)
		fewer = fewer || i >= len(t.metrics)
		all = all.append(f)
		if i < len(t.metrics) {
			if j, ok := t.metrics[i]["energy.total_j"]; ok {
				energy, metered = energy+j, metered+1
			}
		}
	}
	out := map[string]float64{}
	if len(all.cpuMS) > 0 && !missing {
		out = all.metrics()
	}
	if metered == len(tests) {
		out["energy.total_j"] = energy
	}
	if missing || fewer {
		im.declare(incomplete)
		out[incomplete.Name] = 1
	}
	return out
}
