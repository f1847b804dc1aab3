package powerdata

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/field"
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
	for f := packets.FieldsOf(p.Data); f.Next(); {
		if f.Number == field.ResidencyPowerEntityState {
			r.describe(d, f.Bytes, p.Machine)
		}
	}
	for f := packets.FieldsOf(p.Data); f.Next(); {
		if f.Number == field.ResidencyResidency {
			r.reading(d, f.Bytes, p.Machine, at)
		}
	}
}

func (r *residency) describe(d *decoder, message []byte, machine uint32) {
	key := stateKey{machine: machine}
	var names [2]string
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.PowerStateEntityIndex:
			key.entity = int32(f.Value)
		case field.PowerStateStateIndex:
			key.state = int32(f.Value)
		case field.PowerStateEntityName:
			names[0] = f.Text()
		case field.PowerStateStateName:
			names[1] = f.Text()
		}
	}
	if _, known := r.names[key]; known || d.Room("power states", len(r.names), maxSeries) {
		r.names[key] = names
	}
}

func (r *residency) reading(d *decoder, message []byte, machine uint32, at packets.Stamp) {
	key := stateKey{machine: machine}
	var sample ResidencySample
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.StateResidencyEntityIndex:
			key.entity = int32(f.Value)
		case field.StateResidencyStateIndex:
			key.state = int32(f.Value)
		case field.StateResidencyTotalTimeInStateMS:
			sample.Total = time.Duration(min(f.Value, math.MaxInt64/uint64(time.Millisecond))) * time.Millisecond
		case field.StateResidencyTotalStateEntryCount:
			sample.Entries = f.Value
		}
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
