package jankcause

import (
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/gate"
)

// unexplained says that no cause is found, why, and which frame is the worst.
func (t teller) unexplained() diagnose.Cause {
	nobody := suspect{}
	return diagnose.Cause{
		Kind: UnexplainedKind, Direction: gate.ToRegression, Subject: diagnose.Subject{Name: "no cause found"},
		Title: say("slow frames: no cause found"), Sentence: say("no cause found: ", t.why()), Basis: t.basis(),
		Evidence: t.links(nobody), Tables: []diagnose.Table{t.spending()}, Picture: t.picture(nobody),
	}
}

// why says why no cause is named.
func (t teller) why() diagnose.Phrase {
	late := t.comparison.head.late
	var most shift
	for _, s := range t.shifts {
		if s.more.Mean > most.more.Mean {
			most = s
		}
	}
	switch {
	case t.comparison.head.frames == 0:
		return say("the traces have no frame of it")
	case !t.hasPaths():
		return say("the traces do not show what its frames spent their time on")
	case t.alone() && late.frames == 0:
		return say("no frame of it was late, and no earlier run recorded what its frames took")
	case t.alone() && late.frames < fewFrames:
		return say("only ", diagnose.Count(int(late.frames), "frame was", "frames were"), " late, and most of it is no one kind of work or waiting")
	case t.whole < leastMS || !t.alone() && t.whole < contrast.Drifted*t.usual().took.sum/max(t.usual().frames, 1):
		return say("its frames take as long as before, within what sessions of one build differ by")
	case most.parts == nil:
		return say("frames take ", t.longer(t.whole), ", and the traces do not show on what")
	case most.more.Mean < mostOf*t.whole:
		return say("frames take ", t.longer(t.whole), "; what grew most (", row(most.parts[0]), ") is ", ratio(most.more.Mean/t.whole), " of it")
	}
	return say("frames take ", t.longer(t.whole), "; ", row(most.parts[0]), " is ", ratio(most.more.Mean/t.whole), " of it, and differs as much between repetitions of one build")
}

// hasPaths reports whether it is known what the head's frames spent their time on.
func (t teller) hasPaths() bool { return t.comparison.head.hasPaths() }
