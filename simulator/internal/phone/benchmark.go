package phone

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/pftrace"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// benchmarks is an instrumentation with androidx.benchmark's Macrobenchmark: it repeatedly
// starts another app, and writes the measured times to a file.
type benchmarks struct {
	app       *simapp.App // the measured one
	arguments map[string]string
	results   []map[string]any
}

// lowBattery is the battery level in percent below which Macrobenchmark refuses to measure.
const lowBattery = 25

// refusal returns the errors for which Macrobenchmark refuses to measure, except for
// suppressed ones (ConfigurationError.checkAndGetSuppressionState).
func (b *benchmarks) refusal(p *Phone) string {
	var found []string
	for _, e := range []struct {
		id  string
		has bool
	}{{"DEBUGGABLE", b.app.Power.Debuggable}, {"EMULATOR", p.profile.Sensors.Emulator}, {"LOW-BATTERY", p.power.BatteryLevel() < lowBattery}} {
		if e.has && !slices.Contains(strings.Split(b.arguments["androidx.benchmark.suppressErrors"], ","), e.id) {
			found = append(found, e.id)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "java.lang.AssertionError: ERRORS (not suppressed): " + strings.Join(found, " ") + "\nWARNINGS (suppressed): \n\nERROR: Benchmark Target is not fit\n"
}

// folder returns the output folder: from the arguments, or else the test's own media folder.
func (b *benchmarks) folder(test *simapp.App) string {
	if dir := b.arguments["additionalTestOutputDir"]; dir != "" {
		return dir
	}
	return "/sdcard/Android/media/" + test.Package
}

// startOf returns how a benchmark's mode starts the app.
func startOf(mode string) choreo.Start {
	return map[string]choreo.Start{"cold": choreo.Cold, "warm": choreo.Warm, "hot": choreo.Hot}[mode]
}

// benchmarkTakes is Macrobenchmark's overhead for each start: it kills the app, starts
// recording, and reads the trace.
const benchmarkTakes = 4 * time.Second

// benchmark runs one test of a Macrobenchmark.
func (w *workload) benchmark() {
	if why := w.benchmarks.refusal(w.phone); why != "" {
		w.fail(why)
		return
	}
	w.iterate(&benchmark{test: w.current, displayed: []float64{}})
}

// benchmark is one test in progress.
type benchmark struct {
	test             simapp.TestCase
	displayed, drawn []float64 // ms, one for each iteration
	traces           []string
}

// iterate runs one iteration, and then the next.
func (w *workload) iterate(b *benchmark) {
	p, app := w.phone, w.benchmarks.app
	if len(b.displayed) == b.test.Iterations {
		w.report(b)
		return
	}
	p.kill(app.Package)
	if b.test.Mode == "crash" {
		w.at(p.clock.Now()+benchmarkTakes, func() { w.appDied("Process crashed.") })
		return
	}
	if b.test.Mode != "cold" {
		p.open(app, choreo.Cold)
	}
	w.at(p.clock.Now()+benchmarkTakes, func() {
		p.leave()
		start := startOf(b.test.Mode)
		took := p.open(app, start)
		// Macrobenchmark reads it from the trace, unrounded.
		b.displayed = append(b.displayed, float64(took.Microseconds())/1000)
		if app.Drawn > 0 && start != choreo.Hot {
			b.drawn = append(b.drawn, float64((took+app.Drawn).Microseconds())/1000)
		}
		w.at(p.clock.Now()+took+app.Drawn, func() {
			w.keepTrace(b)
			w.iterate(b)
		})
	})
}

// keepTrace writes the trace of an iteration.
func (w *workload) keepTrace(b *benchmark) {
	p := w.phone
	t := pftrace.New(1)
	t.Snapshot(pftrace.Clocks{Boottime: clock.Boottime(p.clock.Now()), Monotonic: p.clock.Now(), Realtime: time.Duration(clock.Wall(p.clock.Now()).UnixNano())})
	name := fmt.Sprintf("%s_%s_iter%03d_%s.perfetto-trace", simpleName(b.test.Class), b.test.Method, len(b.traces), clock.Wall(p.clock.Now()).Format("2006-01-02-15-04-05"))
	if w.writeFile(name, t.Bytes()) == nil {
		b.traces = append(b.traces, name)
	}
}

func simpleName(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }

// writeFile writes to the output folder, which an app may create within its own media.
func (w *workload) writeFile(name string, data []byte) error {
	dir := w.benchmarks.folder(w.app)
	own := "/sdcard/Android/media/" + w.app.Package
	if dir != own && !strings.HasPrefix(dir, own+"/") && w.phone.profile.API >= 30 {
		return fmt.Errorf("java.io.FileNotFoundException: %s/%s: open failed: EACCES (Permission denied)", dir, name)
	}
	if err := w.phone.files.MakeDir(dir, true); err != nil {
		return err
	}
	return w.phone.files.Write(path.Join(dir, name), data, 0o660)
}

// report prints the result of one test like InstrumentationResults: with the status of a test
// in progress.
func (w *workload) report(b *benchmark) {
	metrics := map[string]any{"timeToInitialDisplayMs": runsOf(b.displayed)}
	if len(b.drawn) > 0 {
		metrics["timeToFullDisplayMs"] = runsOf(b.drawn)
	}
	var outputs []map[string]any
	for i, name := range b.traces {
		outputs = append(outputs, map[string]any{"type": "PerfettoTrace", "label": fmt.Sprintf("Trace Iteration %d", i), "filename": name})
	}
	w.benchmarks.results = append(w.benchmarks.results, map[string]any{
		"name": b.test.Method, "params": map[string]any{}, "className": b.test.Class, "totalRunTimeNs": int64(benchmarkTakes) * int64(b.test.Iterations),
		"metrics": metrics, "sampledMetrics": map[string]any{}, "warmupIterations": 0, "repeatIterations": b.test.Iterations,
		"thermalThrottleSleepSeconds": 0, "profilerOutputs": outputs,
	})
	if w.raw {
		for i, name := range b.traces {
			w.printf("INSTRUMENTATION_STATUS: additionalTestOutputFile_%s_iter%03d=%s/%s\nINSTRUMENTATION_STATUS_CODE: 2\n", b.test.Method, i, w.benchmarks.folder(w.app), name)
		}
		w.printf("INSTRUMENTATION_STATUS: android.studio.display.benchmark=%s_%s\n  timeToInitialDisplayMs   min %.1f,   median %.1f,   max %.1f\n\nINSTRUMENTATION_STATUS_CODE: 2\n",
			simpleName(b.test.Class), b.test.Method, slices.Min(b.displayed), middleOf(b.displayed), slices.Max(b.displayed))
		w.status(0, ".")
	}
	w.phone.kill(w.benchmarks.app.Package)
	w.playNext(false)
}

func runsOf(values []float64) map[string]any {
	return map[string]any{"minimum": slices.Min(values), "maximum": slices.Max(values), "median": middleOf(values), "runs": values}
}

func middleOf(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }

// write writes the results of all tests (androidx.benchmark.json.BenchmarkData).
func (b *benchmarks) write(w *workload) error {
	if b == nil {
		return nil
	}
	p := w.phone
	data, err := json.MarshalIndent(map[string]any{
		"context": map[string]any{
			"build": map[string]any{
				"brand": p.profile.Manufacturer, "device": p.property("ro.product.device"), "fingerprint": p.property("ro.build.fingerprint"),
				"id": p.property("ro.build.id"), "model": p.profile.Model, "type": "userdebug",
				"version": map[string]any{"codename": "REL", "sdk": p.profile.API},
			},
			"cpuCoreCount": 8, "cpuLocked": false, "cpuMaxFreqHz": 2_400_000_000, "memTotalBytes": 7_818_850_304,
			"sustainedPerformanceModeEnabled": false, "artMainlineVersion": -1, "osCodenameAbbreviated": "R", "compilationMode": "verify", "payload": map[string]any{},
		},
		"benchmarks": b.results,
	}, "", "    ")
	if err != nil {
		return err
	}
	return w.writeFile(w.app.Package+"-benchmarkData.json", data)
}
