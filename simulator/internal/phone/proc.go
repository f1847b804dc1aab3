package phone

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/dumps"
	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// proc returns the files of /proc that collectors read.
func (p *Phone) proc(name string) (text string, ok bool) {
	if name == "/proc/uptime" { // CLOCK_BOOTTIME, then the cores' idle time
		up := clock.Boottime(p.clock.Now()).Seconds()
		return fmt.Sprintf("%.2f %.2f\n", up, up*3.1), true
	}
	if name == "/proc/sys/kernel/random/boot_id" { // changes with each restart
		r := p.random("boot", p.state.boots)
		return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x\n", r.Uint32(), r.Uint32()&0xffff, r.Uint32()&0xfff, r.Uint32()&0xfff, r.Uint64()&(1<<48-1)), true
	}
	if text, ok := dumps.File(p.power, name); ok {
		return text, ok
	}
	switch name {
	case fmt.Sprintf("/proc/%d/stat", logcat.SystemPID):
		return shell.StatLine(logcat.SystemPID, "system_server", 0, 0, p.state.systemSince), true
	case fmt.Sprintf("/proc/%d/stat", adbdPID): // includes its children that it has waited for
		return shell.StatLine(adbdPID, "adbd", 0, p.host.Asked.CPU(), 0), true
	}
	if text, ok := p.host.ProcFile(name); ok {
		return text, ok
	}
	for _, pr := range p.state.running {
		if name == fmt.Sprintf("/proc/%d/stat", pr.PID) {
			return p.procStat(pr), true
		}
		if name == fmt.Sprintf("/proc/%d/status", pr.PID) {
			return p.procStatus(pr), true
		}
		if name == fmt.Sprintf("/proc/%d/cmdline", pr.PID) {
			return pr.app.Package + "\x00", true
		}
	}
	return "", false
}

// procStat is /proc/PID/stat; times are in ticks of 10 ms.
func (p *Phone) procStat(pr *process) string {
	var busy time.Duration
	if pr.usage != nil {
		busy = p.power.CPU(pr.usage)
	}
	ticks := int64(busy / (10 * time.Millisecond))
	comm := pr.app.Package
	comm = comm[max(0, len(comm)-15):]
	return fmt.Sprintf("%d (%s) S 600 600 0 0 -1 1077936448 %d 0 20 0 %d %d 0 0 10 -10 27 0 %d 1480000000 22500 18446744073709551615 1 1 0 0 0 0 4612 0 1098945784 0 0 0 17 2 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		pr.PID, comm, p.faults(pr), ticks*4/5, ticks/5, int64(pr.Since/(10*time.Millisecond)))
}
