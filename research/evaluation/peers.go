package evaluation

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
)

// Rule is what judges a draw.
type Rule string

// The rules. Those of others are judged by their own input: numbers of the same phone.
const (
	Apkgate Rule = "apkgate"
	// Rounds is apkgate's rounds alone, as if the history had cleared nothing.
	Rounds Rule = "rounds"
	// Dune is apkgate's preset of that name.
	Dune Rule = "dune"
	// RustcPerf is the fence of rustc-perf: a change from the last run is significant
	// from Q3 + 3 (Q3 - Q1) of the sizes of the changes between accepted runs on
	// (rust-lang/rustc-perf, site/src/comparison.rs).
	RustcPerf Rule = "rustc-perf"
	// Bencher is Bencher's t-test: a run fails above the 99th percentile of Student's
	// prediction from the accepted runs (bencherdev/bencher, lib/bencher_boundary).
	Bencher Rule = "bencher"
	// MannWhitney compares the new run's repetitions with all accepted ones: one-sided
	// p at most .02, and medians at least 5 % apart.
	MannWhitney Rule = "mann-whitney"
)

// Rules are all of them.
func Rules() []Rule { return []Rule{Apkgate, Rounds, Dune, RustcPerf, Bencher, MannWhitney} }

// Parameters of the peers' rules.
const (
	rustcMultiple  = 3.0
	rustcDefault   = 0.002 // where there is no history of changes
	bencherUpper   = 0.99
	rankLevel      = 0.02
	rankLeast      = 0.05
	leastForFences = 3 // accepted runs: of two changes there are quartiles
)

// peer judges each number of each phone of a check by itself, as the peers do.
func peer(rule Rule, sc scene, shift float64) (out outcome) {
	judges := map[Rule]func(history [][]float64, fresh []float64) bool{RustcPerf: rustcPerf, Bencher: bencher, MannWhitney: mannWhitney}[rule]
	for _, p := range sc.phones {
		if !p.checked {
			continue
		}
		out.repetitions += len(p.cells[0].fresh)
		for k, c := range p.cells {
			fails := judges(c.upwards(c.history...), c.upwards(p.shiftedBy(k, c.fresh, shift))[0])
			out.failed = out.failed || fails
			out.named = out.named || fails && p.shifted && k == 0 && shift > 0
		}
	}
	return out
}

// upwards returns the values so that higher is worse.
func (s source) upwards(runs ...[]float64) [][]float64 {
	if s.metric.Direction != metric.HigherIsBetter {
		return runs
	}
	out := make([][]float64, len(runs))
	for i, values := range runs {
		for _, v := range values {
			out[i] = append(out[i], -v)
		}
	}
	return out
}

func means(runs [][]float64) []float64 {
	out := make([]float64, len(runs))
	for i, values := range runs {
		for _, v := range values {
			out[i] += v / float64(len(values))
		}
	}
	return out
}

func rustcPerf(history [][]float64, fresh []float64) bool {
	past := means(history)
	if len(past) == 0 {
		return false
	}
	now, last := means([][]float64{fresh})[0], past[len(past)-1]
	fence := rustcDefault
	if len(past) >= leastForFences {
		var changes []float64
		for i := 1; i < len(past); i++ {
			changes = append(changes, math.Abs(past[i]-past[i-1])/math.Abs(past[i-1]))
		}
		slices.Sort(changes)
		q1, q3 := hinges(changes)
		fence = q3 + rustcMultiple*(q3-q1)
	}
	return (now-last)/math.Abs(last) >= fence
}

// hinges returns the medians of the lower and of the upper half of sorted values.
func hinges(sorted []float64) (q1, q3 float64) {
	half := len(sorted) / 2
	return stat.Median(sorted[:max(half, 1)]), stat.Median(sorted[len(sorted)-max(half, 1):])
}

func bencher(history [][]float64, fresh []float64) bool {
	past := means(history)
	n := float64(len(past))
	if n < 2 {
		return false
	}
	mean, squares := means([][]float64{past})[0], 0.0
	for _, v := range past {
		squares += (v - mean) * (v - mean)
	}
	if squares == 0 {
		return false
	}
	scale := math.Sqrt(squares/(n-1)) * math.Sqrt(1+1/n)
	limit := distuv.StudentsT{Mu: mean, Sigma: scale, Nu: n - 1}.Quantile(bencherUpper)
	return means([][]float64{fresh})[0] > limit
}

func mannWhitney(history [][]float64, fresh []float64) bool {
	past := slices.Concat(history...)
	if len(past) == 0 {
		return false
	}
	base := stat.Median(past)
	return stat.MannWhitney(past, fresh).Greater <= rankLevel && stat.Median(fresh)-base >= rankLeast*math.Abs(base)
}
