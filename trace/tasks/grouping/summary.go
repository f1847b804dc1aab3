package grouping

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/tasks"
)

// maxSearched limits the tasks among which those ahead of a single one are searched: the ones that
// started last before it.
const maxSearched = 2_000

// summarize fills in what a group of the record comes to.
func (s *summary) summarize(g *group, to *run.TaskGroup) {
	to.Repetitions, to.QueuedMaxMS, to.RanMaxMS = make([]int, s.apart), make([]float64, s.apart), make([]float64, s.apart)
	var queued, ran, lengths []float64
	for _, one := range g.tasks {
		t, n := one.task(), one.of.slot()
		to.Repetitions[n]++
		count(one, t, to)
		if d, ok := t.Queued(); ok {
			queued = append(queued, ms(d))
			to.QueuedMaxMS[n] = max(to.QueuedMaxMS[n], ms(d))
		}
		if d, ok := t.Ran(); ok {
			ran = append(ran, ms(d))
			to.RanMaxMS[n] = max(to.RanMaxMS[n], ms(d))
		}
		if length := one.of.queues.lengths[one.place]; length >= 0 {
			lengths = append(lengths, float64(length))
			to.QueueMax = max(to.QueueMax, int(length))
		}
	}
	to.Queued, to.Ran, to.QueueMean = spread(queued), spread(ran), mean(lengths)
	to.WaitedFor, _ = waitedFor(g.tasks)
	to.Late = s.late(g)
	to.Longest = s.longest(g)
}

// slot is the place of a repetition in lists of those that are counted separately.
func (p *part) slot() int { return (max(p.Number, 1) - 1) % run.MaxApart }

// count counts a task by what became of it.
func count(one *item, t *tasks.Task, to *run.TaskGroup) {
	for _, c := range []struct {
		is bool
		n  *int
	}{
		{t.Scheduled != tasks.Unknown, &to.Scheduled}, {t.Started != tasks.Unknown, &to.Started}, {t.Done != tasks.Unknown, &to.Done}, {t.Cancelled, &to.Cancelled},
		{one.obsolete, &to.Obsolete}, {one.superseded, &to.Superseded},
	} {
		if c.is {
			*c.n++
		}
	}
}

// spread returns the distribution of times: all of them where they are few.
func spread(ms []float64) run.Spread { return run.SpreadOf(ms, min(len(ms), maxQuantiles)) }

func mean(of []float64) float64 { return run.SpreadOf(of, 0).MeanMS }

// late returns what the group's late tasks have in common, nil if there are none.
func (s *summary) late(g *group) *run.LateTasks {
	var late []*item
	var lengths []float64
	for _, one := range g.tasks {
		if d, ok := one.task().Queued(); ok && d >= s.threshold && d > 0 {
			late = append(late, one)
			lengths = append(lengths, float64(one.of.queues.lengths[one.place]))
		}
	}
	if len(late) == 0 {
		return nil
	}
	out := &run.LateTasks{OverMS: ms(s.threshold), Tasks: len(late), QueueMean: mean(lengths)}
	out.WaitedFor, out.AheadRanMS = waitedFor(late)
	return out
}

// tally is tasks that ran while others waited.
type tally struct {
	tasks, done int
	ran         time.Duration
}

func (t *tally) add(one *tasks.Task) {
	t.tasks++
	if d, ok := one.Ran(); ok {
		t.done++
		t.ran += d
	}
}

func (t *tally) meanMS() float64 {
	if t.done == 0 {
		return 0
	}
	return ms(t.ran / time.Duration(t.done))
}

// waitedFor returns the groups whose tasks ran in the unit while some tasks of one group waited, the
// longest in total first, and how long one of all these tasks ran on average. Each counts once,
// however many waited for it.
func waitedFor(waited []*item) (list []run.TasksAhead, ranMS float64) {
	var all tally
	var groups []*group
	for len(waited) > 0 {
		n := slices.IndexFunc(waited, func(one *item) bool { return one.of != waited[0].of })
		if n < 0 {
			n = len(waited)
		}
		inPart(waited[:n], func(one *item) {
			if one.group.ahead.tasks == 0 {
				groups = append(groups, one.group)
			}
			one.group.ahead.add(one.task())
			all.add(one.task())
		})
		waited = waited[n:]
	}
	slices.SortFunc(groups, func(a, b *group) int {
		x, y := a.ahead, b.ahead
		return cmp.Or(cmp.Compare(y.ran, x.ran), cmp.Compare(y.tasks, x.tasks), cmp.Compare(a.number, b.number))
	})
	for _, g := range groups {
		if g.rank >= 0 && len(list) < run.MaxTasksWaited {
			list = append(list, run.TasksAhead{Group: g.rank, Tasks: g.ahead.tasks, RanMS: g.ahead.meanMS()})
		}
		g.ahead = tally{}
	}
	return list, all.meanMS()
}

// inPart calls found for the tasks that ran while some tasks of one repetition waited, which are of
// one unit of the record; there may be several of the list, whose threads are numbered.
func inPart(waited []*item, found func(*item)) {
	p := waited[0].of
	waits := map[int][][2]time.Duration{}
	for _, one := range waited {
		if t := one.task(); t.Scheduled != tasks.Unknown && t.Started > due(*t) {
			waits[t.Unit] = append(waits[t.Unit], [2]time.Duration{due(*t), t.Started})
		}
	}
	for unit, list := range waits {
		slices.SortFunc(list, func(a, b [2]time.Duration) int { return cmp.Compare(a[0], b[0]) })
		next := 0 // what ran during two waits counts once
		for _, wait := range list {
			next = p.queues.ahead(unit, next, wait[0], wait[1], func(task int32) {
				if one := &p.items[task]; one.group != nil {
					found(one)
				}
			})
		}
	}
}

// longest returns single tasks of a group: those that waited or ran longest, the one that waited
// longest first. Of groups without a late task there is one.
func (s *summary) longest(g *group) (out []run.SlowTask) {
	most := 1
	if max(g.queued, g.ran) >= s.threshold {
		most = run.MaxSlowTasks
	}
	// Stable: of equal ones the earlier task stays first.
	order := slices.SortedStableFunc(slices.Values(g.tasks), func(a, b *item) int { return cmp.Compare(longer(b.task()), longer(a.task())) })
	order = slices.DeleteFunc(order[:min(len(order), most)], func(one *item) bool { return one.task().Started == tasks.Unknown })
	slices.SortStableFunc(order, func(a, b *item) int {
		x, _ := took(a.task())
		y, _ := took(b.task())
		return cmp.Compare(y, x)
	})
	for _, one := range order {
		out = append(out, one.single())
	}
	return out
}

// single returns the record of one task.
func (i *item) single() run.SlowTask {
	t := i.task()
	queued, ran := took(t)
	out := run.SlowTask{Repetition: i.of.Number, Sender: trace.Label(t.Sender), Thread: trace.Label(t.Thread), EventMS: i.of.eventMS(t), Path: i.of.Paths[int(i.place)], RanMS: ms(ran)}
	if t.Scheduled != tasks.Unknown {
		out.AtMS, out.DelayMS, out.QueuedMS = ms(t.Scheduled), ms(t.Delay), ms(queued)
		out.Ahead = i.of.runsAhead(t)
	}
	return out
}

// eventMS returns when the event began after which a task was scheduled, 0 where there is none.
func (p *part) eventMS(t *tasks.Task) float64 {
	n, _ := slices.BinarySearchFunc(p.Events, t.Begun()+1, func(e trace.Event, at time.Duration) int { return cmp.Compare(e.At, at) })
	if n == 0 {
		return 0
	}
	return max(0, ms(p.Events[n-1].At))
}

// runsAhead returns the tasks that ran while one waited, in the order of time; the longest of many.
func (p *part) runsAhead(t *tasks.Task) (out []run.TaskRun) {
	all, runs := p.queues.list.Tasks, p.queues.units[t.Unit].runs
	until, _ := slices.BinarySearchFunc(runs, t.Started, func(i int32, at time.Duration) int { return cmp.Compare(all[i].Started, at) })
	var list []int32
	p.queues.ahead(t.Unit, until-maxSearched, due(*t), t.Started, func(task int32) { list = append(list, task) })
	to := func(i int32) time.Duration {
		if all[i].Done == tasks.Unknown {
			return t.Started
		}
		return end(all[i])
	}
	if len(list) > run.MaxTasksAhead {
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(to(b)-all[b].Started, to(a)-all[a].Started) })
		list = list[:run.MaxTasksAhead]
		slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(all[a].Started, all[b].Started), cmp.Compare(a, b)) })
	}
	for _, i := range list {
		group := -1
		if of := p.items[i].group; of != nil {
			group = of.rank
		}
		out = append(out, run.TaskRun{Group: group, FromMS: ms(all[i].Started), ToMS: ms(to(i)), Thread: trace.Label(all[i].Thread), Path: p.Paths[int(i)]})
	}
	return out
}
