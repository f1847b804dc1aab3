package layout

import (
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/words"
)

// wideName is how many characters of a method's name a table shows that has room.
const wideName = 64

// methodsTable ranks the run's methods, those that explain the change first, with
// at most so many characters of their names. It has no rows where methods were
// not sampled.
func (r energyRun) methodsTable(rows, chars int) sheetTable {
	if r.Methods == nil {
		return sheetTable{}
	}
	beside := r.Methods.HasBase()
	t := sheetTable{title: "Methods by energy", note: r.methodsNote(), columns: []string{"Method", "Own code", "Interval", "With calls", "Of battery", "Code"}, spare: []string{"Of battery", "With calls", "Interval"}}
	if beside {
		t.columns = []string{"Method", "Own code", "Change", "Interval", "With calls", "Of battery", "Status"}
	}
	own := 0 // methods with code of their own that was hit
	for _, m := range r.Methods.List {
		if m.Local.Base.J == 0 && m.Local.Head.J == 0 {
			continue // it only calls others; the picture of calls has it
		}
		if own++; own > rows {
			continue
		}
		d := direction(m)
		if beside {
			t.add(d, words.Method(m.Name, chars), words.Joules(m.Local.Head.J), words.SignedJoules(m.Local.ChangeJ()), changeInterval(m.Local),
				words.Joules(m.Total.Head.J), words.Dash(words.OfBattery(m.Local.Head.J, r.BatteryJ)), methodStatus(m))
			continue
		}
		t.add(d, words.Method(m.Name, chars), words.Joules(m.Local.Head.J), headInterval(m.Local), words.Joules(m.Total.Head.J),
			words.Dash(words.OfBattery(m.Local.Head.J, r.BatteryJ)), words.Dash(words.Brief(m.Kind)))
	}
	t.total = own
	return t
}

func (r energyRun) methodsNote() string {
	m := r.Methods
	text := words.Count(m.Samples, "sample", "samples")
	if m.Event != "" {
		text += " of " + words.Brief(m.Event)
	}
	if m.SampleHz > 0 {
		text += " at " + words.Digits(m.SampleHz, 0.1) + words.Unit("Hz")
	}
	text += ". Own code leaves out what the method calls"
	if m.Level > 0 && m.Level < 1 {
		text += "; the intervals of each build are of " + words.Percent(m.Level)
	}
	if m.HasBase() {
		text += ". Nothing is claimed where those of both builds overlap"
	}
	if m.Widened {
		text += ". So few repetitions do not tell how much runs differ: the intervals are widened by 15" + words.Unit("%") + " for it; five repetitions and more tell"
	}
	return text + "."
}

// direction is which way a method's change is clear.
func direction(m hotspots.Method) gate.Direction {
	switch {
	case !m.Local.Clear:
		return gate.None
	case m.Local.ChangeJ() > 0:
		return gate.ToRegression
	}
	return gate.ToImprovement
}

func methodStatus(m hotspots.Method) string {
	switch {
	case !m.Local.Clear:
		return "not" + words.NBSP + "clear"
	case m.Total.Base.J == 0:
		return "new"
	case m.Total.Head.J == 0:
		return "gone"
	case m.Local.ChangeJ() > 0:
		return "worse"
	}
	return "better"
}

// changeInterval is the least and the most change that the intervals of both
// builds allow.
func changeInterval(s hotspots.Shift) string {
	return words.FromTo(words.SignedJoules(s.Head.LowJ-s.Base.HighJ), words.SignedJoules(s.Head.HighJ-s.Base.LowJ))
}

func headInterval(s hotspots.Shift) string {
	if s.Head.HighJ == 0 {
		return "–"
	}
	return words.FromTo(words.Joules(s.Head.LowJ), words.Joules(s.Head.HighJ))
}

// partsTable is the energy of the device's components.
func (r energyRun) partsTable(rows int) sheetTable {
	t := sheetTable{title: "Components", columns: []string{"Component", "Joules", "Of battery", ""}}
	if r.HasBase() {
		t.columns = []string{"Component", "Before", "Now", "Change", "Of battery", ""}
	}
	for _, p := range r.Components[:min(len(r.Components), rows)] {
		share := words.Dash(words.OfBattery(p.HeadJ, r.BatteryJ))
		if r.HasBase() {
			t.add(gate.None, words.Brief(p.Name), words.Joules(p.BaseJ), words.Joules(p.HeadJ), words.SignedJoules(p.ChangeJ()), share, "")
			continue
		}
		t.add(gate.None, words.Brief(p.Name), words.Joules(p.HeadJ), share, "")
	}
	t.total = len(r.Components)
	return t
}

// locksTable is how long wakelocks were held.
func (r energyRun) locksTable(rows int) sheetTable {
	t := sheetTable{title: "Wakelocks", columns: []string{"Wakelock", "Held", "Screen off", "Status"}}
	if r.HasBase() {
		t.columns = []string{"Wakelock", "Held", "Screen off", "Screen off before", "Status"}
	}
	for _, w := range r.Wakelocks[:min(len(r.Wakelocks), rows)] {
		d, status := gate.None, ""
		switch {
		case w.Worse:
			d, status = gate.ToRegression, "worse"
		case w.HeadScreenOffMS >= hotspots.DrainMS:
			status = "drains"
		}
		if r.HasBase() {
			t.add(d, words.Method(w.Name, wideName), words.Lasting(w.HeadHeldMS), words.Lasting(w.HeadScreenOffMS), words.Lasting(w.BaseScreenOffMS), words.Dash(status))
			continue
		}
		t.add(d, words.Method(w.Name, wideName), words.Lasting(w.HeadHeldMS), words.Lasting(w.HeadScreenOffMS), words.Dash(status))
	}
	t.total = len(r.Wakelocks)
	return t
}
