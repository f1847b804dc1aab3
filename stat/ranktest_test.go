package stat

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// ranksThatSum returns the ranks up to n with signs, so that the negative ones sum to t.
func ranksThatSum(n, t int) []float64 {
	ds := make([]float64, n)
	for r := n; r >= 1; r-- {
		ds[r-1] = float64(r)
		if r <= t {
			t -= r
			ds[r-1] = -float64(r)
		}
	}
	return ds
}

// The usual table of critical values of Wilcoxon's T, both sides together 5 %
// (in nearly every textbook): T is the largest sum whose one-sided chance is at
// most 2.5 %.
func TestSignedRankAgreesWithTheTable(t *testing.T) {
	for n, critical := range map[int]int{6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 15: 25, 20: 52, 25: 89} {
		at, beyond := SignedRank(ranksThatSum(n, critical)), SignedRank(ranksThatSum(n, critical+1))
		if !at.Exact || at.Greater > 0.025 || beyond.Greater <= 0.025 {
			t.Errorf("n = %d: p = %.4f at T = %d and %.4f at %d, want 0.025 in between", n, at.Greater, critical, beyond.Greater, critical+1)
		}
	}
	// P(T ≤ 8) of ten: 25 of the 1024 ways to choose signs.
	near(t, "p of T = 8 of ten", SignedRank(ranksThatSum(10, 8)).Greater, 25.0/1024, 1e-12)
	near(t, "least p of ten", SignedRank(ranksThatSum(10, 8)).Least, 1.0/1024, 1e-12)
}

// samplesWith returns samples without ties in which y lies below x in u pairs.
func samplesWith(m, n, u int) (xs, ys []float64) {
	for i := range m {
		xs = append(xs, float64(10*i))
	}
	for j := range n {
		below := min(m, u) // how many x this y lies below
		u -= below
		ys = append(ys, float64(10*(m-below))-5+float64(j)/float64(n+1))
	}
	return xs, ys
}

// The usual table of critical values of U, both sides together 5 %.
func TestMannWhitneyAgreesWithTheTable(t *testing.T) {
	for size, critical := range map[[2]int]int{{5, 5}: 2, {5, 6}: 3, {6, 6}: 5, {7, 7}: 8, {8, 8}: 13, {5, 10}: 8, {10, 10}: 23, {15, 15}: 64, {20, 20}: 127} {
		at := MannWhitney(samplesWith(size[0], size[1], critical))
		beyond := MannWhitney(samplesWith(size[0], size[1], critical+1))
		if !at.Exact || at.Greater > 0.025 || beyond.Greater <= 0.025 {
			t.Errorf("%v: p = %.4f at U = %d and %.4f at %d, want 0.025 in between", size, at.Greater, critical, beyond.Greater, critical+1)
		}
	}
	near(t, "p of U = 4, five and five", MannWhitney(samplesWith(5, 5, 4)).Greater, 12.0/252, 1e-12)
}

// bruteSigned tries every choice of signs. least is the chance of the rarer of the two ends.
func bruteSigned(ds []float64) (less, greater, least float64) {
	ranks, at := []float64{}, 0.0
	for _, d := range ds {
		rank := 0.0
		for _, e := range ds {
			switch {
			case d == 0 || e == 0:
			case math.Abs(e) < math.Abs(d):
				rank++
			case math.Abs(e) == math.Abs(d):
				rank += 0.5
			}
		}
		if d != 0 {
			ranks = append(ranks, rank+0.5)
		}
		if d > 0 {
			at += rank + 0.5
		}
	}
	ways := 1 << len(ranks)
	sums := make([]float64, 0, ways)
	for signs := range ways {
		sum := 0.0
		for i, r := range ranks {
			if signs>>i&1 == 1 {
				sum += r
			}
		}
		sums = append(sums, sum)
	}
	return shares(sums, at)
}

// shares returns the shares of the sums up to at and from at on, and that of the rarer of the
// smallest and the largest.
func shares(sums []float64, at float64) (less, greater, least float64) {
	low, high := slices.Min(sums), slices.Max(sums)
	share := func(in func(float64) bool) float64 {
		n := 0.0
		for _, s := range sums {
			if in(s) {
				n++
			}
		}
		return n / float64(len(sums))
	}
	less = share(func(s float64) bool { return s <= at })
	greater = share(func(s float64) bool { return s >= at })
	least = min(share(func(s float64) bool { return s == low }), share(func(s float64) bool { return s == high }))
	return less, greater, least
}

// bruteSum tries every choice of which values are the ys.
func bruteSum(xs, ys []float64) (less, greater, least float64) {
	all := append(append([]float64{}, xs...), ys...)
	u := func(chosen int) float64 {
		sum := 0.0
		for i, a := range all {
			for j, b := range all {
				if chosen>>i&1 == 1 && chosen>>j&1 == 0 {
					switch {
					case a > b:
						sum++
					case a == b:
						sum += 0.5
					}
				}
			}
		}
		return sum
	}
	at := u((1<<len(ys) - 1) << len(xs))
	var sums []float64
	for chosen := range 1 << len(all) {
		if bits.OnesCount(uint(chosen)) == len(ys) {
			sums = append(sums, u(chosen))
		}
	}
	return shares(sums, at)
}

func TestRankTestsAgreeWithEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	few := func(n int) []float64 { // of few values, so that many are equal
		out := make([]float64, n)
		for i := range out {
			out[i] = float64(rng.IntN(9) - 4)
		}
		return out
	}
	for range 60 {
		ds := few(1 + rng.IntN(9))
		less, greater, least := bruteSigned(ds)
		got := SignedRank(ds)
		near(t, fmt.Sprint("signed ranks below, of ", ds), got.Less, less, 1e-12)
		near(t, fmt.Sprint("signed ranks above, of ", ds), got.Greater, greater, 1e-12)
		near(t, fmt.Sprint("the least of signed ranks, of ", ds), got.Least, least, 1e-12)

		xs, ys := few(1+rng.IntN(5)), few(1+rng.IntN(5))
		less, greater, least = bruteSum(xs, ys)
		got = MannWhitney(xs, ys)
		near(t, fmt.Sprint("rank sum below, of ", xs, ys), got.Less, less, 1e-12)
		near(t, fmt.Sprint("rank sum above, of ", xs, ys), got.Greater, greater, 1e-12)
		near(t, fmt.Sprint("the least of rank sums, of ", xs, ys), got.Least, least, 1e-12)
	}
}

// Six runs held no wakelock at all: the three largest values are one way of 220, the three smallest
// one of eleven. The result can't be below the least.
func TestLeastChanceWithTies(t *testing.T) {
	got := MannWhitney([]float64{0, 0, 0, 0, 0, 0, 1, 2, 3}, []float64{9, 10, 11})
	near(t, "above", got.Greater, 1.0/220, 1e-12)
	near(t, "least", got.Least, 1.0/220, 1e-12)
	near(t, "least, below", MannWhitney([]float64{9, 9, 9, 8, 7}, []float64{1}).Least, 1.0/6, 1e-12)
}

// The approximation by strata, by hand: in (1 2 | 3) the rank of 3 is 3 where 2 is expected, with a
// variance of 2/3; in (5 | 4 6) the ranks sum to 4 as expected, variance 2/3. Both have the weight
// 1/4.
func TestVanElterenByHand(t *testing.T) {
	strata := []Pair{{[]float64{1, 2}, []float64{3}}, {[]float64{5}, []float64{4, 6}}}
	sd := math.Sqrt((2.0/3 + 2.0/3) / 16)
	above := func(sum float64) float64 { return distuv.UnitNormal.Survival((sum - 0.125) / sd) }
	got := VanElteren(strata)
	near(t, "above", got.Greater, above(0.25), 1e-12)
	near(t, "below", got.Less, above(-0.25), 1e-12)
	near(t, "least", got.Least, above(0.5), 1e-12) // 3 of 2, and 5 of 4
	// With unequal strata: (1 2 3 4 | 0) has the weight 1/6, its rank is 1 where 3 is expected,
	// variance 2; and (1 | 3) the weight 1/3, rank 2 where 1.5 is expected, variance 1/4.
	got = VanElteren([]Pair{{[]float64{1, 2, 3, 4}, []float64{0}}, {[]float64{1}, []float64{3}}})
	sum, sd := -2.0/6+0.5/3, math.Sqrt(2.0/36+0.25/9)
	near(t, "unequal, below", got.Less, distuv.UnitNormal.Survival((-sum-1.0/12)/sd), 1e-12)
	near(t, "unequal, least", got.Least, distuv.UnitNormal.Survival((2.0/6+0.5/3-1.0/12)/sd), 1e-12)
	// Ties at the low end bring the smallest sum nearer to the expected one: in (0 0 0 | 9) the
	// rank is at most 4 and at least 2, where 2.5 is expected.
	got = VanElteren([]Pair{{[]float64{0, 0, 0}, []float64{9}}, {[]float64{0, 0, 0}, []float64{9}}})
	near(t, "tied, the least is what was found", got.Least, got.Greater, 1e-12)
}

// Turned upside down, below is above: the better side of a metric of which more is better depends
// on it.
func TestRankTestsAreSymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	draw := func(n int) (values, turned []float64) {
		for range n {
			v := math.Round(5 * rng.NormFloat64())
			values, turned = append(values, v), append(turned, -v)
		}
		return values, turned
	}
	same := func(what string, a, b RankTest) {
		near(t, what+", above", b.Greater, a.Less, 1e-12)
		near(t, what+", below", b.Less, a.Greater, 1e-12)
		near(t, what+", least", b.Least, a.Least, 1e-12)
	}
	for range 10 {
		for _, n := range []int{5, exactPairs + 20} {
			ds, turned := draw(n)
			same("signed ranks", SignedRank(ds), SignedRank(turned))
		}
		x, minusX := draw(3 + rng.IntN(30))
		y, minusY := draw(3 + rng.IntN(30))
		same("rank sum", MannWhitney(x, y), MannWhitney(minusX, minusY))
		same("strata", VanElteren([]Pair{{x, y}, {y[:2], x}}), VanElteren([]Pair{{minusX, minusY}, {minusY[:2], minusX}}))
	}
}

// One more pair than is enumerated, compared with enumerating it: the continuity correction is half
// the distance between two sums.
func TestApproximationOfManyPairs(t *testing.T) {
	const n = exactPairs + 1
	ranks, total := make([]int, n), 0
	for i := range ranks {
		ranks[i] = 2 * (i + 1)
		total += ranks[i]
	}
	chance := signedDistribution(ranks, total)
	for _, below := range []int{700, 900} {
		want := exactTest(chance, total-2*below).Greater
		got := SignedRank(ranksThatSum(n, below))
		near(t, fmt.Sprint("p of T = ", below), got.Greater, want, 0.0025*want)
		if got.Exact {
			t.Error("it was counted out")
		}
	}
}

// Where the exact distribution ends the approximation continues it.
func TestApproximationContinuesExactTest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		ds, xs, ys := make([]float64, exactPairs), make([]float64, exactPooled/2), make([]float64, exactPooled/2)
		for i := range ds {
			ds[i] = 0.2 + rng.NormFloat64()
		}
		for i := range xs {
			xs[i], ys[i] = math.Round(4*rng.NormFloat64()), math.Round(4*rng.NormFloat64())+1
		}
		near(t, "rank sum", VanElteren([]Pair{{xs, ys}}).Greater, MannWhitney(xs, ys).Greater, 0.005)
		more := append(append([]float64{}, ds...), 1e-9) // almost no information
		near(t, "signed rank", SignedRank(more).Greater, SignedRank(ds).Greater, 0.01)
	}
}

// A device that is slower than another overall must not look like a slower build: 3 on one and 9 on
// the other, and the other way round.
func TestStrataKeepDevicesApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	draw := func(n int, level float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = level + rng.NormFloat64()
		}
		return out
	}
	alarms, pooled := 0, 0
	const trials = 2000
	for range trials {
		slow, fast := Pair{draw(3, 100), draw(9, 100)}, Pair{draw(9, 0), draw(3, 0)}
		if VanElteren([]Pair{slow, fast}).Greater <= 0.05 {
			alarms++
		}
		if MannWhitney(append(slow.X, fast.X...), append(slow.Y, fast.Y...)).Greater <= 0.05 {
			pooled++
		}
	}
	if rate := float64(alarms) / trials; rate > 0.05+2*math.Sqrt(0.05*0.95/trials) {
		t.Errorf("false alarms by strata: %.3f, want at most 0.05", rate)
	}
	if pooled < trials/2 {
		t.Errorf("pooled, only %d of %d are false alarms: the example shows nothing", pooled, trials)
	}
}

func TestNothingToTest(t *testing.T) {
	for name, got := range map[string]RankTest{
		"no difference": SignedRank(nil), "all equal": SignedRank([]float64{0, 0, 0}),
		"one sample empty": MannWhitney(nil, []float64{1}), "no strata": VanElteren(nil),
	} {
		if got.Less != 1 || got.Greater != 1 {
			t.Errorf("%s: %+v, want p = 1 both ways", name, got)
		}
	}
}

func TestCliffsDelta(t *testing.T) {
	// By hand: of nine pairs y is above in 2 + 1 + 3, equal in one, below in 1 + 1.
	near(t, "delta", CliffsDelta([]Pair{{[]float64{1, 2, 6}, []float64{3, 2, 7}}}), 4.0/9, 1e-12)
	near(t, "all above", CliffsDelta([]Pair{{[]float64{1, 2}, []float64{3}}, {[]float64{10}, []float64{11}}}), 1, 0)
	near(t, "of nothing", CliffsDelta(nil), 0, 0)
}

// A stratum with values of only one side is ignored, whatever its size.
func TestStrataOfOneSideAreIgnored(t *testing.T) {
	var xs, ys []float64
	for i := range 30 {
		xs, ys = append(xs, float64(i)), append(ys, float64(i)+4.5)
	}
	want := VanElteren([]Pair{{xs, ys}})
	if got := VanElteren([]Pair{{xs, ys}, {X: make([]float64, 99)}, {Y: make([]float64, 99)}}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, p := range []Pair{{X: xs}, {Y: ys}, {}} {
		if got := MannWhitney(p.X, p.Y); got != untested {
			t.Errorf("of one side %+v", got)
		}
	}
}

// Of the four pairs of 1, 2 and 2, 2 two are above and two equal.
func TestCliffsDeltaOfEqualValues(t *testing.T) {
	if got := CliffsDelta([]Pair{{[]float64{1, 2}, []float64{2, 2}}}); got != 0.5 {
		t.Errorf("%g, want 0.5", got)
	}
}

// The shortcut for ranks without ties equals the enumerated distribution.
func TestUntiedRanks(t *testing.T) {
	for n, p := range map[int]float64{1: 1.0 / 2, 5: 1.0 / 32, 12: 1.0 / 4096} {
		var ds []float64
		for i := range n {
			ds = append(ds, float64(i+1))
		}
		if got := SignedRank(ds); got.Greater != p || got.Less != 1 || got.Least != p || !got.Exact {
			t.Errorf("%d differences: %+v", n, got)
		}
		ds[0] = -ds[0]
		if got := SignedRank(ds); n > 1 && got.Greater != 2*p {
			t.Errorf("%d differences, the least below zero: %+v", n, got)
		}
	}
	// Ranks 1, 2.5, 2.5 and 4: of 16 sums two are 9 or more, all of them and all but the least.
	if got := SignedRank([]float64{-1, 2, 2, 3}); got.Greater != 2.0/16 {
		t.Errorf("with ties %+v", got)
	}
}
