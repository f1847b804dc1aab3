package layout

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/causes"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/wording"
)

// inTurns returns a comparison with the numbers of both builds in rounds, where it was measured so:
// the base build replaces the expected value, and the value is the base build's plus the change
// within the rounds, so that one follows from the other. A broken budget is that of the run itself.
func inTurns(c gate.Comparison) gate.Comparison {
	r := ofRounds(c)
	if r == nil {
		return c
	}
	c.Expected, c.Value, c.Change, c.Low, c.High, c.P, c.N, c.Together = r.Base, r.Estimate(), r.Change, r.ChangeLow, r.ChangeHigh, r.P, r.Rounds, 0
	return c
}

// ofRounds returns the rounds of a comparison's numbers; nil where they are the run's own.
func ofRounds(c gate.Comparison) *gate.RoundsComparison {
	if c.Limit != nil {
		return nil
	}
	return c.Rounds
}

// isOpen reports whether a comparison is undecided: the history did not clear it, and no rounds
// settled it. A deviation is reported as a finding instead.
func isOpen(c gate.Comparison) bool {
	switch {
	case c.Direction != gate.None || c.Limit != nil:
		return false
	case c.Rounds != nil:
		return c.Rounds.Outcome == gate.RoundsUndecided
	}
	return c.Screen == gate.Open
}

// openSection lists the undecided comparisons with their numbers: for the first run of a history
// all of them.
func openSection(in Input) document.Section {
	all := grouped(in.Verdict, in.catalogue(), func(r gate.RunVerdict) []gate.Comparison {
		if r.Verdict != gate.Inconclusive {
			return nil
		}
		return slices.DeleteFunc(slices.Clone(r.Comparisons), func(c gate.Comparison) bool { return !isOpen(c) && c.N > 0 })
	})
	t := findingsTable(true)
	t.Columns[5].Idle = len(in.Verdict.Runs) == 1
	t.Noun = document.Noun{One: "comparison", Many: "comparisons"}
	t.Rooms = document.Rooms{Terminal: document.Room{Open: 12}, Comment: document.Room{Open: 6, Most: 200}, Page: document.Room{Open: 12, Most: 200}}
	for _, f := range all {
		r := f.row(f.what(), true)
		r.Cells[len(r.Cells)-1] = openBecause(f.middle())
		t.Rows = append(t.Rows, r)
	}
	return document.Section{
		ID: "open", Title: document.Everywhere("Undecided"), Body: t,
		Guide: "What this check can't tell. The miss risk is that of a worsening by min-effect of apkgate.yml, or by the smallest that this device's noise lets rounds.minutes show; rows covering several runs show the median.",
	}
}

// openBecause returns in a few words why a comparison is undecided.
func openBecause(c gate.Comparison) string {
	switch {
	case c.Rounds != nil:
		return "undecided after " + prose.Count(c.Rounds.Rounds, "round", "rounds")
	case c.N == 0:
		return "no accepted run"
	case c.Missed != nil && *c.Missed <= gate.MostMissed && c.Q3 == 0 && c.Value > 0:
		return "none in the accepted runs"
	case c.Missed != nil && *c.Missed > gate.MostMissed:
		return wording.Percent(*c.Missed) + " risk of missing a worsening"
	}
	return "too few accepted runs"
}

// decided describes the effort: the number of measurements, what the history cleared, and what the
// rounds settled.
func decided(in Input) string {
	var sentences []string
	if text := repeated(in.Verdict); text != "" {
		sentences = append(sentences, text)
	}
	cleared, all, shown, history := 0, 0, 0, 0
	for _, r := range in.Verdict.Runs {
		history = max(history, r.ReferenceTotal, len(r.Reference))
		for _, c := range r.Comparisons {
			switch {
			case c.Screen == gate.Cleared:
				cleared++
				all++
			case c.Shown && c.Screen == "":
				shown++
			default:
				all++
			}
		}
	}
	if cleared > 0 {
		sentences = append(sentences, fmt.Sprintf("%s cleared %s", prose.Count(history, "accepted run", "accepted runs"), ofAll(cleared, all)))
	}
	if shown > 0 {
		sentences = append(sentences, prose.Count(shown, "more is shown and does not decide", "more are shown and do not decide"))
	}
	sentences = append(sentences, turns(in.Verdict)...)
	if len(sentences) == 0 {
		return ""
	}
	return strings.Join(sentences, ". ") + "."
}

// ofAll returns "all 12 comparisons", or "11 of 12 comparisons".
func ofAll(n, all int) string {
	if n == all && all > 1 {
		return fmt.Sprintf("all %d comparisons", all)
	}
	return fmt.Sprintf("%d of %s", n, prose.Count(all, "comparison", "comparisons"))
}

// repeated returns how often the checked runs repeat their scenario, "" where unknown.
func repeated(v gate.Verdict) string {
	least, most := 0, 0
	for i, r := range v.Runs {
		if i == 0 {
			least = r.Repetitions
		}
		least, most = min(least, r.Repetitions), max(most, r.Repetitions)
	}
	switch {
	case least == 0:
		return ""
	case least < most:
		return fmt.Sprintf("%d to %d repetitions in each of %d runs", least, most, len(v.Runs))
	case len(v.Runs) == 1:
		return prose.Count(most, "repetition", "repetitions")
	}
	return fmt.Sprintf("%s in each of %d runs", prose.Count(most, "repetition", "repetitions"), len(v.Runs))
}

// turns reports how far the rounds went, grouping runs with the same number.
func turns(v gate.Verdict) []string {
	type way struct {
		measured, most int
		stopped        gate.Stopped
	}
	devices, repetitions := map[way][]string{}, map[way]int{}
	var order []way
	for _, r := range v.Runs {
		if r.Rounds == nil {
			continue
		}
		w := way{r.Rounds.Measured, r.Rounds.Most, r.Rounds.Stopped}
		if devices[w] == nil {
			order = append(order, w)
		}
		if d := device(r); !slices.Contains(devices[w], d) {
			devices[w] = append(devices[w], d)
		}
		repetitions[w] += r.Rounds.Repetitions
	}
	why := map[gate.Stopped]string{gate.StoppedSettled: "stopped early as the answer was clear", gate.StoppedBudget: "then the budget was spent", gate.StoppedLost: "then they broke off"}
	var out []string
	for _, w := range order {
		text := fmt.Sprintf("%d of at most %s of both builds alternately on %s, %s", w.measured, prose.Count(w.most, "round", "rounds"),
			prose.Few(devices[w], 3), prose.Count(repetitions[w], "repetition", "repetitions"))
		end := why[w.stopped]
		if w.stopped == gate.StoppedSettled && w.measured >= w.most {
			end = "" // not early
		}
		out = append(out, strings.TrimSuffix(text+", "+end, ", "))
	}
	return out
}

// excluded lists the metrics of the whole run for which the rounds excluded a worsening, with how
// much worse they may be at most.
func excluded(in Input) string {
	most := map[string]float64{}
	for _, r := range in.Verdict.Runs {
		for _, c := range r.Comparisons {
			x := c.Rounds
			if x == nil || x.Outcome != gate.RoundsExcluded || c.Event != "" {
				continue
			}
			m, _ := in.catalogue().Lookup(c.Metric)
			if worse, known := worstOf(m, x); x.Base != 0 && !m.Signed && known {
				most[c.Metric] = max(most[c.Metric], worse, 0)
			}
		}
	}
	var parts []string
	for _, name := range slices.SortedFunc(maps.Keys(most), in.catalogue().Compare) {
		m, _ := in.catalogue().Lookup(name)
		by := wording.Percent(most[name])
		if m.Ratio {
			by = wording.Points(most[name])
		}
		parts = append(parts, fmt.Sprintf("%s worse by more than %s", wording.Name(m.Title), by))
	}
	return prose.Few(parts, 5)
}

// worstOf returns how much worse the rounds leave possible, as a share, of a ratio in points; false
// where their interval has no such end.
func worstOf(m metric.Metric, x *gate.RoundsComparison) (worse float64, known bool) {
	low, high := x.ChangeLow, x.ChangeHigh
	if m.Ratio {
		low, high = x.ShiftLow, x.ShiftHigh
	}
	switch {
	case m.Direction == metric.HigherIsBetter && low != nil:
		return -*low, true
	case m.Direction != metric.HigherIsBetter && high != nil:
		return *high, true
	}
	return 0, false
}

// maxRounds is the maximum number of figures of rounds.
const maxRounds = 12

// roundsSection draws the results of the two builds alternately, gravest first, and of these in the
// order of the findings.
func roundsSection(in Input, findings []finding) document.Section {
	place := map[cell]int{}
	for i, f := range flat(findings) {
		if _, known := place[f.cell]; !known {
			place[f.cell] = i
		}
	}
	type drawn struct {
		cell
		r *gate.RunVerdict
		c gate.Comparison
	}
	var all []drawn
	for i := range in.Verdict.Runs {
		r := &in.Verdict.Runs[i]
		for _, c := range r.Comparisons {
			if c.Rounds != nil && len(c.Rounds.Values) > 0 {
				all = append(all, drawn{cell{r.Scenario, c.Event, c.Metric}, r, c})
			}
		}
	}
	at := func(d drawn) int {
		if i, found := place[d.cell]; found {
			return i
		}
		return len(place) + min(len(d.Event), 1)
	}
	slices.SortStableFunc(all, func(a, b drawn) int {
		return cmp.Or(cmp.Compare(gravityOfPicture(b.c.Direction), gravityOfPicture(a.c.Direction)), cmp.Compare(at(a), at(b)))
	})
	var figures []document.Figure
	for i, d := range all[:min(len(all), maxRounds)] {
		fig := in.rounds(*d.r, d.c)
		figures = append(figures, document.Figure{ID: fmt.Sprintf("t%d", i+1), Caption: fig.Title, Detail: fig.Description(), Of: d.key(), Picture: fig})
	}
	return roundsGallery(figures, len(all))
}

// roundsGallery shows some of so many pictures of rounds.
func roundsGallery(figures []document.Figure, total int) document.Section {
	g := &document.Gallery{Figures: figures, Noun: document.Noun{One: "picture", Many: "pictures"}, Rooms: document.Rooms{Page: document.Room{Open: 4}}}
	if n := total - len(figures); n > 0 {
		g.Rest = "And " + prose.Count(n, "more comparison of rounds", "more comparisons of rounds") + "; the JSON report has everything."
	}
	return document.Section{
		ID: "rounds", Title: document.Everywhere("Base and head, round by round"), Body: g,
		Guide: "Each dot is a round: how far the head build lies above the base build, in the order in which they were measured. The thick line is the estimate, the band its interval. Where the band lies beyond the line of the base build, the builds differ.",
	}
}

// gravityOfPicture orders pictures: what improved comes after what is unchanged.
func gravityOfPicture(d gate.Direction) int {
	if d == gate.ToImprovement {
		return -1
	}
	return d.Gravity()
}

// chart returns the rounds of the first finding that was measured in rounds, of the run with the
// middle change; nil for none.
func (s story) chart() *document.Chart {
	for _, f := range s.Findings {
		for _, h := range f.Hits {
			x := ofRounds(h.Comparison)
			if x == nil || len(x.Values) == 0 || inTurns(h.Comparison).Change != f.middle().Change {
				continue
			}
			return chartOf(f.what()+" on "+device(*h.Run), f.Metric, x.Values)
		}
	}
	return nil
}

// chartOf returns the chart of rounds. Of a ratio it has what is missing to all, in percent: 98 % and
// 99.6 % look alike, 2 % and 0.4 % do not.
func chartOf(title string, m metric.Metric, rounds [][2]float64) *document.Chart {
	chart, shown := &document.Chart{Title: title, Unit: m.Unit}, func(v float64) float64 { return v }
	if m.Ratio {
		chart.Title, chart.Unit = title+": percent missing to 100", "percent"
		shown = func(v float64) float64 { return 100 * (1 - v) }
	}
	for _, v := range rounds[:min(len(rounds), maxCharted)] {
		chart.Base, chart.Head = append(chart.Base, shown(v[0])), append(chart.Head, shown(v[1]))
	}
	return chart
}

// maxCharted limits the rounds of a chart.
const maxCharted = 60

// rounds returns the figure of one comparison in rounds.
func (in Input) rounds(r gate.RunVerdict, c gate.Comparison) figure.Rounds {
	m, _ := in.catalogue().Lookup(c.Metric)
	title := prose.Clip(wording.Event(c.Event), 80) + ": " + wording.Brief(m.Title) + " on " + wording.Brief(runTitle(r, in.Verdict))
	return roundsFigure(title, m, causes.ToneOf(c.Direction), c.Rounds)
}

// roundsFigure returns the figure of a number in rounds.
func roundsFigure(title string, m metric.Metric, tone document.Tone, x *gate.RoundsComparison) figure.Rounds {
	fig := figure.Rounds{Title: title, Metric: m, Tone: tone}
	fig.Shares = x.Base != 0 && !m.Signed && !m.Ratio
	for _, v := range x.Values {
		d := v[1] - v[0]
		if fig.Shares && v[0] != 0 {
			d /= v[0]
		}
		fig.Differences = append(fig.Differences, d)
	}
	fig.Estimate = x.Shift
	low, high := x.ShiftLow, x.ShiftHigh
	if fig.Shares {
		fig.Estimate, low, high = x.Change, x.ChangeLow, x.ChangeHigh
	}
	if low != nil && high != nil {
		fig.Interval = &[2]float64{*low, *high}
	}
	return fig
}
