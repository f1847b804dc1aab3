package hotspots

import (
	"slices"

	"github.com/apkgate/apkgate/diagnose"
)

// foremostShare is the share of a change from which on a method is its cause by itself.
const foremostShare = 0.25

// lead returns the main explanation of the run's change, in a line: a method that explains or
// encloses it, a wakelock that is held with the screen off or no longer is, otherwise the part of
// the device that makes up half of it, and the traffic; nothing where nothing does.
func (t teller) lead(all []teller) diagnose.Phrase {
	var out []diagnose.Phrase
	if t.Deviates && t.methodsMatter() {
		enclosing, within := t.Enclosing()
		switch explaining := t.Explaining(); {
		case within:
			out = append(out, enclosingWords(enclosing))
		case len(explaining) > 0:
			text := say(methodWords(explaining[0]), alsoIn(explaining[0], all))
			if len(explaining) > 1 && explaining[0].Share < foremostShare {
				text = say(diagnose.Count(len(explaining), "method", "methods"), ", the first ", text)
			}
			out = append(out, text)
		}
	}
	if i := slices.IndexFunc(t.Wakelocks, func(w Wakelock) bool { return w.Worse }); i >= 0 {
		out = append(out, say("wakelock ", t.drainWords(t.Wakelocks[i])))
	} else if released := t.released(); len(released) > 0 {
		out = append(out, say("wakelock ", releasedWords(released[0])))
	}
	if part, ok := t.part(); ok && len(out) == 0 {
		out = append(out, t.partWords(part))
	}
	if t.trafficMatters() && !t.methodsMatter() {
		out = append(out, say("the ", t.trafficWords()))
	}
	return diagnose.Joined(out, "; ")
}

// partWords describes the part of the device that contains a change.
func (t teller) partWords(p Component) diagnose.Phrase {
	text := say("the part ", brief(p.Name), " ", signedJoules(p.ChangeJ()))
	if t.unexplained() {
		text = say(text, ", which no method explains")
	}
	return text
}

// drainWords describes a wakelock that was held while the screen was off, in a clause that follows
// "wakelock".
func (t teller) drainWords(w Wakelock) diagnose.Phrase {
	text := say(diagnose.Named(w.Name), " was held ", lasting(w.HeadScreenOffMS), " while the screen was off")
	if t.HasBase() {
		text = say(text, "; before: ", noneOr(w.BaseScreenOffMS))
	}
	return text
}

// releasedWords describes a wakelock that is no longer held, as drainWords.
func releasedWords(w Wakelock) diagnose.Phrase {
	return say(diagnose.Named(w.Name), " was held ", lasting(w.BaseScreenOffMS), " while the screen was off; now: ", noneOr(w.HeadScreenOffMS))
}

func noneOr(ms float64) diagnose.Phrase {
	if ms == 0 {
		return say("none")
	}
	return say(lasting(ms))
}

// doubts returns reasons to doubt the run's numbers.
func (t teller) doubts() []diagnose.Phrase {
	var out []diagnose.Phrase
	if t.DebugBuild {
		out = append(out, say("This is a debug build: its energy, and which methods take it, can differ from the release build's. Measure a release build that is profileable."))
	}
	if !t.HasBase() {
		out = append(out, say("No earlier run measured energy the same way, so there is nothing to compare with."))
	} else if t.Methods != nil && !t.Methods.HasBase() {
		out = append(out, say("Methods were not sampled in the runs compared with: which of them changed is unknown."))
	}
	return out
}

// asides returns details for few readers.
func (t teller) asides() []diagnose.Phrase {
	if t.UpdateMS <= 0 {
		return nil
	}
	return []diagnose.Phrase{say("The sensor has a new reading every ", diagnose.Amount{Value: t.UpdateMS, Unit: "ms"}, ".")}
}
