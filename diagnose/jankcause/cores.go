package jankcause

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// When cores count as slower than before.
const (
	moreLittle  = 0.25 // growth of the share of running on little cores
	allLittle   = 0.9  // of running that must have been there, where nothing is known of before,
	idleBig     = 0.25 // and big cores must have been busy at most, as the paper has it (section 2.3)
	lessClock   = 0.85 // of the frequency before, below which it is lower
	slowdown    = 1.1  // by how much all work must take longer for the cores to be why
	leastWorkMS = 0.1  // per frame, of work that tells how much slower cores are
)

var subjectOfCores = map[string]string{LittleKind: "little cores", FrequencyKind: "processor frequency"}

// coreFacts sums how frames ran on processors.
type coreFacts struct {
	little, clock, bigBusy meanShare
}

// meanShare is a share's mean over the frames for which it is known.
type meanShare struct{ sum, frames float64 }

func (m *meanShare) add(share *float64, frames int) {
	if share != nil {
		m.sum += *share * float64(frames)
		m.frames += float64(frames)
	}
}

func (m *meanShare) join(o meanShare) { m.sum += o.sum; m.frames += o.frames }

// value is -1 where unknown.
func (m meanShare) value() float64 {
	if m.frames == 0 {
		return -1
	}
	return m.sum / m.frames
}

func (c *coreFacts) add(g run.FrameGroup) {
	if g.CPU != nil {
		c.little.add(g.CPU.LittleShare, g.Frames)
		c.clock.add(g.CPU.FrequencyShare, g.Frames)
		c.bigBusy.add(g.CPU.BigBusy, g.Frames)
	}
}

func (c *coreFacts) join(o coreFacts) {
	c.little.join(o.little)
	c.clock.join(o.clock)
	c.bigBusy.join(o.bigBusy)
}

// coreShift is how frames ran on processors, now and before; -1 where unknown.
type coreShift struct {
	little, littleBefore float64
	clock, clockBefore   float64
	bigBusy              float64
}

func (c comparison) coreShift() *coreShift {
	now, before := c.head.lateCores, c.head.normalCores
	if !c.alone() {
		now.join(c.head.normalCores)
		before = coreFacts{}
		for _, b := range c.base {
			before.join(b.lateCores)
			before.join(b.normalCores)
		}
	}
	return &coreShift{now.little.value(), before.little.value(), now.clock.value(), before.clock.value(), now.bigBusy.value()}
}

// kind returns what made cores slower, "" for nothing.
func (s coreShift) kind() string {
	switch {
	case s.little >= 0 && s.littleBefore >= 0 && s.little-s.littleBefore >= moreLittle, s.littleBefore < 0 && s.little >= allLittle && s.bigBusy <= idleBig:
		return LittleKind
	case s.clock > 0 && s.clockBefore > 0 && s.clock <= lessClock*s.clockBefore:
		return FrequencyKind
	}
	return ""
}

// withCores assigns to slower cores the common factor by which all work takes longer.
func (c comparison) withCores(shifts []*shift, now, before tally) []*shift {
	kind := c.coreShift().kind()
	factor := commonFactor(now, before)
	if kind == "" || factor < slowdown {
		return shifts
	}
	cores := &shift{kind: kind, growth: map[blame]float64{}}
	for _, s := range shifts {
		if !isWork(s.kind) {
			continue
		}
		moved := 0.0
		for _, b := range s.parts {
			part := min(before.mean(b)*(factor-1), s.growth[b])
			if part <= 0 {
				continue
			}
			s.growth[b] -= part
			cores.growth[b] = part
			cores.parts = append(cores.parts, b)
			moved += part
		}
		if s.more.Mean > 0 {
			of := min(moved/s.more.Mean, 1)
			cores.more = contrast.Estimate{Mean: cores.more.Mean + moved, Err: math.Hypot(cores.more.Err, s.more.Err*of)}
		}
		s.more.Mean -= moved
	}
	if cores.parts == nil {
		return shifts
	}
	slices.SortStableFunc(cores.parts, func(x, y blame) int { return cmp.Compare(cores.growth[y], cores.growth[x]) })
	return append(shifts, cores)
}

// commonFactor returns by how much half of the work that was there before takes longer: a single
// longer piece does not affect it.
func commonFactor(now, before tally) float64 {
	type piece struct{ factor, weight float64 }
	var all []piece
	sum := 0.0
	for _, b := range blames(before) {
		if was := before.mean(b); isWork(b.kind) && was >= leastWorkMS {
			all = append(all, piece{now.mean(b) / was, was})
			sum += was
		}
	}
	slices.SortFunc(all, func(a, b piece) int { return cmp.Compare(a.factor, b.factor) })
	upTo := 0.0
	for _, p := range all {
		if upTo += p.weight; upTo >= sum/2 {
			return p.factor
		}
	}
	return 1
}
