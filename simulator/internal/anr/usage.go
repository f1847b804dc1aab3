package anr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Usage is the CPU usage while the app was not responding.
type Usage struct {
	From, To time.Duration // on the phone's clock
	App      time.Duration // CPU time of the app
	CPUs     int
	Hog      int // the process that uses the CPUs, if they are scarce
}

// used is the usage of one process, in hundredths of a CPU.
type used struct {
	pid          int
	name         string
	user, kernel float64
	major        int // faults
}

// Ids of processes with a high usage when a resource is scarce.
const (
	kswapdPID = 84
	lmkdPID   = 610
)

// others returns the usage of the phone's other processes, by the scarce resource.
func (u Usage) others(why string, app float64) []used {
	out := []used{{logcat.SystemPID, "system_server", 6.1, 4.2, 0}, {520, "surfaceflinger", 1.9, 1.1, 0}, {340, "logd", 0.9, 0.4, 0}}
	switch why {
	case simapp.LowMemory:
		out = append(out, used{kswapdPID, "kswapd0", 0, 80, 0}, used{lmkdPID, "lmkd", 2, 11, 0})
		out[0].kernel, out[0].major = 29, 1433
	case simapp.BusyCPUs:
		out = append(out, used{u.Hog, "dex2oat64", max(1, float64(u.CPUs)*98-app-20), 3, 0})
	case simapp.SlowDisk:
		out = append(out, used{233, "f2fs_flush-254:5", 0, 3.1, 0}, used{195, "kworker/u16:3", 0, 4.4, 0})
	}
	return out
}

// waiting returns the share of the CPUs' time spent in I/O wait.
func waiting(why string) float64 {
	return map[string]float64{simapp.LowMemory: 43, simapp.SlowDisk: 38}[why]
}

// load returns the line of the load averages (ProcessCpuTracker.printCurrentLoad), which count
// threads that wait for a CPU or for storage.
func (u Usage) load(why string) string {
	load := 2.1
	switch why {
	case simapp.BusyCPUs:
		load += float64(u.CPUs)
	case simapp.LowMemory:
		load = 24.6
	case simapp.SlowDisk:
		load = 7.3
	}
	return fmt.Sprintf("Load: %.4g / 1.4 / 0.9\n", load)
}

// text returns the list of processes by CPU usage (ProcessCpuTracker.printCurrentState).
func (u Usage) text(e Event) string {
	span := max(u.To-u.From, time.Millisecond)
	app := float64(u.App) / float64(span) * 100
	all := append(u.others(e.Why, app), used{e.PID, e.App.Package, app * 0.8, app * 0.2, map[string]int{simapp.LowMemory: 912}[e.Why]})
	slices.SortStableFunc(all, func(a, b used) int { return cmp.Compare(b.user+b.kernel, a.user+a.kernel) })
	var b strings.Builder
	fmt.Fprintf(&b, "CPU usage from %dms to %dms ago", (e.At - u.From).Milliseconds(), max(0, e.At-u.To).Milliseconds())
	if e.API >= 24 {
		const layout = "2006-01-02 15:04:05.000"
		fmt.Fprintf(&b, " (%s to %s)", clock.Wall(u.From).Format(layout), clock.Wall(u.To).Format(layout))
	}
	b.WriteString(":\n")
	var user, kernel float64
	for _, one := range all {
		user, kernel = user+one.user, kernel+one.kernel
		fmt.Fprintf(&b, "  %s%% %d/%s: %s%% user + %s%% kernel / faults: %d minor", percent(one.user+one.kernel), one.pid, one.name, percent(one.user), percent(one.kernel), 120+one.pid%300)
		if one.major > 0 {
			fmt.Fprintf(&b, " %d major", one.major)
		}
		b.WriteByte('\n')
	}
	n, wait := float64(max(1, u.CPUs)), waiting(e.Why)
	fmt.Fprintf(&b, "%s%% TOTAL: %s%% user + %s%% kernel", percent(min(100, user/n+kernel/n+wait)), percent(user/n), percent(kernel/n))
	if wait > 0 {
		fmt.Fprintf(&b, " + %s%% iowait", percent(wait))
	}
	return b.String() + "\n"
}

// percent formats a share like ProcessCpuTracker.printRatio: with one decimal below 10.
func percent(v float64) string {
	if v < 10 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	}
	return fmt.Sprintf("%.0f", v)
}
