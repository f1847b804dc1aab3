// Package rules mines class association rules: which properties of a run's
// context go with which label (paper, section 5.4).
//
// It takes a stand: only rules that a person can act on. Antecedents are short,
// and a rule that a shorter one already says as surely is left out.
package rules

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Row is one run: its context and its labels.
type Row struct {
	Context map[string]string
	Labels  []string
	Times   int // so many runs are alike in both; 0 means 1
}

// Item is one property of a context with its value.
type Item struct{ Property, Value string }

// Rule says that of the rows with all of If, a share Confidence bears Then.
type Rule struct {
	If         []Item // by property
	Then       string
	Count      int     // rows that have both
	Support    float64 // Count over all rows
	Confidence float64 // Count over the rows that have If
	Lift       float64 // Confidence over the share of rows that bear Then
}

// Options are the thresholds of Mine.
type Options struct {
	MinSupport    float64 // share of all rows, 0 to 1
	MinConfidence float64 // 0 to 1
	MaxItems      int     // properties in an antecedent; 0 means 3
	// MinTogether is the least number of rows for a rule of several properties;
	// 0 means 1. A combination that singles out one run tells of nothing else.
	MinTogether int
	Ignore      string // a label that needs no explanation: "N"
}

const (
	defaultMaxItems = 3
	// maxCandidates bounds the antecedents looked at for one label and length.
	maxCandidates = 50_000
)

// slack keeps a threshold such as 0.9 from failing by the last bit of a division.
const slack = 1e-9

// Mine returns the rules over rows, by label, then the most telling first
// (support, then the shorter, then by name). A rule is left out where one with
// part of its antecedent has the same or a higher confidence.
func Mine(rows []Row, o Options) []Rule {
	if o.MaxItems == 0 {
		o.MaxItems = defaultMaxItems
	}
	m := newMiner(rows, o)
	var found []Rule
	for _, label := range m.labels() {
		found = append(found, m.mineLabel(label)...)
	}
	slices.SortFunc(found, compare)
	return found
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

// set is a bitset over rows.
type set []uint64

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s set) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s set) countBoth(t set) int {
	n := 0
	for i, w := range s {
		n += bits.OnesCount64(w & t[i])
	}
	return n
}

func (s set) and(t set) set {
	out := make(set, len(s))
	for i, w := range s {
		out[i] = w & t[i]
	}
	return out
}

type miner struct {
	rows     int // counted as often as they are there
	options  Options
	minCount int
	items    []Item // ascending
	having   []set  // rows that have the item, by index in items
	bearing  map[string]set
}

func newMiner(rows []Row, o Options) *miner {
	m := &miner{options: o, bearing: map[string]set{}}
	for _, row := range rows {
		m.rows += max(row.Times, 1)
	}
	m.minCount = max(1, int(math.Ceil(o.MinSupport*float64(m.rows)-slack)))
	byItem := map[Item]set{}
	words := (m.rows + 63) / 64
	first := 0
	for _, row := range rows {
		end := first + max(row.Times, 1)
		for p, v := range row.Context {
			mark(byItem, Item{p, v}, first, end, words)
		}
		for _, label := range row.Labels {
			mark(m.bearing, label, first, end, words)
		}
		first = end
	}
	for item := range byItem {
		m.items = append(m.items, item)
	}
	slices.SortFunc(m.items, compareItems)
	for _, item := range m.items {
		m.having = append(m.having, byItem[item])
	}
	return m
}

func mark[K comparable](sets map[K]set, key K, first, end, words int) {
	s := sets[key]
	if s == nil {
		s = make(set, words)
		sets[key] = s
	}
	for i := first; i < end; i++ {
		s.add(i)
	}
}

func (m *miner) labels() []string {
	var out []string
	for label := range m.bearing {
		if label != m.options.Ignore {
			out = append(out, label)
		}
	}
	slices.Sort(out)
	return out
}

// candidate is an antecedent that enough rows have together with the label.
type candidate struct {
	items []int // indices in miner.items, ascending
	rows  set
	// best is the highest confidence of it and of every part of it.
	best float64
}

// mineLabel grows antecedents one item at a time. Each is grown only by later
// items, so that every combination is met once.
func (m *miner) mineLabel(label string) []Rule {
	bearing := m.bearing[label]
	var found []Rule
	confidences := map[string]float64{}
	level := m.singles(bearing)
	for length := 1; len(level) > 0; length++ {
		var growable []candidate
		for _, c := range level {
			both := c.rows.countBoth(bearing)
			confidence := float64(both) / float64(c.rows.count())
			known := m.bestOfParts(c.items, confidences)
			telling := length == 1 || both >= m.options.MinTogether
			if telling && confidence >= m.options.MinConfidence-slack && confidence > known+slack {
				found = append(found, m.rule(c, label, both, confidence))
			}
			c.best = max(confidence, known)
			confidences[key(c.items)] = c.best
			if c.best < 1-slack {
				growable = append(growable, c)
			}
		}
		if length == m.options.MaxItems {
			break
		}
		level = m.grow(growable, bearing)
	}
	return found
}

func (m *miner) singles(bearing set) []candidate {
	var out []candidate
	for i, rows := range m.having {
		if rows.countBoth(bearing) >= m.minCount {
			out = append(out, candidate{items: []int{i}, rows: rows})
		}
	}
	return out
}

func (m *miner) grow(level []candidate, bearing set) []candidate {
	var out []candidate
	for _, c := range level {
		last := c.items[len(c.items)-1]
		for next := last + 1; next < len(m.items); next++ {
			if m.items[next].Property == m.items[last].Property {
				continue
			}
			rows := c.rows.and(m.having[next])
			if rows.countBoth(bearing) < m.minCount {
				continue
			}
			items := append(slices.Clone(c.items), next)
			if out = append(out, candidate{items: items, rows: rows}); len(out) >= maxCandidates {
				return out
			}
		}
	}
	return out
}

// bestOfParts is the highest confidence among the antecedents one item shorter,
// each of which already carries the best of its own parts. A part that was not
// grown because it is sure already ends the search with 1.
func (m *miner) bestOfParts(items []int, confidences map[string]float64) float64 {
	best := 0.0
	for skip := range items {
		if len(items) == 1 {
			break
		}
		part := slices.Delete(slices.Clone(items), skip, skip+1)
		if c, ok := confidences[key(part)]; ok {
			best = max(best, c)
		} else {
			best = 1
		}
	}
	return best
}

func key(items []int) string {
	b := make([]byte, 0, 4*len(items))
	for _, i := range items {
		b = append(b, byte(i), byte(i>>8), byte(i>>16), byte(i>>24))
	}
	return string(b)
}

func (m *miner) rule(c candidate, label string, both int, confidence float64) Rule {
	r := Rule{Then: label, Count: both, Confidence: confidence}
	for _, i := range c.items {
		r.If = append(r.If, m.items[i])
	}
	all := float64(m.rows)
	r.Support = float64(both) / all
	r.Lift = confidence / (float64(m.bearing[label].count()) / all)
	return r
}
