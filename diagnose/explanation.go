package diagnose

import (
	"cmp"
	"reflect"
	"slices"
)

// Explanation is what one family of causes explains of one run: a section of a report. A package
// with more than causes makes its own; Explain makes one of any causes.
type Explanation struct {
	Family   Family
	Run      string
	Scenario string
	Device   map[string]string
	// Open is set where something deserves more than a line.
	Open bool
	// Weight orders the explanations of a family, heaviest first.
	Weight float64
	// Fact is a summary in a line, Lead is the main explanation; both may be empty.
	Fact, Lead Phrase
	// Lines explain the change; nil where the causes' sentences do.
	Lines []Phrase
	// Doubts are reasons to doubt it, Asides are details for few readers.
	Doubts, Asides []Phrase
	Tables         []Table
	Pictures       []Picture
	// Causes are the run's, in order.
	Causes []Cause
}

// Explain makes an explanation of each run and family of the causes.
func Explain(causes []Cause) []Explanation {
	type key struct{ family, run, scenario string }
	places := map[key]int{}
	var out []Explanation
	for _, c := range causes {
		family := KindOf(c.Kind).Family
		k := key{family.Name, c.Run, c.Scenario}
		at, known := places[k]
		if !known {
			at = len(out)
			places[k] = at
			out = append(out, Explanation{Family: family, Run: c.Run, Scenario: c.Scenario, Device: c.Device, Open: true})
		}
		out[at].Causes = append(out[at].Causes, c)
	}
	for i := range out {
		out[i].gather()
	}
	return out
}

// gather combines the parts of the causes, each once.
func (e *Explanation) gather() {
	Order(e.Causes)
	byFinding(e.Causes)
	for _, c := range e.Causes {
		for _, t := range c.Tables {
			if !slices.ContainsFunc(e.Tables, func(other Table) bool { return reflect.DeepEqual(t, other) }) {
				e.Tables = append(e.Tables, t)
			}
		}
		for _, p := range []*Picture{c.Picture, c.FurtherPicture} {
			if p != nil && !slices.ContainsFunc(e.Pictures, func(other Picture) bool { return reflect.DeepEqual(*p, other) }) {
				e.Pictures = append(e.Pictures, *p)
			}
		}
		for _, d := range c.Doubts {
			if !slices.ContainsFunc(e.Doubts, d.Same) {
				e.Doubts = append(e.Doubts, d)
			}
		}
	}
	first := e.Causes[0]
	e.Lead = first.Sentence
	e.Weight = max(share(first), 0)
}

// byFinding puts the finding first for which a cause explains the largest amount, where all amounts
// are of one unit; the causes of one finding keep their order.
func byFinding(causes []Cause) {
	type finding struct{ event, metric string }
	most := map[finding]float64{}
	units := map[string]bool{}
	for _, c := range causes {
		if c.Explains.Value != nil {
			units[c.Explains.Unit] = true
			f := finding{c.Event, c.Metric}
			most[f] = max(most[f], amount(c))
		}
	}
	if len(units) == 1 {
		slices.SortStableFunc(causes, func(a, b Cause) int {
			return cmp.Compare(most[finding{b.Event, b.Metric}], most[finding{a.Event, a.Metric}])
		})
	}
}

// Same reports whether both phrases are equal.
func (p Phrase) Same(o Phrase) bool { return slices.EqualFunc(p, o, Part.same) }

// same reports whether both parts are equal.
func (p Part) same(o Part) bool {
	words := p
	words.Amount, words.Range = o.Amount, o.Range
	return words == o && equal(p.Amount, o.Amount) && equal(p.Range, o.Range)
}

// equal compares the values of two pointers.
func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// Section is what a family explains of all runs, heaviest first.
type Section struct {
	Family
	Runs []Explanation
}

// Sections groups explanations by family, the one that explains most first.
func Sections(all []Explanation) []Section {
	var out []Section
	for _, e := range all {
		at := slices.IndexFunc(out, func(s Section) bool { return s.Name == e.Family.Name })
		if at < 0 {
			at = len(out)
			out = append(out, Section{Family: e.Family})
		}
		out[at].Runs = append(out[at].Runs, e)
	}
	for i := range out {
		slices.SortStableFunc(out[i].Runs, func(a, b Explanation) int { return cmp.Compare(b.Weight, a.Weight) })
	}
	slices.SortStableFunc(out, func(a, b Section) int {
		x, known := a.foremost()
		y, alsoKnown := b.foremost()
		switch {
		case known && alsoKnown:
			return Compare(x, y)
		case known:
			return -1
		case alsoKnown:
			return 1
		}
		return 0
	})
	return out
}

// foremost returns the cause that explains most in any of the runs.
func (s Section) foremost() (best Cause, ok bool) {
	for _, e := range s.Runs {
		for _, c := range e.Causes {
			if !ok || Compare(c, best) < 0 {
				best, ok = c, true
			}
		}
	}
	return best, ok
}
