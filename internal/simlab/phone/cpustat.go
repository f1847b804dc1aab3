package phone

import (
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/power"
)

// tick is USER_HZ: what the kernel counts CPU time in.
const tick = 10 * time.Millisecond

// systemShare is the share of a little CPU that the system is busy for itself.
const systemShare = 0.02

// cpuBusy is how long one CPU was busy with apps since the phone was made.
func (p *Phone) cpuBusy(cpu int) (busy time.Duration) {
	for at, d := range p.state.power.ledger.speeds {
		if at.CPU == cpu {
			busy += d
		}
	}
	return busy
}

// cpuStat is /proc/stat.
func (p *Phone) cpuStat() string {
	p.settle()
	up := p.clock.Now() - bootTime
	hw := p.state.power.hardware
	var all [3]int64
	var rows strings.Builder
	for cpu := range hw.Little.Count + hw.Big.Count {
		busy := p.cpuBusy(cpu)
		if cpu < hw.Little.Count {
			busy += time.Duration(systemShare * float64(up))
		}
		user, system := int64(busy*4/5/tick), int64(busy/5/tick)
		idle := int64(max(0, up-busy) / tick)
		fmt.Fprintf(&rows, "cpu%d %d 0 %d %d 0 0 0 0 0 0\n", cpu, user, system, idle)
		all[0], all[1], all[2] = all[0]+user, all[1]+system, all[2]+idle
	}
	return fmt.Sprintf("cpu  %d 0 %d %d 0 0 0 0 0 0\n%sintr 0\nctxt 1204200\nbtime %d\nprocesses 4211\nprocs_running 1\nprocs_blocked 0\n",
		all[0], all[1], all[2], rows.String(), epoch.Unix())
}

// policyFile is a file of /sys/devices/system/cpu, with the times at each speed.
// The directories are named after the policy since Android 7, after the CPU before.
func (p *Phone) policyFile(name string) (text string, ok bool) {
	rest, ok := strings.CutPrefix(name, "/sys/devices/system/cpu/")
	if !ok {
		return "", false
	}
	hw := p.state.power.hardware
	for part, c := range map[power.Part]power.Cluster{power.Little: hw.Little, power.Big: hw.Big} {
		dir := fmt.Sprintf("cpufreq/policy%d/", c.First)
		if p.profile.API < 24 {
			dir = fmt.Sprintf("cpu%d/cpufreq/", c.First)
		}
		if file, ok := strings.CutPrefix(rest, dir); ok {
			return p.clusterFile(part, c, file)
		}
	}
	switch rest {
	case "possible", "present", "online":
		return fmt.Sprintf("0-%d\n", hw.Little.Count+hw.Big.Count-1), true
	}
	return "", false
}

func (p *Phone) clusterFile(part power.Part, c power.Cluster, file string) (string, bool) {
	switch file {
	case "stats/time_in_state":
		return p.timeInState(part, c), true
	case "related_cpus", "affected_cpus":
		var cpus []string
		for i := range c.Count {
			cpus = append(cpus, fmt.Sprint(c.First+i))
		}
		return strings.Join(cpus, " ") + "\n", true
	case "cpuinfo_max_freq":
		return fmt.Sprintf("%d\n", c.Steps[c.Top()].KHz), true
	case "cpuinfo_min_freq":
		return fmt.Sprintf("%d\n", c.Steps[0].KHz), true
	case "scaling_available_frequencies":
		var b strings.Builder
		for _, s := range c.Steps {
			fmt.Fprintf(&b, "%d ", s.KHz)
		}
		return b.String() + "\n", true
	}
	return "", false
}

// timeInState is cpufreq's list of speeds and ticks: the cluster runs at a speed
// while any of its CPUs needs it, and at the slowest else.
func (p *Phone) timeInState(part power.Part, c power.Cluster) string {
	p.settle()
	at := make([]time.Duration, len(c.Steps))
	left := p.clock.Now() - bootTime
	for step := c.Top(); step > 0; step-- {
		longest := time.Duration(0) // of the CPUs; they overlap
		for cpu := c.First; cpu < c.First+c.Count; cpu++ {
			longest = max(longest, p.state.power.ledger.speeds[power.At{Part: part, CPU: cpu, Step: step}])
		}
		at[step] = min(longest, left)
		left -= at[step]
	}
	at[0] = left
	var b strings.Builder
	for i, s := range c.Steps {
		fmt.Fprintf(&b, "%d %d\n", s.KHz, int64(at[i]/tick))
	}
	return b.String()
}

// policyDirs are the directories that ls shows below /sys.
func (p *Phone) policyDirs() (dirs []string) {
	hw := p.state.power.hardware
	for _, c := range []power.Cluster{hw.Little, hw.Big} {
		if p.profile.API < 24 {
			dirs = append(dirs, fmt.Sprintf("/sys/devices/system/cpu/cpu%d/cpufreq", c.First))
		} else {
			dirs = append(dirs, fmt.Sprintf("/sys/devices/system/cpu/cpufreq/policy%d", c.First))
		}
	}
	return dirs
}
