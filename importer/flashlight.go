package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// flashlightResult is a TestCaseResult of flashlight (packages/core/types).
type flashlightResult struct {
	Name       string            `json:"name"`
	Type       string            `json:"type"`
	Iterations []json.RawMessage `json:"iterations"`
}

// flashlightIteration is one repetition, measured every half second.
type flashlightIteration struct {
	Time     *number `json:"time"` // of the whole repetition, in ms
	Status   string  `json:"status"`
	Retried  bool    `json:"isRetriedIteration"`
	Measures []struct {
		FPS *number `json:"fps"`
		RAM *number `json:"ram"` // MB
		CPU struct {
			PerName map[string]number `json:"perName"` // % of one core
		} `json:"cpu"`
	} `json:"measures"`
}

const flashlightFailure = "FAILURE"

// The metrics of a flashlight run. None is in the catalogue: its frames per second count idle time
// as full speed, and its memory is resident pages, not PSS.
var flashlightMetrics = []metric.Metric{
	{Name: "flashlight.fps", Unit: "fps", Direction: metric.HigherIsBetter, Title: "frames per second", Decimals: 1, Resolution: 0.1},
	{Name: "flashlight.cpu_percent", Unit: "%", Direction: metric.LowerIsBetter, Title: "CPU, all threads", Decimals: 1, Log: true, Resolution: 0.1},
	{Name: "flashlight.ram_mb", Unit: "MB", Direction: metric.LowerIsBetter, Title: "memory", Decimals: 1, Log: true, Resolution: 0.1},
	{Name: "flashlight.time_ms", Unit: "ms", Direction: metric.LowerIsBetter, Title: "time of the test", Log: true, Resolution: 1},
}

// flashlight reads the output of `flashlight test --resultsFilePath`: one run, each iteration's
// numbers being the means over its measures.
func (im *importing) flashlight(data []byte) error {
	var result flashlightResult
	if err := json.Unmarshal(data, &result); err != nil {
		return explain(err)
	}
	if n := len(result.Iterations); n == 0 || n > run.MaxIterations {
		return fmt.Errorf("iterations has %d entries, want 1 to %d", n, run.MaxIterations)
	}
	if result.Type != "" {
		return fmt.Errorf("type is %q: only results of Android are read", prose.Short(result.Type))
	}
	r := im.newRun("", result.Name, "flashlight", nil)
	for i, raw := range result.Iterations {
		var it flashlightIteration
		if err := json.Unmarshal(raw, &it); err != nil {
			return fmt.Errorf("iterations[%d].%w", i, explain(err))
		}
		if it.Retried {
			continue // it was measured again, and that one is in the list too
		}
		if it.Status == flashlightFailure {
			im.warnf("iterations[%d] ended in %s and is left out", i, flashlightFailure)
			r.Status = run.Partial
			continue
		}
		metrics := it.metrics()
		if len(metrics) == 0 {
			return fmt.Errorf("iterations[%d].%w", i, errors.New("measures is empty, want fps, ram or cpu"))
		}
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: metrics})
	}
	for _, m := range flashlightMetrics {
		im.declare(m)
	}
	return im.add(r, 0)
}

func (it flashlightIteration) metrics() map[string]float64 {
	var fps, ram, cpu []float64
	for _, m := range it.Measures {
		if m.FPS != nil {
			fps = append(fps, float64(*m.FPS))
		}
		if m.RAM != nil {
			ram = append(ram, float64(*m.RAM))
		}
		if len(m.CPU.PerName) > 0 {
			total := 0.0
			for _, thread := range slices.Sorted(maps.Keys(m.CPU.PerName)) {
				total += float64(m.CPU.PerName[thread])
			}
			cpu = append(cpu, total)
		}
	}
	out := map[string]float64{}
	for name, values := range map[string][]float64{
		"flashlight.fps": fps, "flashlight.ram_mb": ram, "flashlight.cpu_percent": cpu,
	} {
		if len(values) > 0 {
			out[name] = mean(values)
		}
	}
	if it.Time != nil && len(out) > 0 {
		out["flashlight.time_ms"] = float64(*it.Time)
	}
	return out
}
