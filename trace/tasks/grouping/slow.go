package grouping

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/trace/tasks"
)

// Limits of the tasks of a repetition whose runs are looked at (Slow).
const (
	maxSlow   = 20
	maxLooked = 100             // with those ahead of them
	leastRun  = time.Second / 5 // of one
)

// Slow returns the tasks of a repetition that waited or ran for a threshold or more, the longest
// first, and after each of them those that ran meanwhile, as far as they took long: their places in
// the list, of which each is at most once. It is what is to be known of them beyond their times
// (Repetition.Paths).
func Slow(list tasks.List, threshold time.Duration) []int {
	var slow []int
	for i := range list.Tasks {
		if t := &list.Tasks[i]; t.Started != tasks.Unknown && longer(t) >= threshold {
			slow = append(slow, i)
		}
	}
	if len(slow) == 0 {
		return nil
	}
	slices.SortStableFunc(slow, func(a, b int) int { return cmp.Compare(longer(&list.Tasks[b]), longer(&list.Tasks[a])) })
	queues := QueuesOf(list)
	known := map[int]bool{}
	var out []int
	add := func(i int) {
		if ran, ok := list.Tasks[i].Ran(); ok && ran >= leastRun && !known[i] && len(out) < maxLooked {
			known[i] = true
			out = append(out, i)
		}
	}
	for _, i := range slow[:min(len(slow), maxSlow)] {
		add(i)
		t := list.Tasks[i]
		if t.Scheduled == tasks.Unknown || t.Unit < 0 || t.Unit >= len(list.Units) {
			continue
		}
		queues.ahead(t.Unit, 0, due(t), t.Started, func(task int32) { add(int(task)) })
	}
	return out
}
