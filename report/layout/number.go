package layout

import (
	"math"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/words"
)

// change is a comparison's change for a table cell.
func change(c gate.Comparison) string {
	switch {
	case c.N == 0:
		return "–"
	case c.Expected == 0 && c.Value == 0:
		return words.Percent(0)
	case c.Expected == 0:
		return "new"
	case c.Change >= words.Manifold:
		return words.Times(c.Change)
	}
	return words.Signed(c.Change)
}

// interval is the change's confidence interval: "−41…−35 %", "–" where unknown.
func interval(c gate.Comparison) string {
	if !hasInterval(c) {
		return "–"
	}
	if *c.Low >= words.Manifold {
		return words.Times(*c.Low) + "…" + words.Times(*c.High)
	}
	return strings.TrimSuffix(words.Signed(*c.Low), words.Unit("%")) + "…" + words.Signed(*c.High)
}

// probability is a p value: "p = 0.002", "p < 0.001", "" where it was not worked out.
func probability(c gate.Comparison) string {
	switch {
	case c.P >= 1 || c.P < 0 || math.IsNaN(c.P):
		return ""
	case c.P < 0.001:
		return "p" + words.NBSP + "<" + words.NBSP + "0.001"
	}
	return "p" + words.NBSP + "=" + words.NBSP + strconv.FormatFloat(c.P, 'g', 2, 64)
}
