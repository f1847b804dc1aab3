package counters

import (
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// meminfo are the names in /proc/meminfo of MeminfoCounters (sys_stats_counters.proto).
var meminfo = []string{
	"", "MemTotal", "MemFree", "MemAvailable", "Buffers", "Cached", "SwapCached", "Active", "Inactive", "Active(anon)", "Inactive(anon)",
	"Active(file)", "Inactive(file)", "Unevictable", "Mlocked", "SwapTotal", "SwapFree", "Dirty", "Writeback", "AnonPages", "Mapped", "Shmem",
	"Slab", "SReclaimable", "SUnreclaim", "KernelStack", "PageTables", "CommitLimit", "Committed_AS", "VmallocTotal", "VmallocUsed",
	"VmallocChunk", "CmaTotal", "CmaFree",
}

// system reads from a SysStats (sys_stats.proto) what /proc and /sys say of memory,
// frequencies and times of CPUs.
func (r *Reader) system(at time.Duration, message []byte) {
	m := messages.SysStatsOf(message)
	for entry := range m.Meminfo.Each {
		one := messages.MeminfoOf(entry)
		if one.Key <= 0 || int(one.Key) >= len(meminfo) {
			r.leftOut("/proc/meminfo under names that are not known")
			continue
		}
		t := device("meminfo", meminfo[one.Key])
		t.Unit = "bytes"
		r.put(at, float64(one.Value)*1024, t)
	}
	for entry := range m.Devfreq.Each {
		if one := messages.DevfreqOf(entry); one.Key != nil {
			r.put(at, float64(one.Value), device("clock_frequency", packets.Name(one.Key)+" Frequency"))
		}
	}
	cpu := uint64(0)
	for khz := range m.CpufreqKhz.Each {
		r.ofCPU(at, float64(uint32(khz)), cpu, "cpu_frequency", "cpufreq")
		cpu++
	}
	for entry := range m.CPUStat.Each {
		r.timesOfCPU(at, messages.CPUTimesOf(entry))
	}
	for f := messages.FieldsOf(message); f.Next(); {
		if kind := passedOver[f.Number]; kind != "" {
			r.leftOut(kind)
		}
	}
}

func (r *Reader) timesOfCPU(at time.Duration, m messages.CPUTimes) {
	if !m.HasCPUID {
		return
	}
	for _, one := range []struct {
		name string
		ns   uint64
	}{
		{"user_ns", m.UserNS}, {"user_nice_ns", m.UserNiceNS}, {"system_mode_ns", m.SystemModeNS}, {"idle_ns", m.IdleNS},
		{"io_wait_ns", m.IOWaitNS}, {"irq_ns", m.IrqNS}, {"softirq_ns", m.SoftirqNS}, {"steal_ns", m.StealNS},
	} {
		r.ofCPU(at, float64(one.ns), uint64(m.CPUID), "cpustat", "cpu.times."+one.name)
	}
}

// gpuMemory reads a GpuMemTotalEvent (gpu_mem_event.proto): the GPU memory in total, or of a
// process.
func (r *Reader) gpuMemory(at time.Duration, gpu uint64, pid int32, bytes uint64, add bool) {
	t := device("gpu_memory", "GPU Memory")
	t.Unit, t.Which = "bytes", gpu
	if pid != 0 {
		// The kernel may report a process that has ended.
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
	m := messages.GPUMemoryEventOf(e.Data)
	r.gpuMemory(e.At, uint64(m.GPUID), int32(m.PID), m.Size, false)
}
