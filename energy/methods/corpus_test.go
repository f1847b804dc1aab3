package methods_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// recordings returns the folder of real recordings outside the repository.
func recordings(t testing.TB) string {
	t.Helper()
	return corpustest.Path(t, "perfdata")
}

func readRecording(t testing.TB, path string) *simpleperf.Profile {
	t.Helper()
	return corpustest.Read(t, path, simpleperf.Read)
}

// oneWatt is 1 W for ever.
func oneWatt() energy.Curve {
	return energy.OfReadings([]energy.Reading{{Time: 0, Watts: 1}, {Time: math.MaxInt64, Watts: 1}}, 0)
}

// TestRealRecordings attributes 1 W to the methods of every recording: the methods' own energy sums
// up to that of the samples, which is no more than 1 W of the time on a CPU.
func TestRealRecordings(t *testing.T) {
	t.Parallel()
	attributed := 0
	err := filepath.WalkDir(recordings(t), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".data") {
			return err
		}
		trace := methods.Of(readRecording(t, path), oneWatt(), nil, methods.Pick{})
		r := attribute(t, methods.Options{}, trace)
		watts, joules := methods.Powers(trace), 0.0
		for i, s := range trace.Samples {
			joules += s.Period.Seconds() * watts[i]
		}
		checkSums(t, entry.Name(), r, joules)
		recordable(t, r)
		if r.Samples > 0 {
			attributed++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if attributed < 20 {
		t.Errorf("only %d recordings tell of methods", attributed)
	}
}

// checkSums checks sums that must hold whatever was recorded.
func checkSums(t *testing.T, name string, r methods.Result, joules float64) {
	t.Helper()
	share, ms, local := 0.0, 0.0, 0.0
	for _, m := range r.Methods {
		share, ms, local = share+m.Local.Share.Value, ms+m.Local.CPUMS.Value, local+m.Local.EnergyJ.Value
		if m.Local.Share.Value+m.NonLocal.Share.Value > 1+1e-9 {
			t.Errorf("%s: %s is in %g of all samples", name, m.Name, m.Local.Share.Value+m.NonLocal.Share.Value)
		}
	}
	near(t, name+": Σ local energy", local, joules)
	near(t, name+": all energy", r.EnergyJ.Value, joules)
	near(t, name+": Σ local time", ms, r.CPUMS.Value)
	if r.CPUMS.Value > 0 {
		near(t, name+": Σ local shares", share, 1)
	}
	if joules > r.CPUMS.Value/1000*(1+1e-9) {
		t.Errorf("%s: %g J of %g ms at 1 W", name, joules, r.CPUMS.Value)
	}
}

// recordable checks that a run accepts the record.
func recordable(t testing.TB, r methods.Result) {
	t.Helper()
	whole := run.Run{
		Format: run.Format, App: run.App{Package: "a"}, Scenario: "s", Status: run.Complete,
		Iterations: []run.Iteration{{}}, Energy: &run.Energy{Source: "model", Methods: r.Record()},
	}
	if err := whole.Validate(); err != nil {
		t.Error(err)
	}
}

var (
	scriptHead  = regexp.MustCompile(`^.*\t\d+/\d+ \[\d+\] \d+\.\d{6}: (\d+) .*:$`)
	scriptFrame = regexp.MustCompile(`^\s+[0-9a-f]+ (.*) \((.*)\)$`)
)

// TestAgainstSimpleperfsOwnReport compares each file's methods with the output of simpleperf's
// report_sample.py for a recording of cpu-clock, where every sample is 250,000 ns: the time of the
// innermost frames, by file since C++ names are printed demangled, and of the Java methods by name
// too.
func TestAgainstSimpleperfsOwnReport(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(recordings(t), "testdata")
	printed, err := os.ReadFile(filepath.Join(folder, "perf_display_bitmaps.perf-script"))
	if err != nil {
		t.Fatal(err)
	}
	want, wantJava := map[string]float64{}, map[string]float64{}
	period, innermost := 0.0, false
	for line := range strings.Lines(string(printed)) {
		line = strings.TrimRight(line, "\n")
		if m := scriptHead.FindStringSubmatch(line); m != nil {
			if period, err = strconv.ParseFloat(m[1], 64); err != nil {
				t.Fatal(err)
			}
			innermost = true
		} else if m := scriptFrame.FindStringSubmatch(line); m != nil && innermost {
			want[m[2]] += period / 1e6
			if strings.HasPrefix(m[1], "android.") || strings.HasPrefix(m[1], "java.") {
				wantJava[m[1]] += period / 1e6
			}
			innermost = false
		}
	}
	trace := methods.Of(readRecording(t, filepath.Join(folder, "perf_display_bitmaps.data")), oneWatt(), nil, methods.Pick{App: "com.example.android.displayingbitmaps"})
	r := attribute(t, methods.Options{}, trace)
	got, gotJava := map[string]float64{}, map[string]float64{}
	for _, m := range r.Methods {
		if m.Local.Samples == 0 {
			continue
		}
		got[m.File] += m.Local.CPUMS.Value
		if _, java := wantJava[m.Name]; java {
			gotJava[m.Name] += m.Local.CPUMS.Value
		}
	}
	if len(wantJava) < 3 || len(want) < 10 {
		t.Fatalf("only %d Java methods in %d files were printed", len(wantJava), len(want))
	}
	if a, b := listed(got), listed(want); a != b {
		t.Errorf("by file, in ms:\n%s, simpleperf printed\n%s", a, b)
	}
	if a, b := listed(gotJava), listed(wantJava); a != b {
		t.Errorf("by Java method, in ms:\n%s, simpleperf printed\n%s", a, b)
	}
}

// listed formats times in ms by name, to the nanosecond.
func listed(times map[string]float64) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(times)) {
		fmt.Fprintf(&out, "%s %.6f\n", name, times[name])
	}
	return out.String()
}

// BenchmarkAttribute attributes ten minutes of a busy thread at 1 kHz, simulated.
func BenchmarkAttribute(b *testing.B) {
	chains := make([]string, 600_000)
	for i := range chains {
		chains[i] = []string{"dcba", "ecba", "cba", "fba"}[i*i%4]
	}
	trace := traced("abcdef", chains...)
	for i := range trace.Samples {
		trace.Samples[i].Time, trace.Samples[i].Period = time.Duration(i)*ms, ms
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := methods.Attribute([]methods.Trace{trace}, methods.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(trace.Samples)), "samples/op")
}
