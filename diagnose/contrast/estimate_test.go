package contrast

import (
	"math"
	"testing"
)

// Of all ways to choose the head's repetitions, 50 are enough, and four degrees of freedom: four
// compared with four are 70 ways, three with three 20, three with six of two runs 84.
func TestHowManyRepetitionsSettle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		head            int
		base            []int
		varies, settles bool
	}{
		"four and four": {4, []int{4}, true, true}, "three and three": {3, []int{3}, true, false}, "three and six of two runs": {3, []int{3, 3}, true, true},
		"two and two": {2, []int{2}, false, false}, "one and fifty runs of one": {1, make([]int, 50), false, false},
	} {
		var now, before Scatter
		now.Add(make([]float64, c.head))
		for _, n := range c.base {
			before.Add(make([]float64, n))
		}
		if now.Varies(before) != c.varies || now.Settles(before) != c.settles {
			t.Errorf("%s: varies %v, settles %v", name, now.Varies(before), now.Settles(before))
		}
	}
}

// 30 ± 5 of 100 is from 20.2 of 90.2 to 39.8 of 109.8.
func TestShareOfAWhole(t *testing.T) {
	t.Parallel()
	share, low, high := Estimate{Mean: 30, Err: 5}.Share(100, 1)
	if share != 0.3 || math.Abs(low-0.22395) > 1e-5 || math.Abs(high-0.36248) > 1e-5 {
		t.Errorf("%g from %g to %g", share, low, high)
	}
	if (Estimate{Mean: 14, Err: 5}).Stands() || !(Estimate{Mean: 15, Err: 5}).Stands() {
		t.Error("three errors are the least")
	}
}
