package slices

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
	alone       bool // it is never one with others of its name
	processName string
	threadName  string
}

// maxAbove is how many tracks may be above one another.
const maxAbove = 100

// describe reads a TrackDescriptor.
func (r *Reader) describe(message []byte) {
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
		case field.TrackSiblingMergeBehavior:
			d.alone = f.Value == 2
		}
	}
	if _, again := r.descriptors[uuid]; !again && r.file.Room("descriptions of tracks", len(r.descriptors), maxTracks) {
		r.descriptors[uuid] = &d
	}
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

// described is the track that a number stands for; None where there are too many. One
// without a name has that of the first event on it.
func (r *Reader) described(uuid uint64, event string) int32 {
	if track, known := r.byUUID[uuid]; known {
		return track
	}
	if !r.file.Room("tracks of slices", len(r.byUUID), maxTracks) {
		return None
	}
	d := r.descriptors[uuid]
	if d == nil {
		d = &descriptor{}
		if uuid == 0 {
			d.name = "Default Track"
		}
	}
	track := r.resolve(d, event)
	r.byUUID[uuid] = track
	return track
}

func (r *Reader) resolve(d *descriptor, event string) int32 {
	if d.thread {
		thread := r.threads.Belongs(d.tid, d.pid)
		r.threads.Describe(thread, d.threadName)
		return r.track(Track{Type: "thread_execution", Thread: thread, Process: None})
	}
	if d.process {
		process := r.threads.OfProcess(d.pid)
		r.threads.DescribeProcess(process, d.processName)
		return r.newTrack(Track{Type: "process_track_event", Name: d.name, Thread: None, Process: process})
	}
	t := Track{Name: d.name, Thread: None, Process: None}
	if t.Name == "" {
		t.Name = event
	}
	scope := "global"
	for above, i := r.descriptors[d.parent], 0; above != nil && d.parent != 0 && i < maxAbove; i++ {
		if above.thread {
			scope, t.Thread = "thread", r.threads.Belongs(above.tid, above.pid)
			break
		}
		if above.process {
			scope, t.Process = "process", r.threads.OfProcess(above.pid)
			break
		}
		if above.parent == 0 {
			break
		}
		above = r.descriptors[above.parent]
	}
	t.Type = scope + "_merged_track_event"
	if d.alone {
		t.Type = scope + "_track_event"
	}
	return r.newTrack(t)
}
