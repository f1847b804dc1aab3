package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/diagnose/hotspots"
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
		return "modelled (" + brief(profile) + ")"
	}
	return "source: " + brief(source)
}

// joules shows an energy with two or three digits: "12.4 J", "0.66 J", "34 mJ".
func joules(v float64) string {
	u := "J"
	switch a := math.Abs(v); {
	case a >= 1e7:
		return minus(strconv.FormatFloat(v, 'g', 3, 64)) + unit(u)
	case a != 0 && a < 0.0995:
		v, u = 1000*v, "mJ"
	}
	digits := 2
	switch a := math.Abs(v); {
	case v == 0 || a >= 99.5 || u == "mJ" && a >= 9.95:
		digits = 0
	case a >= 0.995:
		digits = 1
	}
	return minus(strconv.FormatFloat(v, 'f', digits, 64)) + unit(u)
}

// signedJoules is joules with its sign: "+2.1 J".
func signedJoules(v float64) string {
	if v > 0 {
		return "+" + joules(v)
	}
	return joules(v)
}

// ofBattery is a share of a full battery to two digits: "0.0053 %"; "" where its
// size is not known.
func ofBattery(j, battery float64) string {
	if battery <= 0 || j == 0 {
		return ""
	}
	v := 100 * j / battery
	digits := 1 - int(math.Floor(math.Log10(math.Abs(v))))
	if digits > 7 {
		return "under" + nbsp + "0.000001" + unit("%")
	}
	return minus(strconv.FormatFloat(v, 'f', max(digits, 0), 64)) + unit("%")
}

// lasting shows a time: "9 min 58 s", "12.3 s", "1 h 2 min".
func lasting(ms float64) string {
	s := math.Round(ms / 1000)
	switch {
	case ms < 59_950:
		return oneDecimal(ms/1000) + unit("s")
	case s < 3600:
		return fmt.Sprintf("%.0f%s %.0f%s", math.Floor(s/60), unit("min"), math.Mod(s, 60), unit("s"))
	}
	minutes := min(math.Round(s/60), 1e12)
	return thousands(int(minutes)/60) + unit("h") + fmt.Sprintf(" %d", int(minutes)%60) + unit("min")
}

// bytesOf shows an amount of data with two or three digits: "9.5 MB", "320 kB".
func bytesOf(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}} {
		if v >= 0.9995*u.size {
			return strconv.FormatFloat(v/u.size, 'g', 3, 64) + unit(u.name)
		}
	}
	return strconv.FormatFloat(v/1e3, 'f', 0, 64) + unit("kB")
}

// shortName is a method's name without its package: "MessageView.decode" of
// "com.example.MessageView.decode". A name of C++ stays as it is.
func shortName(s string) string {
	s = name(s)
	if strings.ContainsAny(s, " (:<[/") {
		return s
	}
	last := strings.LastIndexByte(s, '.')
	if last <= 0 {
		return s
	}
	return s[strings.LastIndexByte(s[:last], '.')+1:]
}

// methodName is a method's name in at most n characters: its end, which tells
// most, where it is longer.
func methodName(s string, n int) string {
	s = Visible(s)
	if clip(s, n) == s {
		return s
	}
	if short := shortName(s); clip(short, n-1) == short {
		runes := []rune(s)
		return "…" + string(runes[len(runes)-n+1:])
	}
	return clip(shortName(s), n)
}

// fact is the run's energy in a line.
func (r energyRun) fact() string {
	var parts []string
	switch {
	case r.Total.HeadJ > 0 && r.Deviates && r.Total.BaseJ > 0:
		parts = append(parts, joules(r.Total.HeadJ)+" per repetition, "+r.moreOrLess())
	case r.Total.HeadJ > 0:
		parts = append(parts, joules(r.Total.HeadJ)+" per repetition")
		if share := ofBattery(r.Total.HeadJ, r.BatteryJ); share != "" {
			parts[0] += ", " + share + " of the battery"
		}
	case r.Methods != nil:
		parts = append(parts, joules(r.Methods.Energy.HeadJ)+" per repetition in the app's methods")
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
	text := joules(math.Abs(change)) + " " + word + " (" + shareOf(change, r.Total.BaseJ) + ")"
	if share := ofBattery(math.Abs(change), r.BatteryJ); share != "" {
		text += ", " + share + " of the battery"
	}
	return text
}

// shareOf is a change as a share of what was there: "+340 %", "×12".
func shareOf(change, before float64) string {
	share := change / before
	if share >= manifold {
		return times(share)
	}
	return signed(share)
}

// lines are what explains the change of the run, the surest first.
func (r energyRun) lines(all []energyRun) []string {
	out, parts := r.drains(), r.partsLine()
	if text := r.trafficLine(); text != "" {
		out = append(out, upperFirst(text)+".")
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
			signedJoules(r.Methods.Energy.ChangeJ()), signedJoules(r.Total.ChangeJ()))}
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
		out = append(out, "And "+count(n, "more method", "more methods")+" in the table.")
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
	return "These shares are of the " + signedJoules(net) + " of all methods together, each of which has what the whole device took while it ran; the run as a whole took " + signedJoules(total) + "."
}

// methodLine is a method in a sentence: "com.example.MessageView.decode +2.1 J
// (+340 %), 71 % of the change; called from Inbox.open; its CPU time +280 %".
func methodLine(m hotspots.Method) string {
	text := methodName(m.Name, maxName) + " " + signedJoules(m.Local.ChangeJ())
	switch {
	case m.Total.Base.J == 0:
		text += " (not seen before)"
	case m.Total.Head.J == 0:
		text += " (no longer seen)"
	case m.Local.Base.J > 0:
		text += " (" + shareOf(m.Local.ChangeJ(), m.Local.Base.J) + ")"
	}
	if m.Share > 0 {
		text += ", " + percent(m.Share) + " of the change"
	}
	if m.From != "" {
		text += "; called from " + methodName(shortName(m.From), 60)
	}
	if t := m.CPU; t.BaseMS > 0 && t.HeadMS > 0 {
		text += "; its CPU time " + shareOf(t.HeadMS-t.BaseMS, t.BaseMS)
	}
	return text
}

// enclosingLine is the method that a change lies in: "com.example.Inbox.open +2.0 J
// (+180 %) with all that it calls, spread over many methods".
func enclosingLine(m hotspots.Method) string {
	text := methodName(m.Name, maxName) + " " + signedJoules(m.Total.ChangeJ())
	if m.Total.Base.J > 0 {
		text += " (" + shareOf(m.Total.ChangeJ(), m.Total.Base.J) + ")"
	}
	text += " with all that it calls, spread over many methods"
	if m.From != "" {
		text += "; called from " + methodName(shortName(m.From), 60)
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
			parts = append(parts, brief(p.Name)+" "+signedJoules(change))
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
