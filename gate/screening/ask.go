package screening

import "math"

// Level returns the expected level.
func (o Outlook) Level() float64 {
	sum := 0.0
	for _, p := range o.parts {
		sum += p.weight * p.mean
	}
	return sum
}

// Below returns the chance that the next session's centre lies below x.
func (o Outlook) Below(x float64) float64 {
	sum := 0.0
	for _, p := range o.parts {
		sum += p.weight * normalBelow((x-p.mean)/p.sd)
	}
	return sum
}

// Above returns the chance that it lies above x.
func (o Outlook) Above(x float64) float64 {
	sum := 0.0
	for _, p := range o.parts {
		sum += p.weight * normalBelow((p.mean-x)/p.sd)
	}
	return sum
}

// Quantile returns the value that the next session's centre lies below with the chance p, between 0
// and 1.
func (o Outlook) Quantile(p float64) float64 { return quantile(o.parts, p, normalBelow, o.Below) }

// TailChance is Below (Above, if above is set) with heavier tails, for sessions that no normal
// distribution has: Student's t of four degrees of freedom about the level. An unchanged build may
// be called worse by this chance only; a build may be cleared by the lighter one.
func (o Outlook) TailChance(x float64, above bool) float64 {
	sum := 0.0
	for _, p := range o.parts {
		z := (x - p.mean) / p.sd
		if above {
			z = -z
		}
		sum += p.weight * tBelow(z)
	}
	return sum
}

// TailQuantile is the quantile with such tails: the inverse of TailChance.
func (o Outlook) TailQuantile(p float64) float64 {
	return quantile(o.parts, p, tBelow, func(x float64) float64 { return o.TailChance(x, false) })
}

// quantile finds where below equals p, between the quantiles of the parts, by the Illinois method
// (Dowell and Jarratt 1971): false position that halves the weight of an end that stays.
func quantile(parts []part, p float64, of, below func(float64) float64) float64 {
	z := 1.0 // of the kernel, at which it is surely beyond p
	for of(-z) > math.Min(p, 1-p) {
		z *= 2
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, k := range parts {
		low, high = math.Min(low, k.mean-z*k.sd), math.Max(high, k.mean+z*k.sd)
	}
	const steps, near = 40, 1e-12
	under, over, side := below(low)-p, below(high)-p, 0
	for range steps {
		if high-low <= near*math.Max(math.Abs(low), math.Abs(high)) {
			break
		}
		at := high - over*(high-low)/(over-under)
		switch off := below(at) - p; {
		case math.Abs(off) <= near*p:
			return at
		case off < 0:
			if low, under = at, off; side < 0 {
				over /= 2
			}
			side = -1
		default:
			if high, over = at, off; side > 0 {
				under /= 2
			}
			side = 1
		}
	}
	return (low + high) / 2
}

func normalBelow(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// tBelow is the distribution function of Student's t with four degrees of freedom.
func tBelow(z float64) float64 {
	if math.IsInf(z, 0) {
		return (1 + math.Copysign(1, z)) / 2
	}
	// F(t) = 1/2 + 3/8·u·(1 - u²/12), u = t/√(1+t²/4). Far out the sum of the two halves loses its
	// digits, and 1 - F ≈ 3/t⁴ is used instead.
	if z < -1e3 {
		return 3 / (z * z * z * z)
	}
	u := z / math.Sqrt(1+z*z/4)
	return 0.5 + 0.375*u*(1-u*u/12)
}
