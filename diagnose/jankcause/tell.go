package jankcause

import (
	"math"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Limits on what stands with a cause.
const (
	maxLinks   = 5
	maxRows    = 12 // of what frames spend their time on
	fewLate    = 10 // late frames below which a cause is doubted without runs before
	fewEach    = 5  // late frames of a repetition up to which times are of a repetition
	mostHidden = 10 // hidden views that are listed

	wholly       = 0.9 // of a suspect's time from which on it is all attributed to its subject
	mostlyInTime = 0.1 // share of it in late frames below which it counts as in time
)

// teller describes suspects in words.
type teller struct {
	head run.Run
	base []run.Run
	comparison
	outcome
}

var say = diagnose.Say

func ms(v float64) diagnose.Amount    { return diagnose.Amount{Value: v, Unit: "ms"} }
func ratio(v float64) diagnose.Amount { return diagnose.Amount{Value: max(v, 0), Unit: "ratio"} }

// cause returns a suspect with its evidence.
func (t teller) cause(s suspect) diagnose.Cause {
	value, share, low, high := s.more.Mean, s.share, s.low, s.high
	c := diagnose.Cause{
		Kind: s.kind, Direction: gate.ToRegression, Subject: diagnose.Subject{Name: subject(s)},
		Explains: diagnose.Extent{Value: &value, Unit: "ms", Share: &share, ShareLow: &low, ShareHigh: &high, Level: contrast.Level, Sure: s.sure},
		Title:    say("slow frames: ", title(s)), Sentence: t.sentence(s), Basis: t.basis(),
		Evidence: t.links(s), Doubts: t.doubts(s), Tables: t.tables(s), Picture: t.picture(s),
	}
	if s.shown != nil {
		c.Explains.ShareLow, c.Explains.ShareHigh, c.Explains.Level = nil, nil, 0
	}
	if s.behind {
		c.Explains = diagnose.Extent{Sure: s.sure}
	}
	return c
}

// subject returns what is to blame, the same from run to run, never "".
func subject(s suspect) string {
	if name := s.brief(); name != "" {
		return name
	}
	return strings.TrimPrefix(s.kind, Family.Name+".")
}

// scale is the unit of a sentence and its table, in ms per frame.
type scale struct {
	one    string
	factor float64
}

// scale returns a frame; or a repetition where few frames of each are late and have most of what is
// explained, since a call of 300 ms that happens once is hard to understand as five in each frame.
func (t teller) scale() scale {
	n, late := float64(t.repetitions()), t.comparison.head.late.frames
	var most suspect
	for _, s := range t.suspects {
		if !s.behind && s.more.Mean > most.more.Mean {
			most = s
		}
	}
	if t.alone() || n == 0 || late == 0 || late > fewEach*n || most.more.Mean > 0 && most.inLate < mostOf {
		return scale{"frame", 1}
	}
	return scale{"repetition", t.comparison.head.seen().frames / n}
}

// longer returns the increase in words: "7 ms more per frame".
func (t teller) longer(v float64) diagnose.Phrase {
	if t.alone() {
		return say(ms(v), " more in a late frame")
	}
	s := t.scale()
	return say(ms(v*s.factor), " more per ", s.one)
}

// sentence returns the cause in one sentence: who does or waits for what, how much longer than
// before, and how much of the slowdown that is.
func (t teller) sentence(s suspect) diagnose.Phrase {
	if s.behind {
		return t.hidden(s)
	}
	out := t.clause(s)
	if s.sure == diagnose.Possible {
		out = say("possible: ", out)
	}
	of := " of the slowdown"
	if t.alone() {
		of = " of what makes them late"
	}
	out = say(out, ": ", ratio(s.share), of)
	if s.shown == nil && math.Round(100*s.low) != math.Round(100*s.high) { // an interval without width adds nothing to the share
		out = say(out, " (", diagnose.Range{Low: s.low, High: s.high, Unit: "ratio"}, ")")
	}
	switch {
	case s.shown != nil:
		out = say(out, "; ", s.shown.sentence())
	case t.inTime(s):
		out = say(out, ", mostly in frames that are still shown in time")
	}
	return out
}

// inTime reports whether almost all of a suspect's time is in frames that are still in time.
func (t teller) inTime(s suspect) bool {
	return !t.alone() && s.shown == nil && !s.behind && s.kind != "" && s.inLate < mostlyInTime
}

// sentence describes what a frame shows by itself.
func (f freeze) sentence() diagnose.Phrase {
	out := say(ms(f.ms), " of a frame of ", ms(f.frame.DurationMS))
	if f.frame.DurationMS >= frozenMS {
		out = say(ms(f.ms), " of a frozen frame of ", ms(f.frame.DurationMS))
	}
	if f.of > 1 {
		out = say(out, ", seen in ", diagnose.Amount{Value: float64(f.repetitions)}, " of ", diagnose.Amount{Value: float64(f.of)}, " repetitions")
	}
	return out
}

// title names a suspect in a few words, and the end of its chain of waits.
func title(s suspect) diagnose.Phrase { return say(inBrief(s), s.ends) }

// inBrief names a suspect in a few words.
func inBrief(s suspect) diagnose.Phrase {
	name := diagnose.Part{Name: subject(s), Most: 80}
	if title := causeKindOf(s.kind).title; title != nil {
		return title(name)
	}
	kind := strings.TrimPrefix(s.kind, Family.Name+".")
	if s.brief() == "" {
		return say(kind)
	}
	return say(kind, " in ", name)
}

// clause says who does or waits for what, how much longer, and the end of the chain of waits. After
// that the stage would be the chain's.
func (t teller) clause(s suspect) diagnose.Phrase {
	if during := in(s); s.ends != nil && during != nil {
		return say(strings.TrimSpace(during[0].Text), ", ", t.does(s, s.ends))
	}
	return t.does(s, say(s.ends, in(s)))
}

// does returns the clause, which ends with when or what is behind it.
func (t teller) does(s suspect, in diagnose.Phrase) diagnose.Phrase {
	c := clause{s, say(diagnose.Named(threadOf(s))), t.longer(s.more.Mean), in, diagnose.Named(s.brief())}
	if says := causeKindOf(s.kind).says; says != nil {
		return says(c)
	}
	return c.works()
}

// slower says how processors were slower.
func slower(s suspect) diagnose.Phrase {
	c := s.cores
	if s.kind == FrequencyKind {
		return say("frames run at ", ratio(c.clock), " of the processors' highest frequency (before: ", ratio(c.clockBefore), ")")
	}
	out := say("frames run on little cores ", ratio(c.little), " of the time")
	if c.littleBefore >= 0 {
		out = say(out, " (before: ", ratio(c.littleBefore), ")")
	}
	if c.bigBusy >= 0 {
		out = say(out, " while big ones are busy ", ratio(c.bigBusy), " of it")
	}
	return out
}

// overdrawn says what is drawn though nobody sees it.
func overdrawn(r redundant) diagnose.Phrase {
	out := say("a pixel is drawn ", diagnose.Amount{Value: r.overdraw}, " times")
	if r.overdrawBefore >= 0 {
		out = say(out, " (before: ", diagnose.Amount{Value: r.overdrawBefore}, ")")
	}
	if len(r.hidden) > 0 {
		h := r.hidden[0]
		out = say(out, "; ", diagnose.Coded(h.Class), " is drawn and covered by ", diagnose.Coded(h.CoveredBy))
		if n := len(r.hidden) + r.more - 1; n > 0 {
			out = say(out, ", as ", diagnose.Count(n, "more view is", "more views are"))
		}
	}
	return out
}

// named returns a name, or a replacement for an unknown one.
func named(name diagnose.Part, without string) diagnose.Phrase {
	if name.Name == "" {
		return say(without)
	}
	return say(name)
}

// at puts words before a name; nothing without a name.
func at(before string, name diagnose.Part) diagnose.Phrase {
	if name.Name == "" {
		return nil
	}
	return say(before, name)
}

func threadOf(s suspect) string {
	switch s.thread {
	case "":
		return "the app"
	case "main":
		return "main thread"
	}
	return s.thread
}

// in returns the stage with most of it.
func in(s suspect) diagnose.Phrase {
	words := map[string]string{
		run.StageInput: "while input is handled", run.StageAnimation: "while animations are computed", run.StageMeasure: "while views are measured",
		run.StageLayout: "while views are laid out", run.StageTraversal: "while views are measured and laid out", run.StageDraw: "while views are drawn",
		run.StageSync: "while the frame is handed to the render thread", run.StageRender: "while the render thread draws", run.StageGPU: "while the GPU draws",
		run.StageComposition: "while the screen is composed",
	}
	if words[s.stage] == "" {
		return nil
	}
	return say(" " + words[s.stage])
}

// basis returns the basis of the numbers, and what they leave unexplained.
func (t teller) basis() diagnose.Phrase {
	frames := t.comparison.head.frames
	out := say("based on ", diagnose.Count(int(t.comparison.head.late.frames), "late frame", "late frames"), " among ", diagnose.Amount{Value: frames})
	if t.comparison.head.late.frames == 0 {
		out = say("based on ", diagnose.Count(int(frames), "frame", "frames"))
	}
	if n := t.repetitions(); n > 1 {
		out = say(out, " in ", diagnose.Amount{Value: float64(n)}, " repetitions")
	}
	out = say(out, t.compared())
	if left := t.left(); left >= worth && len(t.suspects) > 0 {
		out = say(out, "; ", ratio(left), " of the slowdown is unexplained")
	}
	return out
}

// compared says what the head is compared with, nil without runs before.
func (t teller) compared() diagnose.Phrase {
	_, before := t.sides()
	return contrast.Compared(t.head, t.base, len(t.comparison.base), before.scatter(nil).Repetitions)
}

// left returns the share of lost time that nothing explains.
func (t teller) left() float64 {
	left := 1.0
	for _, s := range t.suspects {
		if s.kind != OverdrawKind || s.sure != diagnose.Possible { // what is only possible is part of drawing
			left -= s.share
		}
	}
	return max(left, 0)
}
