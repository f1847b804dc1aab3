package wording

import (
	"math"
	"strconv"
	"strings"
)

// FromTo returns an interval, with the unit once where both ends share it.
func FromTo(low, high string) string {
	if at := strings.LastIndex(low, NBSP); at >= 0 && strings.HasSuffix(high, low[at:]) {
		low = low[:at]
	}
	return low + "…" + high
}

// P returns a p value for a table cell: "0.04", "< 0.001".
func P(p float64) string {
	switch {
	case p >= 1 || math.IsNaN(p):
		return "1"
	case p < 0.001:
		return "<" + NBSP + "0.001"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// NBSP keeps a number and its unit on one line.
const NBSP = "\u00a0"

// Unit returns a unit as it follows a number.
func Unit(u string) string { return NBSP + u }

// Percent returns a fraction as a percentage: 0.0444 is "4.4 %", 1 is "100 %".
func Percent(fraction float64) string {
	v := 100 * fraction
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case a != 0 && a < 0.05:
		return Minus(strconv.FormatFloat(v, 'f', 2, 64)) + Unit("%")
	case a < 9.95:
		return OneDecimal(v) + Unit("%")
	default:
		return Minus(strconv.FormatFloat(v, 'f', 0, 64)) + Unit("%")
	}
}

// Signed is Percent with a sign: "+38 %", "−38 %".
func Signed(fraction float64) string {
	if math.Abs(fraction) < 0.00005 { // it would be a zero with a sign
		fraction = 0
	}
	s := Percent(fraction)
	if fraction > 0 && s != "–" {
		return "+" + s
	}
	return s
}

// Minus returns a negative number with a minus sign, not a hyphen.
func Minus(number string) string {
	if rest, negative := strings.CutPrefix(number, "-"); negative {
		if strings.Trim(rest, "0.") == "" {
			return rest
		}
		return "−" + rest
	}
	return number
}

// Manifold is the change from which on a factor is easier to read than a percentage.
const Manifold = 9.95

// Times returns a change as a factor: "×11.1".
func Times(change float64) string { return "×" + factor(change) }

// factor returns the factor of a change: 11.1, 150.
func factor(change float64) string {
	if 1+change < 99.95 {
		return OneDecimal(1 + change)
	}
	return strconv.FormatFloat(1+change, 'f', 0, 64)
}

// Amount returns "38 % fewer", or "18 times as high" where a percentage is hard to read.
func Amount(change float64, more, less string) string {
	switch {
	case change >= Manifold && more == "higher":
		return factor(change) + " times as high"
	case change >= Manifold:
		return factor(change) + " times as many"
	case change < 0:
		return Percent(-change) + " " + less
	}
	return Percent(change) + " " + more
}

// OneDecimal formats 9 as "9" and 8.57 as "8.6".
func OneDecimal(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return Minus(strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0"))
}

// Digits formats a number with the digits of step, in powers of ten where it would be long.
func Digits(v, step float64) string {
	if a := math.Abs(v); a >= 1e7 || (a > 0 && a < 1e-4) {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	digits := min(max(int(-math.Floor(math.Log10(step)+1e-9)), 0), 6)
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
