package export_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/export"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/energy/symbolize"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// recordings returns the real recordings outside the repository.
func recordings(t testing.TB) (paths []string) {
	t.Helper()
	folder := corpustest.Path(t, "perfdata")
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".data" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d recordings in %s, %v: want some", len(paths), folder, err)
	}
	return paths
}

func recording(t testing.TB, path string) *simpleperf.Profile {
	t.Helper()
	return corpustest.Read(t, path, simpleperf.Read)
}

// steady is a made-up power of 1 W at all times, so that a recording's joules are its seconds of
// CPU time wherever one thread runs at a time.
func steady() energy.Curve {
	return energy.OfReadings([]energy.Reading{{Time: 0, Watts: 1}, {Time: 1 << 62, Watts: 1}}, 0)
}

// Each real recording with samples of time is exported as a profile, without a mangled or a missing
// name, and pprof opens them all and counts their samples together.
func TestPprofOfRealRecordings(t *testing.T) {
	var files []string
	samples := 0
	for _, path := range recordings(t) {
		tr := methods.Of(recording(t, path), steady(), symbolize.New(nil), methods.Pick{})
		if len(tr.Samples) == 0 {
			continue
		}
		file, p := written(t, made(t, []methods.Trace{tr}))
		if got := total(p, 0); got != int64(len(tr.Samples)) {
			t.Errorf("%s: the profile has %d samples, the recording %d", path, got, len(tr.Samples))
		}
		for _, f := range p.Function {
			if f.Name == "" || strings.HasPrefix(f.Name, "_Z") || strings.Contains(f.Filename, "/data/app/") {
				t.Errorf("%s: a function is called %q in %q", path, f.Name, f.Filename)
			}
		}
		files, samples = append(files, file), samples+len(tr.Samples)
	}
	if len(files) < 20 {
		t.Fatalf("%d recordings became profiles, want 20 or more", len(files))
	}
	if _, shown := top(t, append([]string{"-sample_index=samples"}, files...)...); !strings.Contains(shown, fmt.Sprintf("of %d total", samples)) {
		t.Errorf("pprof shows %.300s, want %d samples", shown, samples)
	}
}

func total(p *profile.Profile, index int) (sum int64) {
	for _, s := range p.Sample {
		sum += s.Value[index]
	}
	return sum
}

func BenchmarkRecordingToPprof(b *testing.B) {
	var largest []byte
	for _, path := range recordings(b) {
		if filepath.Base(path) == "perf_with_interpreter_frames.data" {
			data, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			largest = data
		}
	}
	curve := steady()
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(largest)))
		for b.Loop() {
			if _, err := simpleperf.Read(bytes.NewReader(largest)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("whole", func(b *testing.B) {
		b.SetBytes(int64(len(largest)))
		for b.Loop() {
			p, err := simpleperf.Read(bytes.NewReader(largest))
			if err != nil {
				b.Fatal(err)
			}
			tr := methods.Of(p, curve, symbolize.New(nil), methods.Pick{})
			out, err := export.Pprof([]methods.Trace{tr}, about)
			if err != nil {
				b.Fatal(err)
			}
			var file bytes.Buffer
			if err := out.Write(&file); err != nil {
				b.Fatal(err)
			}
		}
	})
}
