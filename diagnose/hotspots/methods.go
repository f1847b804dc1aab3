package hotspots

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/apkgate/apkgate/run"
)

// Methods is the energy of the app's methods compared with the base's.
type Methods struct {
	Event    string  `json:"event"`     // what was sampled: "task-clock"
	SampleHz float64 `json:"sample_hz"` // how often, per thread
	Samples  int     `json:"samples"`   // of the head
	// Level is the confidence of each interval of a run, such as 0.95.
	Level float64 `json:"level"`
	// Widened is set where the intervals exclude what differs from one run to the next, and have
	// been widened for it.
	Widened bool `json:"widened,omitempty"`
	// Energy is of all samples.
	Energy Amount `json:"energy"`
	// Power is run.PowerSplit where joules are separated from the device's base power. Compared
	// with other runs they are by the power that was read at the samples (""), with which a slow
	// sensor is wrong in the same way for each build; ApartJ is then the total of the head's
	// separated joules, 0 without these.
	Power  string  `json:"power,omitempty"`
	ApartJ float64 `json:"apart_j,omitempty"`
	// List has the methods that explain or enclose the change first, then others whose change is
	// clear, then those whose own code takes most.
	List []Method `json:"list"`
	// Calls is the tree of calls of base and head, each after its caller.
	Calls []Call `json:"calls"`
}

// HasBase reports whether the base's methods were sampled too.
func (m Methods) HasBase() bool { return m.Energy.BaseJ > 0 }

// Method is one method or function.
type Method struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Kind string `json:"kind,omitempty"`
	// Local is the energy of the method's own code, NonLocal that of its callees, Total of both.
	Local    Shift `json:"local"`
	NonLocal Shift `json:"non_local"`
	Total    Shift `json:"total"`
	// CPU is how long the method's own code ran: a method that did not run for longer took its
	// joules from a device that drew more.
	CPU Times `json:"cpu,omitzero"`
	// Blurred is set where a reading of the sensor covers a longer time than the method runs at
	// once: no reading is of its own code alone.
	Blurred bool `json:"blurred,omitempty"`
	// Explains is set for the few methods that make up most of the change; Share is its share of
	// the change of all samples, 0 where changes cancel out and it would be meaningless.
	Explains bool    `json:"explains,omitempty"`
	Share    float64 `json:"share,omitempty"`
	// Encloses is set where the own code of few methods doesn't explain the change, for the
	// innermost method which, including its callees, clearly takes at least half of it.
	Encloses bool `json:"encloses,omitempty"`
	// Callers is the path with the largest change, nearest first; From is the nearest of the app's
	// own among them.
	Callers []string `json:"callers,omitempty"`
	From    string   `json:"from,omitempty"`
}

// Times are of base and head in ms; 0 where a build doesn't list the method.
type Times struct {
	BaseMS float64 `json:"base_ms"`
	HeadMS float64 `json:"head_ms"`
}

// Joules is an energy with its interval.
type Joules struct {
	J     float64 `json:"j"`
	LowJ  float64 `json:"low_j"`
	HighJ float64 `json:"high_j"`
}

// Shift is an energy of base and head, and their difference.
type Shift struct {
	Base Joules `json:"base"`
	Head Joules `json:"head"`
	// Clear is set where the intervals of base and head do not overlap.
	Clear bool `json:"clear,omitempty"`
}

// ChangeJ returns how much more the head takes.
func (s Shift) ChangeJ() float64 { return s.Head.J - s.Base.J }

// LowJ returns the least change that the intervals allow.
func (s Shift) LowJ() float64 { return s.Head.LowJ - s.Base.HighJ }

// HighJ returns the largest change that the intervals allow.
func (s Shift) HighJ() float64 { return s.Head.HighJ - s.Base.LowJ }

// shift compares two energies.
func shift(base, head Joules) Shift {
	return Shift{base, head, head.LowJ > base.HighJ || head.HighJ < base.LowJ}
}

// scatter is how much a method's energy is assumed to differ from run to run where that is unknown,
// as a share; enough is the number of other runs from which on it is known.
const (
	scatter = 0.15
	enough  = 5
)

// ofOneRun reports whether the intervals exclude what differs from run to run: they come from
// within recordings, and there are few other runs.
func ofOneRun(head *run.Methods, before []sampled) bool {
	within := func(m *run.Methods) bool { return m.Basis == run.Blocks }
	return len(before) < enough && (within(head) || slices.ContainsFunc(before, func(b sampled) bool { return within(b.methods) }))
}

// widen allows for what differs from run to run.
func (j Joules) widen() Joules {
	return Joules{j.J, j.LowJ * (1 - scatter), j.HighJ * (1 + scatter)}
}

// compareMethods compares the head's methods with the base's.
func compareMethods(head run.Run, base []run.Run) *Methods {
	m := head.Energy.Methods
	var before []sampled
	for _, b := range base {
		if b.Energy.Methods != nil {
			read := asRead(b.Energy.Methods)
			before = append(before, sampled{read, tallyOf(read)})
		}
	}
	out := &Methods{Event: m.Event, SampleHz: m.SampleHz, Samples: m.Samples, Level: m.Level, Power: m.Power}
	if len(before) > 0 && m.Power != "" {
		out.Power, out.ApartJ = "", m.EnergyJ
		m = asRead(m)
	}
	out.Energy.HeadJ = m.EnergyJ
	for _, b := range before {
		out.Energy.BaseJ += b.methods.EnergyJ / float64(len(before))
	}
	out.Widened = len(before) > 0 && ofOneRun(m, before)
	after := sampled{m, tallyOf(m)}
	ids := maps.Clone(after.tallies)
	for _, b := range before {
		maps.Copy(ids, b.tallies)
	}
	list := make([]Method, 0, len(ids))
	for id := range ids {
		list = append(list, compareMethod(id, after, before, out.Widened))
	}
	slices.SortFunc(list, rank)
	out.List = list[:min(len(list), run.MaxMethods)]
	out.Calls = mergeCalls(m, before)
	return out
}

func compareMethod(id identity, after sampled, before []sampled, widened bool) Method {
	h := after.of(id)
	if len(before) == 0 {
		return Method{Name: h.name, File: h.file, Kind: h.kind, Local: Shift{Head: h.local}, NonLocal: Shift{Head: h.nonLocal}, Total: Shift{Head: h.total()}, CPU: Times{HeadMS: h.cpuMS}, Blurred: h.blurred}
	}
	b := pool(id, before)
	if h.name == "" { // gone
		h.name, h.file, h.kind = b.name, b.file, b.kind
	}
	beside := shift
	if widened {
		beside = func(base, head Joules) Shift { return shift(base.widen(), head.widen()) }
	}
	return Method{
		Name: h.name, File: h.file, Kind: h.kind,
		Local: beside(b.local, h.local), NonLocal: beside(b.nonLocal, h.nonLocal), Total: beside(b.total, h.total()),
		CPU: Times{b.cpuMS, h.cpuMS}, Blurred: h.blurred || b.blurred,
	}
}

// rank sorts clear changes of methods' own code first, the largest first, then by energy.
func rank(a, b Method) int {
	return cmp.Or(
		cmp.Compare(clarity(b), clarity(a)),
		cmp.Compare(b.Local.Head.J, a.Local.Head.J), cmp.Compare(b.Total.Head.J, a.Total.Head.J),
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File), cmp.Compare(a.Kind, b.Kind),
	)
}

// clarity returns how large a clear change is, 0 for one that isn't.
func clarity(m Method) float64 {
	if !m.Local.Clear {
		return 0
	}
	return math.Abs(m.Local.ChangeJ())
}
