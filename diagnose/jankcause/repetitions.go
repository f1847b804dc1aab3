package jankcause

import (
	"math"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// estimate is a difference of means, in ms per frame, and its error, scaled so that three of it are
// as unlikely by chance as three standard errors of a normal distribution.
type estimate struct{ mean, err float64 }

// The unit of repetition is the repetition: the frames of one are similar, whatever the build, and
// a cause may strike once in each. Repetitions of one session are similar too.
const (
	drifted = 0.05 // of its mean, by which any time may differ from session to session
	// byChance is the largest chance, for anything to be clear, that the head's repetitions are
	// those with the longest times though nothing changed: one of all ways to choose as many of
	// both builds'. Four compared with four, or three with six of two runs, are enough, and three
	// compared with three are not.
	byChance = 0.02
	// leastFreedom is the least number of degrees of freedom that shows how much repetitions vary.
	leastFreedom = 4
	// alike2 is how much the similarity of frames widens a variance, where there are too few
	// repetitions and only frames.
	alike2 = 2.0
)

// repetition is the time of frames in one: how many there were, and ms of each blame.
type repetition struct {
	place  int
	frames float64
	parts  map[blame]float64
}

// addRepetitions adds the times of the group's frames in each repetition.
func (t *tally) addRepetitions(g run.FrameGroup) {
	var all []repetition
	for i, n := range g.Repetitions {
		r := repetition{place: i, frames: float64(n), parts: map[blame]float64{}}
		listed := map[string]float64{}
		for _, p := range g.Path {
			if ms := ithOf(p.RepetitionsMS, i); ms > 0 {
				listed[p.Name] += ms
				r.parts[blameOf(p)] += ms
			}
		}
		for _, w := range g.Waits { // what does not fit into the list of parts
			if rest := ithOf(w.RepetitionsMS, i) - listed[w.Name]; rest > rounding*r.frames && len(g.Path) > 0 && w.Name != run.WaitRunning {
				r.parts[blameOf(run.FramePart{Name: w.Name})] += rest
			}
		}
		all = append(all, r)
	}
	if len(t.runs) == 0 {
		t.runs = [][]repetition{nil}
	}
	t.runs[0] = joined(append(t.runs[0], all...))
}

// ithOf returns the i-th of a list that may be shorter.
func ithOf(list []float64, i int) float64 {
	if i >= len(list) {
		return 0
	}
	return list[i]
}

// joined combines what is of the same repetition of a run.
func joined(all []repetition) (out []repetition) {
	for _, r := range all {
		for len(out) <= r.place {
			out = append(out, repetition{place: len(out), parts: map[blame]float64{}})
		}
		to := &out[r.place]
		to.frames += r.frames
		for b, ms := range r.parts {
			to.parts[b] += ms
		}
	}
	return out
}

// scatter returns how far the repetitions of runs lie from their run's mean: how many there are of
// how many runs, and the sum of squares, in ms per frame.
func (t tally) scatter(all []blame) (repetitions, runs, squares float64) {
	for _, list := range t.runs {
		frames, ms := 0.0, 0.0
		times := map[int]float64{}
		for _, r := range list {
			if r.frames > 0 {
				times[r.place] = 0
				for _, b := range all {
					times[r.place] += r.parts[b]
				}
				frames += r.frames
				ms += times[r.place]
			}
		}
		if frames == 0 {
			continue
		}
		n := float64(len(times))
		repetitions += n
		runs++
		for place, took := range times {
			off := (took - list[place].frames*ms/frames) / (frames / n)
			squares += off * off
		}
	}
	return repetitions, runs, squares
}

// repeats reports whether the repetitions of both are known, and enough to show how much they vary.
func (t tally) repeats(before tally) bool {
	k, _, _ := t.scatter(nil)
	m, runs, _ := before.scatter(nil)
	return len(t.runs) == 1 && k > 1 && m > 0 && int(runs) == len(before.runs) && k+m-1-runs >= leastFreedom
}

// settles reports whether they are enough to separate a change from chance.
func (t tally) settles(before tally) bool {
	k, _, _ := t.scatter(nil)
	m, _, _ := before.scatter(nil)
	return t.repeats(before) && waysToChoose(k, k+m) >= 1/byChance
}

// waysToChoose returns how many ways there are to choose k of n.
func waysToChoose(k, n float64) float64 {
	ways := 1.0
	for i := 1.0; i <= k; i++ {
		ways *= (n - k + i) / i
	}
	return ways
}

// change returns how many more ms per frame now has of the blames than before. Its error comes from
// the repetitions of both builds, and from the frames where there are too few.
func (now tally) change(before tally, all []blame) estimate {
	a, b := now.of(all), before.of(all)
	out := estimate{a.mean - b.mean, math.Hypot(a.err, b.err)}
	if now.repeats(before) {
		k, _, nowSquares := now.scatter(all)
		m, runs, beforeSquares := before.scatter(all)
		freedom := k - 1 + m - runs
		within := (nowSquares + beforeSquares) / freedom * (1/k + 1/m)
		out.err = math.Hypot(math.Sqrt(within)*wider(freedom), drifted*math.Hypot(a.mean, b.mean))
	}
	return out
}

// wider returns how much farther Student's distribution reaches than the normal one at three
// standard errors.
func wider(freedom float64) float64 {
	const tail = 0.00135 // of a normal distribution beyond three standard errors
	return stat.Moments{SD: 1, N: math.Inf(1), DF: freedom}.Reach(tail) / 3
}

// of estimates ms per frame of several blames together, from the frames alone.
func (t tally) of(all []blame) estimate {
	n := max(t.frames, 1)
	var mean, variance float64
	for _, b := range all {
		m := t.parts[b]
		mean += m.sum / n
		variance += max(m.squares/n-m.sum/n*m.sum/n, 0)
	}
	return estimate{mean, math.Sqrt(alike2*variance/n + drifted*drifted*mean*mean)}
}
