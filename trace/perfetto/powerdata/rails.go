package powerdata

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// rails are the power rails of a trace (power_rails.proto).
type rails struct {
	list      []rail
	byIndex   map[railKey]int
	samples   int
	unknown   int // readings of undescribed rails
	malformed int
}

type rail struct {
	Rail
	index    uint32
	readings []stamped[RailSample]
}

type railKey struct {
	machine uint32
	session uint64
	index   uint32
}

// read reads a PowerRails. at is the packet's time.
func (r *rails) read(d *decoder, p packets.Packet, at packets.Stamp) {
	// Descriptions count before readings.
	m := messages.PowerRailsOf(p.Data)
	key := railKey{machine: p.Machine, session: m.SessionUUID}
	for description := range m.RailDescriptor.Each {
		r.describe(d, description, key)
	}
	for reading := range m.EnergyData.Each {
		r.reading(d, reading, key, at)
	}
}

// describe reads a RailDescriptor. A rail that is described again stays the same
// one, as long as its name does.
func (r *rails) describe(d *decoder, message []byte, key railKey) {
	m := messages.RailOf(message)
	key.index = m.Index
	one := rail{Rail: Rail{
		Machine: key.machine, Session: key.session, Name: packets.Name(m.RailName), Subsystem: packets.Name(m.SubsysName), SampleHz: m.SamplingRate,
	}}
	if known, ok := r.byIndex[key]; ok && r.list[known].Name == one.Name {
		return
	}
	if !d.Room("power rails", len(r.list), maxSeries) {
		return
	}
	one.index, one.Supply = key.index, supplyOf(one.Name)
	r.byIndex[key] = len(r.list)
	r.list = append(r.list, one)
}

// reading reads an EnergyData. Its own time is on CLOCK_BOOTTIME whatever the packet's clock;
// without one, the packet's time counts.
func (r *rails) reading(d *decoder, message []byte, key railKey, at packets.Stamp) {
	m := messages.RailEnergyOf(message)
	key.index = m.Index
	if m.HasTimestampMS {
		at = packets.NoStamp
		if m.TimestampMS <= math.MaxInt64/uint64(time.Millisecond) {
			boottime := d.Clocks.Place(packets.KeyOf(key.machine, 0, packets.ClockBoottime))
			at = packets.Stamp{Clock: boottime, NS: int64(m.TimestampMS) * int64(time.Millisecond)}
		}
	}
	place, known := r.byIndex[key]
	switch {
	case !m.HasEnergy:
		r.malformed++
	case !known:
		r.unknown++
	case d.Room("readings of power rails", r.samples, maxSamples):
		r.samples++
		one := &r.list[place]
		one.readings = append(one.readings, stamped[RailSample]{d.Clocks.Seen(at), RailSample{MicroWattSeconds: m.Energy}})
	}
}

func (r *rails) place(v *packets.Conversion) []Rail {
	var out []Rail
	for _, one := range r.list {
		one.Samples = placeSamples(v, one.readings)
		out = append(out, one.Rail)
	}
	return out
}

func placeSamples(v *packets.Conversion, readings []stamped[RailSample]) []RailSample {
	return placed(v, readings, func(s *RailSample, at time.Duration) { s.Time = at })
}

// Energy returns the increase of the rail's counter from its first reading to its last, in joules,
// and the time between them. A counter that decreases was reset: its increase across the reset is
// unknown and not counted, and neither is the time.
func (r Rail) Energy() (joules float64, over time.Duration) { return gained(r.Samples) }

// Energy is as that of a Rail.
func (c Consumer) Energy() (joules float64, over time.Duration) { return gained(c.Samples) }

// Energy is as that of a Rail.
func (u UIDEnergy) Energy() (joules float64, over time.Duration) { return gained(u.Samples) }

func gained(samples []RailSample) (joules float64, over time.Duration) {
	var sum float64 // µWs
	for i := 1; i < len(samples); i++ {
		a, b := samples[i-1], samples[i]
		if b.MicroWattSeconds < a.MicroWattSeconds {
			continue
		}
		sum += float64(b.MicroWattSeconds - a.MicroWattSeconds)
		over += b.Time - a.Time
	}
	return sum / 1e6, over
}

// updates returns the times between two readings of which the second is new: the monitor may be
// read more often than it updates.
func updates(samples []RailSample) []time.Duration {
	var out []time.Duration
	last := 0
	for i := 1; i < len(samples); i++ {
		if samples[i].MicroWattSeconds != samples[last].MicroWattSeconds && samples[i].Time > samples[last].Time {
			out = append(out, samples[i].Time-samples[last].Time)
			last = i
		}
	}
	return out
}
