package layout

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

func rule(then string, count int, confidence float64, conditions ...string) gate.Rule {
	r := gate.Rule{If: map[string]string{}, Then: then, Support: 0.1, Confidence: confidence, Lift: 2, Count: count}
	for _, c := range conditions {
		key, value, _ := strings.Cut(c, "=")
		r.If[key] = value
	}
	return r
}

// Worse comes before better, and in each the whole run before an event.
func TestRulesInOrder(t *testing.T) {
	var got []string
	for _, p := range patterns([]gate.Rule{
		rule("E1Outlier+", 1, 1, "a=1"), rule("Outlier+", 1, 1, "a=2"), rule("E1Outlier-", 1, 1, "a=3"), rule("Outlier-", 1, 1, "a=4"),
	}) {
		got = append(got, p.words())
	}
	if want := "worse, worse after E1, better, better after E1"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A rule reports how many of the runs that meet its condition have its label, and only "runs" where
// that is unknown.
func TestRulesInWords(t *testing.T) {
	const numbers = " (support 10 %, confidence 90 %, lift 2)."
	for want, r := range map[string]gate.Rule{
		"9 of 10 runs with a = 1 are worse" + numbers:                                         rule("Outlier-", 9, 0.9, "a=1"),
		"Runs with a = 1 are perhaps worse" + numbers:                                         rule("Suspect-", 0, 0.9, "a=1"),
		"The one run with a = 1 is better (support 10 %, confidence 100 %, lift 2).":          rule("Outlier+", 1, 1, "a=1"),
		"Runs with any context are labelled N (support 10 %, confidence 0 %, lift 2).":        rule("N", 9, 0),
		"All 2 runs with a = 1 and b = 2 are worse (support 10 %, confidence 100 %, lift 2).": rule("Outlier-", 2, 1, "b=2", "a=1"),
	} {
		if got := strings.ReplaceAll(patterns([]gate.Rule{r})[0].sentence(), wording.NBSP, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The graph has the rules of the whole run where there are any, which share one node, and else
// those of events, each with its own.
func TestRuleGraphOfTheWholeRun(t *testing.T) {
	event, whole, other := rule("E1Outlier-", 1, 1, "a=1"), rule("Outlier-", 1, 1, "a=2"), rule("E2Outlier+", 1, 1, "a=3")
	for _, c := range []struct {
		rules []gate.Rule
		want  string
	}{
		{[]gate.Rule{event, whole, other}, "a = 2: worse"},
		{[]gate.Rule{event, other}, "a = 1: worse after E1, a = 3: better after E2"},
	} {
		var got []string
		for _, r := range graph(patterns(c.rules)).List {
			got = append(got, strings.Join(r.If, " ")+": "+r.Then)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A run has the reason of its verdict, and what it was compared with, by the total where the list
// is cut and by the list where there is no total.
func TestRunsInWords(t *testing.T) {
	list := []gate.Reference{{ID: "D4", Similarity: 2.2361, Weight: 0.051}, {ID: "D5"}}
	for name, c := range map[string]struct {
		of                  gate.RunVerdict
		reason, base, brief string
	}{
		"nothing":    {gate.RunVerdict{}, "no reason is recorded", "compared with 0 accepted runs", "0 runs"},
		"a list":     {gate.RunVerdict{Reason: "it is worse", Reference: list}, "it is worse", "compared with 2 accepted runs, most alike D4 (similarity 2.24, weight 5.1 %)", "2 runs"},
		"a cut list": {gate.RunVerdict{Reason: "it is worse", Reference: list, ReferenceTotal: 40}, "it is worse", "compared with 40 accepted runs, most alike D4 (similarity 2.24, weight 5.1 %)", "40 runs"},
	} {
		card := newCard(c.of, gate.Verdict{Runs: []gate.RunVerdict{c.of}})
		if base := strings.ReplaceAll(card.Base, wording.NBSP, " "); card.Text != c.reason || base != c.base || card.BaseBrief != c.brief {
			t.Errorf("%s: %q, %q, %q", name, card.Text, base, card.BaseBrief)
		}
	}
}

// A run lists its comparisons, deviating ones first and once, at most 60, and reports how many
// there are.
func TestRunsShowTheirComparisons(t *testing.T) {
	worse := compared("tap", ms, 10, 1, 20, gate.ToRegression)
	list := []gate.Comparison{compared("", ms, 10, 1, 10, gate.None), worse}
	few := runVerdict("few", gate.Regression, nil, list...)
	for range 80 {
		list = append(list, compared("back", ms, 10, 1, 10, gate.None))
	}
	many, trimmed := runVerdict("many", gate.Regression, nil, list...), runVerdict("trimmed", gate.Regression, nil, list[:2]...)
	trimmed.ComparisonsTotal = 500
	section := runsSection(Input{Verdict: gate.Verdict{Runs: []gate.RunVerdict{few, many, trimmed}}})
	for i, want := range []struct{ rows, total int }{{2, 2}, {60, 82}, {2, 500}} {
		table := section.Body.(*document.Cards).Cards[i].Table
		if len(table.Rows) != want.rows || table.Total != want.total || table.Rows[0].Cells[0] != "tap: time per frame" || table.Rows[1].Cells[0] != "whole run: time per frame" {
			t.Errorf("run %d: %d rows of %d, the first %q and %q, want %d of %d", i, len(table.Rows), table.Total, table.Rows[0].Cells[0], table.Rows[1].Cells[0], want.rows, want.total)
		}
	}
}

// 3,000 comparisons of all runs are shown, those of the gravest runs first: 60 each of 50 runs, and
// none of the 51st, which passed.
func TestRunsShareRoomForComparisons(t *testing.T) {
	var list []gate.Comparison
	for range 70 {
		list = append(list, compared("", ms, 10, 1, 10, gate.None))
	}
	runs := []gate.RunVerdict{runVerdict("passed", gate.Pass, nil, list...)}
	for range 50 {
		runs = append(runs, runVerdict("worse", gate.Regression, nil, list...))
	}
	room := roomFor(runs)
	if room[0] != 0 || room[1] != 60 || room[50] != 60 {
		t.Errorf("there is room for %d of the run that passed and for %d and %d of others, want 0, 60 and 60", room[0], room[1], room[50])
	}
}
