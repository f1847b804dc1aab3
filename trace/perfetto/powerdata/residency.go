package powerdata

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// residency is the time in power states (android_entity_state_residency.proto).
type residency struct {
	names   map[stateKey][2]string // entity and state
	byName  map[stateKey]int
	list    []stateTime
	samples int
	unknown int
}

type stateKey struct {
	machine       uint32
	entity, state int32
}

type stateTime struct {
	StateTime
	readings []stamped[ResidencySample]
}

// read reads an EntityStateResidency: descriptions of states, readings, or both.
func (r *residency) read(d *decoder, p packets.Packet, at packets.Stamp) {
	m := messages.ResidencyOf(p.Data)
	for description := range m.PowerEntityState.Each {
		r.describe(d, description, p.Machine)
	}
	for reading := range m.Residency.Each {
		r.reading(d, reading, p.Machine, at)
	}
}

func (r *residency) describe(d *decoder, message []byte, machine uint32) {
	m := messages.PowerStateOf(message)
	key := stateKey{machine, m.EntityIndex, m.StateIndex}
	if _, known := r.names[key]; known || d.Room("power states", len(r.names), maxSeries) {
		r.names[key] = [2]string{packets.Name(m.EntityName), packets.Name(m.StateName)}
	}
}

func (r *residency) reading(d *decoder, message []byte, machine uint32, at packets.Stamp) {
	m := messages.StateResidencyOf(message)
	key := stateKey{machine, m.EntityIndex, m.StateIndex}
	sample := ResidencySample{
		Total:   time.Duration(min(m.TotalTimeInStateMS, math.MaxInt64/uint64(time.Millisecond))) * time.Millisecond,
		Entries: m.TotalStateEntryCount,
	}
	names, known := r.names[key]
	if !known {
		r.unknown++
		return
	}
	place, listed := r.byName[key]
	if !listed {
		place = len(r.list)
		r.byName[key] = place
		r.list = append(r.list, stateTime{StateTime: StateTime{Entity: names[0], State: names[1]}})
	}
	if d.Room("times in power states", r.samples, maxSamples) {
		r.samples++
		one := &r.list[place]
		one.readings = append(one.readings, stamped[ResidencySample]{at, sample})
	}
}

func (r *residency) place(v *packets.Conversion) []StateTime {
	var out []StateTime
	for _, one := range r.list {
		one.Samples = placed(v, one.readings, func(s *ResidencySample, at time.Duration) { s.Time = at })
		out = append(out, one.StateTime)
	}
	return out
}
