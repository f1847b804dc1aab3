package importer

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// suiteOf returns a file of androidx.benchmark with the given benchmarks.
func suiteOf(benchmarks ...string) []byte {
	return []byte(`{"context":{"build":{"brand":"google","model":"Pixel 9","fingerprint":"google/tokay/tokay:15/AP4A.1/2:user/release-keys",
		"version":{"codename":"REL","sdk":35}},"cpuCoreCount":8,"cpuLocked":false,"memTotalBytes":12000000000,
		"artMainlineVersion":350000000,"compilationMode":"speed","payload":{"a":"b"}},
		"benchmarks":[` + strings.Join(benchmarks, ",") + `]}`)
}

// bench returns one benchmark of a file: its class, name, repetitions and metrics.
func bench(class, name string, repeats int, metrics, sampled string) string {
	return fmt.Sprintf(`{"name":%q,"params":{},"className":%q,"totalRunTimeNs":1,"metrics":{%s},"sampledMetrics":{%s},
		"warmupIterations":0,"repeatIterations":%d,"thermalThrottleSleepSeconds":0,
		"profilerOutputs":[{"type":"PerfettoTrace","label":"Trace","filename":"t.perfetto-trace"}]}`, name, class, metrics, sampled, repeats)
}

func read1(t *testing.T, data []byte, opts Options) (run.Run, Result) {
	t.Helper()
	res, err := Read("some.json", data, opts)
	if err != nil {
		t.Fatal(err)
	}
	return res.Runs[0], res
}

func TestFrameTimesOfNewFiles(t *testing.T) {
	// Ten frames: 1 to 9 ms and 800 ms; two of them missed their deadlines.
	r, _ := read1(t, suiteOf(bench("com.x.Scroll", "fling", 1,
		`"frameCount":{"minimum":10,"maximum":10,"median":10,"runs":[10]}`,
		`"frameDurationCpuMs":{"P50":5.5,"runs":[[1,2,3,4,5,6,7,8,9,800]]},
		 "frameOverrunMs":{"P50":0,"runs":[[-9,-9,-9,-9,-9,-9,-9,-9,0.5,790]]}`)), Options{})
	want := map[string]float64{
		"frames.count": 10, "frames.janky": 2, "frames.slow": 1, "frames.frozen": 1, "frames.smooth_ratio": 0.8,
		"frames.duration_ms": 84.5, // (45+800)/10
		// Positions 4.5, 8.1, 8.55 and 8.91 of 0 to 9, between the two neighbours.
		"frames.duration_ms.p50": 5.5, "frames.duration_ms.p90": 9 + 0.1*791,
		"frames.duration_ms.p95": 9 + 0.55*791, "frames.duration_ms.p99": 9 + 0.91*791,
		"frames.overrun_ms": (-72 + 790.5) / 10, "frames.overrun_ms.p50": -9, "frames.overrun_ms.p90": 0.5 + 0.1*789.5,
		"frames.overrun_ms.p95": 0.5 + 0.55*789.5, "frames.overrun_ms.p99": 0.5 + 0.91*789.5,
	}
	got := r.Iterations[0].Events[0].Metrics
	for name, v := range want {
		if !near(got[name], v) {
			t.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("metrics %v, want those of %v", got, want)
	}
	if !maps.Equal(r.Context, map[string]string{
		"manufacturer": "google", "model": "Pixel 9", "sdk": "15", "api": "35", "cpu_cores": "8", "cpu_locked": "false",
		"memory_gb": "12", "compilation": "speed", "measured_by": "macrobenchmark", "frames_by": "deadline",
	}) {
		t.Errorf("context %v", r.Context)
	}
	if len(r.Declared) != 0 {
		t.Errorf("declared %+v: all of these are in the catalogue", r.Declared)
	}
}

func TestSuiteIsJudgedOneWay(t *testing.T) {
	// Only the first benchmark has deadlines: both are judged by CPU time.
	r, _ := read1(t, suiteOf(
		bench("com.x.S", "a", 1, "", `"frameDurationCpuMs":{"runs":[[10,20]]},"frameOverrunMs":{"runs":[[1,1]]}`),
		bench("com.x.S", "b", 1, "", `"frameDurationCpuMs":{"runs":[[10,20]]}`)), Options{})
	if r.Context[metric.FramesBy] != "cpu_time" || r.Iterations[0].Metrics["frames.janky"] != 2 {
		t.Errorf("frames by %s, %g janky of 4; want cpu_time, the 2 over 16.67 ms", r.Context[metric.FramesBy], r.Iterations[0].Metrics["frames.janky"])
	}
}

func TestNamesAndUnits(t *testing.T) {
	r, _ := read1(t, suiteOf(bench("com.x.Power", "idle", 1, `
		"timeToInitialDisplayMs":{"runs":[300.5]}, "timeToFullDisplayMs":{"runs":[900]},
		"energyTotalUws":{"runs":[1880687]}, "powerTotalUw":{"runs":[395.2]}, "energyComponentCpuBigUws":{"runs":[13566]},
		"memoryHeapSizeMaxKb":{"runs":[9288]}, "batteryStartMah":{"runs":[3274]}, "batteryDiffMah":{"runs":[2]},
		"JIT Compiling %SumMs":{"runs":[7]}, "JIT Compiling %Count":{"runs":[3]}, "jankyFramePercent":{"runs":[12.5]}`, "")), Options{})
	want := map[string]float64{
		"startup.ttid_ms": 300.5, "startup.ttfd_ms": 900,
		"energy.total_j": 1.880687, "power.mean_w": 0.0003952, "energyComponentCpuBigUws": 13566,
		"memoryHeapSizeMaxKb": 9288, "batteryStartMah": 3274, "batteryDiffMah": 2,
		"JIT_Compiling__SumMs": 7, "JIT_Compiling__Count": 3, "frames.smooth_ratio": 0.875,
	}
	got := r.Iterations[0].Metrics
	for name, v := range want {
		if !near(got[name], v) {
			t.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
	declared := map[string]string{}
	for _, m := range r.Declared {
		declared[m.Name] = m.Unit + " " + m.Better
	}
	for name, want := range map[string]string{
		"energyComponentCpuBigUws": "uWs lower", "memoryHeapSizeMaxKb": "kB lower", "batteryStartMah": "mAh neutral",
		"batteryDiffMah": "mAh lower", "JIT_Compiling__SumMs": "ms lower", "JIT_Compiling__Count": " neutral",
	} {
		if declared[name] != want {
			t.Errorf("%s is declared as %q, want %q", name, declared[name], want)
		}
	}
	if _, again := declared["energy.total_j"]; again {
		t.Error("a metric of the catalogue is declared again")
	}
}

func TestEachClassIsARun(t *testing.T) {
	data := suiteOf(
		bench("com.x.Start", "cold", 1, `"timeToInitialDisplayMs":{"runs":[300]}`, ""),
		bench("com.x.Scroll", "fling", 1, "", `"frameDurationCpuMs":{"runs":[[5]]}`))
	res, err := Read("f.json", data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Runs) != 2 || res.Runs[0].Scenario != "com.x.Start" || res.Runs[1].Scenario != "com.x.Scroll" {
		t.Fatalf("runs %+v, want one for each class", res.Runs)
	}
	if a, b := res.Runs[0].Session, res.Runs[1].Session; a == "" || a != b {
		t.Errorf("sessions %q and %q, want the same one", a, b)
	}
	named, err := Read("f.json", data, Options{Scenario: "nightly"})
	if err != nil || named.Runs[0].Scenario != "nightly/com.x.Start" || named.Runs[1].Scenario != "nightly/com.x.Scroll" {
		t.Errorf("scenarios %v, %v; want them told apart", named.Runs, err)
	}
}

// A total over fewer benchmarks than in the other iterations would look like a change of the app.
func TestNoTotalsOverFewerBenchmarks(t *testing.T) {
	r, _ := read1(t, suiteOf(
		bench("com.x.S", "a", 2, "", `"frameDurationCpuMs":{"runs":[[5,5],[5,5,5]]}`),
		bench("com.x.S", "b", 1, "", `"frameDurationCpuMs":{"runs":[[5]]}`)), Options{})
	if n := r.Iterations[0].Metrics["frames.count"]; n != 3 {
		t.Errorf("%g frames in the first iteration, want 3", n)
	}
	s := run.Summarize(run.Run{Iterations: r.Iterations[1:]}, run.Median, metric.Default())
	if n, has := s.Cells.Map()[run.Cell{Metric: "frames.count"}]; has {
		t.Errorf("the second iteration has a total of %g frames, but lacks a benchmark", n)
	}
	if n := s.Cells.Map()[run.Cell{Event: "a", Metric: "frames.count"}]; n != 3 {
		t.Errorf("a has %g frames in the second iteration, want 3", n)
	}
}

func TestDoubtsAreWarned(t *testing.T) {
	for what, test := range map[string]struct {
		file   []byte
		status run.Status
		text   string
	}{
		"repetitions missing": {suiteOf(bench("com.x.S", "a", 3, `"startupMs":{"runs":[1,2]}`, "")), run.Complete, "startupMs has 2 values for 3 repetitions: the traces of the others lack it"},
		"a value missing":     {suiteOf(bench("com.x.S", "a", 3, `"startupMs":{"runs":[1]}`, "")), run.Complete, "startupMs has 1 value for 3 repetitions: the traces of the others lack it"},
		"no frames":           {suiteOf(bench("com.x.S", "a", 2, "", `"frameCpuTimeMs":{"runs":[[5],[]]}`)), run.Partial, "no frames in repetition 2"},
		"negative time":       {suiteOf(bench("com.x.S", "a", 1, "", `"frameCpuTimeMs":{"runs":[[5,-3]]}`)), run.Complete, "left out 1 frames"},
	} {
		r, res := read1(t, test.file, Options{})
		if r.Status != test.status || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Text, test.text) || len(res.Warnings) != 1 {
			t.Errorf("%s: status %s, warnings %v; want %s and %q", what, r.Status, r.Warnings, test.status, test.text)
		}
	}
}

func TestOptionsOverrideTheFile(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r, _ := read1(t, suiteOf(bench("com.x.S", "a", 1, `"startupMs":{"runs":[1]}`, "")), Options{
		Package: "com.app", Scenario: "start", AppVersion: "1.2", Commit: "abc", Started: at,
		Context: map[string]string{"model": "mine", "network": "wifi"},
	})
	if r.App != (run.App{Package: "com.app", Version: "1.2"}) || r.Scenario != "start" || r.Source.Commit != "abc" || !r.Started.Equal(at) ||
		r.Context["model"] != "mine" || r.Context["network"] != "wifi" || r.Context["sdk"] != "15" || len(r.ID) != 16 {
		t.Errorf("run %+v", r)
	}
}

func TestList(t *testing.T) {
	r, res := read1(t, []byte(`[
		{"name":"Cold start","unit":"ms","value":412.5,"range":"± 3","extra":"x"},
		{"name":"parse","unit":"ops/sec","value":"1500"},
		{"name":"frames.smooth_ratio","unit":"ratio","value":0.97},
		{"name":"points","unit":"pts","value":7}]`), Options{})
	if r.App.Package != "imported" || r.Scenario != "some" || r.Context[MeasuredBy] != "imported list" || len(r.Iterations) != 1 {
		t.Errorf("run %+v", r)
	}
	for name, want := range map[string]float64{"Cold_start": 412.5, "parse": 1500, "frames.smooth_ratio": 0.97, "points": 7} {
		if got := r.Iterations[0].Metrics[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	var declared []string
	for _, m := range r.Declared {
		declared = append(declared, m.Name+" "+m.Better)
	}
	if got := strings.Join(declared, ", "); got != "Cold_start lower, parse higher, points neutral" {
		t.Errorf("declared %s", got)
	}
	if len(res.Warnings) != 1 || !strings.HasPrefix(res.Warnings[0].Text, "points: ") {
		t.Errorf("warnings %v, want one that points are not gated", res.Warnings)
	}
}

func TestDirectionOfUnits(t *testing.T) {
	for unit, want := range map[string]metric.Direction{
		"ms": metric.LowerIsBetter, "ns/iter": metric.LowerIsBetter, "ns/op": metric.LowerIsBetter, "seconds": metric.LowerIsBetter,
		"Microseconds": metric.LowerIsBetter, "MiB": metric.LowerIsBetter, "bytes": metric.LowerIsBetter, "B/op": metric.LowerIsBetter,
		"J": metric.LowerIsBetter, "mAh": metric.LowerIsBetter, "mW": metric.LowerIsBetter, "allocs/op": metric.LowerIsBetter, "s": metric.LowerIsBetter,
		"ops/s": metric.HigherIsBetter, "iter/sec": metric.HigherIsBetter, "MB/s": metric.HigherIsBetter, "fps": metric.HigherIsBetter, "FPS": metric.HigherIsBetter,
		"": metric.Neutral, "%": metric.Neutral, "points": metric.Neutral, "frames": metric.Neutral,
	} {
		if got := direction(unit); got != want {
			t.Errorf("%q: %s is better, want %s", unit, got, want)
		}
	}
}

func TestFlashlight(t *testing.T) {
	r, _ := read1(t, []byte(`{"name":"Open list","status":"SUCCESS","iterations":[
		{"time":2000,"status":"SUCCESS","measures":[
			{"cpu":{"perName":{"UI Thread":30,"RenderThread":10.5},"perCore":{"0":40.5}},"fps":60,"ram":400,"time":500},
			{"cpu":{"perName":{"UI Thread":10},"perCore":{}},"fps":50,"ram":410,"time":1000}]},
		{"time":1,"status":"FAILURE","isRetriedIteration":true,"measures":[{"cpu":{"perName":{},"perCore":{}},"time":1}]},
		{"time":1,"status":"FAILURE","measures":[]}]}`), Options{Package: "com.app"})
	want := map[string]float64{"flashlight.fps": 55, "flashlight.ram_mb": 405, "flashlight.cpu_percent": 25.25, "flashlight.time_ms": 2000}
	if len(r.Iterations) != 1 || !maps.Equal(r.Iterations[0].Metrics, want) {
		t.Errorf("iterations %+v, want one of %v", r.Iterations, want)
	}
	if r.Scenario != "Open list" || r.App.Package != "com.app" || r.Status != run.Partial || len(r.Warnings) != 1 {
		t.Errorf("run %+v; want a partial one that warns of the failed iteration", r)
	}
	if len(r.Declared) != 4 {
		t.Errorf("declared %v, want the 4", r.Declared)
	}
}

func TestErrorsNameTheField(t *testing.T) {
	long := `[{"name":"a","unit":"ms","value":1}` + strings.Repeat(`,{"name":"a","unit":"ms","value":1}`, 1000) + `]`
	for file, want := range map[string]string{
		``:                           `not a result file: want one of apkgate.run, androidx benchmark,`,
		`hello`:                      `not a result file`,
		`{"a":1}`:                    `not a result file`,
		`{"format":"apkgate.run/1"}`: `apkgate's own record`,
		`{"benchmarks":[]}`:          `benchmarks has 0 entries, want 1 to 10000`,
		`{"benchmarks":[{}]}`:        `benchmarks[0].name is empty`,
		`{"benchmarks":[{"name":"BM_x","real_time":1}]}`:                                    `benchmarks[0].className is empty`,
		`{"benchmarks":[{"name":"a","className":"B","metrics":{}}]}`:                        `benchmarks[0].metrics is empty`,
		`{"benchmarks":[{"name":"a","className":"B","metrics":{"x":{}}}]}`:                  `benchmarks[0].metrics.x.runs has 0 entries`,
		`{"benchmarks":[{"name":"a","className":"B","metrics":{"x":{"runs":[null]}}}]}`:     `benchmarks[0].metrics.x.runs is null, want a finite number`,
		`{"benchmarks":[{"name":"a","className":"B","metrics":{"x":{"runs":["NaN"]}}}]}`:    `benchmarks[0].metrics.x.runs is "NaN", want a finite number`,
		`{"benchmarks":[{"name":"a","className":"B","metrics":{"x":{"runs":7}}}]}`:          `benchmarks[0].metrics.x.runs is number, want a list`,
		`{"benchmarks":[{"name":"a","className":"B","sampledMetrics":{"x":{"runs":[1]}}}]}`: `benchmarks[0].sampledMetrics.x.runs is number, want a list`,
		`{"benchmarks":[{"name":7,"className":"B"}]}`:                                       `benchmarks[0].name is number, want a string`,
		`{"context":{"cpuCoreCount":"8"},"benchmarks":[{}]}`:                                `context.cpuCoreCount is string, want a whole number`,
		`{"benchmarks":[{"name":"a"`:                                                        `not valid JSON at byte 26: unexpected end`,
		`[]`:                                                                                `the list has 0 entries, want 1 to 1000`,
		long:                                                                                `the list has 1001 entries, want 1 to 1000`,
		`[{"name":"a","unit":"ms"}]`:                                                        `[0].value is missing`,
		`[{"name":"a","unit":"ms","value":"1e999"}]`:                                        `[0].value is "1e999", want a finite number`,
		`[{"value":1}]`:                                                                     `[0].name is empty`,
		`[{"name":"a","value":1},{"name":"a","value":2}]`:                                   `[1].name: a is in the list twice`,
		`[{"name":"startup.ttid_ms","unit":"s","value":1}]`:                                 `[0].unit is "s", but startup.ttid_ms is in "ms"`,
		`{"name":"x","iterations":[]}`:                                                      `iterations has 0 entries`,
		`{"name":"x","iterations":[{"measures":[]}]}`:                                       `iterations[0].measures is empty`,
		`{"name":"x","type":"IOS_EXPERIMENTAL","iterations":[{}]}`:                          `type is "IOS_EXPERIMENTAL": only results of Android`,
	} {
		_, err := Read("dir/some.json", []byte(file), Options{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "import dir/some.json: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.90s: error %v, want one line with %q", file, err, want)
		}
	}
}

func TestHostileInputEndsQuickly(t *testing.T) {
	deep := strings.Repeat("[", 5_000_000)
	for what, file := range map[string]string{
		"deep value": `{"benchmarks":[{"name":"a","className":"B","metrics":{"x":` + deep,
		"deep list":  deep,
		"deep key":   `{"context":` + strings.Repeat(`{"a":`, 5_000_000),
		"many names": `{"benchmarks":[{"name":"a","className":"B","metrics":{` + manyMetrics(20_000) + `}}]}`,
		"large":      `{"benchmarks":[` + strings.Repeat(" ", MaxBytes) + `]}`,
	} {
		if _, err := Read(what, []byte(file), Options{}); err == nil || len(err.Error()) > 400 {
			t.Errorf("%s: %v, want a short error", what, err)
		}
	}
}

func manyMetrics(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"é%d":{"runs":[1]}`, i)
	}
	return strings.Join(parts, ",")
}

func TestDetect(t *testing.T) {
	for file, want := range map[string]Format{
		`{"format":"apkgate.run/1","app":{}}`:                              Record,
		"{\"format\":\"apkgate.run/1\"}\n{\"format\":\"apkgate.run/1\"}\n": Record,
		`{"app":{"package":"x"},"format":"apkgate.run/1"}`:                 Record,
		`{"format":"apkgate.verdict/1","verdict":"pass"}`:                  Unknown,
		"\xef\xbb\xbf" + `{"context":{},"benchmarks":[]}`:                  AndroidX,
		`{"benchmarks":[`:          AndroidX,
		`[{"name":"a","value":1}]`: List,
		` [ ] `:                    List,
		`[1]`:                      Unknown,
		`{"name":"x","status":"SUCCESS","iterations":[{"time":1`: Flashlight,
		`{"context":{},"iterations":[],"scenario":"s"}`:          Record,
		`{"name":"x","status":"SUCCESS","iterations":[]}`:        Flashlight,
		`null`:         Unknown,
		`"benchmarks"`: Unknown,
	} {
		if got := Detect([]byte(file)); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(suiteOf(bench("com.x.S", "a", 2, `"frameCount":{"runs":[1,2]}`, `"frameDurationCpuMs":{"runs":[[5],[6,7]]},"frameOverrunMs":{"runs":[[5],[-6,7]]}`)))
	f.Add(suiteOf(bench("A", "a", 1, `"timeNs":{"runs":[1,2]}`, ""), bench("b.B", "a", 1, `"x y":{"runs":[-1]}`, "")))
	f.Add([]byte(printedStart + "INSTRUMENTATION_STATUS: frame_duration_cpu_millis_p50=5.5\nINSTRUMENTATION_STATUS: =_median=1\nINSTRUMENTATION_STATUS_CODE: 2\n"))
	f.Add([]byte(`[{"name":"a b","unit":"ms","value":1},{"name":"a_b","unit":"","value":"2"}]`))
	f.Add([]byte("name,unit,value,repetition\na,ms,1,1\nb,,2,2\n"))
	f.Add([]byte(`{"name":"x","iterations":[{"time":1,"measures":[{"fps":1,"ram":2,"cpu":{"perName":{"a":1}}}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		res, err := Read("fuzz.json", data, Options{})
		if err != nil {
			return
		}
		for _, r := range res.Runs {
			line, err := run.Encode(r)
			if err != nil {
				t.Fatalf("a run that can't be written: %v", err)
			}
			if _, err := run.Decode(line); err != nil {
				t.Fatalf("a run that can't be read back: %v", err)
			}
			for _, it := range r.Iterations {
				for name := range it.Metrics {
					if !metric.ValidName(name) {
						t.Fatalf("metric %q is no valid name", name)
					}
				}
			}
		}
		if _, err := run.Catalogue(metric.Default(), res.Runs...); err != nil {
			t.Fatal(err)
		}
	})
}
