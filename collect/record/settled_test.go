package record

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/logcat"
	"github.com/apkgate/apkgate/trace/tasks"
	"github.com/apkgate/apkgate/trace/tasks/grouping"
)

const ms = time.Millisecond

// An event lasts until its last frame, an event without frames has no such time, and a frame of
// unknown duration counts from its vsync.
func TestTimesUntilLastFrames(t *testing.T) {
	t.Parallel()
	at := func(at, took time.Duration) jank.Frame { return jank.Frame{At: at, Took: took} }
	it := Measurement{
		Events: []logcat.Event{{Name: "open", Time: 100 * ms}, {Name: "still", Time: 900 * ms}, {Name: "back", Time: time.Second}},
		Frames: []jank.Frame{at(50*ms, 5*ms), at(110*ms, 300*ms), at(200*ms, 10*ms), at(1500*ms, jank.Unknown)},
	}.iteration()
	want := []float64{-1, 310, -1, 500}
	for i, b := range it.Events {
		got, known := b.Metrics["events.settled_ms"]
		if known != (want[i] >= 0) || known && got != want[i] {
			t.Errorf("%s: %v ms, want %v", b.Name, got, want[i])
		}
	}
	if it.Metrics["events.settled_ms"] != 500 {
		t.Errorf("the whole: %v ms", it.Metrics["events.settled_ms"])
	}
}

// A task belongs to the event after which it was scheduled, however long it waits.
func TestTasksOfEvents(t *testing.T) {
	t.Parallel()
	queues := grouping.QueuesOf(tasks.List{Units: []tasks.Unit{{Name: "saver", Capacity: 1}}, Tasks: []tasks.Task{
		{Scheduled: 150 * ms, Started: 150 * ms, Done: 950 * ms}, {Scheduled: 200 * ms, Started: 950 * ms, Done: 960 * ms}, {Scheduled: 970 * ms, Started: 975 * ms, Done: 999 * ms},
	}})
	it := Measurement{Tasks: &queues, Events: []logcat.Event{{Name: "open", Time: 100 * ms}, {Name: "back", Time: 900 * ms}}}.iteration()
	for i, want := range []map[string]float64{
		{"tasks.queued_ms": 0, "tasks.ran_ms": 0, "tasks.waiting": 0},
		{"tasks.queued_ms": 750, "tasks.ran_ms": 800, "tasks.waiting": 1},
		{"tasks.queued_ms": 5, "tasks.ran_ms": 24, "tasks.waiting": 0},
	} {
		for name, value := range want {
			if got := it.Events[i].Metrics[name]; got != value {
				t.Errorf("%s: %s %v, want %v", it.Events[i].Name, name, got, value)
			}
		}
	}
	if it.Metrics["tasks.queued_ms"] != 750 || it.Metrics["tasks.ran_ms"] != 800 {
		t.Errorf("the whole: %v", it.Metrics)
	}
}
