package counters

import (
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// wakelocks are the times for which the kernel's wakelocks were held. They are reported as
// differences, except for the first of a sequence's state.
type wakelocks struct {
	sparse sparse
	names  map[wakelockOf]wakelock
	sums   map[wakelockSum]generationValue
}

type wakelockOf struct {
	seq        *packets.Sequence
	generation int
	id         uint64
}

type wakelock struct {
	name string
	kind uint64
}

type wakelockSum struct {
	seq  *packets.Sequence
	name string
}

// wakelocks reads a KernelWakelockData (kernel_wakelock_data.proto), in the file's order.
func (r *Reader) wakelock(p packets.Packet, at time.Duration) {
	w := &r.wakelocks
	m := messages.WakelocksOf(p.Data)
	for one := range m.Wakelock.Each {
		r.nameWakelock(p.Seq, messages.WakelockOf(one))
	}
	ids, ms := m.WakelockID.List(packets.MaxList+1), m.TimeHeldMillis.List(packets.MaxList+1)
	if len(ids) > packets.MaxList || len(ms) > packets.MaxList {
		r.file.TooMany["times of wakelocks"]++
		return
	}
	values := map[Track]uint64{}
	for i := range min(len(ids), len(ms)) {
		one, known := w.names[wakelockOf{p.Seq, p.Seq.Generation, ids[i]}]
		if !known {
			continue
		}
		key := wakelockSum{p.Seq, one.name}
		sum, known := w.sums[key]
		if !known && !r.file.Room("wakelocks", len(w.sums), maxTracks) {
			continue
		}
		if sum.generation != p.Seq.Generation {
			sum = generationValue{generation: p.Seq.Generation}
		}
		sum.value += ms[i]
		w.sums[key] = sum
		t := device("android_kernel_wakelock", one.name)
		t.Unit, t.Which = "ms", one.kind
		values[t] = sum.value * uint64(time.Millisecond)
	}
	w.sparse.next(at)
	w.sparse.all(values)
}

// nameWakelock reads a Wakelock.
func (r *Reader) nameWakelock(seq *packets.Sequence, m messages.Wakelock) {
	key := wakelockOf{seq: seq, generation: seq.Generation, id: uint64(m.WakelockID)}
	if _, again := r.wakelocks.names[key]; !again && r.file.Room("names of wakelocks", len(r.wakelocks.names), maxTracks) {
		r.wakelocks.names[key] = wakelock{packets.Name(m.WakelockName), uint64(m.WakelockType)}
	}
}
