package gate_test

import (
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// A sentence on some numbers names the events that it is about, and no others.
func TestTitlesNameEvents(t *testing.T) {
	frames := func(event string) run.Cell { return run.Cell{Event: event, Metric: "frames.duration_ms"} }
	for want, cells := range map[string][]run.Cell{
		"time per frame, CPU time":                    {frames(""), frames("back"), {Metric: "cpu.time_ms"}},
		"time per frame after back":                   {frames("back")},
		"CPU time, time per frame after back and tap": {{Metric: "cpu.time_ms"}, frames("back"), frames("tap")},
		"time per frame after a, b, c and 2 more":     {frames("a"), frames("b"), frames("c"), frames("d"), frames("e")},
		"time per frame":                              {frames("back"), frames("")},
		"":                                            nil,
	} {
		if got := gate.TitlesOf(cells, metric.Default()); got != want {
			t.Errorf("%v: %q, want %q", cells, got, want)
		}
	}
}
