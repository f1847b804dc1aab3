package calls

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Limits on what stands with a cause.
const (
	maxLinks = 5
	maxRows  = 12 // methods
	maxDrawn = 300
)

// teller describes suspects in words.
type teller struct {
	head run.Run
	base []run.Run
	*comparison
	suspects []suspect
}

var say = diagnose.Say

func ms(v float64) diagnose.Amount    { return diagnose.Amount{Value: v, Unit: "ms"} }
func ratio(v float64) diagnose.Amount { return diagnose.Amount{Value: max(v, 0), Unit: "ratio"} }

// often says how often: "60 times".
func often(n float64) diagnose.Phrase {
	if math.Round(n*10) == 10 {
		return say("once")
	}
	return say(diagnose.Amount{Value: math.Round(n*10) / 10}, " times")
}

// cause returns a suspect with its evidence.
func (t teller) cause(s suspect) diagnose.Cause {
	value, share := s.more.mean, s.share
	if s.kind == HeldKind {
		value = s.ms
	}
	c := diagnose.Cause{
		Kind: s.kind, Direction: gate.ToRegression, Subject: diagnose.Subject{Name: s.name, File: t.file(s.name)},
		Explains: diagnose.Extent{Value: &value, Unit: "ms", Share: &share, Sure: s.sure},
		Title:    say(diagnose.Part{Name: s.name, As: diagnose.Short, Most: 80}, kindOf(s.kind).title), Sentence: t.sentence(s), Basis: t.basis(),
		Evidence: t.links(s), Doubts: t.doubts(s), Picture: t.picture(s),
	}
	if s.shown == nil {
		c.Explains.ShareLow, c.Explains.ShareHigh, c.Explains.Level = new(s.low), new(s.high), level
	}
	return c
}

// file returns where a method is defined, "" where unknown.
func (t teller) file(name string) string {
	if i := slices.IndexFunc(t.head.MethodTraces.List, func(m run.TracedMethod) bool { return m.Name == name }); i >= 0 {
		return t.head.MethodTraces.List[i].File
	}
	return ""
}

// sentence returns the cause in one sentence: what the method does that it did not before, how much
// longer that takes, and how much of the slowdown that is.
func (t teller) sentence(s suspect) diagnose.Phrase {
	out := kindOf(s.kind).says(s)
	if s.kind != HeldKind {
		out = say(out, ": ", ratio(s.share), " of what the main thread takes longer")
		if s.shown == nil && math.Round(100*s.low) != math.Round(100*s.high) {
			out = say(out, " (", diagnose.Range{Low: s.low, High: s.high, Unit: "ratio"}, ")")
		}
	}
	if s.shown != nil {
		out = say(out, s.shown.sentence(s))
	}
	return out
}

func (s suspect) isNew() diagnose.Phrase {
	called := say("called ", often(s.calls), ", ")
	if s.calls == 0 { // they are not counted
		called = nil
	}
	return say(diagnose.Coded(s.name), " is new here: ", called, "it takes ", ms(s.more.mean), " per repetition", s.within())
}

func (s suspect) isOftener() diagnose.Phrase {
	return say(diagnose.Coded(s.name), " is called ", often(s.calls), " per repetition (before: ", diagnose.Amount{Value: math.Round(s.callsBefore*10) / 10}, "), which takes ", ms(s.more.mean), " more", s.within())
}

func (s suspect) isLonger() diagnose.Phrase {
	return say(diagnose.Coded(s.name), " takes ", ms(s.more.mean), " longer per repetition", s.within())
}

func (s suspect) holds() diagnose.Phrase {
	out := say(diagnose.Coded(s.name), " keeps the main thread for ", ms(s.ms), " of ", ms(s.shown.chain.MS[0]), " at a time")
	if s.calls > 1 {
		out = say(out, ", in ", diagnose.Count(int(math.Round(s.calls)), "call", "calls"))
	}
	return say(out, s.within())
}

// within says which method has most of a suspect's time.
func (s suspect) within() diagnose.Phrase {
	if s.inner == "" {
		return nil
	}
	return say(", ", ms(s.innerMS), " of that in ", diagnose.Coded(s.inner))
}

// sentence says what a freeze shows by itself.
func (f freeze) sentence(s suspect) diagnose.Phrase {
	var out diagnose.Phrase
	if s.kind != HeldKind {
		out = say("; it keeps the main thread for ", ms(f.msOf(s.name)), " of ", ms(f.chain.MS[0]), " at a time")
	}
	if f.of > 1 {
		out = say(out, ", seen in ", diagnose.Amount{Value: float64(f.repetitions)}, " of ", diagnose.Amount{Value: float64(f.of)}, " repetitions")
	}
	return out
}

func (f freeze) msOf(name string) float64 { return f.ms[slices.Index(f.path, name)] }

// basis returns the basis of the numbers.
func (t teller) basis() diagnose.Phrase {
	out := say("based on ", diagnose.Count(t.now.repetitions(), "traced repetition", "traced repetitions"))
	n := t.before.repetitions()
	switch {
	case n == 0:
		return out
	case t.alone:
		return say(out, " in which something went wrong, compared with ", diagnose.Count(n, "other", "others"))
	}
	out = say(out, ", compared with ", diagnose.Amount{Value: float64(n)})
	switch first := t.base[0]; {
	case first.Explains:
		return say(out, " of the base build, recorded after the verdict")
	case first.Session != "" && first.Session == t.head.Session:
		return say(out, " of the base build")
	}
	return say(out, " of earlier runs")
}

// links refers to the traces of the event: the one that shows the suspect first, then those in which
// something went wrong.
func (t teller) links(s suspect) []diagnose.Link {
	var out []diagnose.Link
	rank := func(w run.TraceWindow) int {
		switch {
		case s.shown != nil && w.Repetition == s.shown.chain.Repetition:
			return 0
		case w.Why != "":
			return 1
		}
		return 2
	}
	all := slices.DeleteFunc(slices.Clone(t.head.MethodTraces.Windows), func(w run.TraceWindow) bool {
		return w.Evidence == "" || !of(t.event, w.Event)
	})
	slices.SortStableFunc(all, func(a, b run.TraceWindow) int { return cmp.Compare(rank(a), rank(b)) })
	for _, w := range all[:min(len(all), maxLinks)] {
		out = append(out, diagnose.Link{Digest: w.Evidence, FromMS: w.FromMS, ToMS: w.ToMS})
	}
	return out
}

// The cost of a traced entry, on a phone of 2016 (the paper, table 2), and the part of a cause from
// which on it is doubted.
const (
	entryMS   = 0.003366
	muchTrace = 0.1
)

// doubts returns reasons to doubt a cause.
func (t teller) doubts(s suspect) []diagnose.Phrase {
	var out []diagnose.Phrase
	compared := s.kind != HeldKind
	if compared && !t.settles() && s.shown == nil {
		out = append(out, say(diagnose.Count(len(t.now), "traced repetition", "traced repetitions"), " compared with ", diagnose.Amount{Value: float64(len(t.before))}, " are too few to rule out chance. Four of each build are enough."))
	}
	if compared && t.alone {
		out = append(out, say("No earlier run was traced: repetitions in which something went wrong are compared with this run's others."))
	}
	if compared && t.partial() {
		out = append(out, say("Less was traced of what it is compared with: a method may be missing there for that reason."))
	}
	if compared && t.renamed() {
		out = append(out, say("Most methods of the app have other names than before: with the mapping.txt of each build (app.mapping) they are compared by those of the source."))
	}
	if s.additional*entryMS >= muchTrace*s.more.mean && s.more.mean > 0 {
		out = append(out, say("Tracing makes short calls longer: a part of the time of ", diagnose.Amount{Value: math.Round(s.additional)}, " more calls is the tracer's."))
	}
	if t.head.MethodTraces.Clock == run.CPUClock {
		out = append(out, say("Times are processor time: what a method waited for is not in them."))
	}
	if s.foreign {
		out = append(out, say("No method of the app called it."))
	}
	return out
}
