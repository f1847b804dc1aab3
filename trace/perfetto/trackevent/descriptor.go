package trackevent

import (
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// descriptor is a TrackDescriptor (track_descriptor.proto).
type descriptor struct {
	parent      uint64
	name        string
	pid, tid    int32
	process     bool // it is the track of a process
	thread      bool // it is the track of a thread
	separate    bool // not the track of the thread's kernel events
	alone       bool // it is never merged with others of its name
	processName string
	threadName  string
	counter     *Counter
}

// Counter is the description of a counter (counter_descriptor.proto).
type Counter struct {
	Unit string // "" if unknown

	multiplier  float64
	incremental bool
}

// sibling_merge_behavior of a track that is never merged.
const mergeNone = 2

// describe reads a TrackDescriptor, and returns its id. The first one counts; only a name may come
// later.
func (t *Tracks) describe(message []byte) uint64 {
	m := messages.TrackOf(message)
	process, thread := messages.ProcessDescriptorOf(m.Process), messages.ThreadDescriptorOf(m.Thread)
	uuid, d := m.UUID, descriptor{
		parent: m.ParentUUID, process: m.Process != nil, thread: m.Thread != nil,
		separate: m.DisallowMergingWithSystemTracks, alone: m.SiblingMergeBehavior == mergeNone,
		pid: process.PID, processName: packets.Name(process.ProcessName), tid: int32(thread.TID), threadName: packets.Name(thread.ThreadName),
	}
	if d.thread {
		d.pid = thread.PID
	}
	for _, name := range [][]byte{m.AtraceName, m.StaticName, m.Name} {
		if name != nil {
			d.name = packets.Name(name)
		}
	}
	if m.Counter != nil {
		d.counter, d.name = counterOf(messages.CounterDescriptorOf(m.Counter), d.name)
	}
	if uuid == 0 && d.parent != 0 {
		return 0
	}
	before, again := t.descriptors[uuid]
	switch {
	case again && d.name != "" && (before.name == "" || d.alone):
		before.name = d.name
	case !again && t.file.Room("descriptions of tracks", len(t.descriptors), maxTracks):
		t.descriptors[uuid] = &d
	}
	return uuid
}

// Builtin types of counters, with their names and units.
var builtin = []struct{ name, unit string }{1: {"thread_time", "ns"}, 2: {"thread_instruction_count", "count"}}

var units = []string{"", "ns", "count", "bytes"}

// counterOf reads a CounterDescriptor. name is that of the track, if it has one.
func counterOf(m messages.CounterDescriptor, name string) (*Counter, string) {
	c := Counter{Unit: packets.Name(m.UnitName), multiplier: float64(max(m.UnitMultiplier, 1)), incremental: m.IsIncremental}
	kind, unit := int(m.Type), int(m.Unit)
	switch {
	case kind > 0 && kind < len(builtin):
		c.Unit = builtin[kind].unit
		if name == "" {
			name = builtin[kind].name
		}
	case unit > 0 && unit < len(units):
		c.Unit = units[unit]
	}
	return &c, name
}
