// Package published reads published measurements as series to draw from. They are not part of the
// repository: a folder has them (APKGATE_CORPUS, or ../shared/corpus next to the repository).
//
// A series is of one workload on one device by one way of measuring, its values in the order in
// which they were measured, and complete. The package judges nothing.
package published

import (
	"archive/tar"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/research/evaluation/series"
)

// ErrNoXZ is returned where the archive of joules can't be opened.
var ErrNoXZ = errors.New("xz is not here to open the measurements")

// Energy are the joules of 27 workloads, three minutes each with two minutes between them
// (S2-group/energy-measures-android-apps-benchmark): metered by a Monsoon in ten sessions
// of three repetitions, and estimated by batterystats thirty times on each of two phones.
func Energy(corpus string) (monsoon, batterystats []series.Series, err error) {
	xz, err := exec.LookPath("xz")
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrNoXZ, err)
	}
	data, err := exec.Command(xz, "--decompress", "--stdout", filepath.Join(corpus, "dataset", "s2_energy_measures_csv.tar.xz")).Output()
	if err != nil {
		return nil, nil, fmt.Errorf("open the measurements of joules: %w", err)
	}
	metered := map[string]map[string][]float64{}      // by workload, then by session
	estimated := map[[2]string]map[string][]float64{} // by phone and workload, then by the file's name, which has the time
	for archive := tar.NewReader(bytes.NewReader(data)); ; {
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = addTable(archive, entry.Name, metered, estimated)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	for _, workload := range slices.Sorted(maps.Keys(metered)) {
		s := series.Series{Name: workload, Device: "Nexus 5X, metered", Metric: "energy.total_j"}
		for _, session := range slices.Sorted(maps.Keys(metered[workload])) {
			for _, joules := range metered[workload][session] {
				s.Values, s.Session = append(s.Values, joules), append(s.Session, session)
			}
		}
		monsoon = append(monsoon, s)
	}
	for key, byName := range estimated {
		s := series.Series{Name: key[1], Device: key[0] + ", estimated", Metric: "energy.total_j"}
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			s.Values = append(s.Values, byName[name]...)
		}
		batterystats = append(batterystats, s)
	}
	slices.SortFunc(batterystats, func(a, b series.Series) int { return strings.Compare(a.Device+a.Name, b.Device+b.Name) })
	return monsoon, batterystats, nil
}

func addTable(r io.Reader, name string, metered map[string]map[string][]float64, estimated map[[2]string]map[string][]float64) error {
	part := strings.Split(name, "/")
	switch base := path.Base(name); {
	case strings.HasPrefix(base, "Joule_results_"):
		rows, err := joules(r)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		key := [2]string{part[1], part[2]}
		if estimated[key] == nil {
			estimated[key] = map[string][]float64{}
		}
		estimated[key][base] = []float64{rows[0].joules}
	case base == "Aggregated_Results_Monsoon.csv":
		rows, err := joules(r)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, one := range rows {
			if metered[one.workload] == nil {
				metered[one.workload] = map[string][]float64{}
			}
			metered[one.workload][part[2]] = append(metered[one.workload][part[2]], one.joules)
		}
	}
	return nil
}

type row struct {
	workload string
	joules   float64
}

// joules reads a table that has the joules alone, or a column of that name.
func joules(r io.Reader) ([]row, error) {
	table, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(table) < 2 {
		return nil, fmt.Errorf("a table of %d lines, want a head and measurements", len(table))
	}
	column, workload := max(0, slices.Index(table[0], "energy_joules")), slices.Index(table[0], "subject")
	var out []row
	for _, line := range table[1:] {
		one := row{}
		if one.joules, err = strconv.ParseFloat(line[column], 64); err != nil {
			return nil, err
		}
		if workload >= 0 {
			one.workload = line[workload]
		}
		out = append(out, one)
	}
	return out, nil
}

// Benchmarks are the times of 33 benchmarks, fifty times each, on one phone
// (fzhinkin/kotlinx-serialization-android-benchmarks).
func Benchmarks(corpus string) ([]series.Series, error) {
	files, err := filepath.Glob(filepath.Join(corpus, "macrobenchmark", "kxserialization_*.json"))
	if err != nil {
		return nil, err
	}
	var out []series.Series
	for _, file := range files {
		var suite struct {
			Benchmarks []struct {
				Name    string
				Metrics map[string]struct{ Runs []float64 }
			}
		}
		if err := readJSON(file, &suite); err != nil {
			return nil, err
		}
		build := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "kxserialization_"), ".json")
		for _, b := range suite.Benchmarks {
			out = append(out, series.Series{Name: b.Name + ", " + build, Device: "SM-A145R", Values: b.Metrics["timeNs"].Runs})
		}
	}
	return out, nil
}

// Pushes are long series of one point a push, with a few real changes in them: Talos
// (mozilla/treeherder) and those by which MongoDB tests its detector
// (mongodb/signal-processing-algorithms).
func Pushes(corpus string) ([]series.Series, error) {
	folder := filepath.Join(corpus, "dataset", "changepoint")
	var out []series.Series
	for _, name := range []string{"runs1", "runs3", "a11y", "runs4"} {
		var file struct {
			Points [][]any `json:"test_runs"`
		}
		if err := readJSON(filepath.Join(folder, "treeherder_"+name+".json"), &file); err != nil {
			return nil, err
		}
		s := series.Series{Name: "Talos " + name, Device: "desktop"}
		for i, point := range file.Points {
			if len(point) < 4 {
				return nil, fmt.Errorf("%s: point %d has %d parts, want 4", s.Name, i+1, len(point))
			}
			v, ok := point[3].(float64)
			if !ok {
				return nil, fmt.Errorf("%s: point %d is no number", s.Name, i+1)
			}
			s.Values = append(s.Values, v)
		}
		out = append(out, s)
	}
	for _, name := range []string{"robust", "mad"} {
		s := series.Series{Name: "MongoDB " + name, Device: "server"}
		if err := readJSON(filepath.Join(folder, "mongodb_"+name+"_series.json"), &s.Values); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func readJSON(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// Quiet returns the series whose values vary by less than six per cent in total.
func Quiet(all []series.Series) []series.Series {
	const quiet = 0.06
	return slices.DeleteFunc(slices.Clone(all), func(s series.Series) bool { return s.CV() >= quiet })
}
