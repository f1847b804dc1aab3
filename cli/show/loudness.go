package show

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
	"github.com/apkgate/apkgate/usecase/settings"
)

// Loudness is how well one metric of one scenario can be gated.
type Loudness struct {
	Scenario string `json:"scenario"`
	Event    string `json:"event,omitempty"`
	Metric   string `json:"metric"`
	// Comparisons counts those of it that had a history. In Decides of them it was decisive, of
	// which the history cleared Cleared, and Open were still undecided after simulated rounds.
	Comparisons int `json:"comparisons"`
	Decides     int `json:"decides"`
	Cleared     int `json:"cleared"`
	Open        int `json:"open"`
	// Detectable is the median worsening of which nine of ten builds would have shown to the
	// history alone, as a share; 0 if unknown.
	Detectable float64 `json:"detectable,omitempty"`
	// Advice is "noisy" if rounds don't settle it, "rounds" if the history mostly does not clear
	// it, "" otherwise.
	Advice Advice `json:"advice,omitempty"`
}

// Advice is what to do about a metric.
type Advice string

// What to do about a metric.
const (
	TooNoisy   Advice = "noisy"  // rounds leave it undecided in more than one of ten
	NeedsTurns Advice = "rounds" // the history clears less than half
)

// HasSay reports whether it decides by itself in most checks.
func (m Loudness) HasSay() bool { return 2*m.Decides > m.Comparisons }

// loudness gathers the metrics of an app.
type loudness struct {
	catalogue *metric.Catalogue
	by        map[[3]string]*Loudness
	shows     map[[3]string][]float64
}

func newLoudness(set settings.Settings) *loudness {
	c := set.Catalogue
	if c == nil {
		c = metric.Default()
	}
	return &loudness{c, map[[3]string]*Loudness{}, map[[3]string][]float64{}}
}

// add adds the outcomes of one check, by the history and then by the rounds.
func (l *loudness) add(first, then gate.Verdict) {
	for i, r := range first.Runs {
		for k, c := range r.Comparisons {
			if c.N == 0 || c.Screen == "" && !c.Shown {
				continue
			}
			key := [3]string{r.Scenario, c.Event, c.Metric}
			m := l.by[key]
			if m == nil {
				m = &Loudness{Scenario: r.Scenario, Event: c.Event, Metric: c.Metric}
				l.by[key] = m
			}
			m.Comparisons++
			if c.Detectable > 0 {
				l.shows[key] = append(l.shows[key], c.Detectable)
			}
			if c.Shown {
				continue
			}
			if m.Decides++; c.Screen == gate.Cleared {
				m.Cleared++
			} else if after := then.Runs[i].Comparisons[k]; after.Rounds == nil || after.Rounds.Outcome == gate.RoundsUndecided {
				m.Open++
			}
		}
	}
}

// sorted returns the metrics, those first that are left undecided most often, then those that are
// cleared least.
func (l *loudness) sorted() []Loudness {
	out := []Loudness{}
	for key, m := range l.by {
		if shows := l.shows[key]; 2*len(shows) > m.Comparisons {
			m.Detectable = stat.Median(shows)
		}
		switch {
		case 10*m.Open > m.Decides:
			m.Advice = TooNoisy
		case 2*m.Cleared < m.Decides:
			m.Advice = NeedsTurns
		}
		out = append(out, *m)
	}
	left := func(n int, m Loudness) float64 { return float64(n) / float64(max(m.Decides, 1)) }
	slices.SortFunc(out, func(a, b Loudness) int {
		return cmp.Or(cmp.Compare(left(b.Open, b), left(a.Open, a)), cmp.Compare(left(b.Decides-b.Cleared, b), left(a.Decides-a.Cleared, a)),
			cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(min(len(a.Event), 1), min(len(b.Event), 1)), l.catalogue.Compare(a.Metric, b.Metric), cmp.Compare(a.Event, b.Event))
	})
	return out
}
