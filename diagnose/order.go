package diagnose

import (
	"cmp"
	"math"
	"slices"
)

// Order sorts causes by how much they explain: by share where known, then by how sure they are,
// their kind's rank and, within one unit, their amount.
func Order(causes []Cause) { slices.SortStableFunc(causes, Compare) }

// Compare orders two causes: negative where a explains more.
func Compare(a, b Cause) int {
	return cmp.Or(
		cmp.Compare(share(b), share(a)),
		cmp.Compare(a.Explains.Sure.order(), b.Explains.Sure.order()),
		cmp.Compare(KindOf(a.Kind).Rank, KindOf(b.Kind).Rank),
		cmp.Compare(unit(a), unit(b)),
		cmp.Compare(amount(b), amount(a)),
		cmp.Compare(a.Kind, b.Kind),
	)
}

// share returns the part of the change that a cause explains, -1 where unknown.
func share(c Cause) float64 {
	if c.Explains.Share == nil {
		return -1
	}
	return *c.Explains.Share
}

// unit groups causes of one unit, those without an amount last: amounts are only comparable within
// one unit.
func unit(c Cause) string {
	if c.Explains.Value == nil {
		return "\U0010ffff"
	}
	return c.Explains.Unit
}

// amount returns how much a cause explains, 0 without an amount.
func amount(c Cause) float64 {
	if c.Explains.Value == nil {
		return 0
	}
	return math.Abs(*c.Explains.Value)
}

func (s Sure) order() int {
	if i := slices.Index([]Sure{Seen, Clear, Likely, Possible}, s); i >= 0 {
		return i
	}
	return 4 // nothing is known
}
