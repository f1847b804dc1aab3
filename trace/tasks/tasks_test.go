package tasks

import (
	"testing"
	"time"
)

func TestTaskTimes(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		task        Task
		queued, ran time.Duration // -1 where unknown
	}{
		"waited and ran":          {Task{Scheduled: 10 * ms, Started: 15 * ms, Done: 40 * ms}, 5 * ms, 25 * ms},
		"a delay is no queueing":  {Task{Scheduled: 10 * ms, Delay: 4 * ms, Started: 15 * ms, Done: 40 * ms}, 1 * ms, 25 * ms},
		"started before its time": {Task{Scheduled: 10 * ms, Delay: 9 * ms, Started: 15 * ms, Done: 40 * ms}, 0, 25 * ms},
		"never started":           {Task{Scheduled: 10 * ms, Started: Unknown, Done: Unknown}, Unknown, Unknown},
		"sent before the trace":   {Task{Scheduled: Unknown, Started: 15 * ms, Done: 40 * ms}, Unknown, 25 * ms},
		"still running":           {Task{Scheduled: 10 * ms, Started: 15 * ms, Done: Unknown}, 5 * ms, Unknown},
	} {
		for what, of := range map[string]struct {
			get  func() (time.Duration, bool)
			want time.Duration
		}{"queued": {c.task.Queued, c.queued}, "ran": {c.task.Ran, c.ran}} {
			got, known := of.get()
			if !known {
				got = Unknown
			}
			if got != of.want {
				t.Errorf("%s: %s %v, want %v", name, what, got, of.want)
			}
		}
	}
}
