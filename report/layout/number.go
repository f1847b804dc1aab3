package layout

import (
	"math"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/wording"
)

// change is a comparison's change for a table cell.
func change(c gate.Comparison) string {
	switch {
	case c.N == 0:
		return "–"
	case c.Expected == 0 && c.Value == 0:
		return wording.Percent(0)
	case c.Expected == 0:
		return "new"
	case c.Change >= wording.Manifold:
		return wording.Times(c.Change)
	}
	return wording.Signed(c.Change)
}

// interval is the change's confidence interval: "−41…−35 %", "–" where unknown.
func interval(c gate.Comparison) string {
	if !hasInterval(c) {
		return "–"
	}
	if *c.Low >= wording.Manifold {
		return wording.Times(*c.Low) + "…" + wording.Times(*c.High)
	}
	return strings.TrimSuffix(wording.Signed(*c.Low), wording.Unit("%")) + "…" + wording.Signed(*c.High)
}

// probability is a p value: "p = 0.002", "p < 0.001", "" where it was not worked out.
func probability(c gate.Comparison) string {
	switch {
	case c.P >= 1 || c.P < 0 || math.IsNaN(c.P):
		return ""
	case c.P < 0.001:
		return "p" + wording.NBSP + "<" + wording.NBSP + "0.001"
	}
	return "p" + wording.NBSP + "=" + wording.NBSP + strconv.FormatFloat(c.P, 'g', 2, 64)
}
