package phone

import (
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// An app's heap: how much of it is collected at once, and the memory that it shares with
// all apps, which its RSS holds and its PSS only a part of.
const (
	collectedKB = 8 << 10
	sharedKB    = 88_000
)

// perCollection is after how many frames an app's garbage is collected, 0: never.
func perCollection(app *simapp.App) int {
	if app.AllocatesKB == 0 {
		return 0
	}
	return max(1, collectedKB/app.AllocatesKB)
}

// collections are the runs of the garbage collector that begin between two instants.
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

// ram is what a process has in RAM now and had at most, in kB.
func (p *Phone) ram(pr *process) (now, most int) {
	now = pr.app.MemoryKB + sharedKB
	if every := perCollection(pr.app); every > 0 {
		drawn := p.drawn(pr)
		most = now + min(drawn, every)*pr.app.AllocatesKB
		now += drawn % every * pr.app.AllocatesKB
	}
	return now, max(now, most)
}

// procStatus is /proc/PID/status, as far as memory and the main thread's switches go.
func (p *Phone) procStatus(pr *process) string {
	now, most := p.ram(pr)
	name := pr.app.Package
	name = name[max(0, len(name)-15):]
	return fmt.Sprintf("Name:\t%s\nUmask:\t0077\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nVmPeak:\t%8d kB\nVmSize:\t%8d kB\nVmLck:\t       0 kB\nVmHWM:\t%8d kB\nVmRSS:\t%8d kB\nThreads:\t27\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n",
		name, pr.PID, pr.PID, 1_480_000, 1_470_000, most, now, p.waits(pr), 40+p.drawn(pr)/3)
}

// Of its start a process has most of its page faults: it writes to pages that it shares
// with zygote. How many depends on where the heap's objects lie (within 1 %).
const (
	faultsOfStart   = 24_000
	faultsPerFrame  = 12
	pageKB          = 4
	waitsOfStart    = 350
	waitsPerFrame   = 2 // for the next vsync, and for the render thread to take the frame
	waverOfFaults   = 0.01
	waverOfSwitches = 0.02 // how often a lock is taken, or an answer there at once
)

// faults are a process's minor page faults: memory that is allocated anew has one a page.
func (p *Phone) faults(pr *process) int {
	n := faultsOfStart + p.drawn(pr)*(faultsPerFrame+pr.app.AllocatesKB/pageKB)
	return wavering(n, waverOfFaults, p.random("faults", pr.PID).Float64())
}

// waits are how often a main thread gave up its CPU by itself.
func (p *Phone) waits(pr *process) int {
	return wavering(waitsOfStart+waitsPerFrame*p.drawn(pr), waverOfSwitches, p.random("switches", pr.PID).Float64())
}

// wavering is a count that is off by up to a share of it, either way; u lies from 0 to 1.
func wavering(n int, share, u float64) int { return int(float64(n) * (1 + share*(2*u-1))) }
