package gate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// BenchmarkCheck checks one run of 6 events × 3 metrics against the 10,000
// references that a store gives at most, in 300 contexts.
func BenchmarkCheck(b *testing.B) {
	w := world{contexts: 300, perContext: 34, events: 5, session: 0.03, noise: 0.03, tail: 0.3}
	p, _ := PolicyOf(PresetDefault)
	rng := rand.New(rand.NewPCG(1, 2))
	var refs []run.Summary
	var shared run.Layouts // as a store gives them
	for c := range w.contexts {
		for i := range w.perContext {
			s := run.Summarize(w.run(rng, fmt.Sprint(c, ".", i), c, 1), p.Centre, metric.Default())
			s.Cells = shared.Share(s.Cells)
			refs = append(refs, s)
		}
	}
	subject := Subject{Run: w.run(rng, "new", 7, 1), References: refs[:10_000]}
	b.ReportAllocs()
	for b.Loop() {
		Check(p, metric.Default(), []Subject{subject})
	}
}
