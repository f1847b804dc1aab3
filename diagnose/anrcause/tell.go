package anrcause

import (
	"cmp"
	"slices"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr/signature"
)

// Limits on what is reported.
const (
	maxFindings = 4  // findings with which one fault is reported
	maxRows     = 20 // of runs with a fault
	maxFrames   = 12 // of the critical thread
)

// Explain returns a cause for each fault in a run's ANRs, whether or not a finding is about ANRs: a
// new fault is reported even where the number of ANRs is normal. Without such a finding it is a
// cause of the number of ANRs at its event.
func (h *History) Explain(r run.Run, findings []diagnose.Finding) []diagnose.Cause {
	var out []diagnose.Cause
	for _, f := range h.faults(r) {
		out = append(out, at(r, f, h.cause(r, f), findings)...)
	}
	diagnose.Order(out)
	return out
}

// at assigns a cause to the findings that it explains.
func at(r run.Run, f fault, c diagnose.Cause, findings []diagnose.Finding) []diagnose.Cause {
	var out []diagnose.Cause
	for _, finding := range findings {
		if finding.Direction == gate.ToRegression && f.explains(r, finding) && len(out) < maxFindings {
			c.Event, c.Metric = finding.Event, finding.Metric
			out = append(out, c)
			c.Tables, c.Picture = nil, nil // they are shown with the first
		}
	}
	if len(out) == 0 {
		out = append(out, c)
	}
	return out
}

// explains reports whether a finding counts any of the fault's ANRs.
func (f fault) explains(r run.Run, finding diagnose.Finding) bool {
	return slices.ContainsFunc(f.anrs, func(i int) bool {
		a := r.ANRs[i]
		if finding.Event != "" && finding.Event != a.Event {
			return false
		}
		return finding.Metric == metricOf(a) || a.Kind != run.SNR && finding.Metric == "anr."+of(a.Kind)
	})
}

// metricOf returns the metric that counts the ANRs of that kind.
func metricOf(a run.ANR) string {
	if a.Kind == run.SNR {
		return "snr.count"
	}
	return "anr.count"
}

// of returns the kind as in metrics.
func of(kind string) string {
	switch kind {
	case run.ANRForegroundService:
		return "service"
	case run.ANRProvider:
		return "provider"
	}
	return kind
}

// cause describes a fault by the first of its ANRs with threads.
func (h *History) cause(r run.Run, f fault) diagnose.Cause {
	shown := r.ANRs[f.anrs[0]]
	for _, i := range f.anrs {
		if len(shown.Threads) == 0 && len(r.ANRs[i].Threads) > 0 {
			shown = r.ANRs[i]
		}
	}
	why := reasonOf(shown)
	share := float64(len(f.anrs)) / float64(len(r.ANRs))
	value := float64(len(f.anrs))
	c := diagnose.Cause{
		Run: r.ID, Scenario: r.Scenario, Device: devctx.Only(r.Context, devctx.Named), Event: shown.Event, Metric: metricOf(shown),
		Kind: why.kind, Direction: gate.ToRegression, Subject: diagnose.Subject{Name: why.subject},
		Explains: diagnose.Extent{Value: &value, Share: &share, Sure: why.sure},
		Title:    title(why), Sentence: sentence(look(shown), why),
		Basis:   basis(shown),
		Picture: diagnose.PictureOfWaits("Who waited for whom", shown),
		Doubts:  h.doubts(shown, why),
	}
	if r.ID != "" { // a file by itself has no history
		c.Sentence = diagnose.Say(c.Sentence, "; ", since(f.known))
	}
	if t, ok := stack(look(shown)); ok {
		c.Tables = append(c.Tables, t)
	}
	if t, ok := runs(f.known); ok {
		c.Tables = append(c.Tables, t)
	}
	for _, i := range f.anrs {
		a := r.ANRs[i]
		for _, digest := range a.Evidence {
			if l := (diagnose.Link{Digest: digest, FromMS: max(0, a.AtMS-a.WaitedMS), ToMS: a.AtMS}); len(c.Evidence) < diagnose.MaxLinks && !slices.Contains(c.Evidence, l) {
				c.Evidence = append(c.Evidence, l)
			}
		}
	}
	return c
}

func title(r reason) diagnose.Phrase {
	as := diagnose.Named(r.subject)
	if causeKindOf(r.kind).code || r.kind == IOKind && strings.Contains(r.subject, ".") {
		as = diagnose.Part{Name: r.subject, As: diagnose.Short}
	}
	return diagnose.Say(causeKindOf(r.kind).title, as)
}

// sentence says which thread did not respond, which one it waited for, and what that did.
func sentence(f found, r reason) diagnose.Phrase {
	if len(f.Threads) == 0 {
		who := "the app"
		if f.Kind == run.SNR {
			who = "Android"
		}
		return diagnose.Say(who, " did not respond, and ", r.why)
	}
	if f.Cycle {
		return f.deadlock(r)
	}
	out := diagnose.Say(f.who(f.first), " did not respond: it ")
	if len(f.Threads) > 1 {
		out = diagnose.Say(out, "waited ", f.through(), "for ", f.who(f.last), ", which ")
	}
	out = diagnose.Say(out, r.why)
	if r.kind == BinderKind {
		out = diagnose.Say(out, " (", diagnose.Named(r.subject), ")")
	}
	if r.where != "" {
		out = diagnose.Say(out, ", in ", diagnose.Coded(r.where))
	}
	return out
}

// who names a thread with its process, where known.
func (f found) who(t run.ANRThread) diagnose.Phrase {
	out := diagnose.Say("thread ", diagnose.Named(t.Name))
	if diagnose.IsMain(t.Name, cmp.Or(t.Process, f.Process)) {
		out = diagnose.Say("the main thread")
	}
	switch process := t.Process; {
	case process != "":
		return diagnose.Say(out, " of ", diagnose.Named(process))
	case t.Name != f.first.Name || f.Process == "":
		return out
	}
	return diagnose.Say(out, " of ", diagnose.Named(f.Process))
}

// through says how many threads are between the first one and the critical one.
func (f found) through() diagnose.Phrase {
	switch n := len(f.Threads) - 2; {
	case len(f.Threads) == run.MaxANRThreads: // a longer chain has lost some
		return diagnose.Say("through at least ", diagnose.Count(n, "other", "others"), " ")
	case n > 0:
		return diagnose.Say("through ", diagnose.Count(n, "other", "others"), " ")
	}
	return nil
}

// deadlock says which threads wait for each other. Where it is unknown which process did not
// respond, none is named.
func (f found) deadlock(r reason) diagnose.Phrase {
	each := diagnose.Say("the threads ", diagnose.Named(r.subject))
	if r.sure != diagnose.Seen {
		each = diagnose.Say(each, " very likely")
	}
	switch {
	case f.Kind == Untold:
		return diagnose.Say(each, " of ", diagnose.Named(strings.Join(f.processes(), ", ")), " wait for each other, for ever")
	case !slices.Contains(f.names(), f.first.Name):
		return diagnose.Say(f.who(f.first), " did not respond: it waited for ", each, ", which wait for each other forever")
	}
	return diagnose.Say(f.who(f.first), " did not respond: ", each, " wait for each other, for ever")
}

// processes returns those of the threads, each once.
func (f found) processes() (out []string) {
	for _, t := range f.Threads {
		if name := cmp.Or(t.Process, f.Process, "a process without a name"); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// since says whether a fault is new, or since when it is known.
func since(k known) diagnose.Phrase {
	if len(k.others) == 0 {
		if k.same > 0 {
			return diagnose.Say("this is new: in the history only other runs of this build have it, ", diagnose.Count(k.same, "time", "times"))
		}
		return diagnose.Say("this is new: nothing in the history is like it")
	}
	if k.base > 0 && k.base == k.times() {
		return diagnose.Say("the base build has it too, ", diagnose.Count(k.base, "time", "times"))
	}
	first := k.first()
	out := diagnose.Say("known since ", day(first.Started))
	if first.Commit != "" {
		out = diagnose.Say(out, " (commit ", diagnose.Part{Name: first.Commit, Most: 12}, ")")
	}
	out = diagnose.Say(out, ", ", diagnose.Count(k.times(), "time", "times"), " in ", diagnose.Count(len(k.others), "run", "runs"))
	if !k.accepted() && k.base == 0 {
		out = diagnose.Say(out, ", none of which was accepted")
	}
	return out
}

// basis returns the basis of the cause.
func basis(a run.ANR) diagnose.Phrase {
	switch {
	case len(a.Threads) == 0:
		return diagnose.Say("by what Android said of it alone")
	}
	stacks := diagnose.Say("by the stacks of ", diagnose.Count(len(a.Threads), "thread", "threads"))
	telling := slices.DeleteFunc(slices.Clone(a.Features), func(f string) bool { return slices.Contains(ordinary, f) })
	if len(telling) == 0 {
		return stacks
	}
	return diagnose.Say(stacks, " and ", diagnose.Named(strings.Join(telling, ", ")))
}

// ordinary are features of a phone without any shortage: they help to find similar ANRs, and prove
// nothing.
var ordinary = []string{signature.CPULow, signature.CPUMedium, signature.IOWaitLow, signature.MemoryGood, signature.HeapGood}

// doubts returns reasons to doubt it.
func (h *History) doubts(a run.ANR, r reason) (out []diagnose.Phrase) {
	if r.kind == IdleKind {
		out = append(out, diagnose.Say("Either the stacks came late, and what kept the thread busy was over by then, or another thread or process did not respond."))
	}
	if r.kind != MemoryKind && (slices.Contains(a.Features, signature.MemoryLow) || slices.Contains(a.Features, signature.HeapFull)) {
		out = append(out, diagnose.Say("Memory was short at the time."))
	}
	if r.kind != UnknownKind && r.kind != DeadlockKind && r.sure != diagnose.Seen {
		out = append(out, diagnose.Say("The stacks point there, and show no wait of that kind itself."))
	}
	if a.Signature == "" && len(a.Threads) > 0 {
		out = append(out, diagnose.Say("No function of the critical thread is known, so that it counts as like any other of its kind."))
	}
	if h.leftOut > 0 {
		out = append(out, diagnose.Say("The history has ", diagnose.Count(h.leftOut, "older ANR", "older ANRs"), " that were not compared."))
	}
	return out
}

// stack returns the stack of the critical thread.
func stack(f found) (t diagnose.Table, ok bool) {
	t = diagnose.Table{Title: "The thread that kept the others waiting", Main: true, Columns: []diagnose.Column{{Title: "frame"}, {Title: "of"}}}
	names := map[kind]string{java: "Java", native: "native code", kernel: "the kernel"}
	for _, frame := range f.last.Stack {
		if name, is := names[kindOf(frame)]; is && len(t.Rows) < maxFrames {
			t.Add(gate.None, diagnose.Say(diagnose.Coded(frame)), diagnose.Say(name))
		} else if is {
			t.Total = max(t.Total, maxFrames) + 1
		}
	}
	return t, len(t.Rows) > 0
}

// runs returns the runs with the same fault.
func runs(k known) (t diagnose.Table, ok bool) {
	t = diagnose.Table{Title: "The same in other runs", Columns: []diagnose.Column{{Title: "run"}, {Title: "started"}, {Title: "commit"}, {Title: "times"}, {Title: "state"}}}
	for _, o := range k.others[:min(len(k.others), maxRows)] {
		state := cmp.Or(o.State, "unmarked")
		if o.Base {
			state = "base build"
		}
		t.Add(gate.None, diagnose.Say(diagnose.Part{Name: o.Run, Most: 16}), diagnose.Say(day(o.Started)), diagnose.Say(diagnose.Part{Name: o.Commit, Most: 12}),
			diagnose.Say(diagnose.Amount{Value: float64(o.times)}), diagnose.Say(diagnose.Named(state)))
	}
	if len(k.others) > maxRows {
		t.Total = len(k.others)
	}
	return t, len(t.Rows) > 0
}
