package layout

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// The number of comparisons of checked runs that are listed.
const (
	runRows    = 60    // comparisons of one run
	allRunRows = 3_000 // comparisons of all runs together
)

// runsSection describes each run. Those that a reader should see first list their comparisons.
func runsSection(in Input) document.Section {
	runs := in.Verdict.Runs
	cards := &document.Cards{
		Heads: []string{"Device", "Verdict", "Why", "Compared with", "Run"}, Noun: document.Noun{One: "run", Many: "runs"},
		Rooms: document.Rooms{Terminal: document.Room{Open: 10}, Comment: document.Room{Most: 100}, Page: document.Room{Most: pageRuns}},
	}
	rows := roomFor(runs)
	for i, r := range runs {
		card := newCard(r, in.Verdict)
		if n, ok := rows[i]; ok {
			card.Table = in.runTable(r, n)
		}
		cards.Cards = append(cards.Cards, card)
	}
	return document.Section{ID: "runs", Title: document.Everywhere("Runs"), Body: cards}
}

// pageRuns limits the runs that a page lists.
const pageRuns = 200

// roomFor returns how many comparisons are listed of a run, by its index: of the listed ones,
// gravest first.
func roomFor(runs []gate.RunVerdict) map[int]int {
	out := map[int]int{}
	room := allRunRows
	for _, i := range gravestFirst(runs)[:min(len(runs), pageRuns)] {
		out[i] = min(room, runRows, len(runs[i].Deviations)+len(runs[i].Comparisons))
		room -= min(out[i], len(deviationsFirst(runs[i])))
	}
	return out
}

// gravestFirst returns the indexes of runs, those first that a reader should see first.
func gravestFirst(runs []gate.RunVerdict) []int {
	out := make([]int, len(runs))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int {
		return runs[b].Verdict.Gravity() - runs[a].Verdict.Gravity()
	})
	return out
}

func newCard(r gate.RunVerdict, v gate.Verdict) document.Card {
	n := max(r.ReferenceTotal, len(r.Reference))
	card := document.Card{
		Outcome: document.Outcome(r.Verdict), Word: OutcomeWord(r.Verdict), Title: runTitle(r, v), Name: wording.Name(r.ID),
		Text: reasonOf(r), Next: wording.Sentence(r.Hint), Base: referenceOf(r), BaseBrief: prose.Count(n, "run", "runs"),
	}
	for _, key := range slices.Sorted(maps.Keys(r.Context)) {
		card.Facts = append(card.Facts, document.Fact{Label: wording.Name(key), Text: wording.Name(r.Context[key])})
	}
	for _, l := range r.Labels[:min(len(r.Labels), 10)] {
		card.Labels = strings.TrimPrefix(card.Labels+", "+wording.Name(l), ", ")
	}
	for _, w := range r.Warnings {
		if w.String() == r.Reason { // already shown
			continue
		}
		card.Warnings = append(card.Warnings, wording.Sentence(w.String()))
	}
	return card
}

// runTable returns at most that many rows of a run's comparisons, flagged ones first.
func (in Input) runTable(r gate.RunVerdict, rows int) *document.Table {
	t := findingsTable(false)
	comparisons := deviationsFirst(r)
	for _, c := range comparisons[:min(len(comparisons), rows)] {
		m, _ := in.catalogue().Lookup(c.Metric)
		f := finding{Metric: m, Direction: c.Direction, AfterEffectOf: c.AfterEffectOf, Hits: []hit{{nil, c}}}
		t.Rows = append(t.Rows, f.row(wording.Brief(wording.Event(c.Event))+": "+wording.Brief(m.Title), false))
	}
	t.Noun = document.Noun{One: "comparison", Many: "comparisons"}
	t.Total = max(r.ComparisonsTotal, len(comparisons))
	return t
}

// deviationsFirst returns all comparisons of a run, flagged ones first.
func deviationsFirst(v gate.RunVerdict) []gate.Comparison {
	out := slices.Clone(v.Deviations)
	for _, c := range v.Comparisons {
		if c.Direction == gate.None {
			out = append(out, c)
		}
	}
	return out
}

// runTitle names a run by its device, and by its scenario where there are several.
func runTitle(r gate.RunVerdict, v gate.Verdict) string {
	if severalScenarios(v) {
		return wording.Name(r.Scenario) + " on " + device(r)
	}
	return device(r)
}

func reasonOf(r gate.RunVerdict) string {
	if r.Reason == "" {
		return "no reason is recorded"
	}
	return wording.Sentence(r.Reason)
}

// referenceOf describes what a run was compared with: "40 accepted runs, most alike D4 (similarity
// 2.24, weight 5.1 %)".
func referenceOf(r gate.RunVerdict) string {
	n := max(r.ReferenceTotal, len(r.Reference))
	text := "compared with " + prose.Count(n, "accepted run", "accepted runs")
	if len(r.Reference) > 0 {
		first := r.Reference[0]
		text += fmt.Sprintf(", most alike %s (similarity %.2f, weight %s)", wording.Name(first.ID), first.Similarity, wording.Percent(first.Weight))
	}
	return text
}
