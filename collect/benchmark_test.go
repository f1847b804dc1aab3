package collect_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/devicelock"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

const benchmarkAPK = `apkgate-simulated-app/1
package com.example.macro
tests com.example.opening
benchmark com.example.macro.StartupBenchmark#cold cold 5
benchmark com.example.macro.WarmBenchmark#warm warm 3
benchmark com.example.macro.WarmBenchmark#hot hot 2
`

// benchmark is a job with a Macrobenchmark of an app that starts.
func benchmark(t *testing.T, profile, class string, o simulator.Options) (*simulator.Simulated, collect.Job) {
	t.Helper()
	s, job := simulated(t, profile, o)
	dir := t.TempDir()
	job.App = config.App{Package: "com.example.opening", APK: filepath.Join(dir, "app.apk"), TestAPK: filepath.Join(dir, "test.apk")}
	for path, text := range map[string]string{job.App.APK: opening, job.App.TestAPK: benchmarkAPK} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	job.Scenario.Name, job.Scenario.Repetitions, job.Scenario.WarmUp, job.Scenario.Retries = "start", 1, 0, 0
	job.Scenario.Workload = config.Workload{Instrumentation: &config.Instrumentation{
		TestPackage: "com.example.macro", Class: "com.example.macro." + class, Macrobenchmark: true}}
	return s, job
}

// memory is a keeper that holds files in memory, by a number.
type memory struct{ files [][]byte }

func (m *memory) Keep(_ context.Context, r io.Reader, limit int64) (string, int64, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit))
	m.files = append(m.files, data)
	return strings.Repeat("0", 63) + string("0123456789abcdef"[len(m.files)%16]), int64(len(data)), err
}

// A Macrobenchmark's results become the run: its iterations, with its times, and its traces as
// evidence.
func TestMacrobenchmarkResults(t *testing.T) {
	t.Parallel()
	s, job := benchmark(t, "pixel-7-android-14", "StartupBenchmark#cold", simulator.Options{})
	job.Scenario.Repetitions = 2
	job.Evidence = config.Evidence{Keep: config.KeepAll}
	kept := &memory{}
	r := collect.Collect(t.Context(), job, collect.Options{Evidence: kept})
	wantComplete(t, r, 10)
	if len(r.Run.Warnings) > 0 || r.Run.Scenario != "start" || r.Run.App.Package != "com.example.opening" || r.Run.Context["measured_by"] != "macrobenchmark" {
		t.Errorf("%v, %s of %s, %v", r.Run.Warnings, r.Run.Scenario, r.Run.App.Package, r.Run.Context)
	}
	for i, it := range r.Run.Iterations {
		ttid, ttfd := it.Metrics["startup.ttid_ms"], it.Metrics["startup.ttfd_ms"]
		if ttid < 200 || ttid == math.Trunc(ttid) || math.Abs(ttfd-ttid-1000) > 0.01 {
			t.Errorf("iteration %d: displayed after %g ms, drawn after %g", i+1, ttid, ttfd)
		}
	}
	var of []int
	for _, e := range r.Run.Evidence {
		of = append(of, e.Repetition)
	}
	if !slices.Equal(of, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) || slices.ContainsFunc(kept.files, func(f []byte) bool { return len(f) == 0 }) {
		t.Errorf("traces of %v are kept", of)
	}
	if left, err := onPhone(t, s, "ls /sdcard/Android/media/com.example.macro"); left != "" || err != nil {
		t.Errorf("its files stay on the phone: %s, %v", left, err)
	}
}

// Two benchmarks of a class are events of a run; two classes are no run.
func TestSeveralBenchmarks(t *testing.T) {
	t.Parallel()
	_, job := benchmark(t, "pixel-5-android-11", "WarmBenchmark", simulator.Options{})
	r := collect.Collect(t.Context(), job, collect.Options{})
	if len(r.Run.Iterations) != 3 || len(r.Run.Iterations[0].Events) != 2 || r.Err != nil {
		t.Errorf("%v, %v", r.Err, r.Run.Iterations)
	}
	_, job = benchmark(t, "pixel-5-android-11", "", simulator.Options{})
	job.Scenario.Workload.Instrumentation.Class, job.Scenario.Retries = "", 2
	began := 0
	r = collect.Collect(t.Context(), job, collect.Options{Progress: progressFunc(func(e journal.Event) {
		if e.Phase == journal.Measure {
			began++
		}
	})})
	if e := loss.As(r.Err); !loss.IsConfiguration(r.Err) || !strings.Contains(e.Error(), "results of 2 classes") || !strings.Contains(e.Hint(), "classes: [com.example.macro.StartupBenchmark, com.example.macro.WarmBenchmark]") {
		t.Errorf("%v", r.Err)
	}
	if began != 1 {
		t.Errorf("it was measured %d times, and would have the same two each time", began)
	}
}

// Where Macrobenchmark refuses to measure, the error has advice, and the refusal can be suppressed.
func TestMacrobenchmarkRefusalHasAdvice(t *testing.T) {
	t.Parallel()
	_, job := benchmark(t, "sdk-gphone64-x86-android-14", "StartupBenchmark", simulator.Options{})
	r := collect.Collect(t.Context(), job, collect.Options{})
	e := loss.As(r.Err)
	if e == nil || !loss.IsWorkload(r.Err) || !e.Final || !strings.Contains(e.Error(), "ERRORS (not suppressed): EMULATOR") ||
		!strings.Contains(e.Hint(), "measure on a real device") || !strings.Contains(e.Hint(), `androidx.benchmark.suppressErrors: "EMULATOR"`) {
		t.Fatalf("%v", r.Err)
	}
	job.Scenario.Workload.Instrumentation.Args = map[string]string{"androidx.benchmark.suppressErrors": "EMULATOR"}
	wantComplete(t, collect.Collect(t.Context(), job, collect.Options{}), 5)
}

// spoiled is a device on which the results of a Macrobenchmark are wrong.
type spoiled struct {
	device.Device
	names string // printed by ls; "": the real ones
	text  func(pulled []byte) []byte
}

func (s spoiled) Exec(ctx context.Context, line string) (device.Output, error) {
	out, err := s.Device.Exec(ctx, line)
	if strings.HasPrefix(line, "ls -1") && s.names != "" {
		out.Stdout = []byte(s.names)
	}
	return out, err
}

func (s spoiled) Pull(ctx context.Context, path string, dst io.Writer) error {
	if s.text == nil || !strings.HasSuffix(path, ".json") {
		return s.Device.Pull(ctx, path, dst)
	}
	var b bytes.Buffer
	err := s.Device.Pull(ctx, path, &b)
	_, wrote := dst.Write(s.text(b.Bytes()))
	return errors.Join(err, wrote)
}

// Results of any content and number are an error or are skipped.
func TestUnusableMacrobenchmarkResults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil spoiled
		why   string
	}{
		"none":          {spoiled{names: "\n"}, "it left 0 files of results in /sdcard/Android/media/com.example.macro/additional_test_output, want one"},
		"hostile names": {spoiled{names: "../../etc-benchmarkData.json\n$(x)benchmarkData.json\n-rf benchmarkData.json\n"}, "it left 0 files of results"},
		"two":           {spoiled{names: "a-benchmarkData.json\nb-benchmarkData.json\n"}, "it left 2 files of results"},
		"garbage":       {spoiled{text: func([]byte) []byte { return []byte("{]") }}, "not a result file"},
		"cut short":     {spoiled{text: func(b []byte) []byte { return b[:len(b)/2] }}, "import com.example.macro-benchmarkData.json"},
		"too large":     {spoiled{text: func(b []byte) []byte { return bytes.Repeat([]byte(" "), run.MaxBytes+1) }}, "it is too large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, job := benchmark(t, "pixel-7-android-14", "StartupBenchmark", simulator.Options{})
			job.Open = func(ctx context.Context) (device.Device, error) {
				d, err := adb.Dial(ctx, s.Address(), patience(simulator.Options{}))
				c.spoil.Device = d
				return c.spoil, err
			}
			if r := collect.Collect(t.Context(), job, collect.Options{}); r.Run.Status != run.Failed || !strings.Contains(r.Err.Error(), c.why) {
				t.Errorf("%s: %v, want %q", r.Run.Status, r.Err, c.why)
			}
		})
	}
}

// A test that measures by itself without being configured as a Macrobenchmark is reported.
func TestUnconfiguredMacrobenchmarkIsReported(t *testing.T) {
	t.Parallel()
	_, job := benchmark(t, "pixel-7-android-14", "StartupBenchmark", simulator.Options{})
	job.Scenario.Workload.Instrumentation.Macrobenchmark = false
	job.Scenario.Workload.Instrumentation.Args = map[string]string{"additionalTestOutputDir": "/sdcard/Android/media/com.example.macro/out"}
	wantWarning(t, collect.Collect(t.Context(), job, collect.Options{}), "workload.instrumentation.macrobenchmark: true")
}

// peeping looks at the phone each minute of its clock.
type peeping struct {
	device.Clock
	next time.Duration
	look func()
}

func (p *peeping) Sleep(ctx context.Context, d time.Duration) error {
	err := p.Clock.Sleep(ctx, d)
	if now := p.Now(); now > p.next {
		p.next = now + time.Minute
		p.look()
	}
	return err
}

// A phone stays owned while a Macrobenchmark runs, which takes minutes without any command.
func TestPhoneStaysOwnedDuringAMacrobenchmark(t *testing.T) {
	t.Parallel()
	s, job := benchmark(t, "pixel-7-android-14", "StartupBenchmark#cold", simulator.Options{})
	rewrite(t, job.App.TestAPK, "cold 5", "cold 100")
	ownedBy(&job, "here")
	job.Scenario.Timeout = time.Hour
	looks, free := 0, 0
	job.Clock = &peeping{Clock: job.Clock, look: func() {
		_, err := devicelock.Check(t.Context(), func(_ context.Context, line string) (device.Output, error) {
			out, err := onPhone(t, s, line)
			return device.Output{Stdout: []byte(out)}, err
		}, "", ":")
		if looks++; err == nil {
			free++
		}
	}}
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 100)
	if looks < 8 || free > 0 {
		t.Errorf("of %d looks, a minute apart, %d found the phone free", looks, free)
	}
}

// A timeout comes with advice.
func TestMacrobenchmarkTimeout(t *testing.T) {
	t.Parallel()
	_, job := benchmark(t, "pixel-7-android-14", "StartupBenchmark#cold", simulator.Options{})
	job.Scenario.Timeout = 10 * time.Second
	r := collect.Collect(t.Context(), job, collect.Options{})
	if e := loss.As(r.Err); !errors.Is(r.Err, loss.ErrTimeout) || !strings.Contains(e.Hint(), "timeout") {
		t.Errorf("%v", r.Err)
	}
}

// A workload that takes minutes reports progress, since some CI systems end silent jobs.
func TestLongWorkloadReportsProgress(t *testing.T) {
	t.Parallel()
	_, macro := benchmark(t, "pixel-7-android-14", "StartupBenchmark#cold", simulator.Options{})
	rewrite(t, macro.App.TestAPK, "cold 5", "cold 40")
	macro.Scenario.Timeout = time.Hour
	_, script := simulated(t, "pixel-3-android-9", simulator.Options{})
	path := filepath.Join(t.TempDir(), "long.sh")
	if err := os.WriteFile(path, []byte("am start -n com.example.demo/.InboxActivity; sleep 200\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script.Scenario.Workload = config.Workload{Shell: &config.Shell{Script: path}}
	script.Scenario.Repetitions, script.Scenario.WarmUp, script.Scenario.Timeout = 1, 0, time.Hour
	for name, job := range map[string]collect.Job{"Macrobenchmark": macro, "script": script} {
		last, longest := job.Clock.Now(), time.Duration(0)
		began := last
		r := collect.Collect(t.Context(), job, collect.Options{Progress: progressFunc(func(journal.Event) {
			now := job.Clock.Now()
			last, longest = now, max(longest, now-last)
		})})
		if took := last - began; r.Err != nil || took < 3*time.Minute || longest > time.Minute {
			t.Errorf("%s: %v; of %v it was silent for %v", name, r.Err, took, longest)
		}
	}
}

// Where builds are measured alternately, a turn is one observation of a build, and not as many as the
// benchmark has iterations, which share the conditions of that turn.
func TestMacrobenchmarkTurnIsOneIteration(t *testing.T) {
	t.Parallel()
	_, job := benchmark(t, "pixel-7-android-14", "WarmBenchmark", simulator.Options{})
	job.Scenario.Repetitions = 4
	job.Evidence = config.Evidence{Keep: config.KeepAll}
	base, head := collect.Interleave(t.Context(), collect.Pair{Base: job, Head: job}, collect.Options{Evidence: &memory{}})
	for _, r := range []collect.Result{base, head} {
		wantComplete(t, r, 4)
		for _, it := range r.Run.Iterations {
			if len(it.Events) != 2 || it.Events[0].Metrics["startup.ttid_ms"] < 100 || it.Events[1].Metrics["startup.ttid_ms"] < 30 {
				t.Errorf("%+v", it)
			}
		}
		for _, e := range r.Run.Evidence {
			if e.Repetition > 4 {
				t.Errorf("%s is of repetition %d of 4", e.Name, e.Repetition)
			}
		}
	}
}
