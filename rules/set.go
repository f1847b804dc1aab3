package rules

import "math/bits"

// set is a bitset over rows.
type set []uint64

func newSet(rows int) set { return make(set, (rows+63)/64) }

// addRange adds the rows from first on, up to but not including end.
func (s set) addRange(first, end int) {
	for i := first; i < end; i++ {
		if i%64 == 0 && end-i >= 64 {
			s[i/64] = ^uint64(0)
			i += 63
			continue
		}
		s[i/64] |= 1 << (i % 64)
	}
}

// countBoth counts the rows that are in both sets. It may stop above most.
func (s set) countBoth(t set, most int) int {
	const stride = 64
	n := 0
	for len(s) > 0 && n <= most {
		for i, w := range s[:min(stride, len(s))] {
			n += bits.OnesCount64(w & t[i])
		}
		s, t = s[min(stride, len(s)):], t[min(stride, len(t)):]
	}
	return n
}

// within reports whether every row of s is in t.
func (s set) within(t set) bool {
	for i, w := range s {
		if w&^t[i] != 0 {
			return false
		}
	}
	return true
}

// both sets s to the rows that are in a and in b.
func (s set) both(a, b set) {
	for i := range s {
		s[i] = a[i] & b[i]
	}
}
