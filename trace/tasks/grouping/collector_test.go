package grouping

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

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

// Case 1 of the paper (Figure 5), in two repetitions, of which one shows what the task ahead waited
// for.
func TestSequentialExecution(t *testing.T) {
	t.Parallel()
	synced := []run.TaskStep{{Kind: run.WaitIO, FromMS: 1000, ToMS: 2650}}
	var all []Repetition
	for n, late := range []int{1650, 100} {
		list := listOf(named("de.jdsoft.law.data.LawSectionList", sectionList, at(1000, 1000, 1000+late)), named("de.jdsoft.law.data.UpdateLawList", updateList, at(1000, 1000+late, 1200+late)))
		list.Tells = tasks.Tells{Contexts: true, Capacity: true}
		one := Repetition{Number: n + 1, List: list, Events: []trace.Event{{Name: "start", At: 100 * msec}, {Name: "open", At: 900 * msec}, {Name: "back", At: 9_000 * msec}}}
		if got := Slow(list, Late); n == 0 && !slices.Equal(got, []int{0, 1}) || n == 1 && got != nil {
			t.Errorf("repetition %d: slow are %v", n, got)
		} else if n == 0 {
			one.Paths = map[int][]run.TaskStep{0: synced}
		}
		all = append(all, one)
	}
	waited, ahead := run.TasksAhead{Group: 0, Tasks: 2, RanMS: 875}, run.TasksAhead{Group: 0, Tasks: 1, RanMS: 1650}
	run1 := []run.TaskRun{{Group: 0, FromMS: 1000, ToMS: 2650, Thread: "AsyncTask #1", Path: synced}}
	run2 := []run.TaskRun{{Group: 0, FromMS: 1000, ToMS: 1100, Thread: "AsyncTask #1"}}
	want := &run.Tasks{
		Source: "perfetto", Tells: []string{run.TellsContexts, run.TellsCapacity}, Units: []run.TaskUnit{{Name: "AsyncTask", Kind: run.AsyncTask, Capacity: 1}},
		Groups: []run.TaskGroup{
			{
				Name: "de.jdsoft.law.data.LawSectionList", Event: "open", Context: sectionList, Scheduled: 2, Started: 2, Done: 2,
				Queued: run.Spread{Count: 2, QuantilesMS: []float64{0, 0}}, Ran: run.Spread{Count: 2, MeanMS: 875, QuantilesMS: []float64{100, 1650}},
				Repetitions: []int{1, 1}, QueuedMaxMS: []float64{0, 0}, RanMaxMS: []float64{1650, 100},
				Longest: []run.SlowTask{{Repetition: 1, AtMS: 1000, RanMS: 1650, Sender: "main", Thread: "AsyncTask #1", EventMS: 900, Path: synced}, {Repetition: 2, AtMS: 1000, RanMS: 100, Sender: "main", Thread: "AsyncTask #1", EventMS: 900}},
			},
			{
				Name: "de.jdsoft.law.data.UpdateLawList", Event: "open", Context: updateList, Scheduled: 2, Started: 2, Done: 2,
				Queued: run.Spread{Count: 2, MeanMS: 875, QuantilesMS: []float64{100, 1650}}, Ran: run.Spread{Count: 2, MeanMS: 200, QuantilesMS: []float64{200, 200}},
				QueueMean: 1, QueueMax: 1, WaitedFor: []run.TasksAhead{waited}, Repetitions: []int{1, 1}, QueuedMaxMS: []float64{1650, 100}, RanMaxMS: []float64{200, 200},
				Late: &run.LateTasks{OverMS: 500, Tasks: 1, QueueMean: 1, AheadRanMS: 1650, WaitedFor: []run.TasksAhead{ahead}},
				Longest: []run.SlowTask{
					{Repetition: 1, AtMS: 1000, QueuedMS: 1650, RanMS: 200, Sender: "main", Thread: "AsyncTask #1", EventMS: 900, Ahead: run1},
					{Repetition: 2, AtMS: 1000, QueuedMS: 100, RanMS: 200, Sender: "main", Thread: "AsyncTask #1", EventMS: 900, Ahead: run2},
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

// groupsBy returns the groups of a section by event and name.
func groupsBy(got *run.Tasks) map[string]run.TaskGroup {
	out := map[string]run.TaskGroup{}
	for _, g := range got.Groups {
		out[g.Event+" "+g.Name] = g
	}
	return out
}

// A task is obsolete that ran on after the screen from which it was scheduled was stopped.
func TestObsoleteTasks(t *testing.T) {
	t.Parallel()
	screens := []trace.Screen{{From: 0, To: 100 * msec}, {From: 50 * msec, To: tasks.Unknown}, {From: 200 * msec, To: 300 * msec}}
	for name, c := range map[string]struct {
		task tasks.Task
		want int
	}{
		"done in time":                       {at(10, 20, 100), 0},
		"ran on":                             {at(10, 20, 101), 1},
		"began afterwards":                   {at(10, 150, 160), 1},
		"still running at the end":           {at(10, 20, -1), 1},
		"of the next screen":                 {at(50, 150, 160), 0},
		"of a screen that came again":        {at(250, 260, 301), 1},
		"scheduled after the last one":       {at(300, 310, 320), 0},
		"scheduling unknown":                 {at(-1, 20, 160), 0},
		"never started":                      {at(10, -1, -1), 0},
		"scheduled as the screen is resumed": {at(200, 210, 310), 1},
	} {
		if got := collect(t, Repetition{Number: 1, List: listOf(named("a", nil, c.task)), Screens: screens}).Groups[0].Obsolete; got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	before := []trace.Screen{{From: 50 * msec, To: 100 * msec}}
	if got := collect(t, Repetition{Number: 1, List: listOf(named("a", nil, at(10, 20, 160))), Screens: before}).Groups[0].Obsolete; got != 0 {
		t.Errorf("before the first screen: %d", got)
	}
}

// A task is superseded that waited while the same one was scheduled again in its unit, after
// whichever event.
func TestSupersededTasks(t *testing.T) {
	t.Parallel()
	elsewhere := named("query", nil, at(15, 100, 110))
	elsewhere.Unit = 1
	debounced := named("late", nil, at(0, 90, 100))
	debounced.Delay = 50 * msec
	got := groupsBy(collect(t, Repetition{Number: 1, Events: []trace.Event{{Name: "type", At: 0}, {Name: "type on", At: 20 * msec}}, List: listOf(
		named("query", nil, at(0, 0, 30)), named("query", nil, at(10, 30, 60)), named("other", nil, at(12, 60, 61)), named("query", nil, at(20, 61, 90)), named("query", nil, at(61, 90, 95)), elsewhere,
		debounced, named("late", nil, at(40, 100, 110)), named("twin", nil, at(110, 120, 130)), named("twin", nil, at(110, 130, 140)), named("gone", nil, at(1, -1, -1)), named("gone", nil, at(2, 3, 4)),
	)}))
	for name, want := range map[string]int{"type query": 1, "type on query": 0, "type other": 0, "type late": 0, "type on twin": 0, "type gone": 0} {
		if got[name+" from main"].Superseded != want {
			t.Errorf("%s: %d superseded, want %d", name, got[name+" from main"].Superseded, want)
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	removed := at(3, -1, -1)
	removed.Cancelled = true
	list := listOf(named("a", updateList, at(0, 1, 2)), named("a", updateList, at(1, 5, -1)), named("a", updateList, at(-1, 2, 5)), named("a", updateList, removed))
	c := NewCollector("", Late)
	list.Warnings = []run.Warning{{Text: "the ring was full"}}
	list.LeftOut = 7
	c.Add(Repetition{Number: 18, List: list})
	c.Add(Repetition{Number: 2, List: list})
	got := c.Tasks().Groups[0]
	want := run.TaskGroup{
		Name: "a", Context: updateList, Scheduled: 6, Started: 6, Done: 4, Cancelled: 2, QueueMean: 0.667, QueueMax: 1, Superseded: 2,
		Queued: run.Spread{Count: 4, MeanMS: 2.5, QuantilesMS: []float64{1, 1, 4, 4}}, Ran: run.Spread{Count: 4, MeanMS: 2, QuantilesMS: []float64{1, 1, 3, 3}},
		Repetitions: []int{0, 8}, QueuedMaxMS: []float64{0, 4}, RanMaxMS: []float64{0, 3}, WaitedFor: []run.TasksAhead{{Group: 0, Tasks: 4, RanMS: 2}},
		Longest: []run.SlowTask{{Repetition: 18, AtMS: 1, QueuedMS: 4, Sender: "main", Thread: "AsyncTask #1", Ahead: []run.TaskRun{{Group: 0, FromMS: 1, ToMS: 2, Thread: "AsyncTask #1"}, {Group: 0, FromMS: 2, ToMS: 5, Thread: "AsyncTask #1"}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]run.Warning{{Text: "the ring was full"}, {Text: "14 asynchronous tasks were left out: there are too many"}}, c.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// What a source tells holds for the run if every repetition tells it.
func TestTells(t *testing.T) {
	t.Parallel()
	c := NewCollector("", Late)
	for _, one := range []struct {
		tells tasks.Tells
		want  []string
	}{
		{tasks.Tells{Contexts: true, Capacity: true, Cancellation: true}, []string{run.TellsContexts, run.TellsCapacity, run.TellsCancellation}},
		{tasks.Tells{Contexts: true, Cancellation: true}, []string{run.TellsContexts, run.TellsCancellation}},
		{tasks.Tells{Contexts: true, Capacity: true}, []string{run.TellsContexts}},
		{tasks.Tells{Capacity: true, Cancellation: true}, nil},
		{tasks.Tells{Contexts: true, Capacity: true, Cancellation: true}, nil},
	} {
		list := listOf(at(0, 1, 2))
		list.Tells = one.tells
		c.Add(Repetition{List: list})
		if got := c.Tasks().Tells; !slices.Equal(got, one.want) {
			t.Errorf("with %+v: %v, want %v", one.tells, got, one.want)
		}
	}
	if got := c.Warnings(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// What ran during the waits of two tasks counts once, what ran before an unknown one not at all.
func TestWaitedFor(t *testing.T) {
	t.Parallel()
	got := collect(t, Repetition{List: listOf(
		named("a", nil, at(0, 0, 100)), named("b", nil, at(0, 100, 110)), named("c", nil, at(10, 110, 300)), named("a", nil, at(20, 300, 340)), named("b", nil, at(50, 340, 400)),
		named("d", nil, at(-1, 400, 410)), named("e", nil, at(405, 410, 420)), named("a", nil, at(500, 500, 501)),
	)})
	want := map[string]string{"a": "c 1 190, a 1 100, b 1 10", "b": "c 1 190, a 2 70, b 1 10", "c": "a 1 100, b 1 10", "d": "", "e": "d 1 10"}
	for _, g := range got.Groups {
		var list []string
		for _, w := range g.WaitedFor {
			list = append(list, fmt.Sprintf("%s %d %g", got.Groups[w.Group].Name[:1], w.Tasks, w.RanMS))
		}
		if found := strings.Join(list, ", "); found != want[g.Name[:1]] {
			t.Errorf("%s waited for %s, want %s", g.Name, found, want[g.Name[:1]])
		}
	}
}

// Threads that are numbered are one unit of the record, and each its own queue.
func TestNumberedThreads(t *testing.T) {
	t.Parallel()
	list := tasks.List{Source: "perfetto", Units: []tasks.Unit{{Name: "Thread-1"}, {Name: "Thread-2", Kind: run.PlainThread}, {Name: "pool-1", Kind: run.ThreadPool, Capacity: -3}, {Name: "pool-2", Kind: run.ThreadPool}}}
	for unit := range 4 {
		one := at(0, 0, 600)
		one.Unit = unit
		list.Tasks = append(list.Tasks, one)
	}
	got := collect(t, Repetition{List: list})
	if diff := cmp.Diff([]run.TaskUnit{{Name: "Thread-#", Kind: run.PlainThread}, {Name: "pool-1", Kind: run.ThreadPool}, {Name: "pool-2", Kind: run.ThreadPool}}, got.Units); diff != "" {
		t.Errorf("units (-want +got):\n%s", diff)
	}
	if g := got.Groups[0]; g.Scheduled != 2 || len(g.Longest) != 2 || g.QueueMax != 0 || len(got.Groups) != 3 {
		t.Errorf("groups %+v", got.Groups)
	}
}

// The record keeps its limits, the groups with the longest times first, and is valid.
func TestLimits(t *testing.T) {
	t.Parallel()
	list := tasks.List{Source: "perfetto"}
	deep := slices.Repeat([]string{strings.Repeat("a.b.c", 65) + "(C.java:1)"}, 70)
	for i := range 250 {
		list.Units = append(list.Units, tasks.Unit{Name: fmt.Sprint("pool ", i), Kind: run.ThreadPool})
	}
	free := make([]int, 250)
	distinct := map[[3]int]bool{}
	for i := range 3_000 {
		unit := i % 250
		if i >= 1_500 {
			unit = 0 // with a long queue
		}
		free[unit] = max(free[unit], i) + 1 + i%7
		distinct[[3]int{min(i/50, 40), unit, i % 600}] = true
		one := named(fmt.Sprint("task ", i%600), deep, at(i, free[unit]-1-i%7, free[unit]))
		one.Unit, one.Sender, one.Inside = unit, strings.Repeat("s", 10_000), strings.Repeat("ü", 10_000)
		if i%2 == 0 {
			one.Context = nil
		}
		list.Tasks = append(list.Tasks, one)
	}
	r := Repetition{Number: 1, List: list}
	for i := range 60 {
		r.Events = append(r.Events, trace.Event{Name: fmt.Sprint("tap ", i), At: time.Duration(i*50) * msec})
	}
	c := NewCollector("a.b", Late)
	c.Add(r)
	got := c.Tasks()
	if len(got.Groups) != run.MaxTaskGroups || got.LeftOut != len(distinct)-run.MaxTaskGroups {
		t.Errorf("%d groups, %d units, %d left out", len(got.Groups), len(got.Units), got.LeftOut)
	}
	events, ahead, waited := map[string]bool{}, 0, 0
	for i, g := range got.Groups {
		events[g.Event] = true
		waited = max(waited, len(g.WaitedFor))
		for _, one := range g.Longest {
			ahead = max(ahead, len(one.Ahead))
			for k := 1; k < len(one.Ahead); k++ {
				if one.Ahead[k].FromMS < one.Ahead[k-1].FromMS {
					t.Fatalf("the tasks ahead are not in the order of time: %+v", one.Ahead)
				}
			}
		}
		if longest := func(g run.TaskGroup) float64 { return max(slices.Max(g.QueuedMaxMS), slices.Max(g.RanMaxMS)) }; i > 0 && longest(g) > longest(got.Groups[i-1]) {
			t.Errorf("group %d has a longer time than the one before", i)
		}
		if len(g.Context) != 0 && (len(g.Context) != 64 || len(g.Context[0]) > 300 || !strings.HasSuffix(g.Context[0], "…")) {
			t.Errorf("a context of %d frames, the first %q", len(g.Context), g.Context[0])
		}
	}
	if len(events) > 41 || !events[""] || ahead != run.MaxTasksAhead || waited != run.MaxTasksWaited {
		t.Errorf("%d events, %d tasks ahead, %d groups waited for", len(events), ahead, waited)
	}
	valid(t, got)
}

// No times, whatever they are, break a record.
func TestHostileTimes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	times := []time.Duration{tasks.Unknown, 0, 1, -7, time.Hour, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 50 * msec}
	any := func() time.Duration { return times[random.IntN(len(times))] }
	for range 200 {
		list := listOf()
		list.Tells.Cancellation = random.IntN(2) == 0
		for range 30 {
			list.Tasks = append(list.Tasks, tasks.Task{
				Unit: random.IntN(4) - 1, Name: string(rune('a' + random.IntN(3))), Scheduled: any(), Started: any(), Done: any(), Delay: any(), Cancelled: random.IntN(3) == 0,
				Context: [][]string{nil, {}, {""}, {"("}, {"a.b.c", "\xff"}}[random.IntN(5)], Sender: "\xff", Inside: "\xff",
			})
		}
		c := NewCollector("..", any())
		c.Add(Repetition{Number: random.IntN(3), List: list, Events: []trace.Event{{Name: "\xff", At: -5}, {Name: "b", At: math.MaxInt64}}, Screens: []trace.Screen{{From: any(), To: any()}}})
		valid(t, c.Tasks())
		q := QueuesOf(list)
		for name, v := range q.Metrics(any(), any()) {
			if !(v >= 0) {
				t.Errorf("%s is %g of %+v", name, v, list.Tasks)
			}
		}
	}
}

// valid fails the test if the section is not valid in a record.
func valid(t *testing.T, got *run.Tasks) {
	t.Helper()
	whole := run.Run{Format: run.Format, App: run.App{Package: "a.b"}, Scenario: "s", Status: run.Complete, Iterations: make([]run.Iteration, 1), Tasks: got}
	if err := whole.Validate(); err != nil {
		t.Error(err)
	}
}

// Of more units than a record has room for, those with the longest times are kept.
func TestTooManyUnits(t *testing.T) {
	t.Parallel()
	list := tasks.List{Source: "perfetto"}
	for i := range 250 {
		list.Units = append(list.Units, tasks.Unit{Name: fmt.Sprint("pool ", i), Kind: run.ThreadPool})
		for range 2 {
			one := at(0, 0, i)
			one.Unit = i
			list.Tasks = append(list.Tasks, one)
		}
	}
	got := collect(t, Repetition{List: list})
	if len(got.Groups) != 200 || len(got.Units) != 200 || got.LeftOut != 50 || got.Groups[199].Ran.MeanMS != 50 || got.Units[199].Name != "pool 50" || got.Groups[199].Unit != 199 {
		t.Errorf("%d groups, %d units, %d left out, the last %+v", len(got.Groups), len(got.Units), got.LeftOut, got.Groups[len(got.Groups)-1])
	}
}

// Of tasks beyond the limit of a run, the first are kept.
func TestTooManyTasks(t *testing.T) {
	t.Parallel()
	c := NewCollector("", Late)
	c.kept = maxTasks - 2
	c.Add(Repetition{List: listOf(at(0, 1, 2), at(1, 2, 3), at(2, 3, 900))})
	if got := c.Tasks().Groups[0]; got.Scheduled != 2 {
		t.Errorf("%d tasks", got.Scheduled)
	}
	if got := c.Warnings(); len(got) != 1 || got[0].Text != "1 asynchronous task was left out: there are too many" {
		t.Errorf("%v", got)
	}
}
