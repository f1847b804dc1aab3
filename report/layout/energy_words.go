package layout

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/report/words"
)

// energySource says in words where joules come from.
func energySource(source string) string {
	kind, profile, _ := strings.Cut(source, " ")
	switch kind {
	case "rails":
		return "measured (power rails)"
	case "battery":
		return "measured (the battery's current × voltage)"
	case "platform":
		return "estimated by the platform (batterystats)"
	case "model":
		if profile == "" {
			return "modelled"
		}
		return "modelled (" + words.Brief(profile) + ")"
	}
	return "source: " + words.Brief(source)
}

// fact is the run's energy in a line.
func (r energyRun) fact() string {
	var parts []string
	switch {
	case r.Total.HeadJ > 0 && r.Deviates && r.Total.BaseJ > 0:
		parts = append(parts, words.Joules(r.Total.HeadJ)+" per repetition, "+r.moreOrLess())
	case r.Total.HeadJ > 0:
		parts = append(parts, words.Joules(r.Total.HeadJ)+" per repetition")
		if share := words.OfBattery(r.Total.HeadJ, r.BatteryJ); share != "" {
			parts[0] += ", " + share + " of the battery"
		}
	case r.Methods != nil:
		parts = append(parts, words.Joules(r.Methods.Energy.HeadJ)+" per repetition in the app's methods")
	}
	parts = append(parts, energySource(r.Source))
	if r.DebugBuild {
		parts = append(parts, "a debug build")
	}
	return strings.Join(parts, "; ")
}

// moreOrLess is how much more the run takes: "3.2 J more (+26 %), 0.0053 % of the
// battery".
func (r energyRun) moreOrLess() string {
	change, word := r.Total.ChangeJ(), "more"
	if change < 0 {
		word = "less"
	}
	text := words.Joules(math.Abs(change)) + " " + word + " (" + words.ShareOf(change, r.Total.BaseJ) + ")"
	if share := words.OfBattery(math.Abs(change), r.BatteryJ); share != "" {
		text += ", " + share + " of the battery"
	}
	return text
}

// lines are what explains the change of the run, the surest first.
func (r energyRun) lines(all []energyRun) []string {
	out, parts := r.drains(), r.partsLine()
	if text := r.trafficLine(); text != "" {
		out = append(out, words.UpperFirst(text)+".")
	}
	if parts != "" && r.unexplained() {
		out, parts = append(out, parts), ""
	}
	out = append(out, r.methodLines(all)...)
	if parts != "" {
		out = append(out, parts)
	}
	return out
}

// unexplained reports whether the energy changed, and not in the sampled methods.
func (r energyRun) unexplained() bool {
	return r.Deviates && r.Methods != nil && r.Methods.HasBase() && !r.methodsMatter()
}

// methodLines are the methods that explain a change of the energy, or that none
// does.
func (r energyRun) methodLines(all []energyRun) []string {
	if !r.Deviates || r.Methods == nil || !r.Methods.HasBase() {
		return nil
	}
	if r.unexplained() {
		return []string{fmt.Sprintf("The sampled methods do not explain it: theirs is a change of %s, the whole one is %s.",
			words.SignedJoules(r.Methods.Energy.ChangeJ()), words.SignedJoules(r.Total.ChangeJ()))}
	}
	var out []string
	explaining := r.Explaining()
	for _, m := range explaining[:min(len(explaining), openMethods)] {
		out = append(out, methodLine(m)+alsoIn(m, all)+".")
	}
	enclosing, within := r.Enclosing()
	if within {
		out = append(out, enclosingLine(enclosing)+".")
	}
	if n := len(explaining) - openMethods; n > 0 {
		out = append(out, "And "+words.Count(n, "more method", "more methods")+" in the table.")
	}
	if len(explaining) == 0 && !within {
		out = append(out, "No method's change is clear enough to be named: the intervals overlap.")
	}
	if text := r.sharesOf(); text != "" {
		out = append(out, text)
	}
	return out
}

// farApart is the part of a run's change from which on it is told that the methods
// together changed by something else.
const farApart = 0.1

// sharesOf says what the methods' shares are of, where that is not about the change
// of the run: "" otherwise.
func (r energyRun) sharesOf() string {
	net, total := r.Methods.Energy.ChangeJ(), r.Total.ChangeJ()
	shown := slices.ContainsFunc(r.Explaining(), func(m hotspots.Method) bool { return m.Share > 0 })
	if !shown || r.Total.BaseJ == 0 || r.Total.HeadJ == 0 || math.Abs(net-total) <= farApart*math.Abs(total) {
		return ""
	}
	return "These shares are of the " + words.SignedJoules(net) + " of all methods together, each of which has what the whole device took while it ran; the run as a whole took " + words.SignedJoules(total) + "."
}

// methodLine is a method in a sentence: "com.example.MessageView.decode +2.1 J
// (+340 %), 71 % of the change; called from Inbox.open; its CPU time +280 %".
func methodLine(m hotspots.Method) string {
	text := words.Method(m.Name, words.MaxName) + " " + words.SignedJoules(m.Local.ChangeJ())
	switch {
	case m.Total.Base.J == 0:
		text += " (not seen before)"
	case m.Total.Head.J == 0:
		text += " (no longer seen)"
	case m.Local.Base.J > 0:
		text += " (" + words.ShareOf(m.Local.ChangeJ(), m.Local.Base.J) + ")"
	}
	if m.Share > 0 {
		text += ", " + words.Percent(m.Share) + " of the change"
	}
	if m.From != "" {
		text += "; called from " + words.Method(words.ShortMethod(m.From), 60)
	}
	if t := m.CPU; t.BaseMS > 0 && t.HeadMS > 0 {
		text += "; its CPU time " + words.ShareOf(t.HeadMS-t.BaseMS, t.BaseMS)
	}
	return text
}

// enclosingLine is the method that a change lies in: "com.example.Inbox.open +2.0 J
// (+180 %) with all that it calls, spread over many methods".
func enclosingLine(m hotspots.Method) string {
	text := words.Method(m.Name, words.MaxName) + " " + words.SignedJoules(m.Total.ChangeJ())
	if m.Total.Base.J > 0 {
		text += " (" + words.ShareOf(m.Total.ChangeJ(), m.Total.Base.J) + ")"
	}
	text += " with all that it calls, spread over many methods"
	if m.From != "" {
		text += "; called from " + words.Method(words.ShortMethod(m.From), 60)
	}
	return text
}

// partsLine is what changed by component, "" where nothing did that would show.
func (r energyRun) partsLine() string {
	if !r.HasBase() {
		return ""
	}
	sum := 0.0
	for _, p := range r.Components {
		sum += p.HeadJ
	}
	var parts []string
	for _, p := range r.Components {
		if change := p.ChangeJ(); math.Abs(change) > 0.005*sum && len(parts) < openMethods {
			parts = append(parts, words.Brief(p.Name)+" "+words.SignedJoules(change))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "By component: " + strings.Join(parts, ", ") + "."
}

// doubts are what to hold against the run's numbers.
func (r energyRun) doubts() []string {
	var out []string
	if r.DebugBuild {
		out = append(out, "This is a debug build: its energy, and which methods take it, can differ from the release build's. Measure a release build that is profileable.")
	}
	if !r.HasBase() {
		out = append(out, "Nothing to set these beside has joules of the same source.")
	} else if r.Methods != nil && !r.Methods.HasBase() {
		out = append(out, "The methods of the runs beside were not sampled: what changed among methods is not known.")
	}
	return out
}
