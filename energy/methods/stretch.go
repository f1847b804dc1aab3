package methods

import (
	"slices"
	"time"
)

// stretches tells when a method begins to run anew: its thread's sample before was
// not in it, or longer ago than a thread that went on running would be sampled.
type stretches struct {
	last map[int]before // by thread of a trace
	seen []int          // by method: the sample that it was last looked for in, and was there
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

// step goes on to a sample. It tells whether the method that was hit went on with its
// own code, and which methods went on in what they call.
func (st *stretches) step(s Sample, ids []int) (own bool, went func(method int) bool) {
	const missed = 2 // periods without a sample of a thread that runs
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

// usualStretch is for how long at a time methods run their own code: half of the CPU
// time is spent in stretches of that length or longer ones. ids are the methods of
// each trace's frames, of which there are so many.
func usualStretch(traces []Trace, ids [][]int, methods int) time.Duration {
	var lengths []time.Duration
	var all time.Duration
	for i, t := range traces {
		st := newStretches(methods)
		open := map[int]int{} // by thread, the place in lengths
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
