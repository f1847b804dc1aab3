package run

import (
	"maps"
	"slices"
	"time"

	"github.com/apkgate/apkgate/metric"
)

// Cell addresses one number of a summary: a metric of one UI event, or of the whole run where Event
// is "".
type Cell struct{ Event, Metric string }

// Summary is what a gate compares: one number for each cell, which summarizes the iterations, with
// its repetitions (Repeated), the run's identity and its context.
type Summary struct {
	ID      string
	Started time.Time
	Session string
	// Commit is that of the app's source, "" where unknown.
	Commit  string
	Context map[string]string
	Cells   Cells
}

// Centre is how iterations are summarized.
type Centre string

// The centres a policy can choose.
const (
	Median Centre = "median" // the default, which resists a bad repetition
	Mean   Centre = "mean"   // the paper's (section 7.4)
)

// Summarize summarizes the iterations of each cell by the given centre. Totals that a record leaves
// out are derived from its buckets, and a smooth ratio from its frame counts. Events are named as
// by EventNames.
func Summarize(r Run, centre Centre, catalogue *metric.Catalogue) Summary {
	return SummarizeBy(r, catalogue, centre)[0]
}

// SummarizeBy is Summarize for each of the centres, at little more cost than for one.
func SummarizeBy(r Run, catalogue *metric.Catalogue, centres ...Centre) []Summary {
	values := map[Cell][]float64{}
	for _, it := range r.Iterations {
		addBucket(values, "", totals(it, catalogue))
		names := EventNames(it)
		for i, e := range it.Events {
			addBucket(values, names[i], withSmoothRatio(e.Metrics))
		}
	}
	cells := slices.SortedFunc(maps.Keys(values), compareCells)
	names, repeated := newLayout(cells), make([]packed, len(cells))
	numbers := make([][]float64, len(centres))
	for k := range numbers {
		numbers[k] = make([]float64, len(cells))
	}
	for i, cell := range cells {
		m, _ := catalogue.Lookup(cell.Metric)
		repeated[i] = pack(RepeatedOf(m, values[cell]))
		for k, centre := range centres {
			numbers[k][i] = centreOf(values[cell], centre, m.Mean)
		}
	}
	out := make([]Summary, len(centres))
	for k := range out {
		out[k] = Summary{
			ID: r.ID, Started: r.Started, Session: r.Session, Commit: r.Source.Commit, Context: r.Context,
			Cells: Cells{names, numbers[k], repeated},
		}
	}
	return out
}

func addBucket(values map[Cell][]float64, event string, metrics map[string]float64) {
	for name, v := range metrics {
		c := Cell{event, name}
		values[c] = append(values[c], v)
	}
}

// withSmoothRatio adds the ratio of frames that are not janky (paper, section 5.1) where only the
// counts are given.
func withSmoothRatio(ms map[string]float64) map[string]float64 {
	count, okCount := ms["frames.count"]
	janky, okJanky := ms["frames.janky"]
	if _, has := ms["frames.smooth_ratio"]; has || !okCount || !okJanky || count <= 0 {
		return ms
	}
	out := make(map[string]float64, len(ms)+1)
	for k, v := range ms {
		out[k] = v
	}
	out["frames.smooth_ratio"] = 1 - janky/count
	return out
}

func centreOf(vs []float64, centre Centre, forceMean bool) float64 {
	if centre == Mean || forceMean {
		sum := 0.0
		for _, v := range vs {
			sum += v
		}
		return sum / float64(len(vs))
	}
	s := slices.Sorted(slices.Values(vs))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}
