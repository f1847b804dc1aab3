package jankcause

import (
	"math"

	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// alike2 is how much the similarity of frames widens a variance, where there are too few repetitions
// and only frames.
const alike2 = 2.0

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

// scatter returns how far the repetitions of runs lie from their run's mean, in ms per frame.
func (t tally) scatter(all []blame) (out contrast.Scatter) {
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
		out.Repetitions += n
		out.Runs++
		for place, took := range times {
			off := (took - list[place].frames*ms/frames) / (frames / n)
			out.Squares += off * off
		}
	}
	return out
}

// repeats reports whether the repetitions of both are known, and enough to show how much they vary.
func (t tally) repeats(before tally) bool {
	k, m := t.scatter(nil), before.scatter(nil)
	return len(t.runs) == 1 && k.Repetitions > 1 && m.Repetitions > 0 && int(m.Runs) == len(before.runs) && k.Varies(m)
}

// settles reports whether they are enough to separate a change from chance.
func (t tally) settles(before tally) bool {
	return t.repeats(before) && t.scatter(nil).Settles(before.scatter(nil))
}

// change returns how many more ms per frame now has of the blames than before. Its error comes from
// the repetitions of both builds, and from the frames where there are too few.
func (now tally) change(before tally, all []blame) contrast.Estimate {
	a, b := now.of(all), before.of(all)
	out := contrast.Estimate{Mean: a.Mean - b.Mean, Err: math.Hypot(a.Err, b.Err)}
	if now.repeats(before) {
		out.Err = math.Hypot(now.scatter(all).Error(before.scatter(all), contrast.Tail), contrast.Drifted*math.Hypot(a.Mean, b.Mean))
	}
	return out
}

// of estimates ms per frame of several blames together, from the frames alone.
func (t tally) of(all []blame) contrast.Estimate {
	n := max(t.frames, 1)
	var mean, variance float64
	for _, b := range all {
		m := t.parts[b]
		mean += m.sum / n
		variance += max(m.squares/n-m.sum/n*m.sum/n, 0)
	}
	return contrast.Estimate{Mean: mean, Err: math.Sqrt(alike2*variance/n + contrast.Drifted*contrast.Drifted*mean*mean)}
}
