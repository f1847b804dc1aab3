package queueing

import (
	"math"

	"github.com/apkgate/apkgate/stat"
)

// The least that is reported: docs/evaluation/tasks.md#what-decides has the reasons.
const (
	certain      = 3.0  // errors by which a time must have grown
	drifted      = 0.05 // of its mean, by which any time may differ from session to session
	byChance     = 0.02 // the largest chance that the head's repetitions are the longest ones though nothing changed
	leastFreedom = 4    // degrees of freedom that show how much repetitions vary
	leastBlocker = 0.05 // of the time that is waited for, from which on a group is named
	z95          = 1.96
	level        = 0.95
)

// estimate is a difference of means over repetitions and its error, scaled so that three of it are
// as unlikely by chance as three standard errors of a normal distribution.
type estimate struct {
	mean, err  float64
	head, base float64 // base is multiplied by the pace
	was        float64 // base without it
	// settled is set where there are enough repetitions to rule out chance, varied where there are
	// enough to show how much they vary.
	settled, varied bool
}

// stands reports whether the difference is larger than chance explains. Where too few repetitions
// show how much they vary, each of the head's has to be larger than any before.
func (e estimate) stands() bool { return e.mean > 0 && e.mean >= certain*e.err }

// change compares values of the head's repetitions with those of the runs before, which are
// multiplied by a factor.
func change(head []float64, base [][]float64, factor float64) estimate {
	var out estimate
	k, m, runs := float64(len(head)), 0.0, 0.0
	squares := 0.0
	out.head = mean(head)
	squares += scatter(head, out.head)
	sum, most := 0.0, 0.0
	for _, list := range base {
		own := mean(list) * factor
		for _, v := range list {
			sum += v * factor
			squares += (v*factor - own) * (v*factor - own)
			most = max(most, v*factor)
		}
		m += float64(len(list))
		runs++
	}
	out.base = sum / max(m, 1)
	out.was = out.base / factor
	out.mean = out.head - out.base
	freedom := k - 1 + m - runs
	out.varied = freedom >= leastFreedom
	out.settled = out.varied && waysToChoose(k, k+m) >= 1/byChance
	switch {
	case out.varied:
		out.err = math.Hypot(math.Sqrt(squares/freedom*(1/k+1/m))*wider(freedom), drifted*math.Hypot(out.head, out.base))
	case least(head) > most:
		out.err = drifted * math.Hypot(out.head, out.base)
	default:
		out.err = math.Abs(out.mean)
	}
	return out
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(max(len(list), 1))
}

// scatter returns the sum of squared distances from a mean.
func scatter(list []float64, from float64) (out float64) {
	for _, v := range list {
		out += (v - from) * (v - from)
	}
	return out
}

func least(list []float64) float64 {
	out := math.Inf(1)
	for _, v := range list {
		out = min(out, v)
	}
	return out
}

// waysToChoose returns how many ways there are to choose k of n.
func waysToChoose(k, n float64) float64 {
	ways := 1.0
	for i := 1.0; i <= k; i++ {
		ways *= (n - k + i) / i
	}
	return ways
}

// wider returns how much farther Student's distribution reaches than the normal one at three
// standard errors.
func wider(freedom float64) float64 {
	const tail = 0.00135 // of a normal distribution beyond three standard errors
	return stat.Moments{SD: 1, N: math.Inf(1), DF: freedom}.Reach(tail) / 3
}
