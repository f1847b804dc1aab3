package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// warnKinds reports once, for all runs, what several would otherwise each report: that accepted
// runs don't count for some of their numbers, as these were measured in another way. A lab of forty
// phones changes from one way to another on one day.
func warnKinds(p gate.Policy, checks []*check) []run.Warning {
	alike := map[string][]*check{}
	first := map[string]kind{}
	var order []string
	for _, c := range checks {
		c.incomparable = c.incomparableMetrics()
		for _, k := range c.kinds {
			if !k.rebuilds(p) {
				continue
			}
			key := fmt.Sprintf("%q %q %q %q", k.property, k.metrics, k.here, k.there)
			if alike[key] == nil {
				order, first[key] = append(order, key), k
			}
			alike[key] = append(alike[key], c)
		}
	}
	var out []run.Warning
	for _, key := range order {
		k, of := first[key], alike[key]
		if len(of) < 2 {
			continue
		}
		for _, c := range of {
			c.reported = append(c.reported, k.property)
		}
		out = append(out, run.Warning{Text: fmt.Sprintf(
			"%s: %d of %d runs were measured in another way than accepted ones, which don't count for them: %s is %s here and %s there; up to %s of this kind for each context %s the history",
			gate.Titles(k.metrics, of[0].catalogue), len(of), len(checks), k.property, gate.OneOf([]string{k.here}), gate.OneOf(k.there),
			strings.TrimSuffix(moreRuns(mostMissing(p, k.property, of)), " "), prose.Plural(mostMissing(p, k.property, of), "rebuilds", "rebuild"))})
	}
	return out
}

// mostMissing returns the largest number of runs that any check lacks.
func mostMissing(p gate.Policy, property string, checks []*check) int {
	most := 0
	for _, c := range checks {
		at := slices.IndexFunc(c.kinds, func(k kind) bool { return k.property == property })
		most = max(most, p.LeastRuns()-c.kinds[at].same)
	}
	return most
}
