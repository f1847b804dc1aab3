package layout

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/words"
)

// ABInput is what a report on two builds is made of. Only Verdict is required.
type ABInput struct {
	Verdict sidebyside.Verdict
	// Energy is where the energy of the head's runs went beside the base's; empty
	// where none was measured.
	Energy []hotspots.Change
	// Causes are what else explains the findings, of any kind.
	Causes []diagnose.Cause
	// Catalogue gives units and titles; nil is the built-in one.
	Catalogue *metric.Catalogue
	// Notes are said near the top, such as "The devices are simulated."
	Notes []string
	// Version is the apkgate that made the report.
	Version string
}

// ABJSON writes the comparison, where the energy went and what explains its findings
// as apkgate.compare/1 (docs/format/compare.md), indented and ended by one newline.
func ABJSON(w io.Writer, in ABInput) error {
	e := explainedBuilds(in)
	return writeJSON(w, struct {
		sidebyside.Verdict
		Energy []hotspots.Change `json:"energy,omitempty"`
		Causes []diagnose.Cause  `json:"causes,omitempty"`
	}{in.Verdict, e.savedEnergy(), e.savedCauses()}, "comparison")
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
		lead: words.Sentence(v.Reason), hint: words.Sentence(v.Hint), footer: words.Name(in.Version),
		facts: []fact{{"Base", buildTitle(v.Base)}, {"Head", buildTitle(v.Head)}},
	}
	for _, n := range in.Notes[:min(len(in.Notes), 10)] {
		s.notes = append(s.notes, words.Sentence(n))
	}
	for _, scenario := range v.Scenarios {
		s.facts = append(s.facts, fact{"Measured", abMeasured(scenario, len(v.Scenarios) > 1)})
		s.tables = append(s.tables, in.abTables(scenario)...)
	}
	s.facts = append(s.facts, fact{"Intervals", "of " + words.Percent(v.Level) + " each; p is corrected for all comparisons"})
	s.energy = energyOfAB(in)
	for _, f := range []fact{{energyFact, s.energy.Fact}, {causeFact, s.energy.Cause}} {
		if f.Text != "" {
			s.facts = append(s.facts, f)
		}
	}
	for _, w := range v.Warnings[:min(len(v.Warnings), pageWarnings)] {
		s.warnings = append(s.warnings, words.Sentence(w.String()))
	}
	return s
}

// buildTitle names a build: "com.example 1.4.0 release, commit 0123456789".
func buildTitle(b sidebyside.Build) string {
	title := words.Name(b.App.Package)
	for _, part := range []string{b.App.Version, b.App.Build} {
		if part != "" {
			title += " " + words.Name(part)
		}
	}
	if c := words.Name(b.Source.Commit); c != "" {
		title += ", commit " + words.Commit(c)
	}
	return title
}

// abMeasured says how much was measured: "12 rounds on 5 devices".
func abMeasured(s sidebyside.Scenario, several bool) string {
	text := ""
	if several {
		text = words.Name(s.Scenario) + ": "
	}
	base, head := 0, 0
	for _, c := range s.Contexts {
		base, head = base+c.Base, head+c.Head
	}
	switch {
	case len(s.Contexts) == 0:
		return text + "nothing in common"
	case s.Unit == sidebyside.Round:
		text += words.Count(base, "round", "rounds")
	default:
		text += fmt.Sprintf("%s of the base, %d of the head", words.Count(base, string(s.Unit), string(s.Unit)+"s"), head)
	}
	if len(s.Contexts) == 1 {
		if m := words.Model(s.Contexts[0].Context); m != "" {
			return text + " on " + m
		}
		return text
	}
	return text + " on " + words.Count(len(s.Contexts), "device or network", "devices or networks")
}

var abColumns = []string{"What", "Base", "Head", "Change", "Interval", "p", "Effect", "Status"}

// abTables are what changed, the whole run, everything, and each device.
func (in ABInput) abTables(s sidebyside.Scenario) []sheetTable {
	suffix := ""
	if len(in.Verdict.Scenarios) > 1 {
		suffix = ": " + words.Name(s.Scenario)
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
			whole.add(d.Direction, in.abCells(s, d, -1, d.Together, d.Difference)...)
		}
		all.add(d.Together, in.abCells(s, d, -1, d.Together, d.Difference)...)
		for _, x := range d.Contexts {
			if d.Event == "" || x.Direction != gate.None {
				each.add(x.Direction, in.abCells(s, d, x.Context, x.Direction, x.Difference)...)
			}
		}
	}
	return []sheetTable{changed, whole, all, each}
}

func (in ABInput) abCells(s sidebyside.Scenario, d sidebyside.Comparison, context int, direction gate.Direction, shift sidebyside.Difference) []string {
	m, _ := in.Catalogue.Lookup(d.Metric)
	what := words.Clip(words.Event(d.Event), 80) + ": " + words.Brief(m.Title)
	if context >= 0 && context < len(s.Contexts) {
		c := s.Contexts[context].Context
		what += " on " + words.Clip(words.Context(c), 60)
	}
	status := sheetStatus(direction)
	if shift.Limit != nil {
		status = "beyond " + words.Value(m, *shift.Limit)
	}
	interval := "–"
	if shift.HasInterval() {
		interval = words.FromTo(words.Shift(m, *shift.ShiftLow, *shift.ChangeLow), words.Shift(m, *shift.ShiftHigh, *shift.ChangeHigh))
	}
	return []string{
		what, words.Value(m, shift.Base), words.Value(m, shift.Head), words.Shift(m, shift.Shift, shift.Change), interval,
		words.P(shift.P), words.Minus(strconv.FormatFloat(shift.Effect, 'f', 2, 64)), status,
	}
}
