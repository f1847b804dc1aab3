package section

import (
	"cmp"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// Limits of what is kept of a group.
const (
	maxKeys   = 2_000 // distinguished while frames are added
	minParts  = 16    // of its paths, and more if there are fewer groups
	maxStages = 12
)

// The paper's rule for LITTLE cores ("Aging or Glitching?", section 2.3), with tolerances for what
// a trace shows: nearly all, and nearly none.
const (
	allBut  = 0.9
	noneBut = 0.25
)

// part names a piece of critical paths that recurs from frame to frame.
type part struct{ kind, stage, thread, what string }

// group is frames that are alike.
type group struct {
	frames int
	each   [run.MaxApart]int // frames of each repetition
	took   sample
	stages map[part]*sample
	kinds  map[part]*sample
	path   map[part]*sample
	cores  cores
}

func newGroup() *group {
	return &group{stages: map[part]*sample{}, kinds: map[part]*sample{}, path: map[part]*sample{}}
}

// add adds a frame of the repetition at this index.
func (g *group) add(f rendering.Frame, place int) {
	g.frames++
	g.each[place]++
	g.took.add(ms(f.Took), place)
	stages, kinds, path := map[part]float64{}, map[part]float64{}, map[part]float64{}
	for _, s := range f.Stages {
		stages[part{kind: s.Name, thread: trace.Folded(s.Thread)}] += ms(s.To - s.From)
	}
	for i, p := range partsOf(f) {
		took := ms(f.Path[i].To - f.Path[i].From)
		kinds[part{kind: p.kind}] += took
		path[p] += took
	}
	take(g.stages, stages, place)
	take(g.kinds, kinds, place)
	take(g.path, path, place)
	g.cores.add(f.Cores)
}

// take adds one frame's time in each part.
func take(to map[part]*sample, of map[part]float64, place int) {
	for _, p := range slices.SortedFunc(maps.Keys(of), part.compare) {
		key := p
		if to[key] == nil && len(to) >= maxKeys {
			key = part{kind: p.kind}
		}
		if to[key] == nil {
			to[key] = &sample{}
		}
		to[key].add(of[p], place)
	}
}

func (p part) compare(o part) int {
	return cmp.Or(cmp.Compare(p.kind, o.kind), cmp.Compare(p.stage, o.stage), cmp.Compare(p.thread, o.thread), cmp.Compare(p.what, o.what))
}

// group returns the group as in the record, with so many parts of its paths and so many separate
// repetitions.
func (g *group) group(event, class string, parts, apart int) run.FrameGroup {
	return run.FrameGroup{
		Event: event, Class: class, Frames: g.frames, Repetitions: slices.Clone(g.each[:apart]), Took: g.took.spread(11),
		Stages: most(g.stages, maxStages, 0), Waits: most(g.kinds, run.MaxFrameParts, apart), Path: most(g.path, parts, apart), CPU: g.cores.mean(),
	}
}

// most returns the parts with the most time over all frames.
func most(of map[part]*sample, n, apart int) []run.FramePart {
	keys := slices.SortedFunc(maps.Keys(of), func(a, b part) int {
		return cmp.Or(cmp.Compare(of[b].sum, of[a].sum), a.compare(b))
	})
	var out []run.FramePart
	for _, p := range keys[:min(len(keys), n)] {
		out = append(out, run.FramePart{Name: p.kind, Thread: p.thread, Stage: p.stage, What: p.what, Spread: of[p].spread(5), RepetitionsMS: of[p].repetitions(apart)})
	}
	return out
}

// cores adds up how frames ran on processors.
type cores struct {
	little, littleBusy, bigBusy, frequency mean
	saturated                              int
}

func (c *cores) add(f rendering.Cores) {
	c.little.add(f.Little)
	c.littleBusy.add(f.LittleBusy)
	c.bigBusy.add(f.BigBusy)
	c.frequency.add(f.Frequency)
	if saturated(f) {
		c.saturated++
	}
}

// saturated reports whether the frame ran on little cores without a rest while the big ones were
// idle.
func saturated(f rendering.Cores) bool {
	return f.Little >= allBut && f.LittleBusy >= allBut && f.BigBusy >= 0 && f.BigBusy <= noneBut
}

// mean returns nil if nothing is known.
func (c *cores) mean() *run.FrameCPU {
	out := run.FrameCPU{
		LittleShare: c.little.value(), LittleBusy: c.littleBusy.value(), BigBusy: c.bigBusy.value(), FrequencyShare: c.frequency.value(), Saturated: c.saturated,
	}
	if out == (run.FrameCPU{}) {
		return nil
	}
	return &out
}
