package acceptance

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
)

// Finding is a number that got worse: of a scenario, after an event or in the whole run, on the
// phone on which it got worst.
type Finding struct {
	Scenario string `json:"scenario"`
	Event    string `json:"event,omitempty"`
	Metric   string `json:"metric"`
	// Of is the metric that Metric details, or Metric itself.
	Of string `json:"of"`
	// By is how much worse it is: as a share of what was expected if Share is set, else in the
	// metric's unit. Most is the far end of its interval, By where there is none.
	By    float64 `json:"by"`
	Most  float64 `json:"most"`
	Share bool    `json:"share,omitempty"`
	// Suspect marks what the verdict did not confirm.
	Suspect bool `json:"suspect,omitempty"`
}

// String returns the finding for people: "search / scroll: frames.duration_ms +14 %".
func (f Finding) String() string {
	place := prose.Short(f.Scenario)
	if f.Event != "" {
		place += " / " + prose.Short(f.Event)
	}
	if f.Share {
		return fmt.Sprintf("%s: %s %.0f %% worse", place, prose.Short(f.Metric), 100*f.By)
	}
	return fmt.Sprintf("%s: %s %.3g worse", place, prose.Short(f.Metric), f.By)
}

// Of returns what a verdict found to be worse or suspects, each once, the worst first. known is
// false if the verdict is a regression for another reason than its list of deviations, or if the
// list is cut.
func Of(v gate.Verdict, catalogue *metric.Catalogue) (all []Finding, known bool) {
	if catalogue == nil {
		catalogue = metric.Default()
	}
	known = true
	at := map[Finding]int{}
	for _, r := range v.Runs {
		worse := false
		for _, c := range r.Deviations {
			if c.Direction != gate.ToRegression && c.Direction != gate.Suspect {
				continue
			}
			worse = worse || c.Direction == gate.ToRegression
			f := findingOf(r.Scenario, c, catalogue)
			key := Finding{Scenario: f.Scenario, Event: f.Event, Metric: f.Metric, Share: f.Share, Suspect: f.Suspect}
			if i, is := at[key]; is {
				all[i].By, all[i].Most = max(all[i].By, f.By), max(all[i].Most, f.Most)
				continue
			}
			at[key] = len(all)
			all = append(all, f)
		}
		if r.Verdict == gate.Regression && (!worse || r.DeviationsTotal > len(r.Deviations)) {
			known = false
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		if a.Suspect != b.Suspect {
			return map[bool]int{false: -1, true: 1}[a.Suspect]
		}
		return cmp.Compare(b.By, a.By)
	})
	return all, known
}

func findingOf(scenario string, c gate.Comparison, catalogue *metric.Catalogue) Finding {
	m, _ := catalogue.Lookup(c.Metric)
	f := Finding{Scenario: scenario, Event: c.Event, Metric: c.Metric, Of: cmp.Or(m.Of, c.Metric), Suspect: c.Direction == gate.Suspect}
	from, shift, share, ends := c.Expected, c.Value-c.Expected, c.Change, []*float64{c.Low, c.High}
	asShare := true // whether the ends are shares
	if r := c.Rounds; r != nil {
		from, shift, share, ends = r.Base, r.Shift, r.Change, []*float64{r.ChangeLow, r.ChangeHigh}
	}
	if f.Share = from > 0 && !m.Ratio && !m.Signed; f.Share {
		f.By = math.Abs(share)
	} else {
		f.By, asShare = math.Abs(shift), false
	}
	f.Most = f.By
	for _, end := range ends {
		if end != nil && asShare && (*end < 0) == (share < 0) {
			f.Most = max(f.Most, math.Abs(*end))
		}
	}
	return f
}

// slack is how much worse than what was accepted a measurement of the same change may come out: half
// as much again, or the far end of the interval.
const slack = 1.5

// Uncovered returns what got worse in a verdict beyond what was accepted, in the order of the
// verdict; none if the decisions cover it all. A finding is covered if the same metric of the same
// scenario (or one that it details, or that details it) was accepted, in the whole run or after any
// event, up to slack. Several decisions add up: a refresh may measure several changes at once.
func Uncovered(v gate.Verdict, catalogue *metric.Catalogue, accepted []Record) []string {
	type key struct {
		scenario, of string
		share        bool
	}
	limits := map[key]float64{}
	for _, r := range accepted {
		own := map[key]float64{}
		for _, f := range r.Findings {
			k := key{f.Scenario, f.Of, f.Share}
			own[k] = max(own[k], slack*f.By, f.Most)
		}
		for k, most := range own {
			limits[k] += most
		}
	}
	found, known := Of(v, catalogue)
	var out []string
	for _, f := range found {
		if limit, is := limits[key{f.Scenario, f.Of, f.Share}]; !f.Suspect && (!is || !(f.By <= limit)) {
			out = append(out, f.String())
		}
	}
	if !known {
		out = append(out, "more than the verdict lists")
	}
	return out
}
