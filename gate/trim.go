package gate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/run"
)

// Limits of what a verdict lists, over all of its runs. A lab of a few phones stays far below them;
// with hundreds of phones and dozens of events the lists would take hundreds of megabytes.
const (
	maxComparisons = 20_000  // and as many deviations
	maxReferences  = 20_000  // and no more than MaxListed of one run
	maxSampled     = 200_000 // values in samples
)

// Unlisted counts comparisons that were made but are not listed: those of one cell of a scenario,
// and in how many runs.
type Unlisted struct {
	Scenario string `json:"scenario"`
	Event    string `json:"event"`
	Metric   string `json:"metric"`
	Runs     int    `json:"runs"`
	// Compared counts those that had something to be compared with.
	Compared int `json:"compared"`
}

// Trim limits what the verdict lists. Findings are kept first: comparisons of the whole run always
// stay, those of events that don't deviate are dropped first, then those that are also listed as
// deviations.
func (v *Verdict) Trim() {
	v.trimComparisons(func(c Comparison) bool { return c.Event != "" && c.Direction == None })
	v.trimComparisons(func(c Comparison) bool { return c.Event != "" })
	v.trimDeviations()
	v.trimReferences()
	v.trimSamples()
	slices.SortFunc(v.Unlisted, func(a, b Unlisted) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Event, b.Event), cmp.Compare(a.Metric, b.Metric))
	})
	gone := 0
	for _, u := range v.Unlisted {
		gone += u.Runs
	}
	if gone > 0 {
		v.warn("of %d comparisons, %d of single events are counted but not listed, those without a deviation first", gone+v.count(comparisonsOf), gone)
	}
}

func (v *Verdict) warn(format string, args ...any) {
	v.Warnings = append(v.Warnings, run.Warning{Text: fmt.Sprintf(format, args...)})
}

func comparisonsOf(r RunVerdict) int { return len(r.Comparisons) }

func (v *Verdict) count(of func(RunVerdict) int) (n int) {
	for _, r := range v.Runs {
		n += of(r)
	}
	return n
}

// trimComparisons drops comparisons for which away returns true, if there are too many.
func (v *Verdict) trimComparisons(away func(Comparison) bool) {
	if v.count(comparisonsOf) <= maxComparisons {
		return
	}
	type cell struct{ scenario, event, metric string }
	at := map[cell]int{}
	for i, u := range v.Unlisted {
		at[cell{u.Scenario, u.Event, u.Metric}] = i
	}
	for i := range v.Runs {
		r := &v.Runs[i]
		kept := make([]Comparison, 0, len(r.Comparisons))
		for _, c := range r.Comparisons {
			if !away(c) {
				kept = append(kept, c)
				continue
			}
			key := cell{r.Scenario, c.Event, c.Metric}
			n, known := at[key]
			if !known {
				n = len(v.Unlisted)
				at[key] = n
				v.Unlisted = append(v.Unlisted, Unlisted{Scenario: r.Scenario, Event: c.Event, Metric: c.Metric})
			}
			v.Unlisted[n].Runs++
			v.Unlisted[n].Compared += min(c.N, 1)
		}
		if len(kept) < len(r.Comparisons) {
			r.ComparisonsTotal = max(r.ComparisonsTotal, len(r.Comparisons))
			r.Comparisons = kept
		}
	}
}

// trimDeviations keeps each run's deviations of the whole run and its gravest others.
func (v *Verdict) trimDeviations() {
	all := v.count(func(r RunVerdict) int { return len(r.Deviations) })
	if all <= maxComparisons {
		return
	}
	each := max(1, maxComparisons/len(v.Runs))
	for i := range v.Runs {
		r := &v.Runs[i]
		kept := make([]Comparison, 0, each)
		for place, d := range r.Deviations {
			if place < each || d.Event == "" {
				kept = append(kept, d)
			}
		}
		if len(kept) < len(r.Deviations) {
			r.DeviationsTotal, r.Deviations = len(r.Deviations), kept
		}
	}
	v.warn("of %d deviations, the gravest %d are listed", all, v.count(func(r RunVerdict) int { return len(r.Deviations) }))
}

func (v *Verdict) trimReferences() {
	if v.count(func(r RunVerdict) int { return len(r.Reference) }) <= maxReferences {
		return
	}
	each := max(1, maxReferences/len(v.Runs))
	for i := range v.Runs {
		r := &v.Runs[i]
		r.Reference = slices.Clip(r.Reference[:min(each, len(r.Reference))])
	}
}

// trimSamples keeps samples only for deviations, which have figures, and shortens them as needed.
func (v *Verdict) trimSamples() {
	deviations := 0
	values := v.count(func(r RunVerdict) (n int) {
		for _, c := range r.Comparisons {
			n += len(c.Sample)
		}
		for _, c := range r.Deviations {
			n += len(c.Sample)
		}
		deviations += len(r.Deviations)
		return n
	})
	if values <= maxSampled {
		return
	}
	each := maxSampled / max(1, deviations)
	for i := range v.Runs {
		r := &v.Runs[i]
		r.Comparisons, r.Deviations = slices.Clone(r.Comparisons), slices.Clone(r.Deviations)
		for k := range r.Comparisons {
			r.Comparisons[k].Sample = nil
		}
		for k := range r.Deviations {
			r.Deviations[k].Sample = SampleEvenly(r.Deviations[k].Sample, each)
		}
	}
}
