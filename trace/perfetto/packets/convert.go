package packets

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// trunk returns the clock of a machine's packets that do not state one.
func (c *Clocks) trunk(machine uint32) int32 {
	id := c.primary[machine]
	if id == ClockDefault {
		id = ClockBoottime
	}
	return c.Place(KeyOf(machine, 0, id))
}

// resolve returns the clock itself, or the one that the default clock stands for.
func (c *Clocks) resolve(at int32) int32 {
	if key := c.list[at].key; key.id == ClockDefault {
		if trunk := c.trunk(key.machine); trunk >= 0 {
			return trunk
		}
	}
	return at
}

// Target returns the conversion to CLOCK_MONOTONIC of a machine, or to its trunk clock if nothing
// leads from that to CLOCK_MONOTONIC.
func (c *Clocks) Target(machine uint32) *Conversion {
	// All clocks must have their index before paths are searched.
	for _, k := range c.list {
		c.trunk(k.key.machine)
	}
	trunk, monotonic := c.trunk(machine), c.Place(KeyOf(machine, 0, ClockMonotonic))
	if trunk < 0 {
		return nil
	}
	if monotonic >= 0 {
		if v := c.to(monotonic); v.next[trunk] >= 0 {
			return v
		}
	}
	return c.to(trunk)
}

// Own returns the conversion to a machine's own clock, that of packets which state none; nil if
// there is no room for it.
func (c *Clocks) Own(machine uint32) *Conversion {
	for _, k := range c.list {
		c.trunk(k.key.machine)
	}
	if trunk := c.trunk(machine); trunk >= 0 {
		return c.to(trunk)
	}
	return nil
}

// Span returns the first and the last time of all stamps that can be converted.
func (c *Clocks) Span(v *Conversion) (start, end time.Duration) {
	found := false
	for i, k := range c.list {
		if !k.used {
			continue
		}
		first, ok := v.try(Stamp{int32(i), k.first})
		if !ok {
			continue
		}
		last, _ := v.try(Stamp{int32(i), k.end})
		if !found {
			found, start, end = true, first, last
		}
		start, end = min(start, first), max(end, last)
	}
	return start, end
}

// Suspended returns the gain of a machine's CLOCK_BOOTTIME on its CLOCK_MONOTONIC from the first
// snapshot with both to the last one.
func (c *Clocks) Suspended(machine uint32) time.Duration {
	boottime, monotonic := c.Place(KeyOf(machine, 0, ClockBoottime)), c.Place(KeyOf(machine, 0, ClockMonotonic))
	var leads []int64
	for _, s := range c.snapshots {
		at := map[int32]int64{}
		for _, r := range s {
			at[r.Clock] = r.NS
		}
		b, hasB := at[boottime]
		m, hasM := at[monotonic]
		if hasB && hasM {
			leads = append(leads, b-m)
		}
	}
	// The two clocks are read in succession, some microseconds apart.
	const jitter = int64(time.Millisecond)
	if len(leads) < 2 || leads[len(leads)-1]-leads[0] < jitter {
		return 0
	}
	return time.Duration(leads[len(leads)-1] - leads[0])
}

// Conversion converts every clock to one.
type Conversion struct {
	clocks *Clocks
	Target int32
	// next is the next clock on the path to the target, -1 for a clock without a path.
	next []int32
	// points are pairs of readings of a clock and its next, in chronological order.
	points [][]point
	Failed map[int32]int // stamps that could not be converted, by clock
}

type point struct{ from, to int64 }

// to finds the shortest path from every clock to one, over snapshots that have both ends of each
// step. A clock that is more than maxSteps away has no path: each of its times would take that many
// steps.
func (c *Clocks) to(target int32) *Conversion {
	v := &Conversion{clocks: c, Target: target, next: make([]int32, len(c.list)), points: make([][]point, len(c.list)), Failed: map[int32]int{}}
	beside := c.neighbours()
	for i := range v.next {
		v.next[i] = -1
	}
	v.next[target] = target
	for reached, steps := []int32{target}, 0; len(reached) > 0 && steps < maxSteps; steps++ {
		var further []int32
		for _, one := range reached {
			for _, n := range beside[one] {
				if v.next[n] < 0 {
					v.next[n] = one
					further = append(further, n)
				}
			}
		}
		reached = further
	}
	for _, s := range c.snapshots {
		for _, a := range s {
			for _, b := range s {
				if a.Clock != target && v.next[a.Clock] == b.Clock {
					v.points[a.Clock] = append(v.points[a.Clock], point{a.NS, b.NS})
				}
			}
		}
	}
	for _, p := range v.points {
		slices.SortStableFunc(p, func(a, b point) int { return cmp.Compare(a.from, b.from) })
	}
	return v
}

// neighbours lists the clocks that share a snapshot with each.
func (c *Clocks) neighbours() [][]int32 {
	out := make([][]int32, len(c.list))
	known := map[[2]int32]bool{}
	for _, s := range c.snapshots {
		for _, a := range s {
			for _, b := range s {
				if pair := [2]int32{a.Clock, b.Clock}; a.Clock != b.Clock && !known[pair] {
					known[pair] = true
					out[a.Clock] = append(out[a.Clock], b.Clock)
				}
			}
		}
	}
	return out
}

// Time converts a stamp to the target clock; false if there is no path. Each step uses the last
// snapshot that is not later, or the first one.
func (v *Conversion) Time(s Stamp) (time.Duration, bool) {
	t, ok := v.try(s)
	if !ok {
		v.Failed[s.Clock]++
	}
	return t, ok
}

// try is Time without counting failures.
func (v *Conversion) try(s Stamp) (time.Duration, bool) {
	if s.Clock < 0 || int(s.Clock) >= len(v.next) {
		return 0, false
	}
	at, ns := v.clocks.resolve(s.Clock), s.NS
	for at != v.Target {
		points := v.points[at]
		if len(points) == 0 {
			return 0, false
		}
		ns = step(points, ns, v.clocks.list[at].key.id == ClockFtrace)
		if ns > MaxTime || ns < -MaxTime {
			return 0, false
		}
		at = v.next[at]
	}
	return time.Duration(ns), true
}

// step converts a time from one clock to the next. If the first clock gained on the second until
// the next snapshot (CLOCK_BOOTTIME on CLOCK_MONOTONIC, when the device was suspended), times do
// not exceed that snapshot, so that their order stays. The kernel's clock, which only drifts, is
// handled as in Perfetto's trace processor (ClockSynchronizer::Convert).
func step(points []point, ns int64, drifts bool) int64 {
	i := max(sort.Search(len(points), func(i int) bool { return points[i].from > ns })-1, 0)
	out := points[i].to + ns - points[i].from
	if !drifts && i+1 < len(points) && points[i+1].to >= points[i].to {
		out = min(out, points[i+1].to)
	}
	return out
}
