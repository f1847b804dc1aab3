package jankcause

import (
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// doubts returns reasons to doubt a cause.
func (t teller) doubts(s suspect) []diagnose.Phrase {
	var out []diagnose.Phrase
	if t.alone() && t.head.ID != "" {
		out = append(out, say("No earlier run recorded what its frames waited for: late frames are compared with this run's own normal ones."))
	}
	if t.usual().frames == 0 {
		out = append(out, say("No frame was shown in time: what is usual is unknown."))
	}
	if n := t.comparison.head.late.frames; t.alone() && n < fewLate {
		out = append(out, say("Based on ", diagnose.Count(int(n), "late frame", "late frames"), ": treat it as a lead."))
	}
	if !t.alone() && s.sure == diagnose.Likely && s.views == nil && !t.runsOn(s.kind) && t.unknownWaker(s.kind) == nil {
		out = append(out, t.tooFew())
	}
	if !t.alone() && s.sure == diagnose.Likely && t.runsOn(s.kind) {
		out = append(out, say("Without a frame timeline (Android 12 and later) the time of one frame runs on into those that follow: it may have cost less."))
	}
	if s.sure == diagnose.Possible && s.views == nil && !s.behind && t.unknownWaker(s.kind) == nil {
		out = append(out, say("Chance may explain this difference: repetitions of one build vary as much."))
	}
	if s.kind == OverdrawKind {
		out = append(out, say("Which views are opaque is taken from their kinds: look at them before you remove one."))
	}
	switch doubt := t.unknownWaker(s.kind); {
	case doubt != nil:
		out = append(out, doubt)
	case s.kind == SleepKind:
		out = append(out, say("The trace does not say what woke the thread up."))
	}
	return out
}

// tooFew says that there are too few repetitions for a cause to be clear.
func (t teller) tooFew() diagnose.Phrase {
	now, before := t.sides()
	if !now.repeats(before) {
		return say("There are too few repetitions to say how much they vary: frames of one repetition are taken as independent. Four of each build are enough.")
	}
	return contrast.TooFew(diagnose.Count(t.repetitions(), "repetition", "repetitions"), before.scatter(nil).Repetitions)
}

// wakers returns the source of who woke threads, in the runs considered.
func (t teller) wakers() string {
	if t.head.Frames == nil {
		return ""
	}
	return t.head.Frames.Wakers
}

// surely limits how sure a cause can be, by the record's source of who woke threads: a thread that
// slept, with an unknown waker, may have waited for anything.
func (t teller) surely(sure diagnose.Sure, kind string) diagnose.Sure {
	wakers := t.wakers()
	switch {
	case kind != SleepKind || sure == diagnose.Possible:
	case wakers == run.WakersNone:
		return diagnose.Possible
	case wakers == run.WakersWakeup:
		return diagnose.Likely
	}
	return sure
}

// unknownWaker returns the doubt about a cause due to the record's source of who woke threads, nil
// for none.
func (t teller) unknownWaker(kind string) diagnose.Phrase {
	switch wakers := t.wakers(); {
	case kind != SleepKind:
	case wakers == run.WakersNone:
		return say("Who woke threads was not recorded (sched_waking, or sched_wakeup): what threads slept for is unknown.")
	case wakers == run.WakersWakeup:
		return say("Android 10 and 11 record wake-ups only as sched_wakeup, which does not say who woke a thread from another process or from CPUs that share no cache: what threads slept for may be something else.")
	}
	return nil
}
