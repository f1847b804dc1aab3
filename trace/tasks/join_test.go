package tasks

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
)

// at is a task with its times in ms, less than 0 where they are unknown.
func at(unit int, name string, scheduled, started, done int) Task {
	t := Task{Unit: unit, Name: name, Scheduled: Unknown, Started: Unknown, Done: Unknown}
	for of, ms := range map[*time.Duration]int{&t.Scheduled: scheduled, &t.Started: started, &t.Done: done} {
		if ms >= 0 {
			*of = time.Duration(ms) * time.Millisecond
		}
	}
	return t
}

// A task that both sources have is one; the other's units come to those of the list.
func TestJoin(t *testing.T) {
	messages := List{
		Tells: Tells{Capacity: true}, LeftOut: 1, Warnings: []run.Warning{{Text: "a"}},
		Units: []Unit{{Name: "main", Kind: run.MainThread}, {Name: "disk", Kind: run.HandlerThread}},
		Tasks: []Task{at(0, "message 1", 1, 2, 3), at(1, "message 7", 10, 20, 40), at(1, "message 8", 11, 40, 50), at(1, "message 7", 12, -1, -1)},
	}
	flush, gone := at(1, "Flush", 10, 21, 39), at(1, "Gone", 12, -1, -1)
	flush.Context, flush.Inside = []string{"Disk.flush(Disk.java:7)"}, "write"
	gone.Cancelled = true
	messages.Join(List{
		Tells: Tells{Contexts: true, Capacity: true, Cancellation: true}, LeftOut: 2, Warnings: []run.Warning{{Text: "a"}, {Text: "b"}},
		Units: []Unit{{Name: "images", Kind: run.ThreadPool, Capacity: 2}, {Name: "disk", Kind: run.HandlerThread}},
		Tasks: []Task{at(0, "Icon", 5, 6, 30), flush, gone, at(1, "before it began", -1, -1, -1)},
	})
	var got []string
	for _, one := range messages.Tasks {
		got = append(got, fmt.Sprint(messages.Units[one.Unit].Name, " ", one.Name, " ", one.Begun().Milliseconds(), " ", one.Context, one.Inside))
	}
	want := []string{"main message 1 1 []", "images Icon 5 []", "disk Flush 10 [Disk.flush(Disk.java:7)]write", "disk message 8 11 []", "disk message 7 12 []"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	// Which messages were removed is not told, and of the pool's tasks it is.
	for i, silent := range []bool{true, true, false} {
		if messages.Units[i].NoRemovals != silent {
			t.Errorf("%+v, want that removals are unknown: %v", messages.Units[i], silent)
		}
	}
	if messages.Tells != (Tells{true, true, true}) || messages.LeftOut != 3 || len(messages.Warnings) != 2 {
		t.Errorf("tells %+v, left out %d, warnings %v", messages.Tells, messages.LeftOut, messages.Warnings)
	}
}

// What is beyond the limits counts as left out.
func TestJoinLimits(t *testing.T) {
	full := List{Units: make([]Unit, MaxUnits-1), Tasks: make([]Task, MaxTasks-2)}
	for i := range full.Units {
		full.Units[i].Name = fmt.Sprint(i)
	}
	full.Join(List{Units: []Unit{{Name: "a"}, {Name: "b"}}, Tasks: []Task{at(0, "", 1, 2, 3), at(1, "", 1, 2, 3), at(0, "", 1, 2, 3), at(0, "", 1, 2, 3)}})
	if len(full.Units) != MaxUnits || len(full.Tasks) != MaxTasks || full.LeftOut != 2 {
		t.Errorf("%d units, %d tasks, %d left out", len(full.Units), len(full.Tasks), full.LeftOut)
	}
}
