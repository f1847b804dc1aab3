package queueing

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// The kinds of causes that this package makes: the five defects of the paper (Table 2), and what is
// reported where none of them is recognized.
const (
	LibraryKind    = "tasks.library"    // a library's blocking call is in the queue
	ObsoleteKind   = "tasks.obsolete"   // tasks that nobody needs any more are not cancelled
	HandlerKind    = "tasks.handler"    // too much is posted to one looper
	PoolKind       = "tasks.pool"       // a pool has too few workers
	SequentialKind = "tasks.sequential" // independent tasks run one after the other
	LongKind       = "tasks.long"       // one task takes longer than before
	QueueKind      = "tasks.queue"      // a queue is longer than before, and its capacity unknown
)

// firstRank is the rank of the first kind, behind those of frames.
const firstRank = 45

// causeKind has everything specific to a kind but the rule that recognizes it.
type causeKind struct {
	name string
	// subject is what is to blame, the same from run to run; before and after are the title's words
	// around it.
	subject       func(teller) diagnose.Part
	before, after string
	// doubt is what may be wrong with the cause, with what to try where it is not.
	doubt func(teller) diagnose.Phrase
}

// kinds are all kinds, in the order that applies where it is unknown which explains more.
var kinds = []causeKind{
	{LibraryKind, teller.library, "", " runs its calls one by one", words("Another call of the library may not block, or its own pool may be larger: its documentation says which.")},
	{ObsoleteKind, teller.behind, "", " is not cancelled", teller.stillWanted},
	{HandlerKind, teller.unit, "too much is posted to ", "", words("Messages of one looper may rely on their order: those that do not need it can go to another thread.")},
	{PoolKind, teller.unit, "too few workers in ", "", words("More workers help where tasks wait for the network or the storage, and less where they compute: no phone has more than its cores.")},
	{SequentialKind, teller.task, "", " waits in a queue of one", words("The recording does not show whether these tasks need their order: if not, give them an executor with more threads, or each its own.")},
	{LongKind, teller.behind, "", " takes longer", teller.slowerThings},
	{QueueKind, teller.unit, "a long queue in ", "", teller.unknownCapacity},
}

var _ = func() []string {
	var all []diagnose.Kind
	for i, k := range kinds {
		all = append(all, diagnose.Kind{Family: Family, Name: k.name, Rank: firstRank + i, Alert: k.name != QueueKind})
	}
	return diagnose.Register(all...)
}()

func words(text string) func(teller) diagnose.Phrase {
	return func(teller) diagnose.Phrase { return say(text) }
}

// Parts of a queue from which on a rule applies.
const (
	mostOf     = 0.5  // of the time that is waited for, which a library's tasks take
	gonePart   = 0.25 // of the tasks ahead, which are obsolete, or were removed before
	againPart  = 0.3  // of a group's tasks, which are scheduled again before they start
	burstGapMS = 100  // between tasks that are scheduled for one purpose
)

// kindOf returns the defect that makes a queue long, and the method of the library for a library's.
// What a source does not tell decides nothing: without capacities a pool's defect is not named.
func (c comparison) kindOf(s suspect) (kind, called string) {
	called = c.libraryOf(s)
	switch {
	case called != "":
		return LibraryKind, called
	case c.obsolete(s):
		return ObsoleteKind, ""
	case !c.alone() && !s.structural():
		return LongKind, ""
	case c.looper(s):
		return HandlerKind, ""
	case s.capacity > 1:
		return PoolKind, ""
	case s.capacity == 1:
		return SequentialKind, ""
	}
	return QueueKind, ""
}

// libraryOf returns the method of a library by which most of what is waited for was scheduled, as
// called by the app; "" for none. Where there are runs before, these tasks have to be what changed.
func (c comparison) libraryOf(s suspect) string {
	share := map[string]float64{}
	changed := slices.Concat(s.newcomers, s.added, s.longer)
	for _, b := range s.blockers {
		if c.alone() || slices.Contains(changed, b.group) {
			g := c.head.Groups[b.group]
			called := library(c.head.context(g), g.Name, c.run.App.Package)
			if share[called] += b.share; share[called] >= mostOf {
				return called
			}
		}
	}
	return ""
}

// obsolete reports whether a group waits for tasks that nobody needs any more: that ran on after
// their screen had gone, that were scheduled again before they had started, or many of which were
// removed before they started in the runs before. Where a unit runs fewer tasks at the same time than
// before, that is the change.
func (c comparison) obsolete(s suspect) bool {
	if !c.alone() && !s.uncancelled && (s.fewer || s.moved || !s.gone) {
		return false
	}
	ahead, left, again := 0.0, 0.0, false
	for _, b := range s.blockers {
		g := c.head.Groups[b.group]
		ahead += b.share
		left += b.share * float64(g.Obsolete) / float64(max(g.Done, g.Obsolete, 1))
		again = again || b.group == s.group && c.again(g)
	}
	return left >= gonePart*ahead && left > 0 || again && !c.looper(s) || s.dropped > 0
}

// again reports whether tasks of a group are scheduled again before they start: one in most
// repetitions, or a part of them, and each for a purpose of its own. Tasks that are scheduled at once,
// such as one for each picture of a list, replace none of each other.
func (c comparison) again(g run.TaskGroup) bool {
	often := 2*g.Superseded > c.head.repetitions || float64(g.Superseded) >= againPart*float64(g.Scheduled)
	gap := medianGap(g.Longest)
	single := gap == 0 && len(g.Repetitions) > 0 && slices.Max(g.Repetitions) == 1 // another event schedules it again
	return g.Superseded > 0 && often && (single || gap >= burstGapMS)
}

// medianGap returns the median time between the scheduling of tasks of one repetition, 0 where
// there are no two.
func medianGap(all []run.SlowTask) float64 {
	all = slices.SortedFunc(slices.Values(all), func(a, b run.SlowTask) int {
		return cmp.Or(cmp.Compare(a.Repetition, b.Repetition), cmp.Compare(a.AtMS, b.AtMS))
	})
	var gaps []float64
	for i := 1; i < len(all); i++ {
		if all[i].Repetition == all[i-1].Repetition && all[i-1].AtMS > 0 {
			gaps = append(gaps, all[i].AtMS-all[i-1].AtMS)
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

func (c comparison) looper(s suspect) bool {
	return slices.Contains(loopers, c.head.unit(c.head.Groups[s.group]).Kind)
}

// slowed returns the group ahead that matters most: one that takes longer than before, or else the
// one that most is waited for; -1 for none.
func (s suspect) slowed() int {
	switch {
	case s.kind == LongKind && len(s.longer) > 0:
		return s.longer[0]
	case len(s.blockers) > 0:
		return s.blockers[0].group
	}
	return -1
}
