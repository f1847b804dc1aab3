package methods

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// Result is the estimates for every method. Times and joules are per iteration: the mean over all.
type Result struct {
	Event      string
	Hz         float64
	Level      float64 // of every interval
	Iterations int
	Samples    int // of all iterations
	CPUMS      Estimate
	EnergyJ    Estimate
	ReadJ      Estimate // by the sensor's readings at the samples, if Power is not ""
	// Power is run.PowerSplit if the methods' power was separated from the device's and that of
	// sleep, because the sensor is slower than the methods; otherwise "", and they have the power
	// read at their samples.
	Power string
	// Methods are ranked by energy including their callees, the largest first.
	Methods []Method
	// Calls is the tree of calls, each after its caller; those without a caller are outermost
	// frames.
	Calls []Call
	// Basis is what the intervals are derived from, and Batches its number.
	Basis    Basis
	Batches  int
	Warnings []run.Warning
}

// Estimate is a number with its interval. Low and High are both 0 if there is no basis for an
// interval.
type Estimate struct{ Value, Low, High float64 }

// Bounded reports whether the estimate has an interval.
func (e Estimate) Bounded() bool { return e.High > 0 }

// Method is one method, by its name and file.
type Method struct {
	Name, File      string
	Kind            simpleperf.Kind // of most of its samples
	Local, NonLocal Cost
}

// EnergyJ returns the energy of the method including its callees.
func (m Method) EnergyJ() float64 { return m.Local.EnergyJ.Value + m.NonLocal.EnergyJ.Value }

// Blurred reports whether a reading of the sensor covers a longer time than the method, including
// all its callees, runs at a time.
func (m Method) Blurred() bool {
	return m.NonLocal.Blurred || m.NonLocal.Samples == 0 && m.Local.Blurred
}

func (m Method) cpuMS() float64 { return m.Local.CPUMS.Value + m.NonLocal.CPUMS.Value }

// Cost is the cost of a method in one iteration (EDATA, equations 3.5 to 3.8).
type Cost struct {
	Samples  int      // of all iterations
	Readings int      // distinct ones of the power among those samples
	Share    Estimate // p̂: of the app's CPU time, 0 to 1
	CPUMS    Estimate // t̂
	PowerW   Estimate // the mean power attributed to the method while it ran
	EnergyJ  Estimate // ê, or the separated energy (Result.Power)
	// ReadJ is ê by the sensor's readings at the samples (EDATA, equation 3.8), if EnergyJ was
	// separated.
	ReadJ Estimate
	// StretchMS is how long the method ran at a time, its own code or including callees, on
	// average; Blurred is set if a reading of the sensor covers a longer time, so that no reading
	// is of this method alone.
	StretchMS float64
	Blurred   bool
}

// Call is a node of the tree of calls.
type Call struct {
	Parent     int // in Result.Calls, -1 for an outermost frame
	Name, File string
	Kind       simpleperf.Kind
	Samples    int
	// EnergyJ is the energy of the call including its callees, in one iteration; ReadJ the same by
	// the sensor's readings, if Result.Power is not "".
	EnergyJ, ReadJ float64
}

// rank sorts methods for people: the largest energy first, in a stable order.
func rank(list []Method) {
	slices.SortFunc(list, func(a, b Method) int {
		return cmp.Or(
			cmp.Compare(b.EnergyJ(), a.EnergyJ()), cmp.Compare(b.cpuMS(), a.cpuMS()),
			strings.Compare(a.Name, b.Name), strings.Compare(a.File, b.File))
	})
}
