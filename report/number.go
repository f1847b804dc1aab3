package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
)

// nbsp keeps a number and its unit on one line.
const nbsp = "\u00a0"

func unit(u string) string { return nbsp + u }

// percent shows a fraction as a percentage: 0.0444 is "4.4 %", 1 is "100 %".
func percent(fraction float64) string {
	v := 100 * fraction
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case a != 0 && a < 0.05:
		return minus(strconv.FormatFloat(v, 'f', 2, 64)) + unit("%")
	case a < 9.95:
		return oneDecimal(v) + unit("%")
	default:
		return minus(strconv.FormatFloat(v, 'f', 0, 64)) + unit("%")
	}
}

// signed is percent with a sign: "+38 %", "−38 %".
func signed(fraction float64) string {
	s := percent(fraction)
	if fraction > 0 && s != "–" {
		return "+" + s
	}
	return s
}

// minus writes a negative number with a minus sign, not a hyphen.
func minus(number string) string {
	if rest, negative := strings.CutPrefix(number, "-"); negative {
		if strings.Trim(rest, "0.") == "" {
			return rest
		}
		return "−" + rest
	}
	return number
}

// change is a comparison's change for a table cell.
func change(c gate.Comparison) string {
	switch {
	case c.N == 0:
		return "–"
	case c.Expected == 0 && c.Value == 0:
		return percent(0)
	case c.Expected == 0:
		return "new"
	case c.Change >= manifold:
		return times(c.Change)
	}
	return signed(c.Change)
}

// manifold is the change from which on a factor is easier to read than a percentage.
const manifold = 9.95

func times(change float64) string { return "×" + factor(change) }

// factor is how many times as much a change makes: 11.1, 150.
func factor(change float64) string {
	if 1+change < 99.95 {
		return oneDecimal(1 + change)
	}
	return strconv.FormatFloat(1+change, 'f', 0, 64)
}

// interval is the change's confidence interval: "−41…−35 %", "–" where unknown.
func interval(c gate.Comparison) string {
	if !hasInterval(c) {
		return "–"
	}
	if *c.Low >= manifold {
		return times(*c.Low) + "…" + times(*c.High)
	}
	return strings.TrimSuffix(signed(*c.Low), unit("%")) + "…" + signed(*c.High)
}

// probability is a p value: "p = 0.002", "p < 0.001", "" where it was not worked out.
func probability(c gate.Comparison) string {
	switch {
	case c.P >= 1 || c.P < 0 || math.IsNaN(c.P):
		return ""
	case c.P < 0.001:
		return "p" + nbsp + "<" + nbsp + "0.001"
	}
	return "p" + nbsp + "=" + nbsp + strconv.FormatFloat(c.P, 'g', 2, 64)
}

func showValue(m metric.Metric, v float64) string {
	return minus(strings.ReplaceAll(name(m.Format(v)), " ", nbsp))
}

// list joins with commas and a last "and".
func list(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// few is list, cut after n items.
func few(items []string, n int) string {
	if len(items) <= n {
		return list(items)
	}
	return strings.Join(items[:n], ", ") + fmt.Sprintf(" and %d more", len(items)-n)
}

// count is "1 run", "5 runs".
func count(n int, one, many string) string { return thousands(n) + " " + plural(n, one, many) }

// thousands writes 500000 as "500,000".
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && n >= 10_000; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
