package counters

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
)

// passedOver are the fields of SysStats that are not read, with display names. Each value of one is
// a counter's in Perfetto's trace processor.
var passedOver = map[protowire.Number]string{
	field.SysStatsVmstat: "/proc/vmstat", field.SysStatsNumForks: "forks", field.SysStatsNumIrqTotal: "interrupts", field.SysStatsNumIrq: "interrupts",
	field.SysStatsNumSoftirqTotal: "soft interrupts", field.SysStatsNumSoftirq: "soft interrupts", field.SysStatsBuddyInfo: "/proc/buddyinfo",
	field.SysStatsDiskStat: "/proc/diskstats", field.SysStatsPsi: "/proc/pressure", field.SysStatsThermalZone: "thermal zones",
	field.SysStatsCpuidleState: "idle states", field.SysStatsGpufreqMhz: "the GPU's frequency", field.SysStatsSlabInfo: "/proc/slabinfo",
}

// leftOut counts a value that is not read.
func (r *Reader) leftOut(kind string) {
	if r.LeftOut == nil {
		r.LeftOut = map[string]int{}
	}
	r.LeftOut[kind]++
}
