package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Limits on what stands with a cause.
const (
	maxLinks   = 5
	maxRows    = 12 // of what frames spend their time on
	fewLate    = 10 // late frames below which a cause is doubted
	mostHidden = 10 // hidden views that are listed
)

// teller puts suspects into words.
type teller struct {
	head run.Run
	base []run.Run
	comparison
}

var say = diagnose.Say

func ms(v float64) diagnose.Amount    { return diagnose.Amount{Value: v, Unit: "ms"} }
func ratio(v float64) diagnose.Amount { return diagnose.Amount{Value: max(v, 0), Unit: "ratio"} }

// cause is a suspect with its evidence.
func (t teller) cause(s suspect) diagnose.Cause {
	s.ends = t.rootOf(s.blame).words(s.blame)
	value, share, low, high := s.more.mean, s.share, s.low, s.high
	c := diagnose.Cause{
		Kind: s.kind, Direction: gate.ToRegression, Subject: diagnose.Subject{Name: subject(s)},
		Explains: diagnose.Extent{Value: &value, Unit: "ms", Share: &share, ShareLow: &low, ShareHigh: &high, Level: level, Sure: t.surely(s.sure, s.kind)},
		Title:    say("slow frames: ", title(s), s.ends), Sentence: t.sentence(s), Basis: t.basis(),
		Evidence: t.links(s), Doubts: t.doubts(s), Tables: t.tables(s),
	}
	if worst := t.shown(s); len(worst) > 0 {
		c.Picture = diagnose.PictureOfFrames(pictureTitle(worst[0]), worst[0], usualOf(t.head, worst[0].Event), t.before(worst[0].Event))
	}
	return c
}

func pictureTitle(f run.LateFrame) string {
	if f.Event == "" {
		return fmt.Sprintf("A slow frame of repetition %d, thread by thread", f.Repetition)
	}
	return fmt.Sprintf("A slow frame after %s, repetition %d, thread by thread", f.Event, f.Repetition)
}

// subject is what is to blame, the same from run to run, "" never.
func subject(s suspect) string {
	if name := s.brief(); name != "" {
		return name
	}
	return strings.TrimPrefix(s.kind, Family.Name+".")
}

// sentence is the cause in one: who did or waited for what, what that costs of a late
// frame, and how much of the lost time it is.
func (t teller) sentence(s suspect) diagnose.Phrase {
	of := " of the time by which frames take longer than before"
	if t.alone() {
		of = " of the time by which late frames take longer than normal ones"
	}
	out := say(clause(s), ": ", ms(s.lateMS), " of a late frame, ", ratio(s.latePart), " of its critical path")
	if t.usual().frames > 0 {
		out = say(out, " (", ratio(s.usual), " in normal frames", t.when(), ")")
	}
	out = say(out, "; ", ratio(s.share), of)
	if math.Round(100*s.low) == math.Round(100*s.high) {
		return out // an interval without width says no more than the share
	}
	return say(out, " (", diagnose.Range{Low: s.low, High: s.high, Unit: "ratio"}, ")")
}

// when says which normal frames are meant.
func (t teller) when() string {
	if t.alone() {
		return ""
	}
	return " before"
}

// title names a suspect in a few words.
func title(s suspect) diagnose.Phrase {
	name := diagnose.Part{Name: subject(s), Most: 80}
	switch s.kind {
	case BinderKind:
		return say("waiting for ", name)
	case IOKind:
		return say("waiting for storage")
	case LockKind:
		return say("waiting for a lock of ", name)
	case CPUKind:
		return say("waiting for a processor")
	case OverdrawKind:
		return say("drawing what nobody sees")
	case LittleKind, FrequencyKind, GCKind, GPUKind, CompositionKind:
		return say(name)
	}
	return say(strings.TrimPrefix(s.kind, Family.Name+"."), " in ", name)
}

// clause says who does or waits for what, and where the chain of waiting ends.
func clause(s suspect) diagnose.Phrase {
	who, in := say(diagnose.Named(threadOf(s))), say(s.ends, in(s))
	name := diagnose.Named(s.brief())
	switch {
	case s.kind == BinderKind:
		return say(who, " waits for ", named(name, "another process"), " (binder)", in)
	case s.kind == IOKind:
		return say(who, " waits for storage", at(" in ", name), in)
	case s.kind == LockKind:
		return say(who, " waits for a lock", at(" that is held by ", name), in)
	case s.kind == CPUKind:
		return say(who, " waits for a processor", at(", where most of the time there runs ", name), in)
	case s.kind == SleepKind && s.brief() == s.thread: // a timer of its own
		return say(who, " sleeps", in)
	case s.kind == SleepKind:
		return say(who, " sleeps", at(" waiting for ", name), in)
	case s.kind == BlockedKind:
		return say(who, " is blocked in the kernel", at(" in ", name), in)
	case s.kind == GCKind:
		return say(who, " is held up by garbage collection", in)
	case s.kind == GPUKind:
		return say("the GPU takes longer to draw")
	case s.kind == CompositionKind:
		return say("SurfaceFlinger takes longer to compose")
	case s.kind == OverdrawKind:
		return overdrawn(*s.views)
	case s.cores != nil:
		return slower(s)
	}
	return say(who, " works longer", at(" in ", name), in)
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

// named is a name, or what stands for one that is not known.
func named(name diagnose.Part, without string) diagnose.Phrase {
	if name.Name == "" {
		return say(without)
	}
	return say(name)
}

// at puts words before a name; nothing where there is no name.
func at(before string, name diagnose.Part) diagnose.Phrase {
	if name.Name == "" {
		return nil
	}
	return say(before, name)
}

func threadOf(s suspect) string {
	if s.thread == "" {
		return "the app"
	}
	return s.thread
}

// in is the stage that most of it lies in.
func in(s suspect) diagnose.Phrase {
	words := map[string]string{
		run.StageInput: "while input is handled", run.StageAnimation: "while animations are computed", run.StageMeasure: "while views are measured",
		run.StageLayout: "while views are laid out", run.StageTraversal: "while views are measured and laid out", run.StageDraw: "while views are drawn",
		run.StageSync: "while the frame is handed to the render thread", run.StageRender: "while the render thread draws", run.StageGPU: "while the GPU draws",
		run.StageComposition: "while the screen is composed",
	}
	if s.stage == "" || words[s.stage] == "" {
		return nil
	}
	return say(" " + words[s.stage])
}

// basis is what the numbers rest on.
func (t teller) basis() diagnose.Phrase {
	out := say("of ", diagnose.Count(int(t.comparison.head.late.frames), "late frame", "late frames"), " among ", diagnose.Amount{Value: t.comparison.head.frames})
	if !t.alone() {
		out = say(out, ", held against ", diagnose.Count(len(t.comparison.base), "run", "runs"), " before")
	}
	return out
}

// doubts are what to hold against a cause.
func (t teller) doubts(s suspect) []diagnose.Phrase {
	var out []diagnose.Phrase
	if t.alone() && t.head.ID != "" {
		out = append(out, say("No run before tells what its frames waited for: late frames are held against this run's own normal ones."))
	}
	if t.usual().frames == 0 {
		out = append(out, say("No frame was shown in time: what is usual is not known."))
	}
	if n := t.comparison.head.late.frames; n < fewLate {
		out = append(out, say("Only ", diagnose.Count(int(n), "frame was", "frames were"), " late."))
	}
	if s.kind == OverdrawKind {
		out = append(out, say("Which views are opaque is taken from their kinds: look at them before you remove one."))
	}
	switch doubt := t.untold(s.kind); {
	case doubt != nil:
		out = append(out, doubt)
	case s.kind == SleepKind:
		out = append(out, say("The trace does not say what woke the thread up."))
	}
	return out
}

// shown are the worst frames of the event that were listed, those with most of the
// suspect's time first. One of which the trace was kept stands before another that shows
// as much, or up to twice as much.
func (t teller) shown(s suspect) []run.LateFrame {
	var out []run.LateFrame
	for _, f := range t.head.Frames.Worst {
		if (t.event == "" || f.Event == t.event) && len(f.Path) > 0 {
			out = append(out, f)
		}
	}
	telling := func(f run.LateFrame) float64 {
		if f.Evidence != "" {
			return 2 * spent(f, s)
		}
		return spent(f, s)
	}
	slices.SortStableFunc(out, func(a, b run.LateFrame) int { return cmp.Compare(telling(b), telling(a)) })
	return out
}

// spent is how long a frame's path did what the suspect is about; of slower cores, how
// long it ran.
func spent(f run.LateFrame, s suspect) float64 {
	sum := 0.0
	for _, step := range f.Path {
		b := blameOf(run.FramePart{Name: step.Kind, Stage: step.Stage, What: step.What})
		if b.kind == s.kind || s.cores != nil && isWork(b.kind) || s.views != nil && drawsMore(b.kind) || s.kind == BinderKind && step.Process != "" {
			sum += step.ToMS - step.FromMS
		}
	}
	return sum
}

// links lead to the worst frames that were kept.
func (t teller) links(s suspect) []diagnose.Link {
	var out []diagnose.Link
	for _, f := range t.shown(s) {
		if f.Evidence != "" && len(out) < maxLinks {
			out = append(out, diagnose.Link{Digest: f.Evidence, FromMS: f.AtMS, ToMS: f.AtMS + f.DurationMS})
		}
	}
	return out
}

// usualOf is the usual frame of an event, nil where there is none.
func usualOf(r run.Run, event string) *run.LateFrame {
	for i := range r.Frames.Usual {
		if r.Frames.Usual[i].Event == event {
			return &r.Frames.Usual[i]
		}
	}
	return nil
}

// before is a usual frame of the runs before, the newest that has one.
func (t teller) before(event string) *run.LateFrame {
	for _, b := range t.base {
		if f := usualOf(b, event); f != nil {
			return f
		}
	}
	return nil
}
