package phone

import (
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/simapp"
	"github.com/apkgate/apkgate/internal/simlab/timeline"
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
	for _, l := range pr.Layers {
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

// procStatus is /proc/PID/status, as far as memory goes.
func (p *Phone) procStatus(pr *process) string {
	now, most := p.ram(pr)
	name := pr.app.Package
	name = name[max(0, len(name)-15):]
	return fmt.Sprintf("Name:\t%s\nUmask:\t0077\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nVmPeak:\t%8d kB\nVmSize:\t%8d kB\nVmLck:\t       0 kB\nVmHWM:\t%8d kB\nVmRSS:\t%8d kB\nThreads:\t27\n",
		name, pr.PID, pr.PID, 1_480_000, 1_470_000, most, now)
}
