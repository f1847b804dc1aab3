// Package rules mines class association rules: which properties of a run's context go with which
// label (paper, section 5.4).
//
// Only rules that a person can act on are returned. Antecedents are short, and a rule that adds no
// confidence to a shorter one is left out.
package rules

import (
	"cmp"
	"slices"
	"strings"
)

// Row is one run: its context and its labels.
type Row struct {
	Context map[string]string
	Labels  []string
	Times   int // number of runs that are equal in both; 0 means 1
}

// Item is one property of a context with its value.
type Item struct{ Property, Value string }

// Rule says that of the rows with all of If, a share Confidence has Then.
type Rule struct {
	If         []Item // by property
	Then       string
	Count      int     // rows that have both
	Support    float64 // Count over all rows
	Confidence float64 // Count over the rows that have If
	Lift       float64 // Confidence over the share of rows that have Then
}

// Options are the thresholds of Mine.
type Options struct {
	MinSupport float64 // share of all rows, 0 to 1
	// MinCount is the least number of rows, instead of a share of all; 0 uses MinSupport.
	MinCount      int
	MinConfidence float64 // 0 to 1
	// MinTogether is the least number of rows for a rule of several properties; 0 means 1. A
	// combination that singles out one run explains nothing else.
	MinTogether int
	Ignore      string // a label that needs no explanation: "N"
}

// Cut reports a limit of the search: rules of so many properties and more were not searched for a
// label. It depends on the number of combinations in the rows, not on their names.
type Cut struct {
	Then  string
	Items int
}

// maxItems is the largest number of properties of an antecedent.
const maxItems = 3

// slack keeps a threshold such as 0.9 from failing by the last bit of a division.
const slack = 1e-9

// Mine returns the rules over rows, by label, then the most useful first (support, then the
// shorter, then by name). A rule is left out where one with part of its antecedent has the same or
// a higher confidence.
func Mine(rows []Row, o Options) (found []Rule, cut []Cut) {
	m := newMiner(rows, o)
	for _, label := range m.labels() {
		s := m.search(label)
		found = append(found, s.found...)
		if s.cut > 0 {
			cut = append(cut, Cut{label, s.cut})
		}
	}
	slices.SortFunc(found, compare)
	return found, cut
}

// compare orders rules: label, support, length, then antecedent.
func compare(a, b Rule) int {
	return cmp.Or(
		cmp.Compare(a.Then, b.Then),
		cmp.Compare(b.Count, a.Count),
		cmp.Compare(len(a.If), len(b.If)),
		slices.CompareFunc(a.If, b.If, compareItems),
	)
}

func compareItems(a, b Item) int {
	return cmp.Or(strings.Compare(a.Property, b.Property), strings.Compare(a.Value, b.Value))
}
