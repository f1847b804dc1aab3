package report

import (
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
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
			t.add(d, methodName(m.Name, chars), joules(m.Local.Head.J), signedJoules(m.Local.ChangeJ()), changeInterval(m.Local),
				joules(m.Total.Head.J), dash(ofBattery(m.Local.Head.J, r.BatteryJ)), methodStatus(m))
			continue
		}
		t.add(d, methodName(m.Name, chars), joules(m.Local.Head.J), headInterval(m.Local), joules(m.Total.Head.J),
			dash(ofBattery(m.Local.Head.J, r.BatteryJ)), dash(brief(m.Kind)))
	}
	t.total = own
	return t
}

func (r energyRun) methodsNote() string {
	m := r.Methods
	text := count(m.Samples, "sample", "samples")
	if m.Event != "" {
		text += " of " + brief(m.Event)
	}
	if m.SampleHz > 0 {
		text += " at " + short6(m.SampleHz, 0.1) + unit("Hz")
	}
	text += ". Own code leaves out what the method calls"
	if m.Level > 0 && m.Level < 1 {
		text += "; the intervals of each build are of " + percent(m.Level)
	}
	if m.HasBase() {
		text += ". Nothing is claimed where those of both builds overlap"
	}
	if m.Widened {
		text += ". So few repetitions do not tell how much runs differ: the intervals are widened by 15" + unit("%") + " for it; five repetitions and more tell"
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
		return "not" + nbsp + "clear"
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
	return fromTo(signedJoules(s.Head.LowJ-s.Base.HighJ), signedJoules(s.Head.HighJ-s.Base.LowJ))
}

func headInterval(s hotspots.Shift) string {
	if s.Head.HighJ == 0 {
		return "–"
	}
	return fromTo(joules(s.Head.LowJ), joules(s.Head.HighJ))
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// partsTable is the energy of the device's components.
func (r energyRun) partsTable(rows int) sheetTable {
	t := sheetTable{title: "Components", columns: []string{"Component", "Joules", "Of battery", ""}}
	if r.HasBase() {
		t.columns = []string{"Component", "Before", "Now", "Change", "Of battery", ""}
	}
	for _, p := range r.Components[:min(len(r.Components), rows)] {
		share := dash(ofBattery(p.HeadJ, r.BatteryJ))
		if r.HasBase() {
			t.add(gate.None, brief(p.Name), joules(p.BaseJ), joules(p.HeadJ), signedJoules(p.ChangeJ()), share, "")
			continue
		}
		t.add(gate.None, brief(p.Name), joules(p.HeadJ), share, "")
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
			t.add(d, methodName(w.Name, wideName), lasting(w.HeadHeldMS), lasting(w.HeadScreenOffMS), lasting(w.BaseScreenOffMS), dash(status))
			continue
		}
		t.add(d, methodName(w.Name, wideName), lasting(w.HeadHeldMS), lasting(w.HeadScreenOffMS), dash(status))
	}
	t.total = len(r.Wakelocks)
	return t
}
