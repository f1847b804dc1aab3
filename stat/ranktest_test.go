package stat

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// ranksThatSum gives the ranks up to n a sign, so that those with a minus sum to t.
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

// samplesWith makes samples without ties of which y lies below x in u pairs.
func samplesWith(m, n, u int) (xs, ys []float64) {
	for i := range m {
		xs = append(xs, float64(10*i))
	}
	for j := range n {
		below := min(m, u) // of how many x this y lies below
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

// bruteSigned tries every choice of signs.
func bruteSigned(ds []float64) (less, greater float64) {
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
	for signs := range ways {
		sum := 0.0
		for i, r := range ranks {
			if signs>>i&1 == 1 {
				sum += r
			}
		}
		if sum <= at {
			less += 1 / float64(ways)
		}
		if sum >= at {
			greater += 1 / float64(ways)
		}
	}
	return less, greater
}

// bruteSum tries every choice of which values are the ys.
func bruteSum(xs, ys []float64) (less, greater float64) {
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
	ways := 0.0
	for chosen := range 1 << len(all) {
		if bits.OnesCount(uint(chosen)) != len(ys) {
			continue
		}
		ways++
		if u(chosen) <= at {
			less++
		}
		if u(chosen) >= at {
			greater++
		}
	}
	return less / ways, greater / ways
}

func TestRankTestsAgreeWithCountingItOut(t *testing.T) {
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
		less, greater := bruteSigned(ds)
		got := SignedRank(ds)
		near(t, fmt.Sprint("signed ranks below, of ", ds), got.Less, less, 1e-12)
		near(t, fmt.Sprint("signed ranks above, of ", ds), got.Greater, greater, 1e-12)

		xs, ys := few(1+rng.IntN(5)), few(1+rng.IntN(5))
		less, greater = bruteSum(xs, ys)
		got = MannWhitney(xs, ys)
		near(t, fmt.Sprint("rank sum below, of ", xs, ys), got.Less, less, 1e-12)
		near(t, fmt.Sprint("rank sum above, of ", xs, ys), got.Greater, greater, 1e-12)
	}
}

// Where the exact distribution ends the approximation takes over.
func TestTheApproximationContinuesTheExactTest(t *testing.T) {
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
		more := append(append([]float64{}, ds...), 1e-9) // says almost nothing
		near(t, "signed rank", SignedRank(more).Greater, SignedRank(ds).Greater, 0.01)
	}
}

// A device that is slower than another on the whole must not look like a build
// that is slower: 3 of one and 9 of the other, and the other way about.
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
