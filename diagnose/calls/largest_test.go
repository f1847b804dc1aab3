package calls

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// largest is a record at all its limits, with long names that compilers number: each call is the
// caller of the next, up to so many levels.
func largest(id string, levels int, ms float64) run.Run {
	r := run.Run{ID: id, Status: run.Complete, MethodTraces: &run.MethodTraces{Source: "art", Clock: run.WallClock}}
	m := r.MethodTraces
	for i := range run.MaxTraceWindows {
		m.Windows = append(m.Windows, run.TraceWindow{Repetition: i + 1, Event: "tap", ToMS: 1, Why: "w"})
	}
	long := strings.Repeat("$1lambda$", 20)
	for i := range run.MaxTracedCalls {
		c := run.TracedCall{Parent: i - 1, Name: fmt.Sprint(long, i), Thread: "main", Event: "tap"}
		if i%levels == 0 {
			c.Parent = -1
		}
		for k := range run.MaxApart {
			c.Repetitions = append(c.Repetitions, 1)
			c.RepetitionsMS = append(c.RepetitionsMS, ms*float64(run.MaxTracedCalls*(1+k)-i))
		}
		m.Tree = append(m.Tree, c)
	}
	for i := range run.MaxCallChains {
		c := run.CallChain{Repetition: i + 1, Event: "tap", Thread: "main"}
		for k := range run.MaxStack {
			c.Methods, c.MS = append(c.Methods, fmt.Sprintf("%s%d.%dx", long, k, i)), append(c.MS, 1e6-float64(k))
		}
		m.Chains = append(m.Chains, c)
	}
	return r
}

// The largest records take about a second, also where each number of an event got worse.
func TestLargestRecords(t *testing.T) {
	t.Parallel()
	var found []diagnose.Finding
	for i := range 12 {
		for k := range 10 {
			found = append(found, worse(fmt.Sprint("tap#", i), fmt.Sprint("frames.", k))...)
		}
	}
	for _, levels := range []int{run.MaxTracedCalls, 10, 1} {
		begun := time.Now()
		head := largest("H", levels, 100)
		got := Explain(head, []run.Run{largest("B", levels, 1)}, found)
		got = append(got, Match(head, []Problem{{Name: "p", Calls: []string{"*a*"}}}, found)...)
		if took := time.Since(begun); len(got) == 0 || took > 30*time.Second {
			t.Errorf("%d levels: %d causes, and it took %v", levels, len(got), took)
		}
	}
}
