package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	gonum "gonum.org/v1/gonum/stat"
)

// mostPriorDF limits what other groups are worth: groups that seem to have the same variance have
// it only as far as the data can show.
const mostPriorDF = 20

// PriorVariance returns what the variances of groups, each with its degrees of freedom, show about
// one more group: the expected standard deviation and its degrees of freedom, few where the groups
// differ much (Smyth, "Linear models and empirical Bayes methods", 2004, section 6.2: the moments
// of the logarithms of variances). Groups without degrees of freedom or variance are ignored; with
// fewer than three groups df is 0.
func PriorVariance(variances, dfs []float64) (sd, df float64) {
	var logs []float64
	sampling := 0.0 // how much the logarithms vary because of few values
	for i, v := range variances {
		d := dfs[i]
		if !(d > 0) || !(v > 0) || math.IsInf(v, 0) {
			continue
		}
		logs = append(logs, math.Log(v)-mathext.Digamma(d/2)+math.Log(d/2))
		sampling += trigamma(d / 2)
	}
	n := len(logs)
	if n < 3 {
		return 0, 0
	}
	mean, variance := gonum.MeanVariance(logs, nil)
	df = mostPriorDF
	if between := variance - sampling/float64(n); between > 0 {
		df = min(2*inverseTrigamma(between), mostPriorDF)
	}
	return math.Sqrt(math.Exp(mean + mathext.Digamma(df/2) - math.Log(df/2))), df
}

// trigamma returns the second derivative of the logarithm of the gamma function: Hurwitz's zeta
// function of 2.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// inverseTrigamma solves trigamma(x) = y, by Newton's method (Smyth 2004, appendix).
func inverseTrigamma(y float64) float64 {
	if y > 1e7 {
		return 1 / math.Sqrt(y)
	}
	x := 0.5 + 1/y
	for range 50 {
		tri := trigamma(x)
		step := tri * (1 - tri/y) / (-2 * mathext.Zeta(3, x))
		x += step
		if -step/x < 1e-8 {
			break
		}
	}
	return x
}
