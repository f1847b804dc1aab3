package counters

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// ofCPU adds a value of a CPU's counter.
func (r *Reader) ofCPU(at time.Duration, value float64, cpu uint64, kind, name string) {
	if cpu < packets.MaxCPUs {
		r.put(at, value, Track{Type: kind, Name: name, Thread: None, Process: None, CPU: int(cpu)})
	}
}

// limits reads a CpuFrequencyLimitsFtraceEvent (power.proto).
func (r *Reader) limits(e *packets.Event) {
	m := messages.CPULimitsOf(e.Data)
	r.ofCPU(e.At, float64(m.MaxFreq), uint64(m.CPUID), "cpu_max_frequency_limit", fmt.Sprintf("Cpu %d Max Freq Limit", m.CPUID))
	r.ofCPU(e.At, float64(m.MinFreq), uint64(m.CPUID), "cpu_min_frequency_limit", fmt.Sprintf("Cpu %d Min Freq Limit", m.CPUID))
}

// load reads a SchedCpuUtilCfsFtraceEvent (sched.proto).
func (r *Reader) load(e *packets.Event) {
	m := messages.CPUUtilOf(e.Data)
	r.ofCPU(e.At, float64(m.CPUUtil), uint64(m.CPU), "cpu_utilization", fmt.Sprintf("Cpu %d Util", m.CPU))
	r.ofCPU(e.At, float64(m.Capacity), uint64(m.CPU), "cpu_capacity", fmt.Sprintf("Cpu %d Cap", m.CPU))
	r.ofCPU(e.At, float64(m.NrRunning), uint64(m.CPU), "cpu_nr_running", fmt.Sprintf("Cpu %d Nr Running", m.CPU))
}

// gpuFrequency keeps the frequency of the GPU.
func (r *Reader) gpuFrequency(at time.Duration, khz uint32) {
	t := device("gpu_frequency", "gpufreq")
	t.Unit = "kHz"
	r.put(at, float64(khz), t)
}
