package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
)

// ABInput is what a report on two builds is made of. Only Verdict is required.
type ABInput struct {
	Verdict gate.ABVerdict
	// Energy is where the energy of the head's runs went beside the base's; empty
	// where none was measured.
	Energy []hotspots.Change
	// Catalogue gives units and titles; nil is the built-in one.
	Catalogue *metric.Catalogue
	// Notes are said near the top, such as "The devices are simulated."
	Notes []string
	// Version is the apkgate that made the report.
	Version string
}

// ABJSON writes the comparison, and where the energy went, as apkgate.compare/1
// (docs/format/compare.md), indented and ended by one newline.
func ABJSON(w io.Writer, v gate.ABVerdict, energy ...hotspots.Change) error {
	return writeJSON(w, struct {
		gate.ABVerdict
		Energy []hotspots.Change `json:"energy,omitempty"`
	}{v, energyOfAB(ABInput{Verdict: v, Energy: energy, Catalogue: metric.Default()}).foremost()}, "comparison")
}

func writeJSON(w io.Writer, v any, what string) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the %s as JSON: %w", what, err)
	}
	if _, err := w.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write the %s as JSON: %w", what, err)
	}
	return nil
}

// AB lays out a comparison of two builds.
func AB(in ABInput) Sheet {
	v := in.Verdict
	if in.Catalogue == nil {
		in.Catalogue = metric.Default()
	}
	s := Sheet{
		title: "base " + buildTitle(v.Base) + ", head " + buildTitle(v.Head), outcome: v.Verdict,
		lead: sentence(v.Reason), hint: sentence(v.Hint), footer: name(in.Version),
		facts: []fact{{"Base", buildTitle(v.Base)}, {"Head", buildTitle(v.Head)}},
	}
	for _, n := range in.Notes[:min(len(in.Notes), 10)] {
		s.notes = append(s.notes, sentence(n))
	}
	for _, scenario := range v.Scenarios {
		s.facts = append(s.facts, fact{"Measured", abMeasured(scenario, len(v.Scenarios) > 1)})
		s.tables = append(s.tables, in.abTables(scenario)...)
	}
	s.facts = append(s.facts, fact{"Intervals", "of " + percent(v.Level) + " each; p is corrected for all comparisons"})
	s.energy = energyOfAB(in)
	for _, f := range []fact{{energyFact, s.energy.Fact}, {causeFact, s.energy.Cause}} {
		if f.Text != "" {
			s.facts = append(s.facts, f)
		}
	}
	for _, w := range v.Warnings[:min(len(v.Warnings), pageWarnings)] {
		s.warnings = append(s.warnings, sentence(w.String()))
	}
	return s
}

// buildTitle names a build: "com.example 1.4.0 release, commit 0123456789".
func buildTitle(b gate.ABBuild) string {
	title := name(b.App.Package)
	for _, part := range []string{b.App.Version, b.App.Build} {
		if part != "" {
			title += " " + name(part)
		}
	}
	if c := name(b.Source.Commit); c != "" {
		title += ", commit " + shortCommit(c)
	}
	return title
}

// abMeasured says how much was measured: "12 rounds on 5 devices".
func abMeasured(s gate.ABScenario, several bool) string {
	text := ""
	if several {
		text = name(s.Scenario) + ": "
	}
	base, head := 0, 0
	for _, c := range s.Contexts {
		base, head = base+c.Base, head+c.Head
	}
	switch {
	case len(s.Contexts) == 0:
		return text + "nothing in common"
	case s.Unit == gate.ABRound:
		text += count(base, "round", "rounds")
	default:
		text += fmt.Sprintf("%s of the base, %d of the head", count(base, string(s.Unit), string(s.Unit)+"s"), head)
	}
	if len(s.Contexts) == 1 {
		if m := model(s.Contexts[0].Context); m != "" {
			return text + " on " + m
		}
		return text
	}
	return text + " on " + count(len(s.Contexts), "device or network", "devices or networks")
}

var abColumns = []string{"What", "Base", "Head", "Change", "Interval", "p", "Effect", "Status"}

// abTables are what changed, the whole run, everything, and each device.
func (in ABInput) abTables(s gate.ABScenario) []sheetTable {
	suffix := ""
	if len(in.Verdict.Scenarios) > 1 {
		suffix = ": " + name(s.Scenario)
	}
	table := func(title string, folded bool) sheetTable {
		return sheetTable{title: title + suffix, folded: folded, columns: abColumns, spare: []string{"Effect", "p", "Base", "Interval"}}
	}
	changed, whole, all, each := table("What changed", false), table("Whole run", false), table("All comparisons", true), table("Each device", true)
	for _, d := range s.Deviations() {
		changed.add(d.Direction, in.abCells(s, d, d.ShownIn(), d.Direction, d.Shown())...)
	}
	for _, d := range s.Comparisons {
		if d.Event == "" && d.Direction == gate.None {
			whole.add(d.Direction, in.abCells(s, d, -1, d.Together, d.ABShift)...)
		}
		all.add(d.Together, in.abCells(s, d, -1, d.Together, d.ABShift)...)
		for _, x := range d.Contexts {
			if d.Event == "" || x.Direction != gate.None {
				each.add(x.Direction, in.abCells(s, d, x.Context, x.Direction, x.ABShift)...)
			}
		}
	}
	return []sheetTable{changed, whole, all, each}
}

func (in ABInput) abCells(s gate.ABScenario, d gate.ABComparison, context int, direction gate.Direction, shift gate.ABShift) []string {
	m, _ := in.Catalogue.Lookup(d.Metric)
	what := clip(eventTitle(d.Event), 80) + ": " + brief(m.Title)
	if context >= 0 && context < len(s.Contexts) {
		c := s.Contexts[context].Context
		what += " on " + clip(contextName(c), 60)
	}
	status := sheetStatus(direction)
	if shift.Limit != nil {
		status = "beyond " + showValue(m, *shift.Limit)
	}
	interval := "–"
	if shift.HasInterval() {
		interval = fromTo(shiftBy(m, *shift.ShiftLow, *shift.ChangeLow), shiftBy(m, *shift.ShiftHigh, *shift.ChangeHigh))
	}
	return []string{
		what, showValue(m, shift.Base), showValue(m, shift.Head), shiftBy(m, shift.Shift, shift.Change), interval,
		pCell(shift.P), minus(strconv.FormatFloat(shift.Effect, 'f', 2, 64)), status,
	}
}

// contextName names a device and its network.
func contextName(c map[string]string) string {
	title := model(c)
	if sdk := name(c["sdk"]); sdk != "" {
		title += ", Android " + sdk
	}
	if n := name(c["network"]); n != "" {
		title += ", " + n
	}
	return title
}

// shiftBy is a shift as a share of what was there before; of a ratio in points
// of a hundred; of nothing in the metric's unit.
func shiftBy(m metric.Metric, shift, share float64) string {
	sign := ""
	if shift > 0 {
		sign = "+"
	}
	switch {
	case m.Unit == "ratio":
		return sign + minus(oneDecimal(100*shift)) + unit("points")
	case share == 0 && shift != 0:
		return sign + showValue(m, shift)
	case share >= manifold:
		return times(share)
	}
	return signed(share)
}

// fromTo is an interval, the unit of its ends told once where they share it.
func fromTo(low, high string) string {
	if at := strings.LastIndex(low, nbsp); at >= 0 && strings.HasSuffix(high, low[at:]) {
		low = low[:at]
	}
	return low + "…" + high
}

func pCell(p float64) string {
	switch {
	case p >= 1 || math.IsNaN(p):
		return "1"
	case p < 0.001:
		return "<" + nbsp + "0.001"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}
