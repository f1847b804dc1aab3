package methods

import (
	"slices"
	"time"
)

// stretches detects when a method begins to run: the thread's previous sample did not include it,
// or was too long ago for a thread that ran continuously.
type stretches struct {
	last map[int]before // by thread of a trace
	seen []int          // by method: the last sample that included it
	now  int
}

// before is a thread's last sample.
type before struct {
	at    time.Duration
	chain []int
}

func newStretches(methods int) *stretches {
	return &stretches{last: map[int]before{}, seen: make([]int, methods)}
}

// step advances to a sample. It reports whether the innermost method continued its own code, and
// which methods continued in their callees.
func (st *stretches) step(s Sample, ids []int) (own bool, went func(method int) bool) {
	const missed = 2 // periods without a sample of a running thread
	last, ok := st.last[s.Thread]
	st.last[s.Thread] = before{s.Time, s.Chain}
	st.now++
	if !ok || s.Time-last.at > missed*s.Period {
		return false, func(int) bool { return false }
	}
	for _, frame := range last.chain {
		st.seen[ids[frame]] = st.now
	}
	return ids[last.chain[0]] == ids[s.Chain[0]], func(method int) bool { return st.seen[method] == st.now }
}

// usualStretch returns how long methods run their own code at a time: half of the CPU time is spent
// in stretches of at least that length. ids are the ids of each trace's frames, methods the number
// of methods.
func usualStretch(traces []Trace, ids [][]int, methods int) time.Duration {
	var lengths []time.Duration
	var all time.Duration
	for i, t := range traces {
		st := newStretches(methods)
		open := map[int]int{} // by thread, the index in lengths
		for _, s := range t.Samples {
			if own, _ := st.step(s, ids[i]); !own {
				open[s.Thread] = len(lengths)
				lengths = append(lengths, 0)
			}
			lengths[open[s.Thread]] += s.Period
			all += s.Period
		}
	}
	slices.Sort(lengths)
	rest := all
	for _, length := range lengths {
		if rest -= length; rest < all/2 {
			return length
		}
	}
	return 0
}
