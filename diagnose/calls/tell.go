package calls

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// teller describes suspects in words.
type teller struct {
	*comparison
	suspects []suspect
}

var (
	say = diagnose.Say
	ms  = contrast.MS
)

func ratio(v float64) diagnose.Amount { return diagnose.Amount{Value: max(v, 0), Unit: "ratio"} }

// tenths is a count per repetition.
func tenths(n float64) diagnose.Amount { return diagnose.Amount{Value: math.Round(n*10) / 10} }

// often says how often: "60 times".
func often(n float64) diagnose.Phrase {
	if tenths(n).Value == 1 {
		return say("once")
	}
	return say(tenths(n), " times")
}

// cause returns a suspect with its evidence.
func (t teller) cause(s suspect) diagnose.Cause {
	value, share, repetition := s.more.Mean, s.share, 0
	if s.kind == HeldKind {
		value = s.ms
	}
	if s.shown != nil {
		repetition = s.shown.chain.Repetition
	}
	c := diagnose.Cause{
		Kind: s.kind, Direction: gate.ToRegression, Subject: diagnose.Subject{Name: s.name, File: t.file(s.name)},
		Explains: diagnose.Extent{Value: &value, Unit: "ms", Share: &share, Sure: s.sure},
		Title:    say(diagnose.Part{Name: s.name, As: diagnose.Short, Most: 80}, kindOf(s.kind).title), Sentence: t.sentence(s), Basis: t.basis(),
		Evidence: links(t.head.MethodTraces, t.event, repetition), Doubts: t.doubts(s), Picture: t.picture(s),
	}
	if s.shown == nil {
		c.Explains.ShareLow, c.Explains.ShareHigh, c.Explains.Level = new(s.low), new(s.high), contrast.Level
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
	return say(diagnose.Coded(s.name), " is new here: ", called, "it takes ", ms(s.more.Mean), " per repetition", s.within())
}

func (s suspect) isOftener() diagnose.Phrase {
	return say(diagnose.Coded(s.name), " is called ", often(s.calls), " per repetition (before: ", tenths(s.callsBefore), "), which takes ", ms(s.more.Mean), " more", s.within())
}

func (s suspect) isLonger() diagnose.Phrase {
	return say(diagnose.Coded(s.name), " takes ", ms(s.more.Mean), " longer per repetition", s.within())
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
	if f.chain.BlockedMS > 0 {
		out = say(out, "; it blocked ", ms(f.chain.BlockedMS), " in ", diagnose.Coded(f.path[len(f.path)-1]))
	}
	if f.of > 1 {
		out = say(out, ", seen in ", diagnose.Amount{Value: float64(f.repetitions)}, " of ", diagnose.Amount{Value: float64(f.of)}, " repetitions")
	}
	return out
}

func (f freeze) msOf(name string) float64 { return f.ms[slices.Index(f.path, name)] }

// basis returns the basis of the numbers.
func (t teller) basis() diagnose.Phrase {
	n, _ := traced(t.now())
	before, _ := traced(t.before())
	out := say("based on ", diagnose.Count(n, "traced repetition", "traced repetitions"))
	switch {
	case before == 0:
		return out
	case t.alone:
		return say(out, " in which something went wrong, compared with ", diagnose.Count(before, "other", "others"))
	case contrast.InTurns(t.head, t.base):
		return say(out, contrast.Compared(t.head, t.base, len(t.base), float64(before)))
	}
	return say(out, ", compared with ", diagnose.Amount{Value: float64(before)}, " of earlier runs")
}

// The cost of a traced entry, on a phone of 2016 (the paper, table 2), and the part of a cause from
// which on it is doubted.
const (
	entryMS   = 0.003366
	muchTrace = 0.1
)

// doubts returns reasons to doubt a cause.
func (t teller) doubts(s suspect) (out []diagnose.Phrase) {
	add := func(doubtful bool, parts ...any) {
		if doubtful {
			out = append(out, say(parts...))
		}
	}
	compared := s.kind != HeldKind
	add(compared && !t.settles() && s.shown == nil, contrast.TooFew(diagnose.Count(len(t.now()), "traced repetition", "traced repetitions"), float64(len(t.before()))))
	add(compared && t.alone, "No earlier run was traced: repetitions in which something went wrong are compared with this run's others.")
	add(compared && t.partial(), "Less was traced in the runs compared with: a method may be missing there for that reason.")
	add(compared && t.renamed(), "Most methods of the app have other names than before: with each build's mapping.txt (app.mapping) they are compared by their source names.")
	add(s.additional*entryMS >= muchTrace*s.more.Mean && s.more.Mean > 0,
		"Tracing makes short calls longer: a part of the time of ", diagnose.Amount{Value: math.Round(s.additional)}, " more calls is the tracer's.")
	add(t.head.MethodTraces.Clock == run.CPUClock, "Times are processor time: what a method waited for is not in them.")
	add(s.foreign, "No method of the app called it.")
	return out
}
