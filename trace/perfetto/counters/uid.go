package counters

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// uids are the times that the kernel counts for each UID and cluster of CPUs. They are reported as
// differences, except for the first of a sequence's state.
type uids struct {
	sparse   sparse
	clusters map[*packets.Sequence]uint64
	last     map[uidOf]generationValue
	latest   map[uidKey]uint64 // whatever the sequence's state
	sums     map[uidKey]uint64 // increase since the trace began, of groups of UIDs
	totals   map[totalKey]uint64
}

type uidKey struct {
	uid     uint32
	cluster uint64
}

type uidOf struct {
	seq *packets.Sequence
	uidKey
}

type generationValue struct {
	generation int
	value      uint64
}

type totalKey struct {
	name    string
	cluster uint64
}

// UIDs of Android (android_filesystem_config.h): those of a user have this distance, and those of
// isolated processes, or shared by several, have no name of their own.
const (
	perUser       = 100_000
	firstApp      = 10_000
	firstShared   = 50_000
	lastShared    = 60_000
	firstIsolated = 90_000
)

// group returns the UID that represents a range without names.
func group(uid uint32) (uint32, bool) {
	of := uid % perUser
	if firstShared <= of && of < lastShared || firstIsolated <= of {
		return uid - uid%firstApp, true
	}
	return uid, false
}

// uidTimes reads a CpuPerUidData (cpu_per_uid_data.proto), in the file's order.
func (r *Reader) uidTimes(p packets.Packet, at time.Duration) {
	m := messages.UIDTimesOf(p.Data)
	u := &r.uids
	if m.HasClusterCount {
		u.clusters[p.Seq] = uint64(m.ClusterCount)
	}
	uid, ms := m.UID.List(packets.MaxList+1), m.TotalTimeMS.List(packets.MaxList+1)
	if len(uid) > packets.MaxList || len(ms) > packets.MaxList {
		r.file.TooMany["times of UIDs"]++
		return
	}
	clusters := max(u.clusters[p.Seq], 1)
	values := map[Track]uint64{}
	for i, v := range ms {
		if of := uint64(i) / clusters; of < uint64(len(uid)) {
			r.uidTime(values, p.Seq, uidKey{uint32(uid[of]), uint64(i) % clusters}, v)
		}
	}
	u.sparse.next(at)
	u.sparse.all(values)
}

// uidTime adds to the values of a packet those that follow from one time.
func (r *Reader) uidTime(values map[Track]uint64, seq *packets.Sequence, key uidKey, ms uint64) {
	u := &r.uids
	of := uidOf{seq, key}
	previous, known := u.last[of]
	if !known && !r.file.Room("times of UIDs", len(u.last), maxTracks) {
		return
	}
	if known && previous.generation == seq.Generation {
		ms += previous.value
	}
	u.last[of] = generationValue{seq.Generation, ms}
	gained := uint64(0)
	if before, known := u.latest[key]; known && ms > before {
		gained = ms - before
	}
	u.latest[key] = ms
	shown, grouped := group(key.uid)
	kind := "Apps"
	if shown%perUser < firstApp {
		kind = "System"
	}
	total := totalKey{kind, key.cluster}
	u.totals[total] += gained
	values[uidTrack("android_cpu_per_uid_totals", fmt.Sprintf("CPU for %s CL%d", kind, key.cluster))] = u.totals[total]
	value := ms
	if grouped {
		sum := uidKey{shown, key.cluster}
		u.sums[sum] += gained
		value = u.sums[sum]
	}
	values[uidTrack("android_cpu_per_uid", fmt.Sprintf("CPU for UID %d CL%d", shown, key.cluster))] = value
}

func uidTrack(kind, name string) Track {
	t := device(kind, name)
	t.Unit = "ms"
	return t
}
