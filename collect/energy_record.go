package collect

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/run"
)

// energyRecord says where the joules of the run came from and went: means over
// the repetitions. nil where none were measured.
func (c *collector) energyRecord() *run.Energy {
	var all []*spent
	for _, m := range c.measured {
		if m.energy != nil {
			all = append(all, m.energy)
		}
	}
	if len(all) == 0 {
		return nil
	}
	out := &run.Energy{Source: c.meter.choice.From, Components: meanComponents(all), Wakelocks: meanWakelocks(all)}
	var updates []time.Duration
	for _, s := range all {
		updates = append(updates, s.update)
	}
	slices.Sort(updates)
	out.UpdateMS = milliseconds(updates[len(updates)/2])
	out.BatteryJ = c.batteryJoules(all[0])
	c.tellShared()
	out.Methods = c.attribute(all)
	return out
}

// batteryJoules is what a full battery holds: as the user says, the device, or
// for a model its profile.
func (c *collector) batteryJoules(s *spent) float64 {
	stated := []float64{c.meter.settings.BatteryCapacity, s.capacity}
	if c.meter.choice.Source == energy.Model {
		stated = append(stated, c.meter.capacity)
	}
	return energy.FullBattery(energy.Capacity(stated...), 0)
}

func meanComponents(all []*spent) []run.Component {
	sums := map[string]float64{}
	for _, s := range all {
		for _, part := range s.components {
			sums[clip(part.Name)] += part.EnergyJ / float64(len(all))
		}
	}
	var out []run.Component
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, run.Component{Name: name, EnergyJ: max(sums[name], 0)})
	}
	slices.SortStableFunc(out, func(a, b run.Component) int { return cmp.Compare(b.EnergyJ, a.EnergyJ) })
	return out[:min(len(out), run.MaxComponents)]
}

func meanWakelocks(all []*spent) []run.Wakelock {
	sums := map[string]run.Wakelock{}
	n := float64(len(all))
	for _, s := range all {
		for _, w := range s.wakelocks {
			name := clip(w.Name)
			sum := sums[name]
			sums[name] = run.Wakelock{Name: name, HeldMS: sum.HeldMS + w.HeldMS/n, ScreenOffMS: sum.ScreenOffMS + w.ScreenOffMS/n}
		}
	}
	var out []run.Wakelock
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, sums[name])
	}
	slices.SortStableFunc(out, func(a, b run.Wakelock) int { return cmp.Compare(b.HeldMS, a.HeldMS) })
	return out[:min(len(out), run.MaxWakelocks)]
}

// attribute gives each method its energy over all repetitions.
func (c *collector) attribute(all []*spent) *run.Methods {
	traces, cpu := c.traces(), make([]time.Duration, 0, len(all))
	if len(traces) == 0 {
		return nil
	}
	for _, s := range all {
		if s.trace != nil {
			cpu = append(cpu, s.cpu)
		}
	}
	result, err := methods.Attribute(traces, methods.Options{Measured: c.meter.choice.Source.Measured(), CountedCPU: cpu})
	if err != nil {
		c.warnf("the methods' energy: %v", err)
		return nil
	}
	for _, w := range result.Warnings {
		c.warnf("the methods' energy: %s", w.Text)
	}
	return result.Record()
}

// traces are the samples of the methods, a trace for each repetition.
func (c *collector) traces() []methods.Trace {
	var out []methods.Trace
	for _, m := range c.measured {
		if m.energy != nil && m.energy.trace != nil {
			out = append(out, *m.energy.trace)
		}
	}
	return out
}
