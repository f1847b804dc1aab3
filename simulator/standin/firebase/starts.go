package firebase

import (
	"fmt"
	"strconv"
)

// Starts returns the results of a Macrobenchmark of three starts (see Service), for an app
// whose APK contains the duration of a start in milliseconds: phones are slower by 1 % for
// each earlier matrix, like different phones of a model, up to 4 %, and the last start takes
// twice as long.
func Starts(app, model string, number int) string {
	ms, _ := strconv.ParseFloat(app, 64)
	ms *= 1 + float64(number%5)/100
	return fmt.Sprintf(`{"context": {"build": {"brand": "google", "device": %q, "model": %[1]q, "version": {"sdk": 33}}, "cpuCoreCount": 8, "memTotalBytes": 7900000000},
"benchmarks": [{"name": "start", "params": {}, "className": "com.example.StartBenchmark", "totalRunTimeNs": 1,
"metrics": {"timeToInitialDisplayMs": {"minimum": %[2]g, "maximum": %[3]g, "median": %[2]g, "runs": [%[2]g, %[2]g, %[3]g]}},
"sampledMetrics": {}, "warmupIterations": 0, "repeatIterations": 3, "thermalThrottleSleepSeconds": 0}]}`, model, ms, 2*ms)
}
