package layout

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/words"
	"github.com/apkgate/apkgate/run"
)

// pageRow is one row of a table of comparisons.
type pageRow struct {
	What, Expected, Value, Change, Interval, Runs, Status, Class, Mark string
	After, NoInterval                                                  bool
}

func (p *pageData) addRows(in Input) {
	first, rest := short(flat(p.Findings))
	all := slices.Concat(first, rest)
	var rows []pageRow
	for _, f := range all[:min(len(all), pageRows)] {
		r := newRow(f.what(), f.middle(), f.Metric)
		if len(in.Verdict.Runs) > 1 {
			r.Runs = f.fraction()
		}
		rows = append(rows, r)
	}
	p.Rows = newShelf(rows, min(len(first), openRows), len(all), "more deviation", "more deviations")
	if slices.ContainsFunc(all, func(f finding) bool { return len(f.Hits) > 1 }) {
		p.RowsNote = "A row that stands for several runs shows the one with the middle change."
	}
}

// newRow is one comparison as a row; its caller knows whether it speaks for
// several runs.
func newRow(what string, c gate.Comparison, m metric.Metric) pageRow {
	f := finding{Metric: m, Direction: c.Direction, AfterEffectOf: c.AfterEffectOf, Hits: []hit{{nil, c}}}
	class, mark := directionClass(c.Direction), directionMark(c.Direction)
	if c.AfterEffectOf != "" {
		class, mark = "", ""
	}
	return pageRow{
		What: what, Expected: f.expected(), Value: f.amountOf(c.Value), Change: change(c), Interval: interval(c),
		NoInterval: !hasInterval(c), Status: words.Clip(f.status(), 60), Class: class, Mark: mark,
		After: c.AfterEffectOf != "",
	}
}

// pagePicture is a picture in the two widths that the page chooses from.
type pagePicture struct {
	Caption, Detail string
	Wide, Narrow    template.HTML
}

// both draws a picture for wide and for narrow pages.
func both(caption, detail, id string, draw func(id, class string, width float64) string) pagePicture {
	return pagePicture{
		Caption: caption, Detail: detail,
		Wide:   template.HTML(draw(id+"w", "wide", figure.Wide)),     //nolint:gosec // canvas escapes every text
		Narrow: template.HTML(draw(id+"n", "narrow", figure.Narrow)), //nolint:gosec // canvas escapes every text
	}
}

func (p *pageData) addHistories() {
	first, rest := short(flat(p.Findings))
	all := slices.DeleteFunc(slices.Concat(first, rest), func(f finding) bool { return f.middle().N == 0 })
	var pictures []pagePicture
	for i, f := range all[:min(len(all), pageHistories)] {
		fig := f.history()
		caption := fig.Title
		if f.AfterEffectOf != "" {
			caption += " (" + f.status() + ")"
		}
		pictures = append(pictures, both(caption, "", fmt.Sprintf("h%d", i), fig.Draw))
	}
	p.Histories = newShelf(pictures, unfoldHistories, len(pictures), "more picture", "more pictures")
	p.Histories.Rest = more(len(all), len(pictures), "more deviation without a picture", "more deviations without a picture")
}

// pageRule is a pattern in words.
type pageRule struct{ Class, Mark, Text string }

func (p *pageData) addRules() {
	all := p.story.Rules
	if len(all) == 0 {
		return
	}
	p.RuleGraph = both("", "", "r", graph(all).Draw)
	var shown []pageRule
	for _, r := range all[:min(len(all), pageRules)] {
		shown = append(shown, pageRule{toneClass(r.tone()), ruleMark(r.tone()), r.sentence()})
	}
	p.Rules = newShelf(shown, unfoldRules, len(all), "more rule", "more rules")
}

// addFrames draws the checked runs that kept their frames, those that deviate
// first.
func (p *pageData) addFrames(in Input) {
	byID := map[string]run.Run{}
	for _, r := range in.Runs {
		byID[r.ID] = r
	}
	var pictures []pagePicture
	total := 0
	for _, v := range gravestFirst(in.Verdict.Runs) {
		fig, ok := figure.NewFrames(runTitle(v, in.Verdict), byID[v.ID], flaggedEvents(v))
		if !ok {
			continue
		}
		if total++; total <= pageFrames {
			pictures = append(pictures, both(fig.Title, fig.Description(), fmt.Sprintf("f%d", total), fig.Draw))
		}
	}
	p.Frames = newShelf(pictures, unfoldFrames, len(pictures), "more run", "more runs")
	if n := total - len(pictures); n > 0 {
		p.Frames.Rest = "The frames of " + words.Count(n, "more run", "more runs") + " are not drawn."
	}
}

// gravestFirst orders runs by what a reader should look at first.
func gravestFirst(runs []gate.RunVerdict) []gate.RunVerdict {
	order := []gate.Outcome{gate.Regression, gate.Invalid, gate.Inconclusive, gate.Improvement, gate.Pass}
	out := slices.Clone(runs)
	slices.SortStableFunc(out, func(a, b gate.RunVerdict) int {
		return slices.Index(order, a.Verdict) - slices.Index(order, b.Verdict)
	})
	return out
}

func flaggedEvents(v gate.RunVerdict) map[string]bool {
	out := map[string]bool{}
	for _, c := range v.Deviations {
		if c.Event != "" && c.AfterEffectOf == "" && (c.Direction == gate.ToRegression || c.Direction == gate.Suspect) {
			out[c.Event] = true
		}
	}
	return out
}
