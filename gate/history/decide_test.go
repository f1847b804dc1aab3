package history

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
)

// How bad a deviation is: the share that is lost of what should be more, and the
// logarithm of the factor for what should be less.
func TestHowBadADeviationIs(t *testing.T) {
	size := func(metricName string, value, expected float64) float64 {
		m, _ := metric.Default().Lookup(metricName)
		return (&judgement{metric: m, Comparison: gate.Comparison{Value: value, Expected: expected, Change: value/expected - 1}}).size()
	}
	gatetest.About(t, "a third of the frames lost", size("frames.count", 400, 600), 1.0/3)
	gatetest.About(t, "twice the time", size("cpu.time_ms", 200, 100), math.Ln2)
	gatetest.About(t, "half the time", size("cpu.time_ms", 50, 100), math.Ln2)
	gatetest.About(t, "from less than nothing", size("cpu.time_ms", 5, -10), 1.5)
	gatetest.About(t, "to nothing", size("cpu.time_ms", 0, 10), 1)
}
