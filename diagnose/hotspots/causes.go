package hotspots

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
)

// The kinds of causes that this package makes.
const (
	MethodKind    = "energy.method"
	CallsKind     = "energy.calls" // a method including its callees
	WakelockKind  = "energy.wakelock"
	ComponentKind = "energy.component"
	TrafficKind   = "energy.traffic"
)

// Family is the family of these kinds.
var Family = diagnose.Family{Name: "energy", Title: "Where the energy goes", Label: "Energy", Line: "Energy cause", Has: "joules"}

var _ = diagnose.Register(
	diagnose.Kind{Family: Family, Name: MethodKind, Rank: 10, Alert: true, Mark: "method"},
	diagnose.Kind{Family: Family, Name: CallsKind, Rank: 11},
	diagnose.Kind{Family: Family, Name: WakelockKind, Rank: 12},
	diagnose.Kind{Family: Family, Name: ComponentKind, Rank: 13},
	diagnose.Kind{Family: Family, Name: TrafficKind, Rank: 14},
)

// Limits on the causes of one run.
const (
	maxFindings = 8 // that are explained
	alsoCauses  = 3 // of each finding but the first
)

// causes returns what explains the run's change, at the first of its findings; at the others the
// main causes, without their evidence.
func (t teller) causes() []diagnose.Cause {
	ofJoules := t.firstOf(func(m string) bool { return !isLock(m) })
	ofLocks := t.firstOf(isLock)
	var out []diagnose.Cause
	out = append(out, t.at(ofJoules, t.methodCauses())...)
	locks := t.lockCauses()
	if len(out)+len(locks) == 0 {
		out = append(out, t.at(ofJoules, t.partCause())...)
	}
	if t.trafficMatters() {
		out = append(out, t.at(ofJoules, []diagnose.Cause{t.trafficCause()})...)
	}
	if len(ofLocks) == 0 {
		ofLocks = ofJoules
	}
	if len(ofLocks) == 0 { // nothing was flagged, and a wakelock is reported anyway
		ofLocks = []diagnose.Finding{{Metric: "wakelock.screen_off_ms"}}
	}
	out = append(out, t.at(ofLocks, locks)...)
	slices.SortStableFunc(out, func(a, b diagnose.Cause) int {
		return cmp.Or(cmp.Compare(t.place(a), t.place(b)), diagnose.Compare(a, b))
	})
	return out
}

// place returns the index of a cause's finding among the run's.
func (t teller) place(c diagnose.Cause) int {
	return slices.IndexFunc(t.findings, func(f diagnose.Finding) bool { return f.Event == c.Event && f.Metric == c.Metric })
}

func isLock(metric string) bool { return strings.HasPrefix(metric, "wakelock.") }

// firstOf returns the first findings of some metrics.
func (t teller) firstOf(of func(metric string) bool) []diagnose.Finding {
	var out []diagnose.Finding
	for _, f := range t.findings {
		if of(f.Metric) && len(out) < maxFindings {
			out = append(out, f)
		}
	}
	return out
}

// at assigns causes to findings.
func (t teller) at(findings []diagnose.Finding, causes []diagnose.Cause) []diagnose.Cause {
	diagnose.Order(causes)
	var out []diagnose.Cause
	for i, f := range findings {
		for k, c := range causes {
			c.Run, c.Scenario, c.Device, c.Event, c.Metric = t.Run, t.Scenario, t.Device, f.Event, f.Metric
			c.Doubts = append(t.doubts(), c.Doubts...)
			if c.Explains.Unit == "J" {
				c.Basis = sourceWords(t.Source)
			}
			if f.Event != "" || f.Metric != "energy.total_j" && f.Metric != "energy.app_j" {
				c.Explains.Share = nil
			}
			if f.Event != "" {
				c.Doubts = append(c.Doubts, say("The numbers are of the whole run, not of this event alone."))
			}
			if i > 0 {
				c.Tables = nil
			}
			if i == 0 || k < alsoCauses {
				out = append(out, c)
			}
		}
	}
	return out
}

// towards returns the direction in which a change of joules or of a time moves its metric.
func towards(change float64) gate.Direction {
	if change < 0 {
		return gate.ToImprovement
	}
	return gate.ToRegression
}

func (t teller) methodCauses() []diagnose.Cause {
	if !t.Deviates || !t.methodsMatter() {
		return nil
	}
	var out []diagnose.Cause
	for _, m := range t.Explaining() {
		c := t.methodCause(m, m.Local)
		c.Sentence = methodWords(m)
		if m.Blurred {
			c.Doubts = []diagnose.Phrase{say("The sensor has a reading every ", diagnose.Amount{Value: t.UpdateMS, Unit: "ms"}, ", longer than this method runs at a time: its joules are partly those of what ran at the same time.")}
		}
		if m.Share > 0 {
			c.Explains.Share = &m.Share
			if text := t.sharesOf(); text != nil {
				c.Doubts = append(c.Doubts, text)
			}
		}
		out = append(out, c)
	}
	if m, ok := t.Enclosing(); ok {
		c := t.methodCause(m, m.Total)
		c.Kind, c.Sentence = CallsKind, enclosingWords(m)
		out = append(out, c)
	}
	return out
}

func (t teller) methodCause(m Method, of Shift) diagnose.Cause {
	change, low, high := of.ChangeJ(), of.LowJ(), of.HighJ()
	c := diagnose.Cause{
		Kind: MethodKind, Direction: towards(change), Subject: diagnose.Subject{Name: m.Name, File: m.File},
		Explains: diagnose.Extent{Value: &change, Unit: "J", Low: &low, High: &high, Level: t.Methods.Level, Sure: diagnose.Clear},
		Title:    say("energy of ", caller(m.Name)),
	}
	table := beforeAndNow("The method compared with earlier runs")
	table.row("Own code", joules(m.Local.Base.J), joules(m.Local.Head.J))
	table.row("With calls", joules(m.Total.Base.J), joules(m.Total.Head.J))
	if m.CPU.BaseMS > 0 || m.CPU.HeadMS > 0 {
		table.row("CPU time of its own code", lasting(m.CPU.BaseMS), lasting(m.CPU.HeadMS))
	}
	c.Tables = []diagnose.Table{table.Table}
	return c
}

// beforeNow is a table of amounts before and now.
type beforeNow struct{ diagnose.Table }

func beforeAndNow(title string) beforeNow {
	return beforeNow{diagnose.Table{Title: title, Columns: []diagnose.Column{{Title: "What"}, {Title: "Before"}, {Title: "Now"}, {Title: "Change"}, {}}}}
}

func (b *beforeNow) row(what string, base, head diagnose.Amount) {
	change := diagnose.Amount{Value: head.Value - base.Value, Unit: head.Unit, Signed: true}
	b.Add(gate.None, say(what), say(base), say(head), say(change), nil)
}

// lockCauses returns the wakelocks that are held for longer with the screen off, or no longer.
func (t teller) lockCauses() []diagnose.Cause {
	var out []diagnose.Cause
	add := func(w Wakelock, sentence diagnose.Phrase) {
		change := (w.HeadScreenOffMS - w.BaseScreenOffMS) / 1000
		table := beforeAndNow("The wakelock compared with earlier runs")
		table.row("Held", lasting(w.BaseHeldMS), lasting(w.HeadHeldMS))
		table.row("Held with the screen off", lasting(w.BaseScreenOffMS), lasting(w.HeadScreenOffMS))
		out = append(out, diagnose.Cause{
			Kind: WakelockKind, Direction: towards(change), Subject: diagnose.Subject{Name: w.Name},
			Explains: diagnose.Extent{Value: &change, Unit: "s", Sure: diagnose.Seen},
			Title:    say("wakelock ", diagnose.Named(w.Name)), Sentence: say("wakelock ", sentence), Tables: []diagnose.Table{table.Table},
		})
	}
	for _, w := range t.Wakelocks {
		if w.Worse && len(out) < openMethods {
			add(w, t.drainWords(w))
		}
	}
	for _, w := range t.released() {
		add(w, releasedWords(w))
	}
	return out
}

// partCause returns the part of the device with most of the change.
func (t teller) partCause() []diagnose.Cause {
	p, ok := t.part()
	if !ok {
		return nil
	}
	change, of := p.ChangeJ(), math.Min(p.ChangeJ()/t.Total.ChangeJ(), 1)
	table := beforeAndNow("The part compared with earlier runs")
	table.row("Energy", joules(p.BaseJ), joules(p.HeadJ))
	return []diagnose.Cause{{
		Kind: ComponentKind, Direction: towards(change), Subject: diagnose.Subject{Name: p.Name},
		Explains: diagnose.Extent{Value: &change, Unit: "J", Share: &of, Sure: diagnose.Likely},
		Title:    say("energy of the part ", brief(p.Name)), Sentence: t.partWords(p), Tables: []diagnose.Table{table.Table},
	}}
}

func (t teller) trafficCause() diagnose.Cause {
	change := t.Traffic.HeadBytes - t.Traffic.BaseBytes
	table := beforeAndNow("What the app received and sent, compared with earlier runs")
	table.row("Both", diagnose.Amount{Value: t.Traffic.BaseBytes, Unit: "B"}, diagnose.Amount{Value: t.Traffic.HeadBytes, Unit: "B"})
	return diagnose.Cause{
		Kind: TrafficKind, Direction: towards(change), Subject: diagnose.Subject{Name: "traffic"},
		Explains: diagnose.Extent{Value: &change, Unit: "B", Sure: diagnose.Likely},
		Title:    say("traffic"), Sentence: say("the ", t.trafficWords()), Tables: []diagnose.Table{table.Table},
	}
}
