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
	at, ok := r.file.Time(p.At)
	if !ok || p.Machine != r.file.Home {
		return
	}
	message := bytes.Clone(p.Data)
	r.file.Defer(at, len(message), func() { r.packet(at, p.Kind, message) })
}

func (r *Reader) packet(at time.Duration, kind protowire.Number, message []byte) {
	switch kind {
	case field.PacketProcessStats:
		for f := packets.FieldsOf(message); f.Next(); {
			if f.Number == field.ProcessStatsProcesses {
				r.process(at, f.Bytes)
			}
		}
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
