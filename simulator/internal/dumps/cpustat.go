package dumps

import (
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/power"
)

// tick is USER_HZ, the kernel's unit of CPU time.
const tick = 10 * time.Millisecond

// clusters returns the phone's CPUs.
func clusters(a *account.Account) map[power.Part]power.Cluster {
	return map[power.Part]power.Cluster{power.Little: a.Hardware.Little, power.Big: a.Hardware.Big}
}

// cpuStat is /proc/stat.
func cpuStat(a *account.Account) string {
	up := a.Clock.Now() - clock.Boot
	hw := a.Hardware
	var all [3]int64
	var rows strings.Builder
	for cpu := range hw.Little.Count + hw.Big.Count {
		busy := a.Busy(cpu)
		busy = min(busy, up)
		user, system := int64(busy*4/5/tick), int64(busy/5/tick)
		idle := int64(max(0, up-busy) / tick)
		fmt.Fprintf(&rows, "cpu%d %d 0 %d %d 0 0 0 0 0 0\n", cpu, user, system, idle)
		all[0], all[1], all[2] = all[0]+user, all[1]+system, all[2]+idle
	}
	return fmt.Sprintf("cpu  %d 0 %d %d 0 0 0 0 0 0\n%sintr 0\nctxt 1204200\nbtime %d\nprocesses 4211\nprocs_running 1\nprocs_blocked 0\n",
		all[0], all[1], all[2], rows.String(), clock.Epoch.Unix())
}

// policyFile returns a file of /sys/devices/system/cpu, with the times at each frequency. The
// directories are named after the policy since Android 7, after the CPU before.
func policyFile(a *account.Account, name string) (text string, ok bool) {
	rest, ok := strings.CutPrefix(name, "/sys/devices/system/cpu/")
	if !ok {
		return "", false
	}
	if text, ok := fastest(a, rest); ok {
		return text, true
	}
	hw := a.Hardware
	for part, c := range clusters(a) {
		dir := fmt.Sprintf("cpufreq/policy%d/", c.First)
		if a.Profile.API < 24 {
			dir = fmt.Sprintf("cpu%d/cpufreq/", c.First)
		}
		if file, ok := strings.CutPrefix(rest, dir); ok {
			return clusterFile(a, part, c, file)
		}
	}
	switch rest {
	case "possible", "present", "online":
		return fmt.Sprintf("0-%d\n", hw.Little.Count+hw.Big.Count-1), true
	}
	return "", false
}

func clusterFile(a *account.Account, part power.Part, c power.Cluster, file string) (string, bool) {
	switch file {
	case "stats/time_in_state":
		return timeInState(a, part, c), true
	case "related_cpus", "affected_cpus":
		var cpus []string
		for i := range c.Count {
			cpus = append(cpus, fmt.Sprint(c.First+i))
		}
		return strings.Join(cpus, " ") + "\n", true
	}
	return "", false
}

// timeInState is cpufreq's list of frequencies and ticks.
func timeInState(a *account.Account, part power.Part, c power.Cluster) string {
	at := a.InStep(part)
	var b strings.Builder
	for i, s := range c.Steps {
		fmt.Fprintf(&b, "%d %d\n", s.KHz, int64(at[i]/tick))
	}
	return b.String()
}

// PolicyDirs returns the directories that ls shows below /sys.
func PolicyDirs(a *account.Account) (dirs []string) {
	hw := a.Hardware
	for _, c := range []power.Cluster{hw.Little, hw.Big} {
		if a.Profile.API < 24 {
			dirs = append(dirs, fmt.Sprintf("/sys/devices/system/cpu/cpu%d/cpufreq", c.First))
		} else {
			dirs = append(dirs, fmt.Sprintf("/sys/devices/system/cpu/cpufreq/policy%d", c.First))
		}
	}
	return dirs
}
