package pftrace

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/timeline"
)

// blastSince is the version since which apps hand over their buffers in transactions.
const blastSince = 31

// change is that a window has a buffer more or less that waits at SurfaceFlinger.
type change struct {
	at   time.Duration
	tid  int32 // of SurfaceFlinger's threads, that says so
	more int
}

// buffers adds how many buffers of each window wait at SurfaceFlinger: one more where a
// transaction with one comes, one less where it is taken (Layer::setBuffer and latchBuffer,
// "BufferTX - LAYER").
func (k *kernel) buffers(t *timeline.Timeline) {
	if k.api < blastSince {
		return
	}
	got := map[[2]time.Duration]timeline.Transaction{}
	for _, one := range t.Transactions {
		if one.OneWay && one.Process == surfaceFlingerPID {
			got[[2]time.Duration{one.Sent, time.Duration(one.From)}] = one
		}
	}
	for _, l := range t.Layers {
		var changes []change
		render := k.renderer(l.PID)
		for i := range l.Frames {
			f := &l.Frames[i]
			one, there := got[[2]time.Duration{f.Queued, time.Duration(render)}]
			if !there || f.Latched == 0 {
				continue
			}
			const wakes = 220 * time.Microsecond
			changes = append(changes, change{one.Received, one.To, 1}, change{f.Latched + wakes, surfaceFlingerPID, -1})
		}
		k.count(fmt.Sprintf("BufferTX - %s#%d", l.Title, l.ID), changes)
	}
}

// count adds the values of a counter of SurfaceFlinger's.
func (k *kernel) count(name string, changes []change) {
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	n := 0
	for _, c := range changes {
		n += c.more
		if r, at, ok := k.writes(c.tid, c.at); ok {
			k.print(r, at, beginsBefore, fmt.Sprintf("C|%d|%s|%d\n", surfaceFlingerPID, name, n))
		}
	}
}
