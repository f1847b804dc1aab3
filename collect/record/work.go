package record

import (
	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/gc"
	"github.com/apkgate/apkgate/trace/perfetto/work"
)

// CollectedOf is what the app's garbage collector did, of which ART writes in the trace, and in
// the log of slow runs alone. nil where the trace did not hold all of it, which doubt then says
// where it lost a part.
func CollectedOf(found gc.Collections) (out *Collected, doubt string) {
	switch {
	case found.Lost > 0:
		return nil, "the trace did not hold all of each repetition: the runs of the garbage collector are not known of those of which it lost a part"
	case !found.Traced:
		return nil, ""
	}
	out = &Collected{Count: len(found.Runs)}
	for _, r := range found.Runs {
		out.Took += r.For
	}
	return out, ""
}

// addTo puts it into the record; nothing where it is not known.
func (g *Collected) addTo(it *run.Iteration) {
	if g == nil {
		return
	}
	it.Metrics["gc.count"] = float64(g.Count)
	it.Metrics["gc.time_ms"] = milliseconds(g.Took)
}

// CountsOf is what was counted of the app's work; nil where the trace did not hold all of it,
// which doubt then says where it lost a part.
func CountsOf(found *work.Counts) (out *work.Counts, doubt string) {
	switch {
	case found.Lost > 0:
		return nil, "the trace did not hold all of each repetition: the app's work is not counted in those of which it lost a part"
	case !found.Traced:
		return nil, ""
	}
	return found, ""
}

// addWork puts what was counted of the app's work into the record, as far as it is known.
func addWork(it *run.Iteration, traced *work.Counts, done *framesource.Done) {
	if done != nil {
		it.Metrics["work.page_faults"], it.Metrics["work.waits"] = float64(done.Faults), float64(done.Waits)
	}
	if traced == nil {
		return
	}
	for name, n := range map[string]int{
		"work.frames": traced.Frames, "work.measures": traced.Measures, "work.layouts": traced.Layouts, "work.draws": traced.Draws,
		"work.inflations": traced.Inflations, "work.recompositions": traced.Recompositions,
	} {
		it.Metrics[name] = float64(n)
	}
	if traced.Called {
		it.Metrics["work.transactions"] = float64(traced.Transactions)
	}
}
