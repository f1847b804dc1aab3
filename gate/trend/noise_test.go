package trend

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/research/evaluation/published"
	"github.com/apkgate/apkgate/stat"
)

// noise is how far a series varies: by itself, and together with the other phones of a night. Both
// are standard deviations of logarithms.
type noise struct{ own, shared float64 }

// robust is the standard deviation that the median absolute deviation stands for.
func robust(of []float64) float64 {
	middle := stat.Median(of)
	off := make([]float64, len(of))
	for i, x := range of {
		off[i] = math.Abs(x - middle)
	}
	return 1.4826 * stat.Median(off)
}

// sessionNoise is how far the sessions of one workload vary on one metered phone.
func sessionNoise(t *testing.T) (out []float64) {
	t.Helper()
	metered, _, err := published.Energy(filepath.Dir(corpustest.Path(t, "dataset")))
	if errors.Is(err, published.ErrNoXZ) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range metered {
		by := map[string][]float64{}
		for i, v := range s.Values {
			by[s.Session[i]] = append(by[s.Session[i]], math.Log(v))
		}
		var sessions []float64
		for _, logs := range by {
			sessions = append(sessions, stat.Median(logs))
		}
		out = append(out, robust(sessions))
	}
	return out
}

// versionNoise is how far ten benchmarks vary that five phones ran with releases of one library: each
// phone on its own, once its level and the release's are taken off.
func versionNoise(t *testing.T) (out []noise) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpustest.Path(t, "macrobenchmark", "compose_versions"), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	versions, phones, by := map[string]int{}, map[string]int{}, map[string]values{}
	place := func(in map[string]int, name string) int {
		if _, known := in[name]; !known {
			in[name] = len(in)
		}
		return in[name]
	}
	for _, file := range files {
		version, phone, _ := strings.Cut(strings.TrimPrefix(filepath.Base(file), "compose_"), "_")
		night, device := place(versions, version), place(phones, phone)
		var suite struct {
			Benchmarks []struct {
				Name           string
				SampledMetrics map[string]struct{ Runs [][]float64 }
			}
		}
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &suite)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range suite.Benchmarks {
			frames := slices.Concat(b.SampledMetrics["frameCpuTimeMs"].Runs...)
			sum := 0.0
			for _, ms := range frames {
				sum += ms / float64(len(frames))
			}
			v := by[b.Name]
			v.at = append(v.at, value{night: night, device: device, y: math.Log(sum)})
			by[b.Name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		v := by[name]
		slices.SortStableFunc(v.at, func(a, b value) int { return a.night - b.night })
		p := polish(v)
		var rest []float64
		for _, x := range v.at {
			rest = append(rest, x.y-p.own[[2]int{x.device, 0}]-p.effects[slices.Index(p.nights, x.night)])
		}
		free := float64(len(v.at)-len(versions)-len(phones)+1) / float64(len(v.at))
		out = append(out, noise{robust(rest) / math.Sqrt(free), robust(p.effects)})
	}
	return out
}

// The numbers of docs/evaluation/trend.md on real phones, which the noise of the simulated nights
// covers.
func TestNoiseOfRealPhones(t *testing.T) {
	t.Parallel()
	joules, frames, shared := sessionNoise(t), []float64{}, []float64{}
	for _, n := range versionNoise(t) {
		frames, shared = append(frames, n.own), append(shared, n.shared)
	}
	want := fmt.Sprintf("joules of %d workloads vary by %.1f %% from session to session in the middle, and by %.1f %% at most; "+
		"the frames of %d benchmarks by %.1f %% and %.1f %%. Together with the other phones, the benchmarks vary by %.1f %% in the middle",
		len(joules), 100*stat.Median(joules), 100*slices.Max(joules), len(frames), 100*stat.Median(frames), 100*slices.Max(frames), 100*stat.Median(shared))
	text, err := os.ReadFile("../../docs/evaluation/trend.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
		t.Errorf("docs/evaluation/trend.md does not say: %s", want)
	}
	for name, c := range map[string]struct{ of, drawn float64 }{
		"frames": {stat.Median(frames), ofFrames.own}, "joules": {stat.Median(joules), ofJoules.own},
		"the noisiest": {max(slices.Max(joules), slices.Max(frames)), ofWorst.own}, "phones together": {stat.Median(shared), ofFrames.shared},
	} {
		if c.of > c.drawn+0.0005 || c.drawn > 1.25*c.of {
			t.Errorf("%s vary by %.2f %%, and simulated nights by %.2f %%", name, 100*c.of, 100*c.drawn)
		}
	}
}
