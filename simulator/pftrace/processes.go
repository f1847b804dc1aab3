package pftrace

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

const packetProcesses = 2

// Processes writes the processes and threads of a time (ps/process_tree.proto): those that
// exist when it begins, and others when they start. ahead is the offset of CLOCK_BOOTTIME from
// the timeline.
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

// tree encodes a ProcessTree.
func tree(threads []timeline.Thread) []byte {
	slices.SortStableFunc(threads, func(a, b timeline.Thread) int { return cmp.Compare(a.TID, b.TID) })
	var b []byte
	for _, one := range threads {
		if one.TID == one.PID {
			b = message(b, 1, message(number(number(nil, 1, uint64(one.PID)), 2, parentOf(one)), 3, []byte(one.Process)))
			continue
		}
		b = message(b, 2, number(message(number(nil, 1, uint64(one.TID)), 2, []byte(one.Name)), 3, uint64(one.PID)))
	}
	return b
}

// parentOf returns a process's parent: kthreadd for the kernel's own, init for the system's,
// zygote for apps and system_server.
func parentOf(one timeline.Thread) uint64 {
	const initPID, kthreadd, zygote, firstOfZygote = 1, 2, 600, 1000
	switch {
	case strings.HasPrefix(one.Name, "kworker/"):
		return kthreadd
	case one.PID < firstOfZygote:
		return initPID
	}
	return zygote
}
