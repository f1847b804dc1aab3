package history

import (
	"fmt"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/dune"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// nearest returns the number of runs of the nearest cluster.
func (c *check) nearest() int {
	n := 0
	for _, r := range c.past.Ranked {
		if r.Cluster == 1 {
			n++
		}
	}
	return n
}

// warnSmallCluster warns where the preset dune has too few runs to flag anything.
func (c *check) warnSmallCluster() {
	if c.policy.Preset != gate.PresetDune || len(c.past.Ranked) == 0 {
		return
	}
	has, what := len(c.past.Ranked), "the history has"
	if c.policy.Cluster == gate.ClusterLiteral {
		has, what = c.nearest(), "the nearest cluster has"
	}
	if least := dune.LeastCluster(c.policy); has < least {
		c.warnings = append(c.warnings, run.Warning{Text: fmt.Sprintf(
			"%s %d %s; with fewer than %d the preset dune flags nothing, however bad", what, has, prose.Plural(has, "run", "runs"), least)})
	}
}

// warnJoined reports once for how many runs the preset dune used more than the nearest cluster.
func warnJoined(checks []*check) []run.Warning {
	joined := 0
	for _, c := range checks {
		if c.clusters > 1 {
			joined++
		}
	}
	if joined == 0 {
		return nil
	}
	return []run.Warning{{Text: fmt.Sprintf(
		"preset dune: for %d of %d runs the nearest cluster is too small to tell an outlier, and the next in rank were joined to it (cluster: literal keeps the nearest alone)", joined, len(checks))}}
}

// tooFew reports whether the clusters of the preset dune gave every cell fewer values than the
// policy requires for a judgement, and the most that any had.
func (c *check) tooFew() (most int, few bool) {
	for _, d := range c.done {
		most = max(most, d.N-1)
	}
	return most, c.policy.Preset == gate.PresetDune && most < c.policy.MinHistory
}
