package model

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/apkgate/apkgate/trace/powerprofile"
)

// cpuModel is the currents of the CPU, in mA (CpuPowerCalculator, IdlePowerCalculator).
type cpuModel struct {
	clusters []cluster
	active   float64 // while any core runs
	base     float64 // always
	awake    float64 // while the CPU is not suspended
}

// cluster is one group of cores.
type cluster struct {
	cores  int
	steps  []step // slowest first, at least one
	active float64
	// numbered is set if the profile numbers the steps from 1 and leaves their speeds to the device
	// (Android 15).
	numbered bool
}

// step is a speed and the current of one core at it.
type step struct{ khz, ma float64 }

func newCPUModel(p powerprofile.Profile) cpuModel {
	var m cpuModel
	for _, c := range p.CPU {
		steps := make([]step, min(len(c.SpeedsKHz), len(c.PowerMA)))
		for i := range steps {
			steps[i] = step{c.SpeedsKHz[i], c.PowerMA[i]}
		}
		if len(steps) == 0 {
			continue
		}
		slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.khz, b.khz) })
		made := cluster{cores: max(c.Cores, 1), steps: steps}
		if c.ClusterMA != nil {
			made.active = *c.ClusterMA
		}
		m.clusters = append(m.clusters, made)
	}
	for _, policy := range p.Policies {
		made := cluster{cores: 1, numbered: true}
		for i, ma := range policy.StepMA {
			made.steps = append(made.steps, step{float64(i + 1), ma})
		}
		if policy.PowerMA != nil {
			made.active = *policy.PowerMA
		}
		if len(made.steps) > 0 {
			m.clusters = append(m.clusters, made)
		}
	}
	m.active, _ = p.Value("cpu.active")
	// Since Android 9 cpu.suspend is the base and cpu.idle is added to it; before, cpu.idle was the
	// base and cpu.awake was added.
	if suspend, ok := p.Value("cpu.suspend"); ok {
		m.base, m.awake = suspend, first(p, "cpu.idle")
	} else {
		m.base, m.awake = first(p, "cpu.idle"), first(p, "cpu.awake")
	}
	return m
}

// at returns the current of one core at a speed: interpolated between the two steps around it, that
// of the slowest or fastest step beyond them.
func (c cluster) at(khz float64) float64 {
	i := slices.IndexFunc(c.steps, func(s step) bool { return s.khz >= khz })
	switch {
	case i < 0:
		return c.steps[len(c.steps)-1].ma
	case i == 0 || c.steps[i].khz == khz:
		return c.steps[i].ma
	}
	a, b := c.steps[i-1], c.steps[i]
	return a.ma + (b.ma-a.ma)*(khz-a.khz)/(b.khz-a.khz)
}

// middle returns the current of one core at the middle step, which counts if the speed is unknown.
func (c cluster) middle() float64 { return c.steps[len(c.steps)/2].ma }

// Work is the activity of a cluster's cores over some time.
type Work struct {
	// Busy is summed over the cores.
	Busy time.Duration
	// AtSpeed weighs the speeds in kHz; nil if unknown.
	AtSpeed map[int]time.Duration
}

// charge returns mA × s of the CPU over a span: each core at its speed, and the shared part.
func (m cpuModel) charge(work []Work, span time.Duration) float64 {
	return m.cores(work) + m.shared(work, span)
}

// cores returns mA × s of the cores alone, each at its speed.
func (m cpuModel) cores(work []Work) float64 {
	total := 0.0
	for i, w := range m.fit(work) {
		total += m.clusters[i].current(w.AtSpeed) * w.Busy.Seconds()
	}
	return total
}

// shared returns mA × s of each cluster while one of its cores runs, and of the whole CPU while any
// core does. How far cores run at the same time is unknown, except that they run no longer than the
// span.
func (m cpuModel) shared(work []Work, span time.Duration) float64 {
	total, busy := 0.0, time.Duration(0)
	for i, w := range m.fit(work) {
		busy += w.Busy
		total += m.clusters[i].active * min(w.Busy, span).Seconds()
	}
	return total + m.active*min(busy, span).Seconds()
}

// current returns the mean current of a busy core, in mA, with the speeds weighed by their times.
func (c cluster) current(at map[int]time.Duration) float64 {
	var sum, weight float64
	for i, khz := range slices.Sorted(maps.Keys(at)) {
		speed := float64(khz)
		if c.numbered {
			speed = float64(i + 1)
		}
		sum += c.at(speed) * at[khz].Seconds()
		weight += at[khz].Seconds()
	}
	if weight <= 0 {
		return c.middle()
	}
	return sum / weight
}

// fit assigns work to each of the profile's clusters. If the device has other clusters than the
// profile, speeds are meaningless, and the work is divided by the clusters' cores.
func (m cpuModel) fit(work []Work) []Work {
	if len(work) == len(m.clusters) {
		return work
	}
	busy := totalBusy(work)
	cores := 0
	for _, c := range m.clusters {
		cores += c.cores
	}
	out := make([]Work, len(m.clusters))
	for i, c := range m.clusters {
		out[i].Busy = time.Duration(float64(busy) * float64(c.cores) / float64(cores))
	}
	return out
}
