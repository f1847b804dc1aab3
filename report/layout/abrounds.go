package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/causes"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/wording"
)

// abDrawn is what one picture of a comparison of two builds shows: a number in one context.
type abDrawn struct {
	scenario  sidebyside.Scenario
	of        sidebyside.Comparison
	context   int
	direction gate.Direction
	by        sidebyside.Difference
}

// key identifies what the picture shows, as of a row.
func (d abDrawn) key() string { return abKey(d.scenario, d.of, d.context) }

// abKey identifies a number in a context; the context -1 is all of them.
func abKey(s sidebyside.Scenario, c sidebyside.Comparison, context int) string {
	if context < 0 && len(c.Contexts) == 0 {
		context = 0 // the only one
	}
	return strings.Join([]string{s.Scenario, c.Event, c.Metric, fmt.Sprint(context)}, "\x00")
}

// abDrawings returns what can be drawn: what is worse first, each number once before its other
// contexts, in the order of the rows.
func abDrawings(v sidebyside.Verdict) (out []abDrawn) {
	type ranked struct {
		abDrawn
		class, again, row int
	}
	var all []ranked
	for _, s := range v.Scenarios {
		rows := s.Deviations()
		for _, c := range s.Comparisons {
			if c.Direction == gate.None {
				rows = append(rows, c)
			}
		}
		for row, c := range rows {
			for i, d := range abContexts(s, c) {
				all = append(all, ranked{d, -min(gravityOfPicture(c.Direction), 1), min(i, 1), row})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.again, b.again), cmp.Compare(a.row, b.row))
	})
	for _, r := range all {
		out = append(out, r.abDrawn)
	}
	return out
}

// abContexts returns a number in each context whose rounds are known, the largest change first.
func abContexts(s sidebyside.Scenario, c sidebyside.Comparison) (out []abDrawn) {
	if len(c.Values) > 0 && len(s.Contexts) > 0 {
		out = append(out, abDrawn{s, c, 0, c.Direction, c.Difference})
	}
	for _, x := range c.Contexts {
		if len(x.Values) > 0 && x.Context >= 0 && x.Context < len(s.Contexts) {
			out = append(out, abDrawn{s, c, x.Context, x.Direction, x.Difference})
		}
	}
	size := func(d abDrawn) float64 { return gate.Size(d.of.Metric, d.by.Base, d.by.Shift, d.by.Change) }
	slices.SortStableFunc(out, func(a, b abDrawn) int {
		return cmp.Or(cmp.Compare(gravityOfPicture(b.direction), gravityOfPicture(a.direction)), cmp.Compare(size(b), size(a)))
	})
	return out
}

// figure returns the picture of the rounds.
func (in ComparisonInput) figure(d abDrawn) figure.Rounds {
	m, _ := in.Catalogue.Lookup(d.of.Metric)
	x := gate.RoundsComparison{
		Base: d.by.Base, Shift: d.by.Shift, ShiftLow: d.by.ShiftLow, ShiftHigh: d.by.ShiftHigh,
		Change: d.by.Change, ChangeLow: d.by.ChangeLow, ChangeHigh: d.by.ChangeHigh, Values: d.by.Values,
	}
	title := prose.Clip(wording.Event(d.of.Event), 80) + ": " + wording.Brief(m.Title) + " on " + deviceOf(d.scenario.Contexts[d.context].Context)
	if len(in.Verdict.Scenarios) > 1 {
		title = wording.Brief(d.scenario.Scenario) + ", " + title
	}
	return roundsFigure(title, m, causes.ToneOf(d.direction), &x)
}

// rounds draws both builds round by round.
func (in ComparisonInput) rounds(all []abDrawn) document.Section {
	var figures []document.Figure
	for i, d := range all[:min(len(all), maxRounds)] {
		fig := in.figure(d)
		figures = append(figures, document.Figure{ID: fmt.Sprintf("t%d", i+1), Caption: fig.Title, Detail: fig.Description(), Of: d.key(), Picture: fig})
	}
	return roundsGallery(figures, len(all))
}

// charted returns the rounds of what is worst; nil for none.
func (in ComparisonInput) charted(all []abDrawn) *document.Chart {
	if len(all) == 0 || all[0].of.Direction != gate.ToRegression {
		return nil
	}
	m, _ := in.Catalogue.Lookup(all[0].of.Metric)
	return chartOf(in.figure(all[0]).Title, m, all[0].by.Values)
}

// linkRows makes rows lead to the pictures that show what they are about: where all contexts together
// do, to the first of them.
func linkRows(sections []document.Section, s sidebyside.Scenario, all []abDrawn) {
	first := map[string]string{}
	for _, d := range all[:min(len(all), maxRounds)] {
		if key := abKey(s, d.of, -1); d.scenario.Scenario == s.Scenario && first[key] == "" {
			first[key] = d.key()
		}
	}
	for _, section := range sections {
		t, ok := section.Body.(*document.Table)
		for i := 0; ok && i < len(t.Rows); i++ {
			if key, known := first[t.Rows[i].Of]; known {
				t.Rows[i].Of = key
			}
		}
	}
}
