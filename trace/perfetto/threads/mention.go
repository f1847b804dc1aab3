package threads

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Mentions reads the threads and processes that other packets mention: the log's, memory's and
// those of the GPU's work. It is for lists of all threads.
type Mentions struct{ tracker *Tracker }

// NewMentions returns a reader that reports to a tracker of the same pass.
func NewMentions(tracker *Tracker) Mentions { return Mentions{tracker} }

// Wants returns those packets.
func (m Mentions) Wants() packets.Wants {
	return packets.Wants{
		Packets:  []protowire.Number{field.PacketAndroidLog, field.PacketProcessStats, field.PacketGPUMemTotalEvent, field.PacketGPURenderStageEvent},
		Interned: []protowire.Number{field.InternedGraphicsContexts},
		Events:   []protowire.Number{field.EventGPUMemTotal},
	}
}

// Event reads a GpuMemTotalFtraceEvent (gpu_mem.proto): the process may have gone.
func (m Mentions) Event(e *packets.Event) {
	m.memory(int32(messages.GPUMemoryEventOf(e.Data).PID), false)
}

// memory records the process of GPU memory.
func (m Mentions) memory(pid int32, add bool) {
	if _, known := m.tracker.Known(pid); (known || add) && pid != 0 {
		m.tracker.Belongs(pid, pid)
	}
}

// Packet reads a packet once earlier events were read.
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
		if p.Kind == field.PacketGPUMemTotalEvent {
			m.memory(int32(messages.GPUMemoryOf(message).PID), true)
			return
		}
		stats := messages.ProcessStatsOf(message)
		for process := range stats.Processes.Each {
			m.tracker.OfProcess(messages.StatsProcessOf(process).PID)
		}
	})
}

// log reads the writers of the entries of an AndroidLogPacket, at the entries' times.
func (m Mentions) log(message []byte, machine uint32) {
	file := m.tracker.file
	clock := file.Clocks.Place(packets.KeyOf(machine, 0, packets.ClockRealtime))
	list := messages.AndroidLogOf(message)
	for entry := range list.Events.Each {
		e := messages.LogEventOf(entry)
		if at, ok := file.Time(packets.Stamp{Clock: clock, NS: int64(min(e.Timestamp, packets.MaxTime))}); ok {
			tid, pid := e.TID, e.PID
			file.Defer(at, 0, func() { m.tracker.Belongs(tid, pid) })
		}
	}
}

// stageOf returns the process of a GpuRenderStageEvent; false for one that only defines names.
func stageOf(p packets.Packet) (pid int32, event bool) {
	stage := messages.GPUStageOf(p.Data)
	pid = messages.GraphicsContextOf(p.Seq.Interned(field.InternedGraphicsContexts, stage.Context)).PID
	if pid == 0 {
		pid = messages.GPUContextSpecOf(messages.GPUSpecificationsOf(stage.Specifications).ContextSpec).PID
	}
	return pid, stage.HasEventID
}
