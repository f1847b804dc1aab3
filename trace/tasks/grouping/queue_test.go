package grouping

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/trace/tasks"
)

const msec = time.Millisecond

// at returns a task of unit 0 that was scheduled, started and done at these milliseconds.
func at(scheduled, started, done int) tasks.Task {
	of := func(v int) time.Duration {
		if v < 0 {
			return tasks.Unknown
		}
		return time.Duration(v) * msec
	}
	return tasks.Task{Scheduled: of(scheduled), Started: of(started), Done: of(done)}
}

func listOf(all ...tasks.Task) tasks.List {
	return tasks.List{Source: "perfetto", Units: []tasks.Unit{{Name: "AsyncTask", Kind: "async-task", Capacity: 1}, {Name: "main", Kind: "main-thread"}}, Tasks: all}
}

func TestQueueLengths(t *testing.T) {
	t.Parallel()
	delayed := at(0, 30, 40)
	delayed.Delay = 5 * msec
	other := at(0, 30, 40)
	other.Unit = 1
	nowhere := at(0, 30, 40)
	nowhere.Unit = 7
	for name, c := range map[string]struct {
		tasks []tasks.Task
		want  []int32
	}{
		// Figure 4 of the paper: task 2 has a length of 1, task 3 of 2.
		"three tasks at once":                      {[]tasks.Task{at(0, 0, 10), at(0, 10, 20), at(0, 20, 30)}, []int32{0, 1, 2}},
		"the way to an idle thread is no queue":    {[]tasks.Task{at(0, 2, 10), at(1, 10, 20), at(1, 20, 30)}, []int32{0, 1, 2}},
		"one after the other":                      {[]tasks.Task{at(0, 1, 10), at(10, 11, 20), at(30, 31, 40)}, []int32{0, 0, 0}},
		"the queue empties":                        {[]tasks.Task{at(0, 0, 10), at(1, 10, 20), at(10, 20, 30), at(15, 30, 40)}, []int32{0, 1, 1, 2}},
		"a pool of three (case 3)":                 {[]tasks.Task{at(0, 0, 10), at(0, 0, 11), at(0, 0, 12), at(1, 10, 20), at(2, 11, 20)}, []int32{0, 0, 0, 1, 2}},
		"of another unit":                          {[]tasks.Task{at(0, 0, 10), other}, []int32{0, 0}},
		"of no unit":                               {[]tasks.Task{at(0, 0, 10), nowhere}, []int32{0, -1}},
		"an unknown scheduling":                    {[]tasks.Task{at(-1, 0, 10), at(5, 10, 20)}, []int32{-1, 1}},
		"one that is still running":                {[]tasks.Task{at(0, 0, -1), at(5, 10, 20)}, []int32{0, 0}},
		"a delay is no queue":                      {[]tasks.Task{at(0, 0, 4), delayed}, []int32{0, 0}},
		"a delayed task waits from when it is due": {[]tasks.Task{at(1, 1, 30), delayed, at(6, 40, 50)}, []int32{0, 1, 2}},
		"removed, perhaps":                         {[]tasks.Task{at(0, 0, 10), at(1, -1, -1), at(2, 10, 20)}, []int32{0, 0, 1}},
		"done at once":                             {[]tasks.Task{at(0, 5, 5), at(5, 6, 6)}, []int32{0, 0}},
	} {
		if diff := cmp.Diff(c.want, QueuesOf(listOf(c.tasks...)).lengths); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A source that tells of cancellation tells of tasks that wait for ever.
func TestQueueOfNeverStarted(t *testing.T) {
	t.Parallel()
	cancelled := at(2, -1, -1)
	cancelled.Cancelled = true
	list := listOf(at(0, 0, 10), at(1, -1, -1), cancelled, at(3, 10, 20))
	list.Tells.Cancellation = true
	if diff := cmp.Diff([]int32{0, 1, 1, 2}, QueuesOf(list).lengths); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	list.Units[0].NoRemovals = true
	if diff := cmp.Diff([]int32{0, 0, 0, 1}, QueuesOf(list).lengths); diff != "" {
		t.Errorf("of a unit whose removals are unknown (-want +got):\n%s", diff)
	}
}

// The fast model agrees with the definitions, counted task by task.
func TestQueuesAreAsDefined(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		list := randomList(random, 1+random.IntN(3), 30)
		q := QueuesOf(list)
		for i, task := range list.Tasks {
			if want := slowLength(list, i); q.lengths[i] != want {
				t.Fatalf("task %d has the length %d, want %d, of %+v", i, q.lengths[i], want, list.Tasks)
			}
			if task.Started <= due(task) {
				continue
			}
			var want []int32
			for j, other := range list.Tasks {
				if other.Unit == task.Unit && other.Started < task.Started && other.Done > due(task) {
					want = append(want, int32(j))
				}
			}
			var got []int32
			q.ahead(task.Unit, 0, due(task), task.Started, func(n int32) { got = append(got, n) })
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("ahead of task %d are %v, want %v, of %+v", i, got, want, list.Tasks)
			}
		}
	}
}

// randomList returns tasks of two units with a capacity, which each run them in turn.
func randomList(random *rand.Rand, capacity, n int) tasks.List {
	list := listOf()
	free := [2][]time.Duration{make([]time.Duration, capacity), make([]time.Duration, capacity)}
	for range n {
		scheduled := time.Duration(random.IntN(40))
		list.Tasks = append(list.Tasks, tasks.Task{Unit: random.IntN(2), Scheduled: scheduled, Delay: time.Duration(random.IntN(3) * random.IntN(3))})
	}
	slices.SortStableFunc(list.Tasks, func(a, b tasks.Task) int { return int(due(a) - due(b)) })
	for i := range list.Tasks {
		t := &list.Tasks[i]
		workers := free[t.Unit]
		worker := slices.Index(workers, slices.Min(workers))
		t.Started = max(workers[worker], due(*t)+time.Duration(random.IntN(2)))
		t.Done = t.Started + time.Duration(random.IntN(6))
		workers[worker] = t.Done
	}
	return list
}

// slowLength counts by the definitions: the tasks of the unit that were due before, or at the same
// time and listed before, had not started, and waited until another one was done.
func slowLength(list tasks.List, of int) int32 {
	waits := func(i int) bool {
		for j, other := range list.Tasks {
			if t := list.Tasks[i]; j != i && other.Unit == t.Unit && other.Done > due(t) && other.Done <= t.Started {
				return true
			}
		}
		return false
	}
	n := int32(0)
	t := list.Tasks[of]
	for j, other := range list.Tasks {
		before := due(other) < due(t) || due(other) == due(t) && j <= of
		if other.Unit == t.Unit && before && other.Started > due(t) && waits(j) {
			n++
		}
	}
	return n
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	list := listOf(at(0, 0, 100), at(10, 100, 130), at(20, 130, 140), at(200, 201, 900), at(-1, 950, 951), at(960, -1, -1))
	q := QueuesOf(list)
	for name, c := range map[string]struct {
		from, until time.Duration
		want        map[string]float64
	}{
		"all":        {0, 1000 * msec, map[string]float64{QueuedMS: 110, RanMS: 699, Waiting: 2}},
		"the second": {10 * msec, 20 * msec, map[string]float64{QueuedMS: 90, RanMS: 30, Waiting: 1}},
		"no task":    {400 * msec, 500 * msec, map[string]float64{QueuedMS: 0, RanMS: 0, Waiting: 0}},
		"only ran":   {940 * msec, 1000 * msec, map[string]float64{QueuedMS: 0, RanMS: 1, Waiting: 0}},
	} {
		if diff := cmp.Diff(c.want, q.Metrics(c.from, c.until)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
