package firebase

import (
	"fmt"
	"strconv"
	"strings"
)

// Scrolls returns the results of a Macrobenchmark of three scrolls of 40 frames (see Service),
// for an app whose APK contains the duration of a frame in milliseconds, of which 16 are
// available. Phones are slower by 1 % for each earlier matrix, up to 4 %.
func Scrolls(app, model string, number int) string {
	ms, _ := strconv.ParseFloat(app, 64)
	ms *= 1 + float64(number%5)/100
	repetitions := func(ms float64) string {
		one := "[" + strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%g,", ms), 40), ",") + "]"
		return fmt.Sprintf(`{"P50": %g, "runs": [%s, %[2]s, %[2]s]}`, ms, one)
	}
	return fmt.Sprintf(`{"context": {"build": {"brand": "google", "device": %q, "model": %[1]q, "version": {"sdk": 33}}, "cpuCoreCount": 8, "memTotalBytes": 7900000000},
"benchmarks": [{"name": "scroll", "params": {}, "className": "com.example.ListBenchmark", "totalRunTimeNs": 1, "metrics": {},
"sampledMetrics": {"frameDurationCpuMs": %[2]s, "frameOverrunMs": %[3]s}, "warmupIterations": 0, "repeatIterations": 3, "thermalThrottleSleepSeconds": 0}]}`,
		model, repetitions(ms), repetitions(ms-16))
}
