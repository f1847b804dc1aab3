package phone

import "fmt"

// An app's heap: what a frame allocates, when that is collected, and the memory that it
// shares with all apps, which its RSS holds and its PSS only a part of.
const (
	perFrameKB  = 96
	collectedKB = 8 << 10
	sharedKB    = 88_000
)

// ram is what a process has in RAM now and had at most, in kB.
func (p *Phone) ram(pr *process) (now, most int) {
	const frames = collectedKB / perFrameKB
	drawn := p.drawn(pr)
	rest := pr.app.MemoryKB + sharedKB
	now = rest + drawn%frames*perFrameKB
	if most = now; drawn >= frames {
		most = rest + collectedKB
	}
	return now, most
}

// procStatus is /proc/PID/status, as far as memory goes.
func (p *Phone) procStatus(pr *process) string {
	now, most := p.ram(pr)
	name := pr.app.Package
	name = name[max(0, len(name)-15):]
	return fmt.Sprintf("Name:\t%s\nUmask:\t0077\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nVmPeak:\t%8d kB\nVmSize:\t%8d kB\nVmLck:\t       0 kB\nVmHWM:\t%8d kB\nVmRSS:\t%8d kB\nThreads:\t27\n",
		name, pr.PID, pr.PID, 1_480_000, 1_470_000, most, now)
}
