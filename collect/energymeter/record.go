package energymeter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/run"
)

// Record returns the record's section on the sources and consumers of the energy of a build's run:
// means over the repetitions. nil if none was measured.
func (m *Meter) Record(all []*Spent) *run.Energy {
	if len(all) == 0 {
		return nil
	}
	out := &run.Energy{Source: m.choice.From, Components: meanComponents(all), Wakelocks: meanWakelocks(all)}
	var updates []time.Duration
	for _, s := range all {
		updates = append(updates, s.update)
	}
	slices.Sort(updates)
	out.UpdateMS = float64(updates[len(updates)/2]) / float64(time.Millisecond)
	out.BatteryJ = m.batteryJoules(all[0])
	m.warnShared(all)
	out.Methods = m.attribute(all)
	return out
}

// batteryJoules returns the energy of a full battery: from the configuration, the device or, for a
// model, its profile.
func (m *Meter) batteryJoules(s *Spent) float64 {
	stated := []float64{m.settings.BatteryCapacity, s.capacity}
	if m.choice.Source == energy.Model {
		stated = append(stated, m.capacity)
	}
	return energy.FullBattery(energy.Capacity(stated...), 0)
}

func meanComponents(all []*Spent) []run.Component {
	sums := map[string]float64{}
	for _, s := range all {
		for _, part := range s.components {
			sums[journal.Line(part.Name)] += part.EnergyJ / float64(len(all))
		}
	}
	var out []run.Component
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, run.Component{Name: name, EnergyJ: max(sums[name], 0)})
	}
	slices.SortStableFunc(out, func(a, b run.Component) int { return cmp.Compare(b.EnergyJ, a.EnergyJ) })
	return out[:min(len(out), run.MaxComponents)]
}

func meanWakelocks(all []*Spent) []run.Wakelock {
	sums := map[string]run.Wakelock{}
	n := float64(len(all))
	for _, s := range all {
		for _, w := range s.wakelocks {
			name := journal.Line(w.Name)
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

// attribute computes each method's energy over all repetitions.
func (m *Meter) attribute(all []*Spent) *run.Methods {
	traces, cpu := Traces(all), make([]time.Duration, 0, len(all))
	if len(traces) == 0 {
		return nil
	}
	for _, s := range all {
		if s.trace != nil {
			cpu = append(cpu, s.cpu)
		}
	}
	result, err := methods.Attribute(traces, methods.Options{Measured: m.choice.Source.Measured(), CountedCPU: cpu})
	if err != nil {
		m.t.Journal.Warnf("the methods' energy: %v", err)
		return nil
	}
	for _, w := range result.Warnings {
		m.t.Journal.Warnf("the methods' energy: %s", w.Text)
	}
	return result.Record()
}

// Traces returns the samples of the methods, a trace for each repetition that has some.
func Traces(all []*Spent) []methods.Trace {
	var out []methods.Trace
	for _, s := range all {
		if s.trace != nil {
			out = append(out, *s.trace)
		}
	}
	return out
}

// warnShared warns of events that were shorter than the interval between readings: an update's
// energy is split evenly over its time, whichever event used it.
func (m *Meter) warnShared(all []*Spent) {
	const most = 5 // names in the warning
	var names []string
	var update time.Duration
	for _, s := range all {
		fine := s.timed.Update()
		for i, b := range s.spans() {
			if i == 0 || b.to <= b.from || b.to-b.from >= fine {
				continue
			}
			if name := strconv.Quote(journal.Line(s.events[i-1].Name)); !slices.Contains(names, name) {
				names, update = append(names, name), max(update, fine)
			}
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", more))
	}
	if len(names) > 0 {
		m.t.Journal.Warnf("shorter than the time between two readings of the power (%v): %s: what such an event took is shared out evenly between it and its neighbours", update.Round(time.Millisecond), strings.Join(names, ", "))
	}
}
