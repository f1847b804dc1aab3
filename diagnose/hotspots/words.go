package hotspots

import (
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
)

// say makes a phrase.
func say(parts ...any) diagnose.Phrase { return diagnose.Say(parts...) }

func joules(v float64) diagnose.Amount { return diagnose.Amount{Value: v, Unit: "J"} }

func signedJoules(v float64) diagnose.Amount {
	return diagnose.Amount{Value: v, Unit: "J", Signed: true}
}

func lasting(ms float64) diagnose.Amount { return diagnose.Amount{Value: ms / 1000, Unit: "s"} }

func ratio(v float64) diagnose.Amount { return diagnose.Amount{Value: v, Unit: "ratio"} }

// shareOf returns a change as a share of the old value.
func shareOf(change, before float64) diagnose.Amount {
	return diagnose.Amount{Value: change / before, Unit: "ratio", Signed: true}
}

// ofBattery returns a share of a full battery; nothing where its size is unknown.
func ofBattery(j, battery float64) diagnose.Phrase {
	if battery <= 0 || j == 0 {
		return nil
	}
	return say(diagnose.Amount{Value: 100 * j / battery, Unit: "%"})
}

// brief returns a name for a cell.
func brief(name string) diagnose.Part { return diagnose.Part{Name: name, Most: 40} }

// caller returns a method that is named with another.
func caller(name string) diagnose.Part {
	return diagnose.Part{Name: name, As: diagnose.Short, Most: 60}
}

// sourceWords describes the source of joules.
func sourceWords(source string) diagnose.Phrase {
	kind, profile, _ := strings.Cut(source, " ")
	switch kind {
	case "rails":
		return say("measured (power rails)")
	case "battery":
		return say("measured (the battery's current × voltage)")
	case "platform":
		return say("estimated by the platform (batterystats)")
	case "model":
		if profile == "" {
			return say("modelled")
		}
		return say("modelled (", brief(profile), ")")
	}
	return say("source: ", brief(source))
}

// fact returns the run's energy in a line.
func (t teller) fact() diagnose.Phrase {
	var parts []diagnose.Phrase
	switch {
	case t.Total.HeadJ > 0 && t.Deviates && t.Total.BaseJ > 0:
		parts = append(parts, say(joules(t.Total.HeadJ), " per repetition on average, ", t.moreOrLess()))
	case t.Total.HeadJ > 0:
		first := say(joules(t.Total.HeadJ), " per repetition")
		if share := ofBattery(t.Total.HeadJ, t.BatteryJ); share != nil {
			first = say(first, ", ", share, " of the battery")
		}
		parts = append(parts, first)
	case t.Methods != nil:
		parts = append(parts, say(joules(t.Methods.Energy.HeadJ), " per repetition in the app's methods"))
	}
	parts = append(parts, sourceWords(t.Source))
	if t.DebugBuild {
		parts = append(parts, say("a debug build"))
	}
	return diagnose.Joined(parts, "; ")
}

// moreOrLess returns how much more the run takes: "3.2 J more, which is 0.0053 % of the battery".
// The percentage is reported where it is judged, by another centre than the mean.
func (t teller) moreOrLess() diagnose.Phrase {
	change, word := t.Total.ChangeJ(), "more"
	if change < 0 {
		word = "less"
	}
	text := say(joules(math.Abs(change)), " "+word)
	if share := ofBattery(math.Abs(change), t.BatteryJ); share != nil {
		text = say(text, ", which is ", share, " of the battery")
	}
	return text
}

// lines explains the change of the run, surest first.
func (t teller) lines(all []teller) []diagnose.Phrase {
	out, parts := t.drains(), t.partsLine()
	if t.trafficMatters() {
		out = append(out, say("The ", t.trafficWords(), "."))
	}
	if parts != nil && t.unexplained() {
		out, parts = append(out, parts), nil
	}
	out = append(out, t.methodLines(all)...)
	if parts != nil {
		out = append(out, parts)
	}
	return out
}

// methodLines returns the methods that explain a change of the energy, or that none does.
func (t teller) methodLines(all []teller) []diagnose.Phrase {
	if !t.Deviates || t.Methods == nil || !t.Methods.HasBase() {
		return nil
	}
	if t.unexplained() {
		return []diagnose.Phrase{say("The sampled methods do not explain it: theirs is a change of ",
			signedJoules(t.Methods.Energy.ChangeJ()), ", the whole one is ", signedJoules(t.Total.ChangeJ()), ".")}
	}
	var out []diagnose.Phrase
	explaining := t.Explaining()
	for _, m := range explaining[:min(len(explaining), openMethods)] {
		out = append(out, say(methodWords(m), alsoIn(m, all), "."))
	}
	enclosing, within := t.Enclosing()
	if within {
		out = append(out, say(enclosingWords(enclosing), "."))
	}
	if n := len(explaining) - openMethods; n > 0 {
		out = append(out, say("And ", diagnose.Count(n, "more method", "more methods"), " in the table."))
	}
	if len(explaining) == 0 && !within {
		out = append(out, say("No method's change is clear enough to be named: the intervals overlap."))
	}
	if text := t.sharesOf(); text != nil {
		out = append(out, text)
	}
	return out
}

// farApart is the share of a run's change from which on a different change of the methods together
// is reported.
const farApart = 0.1

// sharesOf says what the methods' shares are of, where that is not about the change of the run.
func (t teller) sharesOf() diagnose.Phrase {
	net, total := t.Methods.Energy.ChangeJ(), t.Total.ChangeJ()
	shown := slices.ContainsFunc(t.Explaining(), func(m Method) bool { return m.Share > 0 })
	if !shown || t.Total.BaseJ == 0 || t.Total.HeadJ == 0 || math.Abs(net-total) <= farApart*math.Abs(total) {
		return nil
	}
	return say("Shares are of the ", signedJoules(net), " attributed to all methods together, since methods that run together share the device's power; the run as a whole took ", signedJoules(total), ".")
}

// methodWords describes a method in a sentence: "com.example.MessageView.decode +2.1 J (+340 %), 71
// % of the change; called from Inbox.open; its CPU time +280 %".
func methodWords(m Method) diagnose.Phrase {
	text := say(diagnose.Coded(m.Name), " ", mark(m), signedJoules(m.Local.ChangeJ()))
	switch {
	case m.Total.Base.J == 0:
		text = say(text, " (not seen before)")
	case m.Total.Head.J == 0:
		text = say(text, " (no longer seen)")
	case m.Local.Base.J > 0:
		text = say(text, " (", shareOf(m.Local.ChangeJ(), m.Local.Base.J), ")")
	}
	if m.Share > 0 {
		text = say(text, ", ", ratio(m.Share), " of the change")
	}
	if m.From != "" {
		text = say(text, "; called from ", caller(m.From))
	}
	if cpu := m.CPU; cpu.BaseMS > 0 && cpu.HeadMS > 0 {
		text = say(text, "; its CPU time ", shareOf(cpu.HeadMS-cpu.BaseMS, cpu.BaseMS))
	}
	return text
}

// enclosingWords describes the method that contains a change: "com.example.Inbox.open +2.0 J (+180
// %) with all that it calls, spread over many methods".
func enclosingWords(m Method) diagnose.Phrase {
	text := say(diagnose.Coded(m.Name), " ", signedJoules(m.Total.ChangeJ()))
	if m.Total.Base.J > 0 {
		text = say(text, " (", shareOf(m.Total.ChangeJ(), m.Total.Base.J), ")")
	}
	text = say(text, " with all that it calls, spread over many methods")
	if m.From != "" {
		text = say(text, "; called from ", caller(m.From))
	}
	return text
}

// alsoIn says in how many of the runs a method explains the change.
func alsoIn(m Method, all []teller) diagnose.Phrase {
	if len(all) < 2 {
		return nil
	}
	n := 0
	for _, t := range all {
		if slices.ContainsFunc(t.Explaining(), func(o Method) bool { return o.Name == m.Name && o.Local.ChangeJ()*m.Local.ChangeJ() > 0 }) {
			n++
		}
	}
	return say("; in ", diagnose.Amount{Value: float64(n)}, " of ", diagnose.Count(len(all), "run", "runs"))
}

// partsLine returns the changes by component, nothing where none is visible.
func (t teller) partsLine() diagnose.Phrase {
	if !t.HasBase() {
		return nil
	}
	sum := 0.0
	for _, p := range t.Components {
		sum += p.HeadJ
	}
	var parts []diagnose.Phrase
	for _, p := range t.Components {
		if change := p.ChangeJ(); math.Abs(change) > 0.005*sum && len(parts) < openMethods {
			parts = append(parts, say(brief(p.Name), " ", signedJoules(change)))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return say("By component: ", diagnose.Joined(parts, ", "), ".")
}

// trafficWords describes the traffic, in a clause that follows "the".
func (t teller) trafficWords() diagnose.Phrase {
	amount := func(v float64) diagnose.Amount { return diagnose.Amount{Value: v, Unit: "B"} }
	return say("app received and sent ", amount(t.Traffic.HeadBytes), ", before ", amount(t.Traffic.BaseBytes))
}

// drains names the wakelocks that were held while the screen was off, and those that no longer are.
func (t teller) drains() []diagnose.Phrase {
	var out []diagnose.Phrase
	for _, w := range t.Wakelocks {
		if w.HeadScreenOffMS >= DrainMS && len(out) < openMethods {
			out = append(out, say("Wakelock ", t.drainWords(w), "."))
		}
	}
	for _, w := range t.released() {
		out = append(out, say("Wakelock ", releasedWords(w), "."))
	}
	return out
}
