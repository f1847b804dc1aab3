package trend

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// costs are what a change point costs, and a slope in addition, as multiples of the logarithm of the
// number of nights.
type costs struct{ change, slope float64 }

// usual were found by simulation (TestSweepOfCosts, docs/evaluation/trend.md).
var usual = costs{change: 4, slope: 1}

const (
	// leastNights is how many nights form a level: two bad ones are none. leastMoving is how many
	// show a drift.
	leastNights = 3
	leastMoving = 14
	// clipAt is the distance in standard deviations beyond which a single night is wild, and
	// clipWidth how many nights around it show where it should be.
	clipAt    = 3.0
	clipWidth = 7
	// polishing limits the passes in which levels of devices and of nights are fitted in turn.
	polishing = 10
)

// number returns the series of a number.
func (h *history) number(cell run.Cell) Number {
	m, _ := h.catalogue.Lookup(cell.Metric)
	n := Number{Event: cell.Event, Metric: m, Name: m.Name, Unit: m.Unit, Better: m.Direction.String()}
	all := h.values(cell, m)
	n.Fleet = h.series(all, m, cell)
	n.Fleet.Device = -1
	if len(h.Devices) < 2 {
		return n
	}
	if h.points += len(all.at) + len(h.beside.runs); h.points > mostPoints {
		h.Abridged++
		return n
	}
	for d := range h.Devices {
		own := all
		own.at = slices.DeleteFunc(slices.Clone(all.at), func(v value) bool { return v.device != d })
		if len(own.at) > 0 {
			s := h.series(own, m, cell)
			s.Device = d
			n.Devices = append(n.Devices, s)
		}
	}
	return n
}

// values are a number's values on the judged scale, by night.
type values struct {
	scale metric.Scale
	ways  map[string]int
	at    []value
}

// value is what a night shows on a device, measured in one way.
type value struct {
	night, device, way int
	y                  float64 // the mean over its runs
	runs               int
}

func (h *history) values(cell run.Cell, m metric.Metric) values {
	column, least := run.NewColumn(cell), math.Inf(1)
	raw := make([]float64, len(h.runs))
	for i, r := range h.runs {
		x, ok := column.In(r.Cells)
		if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
			x = math.NaN()
		} else {
			least = min(least, x)
		}
		raw[i] = x
	}
	out := values{scale: m.ScaleOf(least), ways: map[string]int{}}
	places := map[[3]int]int{}
	for i, x := range raw {
		if math.IsNaN(x) {
			continue
		}
		name := m.Way(h.runs[i].Context)
		way, known := out.ways[name]
		if !known {
			way = len(out.ways)
			out.ways[name] = way
		}
		key := [3]int{h.nights[i], h.devices[i], way}
		at, known := places[key]
		if !known {
			at = len(out.at)
			places[key] = at
			out.at = append(out.at, value{night: key[0], device: key[1], way: way})
		}
		v := &out.at[at]
		v.y = (v.y*float64(v.runs) + m.On(out.scale, x)) / float64(v.runs+1)
		v.runs++
	}
	slices.SortStableFunc(out.at, func(a, b value) int { return a.night - b.night })
	return out
}

// series finds the levels of the values.
func (h *history) series(v values, m metric.Metric, cell run.Cell) Series {
	p := polish(v)
	out := Series{Points: []Point{}, Levels: []Level{}, Changes: []Change{}, Judged: h.judged(v, p, m, cell)}
	for i, night := range p.nights {
		out.Points = append(out.Points, Point{night, gate.Finite(m.Back(v.scale, p.middle+p.effects[i]))})
	}
	least := h.least(m, cell, v.scale, p.middle)
	times := make([]float64, len(p.nights))
	for i, night := range p.nights {
		times[i] = h.Nights[night].Started.Sub(h.Nights[0].Started).Hours() / 24
	}
	segments := h.costs.levels(times, p.effects, p.weights, least)
	back := func(y float64) float64 { return gate.Finite(m.Back(v.scale, p.middle+y)) }
	for i, s := range segments {
		out.Levels = append(out.Levels, Level{
			From: p.nights[s.From], To: p.nights[s.To-1], Nights: s.To - s.From, Start: back(s.Start), End: back(s.End),
		})
		if i > 0 && math.Abs(s.Start-segments[i-1].End) >= least {
			before := back(segments[i-1].End)
			shift, share := gate.Change(m, before, s.Start-segments[i-1].End, v.scale)
			out.Changes = append(out.Changes, h.change(m, Change{
				Last: p.nights[s.From-1], First: p.nights[s.From], Before: before, After: back(s.Start), Shift: shift, Change: share,
			}))
		}
	}
	return out
}

// levels splits nights' values, which are on the judged scale, into levels that differ by least
// or more.
func (c costs) levels(times, values, weights []float64, least float64) []stat.Segment {
	if len(values) == 0 {
		return nil
	}
	sd := max(stat.StepNoise(values), least/10)
	clipped := stat.Winsorized(values, clipWidth, clipAt*sd)
	price := math.Log(max(float64(len(values)), 10))
	return stat.Joined(stat.Segments(times, clipped, weights, sd, stat.Segmentation{
		Change: c.change * price, Slope: c.slope * price, Least: leastNights, LeastSloped: leastMoving,
	}), times, clipped, weights, least)
}

// least returns the smallest change that matters, on the judged scale.
func (h *history) least(m metric.Metric, cell run.Cell, scale metric.Scale, middle float64) float64 {
	share := h.policy.ForCell(cell).MinChange
	switch {
	case scale != metric.Linear:
		return max(m.Step(share), 1e-9)
	case m.Ratio:
		return max(share, m.Resolution, 1e-9)
	case m.Signed:
		return max(m.Resolution, 1e-9)
	}
	return max(share*math.Abs(middle), m.Resolution, 1e-9)
}

// change adds the direction, and what was decided about the runs at the step.
func (h *history) change(m metric.Metric, c Change) Change {
	c.Direction = gate.ToImprovement
	if gate.Worsening(m, c.Before, c.Shift, c.Change) > 0 {
		c.Direction = gate.ToRegression
	}
	for night := max(0, c.First-nearStep); night <= min(len(h.Nights)-1, c.First+nearStep); night++ {
		for _, d := range h.Nights[night].Decisions {
			if c.Decision == nil || d.NewLevel && !c.Decision.NewLevel {
				c.Decision = &d
			}
		}
	}
	return c
}

// nearStep is how many nights a decision may be from the step that it is about.
const nearStep = 2

// polished is the two-way fit of devices and nights.
type polished struct {
	nights  []int              // with values, in order
	effects []float64          // of each of them, how far all devices lie off their own levels
	weights []float64          // of each of them, in nights of the usual number of devices
	middle  float64            // the mean level of the devices
	own     map[[2]int]float64 // the level of each device, by the way in which it is measured
}

// polish fits a level of each device, and an effect of each night, by medians in turn (Tukey's median
// polish): a night in which a device is missing shows what the others show. Devices that were never
// measured in one night with others, or before and after, tell nothing of the difference.
func polish(v values) polished {
	var p polished
	byNight, byDevice := map[int][]int{}, map[[2]int][]int{}
	for i, x := range v.at {
		if len(byNight[x.night]) == 0 {
			p.nights = append(p.nights, x.night)
		}
		byNight[x.night] = append(byNight[x.night], i)
		byDevice[[2]int{x.device, x.way}] = append(byDevice[[2]int{x.device, x.way}], i)
	}
	rest := make([]float64, len(v.at))
	for i, x := range v.at {
		rest[i] = x.y
	}
	p.effects = make([]float64, len(p.nights))
	center := func(of []int) float64 {
		ys := make([]float64, len(of))
		for k, i := range of {
			ys[k] = rest[i]
		}
		middle := stat.Median(ys)
		for _, i := range of {
			rest[i] -= middle
		}
		return middle
	}
	passes := polishing
	if len(byDevice) == 1 {
		passes = 1
	}
	for range passes {
		for _, of := range byDevice { // they are disjoint, so that their order makes no difference
			center(of)
		}
		for k, night := range p.nights {
			p.effects[k] += center(byNight[night])
		}
	}
	p.level(v, byDevice, byNight)
	return p
}

// level computes the mean level of the devices and the weights of the nights. The noise of a night
// is half its own and half that of its devices, so that four phones count for more than one, though
// not four times.
func (p *polished) level(v values, byDevice map[[2]int][]int, byNight map[int][]int) {
	place := map[int]int{}
	for k, night := range p.nights {
		place[night] = k
	}
	var means []float64
	p.own = map[[2]int]float64{}
	for device, of := range byDevice {
		mean := 0.0
		for _, i := range of {
			mean += (v.at[i].y - p.effects[place[v.at[i].night]]) / float64(len(of))
		}
		p.own[device] = mean
		means = append(means, mean)
	}
	slices.Sort(means)
	for _, x := range means {
		p.middle += x / float64(len(means))
	}
	sum := 0.0
	for _, night := range p.nights {
		n := float64(len(byNight[night]))
		p.weights = append(p.weights, 2*n/(n+1))
		sum += 2 * n / (n + 1)
	}
	for k := range p.weights {
		p.weights[k] *= float64(len(p.weights)) / sum
	}
}
