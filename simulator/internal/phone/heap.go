package phone

import (
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// The size of an app's heap that one collection frees, and the memory that it shares with all
// apps, which counts fully in its RSS and partly in its PSS.
const (
	collectedKB = 8 << 10
	sharedKB    = 88_000
)

// perCollection returns after how many frames an app's garbage is collected, 0: never.
func perCollection(app *simapp.App) int {
	if app.AllocatesKB == 0 {
		return 0
	}
	return max(1, collectedKB/app.AllocatesKB)
}

// collections returns the runs of the garbage collector that begin between two instants.
func (p *Phone) collections(pr *process, from, to time.Duration) (out []timeline.Interval) {
	every := perCollection(pr.app)
	if every == 0 {
		return nil
	}
	var drawn []time.Duration
	for _, l := range timeline.WithSurfaces(pr.Layers) {
		for i := range l.Frames {
			if at := l.Frames[i].Drawn(); at < to {
				drawn = append(drawn, at)
			}
		}
	}
	slices.Sort(drawn)
	for i := every; i <= len(drawn); i += every {
		if at := drawn[i-1]; at >= from {
			took := 18*time.Millisecond + time.Duration(p.random("collection", pr.PID, i).Int64N(int64(50*time.Millisecond)))
			out = append(out, timeline.Interval{From: at, To: at + took})
		}
	}
	return out
}

// ram returns a process's current and maximum memory in RAM, in kB.
func (p *Phone) ram(pr *process) (now, most int) {
	now = pr.app.MemoryKB + sharedKB
	if every := perCollection(pr.app); every > 0 {
		drawn := p.drawn(pr)
		most = now + min(drawn, every)*pr.app.AllocatesKB
		now += drawn % every * pr.app.AllocatesKB
	}
	return now, max(now, most)
}

// procStatus is the part of /proc/PID/status about memory and the main thread's context
// switches.
func (p *Phone) procStatus(pr *process) string {
	now, most := p.ram(pr)
	name := pr.app.Package
	name = name[max(0, len(name)-15):]
	return fmt.Sprintf("Name:\t%s\nUmask:\t0077\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nVmPeak:\t%8d kB\nVmSize:\t%8d kB\nVmLck:\t       0 kB\nVmHWM:\t%8d kB\nVmRSS:\t%8d kB\nThreads:\t27\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n",
		name, pr.PID, pr.PID, 1_480_000, 1_470_000, most, now, p.waits(pr), 40+p.drawn(pr)/3)
}

// Most of a process's page faults are from its start, when it writes to pages that it shares
// with zygote. Their number depends on the layout of the heap's objects (within 1 %).
const (
	faultsOfStart   = 24_000
	faultsPerFrame  = 12
	pageKB          = 4
	waitsOfStart    = 350
	waitsPerFrame   = 2 // for the next vsync, and for the render thread to take the frame
	waverOfFaults   = 0.01
	waverOfSwitches = 0.02 // locks that are taken, or answers that arrive at once
)

// faults returns a process's minor page faults: one for each page of newly allocated memory.
func (p *Phone) faults(pr *process) int {
	n := faultsOfStart + p.drawn(pr)*(faultsPerFrame+pr.app.AllocatesKB/pageKB)
	return wavering(n, waverOfFaults, p.random("faults", pr.PID).Float64())
}

// waits returns how often a main thread gave up its CPU voluntarily.
func (p *Phone) waits(pr *process) int {
	return wavering(waitsOfStart+waitsPerFrame*p.drawn(pr), waverOfSwitches, p.random("switches", pr.PID).Float64())
}

// wavering returns a count with a deviation of up to a share of it, either way; u is from 0 to
// 1.
func wavering(n int, share, u float64) int { return int(float64(n) * (1 + share*(2*u-1))) }
