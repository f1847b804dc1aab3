package pftrace

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// blastSince is the API level from which on apps queue their buffers in transactions.
const blastSince = 31

// change is a change in a window's number of buffers that wait in SurfaceFlinger.
type change struct {
	at   time.Duration
	tid  int32 // the reporting thread of SurfaceFlinger
	more int
}

// buffers adds the counter of each window's buffers that wait in SurfaceFlinger: plus one when
// a buffer arrives, minus one when it is latched. Since Android 12 these are transactions with
// buffers (Layer::setBuffer and latchBuffer: "BufferTX - LAYER"), before that the queue with
// the layer's name (BufferQueueProducer::queueBuffer, BufferQueueConsumer::acquireBuffer).
func (k *kernel) buffers(t *timeline.Timeline) {
	name, blast := "%s#%d", k.api >= blastSince
	if blast {
		name = "BufferTX - %s#%d"
	}
	handed := map[int32][]timeline.Transaction{} // by sender
	for _, one := range t.Transactions {
		if one.OneWay == blast && one.Process == surfaceFlingerPID {
			handed[one.From] = append(handed[one.From], one)
		}
	}
	for _, l := range t.Layers {
		var changes []change
		list := handed[k.renderer(l.PID)]
		for i := range l.Frames {
			f := &l.Frames[i]
			const before, wakes = 10 * time.Microsecond, 220 * time.Microsecond
			n := sort.Search(len(list), func(n int) bool { return list[n].Sent >= f.Swap-before })
			if n == len(list) || list[n].Sent > f.Actual.To || f.Latched == 0 {
				continue
			}
			changes = append(changes, change{list[n].Received, list[n].To, 1}, change{f.Latched + wakes, surfaceFlingerPID, -1})
		}
		k.count(fmt.Sprintf(name, l.Title, l.ID), changes)
	}
}

// count adds the values of a counter of SurfaceFlinger.
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

// vsyncs adds the counter that SurfaceFlinger's thread for the apps' vsyncs toggles with each
// (DispSyncSource::onDispSyncEvent): there is one whenever an app has requested it.
func (k *kernel) vsyncs(t *timeline.Timeline) {
	tid := k.named(surfaceFlingerPID, "app")
	if tid == 0 {
		return
	}
	var times []time.Duration
	for _, l := range t.Layers {
		for i := range l.Frames {
			times = append(times, l.Frames[i].Expected.From)
		}
	}
	slices.Sort(times)
	for i, at := range slices.Compact(times) {
		if r, writes, ok := k.writes(tid, at); ok {
			k.print(r, writes, beginsBefore, fmt.Sprintf("C|%d|VSYNC-app|%d\n", surfaceFlingerPID, i%2))
		}
	}
}
