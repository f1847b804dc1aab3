package history

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// BenchmarkCheck checks one run of 6 events × 3 metrics against the 10,000
// references that a store gives at most, in 300 contexts.
func BenchmarkCheck(b *testing.B) {
	w := gatetest.World{Contexts: 300, PerContext: 34, Events: 5, Session: 0.03, Noise: 0.03, Tail: 0.3}
	p, _ := gate.PolicyOf(gate.PresetDefault)
	rng := rand.New(rand.NewPCG(1, 2))
	var refs []run.Summary
	var shared run.Layouts // as a store gives them
	for c := range w.Contexts {
		for i := range w.PerContext {
			s := run.Summarize(w.Run(rng, fmt.Sprint(c, ".", i), c, 1), p.Centre, metric.Default())
			s.Cells = shared.Share(s.Cells)
			refs = append(refs, s)
		}
	}
	subject := Subject{Run: w.Run(rng, "new", 7, 1), References: refs[:10_000]}
	b.ReportAllocs()
	for b.Loop() {
		Check(p, metric.Default(), []Subject{subject})
	}
}
