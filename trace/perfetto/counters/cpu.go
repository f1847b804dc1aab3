package counters

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// ofCPU keeps a value of a CPU's counter.
func (r *Reader) ofCPU(at time.Duration, value float64, cpu uint64, kind, name string) {
	if cpu < packets.MaxCPUs {
		r.put(at, value, Track{Type: kind, Name: name, Thread: None, Process: None, CPU: int(cpu)})
	}
}

// limits reads a CpuFrequencyLimitsFtraceEvent (power.proto).
func (r *Reader) limits(e *packets.Event) {
	var least, most, cpu uint64
	for f := packets.FieldsOf(e.Data); f.Next(); {
		switch f.Number {
		case field.CPULimitsMinFreq:
			least = f.Value
		case field.CPULimitsMaxFreq:
			most = f.Value
		case field.CPULimitsCPUID:
			cpu = f.Value
		}
	}
	r.ofCPU(e.At, float64(uint32(most)), cpu, "cpu_max_frequency_limit", fmt.Sprintf("Cpu %d Max Freq Limit", cpu))
	r.ofCPU(e.At, float64(uint32(least)), cpu, "cpu_min_frequency_limit", fmt.Sprintf("Cpu %d Min Freq Limit", cpu))
}

// load reads a SchedCpuUtilCfsFtraceEvent (sched.proto).
func (r *Reader) load(e *packets.Event) {
	var capacity, cpu, used, running uint64
	for f := packets.FieldsOf(e.Data); f.Next(); {
		switch f.Number {
		case field.CPUUtilCapacity:
			capacity = f.Value
		case field.CPUUtilCPU:
			cpu = f.Value
		case field.CPUUtilCPUUtil:
			used = f.Value
		case field.CPUUtilNrRunning:
			running = f.Value
		}
	}
	r.ofCPU(e.At, float64(used), cpu, "cpu_utilization", fmt.Sprintf("Cpu %d Util", cpu))
	r.ofCPU(e.At, float64(capacity), cpu, "cpu_capacity", fmt.Sprintf("Cpu %d Cap", cpu))
	r.ofCPU(e.At, float64(uint32(running)), cpu, "cpu_nr_running", fmt.Sprintf("Cpu %d Nr Running", cpu))
}
