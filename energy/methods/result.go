package methods

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// Result is all that the samples tell, of every method. Times and joules are of
// one iteration: the mean over all.
type Result struct {
	Event      string
	Hz         float64
	Level      float64 // of every interval
	Iterations int
	Samples    int // of all iterations
	CPUMS      Estimate
	EnergyJ    Estimate
	ReadJ      Estimate // by the sensor's readings at the samples, where Power is not ""
	// Power is run.PowerSplit where the methods' power was told apart from the
	// device's and the sleep's, since the sensor is slower than they are; else ""
	// and they have the power that was read at their samples.
	Power string
	// Methods are ranked by energy with what they call, the hungriest first.
	Methods []Method
	// Calls is the tree of calls, each after its caller; those without a caller
	// are outermost frames.
	Calls []Call
	// Basis is what the intervals come from, and Batches how many of it.
	Basis    Basis
	Batches  int
	Warnings []run.Warning
}

// Estimate is a number with its interval. Low and High are both 0 where there is
// no basis for an interval.
type Estimate struct{ Value, Low, High float64 }

// Bounded reports whether the estimate has an interval.
func (e Estimate) Bounded() bool { return e.High > 0 }

// Method is one method, by its name and file.
type Method struct {
	Name, File      string
	Kind            simpleperf.Kind // of most of its samples
	Local, NonLocal Cost
}

// EnergyJ is what the method takes with what it calls.
func (m Method) EnergyJ() float64 { return m.Local.EnergyJ.Value + m.NonLocal.EnergyJ.Value }

// Blurred reports whether a reading of the sensor is of a longer time than the method
// runs at, with all that it calls.
func (m Method) Blurred() bool {
	return m.NonLocal.Blurred || m.NonLocal.Samples == 0 && m.Local.Blurred
}

func (m Method) cpuMS() float64 { return m.Local.CPUMS.Value + m.NonLocal.CPUMS.Value }

// Cost is what a method costs in one iteration (EDATA, equations 3.5 to 3.8).
type Cost struct {
	Samples  int      // of all iterations
	Readings int      // of the power, different ones among those samples
	Share    Estimate // p̂: of the app's CPU time, 0 to 1
	CPUMS    Estimate // t̂
	PowerW   Estimate // the mean power that fell to the method while it ran
	EnergyJ  Estimate // ê, or what was told apart (Result.Power)
	// ReadJ is ê by the sensor's readings at the samples (EDATA, equation 3.8), where
	// EnergyJ was told apart.
	ReadJ Estimate
	// StretchMS is for how long at a time the method ran, of its own code or at all,
	// in the mean; Blurred that a reading of the sensor is of a longer time, so that
	// no reading is of this method alone.
	StretchMS float64
	Blurred   bool
}

// Call is a node of the tree of calls.
type Call struct {
	Parent     int // in Result.Calls, -1 for an outermost frame
	Name, File string
	Kind       simpleperf.Kind
	Samples    int
	// EnergyJ is of the call with all that it calls, in one iteration; ReadJ the same
	// by the sensor's readings, where Result.Power is not "".
	EnergyJ, ReadJ float64
}

// rank sorts methods for people: what takes most first, and always alike.
func rank(list []Method) {
	slices.SortFunc(list, func(a, b Method) int {
		return cmp.Or(
			cmp.Compare(b.EnergyJ(), a.EnergyJ()), cmp.Compare(b.cpuMS(), a.cpuMS()),
			strings.Compare(a.Name, b.Name), strings.Compare(a.File, b.File))
	})
}
