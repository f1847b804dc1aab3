package grouping

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/tasks"
)

// Contexts of Figure 5.
var (
	updateList  = []string{"android.os.AsyncTask.executeOnExecutor (Native Method)", "android.os.AsyncTask.execute (AsyncTask.java:535)", "de.jdsoft.law.LawListFragment.onCreate (LawListFragment.java:91)"}
	sectionList = []string{"android.os.AsyncTask.executeOnExecutor (Native Method)", "android.os.AsyncTask.execute (AsyncTask.java:535)", "de.jdsoft.law.LawListFragment.onCreate (LawListFragment.java:87)"}
)

func named(name string, context []string, t tasks.Task) tasks.Task {
	t.Name, t.Context, t.Sender, t.Thread = name, context, "main", "AsyncTask #1"
	return t
}

func collect(t *testing.T, all ...Repetition) *run.Tasks {
	t.Helper()
	c := NewCollector("de.jdsoft.law", Late)
	for _, r := range all {
		c.Add(r)
	}
	return c.Tasks()
}

// Case 1 of the paper (Figure 5), in two repetitions.
func TestSequentialExecution(t *testing.T) {
	t.Parallel()
	var all []Repetition
	for n, late := range []int{1650, 100} {
		list := listOf(named("de.jdsoft.law.data.LawSectionList", sectionList, at(1000, 1000, 1000+late)), named("de.jdsoft.law.data.UpdateLawList", updateList, at(1000, 1000+late, 1200+late)))
		list.Tells = tasks.Tells{Contexts: true, Capacity: true}
		all = append(all, Repetition{Number: n + 1, List: list, Events: []trace.Event{{Name: "open", At: 900 * msec}}})
	}
	waited, ahead := run.TasksAhead{Group: 0, Tasks: 2, RanMS: 875}, run.TasksAhead{Group: 0, Tasks: 1, RanMS: 1650}
	run1 := []run.TaskRun{{Group: 0, FromMS: 1000, ToMS: 2650, Thread: "AsyncTask #1"}}
	run2 := []run.TaskRun{{Group: 0, FromMS: 1000, ToMS: 1100, Thread: "AsyncTask #1"}}
	want := &run.Tasks{
		Source: "perfetto", Tells: []string{run.TellsContexts, run.TellsCapacity}, Units: []run.TaskUnit{{Name: "AsyncTask", Kind: run.AsyncTask, Capacity: 1}},
		Groups: []run.TaskGroup{
			{
				Name: "de.jdsoft.law.data.LawSectionList", Event: "open", Context: sectionList, Scheduled: 2, Started: 2, Done: 2,
				Queued: run.Spread{Count: 2, QuantilesMS: []float64{0, 0}}, Ran: run.Spread{Count: 2, MeanMS: 875, QuantilesMS: []float64{100, 1650}},
				Repetitions: []int{1, 1}, QueuedMaxMS: []float64{0, 0}, RanMaxMS: []float64{1650, 100},
				Longest: []run.SlowTask{{Repetition: 1, AtMS: 1000, RanMS: 1650, Sender: "main", Thread: "AsyncTask #1"}, {Repetition: 2, AtMS: 1000, RanMS: 100, Sender: "main", Thread: "AsyncTask #1"}},
			},
			{
				Name: "de.jdsoft.law.data.UpdateLawList", Event: "open", Context: updateList, Scheduled: 2, Started: 2, Done: 2,
				Queued: run.Spread{Count: 2, MeanMS: 875, QuantilesMS: []float64{100, 1650}}, Ran: run.Spread{Count: 2, MeanMS: 200, QuantilesMS: []float64{200, 200}},
				QueueMean: 1, QueueMax: 1, WaitedFor: []run.TasksAhead{waited}, Repetitions: []int{1, 1}, QueuedMaxMS: []float64{1650, 100}, RanMaxMS: []float64{200, 200},
				Late: &run.LateTasks{OverMS: 500, Tasks: 1, QueueMean: 1, AheadRanMS: 1650, WaitedFor: []run.TasksAhead{ahead}},
				Longest: []run.SlowTask{
					{Repetition: 1, AtMS: 1000, QueuedMS: 1650, RanMS: 200, Sender: "main", Thread: "AsyncTask #1", Ahead: run1},
					{Repetition: 2, AtMS: 1000, QueuedMS: 100, RanMS: 200, Sender: "main", Thread: "AsyncTask #1", Ahead: run2},
				},
			},
		},
	}
	got := collect(t, all...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if all[0].List.Tasks[0].Context == nil {
		t.Error("the list of the caller lost its contexts")
	}
}

func TestCollectorWithoutTasks(t *testing.T) {
	t.Parallel()
	if got := collect(t, Repetition{Number: 1, List: listOf()}); got != nil {
		t.Errorf("%+v", got)
	}
}

// Tasks without a context are told apart by their unit, name, sender and what is inside.
func TestGroupsWithoutContexts(t *testing.T) {
	t.Parallel()
	task := func(unit int, name, inside, sender string) tasks.Task {
		one := at(0, 0, 1)
		one.Unit, one.Name, one.Inside, one.Sender, one.Thread = unit, name, inside, sender, "worker-1"
		return one
	}
	got := collect(t, Repetition{Number: 1, List: listOf(
		task(0, "message 3", "", ""), task(0, "message 3", "bind 7", "pool-1-thread-2"), task(0, "message 3", "bind 8", "pool-1-thread-3"),
		task(0, "message 3", "message 3", "worker-2"), task(1, "", "draw", "main"), task(1, "", "", "main"),
	)})
	type line struct {
		unit, tasks int
		name        string
	}
	var lines []line
	for _, g := range got.Groups {
		lines = append(lines, line{g.Unit, g.Scheduled, g.Name})
	}
	want := []line{{0, 2, "message 3"}, {0, 2, "message 3: bind # from pool-#-thread-#"}, {1, 1, "draw from main"}, {1, 1, "from main"}}
	if diff := cmp.Diff(want, lines, cmp.AllowUnexported(line{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Equal(got.Units, []run.TaskUnit{{Name: "AsyncTask", Kind: run.AsyncTask, Capacity: 1}, {Name: "main", Kind: run.MainThread}}) {
		t.Errorf("units %+v", got.Units)
	}
}
