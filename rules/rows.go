package rules

import (
	"maps"
	"math"
	"slices"
)

// miner contains the rows with their items as numbers.
type miner struct {
	options  Options
	items    []Item
	rows     []coded
	all      int   // rows, including repeated ones
	having   []int // rows that have an item
	minCount int
	bearing  map[string][]int // indexes of the rows that have a label
}

// coded is a row: its items, and how many times it occurs.
type coded struct {
	items []int32
	times int
}

// newMiner numbers the items of the rows that have a label. Other items are in no rule, and may be
// different in each of a million rows.
func newMiner(rows []Row, o Options) *miner {
	m := &miner{options: o, bearing: map[string][]int{}, rows: make([]coded, len(rows))}
	known := map[Item]int32{}
	for i, row := range rows {
		for _, label := range row.Labels {
			if rows := m.bearing[label]; label != o.Ignore && (len(rows) == 0 || rows[len(rows)-1] != i) {
				m.bearing[label] = append(rows, i)
			}
		}
		if slices.ContainsFunc(row.Labels, func(label string) bool { return label != o.Ignore }) {
			for p, v := range row.Context {
				if _, ok := known[Item{p, v}]; !ok {
					known[Item{p, v}] = int32(len(m.items))
					m.items = append(m.items, Item{p, v})
				}
			}
		}
	}
	m.having = make([]int, len(m.items))
	for i, row := range rows {
		c := coded{times: max(row.Times, 1)}
		m.all += c.times
		for p, v := range row.Context {
			if item, ok := known[Item{p, v}]; ok {
				c.items = append(c.items, item)
				m.having[item] += c.times
			}
		}
		m.rows[i] = c
	}
	m.minCount = max(1, o.MinCount)
	if o.MinCount == 0 {
		m.minCount = max(1, int(math.Ceil(o.MinSupport*float64(m.all)-slack)))
	}
	return m
}

func (m *miner) labels() []string { return slices.Sorted(maps.Keys(m.bearing)) }

func (m *miner) rule(label string, items []int32, both, having, bearing int) Rule {
	r := Rule{Then: label, Count: both, Confidence: float64(both) / float64(having)}
	for _, i := range items {
		r.If = append(r.If, m.items[i])
	}
	slices.SortFunc(r.If, compareItems)
	all := float64(m.all)
	r.Support = float64(both) / all
	r.Lift = r.Confidence / (float64(bearing) / all)
	return r
}
