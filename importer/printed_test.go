package importer

import (
	"maps"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/run"
)

// The output of am instrument -r for one start, in the formats of androidx.benchmark.
const (
	printedStart = `INSTRUMENTATION_STATUS: class=com.x.Startup
INSTRUMENTATION_STATUS: current=1
INSTRUMENTATION_STATUS: id=AndroidJUnitRunner
INSTRUMENTATION_STATUS: numtests=1
INSTRUMENTATION_STATUS: stream=
com.x.Startup:
INSTRUMENTATION_STATUS: test=cold[mode=COLD]
INSTRUMENTATION_STATUS_CODE: 1
`
	printedResults = `INSTRUMENTATION_STATUS: android.studio.display.benchmark=Startup_cold
  timeToInitialDisplayMs   min 301.2,   median 312.5,   max 344.4
INSTRUMENTATION_STATUS: android.studio.v2display.benchmark.outputDirPath=/storage/emulated/0/Android/media/com.x
INSTRUMENTATION_STATUS: time_to_initial_display_millis_median=312.53125
INSTRUMENTATION_STATUS: time_to_initial_display_millis_min=301.2
INSTRUMENTATION_STATUS: time_to_initial_display_millis_stddev=12.5
INSTRUMENTATION_STATUS: frame_count_median=140.0
INSTRUMENTATION_STATUS: frame_duration_cpu_millis_p50=5.5
INSTRUMENTATION_STATUS: frame_duration_cpu_millis_p90=8.25
INSTRUMENTATION_STATUS: frame_duration_cpu_millis_p95=11.0
INSTRUMENTATION_STATUS: frame_duration_cpu_millis_p99=31.75
INSTRUMENTATION_STATUS: memory_heap_size_max_kb_median=20480.0
INSTRUMENTATION_STATUS_CODE: 2
`
	printedEnd = `INSTRUMENTATION_STATUS: class=com.x.Startup
INSTRUMENTATION_STATUS: test=cold[mode=COLD]
INSTRUMENTATION_STATUS_CODE: 0
INSTRUMENTATION_CODE: -1
`
)

// The medians are those of a file; the percentiles are over all repetitions.
func TestPrintedResults(t *testing.T) {
	want := map[string]float64{
		"startup.ttid_ms": 312.53125, "frames.count": 140, "memoryHeapSizeMaxKb": 20480,
		"frames.duration_ms.p50": 5.5, "frames.duration_ms.p90": 8.25, "frames.duration_ms.p95": 11, "frames.duration_ms.p99": 31.75,
	}
	whole := printedStart + printedResults + printedEnd
	for name, text := range map[string]string{
		"whole":                  whole,
		"with other line ends":   strings.ReplaceAll(whole, "\n", "\r\n"),
		"told twice alike":       whole + whole,
		"errors were suppressed": strings.NewReplacer(": time_to", ": EMULATOR_LOW-BATTERY_time_to", ": frame", ": EMULATOR_LOW-BATTERY_frame", ": memory", ": EMULATOR_LOW-BATTERY_memory").Replace(whole),
		"without its end":        printedStart + printedResults,
		"after other lines":      "Starting...\n" + whole,
	} {
		r, _ := read1(t, []byte(text), Options{})
		if r.Status != run.Complete || len(r.Iterations) != 1 || !maps.Equal(r.Iterations[0].Metrics, want) {
			t.Errorf("%s: %s %+v, want %v", name, r.Status, r.Iterations, want)
		}
		if r.Scenario != "com.x.Startup" || r.Iterations[0].Events[0].Name != "cold[mode=COLD]" || r.Context[MeasuredBy] != "macrobenchmark_log" || r.Context["frames_by"] != "cpu_time" {
			t.Errorf("%s: %s %s %v", name, r.Scenario, r.Iterations[0].Events[0].Name, r.Context)
		}
	}
}

// Truncated output is no result: neither half of a number nor a suite that lacks a test.
func TestTruncatedPrintedResults(t *testing.T) {
	at := strings.Index(printedResults, "2.53125")
	for text, want := range map[string]string{
		printedStart + printedResults[:at]:                                                                    "it has no results of androidx.benchmark",
		printedStart + strings.TrimSuffix(printedResults, "CODE: 2\n"):                                        "it has no results of androidx.benchmark",
		printedStart + printedResults + strings.ReplaceAll(printedStart, "COLD", "HOT") + printedResults[:at]: "has neither results nor an end: it was cut",
		strings.Replace(printedStart, "numtests=1", "numtests=3", 1) + printedResults + printedEnd:            "of 3 tests it has 1: it was cut",
		printedStart + printedResults + strings.Replace(printedEnd, "CODE: 0", "CODE: -2", 1):                 "the test com.x.Startup#cold[mode=COLD] failed",
		printedStart + printedResults + strings.Replace(printedResults, "312.53125", "100", 1):                "is given twice: 312.53125 and 100",
	} {
		res, err := Read("log", []byte(text), Options{})
		said := ""
		if err != nil {
			said = err.Error()
		} else if r := res.Runs[0]; r.Status == run.Partial && len(r.Warnings) > 0 {
			said = r.Warnings[0].Text
		}
		if !strings.Contains(said, want) {
			t.Errorf("said %q, want %q of\n%s", said, want, text)
		}
	}
}

// The examples of androidx's own MetricNameUtilsTest.
func TestPrintedNames(t *testing.T) {
	for written, printed := range map[string]string{
		"noop": "noop", "camelCase": "camel_case", "timeNs": "time_nanos", "aBaBaB": "a_ba_ba_b", "frameTime90thPercentileMs": "frame_time_90th_percentile_millis",
	} {
		if got := printedName(written); got != printed {
			t.Errorf("%s is printed %q, want %q", written, got, printed)
		}
	}
	for key, want := range map[string]string{"my_section_sum_millis_median": "mySectionSumMs", "time_nanos_median": "timeNs", "x_y_count_p90": "xYCount"} {
		if got, _, ok := statisticOf(key); got != want || !ok {
			t.Errorf("%s is read as %q, want %q", key, got, want)
		}
	}
}
