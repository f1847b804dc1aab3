package pftrace

import (
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// screens adds what the UI thread writes where a screen goes that has tasks to do: the pause of its
// activity, the resumption of the next one, and its stop (Activity.performPause, performResume and
// performStop).
func (k *kernel) screens(t *timeline.Timeline) {
	gone := map[int32][]time.Duration{}
	for _, one := range t.Tasks {
		if one.Gone > 0 && !slices.Contains(gone[one.PID], one.Gone) {
			gone[one.PID] = append(gone[one.PID], one.Gone)
		}
	}
	for pid, times := range gone {
		slices.Sort(times)
		activity := func(n int) string { return fmt.Sprintf("%s.Screen%d", k.threads[pid].Process, n) }
		for i, gone := range times {
			_, at, ok := k.writes(pid, gone)
			if !ok {
				continue
			}
			const step = 20 * time.Microsecond
			for n, name := range []string{"performPause:" + activity(i), "performResume:" + activity(i+1), "performStop:" + activity(i)} {
				from := at + time.Duration(2*n+1)*step
				k.says(pid, "wm", name, timeline.Interval{From: from, To: from + step})
			}
		}
	}
}
