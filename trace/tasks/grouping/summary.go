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
func (g *grouped) summarize(one *group, to *run.TaskGroup) {
	apart := 0
	for _, p := range g.parts {
		apart = max(apart, slot(p)+1)
	}
	to.Repetitions, to.QueuedMaxMS, to.RanMaxMS = make([]int, apart), make([]float64, apart), make([]float64, apart)
	var queued, ran, lengths []float64
	for _, at := range one.tasks {
		p := &g.parts[at.part]
		t, n := p.queues.list.Tasks[at.task], slot(*p)
		to.Repetitions[n]++
		g.count(at, t, to)
		if d, ok := t.Queued(); ok {
			queued = append(queued, ms(d))
			to.QueuedMaxMS[n] = max(to.QueuedMaxMS[n], ms(d))
		}
		if d, ok := t.Ran(); ok {
			ran = append(ran, ms(d))
			to.RanMaxMS[n] = max(to.RanMaxMS[n], ms(d))
		}
		if length := p.queues.lengths[at.task]; length >= 0 {
			lengths = append(lengths, float64(length))
			to.QueueMax = max(to.QueueMax, int(length))
		}
	}
	to.Queued, to.Ran, to.QueueMean = spread(queued), spread(ran), mean(lengths)
	to.WaitedFor, _ = g.waitedFor(one.tasks)
	to.Late = g.late(one)
	to.Longest = g.longest(one)
}

// slot is the place of a repetition in lists of those that are counted separately.
func slot(p part) int { return (max(p.number, 1) - 1) % run.MaxApart }

// count counts a task by what became of it.
func (g *grouped) count(at place, t tasks.Task, to *run.TaskGroup) {
	for _, one := range []struct {
		is bool
		n  *int
	}{
		{t.Scheduled != tasks.Unknown, &to.Scheduled}, {t.Started != tasks.Unknown, &to.Started}, {t.Done != tasks.Unknown, &to.Done}, {t.Cancelled, &to.Cancelled},
		{g.parts[at.part].tasks[at.task].obsolete, &to.Obsolete}, {g.again[at.part][at.task], &to.Superseded},
	} {
		if one.is {
			*one.n++
		}
	}
}

// spread returns the distribution of times: all of them where they are few.
func spread(ms []float64) run.Spread { return run.SpreadOf(ms, min(len(ms), maxQuantiles)) }

func mean(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range of {
		sum += v
	}
	return sum / float64(len(of))
}

// late returns what the group's late tasks have in common, nil if there are none.
func (g *grouped) late(one *group) *run.LateTasks {
	var late []place
	var lengths []float64
	for _, at := range one.tasks {
		p := g.parts[at.part]
		if d, ok := p.queues.list.Tasks[at.task].Queued(); ok && d >= g.threshold && d > 0 {
			late = append(late, at)
			lengths = append(lengths, float64(p.queues.lengths[at.task]))
		}
	}
	if len(late) == 0 {
		return nil
	}
	out := &run.LateTasks{OverMS: ms(g.threshold), Tasks: len(late), QueueMean: mean(lengths)}
	out.WaitedFor, out.AheadRanMS = g.waitedFor(late)
	return out
}

// tally is the tasks of a group that ran while others waited.
type tally struct {
	tasks, done int
	ran         time.Duration
}

func (t tally) meanMS() float64 {
	if t.done == 0 {
		return 0
	}
	return ms(t.ran / time.Duration(t.done))
}

// waitedFor returns the groups whose tasks ran in the unit while some tasks of one group waited, the
// longest in total first, and how long one of all these tasks ran on average. Each counts once,
// however many waited for it.
func (g *grouped) waitedFor(waited []place) (list []run.TasksAhead, ranMS float64) {
	var all tally
	var order []int32
	for len(waited) > 0 {
		n := 1
		for n < len(waited) && waited[n].part == waited[0].part {
			n++
		}
		g.inPart(waited[:n], func(group int32, t tasks.Task) {
			if g.found[group].tasks == 0 {
				order = append(order, group)
			}
			for _, to := range []*tally{&g.found[group], &all} {
				to.tasks++
				if d, ok := t.Ran(); ok {
					to.done++
					to.ran += d
				}
			}
		})
		waited = waited[n:]
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := g.found[a], g.found[b]
		return cmp.Or(cmp.Compare(y.ran, x.ran), cmp.Compare(y.tasks, x.tasks), cmp.Compare(a, b))
	})
	for _, i := range order {
		if g.rank[i] >= 0 && len(list) < run.MaxTasksWaited {
			list = append(list, run.TasksAhead{Group: int(g.rank[i]), Tasks: g.found[i].tasks, RanMS: g.found[i].meanMS()})
		}
		g.found[i] = tally{}
	}
	return list, all.meanMS()
}

// inPart calls found for the tasks that ran while some tasks of one repetition waited, which are of
// one unit of the record; there may be several of the list, whose threads are numbered.
func (g *grouped) inPart(waited []place, found func(group int32, t tasks.Task)) {
	p := &g.parts[waited[0].part]
	waits := map[int][][2]time.Duration{}
	for _, at := range waited {
		if t := p.queues.list.Tasks[at.task]; t.Scheduled != tasks.Unknown && t.Started > due(t) {
			waits[t.Unit] = append(waits[t.Unit], [2]time.Duration{due(t), t.Started})
		}
	}
	of := g.of[waited[0].part]
	for unit, list := range waits {
		slices.SortFunc(list, func(a, b [2]time.Duration) int { return cmp.Compare(a[0], b[0]) })
		next := 0 // what ran during two waits counts once
		for _, wait := range list {
			next = p.queues.ahead(unit, next, wait[0], wait[1], func(task int32) {
				if of[task] >= 0 {
					found(of[task], p.queues.list.Tasks[task])
				}
			})
		}
	}
}

// longest returns single tasks of a group: those that waited or ran longest, the one that waited
// longest first. Of groups without a late task there is one.
func (g *grouped) longest(one *group) []run.SlowTask {
	most := 1
	if max(one.queued, one.ran) >= g.threshold {
		most = run.MaxSlowTasks
	}
	took := func(at place) (queued, longer time.Duration) {
		t := g.parts[at.part].queues.list.Tasks[at.task]
		queued, _ = t.Queued()
		ran, _ := t.Ran()
		return queued, max(queued, ran)
	}
	// Stable: of equal ones the earlier task stays first.
	order := slices.SortedStableFunc(slices.Values(one.tasks), func(a, b place) int {
		_, x := took(a)
		_, y := took(b)
		return cmp.Compare(y, x)
	})
	order = slices.DeleteFunc(order[:min(len(order), most)], func(at place) bool {
		return g.parts[at.part].queues.list.Tasks[at.task].Started == tasks.Unknown
	})
	slices.SortStableFunc(order, func(a, b place) int {
		x, _ := took(a)
		y, _ := took(b)
		return cmp.Compare(y, x)
	})
	var out []run.SlowTask
	for _, at := range order {
		out = append(out, g.single(at))
	}
	return out
}

// single returns the record of one task.
func (g *grouped) single(at place) run.SlowTask {
	p := &g.parts[at.part]
	t := p.queues.list.Tasks[at.task]
	out := run.SlowTask{Repetition: p.number, Sender: trace.Label(t.Sender), Thread: trace.Label(t.Thread), EventMS: p.eventMS(t), Path: p.paths[int(at.task)]}
	if d, ok := t.Ran(); ok {
		out.RanMS = ms(d)
	}
	d, ok := t.Queued()
	if !ok {
		return out
	}
	out.AtMS, out.DelayMS, out.QueuedMS = ms(t.Scheduled), ms(t.Delay), ms(d)
	out.Ahead = g.runsAhead(p, at, t)
	return out
}

// eventMS returns when the event began after which a task was scheduled, 0 where there is none.
func (p *part) eventMS(t tasks.Task) float64 {
	n, _ := slices.BinarySearchFunc(p.events, t.Begun()+1, func(e trace.Event, at time.Duration) int { return cmp.Compare(e.At, at) })
	if n == 0 {
		return 0
	}
	return max(0, ms(p.events[n-1].At))
}

// runsAhead returns the tasks that ran while one waited, in the order of time; the longest of many.
func (g *grouped) runsAhead(p *part, at place, t tasks.Task) []run.TaskRun {
	all, runs := p.queues.list.Tasks, p.queues.units[t.Unit].runs
	until, _ := slices.BinarySearchFunc(runs, t.Started, func(i int32, at time.Duration) int { return cmp.Compare(all[i].Started, at) })
	var list []int32
	p.queues.ahead(t.Unit, until-maxSearched, due(t), t.Started, func(task int32) { list = append(list, task) })
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
	var out []run.TaskRun
	for _, i := range list {
		group := int32(-1)
		if of := g.of[at.part][i]; of >= 0 {
			group = g.rank[of]
		}
		out = append(out, run.TaskRun{Group: int(group), FromMS: ms(all[i].Started), ToMS: ms(to(i)), Thread: trace.Label(all[i].Thread), Path: p.paths[int(i)]})
	}
	return out
}
