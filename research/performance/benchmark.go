package performance

import (
	"fmt"
	"strconv"
	"strings"
)

// benchmarked parses the output of a Go benchmark: the values of its one line by unit. Several
// lines are an error, as a figure is of one.
func benchmarked(output string) (map[Unit]float64, error) {
	values := map[Unit]float64{}
	lines := 0
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		lines++
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("the benchmark's %q is no number", fields[i])
			}
			switch fields[i+1] {
			case "ns/op":
				values[PerOp], values[NanoPerOp] = v/1e6, v
			case "B/op":
				values[MemoryOp] = v / 1e6
			case "MB/s":
				values[PerSecond] = v
			}
		}
	}
	if lines > 1 {
		return nil, fmt.Errorf("%d benchmarks ran, want 1", lines)
	}
	return values, nil
}
