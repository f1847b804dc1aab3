package history

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
)

// The preset dune reports where there is too little for it to flag anything: in the whole history,
// or where clusters are not joined, in the nearest.
func TestSmallClusterIsReported(t *testing.T) {
	const ms = "frames.duration_ms"
	for name, c := range map[string]struct {
		own, others int
		set         func(*gate.Policy)
		want        string // warning
		reason      string
	}{
		"none":                       {0, 0, func(*gate.Policy) {}, "", "there is no accepted run"},
		"four of all":                {2, 2, func(*gate.Policy) {}, "the history has 4 runs; with fewer than 5 the preset dune flags nothing", ""},
		"five of all":                {2, 3, func(*gate.Policy) {}, "", ""},
		"four of its own, literally": {4, 9, func(p *gate.Policy) { p.Cluster = gate.ClusterLiteral }, "the nearest cluster has 4 runs; with fewer than 5", ""},
		"five of its own, literally": {5, 9, func(p *gate.Policy) { p.Cluster = gate.ClusterLiteral }, "", ""},
		"four of its own, of seven":  {4, 9, func(p *gate.Policy) { p.Cluster, p.MinHistory = gate.ClusterLiteral, 7 }, "the nearest cluster has 4 runs", "the clusters that this run is compared with have 4 accepted runs, and min-history asks for 7"},
		"by default":                 {4, 0, func(p *gate.Policy) { *p = gatetest.Policy(t, gate.PresetDefault) }, "", "4 accepted runs in this context"},
	} {
		p := gatetest.Policy(t, gate.PresetDune)
		c.set(&p)
		times := []float64{8, 8.1, 7.9, 8.05, 7.95, 8, 8.1, 7.9, 8.05}
		history := append(gatetest.On("a", ms, times[:c.own]...), gatetest.On("b", ms, times[:c.others]...)...)
		v := checkOne(p, gatetest.Nearly("a", ms, 8), history...)
		said := ""
		for _, w := range v.Warnings {
			if strings.Contains(w.Text, "flags nothing") {
				said = w.Text
			}
		}
		if !strings.HasPrefix(said, c.want) || (said == "") != (c.want == "") || !strings.Contains(v.Reason, c.reason) {
			t.Errorf("%s: warns %q, reason %q; want %q and %q", name, said, v.Reason, c.want, c.reason)
		}
	}
}

// Where the nearest cluster has too few runs, the next ones are joined to it, whichever run of the
// check it is, and the verdict reports for how many runs.
func TestJoinedClustersAreReported(t *testing.T) {
	const ms = "frames.duration_ms"
	for name, c := range map[string]struct {
		own, others int
		want        string
	}{"five of its own": {5, 5, ""}, "three of its own": {3, 5, "preset dune: for 1 of 1 runs the nearest cluster is too small to tell an outlier"}} {
		p := gatetest.Policy(t, gate.PresetDune)
		times := []float64{8, 8.1, 7.9, 8.05, 7.95}
		history := append(gatetest.On("a", ms, times[:c.own]...), gatetest.On("b", ms, times[:c.others]...)...)
		v := Check(p, metric.Default(), []Subject{{Run: gatetest.Nearly("a", ms, 8), References: gatetest.Summaries(p, history...)}})
		said := ""
		for _, w := range v.Warnings {
			if strings.Contains(w.Text, "joined to it") {
				said = w.Text
			}
		}
		if !strings.HasPrefix(said, c.want) || (said == "") != (c.want == "") {
			t.Errorf("%s: it says %q, want %q", name, said, c.want)
		}
	}
}
