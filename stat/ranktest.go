package stat

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// RankTest is the result of a rank test. Less and Greater are its one-sided chances: that values
// which differ by chance only lie as far below (above) as these. Both are 1 where there is nothing
// to test.
type RankTest struct {
	Less, Greater float64
	// Least is the smallest chance that this test can reach, in either direction, with these
	// numbers of values and ties: where it is above a level, nothing can be proven.
	Least float64
	// Exact is set where the distribution was enumerated, not approximated.
	Exact bool
}

var untested = RankTest{Less: 1, Greater: 1, Least: 1}

// Up to these sizes the distributions are enumerated, including ties; beyond them the normal
// approximation is good to the third digit.
const (
	exactPairs  = 60 // differences of a signed-rank test
	exactPooled = 40 // values of both samples of a rank-sum test
)

// SignedRank is Wilcoxon's signed-rank test of differences in pairs (Wilcoxon 1945): the chance of
// these signs if each difference were as likely to lie above zero as below. Differences of zero are
// left out; equal ones share their mean rank, and the distribution is that of these ranks.
func SignedRank(differences []float64) RankTest {
	var sizes, signs []float64
	for _, d := range differences {
		if d != 0 && !math.IsNaN(d) {
			sizes, signs = append(sizes, math.Abs(d)), append(signs, d)
		}
	}
	if len(sizes) == 0 {
		return untested
	}
	ranks := doubledRanks(sizes)
	above, total := 0, 0
	for i, r := range ranks {
		total += r
		if signs[i] > 0 {
			above += r
		}
	}
	if len(ranks) > exactPairs {
		variance := 0.0
		for _, r := range ranks {
			variance += float64(r) * float64(r) / 4
		}
		const step = 2 // of doubled ranks
		return normalTest(float64(above), float64(total)/2, variance, step, 0, float64(total))
	}
	if untied(ranks) {
		return exactTest(untiedSigned[len(ranks)](), above/2)
	}
	return exactTest(signedDistribution(ranks, total), above)
}

// untied reports whether no two of doubled ranks are equal, so that none is odd.
func untied(doubled []int) bool {
	seen := make([]bool, len(doubled)+1)
	for _, r := range doubled {
		if seen[r/2] {
			return false
		}
		seen[r/2] = true
	}
	return true
}

// untiedSigned are the distributions of the sum of the positive ranks of 1 to n, by n, each
// computed on first use.
var untiedSigned = func() (out [exactPairs + 1]func() []float64) {
	for n := range out {
		out[n] = sync.OnceValue(func() []float64 {
			ranks := make([]int, n)
			for i := range ranks {
				ranks[i] = i + 1
			}
			return signedDistribution(ranks, n*(n+1)/2)
		})
	}
	return out
}()

// signedDistribution returns the chance of each sum of positive ranks.
func signedDistribution(ranks []int, total int) []float64 {
	chance := make([]float64, total+1)
	chance[0] = 1
	most := 0 // of the ranks so far
	for _, r := range ranks {
		most += r
		for s := most; s >= 0; s-- {
			chance[s] /= 2
			if s >= r {
				chance[s] += chance[s-r] / 2
			}
		}
	}
	return chance
}

// MannWhitney is the rank-sum test of two samples (Mann and Whitney 1947): Greater is the chance
// that ys lie as far above xs as they do if both came from one distribution. Equal values share
// their mean rank.
func MannWhitney(xs, ys []float64) RankTest {
	if len(xs) == 0 || len(ys) == 0 {
		return untested
	}
	ranks := doubledRanks(slices.Concat(xs, ys))
	sum := 0
	for _, r := range ranks[len(xs):] {
		sum += r
	}
	if len(ranks) > exactPooled {
		return VanElteren([]Pair{{xs, ys}})
	}
	return exactTest(sumDistribution(ranks, len(ys)), sum)
}

// sumDistribution returns the chance of each sum of n of the ranks.
func sumDistribution(ranks []int, n int) []float64 {
	total := 0
	for _, r := range slices.Sorted(slices.Values(ranks))[len(ranks)-n:] {
		total += r
	}
	ways := make([][]float64, n+1) // by how many are chosen, then by their sum
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for i, r := range ranks {
		for k := min(i+1, n); k >= 1; k-- {
			from, to := ways[k-1], ways[k]
			for s := total; s >= r; s-- {
				if w := from[s-r]; w != 0 {
					to[s] += w
				}
			}
		}
	}
	all := 0.0
	for _, w := range ways[n] {
		all += w
	}
	for s := range ways[n] {
		ways[n][s] /= all
	}
	return ways[n]
}

// Pair is two samples to compare.
type Pair struct{ X, Y []float64 }

// VanElteren is the rank-sum test over strata (van Elteren 1960): values are ranked within each
// stratum, such as a device, and each stratum's rank sum is weighted by one over its size plus one,
// which is optimal where the shift is the same in all. It uses the normal approximation, with the
// variance corrected for ties.
func VanElteren(strata []Pair) RankTest {
	sum, expected, variance, step := 0.0, 0.0, 0.0, math.Inf(1)
	fewest, most := 0.0, 0.0
	for _, p := range strata {
		m, n := float64(len(p.X)), float64(len(p.Y))
		if m == 0 || n == 0 {
			continue
		}
		size, weight := m+n, 1/(m+n+1)
		ranks := doubledRanks(slices.Concat(p.X, p.Y))
		spread := 0.0
		for i, r := range ranks {
			rank := float64(r) / 2
			if i >= len(p.X) {
				sum += weight * rank
			}
			spread += (rank - (size+1)/2) * (rank - (size+1)/2)
		}
		expected += weight * n * (size + 1) / 2
		variance += weight * weight * m * n / (size * (size - 1)) * spread
		slices.Sort(ranks)
		fewest += weight * halfSum(ranks[:len(p.Y)])
		most += weight * halfSum(ranks[len(p.X):])
		step = min(step, weight)
	}
	return normalTest(sum, expected, variance, step, fewest, most)
}

// halfSum returns half the sum of doubled ranks.
func halfSum(doubled []int) float64 {
	sum := 0
	for _, r := range doubled {
		sum += r
	}
	return float64(sum) / 2
}

// normalTest compares a statistic with its expectation. step is the distance between neighbouring
// values of the statistic, for the continuity correction; fewest and most are its smallest and
// largest values.
func normalTest(statistic, expected, variance, step, fewest, most float64) RankTest {
	if !(variance > 0) {
		return untested
	}
	tail := func(above float64) float64 {
		return distuv.UnitNormal.Survival((above - step/2) / math.Sqrt(variance))
	}
	return RankTest{
		Greater: tail(statistic - expected), Less: tail(expected - statistic),
		Least: min(tail(most-expected), tail(expected-fewest)),
	}
}

// exactTest reads both tails from a distribution.
func exactTest(chance []float64, at int) RankTest {
	t := RankTest{Exact: true}
	for s, p := range chance {
		if s <= at {
			t.Less += p
		}
		if s >= at {
			t.Greater += p
		}
	}
	t.Less, t.Greater = min(1, t.Less), min(1, t.Greater)
	// The ends are the rarest values; ties make them differ.
	positive := func(p float64) bool { return p > 0 }
	first := slices.IndexFunc(chance, positive)
	last := len(chance) - 1
	for !positive(chance[last]) {
		last--
	}
	t.Least = min(1, chance[first], chance[last])
	return t
}

// doubledRanks returns twice the ranks of the values, so that the mean rank of two equal ones is a
// whole number too.
func doubledRanks(values []float64) []int {
	order := ascending(values)
	out := make([]int, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = from + 1 + to
		}
		from = to
	}
	return out
}

// CliffsDelta returns how often a y lies above an x minus how often below, from -1 to 1 (Cliff
// 1993); 0 is no difference. Pairs are only made within strata.
func CliffsDelta(strata []Pair) float64 {
	above, pairs := 0.0, 0.0
	for _, p := range strata {
		xs := slices.Sorted(slices.Values(p.X))
		for _, y := range p.Y {
			below, found := slices.BinarySearch(xs, y)
			after := below
			for found && after < len(xs) && xs[after] == y {
				after++
			}
			above += float64(below - (len(xs) - after))
		}
		pairs += float64(len(xs)) * float64(len(p.Y))
	}
	if pairs == 0 {
		return 0
	}
	return above / pairs
}

// Differences returns those of paired values, Y minus X, over all strata.
func Differences(strata []Pair) []float64 {
	var out []float64
	for _, p := range strata {
		for i, x := range p.X {
			out = append(out, p.Y[i]-x)
		}
	}
	return out
}
