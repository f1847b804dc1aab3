package perfetto

import (
	"math"
	"time"
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
func (r *residency) read(d *decoder, p packet, at stamp) {
	for f := fieldsOf(p.data); f.next(); {
		if f.number == 1 {
			r.describe(d, f.bytes, p.machine)
		}
	}
	for f := fieldsOf(p.data); f.next(); {
		if f.number == 2 {
			r.reading(d, f.bytes, p.machine, at)
		}
	}
}

func (r *residency) describe(d *decoder, message []byte, machine uint32) {
	key := stateKey{machine: machine}
	var names [2]string
	for f := fieldsOf(message); f.next(); {
		switch f.number {
		case 1:
			key.entity = int32(f.value)
		case 2:
			key.state = int32(f.value)
		case 3:
			names[0] = f.text()
		case 4:
			names[1] = f.text()
		}
	}
	if _, known := r.names[key]; known || d.room("power states", len(r.names), maxSeries) {
		r.names[key] = names
	}
}

func (r *residency) reading(d *decoder, message []byte, machine uint32, at stamp) {
	key := stateKey{machine: machine}
	var sample ResidencySample
	for f := fieldsOf(message); f.next(); {
		switch f.number {
		case 1:
			key.entity = int32(f.value)
		case 2:
			key.state = int32(f.value)
		case 3:
			sample.Total = time.Duration(min(f.value, math.MaxInt64/uint64(time.Millisecond))) * time.Millisecond
		case 4:
			sample.Entries = f.value
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
	if d.room("times in power states", r.samples, MaxSamples) {
		r.samples++
		one := &r.list[place]
		one.readings = append(one.readings, stamped[ResidencySample]{at, sample})
	}
}

func (r *residency) place(v *conversion) []StateTime {
	var out []StateTime
	for _, one := range r.list {
		one.Samples = placed(v, one.readings, func(s *ResidencySample, at time.Duration) { s.Time = at })
		out = append(out, one.StateTime)
	}
	return out
}
