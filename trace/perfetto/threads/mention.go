package threads

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Mentions reads the threads and processes that packets name by the way which are of
// something else: of the log, of memory and of the GPU's work. It is for who lists all
// that there are.
type Mentions struct{ tracker *Tracker }

// NewMentions is a reader that tells a tracker of the same pass.
func NewMentions(tracker *Tracker) Mentions { return Mentions{tracker} }

// Wants are those packets.
func (m Mentions) Wants() packets.Wants {
	return packets.Wants{
		Packets:  []protowire.Number{field.PacketAndroidLog, field.PacketProcessStats, field.PacketGPUMemTotalEvent, field.PacketGPURenderStageEvent},
		Interned: []protowire.Number{field.InternedGraphicsContexts},
		Events:   []protowire.Number{field.EventGPUMemTotal},
	}
}

// Event reads a GpuMemTotalFtraceEvent (gpu_mem.proto): the process may have gone.
func (m Mentions) Event(e *packets.Event) {
	for f := packets.FieldsOf(e.Data); f.Next(); {
		if f.Number != field.GPUMemoryEventPID {
			continue
		}
		if _, known := m.tracker.Known(int32(f.Value)); known && f.Value != 0 {
			m.tracker.Belongs(int32(f.Value), int32(f.Value))
		}
	}
}

// Packet reads a packet when its time has come.
func (m Mentions) Packet(p packets.Packet) {
	file := m.tracker.file
	if p.Machine != file.Home {
		return
	}
	if p.Kind == field.PacketAndroidLog {
		m.log(p.Data, p.Machine)
		return
	}
	at, ok := file.Time(p.At)
	if !ok {
		return
	}
	if p.Kind == field.PacketGPURenderStageEvent {
		if pid, event := stageOf(p); event {
			file.Defer(at, 0, func() { m.tracker.OfProcess(pid) })
		}
		return
	}
	message := bytes.Clone(p.Data)
	file.Defer(at, len(message), func() {
		for f := packets.FieldsOf(message); f.Next(); {
			switch {
			case p.Kind == field.PacketProcessStats && f.Number == field.ProcessStatsProcesses:
				m.tracker.OfProcess(pidOf(f.Bytes, field.StatsProcessPID))
			case p.Kind == field.PacketGPUMemTotalEvent && f.Number == field.GPUMemoryPID && f.Value != 0:
				m.tracker.Belongs(int32(f.Value), int32(f.Value))
			}
		}
	})
}

// log reads who wrote the entries of an AndroidLogPacket, at the entries' times.
func (m Mentions) log(message []byte, machine uint32) {
	file := m.tracker.file
	clock := file.Clocks.Place(packets.KeyOf(machine, 0, packets.ClockRealtime))
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number != field.AndroidLogEvents {
			continue
		}
		var ns uint64
		var pid, tid int32
		for g := packets.FieldsOf(f.Bytes); g.Next(); {
			switch g.Number {
			case field.LogEventTimestamp:
				ns = g.Value
			case field.LogEventPID:
				pid = int32(g.Value)
			case field.LogEventTID:
				tid = int32(g.Value)
			}
		}
		if at, ok := file.Time(packets.Stamp{Clock: clock, NS: int64(min(ns, packets.MaxTime))}); ok {
			file.Defer(at, 0, func() { m.tracker.Belongs(tid, pid) })
		}
	}
}

// stageOf is the process that a GpuRenderStageEvent is of; false for one that only names
// others.
func stageOf(p packets.Packet) (pid int32, event bool) {
	for f := packets.FieldsOf(p.Data); f.Next(); {
		switch f.Number {
		case field.GPUStageEventID:
			event = true
		case field.GPUStageContext:
			if context := p.Seq.Interned(field.InternedGraphicsContexts, f.Value); context != nil {
				pid = pidOf(context, field.GraphicsContextPID)
			}
		case field.GPUStageSpecifications:
			for g := packets.FieldsOf(f.Bytes); g.Next(); {
				if g.Number == field.GPUSpecificationsContextSpec && pid == 0 {
					pid = pidOf(g.Bytes, field.GPUContextSpecPID)
				}
			}
		}
	}
	return pid, event
}

func pidOf(message []byte, number protowire.Number) int32 {
	var pid int32
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number == number {
			pid = int32(f.Value)
		}
	}
	return pid
}
