package importer

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// corpus reads a real file, or skips the test where the corpus is absent.
func corpus(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(corpustest.Path(t, "macrobenchmark", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func importOne(t *testing.T, name string, data []byte, opts Options) run.Run {
	t.Helper()
	res, err := Read(name, data, opts)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Runs) != 1 {
		t.Fatalf("%s: %d runs, want 1", name, len(res.Runs))
	}
	return res.Runs[0]
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(b)) }

// The expected numbers were summed from the files by a short script in another language.
func TestComposeVersionsTotals(t *testing.T) {
	for _, want := range []struct {
		file                string
		frames              [2]float64
		meanMS              [2]float64
		janky, slow, frozen float64
	}{
		{"compose_1.0.3_google_pixel_2_xl", [2]float64{4711, 4702}, [2]float64{11.310739, 10.396708}, 1297, 1297, 0},
		{"compose_1.0.3_oneplus_be2029", [2]float64{4808, 4384}, [2]float64{6.345036, 6.355471}, 26, 26, 0},
		{"compose_1.0.3_samsung_sm-g973f", [2]float64{4859, 4878}, [2]float64{14.602405, 13.959746}, 2525, 2525, 0},
		{"compose_1.0.3_samsung_sm-g991b", [2]float64{9325, 9342}, [2]float64{6.658911, 6.862676}, 11419, 160, 0},
		{"compose_1.0.3_xiaomi_mi_6", [2]float64{4692, 4675}, [2]float64{14.277850, 14.239063}, 3393, 3393, 0},
		{"compose_1.0.4_google_pixel_2_xl", [2]float64{4752, 4823}, [2]float64{11.249525, 12.020769}, 2146, 2146, 0},
		{"compose_1.0.4_oneplus_be2029", [2]float64{4594, 4589}, [2]float64{6.680566, 6.662524}, 44, 44, 0},
		{"compose_1.0.4_samsung_sm-g973f", [2]float64{4879, 4932}, [2]float64{14.919774, 15.640592}, 3375, 3375, 0},
		{"compose_1.0.4_xiaomi_mi_6", [2]float64{4737, 4227}, [2]float64{15.325683, 14.774610}, 3731, 3731, 0},
		{"compose_1.0.5_google_pixel_2_xl", [2]float64{4835, 4760}, [2]float64{11.412991, 12.121144}, 2197, 2197, 0},
		{"compose_1.0.5_oneplus_be2029", [2]float64{4895, 4930}, [2]float64{6.889322, 6.849264}, 48, 48, 0},
		{"compose_1.0.5_samsung_sm-g973f", [2]float64{4891, 4936}, [2]float64{14.966023, 15.579127}, 3281, 3281, 0},
		{"compose_1.0.5_xiaomi_mi_6", [2]float64{4721, 4769}, [2]float64{15.201470, 14.857609}, 3854, 3854, 0},
		{"compose_1.1.0-beta01_oneplus_be2029", [2]float64{4923, 4917}, [2]float64{7.269709, 7.840262}, 397, 397, 0},
		{"compose_1.1.0-beta02_oneplus_be2029", [2]float64{4938, 4855}, [2]float64{7.320858, 7.253211}, 61, 61, 0},
		{"compose_1.1.0-beta03_oneplus_be2029", [2]float64{4966, 4940}, [2]float64{7.208285, 7.641199}, 163, 163, 0},
		{"compose_1.1.0-beta04_oneplus_be2029", [2]float64{4924, 4874}, [2]float64{7.264240, 7.035654}, 54, 54, 0},
		{"compose_1.1.0_google_pixel_2_xl", [2]float64{4734, 4829}, [2]float64{12.177322, 12.140360}, 2132, 2132, 0},
		{"compose_1.1.0_oneplus_be2029", [2]float64{4951, 4899}, [2]float64{6.886330, 6.845218}, 40, 40, 0},
		{"compose_1.1.0_samsung_sm-g973f", [2]float64{4225, 4740}, [2]float64{12.855053, 13.440740}, 6409, 2079, 0},
		{"compose_1.1.0_samsung_sm-g991b", [2]float64{9260, 9273}, [2]float64{6.724006, 6.647527}, 11131, 135, 0},
	} {
		t.Run(want.file, func(t *testing.T) {
			name := "compose_versions/" + want.file + "_benchmark.json"
			r := importOne(t, name, corpus(t, name), Options{})
			if len(r.Iterations) != 2 || r.Status != run.Complete || len(r.Warnings) != 0 {
				t.Fatalf("%d iterations, status %s, warnings %v; want 2 whole ones", len(r.Iterations), r.Status, r.Warnings)
			}
			sums := map[string]float64{}
			for i, it := range r.Iterations {
				m := it.Metrics
				if m["frames.count"] != want.frames[i] || math.Abs(m["frames.duration_ms"]-want.meanMS[i]) > 1e-6 {
					t.Errorf("iteration %d: %g frames of %.6f ms, want %g of %.6f", i, m["frames.count"], m["frames.duration_ms"], want.frames[i], want.meanMS[i])
				}
				if len(it.Events) != 10 {
					t.Errorf("iteration %d: %d events, want the 10 benchmarks", i, len(it.Events))
				}
				for _, name := range []string{"frames.janky", "frames.slow", "frames.frozen"} {
					sums[name] += m[name]
				}
				if got := 1 - m["frames.janky"]/m["frames.count"]; !near(m["frames.smooth_ratio"], got) {
					t.Errorf("iteration %d: smooth ratio %g, but the counts say %g", i, m["frames.smooth_ratio"], got)
				}
			}
			if sums["frames.janky"] != want.janky || sums["frames.slow"] != want.slow || sums["frames.frozen"] != want.frozen {
				t.Errorf("janky, slow, frozen: %v, want %g, %g, %g", sums, want.janky, want.slow, want.frozen)
			}
			if got := len(r.Iterations[0].Frames); got != int(want.frames[0]) {
				t.Errorf("%d frames kept for a picture, want all %g of the first iteration", got, want.frames[0])
			}
		})
	}
}

func TestShiftOfParticlesLayoutOffset(t *testing.T) {
	for _, want := range []struct {
		version string
		count   [2]float64
		meanMS  [2]float64
	}{
		{"1.0.3", [2]float64{435, 81}, [2]float64{6.567457, 7.193252}},
		{"1.0.4", [2]float64{440, 438}, [2]float64{11.114777, 11.199214}},
	} {
		name := "compose_versions/compose_" + want.version + "_oneplus_be2029_benchmark.json"
		r := importOne(t, name, corpus(t, name), Options{AppVersion: want.version})
		for i, it := range r.Iterations {
			at := slices.IndexFunc(it.Events, func(b run.Bucket) bool { return b.Name == "particlesLayoutOffset" })
			if at < 0 {
				t.Fatalf("%s: no event particlesLayoutOffset in iteration %d", want.version, i)
			}
			m := it.Events[at].Metrics
			if m["frames.count"] != want.count[i] || math.Abs(m["frames.duration_ms"]-want.meanMS[i]) > 1e-6 {
				t.Errorf("%s, iteration %d: %g frames of %.6f ms, want %g of %.6f", want.version, i, m["frames.count"], m["frames.duration_ms"], want.count[i], want.meanMS[i])
			}
		}
	}
}

func TestContextOfRealPhones(t *testing.T) {
	for file, want := range map[string]map[string]string{
		"compose_versions/compose_1.0.3_xiaomi_mi_6_benchmark.json": {
			"manufacturer": "Xiaomi", "model": "MI 6", "sdk": "9", "api": "28", "cpu_cores": "8",
			"cpu_locked": "true", "memory_gb": "6", "measured_by": "macrobenchmark", "frames_by": "cpu_time",
		},
		"compose_versions/compose_1.1.0_samsung_sm-g973f_benchmark.json": {
			"manufacturer": "samsung", "model": "SM-G973F", "sdk": "12", "api": "31", "cpu_cores": "8",
			"cpu_locked": "false", "memory_gb": "8", "measured_by": "macrobenchmark", "frames_by": "deadline",
		},
		"kxserialization_dbb-new.json": {
			"manufacturer": "samsung", "model": "SM-A145R", "sdk": "13", "api": "33", "cpu_cores": "8",
			"cpu_locked": "true", "memory_gb": "4", "measured_by": "microbenchmark",
		},
	} {
		r := importOne(t, file, corpus(t, file), Options{})
		if !maps.Equal(r.Context, want) {
			t.Errorf("%s: context %v, want %v", file, r.Context, want)
		}
	}
}

// The files state P50 to P99 over all repetitions; ours must be the same.
func TestPercentilesAgreeWithFiles(t *testing.T) {
	const file = "compose_versions/compose_1.1.0_samsung_sm-g991b_benchmark.json"
	var stated struct {
		Benchmarks []struct {
			Name           string
			SampledMetrics map[string]struct {
				P50, P90, P95, P99 float64
				Runs               [][]float64
			}
		}
	}
	if err := json.Unmarshal(corpus(t, file), &stated); err != nil {
		t.Fatal(err)
	}
	for _, b := range stated.Benchmarks {
		for name, m := range b.SampledMetrics {
			got := map[string]float64{}
			addSamples(got, "x", slices.Concat(m.Runs...))
			for suffix, want := range map[string]float64{".p50": m.P50, ".p90": m.P90, ".p95": m.P95, ".p99": m.P99} {
				if !near(got["x"+suffix], want) {
					t.Errorf("%s %s%s is %g, the file says %g", b.Name, name, suffix, got["x"+suffix], want)
				}
			}
		}
	}
}

func TestGoogleSamples(t *testing.T) {
	frames := importOne(t, "f", corpus(t, "performance-samples_sample_benchmark_result_1.json"), Options{})
	if frames.App.Package != "com.example.macrobenchmark" || frames.Scenario != "com.example.macrobenchmark.FrameTimingBenchmark" {
		t.Errorf("app %s, scenario %s", frames.App.Package, frames.Scenario)
	}
	last := frames.Iterations[9].Metrics
	if len(frames.Iterations) != 10 || last["frames.count"] != 730 || last["frames.duration_ms.p99"] != 7 || frames.Context[metric.FramesBy] != "gfxinfo" {
		t.Errorf("%d iterations, the last %v, context %v", len(frames.Iterations), last, frames.Context)
	}

	start := importOne(t, "s", corpus(t, "performance-samples_sample_benchmark_result_2.json"), Options{})
	if e := start.Iterations[1].Events[0]; e.Name != "startup[mode=COLD]" || e.Metrics["startup.ttid_ms"] != 196 {
		t.Errorf("second start %+v, want 196 ms under the test's name with its parameters", e)
	}

	// This one asked for 3 repetitions and has the value of one.
	one := importOne(t, "p", corpus(t, "performance-samples_com.example.macrobenchmark-benchmarkData.json"), Options{})
	if one.Status != run.Complete || len(one.Warnings) != 1 || one.Iterations[0].Metrics["startup.ttid_ms"] != 347.881076 {
		t.Errorf("status %s, warnings %v, %v", one.Status, one.Warnings, one.Iterations[0].Metrics)
	}
}

func TestMicrobenchmarks(t *testing.T) {
	for file, want := range map[string]struct {
		benchmarks  int
		nsSum       float64 // of twitterMacroFile, over 50 repetitions
		allocations float64 // and over the 5 that counted them
	}{
		"kxserialization_dbb-old.json":                                           {6, 970961288.5, 26360},
		"kxserialization_dbb-new.json":                                           {9, 964067769.5, 26360},
		"kxserialization_develop-new.json":                                       {9, 569945779.25, 26360.375},
		"kxserialization_HEAD_segments-public-api-for-serialization-branch.json": {9, 582592509.5, 26360.375},
	} {
		r := importOne(t, file, corpus(t, file), Options{Scenario: "json"})
		if r.Scenario != "json" || r.App.Package != "org.example" || r.Status != run.Complete || len(r.Iterations) != 50 {
			t.Fatalf("%s: scenario %s of %s, status %s, %d iterations", file, r.Scenario, r.App.Package, r.Status, len(r.Iterations))
		}
		ns, allocations := 0.0, 0.0
		for _, it := range r.Iterations {
			e := it.Events[0]
			if e.Name != "twitterMacroFile" || len(it.Events) != want.benchmarks {
				t.Fatalf("%s: first of %d events is %s", file, len(it.Events), e.Name)
			}
			ns += e.Metrics["timeNs"]
			allocations += e.Metrics["allocationCount"]
		}
		if !near(ns, want.nsSum) || !near(allocations, want.allocations) {
			t.Errorf("%s: %g ns and %g allocations, want %g and %g", file, ns, allocations, want.nsSum, want.allocations)
		}
	}
}
