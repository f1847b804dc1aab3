package counters

import (
	"bytes"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Packet reads a packet when its time has come.
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

// describe reads what a packet says of others, or at times of its own; true where it says
// nothing else.
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
		r.describeRails(p.Data)
		r.rails(p)
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
		for f := packets.FieldsOf(message); f.Next(); {
			if f.Number == field.ProcessStatsProcesses {
				r.process(at, f.Bytes)
			}
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
		r.gpuMemoryPacket(at, message)
	case field.PacketAndroidSystemProperty:
		r.property(at, message)
	case field.PacketInitialDisplayState:
		state, _ := pair(message, field.DisplayStateDisplayState, 0)
		r.put(at, float64(int32(state)), Track{Type: "screen_state", Name: "ScreenState", Thread: None, Process: None, CPU: None})
	case field.PacketGenericKernelCPUFreqEvent:
		cpu, hz := pair(message, field.GenericCPUFrequencyCPU, field.GenericCPUFrequencyFreqHz)
		r.ofCPU(at, float64(int64(hz))/1000, cpu, "cpu_frequency", "cpufreq")
	case field.PacketGenericGPUFrequencyEvent:
		_, khz := pair(message, 0, field.GenericGPUFrequencyFrequencyKhz)
		r.put(at, float64(uint32(khz)), Track{Type: "gpu_frequency", Name: "gpufreq", Unit: "kHz", Thread: None, Process: None, CPU: None})
	}
}

// trackEvent reads what a TrackEvent says of counters.
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
