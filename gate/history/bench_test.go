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

// BenchmarkCheck checks one run of 6 events × 3 metrics against 10,000 references, the most that a
// store returns, in 300 contexts.
func BenchmarkCheck(b *testing.B) {
	benchCheck(b, gatetest.World{Contexts: 300, PerContext: 34, Events: 5, Session: 0.03, Noise: 0.03, Tail: 0.3}, 1)
}

// BenchmarkCheckOfManyCells checks one run of 34 events × 3 metrics against 50 of its own context,
// of five repetitions each.
func BenchmarkCheckOfManyCells(b *testing.B) {
	benchCheck(b, gatetest.World{Contexts: 1, PerContext: 50, Events: 33, Session: 0.03, Noise: 0.03, Tail: 0.3}, 5)
}

func benchCheck(b *testing.B, w gatetest.World, repetitions int) {
	p, _ := gate.PolicyOf(gate.PresetDefault)
	rng := rand.New(rand.NewPCG(1, 2))
	runOf := func(id string, context int) run.Run {
		r := w.Run(rng, id, context, 1)
		for range repetitions - 1 {
			r.Iterations = append(r.Iterations, w.Run(rng, id, context, 1).Iterations...)
		}
		return r
	}
	var refs []run.Summary
	var shared run.Layouts // as a store returns them
	for c := range w.Contexts {
		for i := range w.PerContext {
			s := run.Summarize(runOf(fmt.Sprint(c, ".", i), c), p.Centre, metric.Default())
			s.Cells = shared.Share(s.Cells)
			refs = append(refs, s)
		}
	}
	subject := Subject{Run: runOf("new", min(7, w.Contexts-1)), References: refs[:min(len(refs), 10_000)]}
	b.ReportAllocs()
	for b.Loop() {
		Check(p, metric.Default(), []Subject{subject})
	}
}
