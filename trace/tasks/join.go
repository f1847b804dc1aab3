package tasks

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/trace"
)

// Join adds the tasks that another source has of the same recording. A unit that the list has too, by
// its name, gets none: there, the other's tasks are taken for those of the list at the same time,
// which get their names and stacks. So no task counts twice.
func (l *List) Join(o List) {
	own := l.started()
	for i := range l.Units {
		l.Units[i].NoRemovals = !l.Tells.Cancellation
	}
	places := make([]int, len(o.Units)) // of the other's units, -1 where there is no room
	for i, u := range o.Units {
		places[i] = slices.IndexFunc(l.Units, func(one Unit) bool { return one.Name == u.Name })
		if places[i] < 0 && len(l.Units) < MaxUnits {
			places[i] = len(l.Units)
			u.NoRemovals = u.NoRemovals || !o.Tells.Cancellation
			l.Units = append(l.Units, u)
		}
	}
	l.LeftOut += o.LeftOut
	for _, task := range o.Tasks {
		switch task.Unit = places[task.Unit]; {
		case task.Unit >= 0 && task.Unit < len(own):
			if same := l.around(task, own[task.Unit]); same != nil {
				same.Name, same.Context, same.Inside = task.Name, task.Context, task.Inside
			}
		case task.Unit < 0 || len(l.Tasks) >= MaxTasks:
			l.LeftOut++
		default:
			l.Tasks = append(l.Tasks, task)
		}
	}
	l.Tells = Tells{l.Tells.Contexts || o.Tells.Contexts, l.Tells.Capacity || o.Tells.Capacity, l.Tells.Cancellation || o.Tells.Cancellation}
	l.Warnings = trace.Distinct(l.Warnings, o.Warnings...)
	l.Sort()
}

// started returns the tasks of each unit that started, by place, in the order of that.
func (l *List) started() [][]int {
	out := make([][]int, len(l.Units))
	for i, t := range l.Tasks {
		if t.Started != Unknown {
			out[t.Unit] = append(out[t.Unit], i)
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(l.Tasks[a].Started, l.Tasks[b].Started) })
	}
	return out
}

// around returns the one of some tasks within which another starts, nil for none.
func (l *List) around(o Task, started []int) *Task {
	n, _ := slices.BinarySearchFunc(started, o.Started+1, func(i int, at time.Duration) int { return cmp.Compare(l.Tasks[i].Started, at) })
	if n == 0 || o.Started == Unknown {
		return nil
	}
	if one := &l.Tasks[started[n-1]]; one.Done == Unknown || one.Done >= o.Started {
		return one
	}
	return nil
}
