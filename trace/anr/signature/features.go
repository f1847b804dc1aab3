package signature

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
)

// The generic features, each a name and a level: raw numbers would never repeat (paper, section
// 2.3: F_p).
const (
	CPUHigh    = "cpu: high"     // 90 % or more of all CPUs
	CPUMedium  = "cpu: medium"   // 50 % or more
	CPULow     = "cpu: low"      //
	AppCPUHigh = "app cpu: high" // the unresponsive process: 80 % of one CPU or more
	AppCPULow  = "app cpu: low"
	IOWaitHigh = "iowait: high" // 20 % or more of all CPUs' time
	IOWaitLow  = "iowait: low"
	// MemoryLow: tasks waited for memory for a tenth of the last 10 s or longer, or the kernel's
	// thread that frees pages (kswapd) used 10 % of a CPU or more.
	MemoryLow  = "memory: low"
	MemoryGood = "memory: good"
	HeapFull   = "heap: full" // 3 % of the Java heap or less are free
	HeapGood   = "heap: good"
)

// generic returns the features from the dump and those that the ANR already has, sorted.
func generic(d anr.Dump, a run.ANR) []string {
	out := slices.Clone(a.Features)
	if i := slices.IndexFunc(d.CPU, func(c anr.CPU) bool { return !c.Later }); i >= 0 {
		out = append(out, cpuFeatures(d.CPU[i], a)...)
	}
	for _, p := range d.Pressure {
		if p.Of == "memory" {
			out = append(out, either(p.Some >= 10, MemoryLow, MemoryGood))
		}
	}
	for _, p := range d.Processes {
		if p.Heap != nil && p.Name == a.Process {
			out = append(out, either(p.Heap.FreePercent <= 3, HeapFull, HeapGood))
		}
	}
	if slices.Contains(out, MemoryLow) { // one sign is enough
		out = slices.DeleteFunc(out, func(f string) bool { return f == MemoryGood })
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), run.MaxANRFeatures)]
}

// cpuFeatures returns the features of the period before the ANR was detected.
func cpuFeatures(c anr.CPU, a run.ANR) []string {
	step := CPULow
	switch busy := c.Total.Percent - c.Total.IOWait; { // a CPU that waits for the disk has time for others
	case busy >= 90:
		step = CPUHigh
	case busy >= 50:
		step = CPUMedium
	}
	out := []string{step, either(c.Total.IOWait >= 20, IOWaitHigh, IOWaitLow)}
	if slices.ContainsFunc(c.Top, func(u anr.Usage) bool { return strings.HasPrefix(u.Name, "kswapd") && u.Percent >= 10 }) {
		out = append(out, MemoryLow)
	}
	for _, u := range c.Top {
		if u.Name == a.Process && (u.PID == a.PID || a.PID == 0) {
			return append(out, either(u.Percent >= 80, AppCPUHigh, AppCPULow))
		}
	}
	return out
}

func either(cond bool, a, b string) string {
	if cond {
		return a
	}
	return b
}
