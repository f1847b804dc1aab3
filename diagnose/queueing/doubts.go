package queueing

import (
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// slower is from which pace on the load is mentioned.
const slower = 1.15

// doubts returns reasons to doubt a cause, with what to try where the doubt is not one.
func (t teller) doubts() (out []diagnose.Phrase) {
	if doubt := t.causeKind().doubt(t); doubt != nil {
		out = append(out, doubt)
	}
	add := func(doubtful bool, parts ...any) {
		if doubtful {
			out = append(out, say(parts...))
		}
	}
	add(t.alone() && t.run.ID != "", "No earlier run recorded its tasks: the queue may have been as long before.")
	add(!t.alone() && !t.more.settled, contrast.TooFew(diagnose.Count(t.head.repetitions, "repetition", "repetitions"), float64(t.repetitions())))
	add(!t.alone() && t.paced >= slower, "All tasks take ", diagnose.Amount{Value: t.paced}, " times as long as before: a part of it is the load of the phone.")
	add(t.share == nil && t.whole > 0 && t.sure != diagnose.Possible, "The event got slower by ", ms(t.whole), " only: not all of this wait delays it.")
	add(!t.head.tells(run.TellsContexts), "The source has no stacks: where these tasks are scheduled is unknown.")
	return out
}

// stillWanted doubts that a task is obsolete.
func (t teller) stillWanted() diagnose.Phrase {
	if slices.ContainsFunc(t.blockers, func(b blocker) bool { return t.head.Groups[b.group].Obsolete > 0 }) {
		return say("A task that ends after its screen has gone may still be wanted, such as an upload: cancel it with the screen where it is not, and have it check for that while it runs.")
	}
	return say("Whether the earlier task is still wanted is not recorded: if not, cancel it when the next is scheduled.")
}

// slowerThings doubts that a task takes longer by itself.
func (t teller) slowerThings() diagnose.Phrase {
	if t.sure != diagnose.Possible {
		return nil
	}
	return say("What it waits for, such as the network, may be slower than in the earlier runs: measuring both builds alternately would show it.")
}

// unknownCapacity says what could make a queue shorter.
func (t teller) unknownCapacity() diagnose.Phrase {
	return say("The source does not show how many tasks ", t.unit(), " runs at the same time: a larger pool, fewer tasks or shorter ones would each help.")
}
