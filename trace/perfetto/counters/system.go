package counters

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// meminfo are the names in /proc/meminfo of MeminfoCounters (sys_stats_counters.proto).
var meminfo = []string{
	"", "MemTotal", "MemFree", "MemAvailable", "Buffers", "Cached", "SwapCached", "Active", "Inactive", "Active(anon)", "Inactive(anon)",
	"Active(file)", "Inactive(file)", "Unevictable", "Mlocked", "SwapTotal", "SwapFree", "Dirty", "Writeback", "AnonPages", "Mapped", "Shmem",
	"Slab", "SReclaimable", "SUnreclaim", "KernelStack", "PageTables", "CommitLimit", "Committed_AS", "VmallocTotal", "VmallocUsed",
	"VmallocChunk", "CmaTotal", "CmaFree",
}

// cpuTimes are the fields of CpuTimes by the names of their counters.
var cpuTimes = map[protowire.Number]string{
	field.CPUTimesUserNS: "user_ns", field.CPUTimesUserNiceNS: "user_nice_ns", field.CPUTimesSystemModeNS: "system_mode_ns",
	field.CPUTimesIdleNS: "idle_ns", field.CPUTimesIOWaitNS: "io_wait_ns", field.CPUTimesIrqNS: "irq_ns",
	field.CPUTimesSoftirqNS: "softirq_ns", field.CPUTimesStealNS: "steal_ns",
}

// system reads from a SysStats (sys_stats.proto) what /proc and /sys say of memory,
// frequencies and times of CPUs.
func (r *Reader) system(at time.Duration, message []byte) {
	cpu := uint64(0)
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.SysStatsMeminfo:
			key, kb := pair(f.Bytes, field.MeminfoKey, field.MeminfoValue)
			if key > 0 && key < uint64(len(meminfo)) {
				t := device("meminfo", meminfo[key])
				t.Unit = "bytes"
				r.put(at, float64(kb)*1024, t)
			} else {
				r.leftOut("/proc/meminfo under names that are not known")
			}
		case field.SysStatsDevfreq:
			r.clockRate(at, f.Bytes)
		case field.SysStatsCpufreqKhz:
			for _, khz := range f.List() {
				r.ofCPU(at, float64(uint32(khz)), cpu, "cpu_frequency", "cpufreq")
				cpu++
			}
		case field.SysStatsCPUStat:
			r.timesOfCPU(at, f.Bytes)
		default:
			if kind := passedOver[f.Number]; kind != "" {
				r.leftOut(kind)
			}
		}
	}
}

func (r *Reader) clockRate(at time.Duration, message []byte) {
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number == field.DevfreqKey {
			r.put(at, float64(numberOf(message, field.DevfreqValue)), device("clock_frequency", f.Text()+" Frequency"))
		}
	}
}

func (r *Reader) timesOfCPU(at time.Duration, message []byte) {
	cpu, told := uint64(0), map[protowire.Number]uint64{}
	known := false
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number == field.CPUTimesCPUID {
			cpu, known = f.Value, true
		}
		if cpuTimes[f.Number] != "" {
			told[f.Number] = f.Value
		}
	}
	if !known {
		return
	}
	for number := field.CPUTimesUserNS; number <= field.CPUTimesStealNS; number++ {
		r.ofCPU(at, float64(told[number]), cpu, "cpustat", "cpu.times."+cpuTimes[number])
	}
}

// gpuMemory reads a GpuMemTotalEvent (gpu_mem_event.proto): what the GPU holds in all, or
// for a process.
func (r *Reader) gpuMemory(at time.Duration, gpu uint64, pid int32, bytes uint64, add bool) {
	t := device("gpu_memory", "GPU Memory")
	t.Unit, t.Which = "bytes", gpu
	if pid != 0 {
		// The kernel may tell of a process that has gone.
		if _, known := r.threads.Known(pid); !known && !add {
			return
		}
		t.Type = "process_gpu_memory"
		t.Process = r.threads.Threads[r.threads.Belongs(pid, pid)].Process
	}
	r.put(at, float64(bytes), t)
}

// gpuMemoryEvent reads a GpuMemTotalFtraceEvent (gpu_mem.proto).
func (r *Reader) gpuMemoryEvent(e *packets.Event) {
	gpu, pid := pair(e.Data, field.GPUMemoryEventGPUID, field.GPUMemoryEventPID)
	r.gpuMemory(e.At, gpu, int32(pid), numberOf(e.Data, field.GPUMemoryEventSize), false)
}

func (r *Reader) gpuMemoryPacket(at time.Duration, message []byte) {
	gpu, pid := pair(message, field.GPUMemoryGPUID, field.GPUMemoryPID)
	r.gpuMemory(at, gpu, int32(pid), numberOf(message, field.GPUMemorySize), true)
}
