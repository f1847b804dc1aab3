package trackevent

import (
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// descriptor is a TrackDescriptor (track_descriptor.proto).
type descriptor struct {
	parent      uint64
	name        string
	pid, tid    int32
	process     bool // it is the track of a process
	thread      bool // it is the track of a thread
	separate    bool // not the one that the kernel's events of the thread are on
	alone       bool // it is never one with others of its name
	processName string
	threadName  string
	counter     *Counter
}

// Counter is what a description says of a counter (counter_descriptor.proto).
type Counter struct {
	Unit string // "" where not told

	multiplier  float64
	incremental bool
}

// sibling_merge_behavior of a track that stands alone.
const mergeNone = 2

// describe reads a TrackDescriptor, and gives its number. The first one counts; only a
// name may come later.
func (t *Tracks) describe(message []byte) uint64 {
	var uuid uint64
	var d descriptor
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.TrackUUID:
			uuid = f.Value
		case field.TrackName, field.TrackStaticName, field.TrackAtraceName:
			d.name = f.Text()
		case field.TrackProcess:
			d.process = true
			d.processOf(f.Bytes)
		case field.TrackThread:
			d.thread = true
			d.threadOf(f.Bytes)
		case field.TrackParentUUID:
			d.parent = f.Value
		case field.TrackCounter:
			d.counter, d.name = counterOf(f.Bytes, d.name)
		case field.TrackDisallowMergingWithSystemTracks:
			d.separate = f.Value != 0
		case field.TrackSiblingMergeBehavior:
			d.alone = f.Value == mergeNone
		}
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

func (d *descriptor) processOf(message []byte) {
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.ProcessDescriptorPID:
			d.pid = int32(f.Value)
		case field.ProcessDescriptorProcessName:
			d.processName = f.Text()
		}
	}
}

func (d *descriptor) threadOf(message []byte) {
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.ThreadDescriptorPID:
			d.pid = int32(f.Value)
		case field.ThreadDescriptorTID:
			d.tid = int32(f.Value)
		case field.ThreadDescriptorThreadName:
			d.threadName = f.Text()
		}
	}
}

// Builtin types of counters, and the names and units that they stand for.
var builtin = []struct{ name, unit string }{1: {"thread_time", "ns"}, 2: {"thread_instruction_count", "count"}}

var units = []string{"", "ns", "count", "bytes"}

// counterOf reads a CounterDescriptor. name is that of the track, where it has one.
func counterOf(message []byte, name string) (*Counter, string) {
	c := Counter{multiplier: 1}
	var kind, unit uint64
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.CounterDescriptorType:
			kind = f.Value
		case field.CounterDescriptorUnit:
			unit = f.Value
		case field.CounterDescriptorUnitMultiplier:
			if n := int64(f.Value); n > 0 {
				c.multiplier = float64(n)
			}
		case field.CounterDescriptorIsIncremental:
			c.incremental = f.Value != 0
		case field.CounterDescriptorUnitName:
			c.Unit = f.Text()
		}
	}
	switch {
	case kind > 0 && kind < uint64(len(builtin)):
		c.Unit = builtin[kind].unit
		if name == "" {
			name = builtin[kind].name
		}
	case unit > 0 && unit < uint64(len(units)):
		c.Unit = units[unit]
	}
	return &c, name
}
