package hotspots

import (
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// wideName is how many characters of a name a wide table shows.
const wideName = 64

// tables ranks the run's methods, parts of the device and wakelocks.
func (t teller) tables() []diagnose.Table {
	var out []diagnose.Table
	for _, table := range []diagnose.Table{t.methodsTable(), t.partsTable(), t.locksTable()} {
		if len(table.Rows) > 0 {
			out = append(out, table)
		}
	}
	return out
}

// methodsTable ranks the run's methods, those that explain the change first. It has no rows where
// methods were not sampled.
func (t teller) methodsTable() diagnose.Table {
	if t.Methods == nil {
		return diagnose.Table{}
	}
	beside := t.Methods.HasBase()
	out := diagnose.Table{Title: "Methods by energy", Note: t.methodsNote(), Main: true,
		Columns: []diagnose.Column{{Title: "Method"}, {Title: "Own code"}, {Title: "Interval", Spare: 3}, {Title: "With calls", Spare: 2}, {Title: "Of battery", Spare: 1}, {Title: "Code"}}}
	if beside {
		out.Columns = []diagnose.Column{{Title: "Method"}, {Title: "Own code"}, {Title: "Change"}, {Title: "Interval", Spare: 3}, {Title: "With calls", Spare: 2}, {Title: "Of battery", Spare: 1}, {Title: "Status"}}
	}
	for _, m := range t.Methods.List {
		if m.Local.Base.J == 0 && m.Local.Head.J == 0 {
			continue // it only calls others; the figure of calls has it
		}
		name, d := say(diagnose.Part{Name: m.Name, As: diagnose.Code, Most: wideName}), direction(m)
		own, with, battery := say(mark(m), joules(m.Local.Head.J)), say(joules(m.Total.Head.J)), ofBattery(m.Local.Head.J, t.BatteryJ)
		if beside {
			out.Add(d, name, own, say(mark(m), signedJoules(m.Local.ChangeJ())), changeInterval(m.Local), with, battery, say(methodStatus(m)))
			continue
		}
		out.Add(d, name, own, headInterval(m.Local), with, battery, say(brief(m.Kind)))
	}
	return out
}

func (t teller) methodsNote() diagnose.Phrase {
	m := t.Methods
	text := diagnose.Count(m.Samples, "sample", "samples")
	if m.Event != "" {
		text = say(text, " of ", brief(m.Event))
	}
	if m.SampleHz > 0 {
		text = say(text, " at ", diagnose.Amount{Value: m.SampleHz, Unit: "Hz"})
	}
	text = say(text, ". Own code leaves out what the method calls")
	if m.Level > 0 && m.Level < 1 {
		text = say(text, "; the intervals of each build are of ", ratio(m.Level))
	}
	if m.HasBase() {
		text = say(text, ". Where the intervals of both builds overlap, nothing is claimed")
	}
	if m.Widened {
		text = say(text, ". So few repetitions don't show how much runs differ: the intervals are widened by ", ratio(scatter), " for it; five repetitions or more do")
	}
	return say(text, ".", t.slowSensor())
}

// mark returns the mark of joules without a reading of the sensor for that method alone.
func mark(m Method) string {
	if m.Blurred {
		return "≈\u00a0"
	}
	return ""
}

// slowSensor explains the mark, nothing where no method has it.
func (t teller) slowSensor() diagnose.Phrase {
	m := t.Methods
	if !slices.ContainsFunc(m.List, func(m Method) bool { return m.Blurred }) {
		return nil
	}
	text := say(" ≈: the sensor is slower than the method, which runs for less than its ", diagnose.Amount{Value: t.UpdateMS, Unit: "ms"}, " at a time")
	switch {
	case m.Power == run.PowerSplit:
		return say(text, ". Its power is separated from that of sleep and neighbours over all readings.")
	case m.ApartJ > 0:
		return say(text, ", so that its joules are partly those of sleep and neighbours, alike in both builds. Without these, all methods took ", joules(m.ApartJ), " rather than ", joules(m.Energy.HeadJ), ".")
	}
	return say(text, ", so its joules are partly those of sleep and neighbours, which no interval includes.")
}

// direction returns the direction of a method's clear change.
func direction(m Method) gate.Direction {
	switch {
	case !m.Local.Clear:
		return gate.None
	case m.Local.ChangeJ() > 0:
		return gate.ToRegression
	}
	return gate.ToImprovement
}

func methodStatus(m Method) string {
	switch {
	case !m.Local.Clear:
		return "not\u00a0clear"
	case m.Total.Base.J == 0:
		return "new"
	case m.Total.Head.J == 0:
		return "gone"
	case m.Local.ChangeJ() > 0:
		return "worse"
	}
	return "better"
}

// changeInterval returns the least and the largest change that the intervals of both builds allow.
func changeInterval(s Shift) diagnose.Phrase {
	return say(diagnose.Range{Low: s.LowJ(), High: s.HighJ(), Unit: "J", Signed: true})
}

func headInterval(s Shift) diagnose.Phrase {
	if s.Head.HighJ == 0 {
		return nil
	}
	return say(diagnose.Range{Low: s.Head.LowJ, High: s.Head.HighJ, Unit: "J"})
}

// partsTable returns the energy of the device's components.
func (t teller) partsTable() diagnose.Table {
	out := diagnose.Table{Title: "Components", Columns: []diagnose.Column{{Title: "Component"}, {Title: "Joules"}, {Title: "Of battery"}, {}}}
	if t.HasBase() {
		out.Columns = []diagnose.Column{{Title: "Component"}, {Title: "Before"}, {Title: "Now"}, {Title: "Change"}, {Title: "Of battery"}, {}}
	}
	for _, p := range t.Components {
		name, now, battery := say(brief(p.Name)), say(joules(p.HeadJ)), ofBattery(p.HeadJ, t.BatteryJ)
		if t.HasBase() {
			out.Add(gate.None, name, say(joules(p.BaseJ)), now, say(signedJoules(p.ChangeJ())), battery, nil)
			continue
		}
		out.Add(gate.None, name, now, battery, nil)
	}
	return out
}

// locksTable returns how long wakelocks were held.
func (t teller) locksTable() diagnose.Table {
	out := diagnose.Table{Title: "Wakelocks", Columns: []diagnose.Column{{Title: "Wakelock"}, {Title: "Held"}, {Title: "Screen off"}, {Title: "Status"}}}
	if t.HasBase() {
		out.Columns = []diagnose.Column{{Title: "Wakelock"}, {Title: "Held"}, {Title: "Screen off"}, {Title: "Screen off before"}, {Title: "Status"}}
	}
	for _, w := range t.Wakelocks {
		d, status := gate.None, ""
		switch {
		case w.Worse:
			d, status = gate.ToRegression, "worse"
		case w.HeadScreenOffMS >= DrainMS:
			status = "drains"
		}
		name, held, off := say(diagnose.Part{Name: w.Name, As: diagnose.Code, Most: wideName}), say(lasting(w.HeadHeldMS)), say(lasting(w.HeadScreenOffMS))
		if t.HasBase() {
			out.Add(d, name, held, off, say(lasting(w.BaseScreenOffMS)), say(status))
			continue
		}
		out.Add(d, name, held, off, say(status))
	}
	return out
}
