package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// benchmarkData is the file that androidx.benchmark writes since 1.0: first with JsonWriter, later
// with androidx.benchmark.json.BenchmarkData. Older files lack sampledMetrics, brand and most of
// what later versions record of the device.
type benchmarkData struct {
	Context    deviceContext     `json:"context"`
	Benchmarks []json.RawMessage `json:"benchmarks"`
}

// benchmark is one test of a suite with the values of all its repetitions.
type benchmark struct {
	at        string // "benchmarks[3]", for messages
	name      string // with its parameters: "startup[mode=COLD]"
	className string
	repeats   int // repetitions requested; in a Microbenchmark the loop's length
	// single has one value per repetition, sampled any number of them.
	single  map[string][]float64
	sampled map[string][][]float64
	// percentiles are those over all repetitions, where there are no samples: ".p50" and so on. nil
	// for a file.
	percentiles map[string]map[string]float64
}

func (im *importing) readBenchmarks(data []byte) (deviceContext, []benchmark, error) {
	var file benchmarkData
	if err := json.Unmarshal(data, &file); err != nil {
		return deviceContext{}, nil, explain(err)
	}
	if n := len(file.Benchmarks); n == 0 || n > run.MaxEvents {
		return deviceContext{}, nil, fmt.Errorf("benchmarks has %d entries, want 1 to %d", n, run.MaxEvents)
	}
	out := make([]benchmark, 0, len(file.Benchmarks))
	names := map[string]bool{}
	for i, raw := range file.Benchmarks {
		b, err := readBenchmark(raw)
		b.at = fmt.Sprintf("benchmarks[%d]", i)
		if err != nil {
			return deviceContext{}, nil, fmt.Errorf("%s.%w", b.at, err)
		}
		for _, l := range b.lengths() {
			names[l.metric] = true
		}
		if len(names) > run.MaxMetrics {
			return deviceContext{}, nil, fmt.Errorf("%s.metrics brings the file to %d names of metrics, at most %d are allowed", b.at, len(names), run.MaxMetrics)
		}
		out = append(out, b)
	}
	return file.Context, out, nil
}

func readBenchmark(raw json.RawMessage) (benchmark, error) {
	var fields struct {
		Name             string                     `json:"name"`
		ClassName        string                     `json:"className"`
		RepeatIterations int                        `json:"repeatIterations"`
		Metrics          map[string]json.RawMessage `json:"metrics"`
		SampledMetrics   map[string]json.RawMessage `json:"sampledMetrics"`
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return benchmark{}, explain(err)
	}
	b := benchmark{
		name: fields.Name, className: fields.ClassName, repeats: fields.RepeatIterations,
		single: map[string][]float64{}, sampled: map[string][][]float64{},
	}
	switch {
	case b.name == "":
		return b, errors.New("name is empty, want the test's name")
	case b.className == "":
		return b, errors.New("className is empty, want the test's class: is this file from androidx.benchmark?")
	case len(fields.Metrics)+len(fields.SampledMetrics) == 0:
		return b, errors.New("metrics is empty, and so is sampledMetrics")
	}
	for name, raw := range fields.Metrics {
		runs, err := readRuns[number](raw)
		if err != nil {
			return b, fmt.Errorf("metrics.%s.%w", prose.Short(name), err)
		}
		b.single[name] = floats(runs)
	}
	for name, raw := range fields.SampledMetrics {
		runs, err := readRuns[[]number](raw)
		if err != nil {
			return b, fmt.Errorf("sampledMetrics.%s.%w", prose.Short(name), err)
		}
		for _, samples := range runs {
			b.sampled[name] = append(b.sampled[name], floats(samples))
		}
	}
	return b, nil
}

// readRuns reads the values of each repetition; the statistics next to them (minimum, median, P50
// and so on) can be computed from these.
func readRuns[T any](raw json.RawMessage) ([]T, error) {
	var fields struct {
		Runs []T `json:"runs"`
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, explain(err)
	}
	if n := len(fields.Runs); n == 0 || n > run.MaxIterations {
		return nil, fmt.Errorf("runs has %d entries, want a value for each of 1 to %d repetitions", n, run.MaxIterations)
	}
	return fields.Runs, nil
}

// repetitions returns how many repetitions have a value of some metric.
func (b benchmark) repetitions() int {
	n := 0
	for _, l := range b.lengths() {
		n = max(n, l.values)
	}
	return n
}

// micro reports whether it is a test of Microbenchmark, which times code, and counts its
// allocations in a separate pass.
func (b benchmark) micro() bool {
	_, timed := b.single["timeNs"]
	_, counted := b.single["allocationCount"]
	return timed || counted
}

// pkg returns the package of the test's class.
func (b benchmark) pkg() string {
	i := strings.LastIndexByte(b.className, '.')
	return b.className[:max(i, 0)]
}
