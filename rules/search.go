package rules

import "math"

// Limits of one label's search. They apply to counts that do not depend on the names of properties,
// and exceeding them is reported as a Cut.
const (
	maxGrown = 5_000   // items that are combined with others: a bitset each
	maxPairs = 500_000 // pairs that are combined with a third item
)

// search finds the rules of one label. It enumerates from the rows that have it, which are few, and
// counts the others only for items that enough of those have (the frequent items of Apriori:
// Agrawal and Srikant, VLDB 1994, section 2.1).
type search struct {
	*miner
	label   string
	bearing int // rows
	items   []grown
	pairs   [][]int32 // for each item: the later ones that enough rows have with it
	scratch [2]set    // rows that have a pair: with the label, and others
	found   []Rule
	cut     int
}

// grown is an item that combinations are made of.
type grown struct {
	item         int32
	in, out      set // rows that have it: with the label, and others
	both, having int
}

func (m *miner) search(label string) *search {
	s := &search{miner: m, label: label}
	s.singles()
	switch {
	case len(s.items) > maxGrown:
		s.cut = 2
	case len(s.items) > 1:
		s.fill()
		if s.grow(); s.cut == 0 {
			s.growAgain()
		}
	}
	return s
}

// least returns the least number of rows for a rule of several properties.
func (s *search) least() int { return max(s.minCount, s.options.MinTogether) }

// singles finds the rules of one property, and the items worth combining: those that are neither
// certain by themselves nor uninformative.
func (s *search) singles() {
	both := make([]int, len(s.miner.items))
	for _, row := range s.miner.bearing[s.label] {
		s.bearing += s.rows[row].times
		for _, item := range s.rows[row].items {
			both[item] += s.rows[row].times
		}
	}
	for i, n := range both {
		if n < s.minCount {
			continue
		}
		having := s.having[i]
		if s.confident(n, having) {
			s.found = append(s.found, s.rule(s.label, []int32{int32(i)}, n, having, s.bearing))
		}
		if n >= s.least() && n < having && having < s.all {
			s.items = append(s.items, grown{item: int32(i), both: n, having: having})
		}
	}
}

func (s *search) confident(both, having int) bool {
	return float64(both)/float64(having) >= s.options.MinConfidence-slack
}

// mostOthers returns how many rows without the label a confident rule may cover.
func (s *search) mostOthers(both int) int {
	if s.options.MinConfidence <= slack {
		return math.MaxInt
	}
	return int(float64(both)/(s.options.MinConfidence-slack)) - both + 1
}

// fill records which rows have the items.
func (s *search) fill() {
	at := make([]int32, len(s.miner.items))
	for i := range s.items {
		g := &s.items[i]
		at[g.item] = int32(i + 1)
		g.in, g.out = newSet(s.bearing), newSet(s.all-s.bearing)
	}
	s.scratch = [2]set{newSet(s.bearing), newSet(s.all - s.bearing)}
	bears := make([]bool, len(s.rows))
	for _, row := range s.miner.bearing[s.label] {
		bears[row] = true
	}
	in, out := 0, 0
	for i, row := range s.rows {
		for _, item := range row.items {
			switch g := at[item] - 1; {
			case g < 0:
			case bears[i]:
				s.items[g].in.addRange(in, in+row.times)
			default:
				s.items[g].out.addRange(out, out+row.times)
			}
		}
		if bears[i] {
			in += row.times
		} else {
			out += row.times
		}
	}
}

// grow finds the rules of two properties, and the pairs worth a third.
func (s *search) grow() {
	s.pairs = make([][]int32, len(s.items))
	pairs := 0
	for a := range s.items {
		for b := a + 1; b < len(s.items); b++ {
			x, y := &s.items[a], &s.items[b]
			if s.property(a) == s.property(b) {
				continue
			}
			both := x.in.countBoth(y.in, math.MaxInt)
			if both < s.least() {
				continue
			}
			most := s.mostOthers(both)
			others := x.out.countBoth(y.out, most)
			s.consider([]int{a, b}, both, others)
			if others == 0 || x.out.within(y.out) || y.out.within(x.out) {
				continue // a third could add nothing to it, or would add as much to one of the two
			}
			if pairs++; pairs <= maxPairs {
				s.pairs[a] = append(s.pairs[a], int32(b))
			}
		}
	}
	if pairs > maxPairs {
		s.cut = 3
	}
}

func (s *search) property(i int) string { return s.miner.items[s.items[i].item].Property }

// growAgain finds the rules of three properties.
func (s *search) growAgain() {
	for a, later := range s.pairs {
		for i, b := range later {
			in, out := s.scratch[0], s.scratch[1]
			x, y := &s.items[a], &s.items[b]
			in.both(x.in, y.in)
			counted := false
			for _, c := range later[i+1:] {
				z := &s.items[c]
				if s.property(int(b)) == s.property(int(c)) {
					continue
				}
				both := in.countBoth(z.in, math.MaxInt)
				if both < s.least() {
					continue
				}
				if !counted {
					out.both(x.out, y.out)
					counted = true
				}
				s.consider([]int{a, int(b), int(c)}, both, out.countBoth(z.out, s.mostOthers(both)))
			}
		}
	}
}

// consider adds a combination as a rule if it is confident, and more so than every part of it.
// others may be inexact where it is too large.
func (s *search) consider(combination []int, both, others int) {
	if !s.confident(both, both+others) {
		return
	}
	confidence := float64(both) / float64(both+others)
	for left := range combination {
		single := &s.items[combination[left]]
		if float64(single.both)/float64(single.having) >= confidence-slack {
			return
		}
		if len(combination) == 3 && s.pairConfidence(combination[(left+1)%3], combination[(left+2)%3]) >= confidence-slack {
			return
		}
	}
	items := make([]int32, len(combination))
	for i, c := range combination {
		items[i] = s.items[c].item
	}
	s.found = append(s.found, s.rule(s.label, items, both, both+others, s.bearing))
}

func (s *search) pairConfidence(a, b int) float64 {
	both := s.items[a].in.countBoth(s.items[b].in, math.MaxInt)
	return float64(both) / float64(both+s.items[a].out.countBoth(s.items[b].out, math.MaxInt))
}
