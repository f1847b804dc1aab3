package pftrace

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/timeline"
)

const packetProcesses = 2

// Processes writes the processes and threads of a time (ps/process_tree.proto): those
// that are there when it begins, and others when they begin. CLOCK_BOOTTIME is ahead of
// the timeline by so much.
func (w *Writer) Processes(t *timeline.Timeline, during timeline.Interval, ahead time.Duration) {
	at := map[time.Duration][]timeline.Thread{}
	for _, one := range t.Threads {
		if one.Began < during.To && (one.Ended == 0 || one.Ended > during.From) {
			begins := max(one.Began, during.From)
			at[begins] = append(at[begins], one)
		}
	}
	var times []time.Duration
	for begins := range at {
		times = append(times, begins)
	}
	slices.Sort(times)
	for _, begins := range times {
		w.packet(sequenceProbes, begins+ahead, 0, packetProcesses, tree(at[begins]))
	}
}

// tree is a ProcessTree.
func tree(threads []timeline.Thread) []byte {
	const ofZygote = 600
	slices.SortStableFunc(threads, func(a, b timeline.Thread) int { return cmp.Compare(a.TID, b.TID) })
	var b []byte
	for _, one := range threads {
		if one.TID == one.PID {
			b = message(b, 1, message(number(number(nil, 1, uint64(one.PID)), 2, ofZygote), 3, []byte(one.Process)))
			continue
		}
		b = message(b, 2, number(message(number(nil, 1, uint64(one.TID)), 2, []byte(one.Name)), 3, uint64(one.PID)))
	}
	return b
}
