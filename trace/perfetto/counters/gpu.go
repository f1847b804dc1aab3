package counters

import (
	"math"
	"strings"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// gpu is the descriptions of GPU counters.
type gpu struct {
	specs map[specKey]gpuCounter
	known map[specKey]bool // interned descriptions that were read, with the number 0
	last  map[Track]int32  // the row of a counter's last value
}

// specKey identifies a counter within a description: one of a sequence's interned ones, or else all
// others of the trace.
type specKey struct {
	seq        *packets.Sequence
	generation int
	described  uint64
	number     uint32
}

type gpuCounter struct {
	track Track
	// forward is set if a value is of the time after it. Others are of the time before: a row is
	// then known when the next value comes.
	forward bool
}

const directionForward = 2

// units are the names of MeasureUnit (gpu_counter_descriptor.proto).
var units = [...]string{
	"", "bit", "Kb", "Mb", "Gb", "Tb", "Pb", "B", "KB", "MB", "GB", "TB", "PB", "Hz", "KHz", "MHz", "GHz", "THz", "PHz",
	"ns", "us", "ms", "s", "min", "h", "Vertex", "Pixel", "Triangle", "mW", "W", "kW", "J", "V", "A", "C", "F", "K", "%",
	"Primitive", "Fragment", "Instruction",
}

// gpuCounters reads a GpuCounterEvent (gpu_counter_event.proto).
func (r *Reader) gpuCounters(p packets.Packet) {
	m := messages.GPUCounterEventOf(p.Data)
	key := specKey{}
	if m.HasCounterDescriptorIID {
		key = specKey{seq: p.Seq, generation: p.Seq.Generation, described: m.CounterDescriptorIID}
		r.internedSpecs(key)
	} else {
		r.specs(key, m.CounterDescriptor, m.GPUID)
	}
	for counter := range m.Counters.Each {
		r.sample(p, key, messages.GPUCounterOf(counter))
	}
}

// internedSpecs reads an InternedGpuCounterDescriptor once, which each sample refers to.
func (r *Reader) internedSpecs(key specKey) {
	entry := key.seq.Interned(field.InternedGPUCounterDescriptors, key.described)
	if entry == nil || r.gpu.known[key] || !r.file.Room("descriptions of the GPU's counters", len(r.gpu.known), maxTracks) {
		return
	}
	r.gpu.known[key] = true
	m := messages.InternedGPUCountersOf(entry)
	r.specs(key, m.CounterDescriptor, m.GPUID)
}

// specs reads a GpuCounterDescriptor. What a number means first counts.
func (r *Reader) specs(key specKey, descriptor []byte, gpu int32) {
	list := messages.GPUCountersOf(descriptor)
	for spec := range list.Specs.Each {
		m := messages.GPUCounterSpecOf(spec)
		key.number = m.CounterID
		one := gpuCounter{track: device("gpu_counter", packets.Name(m.Name)), forward: m.ValueDirection == directionForward}
		one.track.Which = uint64(gpu)
		over, under := m.NumeratorUnits.List(maxUnits+1), m.DenominatorUnits.List(maxUnits+1)
		if len(over)+len(under) <= maxUnits {
			one.track.Unit = unit(over, under)
		}
		if _, again := r.gpu.specs[key]; !again && one.track.Name != "" && r.file.Room("counters of the GPU", len(r.gpu.specs), maxTracks) {
			r.gpu.specs[key] = one
		}
	}
}

// maxUnits limits the units that one may consist of.
const maxUnits = 8

// unit returns a unit as a fraction of others, as "Pixel/s".
func unit(over, under []uint64) string {
	var top, bottom []string
	for _, u := range over {
		top = append(top, nameOf(u))
	}
	for _, u := range under {
		if name := nameOf(u); name != "" {
			bottom = append(bottom, name)
		}
	}
	out := strings.Join(top, ":")
	if len(bottom) > 0 {
		out += "/" + strings.Join(bottom, ":")
	}
	return out
}

func nameOf(unit uint64) string {
	if unit < uint64(len(units)) {
		return units[unit]
	}
	return "Unknown"
}

// sample reads a GpuCounter, whose value is kept when its time has come.
func (r *Reader) sample(p packets.Packet, key specKey, m messages.GPUCounter) {
	value := float64(m.IntValue)
	if m.HasDoubleValue {
		value = m.DoubleValue
	}
	key.number = m.CounterID
	one, known := r.gpu.specs[key]
	if !known || !m.HasIntValue && !m.HasDoubleValue || math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	at, ok := r.file.Time(p.At)
	if !ok {
		return
	}
	r.file.Defer(at, 0, func() {
		if one.forward {
			r.put(at, value, one.track)
			return
		}
		if row, known := r.gpu.last[one.track]; known {
			r.Values.Edit(row, func(v *Value) { v.Value = value })
		}
		if row := r.put(at, 0, one.track); row != None {
			r.gpu.last[one.track] = row
		}
	})
}
