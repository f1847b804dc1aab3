package art

import (
	"cmp"
	"slices"
	"time"
)

// MethodSums is what the calls of one method come to.
type MethodSums struct {
	Method  int // place in Trace.Methods
	Calls   int
	Self    time.Duration // of its own code
	Total   time.Duration // with what it calls; a method that calls itself counts once
	Longest time.Duration // its longest call
}

// Sums adds calls up by method. The zero Sums is ready for use.
type Sums struct{ by map[int]*MethodSums }

// Add takes a call.
func (s *Sums) Add(c Call) {
	if s.by == nil {
		s.by = map[int]*MethodSums{}
	}
	m := s.by[c.Method]
	if m == nil {
		m = &MethodSums{Method: c.Method}
		s.by[c.Method] = m
	}
	m.Calls++
	m.Self += c.Self
	if !c.Within {
		m.Total += c.Took
	}
	m.Longest = max(m.Longest, c.Took)
}

// List is the sums, the largest time of its own first.
func (s *Sums) List() []MethodSums {
	out := make([]MethodSums, 0, len(s.by))
	for _, m := range s.by {
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b MethodSums) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Method, b.Method))
	})
	return out
}
