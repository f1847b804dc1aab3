package counters

import (
	"bytes"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Packet reads a packet once earlier events were read.
func (r *Reader) Packet(p packets.Packet) {
	if p.Machine != r.file.Home {
		return
	}
	if r.describe(p) {
		return
	}
	at, ok := r.file.Time(p.At)
	if !ok {
		return
	}
	switch p.Kind {
	case field.PacketKernelWakelockData:
		r.wakelock(p, at)
		return
	case field.PacketCPUPerUIDData:
		r.uidTimes(p, at)
		return
	}
	message := bytes.Clone(p.Data)
	r.file.Defer(at, len(message), func() { r.packet(at, p.Kind, message) })
}

// describe reads a packet's descriptions, or values with times of their own; it returns true if the
// packet has nothing else.
func (r *Reader) describe(p packets.Packet) bool {
	if r.events.Describe(p) {
		return true
	}
	switch p.Kind {
	case field.PacketTrackEvent:
		r.trackEvent(p)
		return true
	case field.PacketGPUCounterEvent:
		r.gpuCounters(p)
		return true
	case field.PacketPowerRails:
		m := messages.PowerRailsOf(p.Data)
		r.describeRails(&m)
		r.rails(p, &m)
		return true
	case field.PacketEntityStateResidency:
		r.describeStates(p.Data)
	case field.PacketAndroidEnergyEstimationBreakdown:
		return r.describeConsumers(p.Data)
	}
	return false
}

func (r *Reader) packet(at time.Duration, kind protowire.Number, message []byte) {
	switch kind {
	case field.PacketProcessStats:
		stats := messages.ProcessStatsOf(message)
		for process := range stats.Processes.Each {
			r.process(at, process)
		}
	case field.PacketBattery:
		r.battery(at, message)
	case field.PacketAndroidEnergyEstimationBreakdown:
		r.consumer(at, message)
	case field.PacketEntityStateResidency:
		r.residency(at, message)
	case field.PacketSysStats:
		r.system(at, message)
	case field.PacketGPUMemTotalEvent:
		m := messages.GPUMemoryOf(message)
		r.gpuMemory(at, uint64(m.GPUID), int32(m.PID), m.Size, true)
	case field.PacketAndroidSystemProperty:
		r.property(at, message)
	case field.PacketInitialDisplayState:
		r.put(at, float64(messages.DisplayStateOf(message).DisplayState), device("screen_state", "ScreenState"))
	case field.PacketGenericKernelCPUFreqEvent:
		m := messages.GenericCPUFrequencyOf(message)
		r.ofCPU(at, float64(m.FreqHz)/1000, uint64(m.CPU), "cpu_frequency", "cpufreq")
	case field.PacketGenericGPUFrequencyEvent:
		r.gpuFrequency(at, messages.GenericGPUFrequencyOf(message).FrequencyKhz)
	}
}

// trackEvent reads the counters of a TrackEvent.
func (r *Reader) trackEvent(p packets.Packet) {
	stamp, timed := r.events.Stamp(p)
	values, ok := r.events.Values(p)
	if !ok || !timed {
		r.Unread++
		return
	}
	if len(values) == 0 {
		return
	}
	at, ok := r.file.Time(stamp)
	if !ok {
		return
	}
	r.file.Defer(at, 16*len(values), func() {
		for _, v := range values {
			if place := r.events.Place(v.Track); place != nil && place.Counter != nil {
				r.put(at, v.Value, Track{
					Type: place.Scope() + "_counter_track_event", Name: place.Name, Unit: place.Counter.Unit,
					Thread: place.Thread, Process: place.Process, CPU: None, Own: true, Which: v.Track,
				})
			}
		}
	})
}
