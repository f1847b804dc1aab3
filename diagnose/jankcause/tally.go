package jankcause

import (
	"slices"

	"github.com/apkgate/apkgate/run"
)

// moments are a time's sum and sum of squares over frames, in ms and ms².
type moments struct{ sum, squares float64 }

func (m *moments) add(o moments) { m.sum += o.sum; m.squares += o.squares }

// momentsOf returns those of all times of a spread, of so many frames at most. Between two
// quantiles times are assumed to be evenly spread.
func momentsOf(s run.Spread, frames int) moments {
	n, q := float64(min(s.Count, frames)), s.QuantilesMS
	variance := 0.0
	if steps := float64(len(q) - 1); steps >= 1 {
		mean, square := 0.0, 0.0
		for i := 1; i < len(q); i++ {
			a, b := q[i-1], q[i]
			mean += (a + b) / 2 / steps
			square += (a*a + a*b + b*b) / 3 / steps
		}
		variance = max(square-mean*mean, 0)
	}
	return moments{n * s.MeanMS, n * (variance + s.MeanMS*s.MeanMS)}
}

// place is where most of a blame's time lies.
type place struct {
	stage, thread string
	ms            float64
}

// tally is the time of similar frames, by blame.
type tally struct {
	frames float64
	took   moments
	parts  map[blame]moments
	places map[blame]place
	// unlisted is the largest possible sum of a part that no group lists: lists of parts end with
	// the least. listed is how much of that is of groups that do list a part.
	unlisted float64
	listed   map[blame]float64
	// runs are the repetitions of each run; a run without known ones has none.
	runs [][]repetition
}

func newTally() tally {
	return tally{parts: map[blame]moments{}, places: map[blame]place{}, listed: map[blame]float64{}}
}

// add adds a group of frames.
func (t *tally) add(g run.FrameGroup) {
	t.frames += float64(g.Frames)
	t.took.add(momentsOf(g.Took, g.Frames))
	t.addRepetitions(g)
	listed := map[string]float64{}
	for _, p := range g.Path {
		m := momentsOf(p.Spread, g.Frames)
		listed[p.Name] += m.sum
		t.part(blameOf(p), p, m)
	}
	if len(g.Path) == 0 {
		return
	}
	full := false
	for _, w := range g.Waits { // what does not fit into the list of parts
		m := momentsOf(w.Spread, g.Frames)
		if m.sum-listed[w.Name] <= rounding*float64(g.Frames) {
			continue
		}
		full = true
		if w.Name != run.WaitRunning { // what ran is unknown, and so is what to blame
			rest := (m.sum - listed[w.Name]) / m.sum
			t.part(blameOf(run.FramePart{Name: w.Name}), w, moments{m.sum * rest, m.squares * rest * rest})
		}
	}
	if !full {
		return
	}
	least := momentsOf(g.Path[len(g.Path)-1].Spread, g.Frames).sum
	t.unlisted += least
	here := map[blame]bool{}
	for _, p := range g.Path {
		if b := blameOf(p); !here[b] {
			here[b] = true
			t.listed[b] += least
		}
	}
}

// rounding is how much the parts of a list may miss their sum, in ms per frame.
const rounding = 0.01

func (t *tally) part(b blame, p run.FramePart, m moments) {
	if b.kind == "" {
		return
	}
	all := t.parts[b]
	all.add(m)
	t.parts[b] = all
	if at := t.places[b]; m.sum > at.ms {
		t.places[b] = place{p.Stage, p.Thread, m.sum}
	}
}

// mean returns a blame's ms per frame.
func (t tally) mean(b blame) float64 { return t.parts[b].sum / max(t.frames, 1) }

// growth returns how many more ms per frame one has of a blame than another, at least: groups that
// don't list such a part may have had as much as the least listed one.
func growth(now, before tally, b blame) float64 {
	n, was := now.mean(b), before.mean(b)
	nowMost, wasMost := n+now.mayHave(b), was+before.mayHave(b)
	switch {
	case n > wasMost:
		return n - wasMost
	case nowMost < was:
		return nowMost - was
	}
	return 0
}

// mayHave returns how many more ms per frame of a blame there may be than listed.
func (t tally) mayHave(b blame) float64 {
	return max(t.unlisted-t.listed[b], 0) / max(t.frames, 1)
}

// event is an event's frames in one run.
type event struct {
	frames       float64 // all of them, with those that were late and nobody saw
	buffered     float64 // those that were late and nobody saw
	late, normal tally
	// How its late frames and its normal ones ran on processors.
	lateCores, normalCores coreFacts
	views                  *redundant
	stages                 staged // of all frames
}

// tallied sums the frames of an event, "" for all. One that was late while a buffer was ready is
// left out: nobody saw it ("Aging or Glitching?", section 2.3).
func tallied(f *run.Frames, name string) event {
	out := event{late: newTally(), normal: newTally(), views: redundantIn(f, name), stages: newStaged()}
	for _, g := range f.Groups {
		if name != "" && g.Event != name {
			continue
		}
		out.frames += float64(g.Frames)
		out.stages.add(g)
		switch {
		case isLate(g.Class):
			out.late.add(g)
			out.lateCores.add(g)
		case g.Class == run.NormalFrames:
			out.normal.add(g)
			out.normalCores.add(g)
		case g.Class == run.BufferedFrames:
			out.buffered += float64(g.Frames)
		}
	}
	return out
}

// hasPaths reports that it is known what frames spent their time on: records of versions of apkgate
// that read no paths, and of traces without any, lack it.
func (e event) hasPaths() bool { return len(e.late.parts)+len(e.normal.parts) > 0 }

// pooled combines the tallies of several runs.
func pooled(all []tally) tally {
	out := newTally()
	for _, t := range all {
		out.runs = append(out.runs, t.runs...)
		out.frames += t.frames
		out.took.add(t.took)
		out.unlisted += t.unlisted
		for b, least := range t.listed {
			out.listed[b] += least
		}
		for b, m := range t.parts {
			sum := out.parts[b]
			sum.add(m)
			out.parts[b] = sum
			if t.places[b].ms > out.places[b].ms {
				out.places[b] = t.places[b]
			}
		}
	}
	return out
}

// seen returns the event's frames that were shown, late or not.
func (e event) seen() tally {
	out := pooled([]tally{e.normal, e.late})
	out.runs = [][]repetition{joined(slices.Concat(out.runs...))}
	return out
}

// blames returns those of all tallies, in a fixed order.
func blames(all ...tally) []blame {
	var out []blame
	for _, t := range all {
		for b := range t.parts {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, compareBlames)
	return slices.Compact(out)
}
