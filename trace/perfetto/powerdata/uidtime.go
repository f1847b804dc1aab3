package powerdata

import (
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// uidTimes are the CPU times of UIDs (cpu_per_uid_data.proto).
type uidTimes struct {
	list    []uidTime
	places  map[uidKey]int
	last    map[sequenceKey]*uidState
	samples int
	states  int // starting times of all sequences
}

type uidTime struct {
	UIDTime
	machine  uint32
	readings []stamped[CPUSample]
}

type uidKey struct {
	machine, uid, cluster uint32
}

type sequenceKey struct{ machine, sequence uint32 }

// uidState is what later packets of a sequence are relative to.
type uidState struct {
	generation int // of the sequence
	clusters   uint64
	last       map[uidKey]uint64 // ms
}

// read reads a CpuPerUidData: for each UID, a time for each cluster of CPUs. The first time of a
// UID is since the start of the device, later ones are since the packet before. Times without a
// UID, and UIDs without times, are ignored.
func (u *uidTimes) read(d *decoder, p packets.Packet, at packets.Stamp) {
	state := u.state(d, p)
	m := messages.UIDTimesOf(p.Data)
	if m.HasClusterCount {
		state.clusters = uint64(m.ClusterCount)
	}
	uids, times := m.UID.List(2*packets.MaxList), m.TotalTimeMS.List(2*packets.MaxList)
	if state.clusters == 0 || state.clusters > maxCPUs {
		return
	}
	for i, ms := range times {
		of := uint64(i) / state.clusters
		if of >= uint64(len(uids)) {
			return
		}
		key := uidKey{p.Machine, uint32(uids[of]), uint32(uint64(i) % state.clusters)}
		if _, known := state.last[key]; !known {
			if !d.Room("CPU times of UIDs", u.states, maxSamples) {
				continue
			}
			u.states++
		}
		// A difference of 0 is a reading too: the UID did not run.
		total := min(state.last[key]+min(ms, math.MaxInt64/2), math.MaxInt64/uint64(time.Millisecond))
		state.last[key] = total
		u.add(d, key, stamped[CPUSample]{at, CPUSample{Total: time.Duration(total) * time.Millisecond}})
	}
}

// state returns the state of a packet's sequence, new in each of its generations.
func (u *uidTimes) state(d *decoder, p packets.Packet) *uidState {
	key := sequenceKey{p.Machine, p.Seq.ID}
	state := u.last[key]
	if state == nil || state.generation != p.Seq.Generation {
		state = &uidState{generation: p.Seq.Generation, last: map[uidKey]uint64{}}
		if u.last[key] != nil || d.Room("sequences of CPU times of UIDs", len(u.last), maxSeries) {
			u.last[key] = state
		}
	}
	return state
}

func (u *uidTimes) add(d *decoder, key uidKey, reading stamped[CPUSample]) {
	place, known := u.places[key]
	if !known {
		if !d.Room("CPU times of UIDs", len(u.list), maxSeries) {
			return
		}
		place = len(u.list)
		u.places[key] = place
		u.list = append(u.list, uidTime{UIDTime: UIDTime{UID: int(key.uid), Cluster: int(key.cluster)}, machine: key.machine})
	}
	if d.Room("readings of CPU times of UIDs", u.samples, maxSamples) {
		u.samples++
		one := &u.list[place]
		one.readings = append(one.readings, reading)
	}
}

// place returns the times of one machine: another machine's UIDs differ.
func (u *uidTimes) place(v *packets.Conversion, machine uint32) []UIDTime {
	var out []UIDTime
	for _, one := range u.list {
		if one.machine != machine {
			continue
		}
		one.Samples = placed(v, one.readings, func(s *CPUSample, at time.Duration) { s.Time = at })
		out = append(out, one.UIDTime)
	}
	slices.SortFunc(out, func(a, b UIDTime) int {
		if a.UID != b.UID {
			return a.UID - b.UID
		}
		return a.Cluster - b.Cluster
	})
	return out
}

// CPU returns the time that the UID ran within the trace, from its first reading to its last.
func (u UIDTime) CPU() time.Duration {
	if len(u.Samples) == 0 {
		return 0
	}
	return max(u.Samples[len(u.Samples)-1].Total-u.Samples[0].Total, 0)
}
