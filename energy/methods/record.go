package methods

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// minCall is the smallest part of all energy for which a call is recorded.
const minCall = 0.001

// Record returns the result as a run keeps it: the methods and the calls with the most energy,
// within the limits of package run.
func (r Result) Record() *run.Methods {
	out := &run.Methods{
		Event: text(r.Event), SampleHz: r.Hz, Samples: r.Samples, Level: r.Level, Basis: string(r.Basis),
		CPUMS: r.CPUMS.Value, EnergyJ: r.EnergyJ.Value, Power: r.Power,
	}
	if r.Power != "" {
		out.ReadJ = r.ReadJ.Value
	}
	for _, m := range r.Methods[:min(len(r.Methods), run.MaxMethods)] {
		out.List = append(out.List, run.Method{
			Name: text(m.Name), File: text(m.File), Kind: string(m.Kind), Local: m.Local.record(), NonLocal: m.NonLocal.record(),
		})
	}
	out.Calls = r.recordCalls()
	return out
}

func (c Cost) record() run.Cost {
	return run.Cost{
		Samples: c.Samples, Share: c.Share.Value, CPUMS: c.CPUMS.Value, PowerW: c.PowerW.Value,
		EnergyJ: c.EnergyJ.Value, LowJ: c.EnergyJ.Low, HighJ: c.EnergyJ.High,
		ReadJ: c.ReadJ.Value, ReadLowJ: c.ReadJ.Low, ReadHighJ: c.ReadJ.High, TimeShare: c.Share.Value,
		StretchMS: c.StretchMS, Blurred: c.Blurred,
	}
}

// recordCalls keeps the largest calls, in depth-first order, the larger of two siblings first. A
// caller is never smaller than its callees, so it is kept too.
func (r Result) recordCalls() []run.Call {
	var kept []int
	for i, c := range r.Calls {
		if c.EnergyJ > 0 && c.EnergyJ >= minCall*r.EnergyJ.Value {
			kept = append(kept, i)
		}
	}
	slices.SortFunc(kept, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.Calls[b].EnergyJ, r.Calls[a].EnergyJ), cmp.Compare(a, b))
	})
	kept = kept[:min(len(kept), run.MaxCalls)]
	callees := map[int][]int{}
	for _, i := range kept {
		callees[r.Calls[i].Parent] = append(callees[r.Calls[i].Parent], i)
	}
	var out []run.Call
	type step struct{ call, parent int }
	var stack []step
	push := func(of, place int) {
		for _, i := range slices.Backward(callees[of]) {
			stack = append(stack, step{i, place})
		}
	}
	for push(-1, -1); len(stack) > 0; {
		next := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		c := r.Calls[next.call]
		out = append(out, run.Call{Parent: next.parent, Name: text(c.Name), Kind: string(c.Kind), EnergyJ: c.EnergyJ, ReadJ: c.ReadJ})
		push(next.call, len(out)-1)
	}
	return out
}

// text prepares a name for a record: valid UTF-8, bounded in length.
func text(s string) string {
	return prose.Fit(s, run.MaxText)
}
