package account

import (
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
)

// Truth is the phone's true energy between two instants of its clock, with which measurements
// are compared.
type Truth struct {
	Joules float64
	Parts  map[string]float64 // by power.Part
	Apps   map[string]float64 // by package: the energy that the app itself caused
	// Methods are those of the apps' files. The keys are the same for local and total costs,
	// as in a profile: the cost of the method itself, and of the method with its callees.
	Methods map[string]MethodTruth
	// CPU is the CPU time of all apps, and CPUJ the phone's energy while they ran, counted
	// once for each thread.
	CPU  time.Duration
	CPUJ float64
}

// MethodTruth is the true cost of a method.
type MethodTruth struct {
	LocalCPU, TotalCPU time.Duration
	// LocalJ and TotalJ are the energy of the whole phone while the method ran, as sampling
	// attributes it (EDATA, section 3.5).
	LocalJ, TotalJ float64
	// OwnJ is the CPU's energy for the method's own code.
	OwnJ float64
}

// Truth returns the phone's true energy between two instants, neither later than now nor more
// than two hours ago.
func (a *Account) Truth(from, to time.Duration) Truth {
	to = min(to, a.Clock.Now())
	sum := a.Joules(from, to)
	t := Truth{Joules: sum.Total(), Parts: map[string]float64{}, Apps: map[string]float64{}, Methods: map[string]MethodTruth{}}
	for part, j := range sum {
		t.Parts[string(part)] = j
	}
	for _, d := range a.processes {
		if d.Lives(from, to) {
			t.Apps[d.App.Package] += d.joules(a, from, to).Total()
			t.addMethods(a, d, from, to)
		}
	}
	return t
}

// addMethods adds the costs of one process's methods.
func (t *Truth) addMethods(a *Account, d *Process, from, to time.Duration) {
	w := a.Work(d)
	w.Slices(from, to, func(s power.Slice) {
		long := s.To - s.From
		joules := a.Joules(s.From, s.To).Total()
		t.CPU += long
		t.CPUJ += joules
		if s.Method < 0 {
			return
		}
		watts, _ := w.Watts(s)
		for i, m := range d.App.Power.Chain(s.Method) {
			name := d.App.Power.Methods[m].Name
			cost := t.Methods[name]
			cost.TotalCPU += long
			cost.TotalJ += joules
			if i == 0 {
				cost.LocalCPU += long
				cost.LocalJ += joules
				cost.OwnJ += watts * long.Seconds()
			}
			t.Methods[name] = cost
		}
	})
}
