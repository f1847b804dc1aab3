package hotspots

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/run"
)

// tally is a method in one run: all frames of one identity. Its name is the frame's where there is
// only one, otherwise their common part; "" where the run doesn't list it.
type tally struct {
	name, file, kind string
	local, nonLocal  Joules
	cpuMS            float64 // of its own code
	blurred          bool    // a reading of the sensor covers a longer time
}

func (t tally) total() Joules { return sum(t.local, t.nonLocal) }

func sum(a, b Joules) Joules { return Joules{a.J + b.J, a.LowJ + b.LowJ, a.HighJ + b.HighJ} }

// sampled is a run's methods and their tallies.
type sampled struct {
	methods *run.Methods
	tallies map[identity]tally
}

// of returns a method's tally, even where the run doesn't list it.
func (s sampled) of(id identity) tally {
	if t, ok := s.tallies[id]; ok {
		return t
	}
	return tally{local: unlisted(s.methods), nonLocal: unlisted(s.methods)}
}

// asRead returns methods with the joules by the power that was read at their samples, where the
// record has others.
func asRead(m *run.Methods) *run.Methods {
	if m.Power == "" {
		return m
	}
	read := func(c run.Cost) run.Cost {
		c.EnergyJ, c.LowJ, c.HighJ = c.ReadJ, c.ReadLowJ, c.ReadHighJ
		return c
	}
	out := *m
	out.Power, out.EnergyJ = "", m.ReadJ
	out.List, out.Calls = slices.Clone(m.List), slices.Clone(m.Calls)
	for i := range out.List {
		f := &out.List[i]
		f.Local, f.NonLocal = read(f.Local), read(f.NonLocal)
	}
	for i := range out.Calls {
		out.Calls[i].EnergyJ = out.Calls[i].ReadJ
	}
	return &out
}

func tallyOf(m *run.Methods) map[identity]tally {
	out := map[identity]tally{}
	for _, f := range m.List {
		id := identify(f.Name, f.File, f.Kind)
		t, known := out[id]
		if !known {
			t = tally{name: f.Name, file: f.File, kind: f.Kind}
		}
		if t.name != f.Name {
			t.name = id.name
		}
		t.local, t.nonLocal = sum(t.local, cost(m, f.Local)), sum(t.nonLocal, cost(m, f.NonLocal))
		t.cpuMS += f.Local.CPUMS
		t.blurred = t.blurred || f.Local.Blurred
		out[id] = t
	}
	for id, t := range out {
		if t.local.HighJ == 0 {
			t.local = unhit(m)
		}
		if t.nonLocal.HighJ == 0 {
			t.nonLocal = unhit(m)
		}
		out[id] = t
	}
	return out
}

// cost returns a cost with its interval. Where the record has none, the number of samples gives
// only an upper bound.
func cost(m *run.Methods, c run.Cost) Joules {
	if c.LowJ != 0 || c.HighJ != 0 || c.Samples == 0 {
		return Joules{c.EnergyJ, c.LowJ, c.HighJ}
	}
	return Joules{J: c.EnergyJ, HighJ: c.EnergyJ / float64(c.Samples) * most(c.Samples, m.Level)}
}

// unhit returns the bound of the energy of a method without samples.
func unhit(m *run.Methods) Joules {
	samples := most(0, m.Level) * together(m)
	return Joules{HighJ: min(m.EnergyJ, m.EnergyJ/float64(max(m.Samples, 1))*samples)}
}

// together returns how many samples come at a time, at least 1: a method that runs for 40 ms is hit
// 20 times in a row at 500 Hz, or not at all. It follows from the listed intervals compared with
// those of independent samples, the median over methods.
func together(m *run.Methods) float64 {
	z := deviations(m.Level)
	var all []float64
	for _, f := range m.List {
		c := f.Local
		if c.Samples == 0 || c.EnergyJ <= 0 || c.HighJ <= c.LowJ {
			continue
		}
		// The score interval of a count with the relative variance v has, relative
		// to the count, the half width √(k + k²/4) with k = z²·v.
		half := (c.HighJ - c.LowJ) / (2 * c.EnergyJ)
		k := 2 * (math.Hypot(1, half) - 1)
		all = append(all, k/(z*z)*float64(c.Samples))
	}
	if len(all) == 0 {
		return 1
	}
	slices.Sort(all)
	return max(1, all[len(all)/2])
}

// unlisted returns the bound of the energy of a method that a run doesn't list: no sample hit it,
// or it took too little for a list that is cut.
func unlisted(m *run.Methods) Joules {
	j := unhit(m)
	if len(m.List) >= run.MaxMethods {
		last := m.List[len(m.List)-1]
		j.HighJ = max(j.HighJ, last.Local.EnergyJ+last.NonLocal.EnergyJ)
	}
	return j
}

// most returns the largest count that is consistent with n observed ones, at the level of a
// two-sided interval: the score interval of a Poisson count.
func most(n int, level float64) float64 {
	z := deviations(level)
	return float64(n) + z*z/2 + z*math.Sqrt(float64(n)+z*z/4)
}

// deviations returns the standard deviations to each side at a level; 95 % for an invalid one.
func deviations(level float64) float64 {
	if !(level > 0 && level < 1) {
		level = 0.95
	}
	return math.Sqrt2 * math.Erfinv(level)
}

// pooled is a method over the runs of the base.
type pooled struct {
	name, file, kind       string
	local, nonLocal, total Joules
	cpuMS                  float64
	blurred                bool
}

// pool returns the mean over the base's runs, within the hull of their intervals: runs differ by
// more than sampling does. There is at least one.
func pool(id identity, base []sampled) pooled {
	var p pooled
	locals, nonLocals, totals := make([]Joules, len(base)), make([]Joules, len(base)), make([]Joules, len(base))
	for i, b := range base {
		t := b.of(id)
		if p.name == "" {
			p.name, p.file, p.kind = t.name, t.file, t.kind
		}
		locals[i], nonLocals[i], totals[i] = t.local, t.nonLocal, t.total()
		p.cpuMS += t.cpuMS / float64(len(base))
		p.blurred = p.blurred || t.blurred
	}
	p.local, p.nonLocal, p.total = hull(locals), hull(nonLocals), hull(totals)
	return p
}

// hull returns the mean of some energies, from the lowest low to the highest high.
func hull(all []Joules) Joules {
	out := all[0]
	for _, j := range all[1:] {
		out = Joules{out.J + j.J, min(out.LowJ, j.LowJ), max(out.HighJ, j.HighJ)}
	}
	out.J /= float64(len(all))
	return out
}
