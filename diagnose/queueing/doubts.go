package queueing

import (
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// slower is from which pace on the load is mentioned.
const slower = 1.15

// doubts returns reasons to doubt a cause, with what to try where the doubt is not one.
func (t teller) doubts() []diagnose.Phrase {
	var out []diagnose.Phrase
	add := func(parts ...any) { out = append(out, say(parts...)) }
	switch t.kind {
	case LibraryKind:
		add("Another call of the library may not block, or its own pool may be larger: its documentation says which.")
	case ObsoleteKind:
		if t.gonebound() {
			add("A task that ends after its screen has gone may still be wanted, such as an upload: cancel it with the screen where it is not, and have it check for that while it runs.")
		} else {
			add("Whether the earlier task is still wanted is not recorded: if not, cancel it when the next is scheduled.")
		}
	case HandlerKind:
		add("Messages of one looper may rely on their order: those that do not need it can go to another thread.")
	case PoolKind:
		add("More workers help where tasks wait for the network or the storage, and less where they compute: no phone has more than its cores.")
	case SequentialKind:
		add("The recording does not tell whether these tasks need their order: if not, give them an executor with more threads, or each its own.")
	case LongKind:
		if t.sure == diagnose.Possible {
			add("What it waits for may be slower than in the earlier runs, such as the network: both builds in turns would tell.")
		}
	case QueueKind:
		add("The source does not tell how many tasks ", t.unitName(), " runs at the same time: a larger pool, fewer tasks or shorter ones would each help.")
	}
	if t.alone() && t.run.ID != "" {
		add("No earlier run tells of its tasks: the queue may have been as long before.")
	}
	if !t.alone() && !t.more.settled {
		n := 0
		for _, b := range t.base {
			n += b.repetitions
		}
		add(diagnose.Count(t.head.repetitions, "repetition", "repetitions"), " compared with ", diagnose.Amount{Value: float64(n)}, " are too few to rule out chance. Four of each build are enough.")
	}
	if !t.alone() && t.paced >= slower {
		add("All tasks take ", diagnose.Amount{Value: t.paced}, " times as long as before: a part of it is the load of the phone.")
	}
	if t.share == nil && t.whole > 0 && t.sure != diagnose.Possible {
		add("The event got slower by ", ms(t.whole), " only: not all of this wait delays it.")
	}
	if !t.head.tells(run.TellsContexts) {
		add("The source tells no stacks: where these tasks are scheduled is unknown.")
	}
	return out
}

// gonebound reports whether a screen that had gone is what makes tasks obsolete.
func (t teller) gonebound() bool {
	for _, b := range t.blockers {
		if t.head.Groups[b.group].Obsolete > 0 {
			return true
		}
	}
	return false
}
